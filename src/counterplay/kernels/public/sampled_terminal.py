"""What hands win at a terminal of a game when the hand of a player was drawn: one against one, or one against all.

Johanson 2016, section 3.3 (the table of costs): O(1) when both hands are drawn, O(hands) when one is; with none, the
vector evaluation of ``kernels.public.terminal`` serves.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from counterplay.kernels.jit import inlined
from counterplay.kernels.public.piece_steps import HandArrays, NodeArrays, terminal_values

_FOLD, _SHOWDOWN, _MATRIX, _FACTORED = 3, 4, 5, 6


@inlined
def share_a_card(low: int, high: int, other_low: int, other_high: int, pair_hands: bool) -> bool:
    """Whether two hands cannot be dealt together."""
    if low == other_low:
        return True
    return pair_hands and (low == other_high or high == other_low or high == other_high)  # noqa: SIM109


@inlined
def _pair_value(
    tree: NodeArrays, own: HandArrays, opp: HandArrays, me: int, node: int, deal: int, mine: int, other: int,
) -> float:  # fmt: skip
    """What our class of hand wins from one of the opponent's at a terminal, where hands are not cards."""
    own_n, opp_n = own.start[deal + 1] - own.start[deal], opp.start[deal + 1] - opp.start[deal]
    sign = tree.payoff[node] if me == 0 else -tree.payoff[node]
    first, second = (mine, other) if me == 0 else (other, mine)
    columns = opp_n if me == 0 else own_n
    at = tree.data[node]
    if tree.kind[node] == _MATRIX:
        return sign * tree.matrix[at + first * columns + second]
    if tree.kind[node] == _FACTORED:
        row = tree.factor[node]
        f, g = tree.factor_class[0, row, first], tree.factor_class[1, row, second]
        return sign * tree.matrix[at + f * tree.factor_count[1, row] + g]
    rows = own_n if me == 0 else opp_n
    return sign * (tree.matrix[at + first] + tree.matrix[at + rows + second])


@inlined
def _card_value(amount: float, fold: bool, mine: int, other: int) -> float:
    """What a hand of one rank wins from a hand of another that it can be dealt with."""
    if fold:
        return amount
    if mine == other:
        return 0.0
    return amount if mine > other else -amount


@inlined
def terminal_of_one(
    tree: NodeArrays, own: HandArrays, opp: HandArrays, me: int, pair_hands: bool, node: int, deal: int, own_at:
    int, opp_at: int, own_cards: Any, own_hand: int, reach: Any, r: Any,
) -> float:  # fmt: skip
    """What the drawn own hand wins at a terminal: from the opponent's (CS), or from all of his hands (SPCS)."""
    kind = tree.kind[node]
    fold = kind == _FOLD
    cards = fold or kind == _SHOWDOWN
    amount = -tree.payoff[node] if fold and me == 1 else tree.payoff[node]
    opp_first = opp.start[deal]
    rank = own.rank[own.start[deal] + own_at] if cards else 0
    if opp_at >= 0:  # a block holds no hands that share a card
        if cards:
            return reach[r] * _card_value(amount, fold, rank, opp.rank[opp_first + opp_at])
        return reach[r] * _pair_value(tree, own, opp, me, node, deal, own_at, opp_at)
    total = 0.0
    if cards:
        low, high = own_cards[own_hand, 0], own_cards[own_hand, 1]
        for k in range(opp.real_start[deal], opp.real_start[deal + 1]):
            if not share_a_card(low, high, opp.real_card[k, 0], opp.real_card[k, 1], pair_hands):
                total += reach[r + np.uint64(opp.real_class[k])] * _card_value(amount, fold, rank, opp.real_rank[k])
    else:
        for o in range(opp.start[deal + 1] - opp_first):
            total += reach[r + np.uint64(o)] * _pair_value(tree, own, opp, me, node, deal, own_at, o)
    return total


@inlined
def terminal_of_all(
    tree: NodeArrays, own: HandArrays, opp: HandArrays, me: int, pair_hands: bool, node: int, deal: int, opp_at:
    int, opp_cards: Any, opp_hand: int, reach: Any, r: Any, zeros: Any, sums: Any, value: Any, v: Any,
) -> None:  # fmt: skip
    """What each of our hands wins at a terminal: from all of the opponent's (PCS), or from the one drawn (OPCS).

    Before the last deal all renamings of a drawn hand are alike: what we win from it is the mean over its class.
    """
    kind = tree.kind[node]
    own_first, opp_first = own.start[deal], opp.start[deal]
    cards = kind in (_FOLD, _SHOWDOWN)
    shared = cards and tree.deal_count[deal] > 0
    if opp_at < 0 or shared:  # one call for both: kernels hold a copy of what they call for each
        vector, at = reach, r
        if opp_at >= 0:
            zeros[opp_at] = reach[r] / opp.multiplicity[opp_first + opp_at]
            vector, at = zeros, np.uint64(0)
        terminal_values(tree, own, opp, me, pair_hands, node, deal, vector, at, sums, value, v)
        if opp_at >= 0:
            zeros[opp_at] = 0.0
    elif not cards:
        for h in range(own.start[deal + 1] - own_first):
            value[v + np.uint64(h)] = reach[r] * _pair_value(tree, own, opp, me, node, deal, h, opp_at)
    else:
        fold = kind == _FOLD
        amount = reach[r] * (-tree.payoff[node] if fold and me == 1 else tree.payoff[node])
        rank = opp.rank[opp_first + opp_at]
        low, high = opp_cards[opp_hand, 0], opp_cards[opp_hand, 1]
        for h in range(own.start[deal + 1] - own_first):
            at = own_first + h
            blocked = share_a_card(own.card[at, 0], own.card[at, 1], low, high, pair_hands)
            value[v + np.uint64(h)] = 0.0 if blocked else _card_value(amount, fold, own.rank[at], rank)
