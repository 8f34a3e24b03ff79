"""Ranks of hands: counts of all hands by category, the twin, an independent evaluator, short hands, mistakes.

The counts of five and seven cards are the well-known ones of combinatorics (five: 2,598,960 hands; seven: 133,784,560);
those of six cards and the numbers of different values were computed independently.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from counterplay.errors import GameError
from counterplay.poker.cards import cards_text, deck, parse_cards
from counterplay.poker.evaluator import CATEGORIES, count_hands, hand_meaning, rank_hand, rank_hands, rank_holes
from counterplay.poker.isomorphism import HandIndexer
from tests.reference.hands import hand_value

HIGHEST = 9_841

COUNTS = {
    5: (1_302_540, 1_098_240, 123_552, 54_912, 10_200, 5_108, 3_744, 624, 40),
    6: (6_612_900, 9_730_740, 2_532_816, 732_160, 361_620, 205_792, 165_984, 14_664, 1_844),
    7: (23_294_460, 58_627_800, 31_433_400, 6_461_620, 6_180_020, 4_047_644, 3_473_184, 224_848, 41_584),
}
ROYAL = {5: 4, 6: 188, 7: 4_324}
VALUES = {5: (1_277, 2_860, 858, 858, 10, 1_277, 156, 156, 10), 6: 6_075, 7: 4_824}


def categories() -> npt.NDArray[np.int64]:
    """The category of each rank; that of rank 0 is as good as none."""
    return np.array([0, *(hand_meaning(rank).category for rank in range(1, HIGHEST + 1))])


def random_hands(count: int, size: int, seed: int) -> npt.NDArray[np.uint8]:
    drawn = np.random.default_rng(seed).integers(0, 52, (2 * count, size), dtype=np.uint8)
    ordered = np.sort(drawn, axis=1)
    hands = drawn[(ordered[:, 1:] != ordered[:, :-1]).all(axis=1)]
    assert len(hands) >= count
    return hands[:count]


@pytest.mark.parametrize("size", [5, 6, 7])
def test_all_hands_by_category(size: int) -> None:
    counts = count_hands(size)
    assert counts.sum() == math.comb(52, size)
    assert counts[0] == 0
    found = np.bincount(categories(), weights=counts).astype(np.int64)
    assert tuple(found) == COUNTS[size]
    assert counts[HIGHEST] == ROYAL[size]


def test_different_values() -> None:
    """7,462 values of five cards; six and seven cards have no others."""
    five = count_hands(5) > 0
    assert five.sum() == 7_462
    assert tuple(np.bincount(categories()[five])) == VALUES[5]
    for size in (6, 7):
        more = count_hands(size) > 0
        assert more.sum() == VALUES[size]
        assert not (more & ~five).any()


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_short_hands_are_worth_their_ranks(size: int) -> None:
    """Every multiset of ranks is a value of its own: there are no straights and flushes that could hide it."""
    counts = count_hands(size)
    assert counts.sum() == math.comb(52, size)
    ranks = {tuple(sorted(card // 4 for card in hand)) for hand in itertools.combinations(range(52), size)}
    assert (counts > 0).sum() == len(ranks)
    assert not counts[np.isin(categories(), (4, 5, 6, 8))].any()


def test_ranks_leave_no_gaps() -> None:
    seen = sum((count_hands(size) for size in range(1, 8)), start=np.int64(0))
    assert len(seen) == HIGHEST + 1
    assert (seen[1:] > 0).all()


@pytest.mark.parametrize("size", range(1, 8))
def test_equals_the_twin(size: int) -> None:
    """Same order as tuples compared, for hands one by one and in a batch."""
    hands = random_hands(2_000, size, seed=size)
    ranks = rank_hands(hands)
    rows = hands.tolist()
    assert [rank_hand(hand) for hand in rows] == ranks.tolist()
    values = [hand_value(hand) for hand in rows]
    order = sorted(range(len(rows)), key=lambda row: values[row])
    for before, after in itertools.pairwise(order):
        assert (ranks[before] < ranks[after]) == (values[before] < values[after])
        assert (ranks[before] == ranks[after]) == (values[before] == values[after])
    meanings = [hand_meaning(rank) for rank in ranks.tolist()]
    assert [(meaning.category, *meaning.ranks) for meaning in meanings] == [
        (category, *(ranks if category not in (2, 3, 6, 7) else dict.fromkeys(ranks))) for category, *ranks in values
    ]


def test_short_and_long_hands_compare() -> None:
    """A missing card counts less than a deuce; the twin's tuples do the same."""
    hands = [hand for size in range(1, 8) for hand in random_hands(300, size, seed=10 + size).tolist()]
    for one, other in zip(hands, hands[::-1], strict=True):
        assert (rank_hand(one) > rank_hand(other)) == (hand_value(one) > hand_value(other))


