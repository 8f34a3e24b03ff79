"""Ranges of hold'em hands: reading, printing, and what cannot be read."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterplay.errors import GameError
from counterplay.poker.cards import cards_text, parse_cards
from counterplay.poker.hand_order import HAND_ORDER
from counterplay.poker.ranges import (
    HANDS,
    class_grid,
    hand_number,
    holdem_hands,
    parse_range,
    pio_order,
    range_text,
    weight_list,
)


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
        ("AA,AKx", r"word 2 of the range, 'AKx' \(character 4\)"), ("AA KK  Q Q", r"word 3 .* 'Q' \(character 8\)"),
        ("[50]AA", r"'\[50\]' \(character 1\) is not closed; write \[/50\]"),
        ("AA[/50]", r"'\[/50\]' .* no weight is open"),
        ("[50]AA[/25]", r"does not match '\[50\]'"),
        ("[50][25]AA[/25][/50]", r"'\[25\]' \(character 5\).* inside '\[50\]'"),
        ("[50]AA:0.5[/50]", "'AA:0.5'.* second weight"), ("[150]AA[/150]", r"0 to 100.* got word 1 .*'\[150\]'"),
        ("[x]AA[/x]", r"'\[x\]'"), ("[50 AA", "no partner"), ("top 120%", "'top 120%'"), ("top", "'top'"),
        ("As Kh", "'As' .* is one card"),
        ("top x%", "'top x%'"), ("0.5 0.5 1", "list of 3 numbers; a list of weights has 1,326"), (",AA", "word 1"),
        (" ".join(["0.5"] * 1325 + ["2"]), r"'2' in word 1326 .*\(character 5301\)"),
 ("AA:-0.5", "'-0.5'"), ("AA:1.5", "'1.5'"), ("AA:x", "'x'"),
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


def written_out(text: str) -> set[str]:
    return {cards_text(sorted(parse_cards(hand))) for hand in text.split()}


@pytest.mark.parametrize(
    ("text", "hands"),
    [
        ("AKs", "AcKc AdKd AhKh AsKs"), ("1010", "TcTd TcTh TcTs TdTh TdTs ThTs"), ("A10s", "AcTc AdTd AhTh AsTs"),
        ("10♦9♦ T♠9♠", "Td9d Ts9s"), ("K♠Q♥,A♡A♤", "KsQh AhAs"), ("AA KsKh", "AcAd AcAh AcAs AdAh AdAs AhAs KsKh"),
        ("A3s - A2s", "Ac3c Ad3d Ah3h As3s Ac2c Ad2d Ah2h As2s"), ("KQs +\nAsKh", "KcQc KdQd KhQh KsQs AsKh"),
    ],
)  # fmt: skip
def test_words_against_explicit_hands(text: str, hands: str) -> None:
    assert combos(text) == written_out(hands)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("AA KK\nAKs", "AA,KK,AKs"), ("AA, KK  ,AKs ", "AA,KK,AKs"), ("[50]AKs,QQ[/50],AA", "AKs:0.5,QQ:0.5,AA"),
        ("[50.0]AKs, QQ[/50]", "AKs:0.5,QQ:0.5"), ("AA [ 25 ] KK [/25] QQ", "AA,KK:0.25,QQ"), ("AKo : 0.5", "AKo:0.5"),
        ("[100]AA[/100][12.5]76s-54s[/12.5]", "AA,76s-54s:0.125"), ("top 100%", "random"), ("TOP100 %", "random"),
        ("top 20%:0.5", "[50]top20%[/50]"), ("22 33 44", "44-22"),
    ],
)  # fmt: skip
def test_formats_that_are_the_same(text: str, same: str) -> None:
    np.testing.assert_array_equal(parse_range(text), parse_range(same))


def test_the_best_hands_are_entire_classes_of_a_fixed_order() -> None:
    assert sorted(HAND_ORDER) == sorted(name for row in class_grid() for name, _ in row)
    assert combos("top 0.45%") == set()  # six aces are 0.4525 %
    assert combos("top 0.46%") == combos("AA")
    assert combos("top 3%") == combos("99+")  # 36 hands; six eights would be 42, and 3 % are 39.78
    assert combos("top 3.5%") == combos("88+,AKs")
    previous: set[str] = set()
    for percentage in range(101):
        found = combos(f"top {percentage}%")
        assert previous <= found
        assert len(found) <= 13.26 * percentage <= len(found) + 12
        previous = found


def test_the_order_of_pio() -> None:
    """The published start of the list of its command, and what follows from it."""
    names = [cards_text(hand[::-1]) for hand in holdem_hands()[pio_order()]]
    start = "2d2c 2h2c 2h2d 2s2c 2s2d 2s2h 3c2c 3c2d 3c2h 3c2s 3d2c 3d2d 3d2h 3d2s 3d3c 3h2c"
    assert names[:16] == start.split()
    assert names[-3:] == ["AsAc", "AsAd", "AsAh"]
    weights = parse_range(" ".join(["0.25", "0", "1e-1", *["0"] * 1322, "1"]))
    assert range_text(weights) == "AsAh,2d2c:0.25,2h2d:0.1"


@settings(deadline=None, max_examples=20)
@given(st.lists(st.tuples(st.integers(0, HANDS - 1), st.integers(0, 1000)), max_size=50))
def test_lists_of_weights_come_back(given_weights: list[tuple[int, int]]) -> None:
    weights = np.zeros(HANDS)
    for number, thousandths in given_weights:
        weights[number] = thousandths / 1000
    np.testing.assert_array_equal(parse_range(weight_list(weights)), weights)
    np.testing.assert_array_equal(parse_range(weight_list(weights).replace(" ", ",")), weights)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.sampled_from(["AA", "K9s", "A5s-A2s", "QJo", "7h2c", "88+"]), st.integers(0, 100)),
                min_size=1, max_size=8), st.sampled_from([",", " ", " , ", "\n"]))  # fmt: skip
def test_weights_in_brackets_are_those_after_colons(words: list[tuple[str, int]], between: str) -> None:
    brackets = between.join(f"[{share}]{word}[/{share}.0]" for word, share in words)
    colons = between.join(f"{word}:{share / 100}" for word, share in words)
    np.testing.assert_array_equal(parse_range(brackets), parse_range(colons))
