"""The ends of public trees: every kernel against all pairs of hands."""

from __future__ import annotations

import functools
import itertools
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import counterplay as cp
from counterplay.game.public_play import PlayEnd
from counterplay.games.bluff import Bluff
from counterplay.kernels.numba_internals import WIDE
from counterplay.kernels.public import terminal
from counterplay.kernels.public.terminal import CARD_SLOTS
from counterplay.poker.board_tree import DealTree, deal_cards, hole_hands
from counterplay.poker.cards import deck
from counterplay.tree.public.public_tree import Hands
from tests.kernel_entry import entry
from tests.reference import public as twin

SAME = 1e-9
additive_values, factored_values = entry(terminal.additive_values), entry(terminal.factored_values)
fold_values, showdown_values = entry(terminal.fold_values), entry(terminal.showdown_values)
matrix_values, row_values = entry(terminal.matrix_values), entry(terminal.row_values)
tilted_values = entry(terminal.tilted_values)
u = np.uint64
"""Kernels take places in arrays as unsigned numbers."""

BOARDS = {
    "flop of the whole deck": (13, 4, 2, (3,)),
    "flop, five ranks": (5, 4, 2, (3,)),
    "flop, three suits": (4, 3, 2, (3,)),
    "flop and turn": (4, 3, 2, (3, 1)),
    "one card and two boards": (4, 3, 1, (1, 1)),
    "one card, no suits to rename": (8, 1, 1, (1,)),
}


@functools.cache
def deals_of(case: str, isomorphic: bool) -> DealTree:
    ranks, suits, hole_cards, rounds = BOARDS[case]
    cards = deck(ranks, suits)
    if case == "flop of the whole deck":  # one flop of the deck, rainbow with a pair
        full = np.ones(len(hole_hands(cards, 2)))
        return deal_cards(cards, suits, 2, (0, 1, 22), (), (full, full), isomorphic)
    full = np.ones(len(hole_hands(cards, hole_cards)))
    return deal_cards(cards, suits, hole_cards, (), rounds, (full, full), isomorphic)


def board_of(case: str, deals: DealTree, deal: int) -> list[list[int]]:
    if case == "flop of the whole deck":
        return [[0, 1, 22]]
    return [
        [4 * "23456789TJQKA".index(rank) + "cdhs".index(suit) for rank, suit in re.findall("(.)(.)", part)]
        for part in deals.text[deal].split()
    ]


def real_hands(
    hands: Hands, deal: int, case: str, board: list[list[int]], reach: NDArray[np.float64], isomorphic: bool
) -> list[tuple[tuple[int, ...], float]]:
    """Every real hand with the reach of its class, found by renaming suits in all ways."""
    ranks, suits, hole_cards, _ = BOARDS[case]
    used = range(4 - suits, 4)
    names = twin.renamings(board, used) if isomorphic else [dict(zip(used, used, strict=True))]
    at = {}
    for number, cards in enumerate(hands.card[hands.slice(deal), :hole_cards].tolist()):
        at[twin.hand_class(tuple(cards), names)] = number
    every = twin.hands_beside(deck(ranks, suits), board, hole_cards)
    return [(hand, float(reach[at[twin.hand_class(hand, names)]])) for hand in every]


