"""Features of hands, by exact enumeration: hand strength, its distribution, and strength against opponent clusters.

Hand strength HS is the probability of beating a random opponent hand on a complete board, with ties counted half
(Johanson 2016, section 5.2; half ties follow from the 1950 values of its rivers).  On an incomplete board it is that of
the cards so far, which is quickly computed but ignores what may come.  Earlier rounds also have E[HS] and
E[HS²] over all boards to come, and the histogram of HS in 50 bins (section 5.4, which does not give the number of
bins; 50 gives the published distances).  Opponent cluster hand strength OCHS is the same against each of a few groups
of opponent hands.

With two ``rivals`` the strength of a hand is the share of the pot that it wins from two random opponent hands at once
(Gibson 2014, section 8.1, who does not count ties).  Its integers are six times that share over all pairs of opponents;
in decks where a sure winner would have more than 65,535 they are rounded to so many steps.

Everything is kept as integers, by the index of the hand up to suits, with the board as a set: the strength of a hand is
twice the number of weaker opponents plus the number of equal ones, where a sure winner has ``unit``; sums over boards
to come are sums of such strengths. So equal hands are exactly equal, and E[HS] is ``mean / (unit * runouts)``.

Slow features are cached on disk, one file for each round.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import itertools
import math
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from counterplay.errors import AbstractionError
from counterplay.poker.acpc.definition import round_name, with_article
from counterplay.poker.cards import deck as cards_of
from counterplay.poker.evaluator import MAX_HAND, hand_codes, hand_tables
from counterplay.poker.isomorphism import HandIndexer
from counterplay.runtime.array_cache import cached_arrays
from counterplay.runtime.array_checks import check_like, check_limits
from counterplay.runtime.progress import Progress, ProgressCallback
from counterplay.runtime.threads import ThreadPool
from counterplay.storage import Arrays

BINS = 50
"""Bins of a histogram of hand strength."""

KIND = "card-features"

MOST_LEVELS = 65535
"""A strength against two opponents has at most this value."""


@dataclasses.dataclass(frozen=True, eq=False)
class HandSums:
    """Sums over all boards to come, by index of the hand."""

    mean: npt.NDArray[np.uint64]  # (N,) sum of the strengths
    square: npt.NDArray[np.uint64]  # (N,) sum of their squares
    histogram: npt.NDArray[Any]  # (N, bins) number of boards in each bin of the strength
    runouts: int  # number of boards
    unit: int  # the strength of a sure winner

    def ehs(self) -> npt.NDArray[np.float64]:
        """E[HS]."""
        return self.mean / (self.unit * self.runouts)

    def ehs2(self) -> npt.NDArray[np.float64]:
        """E[HS²]."""
        return self.square / (self.unit**2 * self.runouts)


class CardFeatures:
    """The features of all hands of a deck (ranks, suits) and a shape: hole cards, board cards of each later round.

    ``cache`` is the folder where features are cached; None keeps them in memory only.  ``progress`` is called with the
    progress of each stage; histograms have ``bins`` bins.  Hand strength is against one random opponent, or two
    ``rivals`` at once; strength against clusters of opponents is always against one.
    """

    def __init__(
        self, deck: tuple[int, int], shape: tuple[int, ...], cache: str | os.PathLike[str] | None = None,
        threads: int = 1, progress: ProgressCallback | None = None, bins: int = BINS, rivals: int = 1,
    ) -> None:  # fmt: skip
        self.deck = deck
        self.shape = tuple(shape)
        self.cards = np.array(cards_of(*deck), dtype=np.uint8)
        self.cache = None if cache is None else Path(cache)
        self.threads = threads
        self._pool = ThreadPool(threads)
        self.progress = progress
        self.bins = bins
        self.rivals = rivals
        self._kept: dict[str, Mapping[str, npt.NDArray[Any]]] = {}
        if threads < 1 or bins < 1:
            raise AbstractionError(f"threads and bins are at least 1; got {threads} threads, {bins} bins")
        if not 1 <= shape[0] <= 3 or sum(shape) > MAX_HAND:
            raise AbstractionError(f"hands have 1 to 3 hole cards and {MAX_HAND} cards in all at most; got {shape}")
        if rivals not in (1, 2) or (rivals == 2 and shape[0] > 2):
            raise AbstractionError(
                "hand strength is against one opponent, or two if hands have one or two hole cards; "
                f"got {rivals} opponents, {shape[0]} hole cards"
            )
        if len(self.cards) < sum(shape) + rivals * shape[0]:
            hands = {1: "two", 2: "three"}[rivals]
            raise AbstractionError(f"{hands} hands and a board of {shape} need more than {len(self.cards)} cards")
        if self.cache is not None:
            try:
                self.cache.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                reason = error.strerror or error
                raise AbstractionError(f"the cache {self.cache} cannot be created: {reason}; choose another") from None

    # ------------------------------------------------------------------------------------------ sizes

    @property
    def rounds(self) -> int:
        """Number of rounds."""
        return len(self.shape)

    @property
    def unit(self) -> int:
        """The strength of a sure winner at the showdown."""
        return self.sure_winner(self.rounds - 1)

    def sure_winner(self, turn: int) -> int:
        """The strength of a sure winner on the board of a round: twice the number of opponent hands, or as above."""
        left = len(self.cards) - self.shape[0] - self.board(turn)
        if self.rivals == 1:
            return 2 * math.comb(left, self.shape[0])
        return min(MOST_LEVELS, 6 * self._rival_pairs(turn))

    def _rival_pairs(self, turn: int) -> int:
        """Number of pairs of opponents against a hand."""
        hole, left = self.shape[0], len(self.cards) - self.shape[0] - self.board(turn)
        return math.comb(left, hole) * math.comb(left - hole, hole) // 2

    def round_name(self, turn: int) -> str:
        """``the flop``, or ``round 2`` in other games than hold'em; for people."""
        return with_article(round_name(self.shape, turn))

    def board(self, turn: int) -> int:
        """Number of board cards in a round."""
        return sum(self.shape[1 : turn + 1])

    def whole(self, turn: int) -> tuple[int, ...]:
        """The shape of hole cards and an unordered board."""
        return (self.shape[0], self.board(turn)) if turn else self.shape[:1]

    @functools.cache  # noqa: B019  indexers are few
    def indexer(self, turn: int) -> HandIndexer:
        """Indexer of hands by hole cards and board as a set."""
        return HandIndexer(self.whole(turn), *self.deck)

    @functools.cache  # noqa: B019
    def ordered(self, turn: int) -> HandIndexer:
        """Indexer of hands by rounds."""
        return HandIndexer(self.shape[: turn + 1], *self.deck)

    def size(self, turn: int) -> int:
        """Number of hands up to suits, with the board as a set."""
        return self.indexer(turn).size()

    def runouts(self, turn: int) -> int:
        """Number of sets of board cards still to come."""
        left = len(self.cards) - self.shape[0] - self.board(turn)
        return math.comb(left, sum(self.shape[turn + 1 :]))

    def orbits(self, turn: int, ordered: bool = False) -> npt.NDArray[np.uint8]:
        """Number of hands with each index, with the board as a set or by rounds."""
        indexer = self.ordered(turn) if ordered else self.indexer(turn)

        def make() -> dict[str, npt.NDArray[Any]]:
            from counterplay.kernels.cards.isomorphism import orbit_sizes

            orbits = np.empty(indexer.size(), dtype=np.uint8)

            def work(first: int, last: int) -> None:
                part = np.empty(last - first, dtype=np.int64)
                orbit_sizes(indexer.tables(), np.arange(first, last), part)
                orbits[first:last] = part

            self.in_chunks(f"counting hands of {self.round_name(turn)}", len(orbits), 1 << 18, work)
            return {"orbits": orbits}

        return self.kept(f"orbits-{indexer.shape}", make)["orbits"]

    def project(self, given: HandIndexer, wanted: HandIndexer, skip: int = 0) -> npt.NDArray[np.uint32]:
        """For every index of one shape, the index of the same cards in another, or for a range of indices."""
        from counterplay.kernels.cards.continuations import project_hands

        numbers = np.empty(given.size(), dtype=np.uint32)
        now, then = given.tables(), wanted.tables()

        def work(first: int, last: int) -> None:
            project_hands(now, then, skip, first, last, numbers)

        self.in_chunks(f"hands of {sum(given.shape)} cards", len(numbers), 1 << 18, work)
        return numbers

    # ------------------------------------------------------------------------------------------ strength

    def strengths(self, turn: int | None = None) -> npt.NDArray[np.uint16]:
        """The strength of every hand on the board of a round as it is, by default of the last."""
        return self._strengths(turn)["strength"]

    def deals(self, turn: int | None = None) -> npt.NDArray[np.int64]:
        """Number of deals of hole cards and board with each strength from 0 to that of a sure winner."""
        return self._strengths(turn)["deals"]

    def _strengths(self, turn: int | None) -> Arrays:
        chosen = self.rounds - 1 if turn is None else turn

        def check(arrays: Arrays) -> None:
            check_like("strength", arrays["strength"], (self.size(chosen),), np.uint16)
            check_limits("strength", arrays["strength"], 0, self.sure_winner(chosen))
            check_like("deals", arrays["deals"], (self.sure_winner(chosen) + 1,), np.int64)

        return self.kept(f"strengths-{chosen}", lambda: self._make_strengths(chosen), check)

    def _make_strengths(self, turn: int) -> dict[str, npt.NDArray[Any]]:
        from counterplay.kernels.cards.card_features import showdown_strengths
        from counterplay.kernels.cards.two_opponents import pair_strengths

        boards, orbit = self._boards(turn), self._board_orbits(turn)
        sizes = np.array([self.shape[0], self._hands(turn), len(hand_codes())])
        compare = showdown_strengths if self.rivals == 1 else pair_strengths
        if self.rivals == 2:
            sizes = np.append(sizes, [self._rival_pairs(turn), self.sure_winner(turn)])
        strength = np.zeros(self.size(turn), dtype=np.uint16)
        tables, codes = self.indexer(turn).tables(), hand_tables()
        parts: list[npt.NDArray[np.int64]] = []

        def work(first: int, last: int) -> None:
            try:
                deals = parts.pop()  # one for each thread
            except IndexError:
                deals = np.zeros(self.sure_winner(turn) + 1, dtype=np.int64)
            part = slice(first, last)
            compare(codes, tables, self.cards, boards[part], orbit[part], sizes, strength, deals)
            parts.append(deals)

        where = "at the showdown" if turn == self.rounds - 1 else f"so far, {self.round_name(turn)}"
        where += " against two" if self.rivals == 2 else ""
        self.in_chunks(f"hand strength {where}", len(boards), 256, work)
        return {"strength": strength, "deals": np.asarray(np.sum(parts, axis=0, dtype=np.int64))}

    def sums(self, turn: int) -> HandSums:
        """Sums of strengths, of their squares, and histograms, for a round before the last."""
        if not 0 <= turn < self.rounds - 1:
            raise AbstractionError(f"sums over boards to come are for rounds 0 to {self.rounds - 2}; got {turn}")

        def check(arrays: Arrays) -> None:
            size = self.size(turn)
            for name in ("mean", "square"):
                check_like(name, arrays[name], (size,), np.uint64)
            check_like("histogram", arrays["histogram"], (size, self.bins), np.min_scalar_type(self.runouts(turn)))

        made = self.kept(f"sums-{turn}-{self.bins}", lambda: self._make_sums(turn), check)
        return HandSums(made["mean"], made["square"], made["histogram"], self.runouts(turn), self.unit)

    def _make_sums(self, turn: int) -> dict[str, npt.NDArray[Any]]:
        from counterplay.kernels.cards.continuations import fold_strengths, fold_sums

        size = self.size(turn)
        mean, square = np.zeros(size, dtype=np.uint64), np.zeros(size, dtype=np.uint64)
        histogram = np.zeros((size, self.bins), dtype=np.min_scalar_type(self.runouts(turn)))
        more, ways = self._next(turn)
        now, then = self.indexer(turn).tables(), self.indexer(turn + 1).tables()
        out = (mean, square, histogram)
        if turn == self.rounds - 2:
            strength, unit = self.strengths(), self.unit

            def work(first: int, last: int) -> None:
                fold_strengths(now, then, self.cards, np.array([first, last, more, ways]), unit, strength, *out)
        else:
            later = self.sums(turn + 1)
            divisor = math.comb(sum(self.shape[turn + 1 :]), more)

            def work(first: int, last: int) -> None:
                span = np.array([first, last, more, ways, divisor])
                fold_sums(now, then, self.cards, span, later.mean, later.square, later.histogram, *out)

        self.in_chunks(f"hand strength to come, {self.round_name(turn)}", size, max(1, (1 << 20) // ways), work)
        return {"mean": mean, "square": square, "histogram": histogram}

    def values(self, turn: int, metric: str) -> npt.NDArray[np.uint64]:
        """Integers that order the hands of a round as HS so far (``hs``), E[HS] (``ehs``) or E[HS²] (``ehs2``) does."""
        if metric not in ("hs", "ehs", "ehs2"):
            raise AbstractionError(f"hands are ranked by hs, ehs or ehs2; got {metric!r}")
        if metric == "hs" or turn == self.rounds - 1:
            return self.strengths(turn).astype(np.uint64)  # in the last round all order them alike
        sums = self.sums(turn)
        return sums.mean if metric == "ehs" else sums.square

    # ------------------------------------------------------------------------------------------ opponents and classes

    def opponents(
        self, turn: int, cluster_of: npt.NDArray[np.uint8], clusters: int, dtype: npt.DTypeLike = np.float64
    ) -> npt.NDArray[Any]:
        """Probability of beating each cluster of opponents: (N, clusters); unsigned types use their full range.

        ``cluster_of`` is the cluster of hole cards, by their cards as digits of base 64.
        """
        kind = np.dtype(dtype)
        digest = hashlib.sha256(cluster_of.tobytes()).hexdigest()[:12]
        name = f"opponents-{turn}-{kind.name}-{digest}"

        def check(arrays: Arrays) -> None:
            check_like("value", arrays["value"], (self.size(turn), clusters), kind)

        return self.kept(name, lambda: self._make_opponents(turn, cluster_of, clusters, kind), check)["value"]

    def _make_opponents(
        self, turn: int, cluster_of: npt.NDArray[np.uint8], clusters: int, kind: np.dtype[Any]
    ) -> dict[str, npt.NDArray[Any]]:
        from counterplay.kernels.cards.card_features import cluster_strengths

        levels, half = (float(np.iinfo(kind).max), 0.5) if kind.kind == "u" else (1.0, 0.0)
        if turn == 0 and self.rounds > 1:
            wins, mass, _ = self.starting_hands(cluster_of, clusters)
            won = np.divide(wins, 2 * mass, out=np.full(wins.shape, 0.5), where=mass > 0)
            return {"value": (levels * won + half).astype(kind)}
        value = np.zeros((self.size(turn), clusters), dtype=kind)
        boards = self._boards(turn)
        rest = sum(self.shape[turn + 1 :])
        ways = math.comb(len(self.cards) - self.board(turn), rest)
        sizes = np.array([self.shape[0], self._hands(turn), len(hand_codes()), rest, ways])
        tables, codes = self.indexer(turn).tables(), hand_tables()

        def work(first: int, last: int) -> None:
            part = boards[first:last]
            cluster_strengths(codes, tables, self.cards, part, sizes, cluster_of, levels, half, value)

        self.in_chunks(f"strength against clusters, {self.round_name(turn)}", len(boards), max(1, 256 // ways), work)
        return {"value": value}

    def starting_hands(
        self, cluster_of: npt.NDArray[np.uint8], clusters: int
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Starting hands up to suits, in one pass over all complete boards; every hand of a class is counted.

        Twice the wins plus the ties against each cluster, the opponents of each cluster, and the histogram of strength.
        """
        from counterplay.kernels.cards.card_features import start_strengths

        hole, last_round = self.shape[0], self.rounds - 1
        boards, orbit = self._boards(last_round), self._board_orbits(last_round)
        sizes = np.array([hole, self._hands(last_round), len(hand_codes())])
        codes = hand_tables()
        parts: list[list[npt.NDArray[np.int64]]] = []

        def work(first: int, last: int) -> None:
            try:
                sums = parts.pop()  # one for each thread
            except IndexError:
                sums = [np.zeros((64**hole, columns), dtype=np.int64) for columns in (clusters, clusters, self.bins)]
            part = slice(first, last)
            start_strengths(codes, self.cards, boards[part], orbit[part], sizes, cluster_of, self.unit, *sums)
            parts.append(sums)

        self.in_chunks("strength of starting hands", len(boards), 256, work)
        hands = np.array(list(itertools.combinations(self.cards.tolist(), hole)), dtype=np.int64)
        slots = (hands * 64 ** np.arange(hole)[::-1]).sum(axis=1)
        index = self.indexer(0).indices(hands)
        found = []
        for each in zip(*parts, strict=True):
            total = np.zeros((self.size(0), each[0].shape[1]), dtype=np.int64)
            for part in each:
                np.add.at(total, index, part[slots])
            found.append(total)
        return found[0], found[1], found[2]

    def transitions(self, turn: int, table: npt.NDArray[Any], classes: int) -> npt.NDArray[Any]:
        """Number of sets of next cards from each hand to each class of the next round: (N, classes)."""
        from counterplay.kernels.cards.continuations import fold_classes

        more, ways = self._next(turn)
        count = np.zeros((self.size(turn), classes), dtype=np.min_scalar_type(ways))
        now, then = self.indexer(turn).tables(), self.indexer(turn + 1).tables()

        def work(first: int, last: int) -> None:
            fold_classes(now, then, self.cards, np.array([first, last, more, ways]), table, count)

        self.in_chunks(f"transitions from {self.round_name(turn)}", len(count), max(1, (1 << 20) // ways), work)
        return count

    def spread(
        self, turn: int, bucket: npt.NDArray[Any], buckets: int, table: npt.NDArray[Any], classes: int
    ) -> npt.NDArray[np.int64]:
        """Number of deals in each bucket of a round and then in each class of the next: (buckets, classes).

        Buckets are by ordered index, classes by index with the board as a set.
        """
        from counterplay.kernels.cards.continuations import count_classes

        more, ways = self._next(turn)
        now, then, ordered = (i.tables() for i in (self.indexer(turn), self.indexer(turn + 1), self.ordered(turn)))
        orbits = self.orbits(turn)
        arrangements = self.arrangements(turn)
        parts: list[npt.NDArray[np.int64]] = []

        def work(first: int, last: int) -> None:
            span = np.array([first, last, more, ways])
            try:
                count = parts.pop()  # one for each thread
            except IndexError:
                count = np.zeros((buckets, classes), dtype=np.int64)
            count_classes(now, ordered, then, self.cards, span, arrangements, orbits, bucket, table, count)
            parts.append(count)

        self.in_chunks(
            f"hands of each bucket, {self.round_name(turn + 1)}", self.size(turn), max(1, (1 << 20) // ways), work
        )
        return np.asarray(np.sum(parts, axis=0, dtype=np.int64))

    def arrangements(self, turn: int) -> npt.NDArray[np.int64]:
        """The orders in which a board of a round may have been dealt, as positions of hole cards and board."""
        hole = tuple(range(self.shape[0]))
        ways: list[tuple[int, ...]] = [()]
        places = range(self.shape[0], self.shape[0] + self.board(turn))
        for count in self.shape[1 : turn + 1]:
            ways = [
                (*way, *more)
                for way in ways
                for more in itertools.combinations([place for place in places if place not in way], count)
            ]
        return np.array([(*hole, *way) for way in ways], dtype=np.int64)

    # ------------------------------------------------------------------------------------------ the work

    def in_chunks(self, stage: str, total: int, chunk: int, work: Callable[[int, int], object]) -> None:
        """Run ``work(first, last)`` over all of 0 .. total - 1, in threads."""
        if self.progress is not None:
            self.progress(Progress(0, total=total, stage=stage))
        self._pool.chunks(work, total, chunk, self.progress, stage)

    def _boards(self, turn: int) -> npt.NDArray[np.uint8]:
        """A board of each class."""
        if turn == 0:
            return np.zeros((1, 0), dtype=np.uint8)
        indexer = HandIndexer((self.board(turn),), *self.deck)
        return indexer.hands(np.arange(indexer.size()))

    def _board_orbits(self, turn: int) -> npt.NDArray[np.int64]:
        """Number of boards in each class."""
        if turn == 0:
            return np.ones(1, dtype=np.int64)
        indexer = HandIndexer((self.board(turn),), *self.deck)
        return indexer.orbits(np.arange(indexer.size()))

    def _hands(self, turn: int) -> int:
        """Number of hole cards possible with a board."""
        return math.comb(len(self.cards) - self.board(turn), self.shape[0])

    def _next(self, turn: int) -> tuple[int, int]:
        """Number of cards dealt next, and number of sets of them."""
        more = self.shape[turn + 1]
        return more, math.comb(len(self.cards) - self.shape[0] - self.board(turn), more)

    def kept(
        self, name: str, make: Callable[[], dict[str, npt.NDArray[Any]]], check: Callable[[Arrays], None] | None = None
    ) -> Arrays:
        """Arrays by name: from memory, from the cache on disk if they can be checked, or computed.

        ``check`` refuses arrays of the cache that kernels could not trust, by a ValueError.
        """
        if name not in self._kept:
            path = None
            if self.cache is not None and check is not None:
                shape = "-".join(map(str, self.shape))
                against = "" if self.rivals == 1 else "against2-"
                path = self.cache / f"{self.deck[0]}x{self.deck[1]}-{shape}-{against}{name}.features"
            self._kept[name] = make() if path is None or check is None else cached_arrays(path, KIND, make, check)
        return self._kept[name]

    def forget(self) -> None:
        """Free the memory; the cache on disk stays."""
        self._kept.clear()
