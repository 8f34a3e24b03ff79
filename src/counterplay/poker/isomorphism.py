"""Indices of hands up to a permutation of suits, without gaps, by rounds (Waugh 2013).

Suits matter only for flushes, so two hands that differ by a permutation of suits are played alike.  A ``HandIndexer``
indexes the classes of such hands, 0 .. size - 1 for each round, and returns a hand of each class.  Its shape is the
number of cards dealt in each round: (2, 3, 1, 1) is a player's hand in hold'em, (3, 1, 1) its board, (2, 5) what counts
at a showdown.  Cards of one round are unordered; rounds are ordered: which card came on the turn matters.

The order of the indices is that of Waugh's published program, so that tables made with it can be read: it follows from
the method (``counterplay.kernels.cards.isomorphism``) with configurations in ascending lexicographic order.  The sizes
are those of Johanson 2016, section 2.4.  Departure: decks of any number of ranks and suits.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from counterplay.errors import GameError
from counterplay.poker.acpc.definition import round_name, with_article
from counterplay.poker.cards import MAX_RANKS, MAX_SUITS, cards_text, deck
from counterplay.poker.evaluator import cards_array

if TYPE_CHECKING:
    from counterplay.kernels.cards.isomorphism import RoundTables

Ints = npt.NDArray[np.int64]
Pattern = tuple[int, ...]
"""Number of cards of one suit dealt in each round."""

MAX_PATTERNS = 1024
"""More would take seconds to set up; hold'em has 48."""