@pytest.mark.parametrize(
    ("case", "isomorphic"),
    [*((case, True) for case in BOARDS), ("flop, three suits", False), ("one card and two boards", False)],
)
@given(data=st.data())
@settings(max_examples=6, deadline=None)
def test_folds_and_showdowns_equal_all_pairs(case: str, isomorphic: bool, data: st.DataObject) -> None:
    deals = deals_of(case, isomorphic)
    hands = deals.hands[0]
    deal = data.draw(st.integers(deals.level_start[-2], deals.level_start[-1] - 1))
    seed = data.draw(st.integers(0, 2**31))
    draw = np.random.default_rng(seed)
    reach = draw.random(hands.count(deal)) * (draw.random(hands.count(deal)) > 0.3)
    board = board_of(case, deals, deal)
    others = real_hands(hands, deal, case, board, reach, isomorphic)
    if not isomorphic:
        assert len(others) == hands.count(deal)
    first, n, zero = u(hands.start[deal]), u(hands.count(deal)), u(0)
    low, high = u(hands.real_start[deal]), u(hands.real_start[deal + 1])
    hole_cards = BOARDS[case][2]
    fold, show, tilted = (np.zeros(hands.count(deal)) for _ in range(3))
    sums = np.zeros(54)
    fold_values(
        3.0, hole_cards == 2, hands.card, hands.twin, first, n, hands.real_class, hands.real_card, low, high, reach,
        zero, sums, fold, zero,
    )  # fmt: skip
    showdown_values(
        2.0, hands.card, hands.rank, first, n, hands.real_class, hands.real_rank, hands.real_card, low, high, reach,
        zero, sums, show, zero,
    )  # fmt: skip
    tilted_values(
        3.0, 1.0, hands.card, hands.rank, first, n, hands.real_class, hands.real_rank, hands.real_card, low, high,
        reach, zero, sums, tilted, zero,
    )  # fmt: skip
    some = range(0, hands.count(deal), max(1, hands.count(deal) // 40))
    scale = 1.0 + reach.sum()
    for number in some:
        hand = tuple(hands.card[hands.slice(deal)][number, :hole_cards].tolist())
        assert fold[number] == pytest.approx(twin.fold_value(hand, others, 3.0), abs=SAME * scale)
        assert show[number] == pytest.approx(twin.showdown_value(hand, others, board, 2.0, 2.0), abs=SAME * scale)
        assert tilted[number] == pytest.approx(twin.showdown_value(hand, others, board, 3.0, 1.0), abs=SAME * scale)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("case", BOARDS)
@pytest.mark.parametrize("shown", [0, 3, WIDE])
def test_ends_side_by_side_equal_one_at_a_time(case: str, shown: int, kind: type) -> None:
    """Some showdowns and some folds in one row, each with reaches and a payoff of its own."""
    deals = deals_of(case, True)
    hands, pair = deals.hands[0], BOARDS[case][2] == 2
    draw = np.random.default_rng(shown)
    for deal in draw.integers(deals.level_start[-2], deals.level_start[-1], 3).tolist():
        n = hands.count(deal)
        reach = draw.random((WIDE, n)).astype(kind) * (draw.random((WIDE, n)) > 0.3)
        payoff = draw.normal(size=WIDE)
        theirs = np.zeros((n + 1, WIDE), kind)
        theirs[:n] = reach.T
        is_shown = np.arange(WIDE) < shown
        doubled = np.where(is_shown | (not pair), 0, payoff)
        factor = np.stack([np.where(is_shown, payoff, 0), np.where(is_shown, -payoff, payoff), doubled]).astype(kind)
        first, low, high, zero = u(hands.start[deal]), u(hands.real_start[deal]), u(hands.real_start[deal + 1]), u(0)
        out = np.zeros(n * WIDE, kind)
        row_values(
            shown > 0, hands.card, hands.rank, hands.twin, first, u(n), hands.real_class, hands.real_rank,
            hands.real_card, low, high, theirs.ravel(), u(n), factor.ravel(), np.zeros(CARD_SLOTS * WIDE, kind),
            out,
        )  # fmt: skip
        for lane in range(WIDE):
            alone, sums, seen = np.zeros(n), np.zeros(CARD_SLOTS), reach[lane].astype(np.float64)
            if lane < shown:
                showdown_values(
                    payoff[lane], hands.card, hands.rank, first, u(n), hands.real_class, hands.real_rank,
                    hands.real_card, low, high, seen, zero, sums, alone, zero,
                )  # fmt: skip
            else:
                fold_values(
                    payoff[lane], pair, hands.card, hands.twin, first, u(n), hands.real_class, hands.real_card, low,
                    high, seen, zero, sums, alone, zero,
                )  # fmt: skip
            close = SAME if kind is np.float64 else 1e-5
            assert out[lane::WIDE] == pytest.approx(alone, abs=close * (1.0 + float(reach[lane].sum())))


@given(st.integers(1, 7), st.integers(1, 7), st.integers(0, 2**31))
@settings(max_examples=40, deadline=None)
def test_other_payoffs_equal_all_pairs(n: int, m: int, seed: int) -> None:
    """Matrices, factored and additive payoffs, for both players."""
    draw = np.random.default_rng(seed)
    matrix, parts = draw.normal(size=(n, m)), (draw.normal(size=n), draw.normal(size=m))
    classes = np.zeros((2, 1, 7), np.uint8)
    classes[0, 0, :n], classes[1, 0, :m] = draw.integers(0, 3, n), draw.integers(0, 2, m)
    small, zero = draw.normal(size=(3, 2)), u(0)
    for me, sizes in ((0, (n, m)), (1, (m, n))):
        sign = 1.0 if me == 0 else -1.0
        reach, value, sums = draw.random(sizes[1]), np.zeros(sizes[0]), np.zeros(16)
        pairs = [((h, o) if me == 0 else (o, h)) for h in range(sizes[0]) for o in range(sizes[1])]
        payoffs = {
            "matrix": {pair: matrix[pair] for pair in pairs},
            "factored": {pair: small[classes[0, 0, pair[0]], classes[1, 0, pair[1]]] for pair in pairs},
            "additive": {pair: parts[0][pair[0]] + parts[1][pair[1]] for pair in pairs},
        }
        for kind, payoff in payoffs.items():
            if kind == "matrix":
                matrix_values(me, sign, matrix.ravel(), zero, reach, zero, u(sizes[1]), value, zero, u(sizes[0]))
            elif kind == "factored":
                factored_values(
                    me, sign, small.ravel(), zero, classes, zero, u((3, 2)[me]), u((3, 2)[1 - me]), reach, zero,
                    u(sizes[1]), sums, value, zero, u(sizes[0]),
                )  # fmt: skip
            else:
                at = (zero, u(n))
                additive_values(
                    sign, np.concatenate(parts), at[me], at[1 - me], reach, zero, u(sizes[1]), value, zero, u(sizes[0])
                )  # fmt: skip
            for h in range(sizes[0]):
                pairwise = sum(sign * payoff[(h, o) if me == 0 else (o, h)] * reach[o] for o in range(sizes[1]))
                assert value[h] == pytest.approx(pairwise, abs=SAME), kind


@pytest.mark.parametrize("dice", list(itertools.product((1, 2, 3), repeat=2)), ids=str)
def test_calls_in_bluff_equal_all_rolls(dice: tuple[int, int]) -> None:
    """All bids, all rolls, both callers, both players (Johanson 2016, section 3.3.2)."""
    game = cp.make(f"bluff({dice[0]},{dice[1]})")
    assert isinstance(game, Bluff)
    play = game.public_play()
    assert play is not None
    bids = [(q, f) for q in range(1, sum(dice) + 1) for f in range(1, 7)]
    ends = [point for point in play.points if isinstance(point, PlayEnd)]
    assert len(ends) == 2 * len(bids)
    rolls = [[tuple(map(int, name)) for name, _ in row] for row in play.hands]
    draw = np.random.default_rng(sum(dice))
    for number, end in enumerate(ends):
        (quantity, face), caller = bids[number // 2], number % 2
        utility = np.array(end.utility).ravel()
        classes = np.zeros((2, 1, 56), np.uint8)
        for player in (0, 1):
            classes[player, 0, : len(end.classes[player])] = end.classes[player]
        counts = (dice[0] + 1, dice[1] + 1)
        for me in (0, 1):
            reach = draw.random(len(rolls[1 - me]))
            value, sums = np.zeros(len(rolls[me])), np.zeros(16)
            factored_values(
                me, 1.0 if me == 0 else -1.0, utility, u(0), classes, u(0), u(counts[me]), u(counts[1 - me]), reach,
                u(0), u(len(reach)), sums, value, u(0), u(len(value)),
            )  # fmt: skip
            others = list(zip(rolls[1 - me], reach.tolist(), strict=True))
            for roll, got in list(zip(rolls[me], value.tolist(), strict=True))[:: 1 + number % 3]:
                wanted = twin.bluff_value(roll, others, quantity, face, 6, caller == me)
                assert got == pytest.approx(wanted, abs=SAME)


def test_leaf_payoffs_of_a_round_are_antisymmetric() -> None:
    """With the value of the next round at the leaves, what one player wins the other loses, whoever calls."""
    game = cp.make("bluff(2,2,lost=-0.6,won=0.6)")
    play = game.public_play()
    assert play is not None
    ends = [point for point in play.points if isinstance(point, PlayEnd)]
    for first, second in zip(ends[::2], ends[1::2], strict=True):
        assert first.classes == second.classes
        assert np.array_equal(np.array(first.utility), -np.array(second.utility))
        assert set(np.abs(first.utility).ravel()) == {0.6}
