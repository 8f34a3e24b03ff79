"""Hands up to a permutation of suits: sizes, numbers, hands from numbers, classes.

Sizes and numbers of single hands were computed with Waugh's published program; the sizes for hold'em are also in
Johanson 2016, section 2.4.  A numbering is a bijection when every number leads to a hand that has it, and there are as
many numbers as classes by Burnside's lemma.
"""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterplay.errors import GameError
from counterplay.poker.cards import cards_text, deck, parse_cards
from counterplay.poker.isomorphism import HandIndexer
from tests.reference.isomorphism import (
    all_hands,
    canonical,
    count_classes,
    cycle_lengths,
    in_rounds,
    numbered_classes,
    orbit,
    suit_words,
)

HOLDEM = HandIndexer((2, 3, 1, 1))

SIZES = {
    (2,): (169,),
    (2, 3): (169, 1_286_792),
    (2, 3, 1): (169, 1_286_792, 55_190_538),
    (2, 3, 1, 1): (169, 1_286_792, 55_190_538, 2_428_287_420),
    (2, 4): (169, 13_960_050),
    (2, 5): (169, 123_156_254),
    (3,): (1_755,),
    (4,): (16_432,),
    (5,): (134_459,),
    (3, 1): (1_755, 63_193),
    (3, 1, 1): (1_755, 63_193, 2_554_656),
}

NUMBERS = {
    "2s2h 3s4s5s 6s 7s": (0, 899_080, 40_904_760, 1_835_145_312),
    "AsAh KsKhKd Ad Ac": (90, 607_983, 21_346_987, 733_236_841),
    "AsKs QsJsTs 9s 8s": (168, 1_286_791, 55_190_537, 2_428_287_419),
    "7h2d 9cTcJc 3s 4d": (15, 103_118, 2_159_172, 107_978_949),
    "AdKc AhKh2s 2h 2d": (89, 7_096, 1_114_384, 84_694_388),
    "2s3s 4h5h6d 7d 8c": (91, 996_476, 43_715_958, 1_905_391_566),
    "QsJh 2h3dKc 9s 9h": (64, 255_745, 14_912_777, 859_374_317),
    "TdAs 2c8c3h 9c Kh": (86, 8_549, 1_222_307, 34_625_495),
}

SMALL = [
    ((2,), 4, 4), ((1, 1), 3, 4), ((2, 1), 3, 4), ((1, 2), 4, 3), ((2, 2), 3, 4), ((1, 1, 1), 3, 4), ((3, 1), 4, 3),
    ((2, 3), 4, 3), ((4,), 4, 4), ((2, 1, 1), 5, 2), ((1,), 3, 1), ((1, 1), 3, 2), ((3, 2, 1), 8, 1), ((8,), 2, 4),
    ((1, 2, 1, 1), 3, 3),
]  # fmt: skip


def random_hands(count: int, size: int, cards: tuple[int, ...] = deck(), seed: int = 1) -> npt.NDArray[np.uint8]:
    """Hands whose cards differ: draws with a card twice are thrown away."""
    rng = np.random.default_rng(seed)
    parts, found = [], 0
    while found < count:
        drawn = np.array(cards, dtype=np.uint8)[rng.integers(0, len(cards), (count, size))]
        ordered = np.sort(drawn, axis=1)
        parts.append(drawn[(ordered[:, 1:] != ordered[:, :-1]).all(axis=1)])
        found += len(parts[-1])
    return np.concatenate(parts)[:count]


