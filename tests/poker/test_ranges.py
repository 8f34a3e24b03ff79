"""Ranges of hold'em hands: reading, printing, and what cannot be read."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterplay.errors import GameError
from counterplay.poker.cards import cards_text, parse_cards
from counterplay.poker.ranges import HANDS, class_grid, hand_number, holdem_hands, parse_range, range_text


def combos(text: str) -> set[str]:
    return {cards_text(hand) for hand in holdem_hands()[parse_range(text) > 0]}


def count(text: str) -> int:
    return int(np.count_nonzero(parse_range(text)))


def test_numbers_of_hands_are_those_of_their_order() -> None:
    hands = holdem_hands().astype(int)
    assert [hand_number(a, b) for a, b in hands] == list(range(HANDS))
    assert [hand_number(b, a) for a, b in hands] == list(range(HANDS))


@pytest.mark.parametrize(
    ("text", "hands"),
    [
        ("AA", 6), ("AKs", 4), ("AKo", 12), ("AK", 16), ("KA", 16), ("AsKh", 1), ("66+", 9 * 6), ("A8s+", 6 * 4),
        ("A8o+", 6 * 12), ("A8+", 6 * 16), ("A5s-A4s", 8), ("A4s-A5s", 8), ("88-55", 24), ("T9s-65s", 5 * 4), ("", 0),
        ("random", 1326), ("22+,A2+,K2+,Q2+,J2+,T2+,92+,82+,72+,62+,52+,42+,32", 1326), ("AA, KK ,", 12),
        ("K9s-K9s", 4), ("76s+", 4), ("AA:0", 0), ("aa,aKS", 10),
    ],
)  # fmt: skip
def test_how_many_hands_a_range_has(text: str, hands: int) -> None:
    assert count(text) == hands


def test_a_range_against_words_written_out() -> None:
    assert combos("99-77,A5s-A3s") == combos("99,88,77,A5s,A4s,A3s")
    assert combos("KTs+") == combos("KTs,KJs,KQs")
    assert combos("QJo-T9o") == combos("QJo,JTo,T9o")


def test_the_last_word_counts() -> None:
    weights = parse_range("AK:0.25,AKs,AsKh:0.5")
    kings = {name: weights[hand_number(*parse_cards(name))] for name in ("AsKs", "AsKh", "AhKs")}
    assert kings == {"AsKs": 1.0, "AsKh": 0.5, "AhKs": 0.25}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("AA,AKx", "word 2 of the range, 'AKx'"), ("AA:-0.5", "'-0.5'"), ("AA:1.5", "'1.5'"), ("AA:x", "'x'"),
        ("AA:nan", "'nan'"), ("AsAs", "two different cards"), ("AAs", "neither suited"), ("A5s-K9s", "do not match"),
        ("A5s-A4o", "do not match"), ("AA,,KK", "word 2"), ("55-A4s", "do not match"), ("+", "word 1"),
        ("AsKh+", r"'AsKh\+'"), ("1A", "'1A'"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_named(text: str, words: str) -> None:
    with pytest.raises(GameError, match=words):
        parse_range(text)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 168), st.sampled_from([0.0, 0.25, 0.5, 1.0])), max_size=60),
       st.lists(st.tuples(st.integers(0, HANDS - 1), st.floats(0, 1)), max_size=8))  # fmt: skip
def test_ranges_come_back_from_their_text(classes: list[tuple[int, float]], single: list[tuple[int, float]]) -> None:
    cells = [hands for row in class_grid() for _, hands in row]
    weights = np.zeros(HANDS)
    for number, weight in classes:
        weights[cells[number]] = weight
    for number, weight in single:
        weights[number] = weight
    text = range_text(weights)
    np.testing.assert_array_equal(parse_range(text), weights)
    assert range_text(parse_range(text)) == text


def test_the_grid_has_every_hand_once() -> None:
    grid = class_grid()
    assert sorted(number for row in grid for _, hands in row for number in hands) == list(range(HANDS))
    assert [grid[0][0][0], grid[0][1][0], grid[1][0][0], grid[12][12][0]] == ["AA", "AKs", "AKo", "22"]


def test_a_printed_range_has_few_words() -> None:
    text = "66+,A8s+,A5s-A4s,AJo+,KQo"
    assert range_text(parse_range(text)) == text
    with pytest.raises(GameError, match="1326 weights"):
        range_text(np.full(HANDS, 2.0))