@dataclasses.dataclass(frozen=True)
class HandIndexer:
    """Indexes the hands of a shape up to a permutation of suits.

    Parameters
    ----------
    shape : tuple of int
        Number of cards dealt in each round, such as (2, 3, 1, 1).
    ranks, suits : int
        The deck, see ``counterplay.poker.cards.deck``.

    The ``turn`` of a method is a round, counted from 0; the default is the last round.

    >>> holdem = HandIndexer((2, 3, 1, 1))
    >>> holdem.sizes
    (169, 1286792, 55190538, 2428287420)
    """

    shape: tuple[int, ...]
    ranks: int = 13
    suits: int = 4

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", tuple(self.shape))
        held = len(deck(self.ranks, self.suits))
        if not self.shape or min(self.shape) < 1 or sum(self.shape) > held:
            raise GameError(
                f"a shape has at least one round, of at least one card each, {held} in all at most; got {self.shape}"
            )
        if math.prod(count + 1 for count in self.shape) > MAX_PATTERNS:
            raise GameError(f"the shape {self.shape} has too many rounds and cards; merge rounds")

    @property
    def rounds(self) -> int:
        """Number of rounds."""
        return len(self.shape)

    @functools.cached_property
    def sizes(self) -> tuple[int, ...]:
        """Number of indices of each round."""
        return tuple(
            sum(self._size(configuration) for configuration in self._configurations(self.shape[: turn + 1]))
            for turn in range(self.rounds)
        )

    def size(self, turn: int = -1) -> int:
        """Number of indices of a round."""
        return self.sizes[self._turn(turn)]

    def index(self, cards: Iterable[int]) -> int:
        """The index of a hand; its cards are those of the first round, or of the first two, and so on."""
        hand = tuple(cards)
        dealt = np.cumsum(self.shape).tolist()
        if len(hand) not in dealt:
            raise GameError(f"a hand of the shape {self.shape} has one of {dealt} cards; got {len(hand)}")
        return int(self.indices(np.array([hand]), dealt.index(len(hand)))[0])

    def hand(self, index: int, turn: int = -1) -> tuple[int, ...]:
        """A hand with the index, its cards by rounds."""
        return tuple(self.hands(np.array([index]), turn)[0].tolist())

    def indices(self, hands: npt.ArrayLike, turn: int = -1) -> Ints:
        """The indices of many hands: (N, cards up to the round), cards by rounds; returns (N,) int64."""
        from counterplay.kernels.cards.isomorphism import index_hands

        cards = cards_array(hands)
        turn = self._turn(turn)
        needed = sum(self.shape[: turn + 1])
        if cards.shape[1] != needed:
            raise GameError(
                f"hands of {with_article(round_name(self.shape, turn))} have {needed} cards; got {cards.shape[1]}"
            )
        index = np.empty(len(cards), dtype=np.int64)
        wrong = index_hands(self.tables(turn), cards, index)
        if wrong >= 0:
            held = f"a deck of {self.ranks} ranks and {self.suits} suits"
            raise GameError(f"the cards of hand {wrong} must differ and be of {held}; got {cards_text(cards[wrong])}")
        return index

    def hands(self, indices: npt.ArrayLike, turn: int = -1) -> npt.NDArray[np.uint8]:
        """A hand for each index: (N, cards up to the round) uint8, cards by rounds."""
        from counterplay.kernels.cards.isomorphism import unindex_hands

        index, turn = self._checked(indices, turn)
        hands = np.empty((len(index), sum(self.shape[: turn + 1])), dtype=np.uint8)
        unindex_hands(self.tables(turn), index, hands)
        return hands

    def orbits(self, indices: npt.ArrayLike, turn: int = -1) -> Ints:
        """Number of hands with each index, 1 to 24; over all indices they sum to all hands of the deck."""
        from counterplay.kernels.cards.isomorphism import orbit_sizes

        index, turn = self._checked(indices, turn)
        size = np.empty(len(index), dtype=np.int64)
        orbit_sizes(self.tables(turn), index, size)
        return size

    def tables(self, turn: int = -1) -> RoundTables:
        """The lookup tables of a round, for kernels."""
        return self._tables[self._turn(turn)]

    def _turn(self, turn: int) -> int:
        if not -self.rounds <= turn < self.rounds:
            raise GameError(f"the shape {self.shape} has the rounds 0 to {self.rounds - 1}; got {turn}")
        return turn % self.rounds

    def _checked(self, indices: npt.ArrayLike, turn: int) -> tuple[Ints, int]:
        turn = self._turn(turn)
        given = np.asarray(indices)
        if given.ndim != 1 or given.dtype.kind not in "iu":
            raise GameError(f"indices of hands are a row of integers; got shape {given.shape} and type {given.dtype}")
        if given.size and (given.min() < 0 or given.max() >= self.sizes[turn]):
            bad = given[(given < 0) | (given >= self.sizes[turn])][0]
            raise GameError(
                f"{with_article(round_name(self.shape, turn))} has the numbers 0 to {self.sizes[turn] - 1}; got {bad}"
            )
        return np.ascontiguousarray(given, dtype=np.int64), turn

    @functools.cached_property
    def _tables(self) -> tuple[RoundTables, ...]:
        if self.sizes[-1] * 24 >= 1 << 63:
            raise GameError(
                f"the shape {self.shape} has {self.sizes[-1]} classes, too many for 64-bit numbers; deal fewer cards"
            )
        return tuple(self._round_tables(self.shape[: turn + 1]) for turn in range(self.rounds))

    def _round_tables(self, shape: tuple[int, ...]) -> RoundTables:
        from counterplay.kernels.cards.isomorphism import RoundTables
        from counterplay.kernels.numba_internals import hold

        patterns = np.indices([count + 1 for count in shape]).reshape(len(shape), -1).T
        number = {tuple(pattern): place for place, pattern in enumerate(patterns.tolist())}
        pattern_size = np.array([self._suit_indices(pattern) for pattern in number], dtype=np.int64)
        configurations = self._configurations(shape)
        sizes = [self._size(configuration) for configuration in configurations]
        numbered = np.array([[number[pattern] for pattern in suits] for suits in configurations], dtype=np.int64)
        alike, radix = self._parts(configurations)
        place, sets = _rank_sets()
        tables = RoundTables(
            ranks=self.ranks, suits=self.suits, cards=np.array(shape, dtype=np.int64),
            choose=np.array([[math.comb(n, k) for k in range(14)] for n in range(14)], dtype=np.int64),
            set_place=place, set_ranks=sets, pattern_size=pattern_size,
            pattern_counts=patterns.astype(np.int64, order="C"),
            step=_steps(numbered.tolist(), len(patterns)), configuration=numbered, alike=alike, radix=radix,
            offset=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        )  # fmt: skip
        return hold(tables)

    def _parts(self, configurations: Sequence[tuple[Pattern, ...]]) -> tuple[Ints, Ints]:
        """For each suit of a configuration: suits of its pattern from it on, and the weight of their index."""
        alike = np.ones((len(configurations), MAX_SUITS), dtype=np.int64)
        radix = np.ones_like(alike)
        for row, suits in enumerate(configurations):
            weight = 1
            for suit, pattern in enumerate(suits):
                if suit and suits[suit - 1] != pattern:
                    equal = suits.count(suits[suit - 1])
                    weight *= math.comb(self._suit_indices(suits[suit - 1]) + equal - 1, equal)
                alike[row, suit] = suits[suit:].count(pattern)
                radix[row, suit] = weight
        return alike, radix

    def _configurations(self, shape: tuple[int, ...]) -> list[tuple[Pattern, ...]]:
        """The descending sequences of four patterns that sum to the shape, in ascending order.

        Suits that the deck lacks are empty; the empty pattern is the lowest.
        """
        missing = ((0,) * len(shape),) * (MAX_SUITS - self.suits)
        return sorted((*suits, *missing) for suits in _falling(shape, shape, self.suits, self.ranks))

    def _suit_indices(self, pattern: Pattern) -> int:
        """Number of ways in which one suit can have a pattern."""
        ways, left = 1, self.ranks
        for count in pattern:
            ways *= math.comb(left, count)
            left = max(0, left - count)
        return ways

    def _size(self, configuration: Sequence[Pattern]) -> int:
        """Number of classes of hands with a configuration."""
        size = 1
        for pattern in set(configuration):
            equal = configuration.count(pattern)
            size *= math.comb(self._suit_indices(pattern) + equal - 1, equal)
        return size