def renamed(hands: npt.NDArray[np.uint8], suits: int = 4, seed: int = 2) -> npt.NDArray[np.uint8]:
    """The hands with suits permuted, each in its own way."""
    rng = np.random.default_rng(seed)
    lowest = 4 - suits
    names = rng.permuted(np.tile(np.arange(lowest, 4), (len(hands), 1)), axis=1)
    return (hands // 4 * 4 + np.take_along_axis(names, hands.astype(np.int64) % 4 - lowest, axis=1)).astype(np.uint8)


@pytest.mark.parametrize("shape", SIZES, ids=str)
def test_sizes(shape: tuple[int, ...]) -> None:
    indexer = HandIndexer(shape)
    assert indexer.sizes == SIZES[shape]
    assert indexer.size() == indexer.size(len(shape) - 1) == SIZES[shape][-1]
    assert indexer.size(0) == SIZES[shape][0]
    assert count_classes(shape, 13, 4) == SIZES[shape][-1]


def test_hands_of_seven_cards() -> None:
    """Computed independently (Burnside's lemma)."""
    assert HandIndexer((7,)).sizes == (count_classes((7,), 13, 4),) == (6_009_159,)


@given(
    shape=st.lists(st.integers(1, 4), min_size=1, max_size=4),
    ranks=st.integers(1, 13),
    suits=st.integers(1, 4),
)
@settings(max_examples=100, deadline=None)
def test_sizes_of_other_shapes_and_decks(shape: list[int], ranks: int, suits: int) -> None:
    if sum(shape) > ranks * suits:
        with pytest.raises(GameError, match="at most"):
            HandIndexer(tuple(shape), ranks, suits)
        return
    expected = tuple(count_classes(shape[: turn + 1], ranks, suits) for turn in range(len(shape)))
    assert HandIndexer(tuple(shape), ranks, suits).sizes == expected


@pytest.mark.parametrize("text", NUMBERS)
def test_numbers_are_those_of_the_published_program(text: str) -> None:
    cards = parse_cards(text)
    assert tuple(HOLDEM.index(cards[:dealt]) for dealt in (2, 5, 6, 7)) == NUMBERS[text]
    for turn, dealt in enumerate((2, 5, 6, 7)):
        hand = HOLDEM.hand(NUMBERS[text][turn], turn)
        shape = HOLDEM.shape[: turn + 1]
        assert canonical(in_rounds(hand, shape)) == canonical(in_rounds(cards[:dealt], shape))


def test_preflop_names() -> None:
    """Pairs and offsuit hands come first, suited ones last (Waugh's program)."""
    names = {0: "2s2h", 24: "5s8h", 48: "5sJh", 72: "8sKh", 96: "4s5s", 120: "3sTs", 144: "TsQs", 168: "KsAs"}
    for number, name in names.items():
        assert HOLDEM.index(parse_cards(name)) == number
        assert canonical((tuple(sorted(HOLDEM.hand(number, 0))),)) == canonical((tuple(sorted(parse_cards(name))),))
    assert cards_text(HOLDEM.hand(168, 0)) == "KsAs"


@pytest.mark.parametrize(("shape", "ranks", "suits"), SMALL, ids=str)
def test_small_decks_exhaustively(shape: tuple[int, ...], ranks: int, suits: int) -> None:
    """Every hand has the number of its class in the twin's sorted list; every number leads back into its class."""
    indexer = HandIndexer(shape, ranks, suits)
    numbered = numbered_classes(shape, ranks, suits)
    assert indexer.size() == len(numbered) == count_classes(shape, ranks, suits)
    hands = list(all_hands(deck(ranks, suits), shape))
    flat = np.array([sum(hand, ()) for hand in hands], dtype=np.uint8)
    expected = [numbered[canonical(hand, suits)] for hand in hands]
    assert indexer.indices(flat).tolist() == expected
    everything = np.arange(indexer.size())
    back = [canonical(in_rounds(hand, shape), suits) for hand in indexer.hands(everything).tolist()]
    assert [numbered[hand] for hand in back] == everything.tolist()
    orbits = indexer.orbits(everything).tolist()
    assert orbits == [orbit(hand, suits) for hand in back]
    counted = Counter(expected)
    assert orbits == [counted[number] for number in range(indexer.size())]


def test_every_flop_hand_of_the_whole_deck() -> None:
    """All 25,989,600 hands: each number comes as often as its class is large, so no two classes share one."""
    indexer = HandIndexer((2, 3))
    counted = np.zeros(indexer.size(), dtype=np.int64)
    triples = np.array([hand[0] for hand in all_hands(range(50), (3,))], dtype=np.int64)
    for hole in all_hands(range(52), (2,)):
        left = np.array([card for card in range(52) if card not in hole[0]], dtype=np.uint8)
        hands = np.empty((len(triples), 5), dtype=np.uint8)
        hands[:, :2] = hole[0]
        hands[:, 2:] = left[triples]
        counted += np.bincount(indexer.indices(hands), minlength=indexer.size())
    assert counted.sum() == 25_989_600  # Johanson 2016, section 2.4: raw private cards and board
    everything = np.arange(indexer.size())
    np.testing.assert_array_equal(counted, indexer.orbits(everything))
    np.testing.assert_array_equal(indexer.indices(indexer.hands(everything)), everything)


@pytest.mark.parametrize("shape", [(2,), (3,), (4,), (5,), (3, 1), (3, 1, 1)], ids=str)
def test_every_number(shape: tuple[int, ...]) -> None:
    indexer = HandIndexer(shape)
    everything = np.arange(indexer.size())
    hands = indexer.hands(everything)
    np.testing.assert_array_equal(indexer.indices(hands), everything)
    dealt, raw = 0, 1
    for count in shape:
        raw *= math.comb(52 - dealt, count)
        dealt += count
    assert indexer.orbits(everything).sum() == raw
    if indexer.size() < 200_000:  # sorting more takes long, and says nothing that the above does not
        assert len(np.unique(suit_words(hands, shape), axis=0)) == indexer.size()


@pytest.mark.parametrize(
    ("shape", "ranks", "suits", "trips"),
    [
        ((2, 3, 1), 13, 4, 200_000),
        ((2, 3, 1, 1), 13, 4, 200_000),
        ((2, 4), 13, 4, 200_000),
        ((2, 5), 13, 4, 200_000),
        ((7,), 13, 4, 50_000),
        ((4, 3), 13, 4, 50_000),
        ((1, 1, 1, 1, 1, 1, 1), 13, 4, 50_000),
        ((2, 3, 1, 1), 5, 4, 50_000),
        ((2, 3, 1, 1), 9, 3, 50_000),
        ((5, 5, 3), 13, 4, 50_000),
    ],
    ids=str,
)
def test_round_trips(shape: tuple[int, ...], ranks: int, suits: int, trips: int) -> None:
    """Random hands under other suit names and back from their numbers; random numbers to hands and back."""
    indexer = HandIndexer(shape, ranks, suits)
    hands = random_hands(trips, sum(shape), deck(ranks, suits))
    numbers = indexer.indices(hands)
    np.testing.assert_array_equal(indexer.indices(renamed(hands, suits)), numbers)
    back = indexer.hands(numbers)
    np.testing.assert_array_equal(indexer.indices(back), numbers)
    if len(shape) <= 4:
        np.testing.assert_array_equal(suit_words(back, shape), suit_words(hands, shape))
    drawn = np.random.default_rng(3).integers(0, indexer.size(), trips)
    np.testing.assert_array_equal(indexer.indices(indexer.hands(drawn)), drawn)


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_any_shape_and_deck(data: st.DataObject) -> None:
    """Round trips for whatever fits: cards within a round in any order, suits under any names."""
    ranks, suits = data.draw(st.integers(1, 13)), data.draw(st.integers(1, 4))
    most = min(ranks * suits, 12)  # more cards can have more classes than 64 bits can number
    shape: list[int] = []
    while sum(shape) < most and len(shape) < 4 and (not shape or data.draw(st.booleans())):
        shape.append(data.draw(st.integers(1, most - sum(shape))))
    indexer = HandIndexer(tuple(shape), ranks, suits)
    cards = data.draw(st.permutations(deck(ranks, suits)))[: sum(shape)]
    number = indexer.index(cards)
    assert 0 <= number < indexer.size()
    hand = indexer.hand(number)
    assert canonical(in_rounds(hand, shape), suits) == canonical(in_rounds(cards, shape), suits)
    assert set(hand) <= set(deck(ranks, suits))
    other = data.draw(st.integers(0, indexer.size() - 1))
    assert indexer.index(indexer.hand(other)) == other
    assert indexer.orbits([other])[0] == orbit(in_rounds(indexer.hand(other), shape), suits)


def test_twin_of_permutations() -> None:
    assert sorted(cycle_lengths((1, 0, 3, 2))) == [2, 2]
    assert sorted(cycle_lengths((0, 2, 3, 1))) == [1, 3]


def test_no_hands() -> None:
    assert HOLDEM.indices(np.empty((0, 7), dtype=np.uint8)).shape == (0,)
    assert HOLDEM.hands(np.empty(0, dtype=np.int64)).shape == (0, 7)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: HandIndexer(()), "52 in all at most; got \\(\\)"),
        (lambda: HandIndexer((2, 0)), "at least one card"),
        (lambda: HandIndexer((50, 3)), "52 in all at most"),
        (lambda: HandIndexer((2,), 14), "got 14 ranks"),
        (lambda: HandIndexer((9,) * 5), "too many rounds"),
        (lambda: HandIndexer((13, 13)).hand(0), "too many for 64-bit numbers"),
        (lambda: HOLDEM.index((0, 1, 2)), "one of \\[2, 5, 6, 7\\] cards; got 3"),
        (lambda: HOLDEM.index((0, 0)), "must differ.*got 2c2c"),
        (lambda: HOLDEM.index((0, 1, 2, 3, 1)), "must differ.*got 2c2d2h2s2d"),
        (lambda: HandIndexer((1,), 3, 2).index([0]), "of a deck of 3 ranks and 2 suits; got 2c"),
        (lambda: HandIndexer((1,), 13, 2).index([48]), "got Ac"),
        (lambda: HOLDEM.index((0, 52)), "0 to 51; got 52"),
        (lambda: HOLDEM.indices(np.zeros((1, 5), dtype=np.uint8)), "hands of the river have 7 cards; got 5"),
        (lambda: HOLDEM.indices(np.zeros(7, dtype=np.uint8)), "rows of card numbers"),
        (lambda: HOLDEM.indices(np.zeros((1, 7))), "type float64"),
        (lambda: HOLDEM.hand(169, 0), "preflop has the numbers 0 to 168; got 169"),
        (lambda: HOLDEM.hand(-1), "got -1"),
        (lambda: HandIndexer((1, 1), 3, 2).hand(99), "round 2 has the numbers 0 to"),
        (lambda: HOLDEM.size(4), "rounds 0 to 3; got 4"),
        (lambda: HOLDEM.hands(np.zeros((1, 1), dtype=np.int64)), "are a row"),
    ],
)
def test_mistakes(call: object, words: str) -> None:
    with pytest.raises(GameError, match=words):
        call()  # type: ignore[operator]
