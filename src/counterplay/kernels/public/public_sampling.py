"""Walks over a public tree that draw chance: CS, OPCS, SPCS and PCS.

Johanson 2016, section 3.3, algorithm 1.  Public events are drawn always; the hand of the player who is updated (*own*)
and of his opponent (*opp*) are drawn or not, which makes the four members.  A player whose hand is drawn is carried as
one number, the other as a vector over hands; at a terminal a walk costs O(1) for CS and O(hands) for the others.

A *block* is what a walk draws before it starts: the hands, and for each deal on the way the one after it
(``follow``).  Weights: events that are drawn with their own probability need none.  Where the drawn hands leave other
events than the ones that all hands together leave, a value that comes up a link is multiplied by ``lift``, the chance
of the deal divided by the probability with which it was drawn; nothing has to be taken off the vectors before the
link, because it is the ratio of what is dealt and what is drawn that must be right on either side of it.

Departure: where hands are not cards, the tree does not say how chance deals them together.  They are then drawn
independently, and the ratio goes into the reach of the opponent and the values of the own hand.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.kernels.jit import apart, inlined, kernel
from counterplay.kernels.numba_internals import held
from counterplay.kernels.public.piece_steps import (
    HandArrays,
    NodeArrays,
    Rule,
    Scratch,
    Tables,
    any_above,
    hands_at,
)
from counterplay.kernels.public.sampled_terminal import share_a_card, terminal_of_all, terminal_of_one
from counterplay.kernels.public.table_updates import update_tables
from counterplay.kernels.regret import FEW_HANDS, match_few, match_hands, match_row
from counterplay.kernels.walks import chance_outcome, draw

_LINK = 2
_SHARED, _CUT = -1, -2
_NO_HAND = 65535


class Deck(NamedTuple):
    """The hands of a player for drawing.  R hands can be drawn: real ones where they are cards, else classes.

    * ``threshold``, ``alias`` (R,) float64, (R,) uint32: alias table of the hands
    * ``start_reach`` (R,) float64: the opponent's reach with a drawn hand at the root: its weight over the probability
      of drawing it
    * ``class_at`` (D,R) uint16: the class of a hand at each deal, NO_HAND where it cannot be held; no rows where hands
      are not cards
    * ``card`` (R,2) uint8: its cards; no rows where hands are not cards
    """

    threshold: Any
    alias: Any
    start_reach: Any
    class_at: Any
    card: Any


class Deals(NamedTuple):
    """Public events for drawing.

    * ``threshold``, ``alias`` (D,) float64, (D,) uint32: alias tables, a row for the deals after each deal, or of each
      link with deals of its own
    * ``lift`` (D,) float64: what values are multiplied by when they come up the link from this deal
    * ``chained``: links share the deals after a deal, which are then part of a block; else each link draws its own
    """

    threshold: Any
    alias: Any
    lift: Any
    chained: bool


class Drawn(NamedTuple):
    """Of each level of a walk: classes of the drawn hands, factor of values on the way up; and a vector of zeros."""

    own_at: Any
    opp_at: Any
    factor: Any
    zeros: Any


@inlined
def _learn_one(
    tables: Tables, rule: Rule, first: Any, n: Any, at: Any, actions: Any, own_reach: float, sigma: Any, s: Any,
    value: Any, v: Any, here: float, stride: Any,
) -> None:  # fmt: skip
    """Regrets and average of hand ``at`` of ``n`` alone; ``update_tables`` without vectors."""
    for a in range(actions):
        entry = first + a * n + at
        if len(tables.average) > 0:
            tables.average[entry] += rule.weight * own_reach * sigma[s + a * stride]
        new = tables.regret[entry] + (value[v + a * stride] - here)
        tables.regret[entry] = 0.0 if rule.floor and new < 0.0 else new


@inlined
def _forward(
    tree: NodeArrays, own: HandArrays, opp: HandArrays, me: int, tables: Tables, opp_tables: Tables, rule: Rule,
    root: Any, deal: Any, level: Any, drawn: Drawn, scratch: Scratch,
) -> None:  # fmt: skip
    """Strategies and reaches of a piece, as in ``kernels.public.public_cfr``; of a drawn hand, one number each."""
    reach, sigma, alive = scratch.reach, scratch.sigma, scratch.alive
    stride = np.uint64(scratch.stride)
    reach_at = np.uint64(level * (scratch.piece + 1)) * stride
    sigma_at = np.uint64(level * scratch.piece) * stride
    for j in range(tree.piece_size[root]):
        node = root + j
        kind = tree.kind[node]
        if kind > 1:
            continue
        actions = np.uint64(tree.num_children[node])
        child = np.uint64(tree.first_child[node] - root)
        if not alive[level, j, 0] and not alive[level, j, 1]:
            for a in range(actions):
                alive[level, child + a, 0] = alive[level, child + a, 1] = False
            continue
        mine = kind == me
        n = hands_at(own, deal) if mine else hands_at(opp, deal)
        first = np.uint64(tree.base[node] + tree.num_children[node] * (own.start[deal] if mine else opp.start[deal]))
        table = tables.regret if mine else opp_tables.regret
        hand = drawn.own_at[level] if mine else drawn.opp_at[level]
        s = sigma_at + child * stride
        before = reach_at + np.uint64(tree.reach_slot[kind, node]) * stride
        if hand >= 0:
            match_row(table, first + np.uint64(hand), n, actions, rule.tie, sigma, s, stride)
            n = np.uint64(1)
        elif n <= FEW_HANDS:
            match_few(table, np.float32(1.0), first, n, actions, rule.tie, sigma, s, reach, before,
                      reach_at + child * stride, stride)  # fmt: skip
        else:
            match_hands(
                table, np.float32(1.0), tables.prediction, first, n, actions, rule.tie, sigma, s, stride, scratch.totals
            )
        for a in range(actions):
            after, row = reach_at + (child + a) * stride, s + a * stride
            for h in range(n):
                reach[after + h] = reach[before + h] * sigma[row + h]
            alive[level, child + a, 1 - kind] = alive[level, j, 1 - kind]
            alive[level, child + a, kind] = any_above(reach, after, n)


@inlined
def _backward(
    tree: NodeArrays, own: HandArrays, opp: HandArrays, me: int, pair_hands: bool, tables: Tables, rule: Rule,
    own_cards: Any, own_hand: int, opp_cards: Any, opp_hand: int, root: Any, deal: Any, level: Any, drawn: Drawn,
    scratch: Scratch,
) -> int:  # fmt: skip
    """Values and updates of a piece, from its leaves to its root; how many nodes were touched."""
    reach, value, sigma, alive = scratch.reach, scratch.value, scratch.sigma, scratch.alive
    stride = np.uint64(scratch.stride)
    reach_at = np.uint64(level * (scratch.piece + 1)) * stride
    value_at = np.uint64(level * scratch.piece) * stride
    own_at, opp_at = drawn.own_at[level], drawn.opp_at[level]
    hands = hands_at(own, deal)
    n = hands if own_at < 0 else np.uint64(1)
    touched = 0
    for j in range(tree.piece_size[root] - 1, -1, -1):
        node = root + j
        kind = tree.kind[node]
        here = value_at + np.uint64(j) * stride
        if not alive[level, j, 1 - me] and (kind > 1 or not alive[level, j, me]):
            for h in range(n):
                value[here + h] = 0.0
            continue
        touched += 1
        if kind == _LINK:
            continue  # the walk has filled it in
        if kind > 1:
            r = reach_at + np.uint64(tree.reach_slot[1 - me, node]) * stride
            if own_at >= 0:
                value[here] = terminal_of_one(
                    tree, own, opp, me, pair_hands, node, deal, own_at, opp_at, own_cards, own_hand, reach, r
                )
            else:
                terminal_of_all(tree, own, opp, me, pair_hands, node, deal, opp_at, opp_cards, opp_hand, reach, r,
                           drawn.zeros, scratch.sums, value, here)  # fmt: skip
            continue
        actions = np.uint64(tree.num_children[node])
        child = value_at + np.uint64(tree.first_child[node] - root) * stride
        for h in range(n):
            value[here + h] = 0.0
        for a in range(actions):
            row = child + a * stride
            if kind == me:
                for h in range(n):
                    value[here + h] += sigma[row + h] * value[row + h]
            else:
                for h in range(n):
                    value[here + h] += value[row + h]
        if kind != me:
            continue
        first = np.uint64(tree.base[node] + tree.num_children[node] * own.start[deal])
        r = reach_at + np.uint64(tree.reach_slot[me, node]) * stride
        if own_at >= 0:
            _learn_one(tables, rule, first, hands, np.uint64(own_at), actions, reach[r], sigma, child, value, child,
                       value[here], stride)  # fmt: skip
        else:
            block = tree.block[node] + deal
            update_tables(tables, rule, np.bool_(False), block, block, first, n, actions, reach, r, sigma, child, value,
                          child, here, stride)  # fmt: skip
    return touched


@inlined
def _class_after(hands: HandArrays, deck: Deck, hand: int, at: int, deal: int, state: Any) -> Any:
    """The class of a drawn hand at the next deal, or -1, and by what its reach grows.

    Where hands are not cards, chance may show the player more: one of the classes that his is divided into is drawn.
    """
    if len(deck.class_at) > 0:
        found = np.int64(deck.class_at[deal, hand])
        return (-1 if found == _NO_HAND else found), 1.0
    first, parts = hands.start[deal], 0
    size = hands.start[deal + 1] - first
    for h in range(size):
        parts += hands.parent[first + h] == at
    if parts == 0:
        return -1, 0.0
    wanted = np.int64(draw(state) * parts) if parts > 1 else 0
    for h in range(size):
        if hands.parent[first + h] == at:
            if wanted == 0:
                return np.int64(h), np.float64(parts)
            wanted -= 1
    return -1, 0.0


@inlined
def _hand_down(
    hands: HandArrays, cut: bool, deal: Any, at: int, growth: float, reach: Any, before: Any, after: Any,
) -> bool:  # fmt: skip
    """The reach of a player at the root of a piece; whether it is more than 0 anywhere."""
    if at >= 0:
        reach[after] = reach[before] * growth
        return reach[after] != 0.0
    first, n = np.uint64(hands.start[deal]), hands_at(hands, deal)
    for h in range(n):
        reach[after + h] = reach[before + (h if cut else np.uint64(hands.parent[first + h]))]
    return any_above(reach, after, n)


@inlined
def _lift_up(
    own: HandArrays, own_at: int, cut: bool, factor: float, deal: Any, deal_before: Any, value: Any, child: Any,
    above: Any,
) -> None:  # fmt: skip
    """The values of a piece, at the link that leads to it."""
    if own_at >= 0:
        value[above] = factor * value[child]
        return
    first, n = np.uint64(own.start[deal]), hands_at(own, deal)
    if cut:
        for h in range(n):
            value[above + h] = value[child + h]
        return
    before = np.uint64(own.start[deal_before])
    for h in range(hands_at(own, deal_before)):
        value[above + h] = 0.0
    for h in range(n):
        up = np.uint64(own.parent[first + h])
        part = np.float64(own.multiplicity[first + h]) / np.float64(own.multiplicity[before + up])
        value[above + up] += factor * part * value[child + h]


@apart
def walk_block(
    tree: NodeArrays,  # IN
    own: HandArrays,  # IN
    opp: HandArrays,  # IN
    own_deck: Deck,  # IN
    opp_deck: Deck,  # IN
    deals: Deals,  # IN
    pair_hands: bool,  # IN
    me: int,  # IN  who is updated
    own_hand: int,  # IN  our hand, or -1 for all
    opp_hand: int,  # IN  the opponent's hand, or -1 for all
    opp_reach: np.ndarray,  # IN  (n,) float64: the opponent's reaches at the root, where all his hands are walked
    follow: np.ndarray,  # IN  (D,) int32: the deal after each, on the way that was drawn
    tables: Tables,  # IN OUT
    opp_tables: Tables,  # IN
    rule: Rule,  # IN
    state: np.ndarray,  # IN OUT (1,) uint64: for events that a block does not hold
    drawn: Drawn,  # scratch
    scratch: Scratch,  # scratch
) -> int:
    """Walk a block once for one player; how many nodes were touched."""
    tree, own, opp, tables, opp_tables = held(tree), held(own), held(opp), held(tables), held(opp_tables)
    own_deck, opp_deck, deals = held(own_deck), held(opp_deck), held(deals)
    drawn, scratch = held(drawn), held(scratch)
    position = scratch.position  # per level: root, deal, node of the link
    level: Any = np.int64(0)  # a constant would be compiled for apart
    touched = 0
    entered = True
    position[0, 0], position[0, 1], position[0, 2] = 0, 0, 0
    drawn.own_at[0] = drawn.opp_at[0] = -1
    reach, value, stride = scratch.reach, scratch.value, np.uint64(scratch.stride)
    mine, other = np.uint64(tree.reach_slot[me, 0]) * stride, np.uint64(tree.reach_slot[1 - me, 0]) * stride
    if own_hand >= 0:
        drawn.own_at[0] = own_deck.class_at[0, own_hand] if len(own_deck.class_at) > 0 else own_hand
        reach[mine] = 1.0
    else:
        for h in range(hands_at(own, 0)):
            reach[mine + h] = 1.0
    if opp_hand >= 0:
        drawn.opp_at[0] = opp_deck.class_at[0, opp_hand] if len(opp_deck.class_at) > 0 else opp_hand
        reach[other] = opp_deck.start_reach[opp_hand]
    else:
        for h in range(hands_at(opp, 0)):
            reach[other + h] = opp_reach[h]
    scratch.alive[0, 0, 0] = scratch.alive[0, 0, 1] = True
    while True:
        at, deal, j = position[level, 0], position[level, 1], position[level, 2]
        if entered:
            _forward(tree, own, opp, me, tables, opp_tables, rule, at, deal, level, drawn, scratch)
            entered = False
        found = False
        while j < tree.piece_size[at] and not found:
            node = at + j
            if tree.kind[node] != _LINK or not (scratch.alive[level, j, 0] or scratch.alive[level, j, 1]):
                j += 1
                continue
            link = tree.link_deal[node]
            below, next_deal = tree.first_child[node], deal
            own_at, opp_at = drawn.own_at[level], drawn.opp_at[level]
            factor = own_growth = opp_growth = 1.0
            if link != _CUT:
                if link == _SHARED:
                    next_deal = follow[deal]
                else:
                    next_deal = link + chance_outcome(
                        deals.threshold, deals.alias, link, tree.num_children[node], draw(state)
                    )
                    below = tree.deal_root[next_deal]
                factor = deals.lift[next_deal]
                if own_hand >= 0:
                    own_at, own_growth = _class_after(own, own_deck, own_hand, own_at, next_deal, state)
                if opp_hand >= 0:
                    opp_at, opp_growth = _class_after(opp, opp_deck, opp_hand, opp_at, next_deal, state)
            here = np.uint64(level * scratch.piece + j) * stride
            if (own_hand >= 0 and own_at < 0) or (opp_hand >= 0 and opp_at < 0):  # the deal rules the hand out
                for h in range(np.uint64(1) if own_hand >= 0 else hands_at(own, deal)):
                    value[here + h] = 0.0
                j += 1
                continue
            down = level + 1
            from_at = np.uint64(level * (scratch.piece + 1)) * stride
            to_at = np.uint64(down * (scratch.piece + 1)) * stride
            scratch.alive[down, 0, me] = _hand_down(
                own, link == _CUT, next_deal, own_at, 1.0, reach,
                from_at + np.uint64(tree.reach_slot[me, node]) * stride,
                to_at + np.uint64(tree.reach_slot[me, below]) * stride,
            )  # fmt: skip
            scratch.alive[down, 0, 1 - me] = _hand_down(
                opp, link == _CUT, next_deal, opp_at, opp_growth, reach,
                from_at + np.uint64(tree.reach_slot[1 - me, node]) * stride,
                to_at + np.uint64(tree.reach_slot[1 - me, below]) * stride,
            )  # fmt: skip
            position[level, 2] = j
            drawn.own_at[down], drawn.opp_at[down], drawn.factor[down] = own_at, opp_at, factor * own_growth
            position[down, 0], position[down, 1], position[down, 2] = below, next_deal, 0
            level = down
            found = entered = True
        if found:
            continue
        touched += _backward(tree, own, opp, me, pair_hands, tables, rule, own_deck.card, own_hand, opp_deck.card,
                             opp_hand, at, deal, level, drawn, scratch)  # fmt: skip
        if level == 0:
            return touched
        level -= 1
        link_at = position[level, 2]
        cut = tree.link_deal[position[level, 0] + link_at] == _CUT
        _lift_up(own, drawn.own_at[level + 1], cut, drawn.factor[level + 1], deal, position[level, 1], value,
                 np.uint64((level + 1) * scratch.piece) * stride,
                 np.uint64(level * scratch.piece + link_at) * stride)  # fmt: skip
        position[level, 2] = link_at + 1


@inlined
def _draw_hand(deck: Deck, state: Any) -> int:
    return chance_outcome(deck.threshold, deck.alias, 0, len(deck.threshold), draw(state))


@inlined
def _draw_deals(
    tree: NodeArrays, own_deck: Deck, opp_deck: Deck, deals: Deals, own_hand: int, opp_hand: int, state: Any,
    follow: Any,
) -> bool:  # fmt: skip
    """One deal after the other; whether they leave the drawn hands their cards."""
    deal = 0
    while deals.chained and tree.deal_count[deal] > 0:
        first = tree.deal_first[deal]
        after = first + chance_outcome(deals.threshold, deals.alias, first, tree.deal_count[deal], draw(state))
        if own_hand >= 0 and len(own_deck.class_at) > 0 and own_deck.class_at[after, own_hand] == _NO_HAND:
            return False
        if opp_hand >= 0 and len(opp_deck.class_at) > 0 and opp_deck.class_at[after, opp_hand] == _NO_HAND:
            return False
        follow[deal] = after
        deal = after
    return True


@inlined
def _draw_block(
    tree: NodeArrays, own_deck: Deck, opp_deck: Deck, deals: Deals, pair_hands: bool, draw_own: bool, draw_opp:
    bool, state: Any, follow: Any,
) -> Any:  # fmt: skip
    """Hands and deals; all are drawn again where some share a card.

    Drawing only the deals again would be wrong: a deal stands for all its renamings, and a single hand leaves more or
    fewer of those that stand for others than the hands of its class do together.
    """
    while True:
        own_hand = _draw_hand(own_deck, state) if draw_own else -1
        opp_hand = _draw_hand(opp_deck, state) if draw_opp else -1
        if draw_own and draw_opp and len(own_deck.card) > 0 and share_a_card(
            own_deck.card[own_hand, 0], own_deck.card[own_hand, 1], opp_deck.card[opp_hand, 0],
            opp_deck.card[opp_hand, 1], pair_hands,
        ):  # fmt: skip
            continue
        if _draw_deals(tree, own_deck, opp_deck, deals, own_hand, opp_hand, state, follow):
            return own_hand, opp_hand


@kernel
def iterate_blocks(
    tree: NodeArrays,  # IN
    first: HandArrays,  # IN  hands of player 0
    second: HandArrays,  # IN  of player 1
    first_deck: Deck,  # IN
    second_deck: Deck,  # IN
    deals: Deals,  # IN
    pair_hands: bool,  # IN
    draw_own: bool,  # IN  the hand of the player who is updated is drawn
    draw_opp: bool,  # IN  the hand of his opponent is drawn
    first_reach: np.ndarray,  # IN  root reaches of player 0
    second_reach: np.ndarray,  # IN
    iterations: int,  # IN  how many to do
    start: int,  # IN  iterations done before
    linear: bool,  # IN  iteration t weighs t in the average
    rule: Rule,  # IN
    first_tables: Tables,  # IN OUT
    second_tables: Tables,  # IN OUT
    state: np.ndarray,  # IN OUT (1,) uint64
    counters: np.ndarray,  # IN OUT (2,) int64: iterations, nodes touched
    follow: np.ndarray,  # scratch (D,) int32
    drawn: Drawn,  # scratch
    scratch: Scratch,  # scratch
) -> None:
    """Run iterations: a walk for each player in turn, each over a block of its own."""
    local = state.copy()  # a cache line of its own
    touched = 0
    for iteration in range(iterations):
        time = np.float64(start + 1 + iteration) if linear else 1.0
        now = Rule(
            rule.keep_positive, rule.keep_negative, rule.floor, time, rule.tie, rule.prune, rule.quantised, rule.salt
        )
        for me in range(2):  # one call for both: kernels that are called twice are compiled twice
            turn = me == 0
            own_deck, opp_deck = (first_deck, second_deck) if turn else (second_deck, first_deck)
            own_hand, opp_hand = _draw_block(
                tree, own_deck, opp_deck, deals, pair_hands, draw_own, draw_opp, local, follow
            )
            touched += walk_block(
                tree, first if turn else second, second if turn else first, own_deck, opp_deck, deals, pair_hands, me,
                own_hand, opp_hand, second_reach if turn else first_reach, follow,
                first_tables if turn else second_tables, second_tables if turn else first_tables, now, local, drawn,
                scratch,
            )  # fmt: skip
    state[0] = local[0]
    counters[0] += iterations
    counters[1] += touched