def _falling(left: Pattern, bound: Pattern, suits: int, ranks: int) -> Iterator[tuple[Pattern, ...]]:
    """Descending sequences of patterns that sum to ``left``, none above ``bound`` nor with more cards than ranks."""
    if suits == 1:
        if left <= bound and sum(left) <= ranks:
            yield (left,)
        return
    for pattern in np.ndindex(*(count + 1 for count in left)):
        if pattern <= bound and sum(pattern) <= ranks:
            rest = tuple(a - b for a, b in zip(left, pattern, strict=True))
            for others in _falling(rest, pattern, suits - 1, ranks):
                yield (pattern, *others)


def _steps(configurations: Sequence[Sequence[int]], patterns: int) -> npt.NDArray[np.int32]:
    """The table from pattern to pattern to the index of a configuration; the fourth one is implied."""
    rows: list[npt.NDArray[np.int32]] = []
    known: dict[tuple[int, ...], int] = {}

    def row(prefix: tuple[int, ...]) -> int:
        if prefix not in known:
            known[prefix] = len(rows)
            rows.append(np.full(patterns, -1, dtype=np.int32))
        return known[prefix]

    row(())
    for number, (first, second, third, _) in enumerate(configurations):
        rows[row(())][first] = row((first,))
        rows[row((first,))][second] = row((first, second))
        rows[row((first, second))][third] = number
    return np.array(rows)


@functools.cache
def _rank_sets() -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.uint16]]:
    """The index of each set of ranks among those of its size, ordered by bits, and the sets by index."""
    place = np.zeros(1 << MAX_RANKS, dtype=np.uint16)
    sets = np.zeros((MAX_RANKS + 1, math.comb(MAX_RANKS, MAX_RANKS // 2)), dtype=np.uint16)
    found = [0] * (MAX_RANKS + 1)
    for ranks in range(1 << MAX_RANKS):
        size = ranks.bit_count()
        place[ranks] = found[size]
        sets[size, found[size]] = ranks
        found[size] += 1
    return place, sets
