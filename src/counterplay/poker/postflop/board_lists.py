"""Lists of boards with weights: all 1,755 flops up to renaming suits, samples and subsets of them, and given ones.

A weight says how many boards one stands for.  Boards that differ only by a renaming of suits are of one kind: the
22,100 flops are of 1,755 kinds, each with 4, 12 or 24 flops.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections import Counter

import numpy as np

from counterplay.errors import GameError
from counterplay.poker.cards import MAX_SUITS, cards_text, parse_cards
from counterplay.poker.isomorphism import HandIndexer
from counterplay.runtime.seeds import check_seed
from counterplay.storage import read_lines

FLOP = 3
_CARD = re.compile(r"(?:10|.)[cdhs♣♦♥♠♧♢♡♤][\ufe0e\ufe0f]?", re.IGNORECASE)


@dataclasses.dataclass(frozen=True)
class WeightedBoard:
    """A board, and how many boards it stands for."""

    board: str
    weight: float


def all_flops() -> list[WeightedBoard]:
    """The 1,755 kinds of flops, by their highest cards; the weight is the number of flops of the kind."""
    flops = HandIndexer((FLOP,))
    numbers = np.arange(flops.size())
    found = zip(flops.hands(numbers).tolist(), flops.orbits(numbers).tolist(), strict=True)
    ordered = sorted(((sorted(cards, reverse=True), size) for cards, size in found), reverse=True)
    return [WeightedBoard(cards_text(cards), float(size)) for cards, size in sorted(ordered, key=_ranks)]


def _ranks(flop: tuple[list[int], int]) -> list[int]:
    return [-(card // 4) for card in flop[0]]


def subset_flops(count: int) -> list[WeightedBoard]:
    """At most so many kinds of flops that stand for all: that many of the 22,100 flops, evenly spread.

    The order is that of ``all_flops``, by ranks, then suits, so that high and low flops, pairs and patterns
    of suits have their share.  Kinds that are hit more than once have more weight.
    """
    flops = all_flops()
    _check_count(count, len(flops))
    bounds = np.cumsum([flop.weight for flop in flops])
    hit = np.searchsorted(bounds, (np.arange(count) + 0.5) * bounds[-1] / count, side="right")
    return [WeightedBoard(flops[place].board, number) for place, number in sorted(Counter(hit.tolist()).items())]


def random_flops(count: int, seed: int) -> list[WeightedBoard]:
    """A number of kinds of flops at random: flops are dealt, none twice, until there are so many kinds.

    The weight of a kind is how often it was dealt.
    """
    flops = all_flops()
    _check_count(count, len(flops))
    kinds = np.repeat(np.arange(len(flops)), [int(flop.weight) for flop in flops])
    found: dict[int, int] = {}
    for kind in np.random.default_rng(check_seed(seed, GameError)).permutation(kinds).tolist():
        if kind not in found and len(found) == count:
            break
        found[kind] = found.get(kind, 0) + 1
    return [WeightedBoard(flops[kind].board, weight) for kind, weight in found.items()]


def _check_count(count: int, most: int) -> None:
    if not 1 <= count <= most:
        raise GameError(f"there are 1 to {most:,} kinds of flops; got {count}")


def read_boards(text: str) -> list[WeightedBoard]:
    """The boards of a text, or of a file if it is ``@FILE``.

    Boards are separated by spaces, commas, semicolons or lines; a board with spaces between its cards needs its own
    line, or semicolons.  ``QsJh2h:12`` gives a weight.  Without one, a board stands for all that are like it, and if
    several of these are listed, they share them.

    Raises CounterplayError if a board cannot be read, is there twice, or the file cannot be read.
    """
    lines = [("", text)]
    if text.startswith("@"):
        lines = [(f"{text[1:]}, line {number}: ", line) for number, line in read_lines(text[1:])]
    found: list[tuple[tuple[int, ...], float | None]] = []
    for where, line in lines:
        for part in filter(str.strip, line.split(";")):
            try:
                found += _boards(part)
            except GameError as error:
                raise GameError(f"{where}{error}") from None
    if not found:
        raise GameError("there is no board in the list" if not lines[0][0] else f"{text[1:]} has no boards")
    seen = set()
    for cards, _ in found:
        same = (frozenset(cards[:FLOP]), cards[FLOP:])
        if same in seen:
            raise GameError(f"the board {cards_text(cards)} is in the list twice; leave one out")
        seen.add(same)
    return _weighted(found)


def _boards(part: str) -> list[tuple[tuple[int, ...], float | None]]:
    """The boards of a text without semicolons."""
    words = part.replace(",", " ").split()
    single = [word.partition(":")[0] for word in words]
    if all(_CARD.fullmatch(word) for word in single):  # the cards of one board
        words = ["".join(words)]
    return [_board(word) for word in words]


def _board(word: str) -> tuple[tuple[int, ...], float | None]:
    text, colon, number = word.partition(":")
    cards = parse_cards(text)
    if not 3 <= len(cards) <= 5:
        raise GameError(f"a board has 3, 4 or 5 cards; got {len(cards)} in {text!r}")
    if not colon:
        return cards, None
    try:
        weight = float(number)
    except ValueError:
        weight = -1.0
    if not 0 < weight < float("inf"):
        raise GameError(f"a weight is a positive number; got {number!r} in {word!r}")
    return cards, weight


def _weighted(found: list[tuple[tuple[int, ...], float | None]]) -> list[WeightedBoard]:
    """Boards without a weight share what is like them."""
    alike = [_renamed(cards) for cards, _ in found]
    counts = Counter(alike)
    return [
        WeightedBoard(cards_text(cards), len(same) / counts[same] if weight is None else weight)
        for same, (cards, weight) in zip(alike, found, strict=True)
    ]


def _renamed(cards: tuple[int, ...]) -> frozenset[tuple[frozenset[int], tuple[int, ...]]]:
    """The boards that differ from one by the names of suits alone.

    ``HandIndexer`` numbers them, which takes two seconds to compile when it is used for the first time.
    """
    boards = []
    for names in itertools.permutations(range(MAX_SUITS)):
        board = [card - card % MAX_SUITS + names[card % MAX_SUITS] for card in cards]
        boards.append((frozenset(board[:FLOP]), tuple(board[FLOP:])))
    return frozenset(boards)
