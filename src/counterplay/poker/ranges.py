"""Ranges: which hands of hold'em a player may hold, each with a weight from 0 to 1, as postflop solvers write them.

A range is a list of words separated by commas or spaces:

* ``AA``, ``AKs``, ``AKo``, ``AK``: a pair, two suited ranks, two offsuit ranks, or both; ``AsKh``: one hand;
* ``66+``: that pair and all higher ones; ``A8s+``: that second card and all higher ones below the first;
* ``A5s-A2s``: the second cards in between; ``88-55``, ``T9s-65s``: both cards move together;
* ``random``: every hand; ``top 20%``: the best 20% of the 1,326 hands by the order of ``hand_order``, in entire
  classes: the class that would exceed the percentage and all after it are left out;
* ``:0.5`` after a word: the weight of its hands, 1 by default; ``[50]AKs,QQ[/50]``: 50% for all words in between.

``10`` may stand for ``T``, and symbols for suits: ``A♠10♥``.  A hand that several words name has the weight of the last
one.  Weights are in the order of ``hole_hands``.

A list of 1,326 numbers is a range too: the weights in PioSOLVER's order of hands, ``2d2c 2h2c 2h2d 2s2c ... AsAh``
(``show_hand_order`` in its documentation): cards ascend by rank and then suit, c d h s, and hands by their higher card,
then by their lower one.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import re

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError
from counterplay.poker.board_tree import hole_hands
from counterplay.poker.cards import (
    CARDS,
    MAX_RANKS,
    MAX_SUITS,
    RANKS,
    SUITS,
    card_text,
    deck,
    parse_card,
    plain_spelling,
)
from counterplay.poker.hand_order import HAND_ORDER
from counterplay.runtime.suggestions import quoted

HANDS = 1326
"""Hands of two cards."""

_CLASS = re.compile(r"([2-9TJQKA])([2-9TJQKA])([so]?)", re.IGNORECASE)
_FORMS = "AA, AKs, AKo, AK, AsKh, 66+, A8s+, A5s-A4s, top 20% or random"
_WORD = re.compile(r"\[[^\[\],]*\]|(?:top\s+)?(?:[^\s,\[\]]|\s+(?=[-+:%])|(?<=[-:])\s+)+", re.IGNORECASE)
_TOP = re.compile(r"top([0-9]+(?:\.[0-9]*)?|\.[0-9]+)%", re.IGNORECASE)
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]+)?", re.IGNORECASE)

Weights = NDArray[np.float64]
Class = tuple[int, int, str]
"""The ranks of a class, the higher one first, and ``s``, ``o``, or nothing for both (and for pairs)."""


@functools.cache
def holdem_hands() -> NDArray[np.uint8]:
    """The hands, (1326, 2) cards, in the order of the weights of a range; not to be written to."""
    hands = hole_hands(deck(), 2)
    hands.flags.writeable = False
    return hands


def hand_number(first: int, second: int) -> int:
    """The index of a hand in the order of the weights."""
    low, high = sorted((first, second))
    return low * (2 * CARDS - low - 1) // 2 + high - low - 1


@functools.cache
def pio_order() -> NDArray[np.int64]:
    """The index here of each hand of PioSOLVER's order; not to be written to."""
    order = np.array([hand_number(low, high) for high in range(CARDS) for low in range(high)])
    order.flags.writeable = False
    return order


def parse_range(text: str, name: str = "range") -> Weights:
    """The weight of each of the 1326 hands; ``name`` is the name of the range in errors.

    Raises GameError if a word cannot be parsed or a weight is not in its limits; the message quotes the word and says
    where it is.
    """
    words = _words(text, name)
    listed = _listed(words, name)
    if listed is not None:
        return listed
    weights = np.zeros(HANDS)
    group: tuple[float, _Word] | None = None
    for word in words:
        if word.text.startswith("[/"):
            if group is None or _percentage(word, word.text[2:-1]) != group[0]:
                opened = "no weight is open there" if group is None else f"it does not match {group[1].text!r}"
                raise GameError(f"{word.where} closes a weight, but {opened}; write [50]AKs,QQ[/50]")
            group = None
        elif word.text.startswith("["):
            if group is not None:
                raise GameError(f"{word.where} opens a weight inside {group[1].text!r}; close that one first")
            group = _percentage(word, word.text[1:-1]), word
        else:
            body, colon, number = word.text.partition(":")
            if colon and group is not None:
                raise GameError(f"{word.where} has a second weight inside {group[1].text!r}; leave one out")
            weights[_hands_of(body, word.where)] = _weight(number, word.where) if colon else group[0] if group else 1.0
    if group is not None:
        raise GameError(f"{group[1].where} is not closed; write [/{group[1].text[1:]} after its hands")
    return weights