def test_every_hand_of_a_royal_deck() -> None:
    """Counts of all hands of 20 cards are what ranking them one by one gives."""
    cards = deck(5, 4)
    for size in (3, 5):
        counts = count_hands(size, cards)
        found: dict[int, int] = {}
        for hand in itertools.combinations(cards, size):
            rank = rank_hand(hand)
            found[rank] = found.get(rank, 0) + 1
        assert {rank: int(counts[rank]) for rank in np.flatnonzero(counts)} == found


@pytest.mark.parametrize(
    ("cards", "text"),
    [
        ("As", "high card A"),
        ("2c", "high card 2"),
        ("QsQh", "pair Q"),
        ("AsKs", "high card AK"),
        ("QsKsAs", "high card AKQ"),
        ("2s2h2d", "three of a kind 2"),
        ("2s2h2d2c", "four of a kind 2"),
        ("2s2h3d3c", "two pair 32"),
        ("As2s3s4s", "high card A432"),
        ("As2s3s4s5s", "straight flush 5"),
        ("As2s3s4s5h", "straight 5"),
        ("AsKsQsJsTs", "straight flush A"),
        ("AsKsQsJs9s", "flush AKQJ9"),
        ("As2s3s4s5s6s7h", "straight flush 6"),
        ("As2s3s4s6s7s8s", "flush A8764"),
        ("2s3h4d5c6s6h6d", "straight 6"),
        ("QsKsAs2h3h", "high card AKQ32"),
        ("AsAhAdKsKhKdQs", "full house AK"),
        ("AsAhAdKsKhQsQh", "full house AK"),
        ("AsAhKsKhQsQhJs", "two pair AKQ"),
        ("2s2h3s3h4s4hAs", "two pair 43A"),
        ("2s2h2d2cKsKhKd", "four of a kind 2K"),
        ("2s2h2d2c3s3hAd", "four of a kind 2A"),
        ("9s9h9dAsKh", "three of a kind 9AK"),
        ("9s9hAsKhQd2c3c", "pair 9AKQ"),
    ],
)
def test_meanings(cards: str, text: str) -> None:
    assert hand_meaning(rank_hand(parse_cards(cards))).text == text


def order_of(hands: list[str]) -> list[int]:
    return [rank_hand(parse_cards(hand)) for hand in hands]


def test_kuhn() -> None:
    ranks = order_of([cards_text([card]) for card in deck(4, 1)])
    assert ranks == sorted(set(ranks))


def test_leduc() -> None:
    """A pair with the board wins, then the higher card; the suit does not matter (Southey et al. 2005)."""
    assert order_of(["QhKs", "QsKh"]) == order_of(["QsKh", "QhKs"])
    ranks = order_of(["QhKs", "QhAs", "KhAs", "QhQs", "KhKs", "AhAs"])
    assert ranks == sorted(set(ranks))


def test_rhode_island_has_no_straights_of_three() -> None:
    """The competition's ranker: pairs, threes and high cards, no three-card straights and flushes."""
    assert rank_hand(parse_cards("2s3s4s")) < rank_hand(parse_cards("2s3h5d")) < rank_hand(parse_cards("2s2h3d"))


def numbers_of_phevaluator(hands: npt.NDArray[np.uint8]) -> npt.NDArray[np.int32]:
    """What an independent program says, which numbers cards as we do; the lower number is better."""
    phevaluator: Any = pytest.importorskip("phevaluator")
    numbers = np.empty(len(hands), dtype=np.int32)
    for start in range(0, len(hands), 100_000):
        part = hands[start : start + 100_000].tolist()
        numbers[start : start + len(part)] = [phevaluator.evaluate_cards(*hand) for hand in part]
    return numbers


@pytest.mark.parametrize("pairs", [50_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_against_phevaluator(pairs: int) -> None:
    """Random pairs of seven cards in the same order."""
    hands = random_hands(2 * pairs, 7, seed=20)
    theirs = numbers_of_phevaluator(hands)
    ours = rank_hands(hands).astype(np.int32)
    one, other = np.arange(0, 2 * pairs, 2), np.arange(1, 2 * pairs, 2)
    np.testing.assert_array_equal(np.sign(ours[one] - ours[other]), np.sign(theirs[other] - theirs[one]))


@pytest.mark.slow
def test_every_hand_against_phevaluator() -> None:
    """One hand of each of the 6,009,159 classes of seven cards, weighted by its class: all 133,784,560 hands.

    The values correspond one to one and in order, so the counts by category agree.
    """
    indexer = HandIndexer((7,))
    numbers = np.arange(indexer.size())
    hands, orbits = indexer.hands(numbers), indexer.orbits(numbers)
    theirs = numbers_of_phevaluator(hands)
    ours = rank_hands(hands)
    pairs = np.unique(np.stack([ours, -theirs], axis=1), axis=0)
    assert len(pairs) == VALUES[7]
    assert (np.diff(pairs, axis=0) > 0).all()
    last = (10, 166, 322, 1_599, 1_609, 2_467, 3_325, 6_185, 7_462)  # their highest number of each category
    found = np.bincount(8 - np.searchsorted(last, theirs), weights=orbits).astype(np.int64)
    assert tuple(found) == COUNTS[7]
    assert tuple(np.bincount(categories()[ours], weights=orbits).astype(np.int64)) == COUNTS[7]
    assert orbits.sum() == 133_784_560
    np.testing.assert_array_equal(
        np.bincount(ours, weights=orbits, minlength=HIGHEST + 1).astype(np.int64), count_hands(7)
    )


@pytest.mark.parametrize(("board", "hole"), [(0, 1), (1, 1), (2, 1), (3, 2), (4, 3), (5, 2)])
def test_hands_on_a_board(board: int, hole: int) -> None:
    for row in random_hands(5, board + hole, seed=40).tolist():
        shared = row[:board]
        holes = np.array(list(itertools.combinations(range(52), hole)), dtype=np.uint8)
        ranks = rank_holes(shared, holes)
        possible = ~np.isin(holes, shared).any(axis=1)
        assert possible.sum() == math.comb(52 - board, hole)
        assert not ranks[~possible].any()
        whole = np.hstack([np.tile(np.array(shared, dtype=np.uint8), (possible.sum(), 1)), holes[possible]])
        np.testing.assert_array_equal(ranks[possible], rank_hands(whole))
    assert rank_holes([], [[7, 7]]).tolist() == [0]


@pytest.mark.slow
def test_hand_strengths() -> None:
    """Chances of beating a random hand on every river board, ties counted one half (Johanson 2016, section 5.2).

    1,950 different values on the river (Johanson 2016, section 11.3.1); before the flop the means of 44, 66, TsJs and
    QsKs are those behind the distances of Johanson 2016, figure 5.2 (computed independently).
    """
    boards = HandIndexer((5,))
    numbers = np.arange(boards.size())
    seen = np.zeros(2 * 990 + 1, dtype=bool)
    names = [tuple(sorted(parse_cards(text))) for text in ("4s4h", "6s6h", "TsJs", "QsKs")]
    classes = HandIndexer((2,))
    wanted = [classes.index(name) for name in names]
    pairs = np.array(list(itertools.combinations(range(52), 2)), dtype=np.uint8)
    of_class = classes.indices(pairs)
    won, held = np.zeros(169, dtype=np.int64), np.zeros(169, dtype=np.int64)
    for board, weight in zip(boards.hands(numbers), boards.orbits(numbers), strict=True):
        ranks = rank_holes(board.tolist(), pairs)
        possible = ranks > 0
        strength = twice_the_wins(pairs[possible], ranks[possible])
        assert len(strength) == 1_081
        seen[strength] = True
        found = np.bincount(of_class[possible], weights=strength, minlength=169)
        won += weight * found.astype(np.int64)
        held += weight * np.bincount(of_class[possible], minlength=169)
    assert seen.sum() == 1_950
    expected = (won / (held * 2 * 990))[wanted]
    assert np.round(expected, 7).tolist() == [0.5702282, 0.6328475, 0.5752786, 0.6340040]


def twice_the_wins(pairs: npt.NDArray[np.uint8], ranks: npt.NDArray[np.uint16]) -> npt.NDArray[np.int64]:
    """For each hand on a board, two for each hand of other cards that it beats and one for each that it ties."""
    ordered = np.sort(ranks)
    points = np.searchsorted(ordered, ranks, "left") + np.searchsorted(ordered, ranks, "right")
    mine = pairs.T.astype(np.int64) << 16 | ranks  # hands that share a card were counted too: by card, then by rank
    shared = np.sort(mine, axis=None)
    before = np.searchsorted(shared, mine, "left") + np.searchsorted(shared, mine, "right")
    start = np.searchsorted(shared, np.arange(52) << 16)[pairs.T]
    points -= (before - 2 * start).sum(axis=0)
    return points + 1  # the hand itself ties once among all, and once with each of its cards


def test_other_types_and_layouts() -> None:
    hands = random_hands(1_000, 7, seed=30)
    expected = rank_hands(hands)
    for other in (hands.astype(np.int64), np.asfortranarray(hands), hands.tolist(), np.repeat(hands, 2, axis=0)[::2]):
        np.testing.assert_array_equal(rank_hands(other), expected)
    assert rank_hands(np.empty((0, 7), dtype=np.uint8)).shape == (0,)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: rank_hand([]), "1 to 7 cards; got 0"),
        (lambda: rank_hand(range(8)), "1 to 7 cards; got 8"),
        (lambda: rank_hand([0, 52]), "0 to 51; got 52"),
        (lambda: rank_hand([5, 5]), "twice: 3d3d"),
        (lambda: rank_hands([[0, 1], [5, 5]]), "in hand 1 twice: 3d3d"),
        (lambda: rank_hands([[51] * 7]), "in hand 0 twice: As"),
        (lambda: rank_hands([[0, 60]]), "0 to 51; got 60"),
        (lambda: rank_hands([[0, -1]]), "0 to 51; got -1"),
        (lambda: rank_hands([0, 1]), "shape \\(2,\\)"),
        (lambda: rank_hands([[0.5]]), "type float64"),
        (lambda: rank_hands(np.zeros((3, 0), dtype=np.uint8)), "1 to 7 cards; got 0"),
        (lambda: rank_hands(np.arange(8)[None]), "1 to 7 cards; got 8"),
        (lambda: rank_holes([0, 0], [[1, 2]]), "twice: 2c2c"),
        (lambda: rank_holes([0, 52], [[1, 2]]), "got 52"),
        (lambda: rank_holes(range(6), [[7, 8]]), "not all on it; got 8"),
        (lambda: rank_holes(range(5), np.zeros((1, 0), dtype=np.uint8)), "not all on it; got 5"),
        (lambda: count_hands(8), "deck's 52 cards; got 8"),
        (lambda: count_hands(4, deck(3, 1)), "deck's 3 cards; got 4"),
        (lambda: hand_meaning(0), f"1 to {HIGHEST}; got 0"),
        (lambda: hand_meaning(HIGHEST + 1), f"got {HIGHEST + 1}"),
    ],
)
def test_mistakes(call: object, words: str) -> None:
    with pytest.raises(GameError, match=words):
        call()  # type: ignore[operator]


def test_categories_are_named() -> None:
    assert len(CATEGORIES) == 9
    assert CATEGORIES[hand_meaning(HIGHEST).category] == "straight flush"