@dataclasses.dataclass(frozen=True)
class _Word:
    """A word without its spaces, and where it is, for errors."""

    text: str
    where: str


def _words(text: str, name: str) -> list[_Word]:
    """The words of a range.  Raises GameError where two commas follow each other, or a bracket stays open."""
    words: list[_Word] = []
    place, comma = 0, False
    while place < len(text):
        if text[place].isspace():
            place += 1
            continue
        where = f"word {len(words) + 1} of the {name}"
        if text[place] == ",":
            if comma or not words:
                raise GameError(f"{where}, '' (character {place + 1}), is empty; leave out one of the commas")
            place, comma = place + 1, True
            continue
        found = _WORD.match(text, place)
        end = place + 1 if found is None else found.end()
        plain = "".join(text[place:end].split())
        words.append(_Word(plain, f"{where}, {quoted(text[place:end].strip())} (character {place + 1})"))
        if plain in ("[", "]"):
            raise GameError(f"cannot read {words[-1].where}: a bracket has no partner; write [50]AKs,QQ[/50]")
        place, comma = end, False
    return words


def _listed(words: list[_Word], name: str) -> Weights | None:
    """The weights of a list of numbers; None for other ranges.  Words such as 22 are pairs, unless there are 1326."""
    if not all(_NUMBER.fullmatch(word.text) for word in words):
        return None
    if len(words) == HANDS:
        weights = np.zeros(HANDS)
        weights[pio_order()] = [_weight(word.text, word.where) for word in words]
        return weights
    if len(words) < 2 or all(_CLASS.fullmatch(word.text) for word in words):
        return None
    raise GameError(
        f"the {name} is a list of {len(words):,} numbers; a list of weights has {HANDS:,}, one for each hand in "
        "PioSOLVER's order: 2d2c 2h2c 2h2d ..."
    )


def _percentage(word: _Word, number: str) -> float:
    try:
        share = float(number) / 100
    except ValueError:
        share = np.nan
    if not 0.0 <= share <= 1.0:
        raise GameError(f"a weight in brackets is a percentage from 0 to 100, such as [50]; got {word.where}")
    return share


def _weight(text: str, where: str) -> float:
    try:
        weight = float(text)
    except ValueError:
        weight = np.nan
    if not 0.0 <= weight <= 1.0:
        raise GameError(f"a weight is a number from 0 to 1; got {text!r} in {where}")
    return weight


def _hands_of(word: str, where: str) -> list[int]:
    """The hands that a word names."""
    word = plain_spelling(word) if not word.lower().startswith("top") else word
    top = _TOP.fullmatch(word)
    if top is not None:
        return _best(float(top.group(1)), where)
    if word.lower() == "random":
        return list(range(HANDS))
    if len(word) == 4 and not set("+-") & set(word):
        first, second = (_card(word[at : at + 2], where) for at in (0, 2))
        if first == second:
            raise GameError(f"a hand has two different cards; got {where}")
        return [hand_number(first, second)]
    if word.endswith("+"):
        return _combos_of(_upwards(_class(word[:-1], where)))
    low, dash, high = word.partition("-")
    if dash:
        return _combos_of(_between(_class(low, where), _class(high, where), where))
    return _combos_of([_class(word, where)])


def _best(percentage: float, where: str) -> list[int]:
    """The best hands, by the order of classes: entire classes, together at most this percentage of all hands."""
    if not 0 <= percentage <= 100:
        raise GameError(f"the best hands are a percentage from 0 to 100; got {where}")
    found: list[int] = []
    for name in HAND_ORDER:
        more = _combos(*_class(name, where))
        if len(found) + len(more) > percentage * HANDS / 100 + 1e-9:
            break
        found += more
    return found


def _card(text: str, where: str) -> int:
    try:
        return parse_card(text)
    except GameError:
        raise GameError(f"cannot read {where}; words of a range are {_FORMS}") from None


def _class(text: str, where: str) -> Class:
    found = _CLASS.fullmatch(text)
    if re.fullmatch(f"[{RANKS}][{SUITS}]", text, re.IGNORECASE):
        raise GameError(f"{where} is one card; a hand is two cards without a space, such as AsKh")
    if found is None:
        raise GameError(f"cannot read {where}; words of a range are {_FORMS}")
    first, second = (RANKS.index(found.group(part).upper()) for part in (1, 2))
    suited = found.group(3).lower()
    if first == second and suited:
        raise GameError(f"a pair is neither suited nor offsuit; got {where}")
    return max(first, second), min(first, second), suited


def _upwards(least: Class) -> list[Class]:
    high, low, suited = least
    if high == low:
        return [(rank, rank, suited) for rank in range(high, MAX_RANKS)]
    return [(high, rank, suited) for rank in range(low, high)]


def _between(one: Class, other: Class, where: str) -> list[Class]:
    (high, low, suited), (other_high, other_low, other_suited) = one, other
    if suited == other_suited and (high == low) == (other_high == other_low):
        between = range(min(low, other_low), max(low, other_low) + 1)
        if high - low == other_high - other_low:
            return [(rank + high - low, rank, suited) for rank in between]
        if high == other_high:
            return [(high, rank, suited) for rank in between]
    raise GameError(
        f"the ends of {where}, do not match; write A5s-A2s (one first card), 88-55 or T9s-65s (one distance)"
    )


def _combos_of(classes: list[Class]) -> list[int]:
    return [number for one in classes for number in _combos(*one)]


def _combos(high: int, low: int, suited: str) -> list[int]:
    suits = range(MAX_SUITS)
    if high == low:
        pairs = list(itertools.combinations(suits, 2))
    else:
        pairs = [(a, b) for a in suits for b in suits if (a == b and suited != "o") or (a != b and suited != "s")]
    return [hand_number(MAX_SUITS * high + a, MAX_SUITS * low + b) for a, b in pairs]


def class_name(high: int, low: int, suited: str) -> str:
    """``AA``, ``AKs``, ``AKo`` or ``AK``."""
    return RANKS[high] + RANKS[low] + suited


def class_grid() -> list[list[tuple[str, list[int]]]]:
    """The 13 x 13 grid of classes, aces first: suited hands above the diagonal, offsuit ones below.

    Each cell is the name of a class and its hands.
    """
    grid = []
    for row in range(MAX_RANKS - 1, -1, -1):
        cells = []
        for column in range(MAX_RANKS - 1, -1, -1):
            suited = "" if row == column else "s" if row > column else "o"
            high, low = max(row, column), min(row, column)
            cells.append((class_name(high, low, suited), _combos(high, low, suited)))
        grid.append(cells)
    return grid


def range_text(weights: Weights) -> str:
    """A range as short text for ``parse_range``; hands of weight 0 are left out.

    Raises GameError if there are not 1326 weights from 0 to 1.
    """
    given = np.asarray(weights, dtype=np.float64)
    if given.shape != (HANDS,) or not np.all((given >= 0) & (given <= 1)):
        raise GameError(f"a range has {HANDS} weights from 0 to 1; got an array of shape {given.shape}")
    lines: list[list[Class]] = [[(rank, rank, "") for rank in range(MAX_RANKS - 1, -1, -1)]]
    for high in range(MAX_RANKS - 1, 0, -1):
        for suited in "so":
            lines.append([(high, low, suited) for low in range(high - 1, -1, -1)])
    words = [word for line in lines for word in _line_words(line, given)]
    return ",".join(words)


def weight_list(weights: Weights) -> str:
    """A range as the list of its 1326 weights in PioSOLVER's order of hands, as its ``set_range`` takes."""
    return " ".join(f"{weight:.12g}" for weight in np.asarray(weights, dtype=np.float64)[pio_order()])


def _line_words(line: list[Class], weights: Weights) -> list[str]:
    """The words for adjacent classes, strongest first; classes of equal weight are merged."""
    words = []
    common = [_common(one, weights) for one in line]
    for weight, run in itertools.groupby(range(len(line)), key=lambda place: common[place]):
        places = list(run)
        first, last = class_name(*line[places[0]]), class_name(*line[places[-1]])
        if weight is None:
            words += [word for place in places for word in _hand_words(line[place], weights)]
        elif weight > 0:
            run_text = first if first == last else f"{last}+" if places[0] == 0 else f"{first}-{last}"
            words.append(run_text + _weight_text(weight))
    return words


def _common(one: Class, weights: Weights) -> float | None:
    """The weight that all hands of a class have; None if they differ."""
    held = weights[_combos(*one)]
    return float(held[0]) if np.all(held == held[0]) else None


def _hand_words(one: Class, weights: Weights) -> list[str]:
    cards = holdem_hands()
    return [
        card_text(cards[number, 1]) + card_text(cards[number, 0]) + _weight_text(float(weights[number]))
        for number in _combos(*one)
        if weights[number] > 0
    ]


def _weight_text(weight: float) -> str:
    return "" if weight == 1.0 else f":{weight!r}"
