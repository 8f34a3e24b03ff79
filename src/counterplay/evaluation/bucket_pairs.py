"""Exploitability inside a bucket game of two players with perfect recall, without a tree of histories.

All that matters of the cards is the joint distribution of the two players' buckets and who wins, which is counted over
all boards and pairs of hands (or over sampled boards, if there are too many).  With it a best response is one walk over
the betting tree for each player (Johanson 2016, section 3.4: "abstract best response", feasible only with perfect
recall; Gibson et al. 2012 measure 2-NL hold'em this way).

With sampled boards the number is an estimate, biased upwards: the best response also knows which boards were sampled.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import os
import threading
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import AbstractionError, GameError, StrategyError
from counterplay.evaluation.measurement import Measurement
from counterplay.evaluation.pair_walks import PairMatrices, PairWalks, transposed
from counterplay.kernels.buckets.bucket_response import count_pairs
from counterplay.poker.buckets.board_sampler import every_board
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.buckets.hand_lookup import hand_buckets
from counterplay.poker.evaluator import rank_holes
from counterplay.poker.three_cards import showdown_tables
from counterplay.runtime.array_checks import check_like, check_limits, check_weights
from counterplay.runtime.header_checks import check_header
from counterplay.runtime.progress import ProgressCallback
from counterplay.runtime.seeds import check_seed
from counterplay.runtime.threads import ThreadPool
from counterplay.storage import Arrays, read_container, write_container

KIND = "bucket-pairs"
"""The kind in the header of a file."""

MATRICES = ("likely", "ahead", "tied")
"""The matrices of a round by name."""


class PairsHeader(TypedDict):
    """What the header of a file holds."""

    fingerprint: str
    boards: int
    exact: bool


@dataclasses.dataclass(frozen=True, eq=False)
class BucketPairs:
    """The joint distribution of buckets and results in a bucket game of two players.

    Attributes
    ----------
    likely, ahead, tied : tuple of (B1, B2) float64
        By round: the probability of each pair of buckets, that of a win minus that of a loss of the first player, and
        that of a tie.
    before : tuple of pairs of (B,) int64
        By round: the previous round's bucket for each bucket of the first and of the second player.
    boards : int
        Boards counted.
    exact : bool
        Whether these were all.
    """

    likely: tuple[NDArray[np.float64], ...]
    ahead: tuple[NDArray[np.float64], ...]
    tied: tuple[NDArray[np.float64], ...]
    before: tuple[tuple[NDArray[np.int64], NDArray[np.int64]], ...]
    boards: int
    exact: bool

    def save(self, path: str | os.PathLike[str], game: BucketGame) -> None:
        """Write the counts of a game to a file, atomically."""
        header = {"fingerprint": game.fingerprint, "boards": self.boards, "exact": self.exact}
        write_container(path, KIND, header, self.arrays())

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays by name, as files have them."""
        found: dict[str, NDArray[Any]] = {}
        for turn, rows in enumerate(self.before):
            found |= {f"{name}_{turn}": getattr(self, name)[turn] for name in MATRICES}
            found |= {f"before_{turn}_{who}": row for who, row in enumerate(rows)}
        return found

    @classmethod
    def load(cls, path: str | os.PathLike[str], game: BucketGame) -> BucketPairs:
        """Read the counts of a game.  Raises StrategyError if the file is damaged or belongs to another game."""
        header, arrays = read_container(path, KIND)
        check_header(path, header, PairsHeader)
        if header["fingerprint"] != game.fingerprint:
            raise StrategyError(f"{path} belongs to another card abstraction")
        try:
            return cls.of_arrays(game, arrays, header["boards"], header["exact"])
        except (KeyError, TypeError, ValueError) as error:
            raise StrategyError(f"{path} is damaged: {type(error).__name__}: {error}") from None

    @classmethod
    def of_arrays(cls, game: BucketGame, arrays: Arrays, boards: int, exact: bool) -> BucketPairs:
        """The counts of a game from ``arrays`` in a file.  Raises KeyError or ValueError if they cannot be."""
        counts = game.slot_buckets.reshape(-1, 2).tolist()
        rounds, before = [], []
        for turn, shape in enumerate(counts):
            rounds.append([_matrix(f"{name}_{turn}", arrays, shape) for name in MATRICES])
            rows = [arrays[f"before_{turn}_{who}"] for who in range(2)]
            for who, row in enumerate(rows):
                check_like(f"before_{turn}_{who}", row, (shape[who],), np.int64)
                check_limits(f"before_{turn}_{who}", row, 0, counts[turn - 1][who] - 1 if turn else 0)
            before.append((np.array(rows[0]), np.array(rows[1])))
        if boards < 1:
            raise ValueError(f"{boards} boards were counted")
        likely, ahead, tied = zip(*rounds, strict=True)
        return cls(likely, ahead, tied, tuple(before), int(boards), bool(exact))

    def walks(self, game: BucketGame) -> PairWalks:
        """Walks over a game with these buckets.  Raises StrategyError if it has others."""
        if [list(one.shape) for one in self.likely] != game.slot_buckets.reshape(-1, 2).tolist():
            raise StrategyError(f"these bucket pairs are of another card abstraction than {game.name}")
        rows = zip(self.likely, self.ahead, self.tied, strict=True)
        first = [PairMatrices(likely, ahead, likely - tied) for likely, ahead, tied in rows]
        return PairWalks(game, (first, [transposed(one) for one in first]), self.before)


def _matrix(name: str, arrays: Arrays, shape: list[int]) -> NDArray[np.float64]:
    """A matrix of a file, by pairs of buckets.  Raises ValueError if it is none."""
    check_like(name, arrays[name], tuple(shape), np.float64)
    check_weights(name, arrays[name].reshape(-1), ("float64",), verify=True)
    return np.array(arrays[name])


def count_bucket_pairs(
    game: BucketGame,
    boards: int | None = None,
    seed: int = 0,
    progress: ProgressCallback | None = None,
    threads: int = 1,
) -> BucketPairs:
    """Count how often each pair of buckets occurs, and who wins, over all boards.

    Parameters
    ----------
    game : BucketGame
        A game of two players with perfect recall.
    boards : int, optional
        Number of boards to sample instead.
    seed : int
        Of the sampled boards.
    progress : callable, optional
        Called with the number of boards counted.
    threads : int
        Number of threads; counts are integers, so the result does not depend on it.

    Raises
    ------
    AbstractionError
        If a player forgets: one bucket can follow different buckets of the previous round.
    GameError
        If there are not two players, or too many boards and no number to sample.
    """
    seed = check_seed(seed, GameError)
    if game.players != 2:
        raise GameError(f"best responses over buckets are for two players; {game.name} has {game.players}")
    if game.zones or game.fixed is not None:
        raise GameError("bucket pairs are counted in one card abstraction for all betting; leave out boards")
    exact = boards is None or not game.definition.board_ends[-1]
    if exact or boards is None:
        shared, weights = every_board(game)
    else:
        shared, weights = sample_boards(game, game.rounds - 1, boards, seed), np.ones(boards)
    counter = _Counter(game)
    parts: dict[int, _Counts] = {}

    def work(first: int, last: int) -> None:
        part = parts.setdefault(threading.get_ident(), _Counts.empty(game))
        for board, weight in zip(shared[first:last], weights[first:last].tolist(), strict=True):
            counter.add(part, board, weight)

    with ThreadPool(threads) as pool:
        pool.chunks(work, len(shared), 1 + len(shared) // max(64, 8 * threads), progress, "counting boards")
    whole = functools.reduce(_Counts.joined, parts.values())
    return _marginals(whole.matrices / whole.matrices[0].sum(), whole.before, len(shared), exact)


@dataclasses.dataclass(frozen=True, eq=False)
class _Counts:
    """Pairs of buckets in the last round, and where buckets come from, on some of the boards."""

    matrices: NDArray[np.float64]  # (3, B1, B2), see ``MATRICES``
    before: list[list[NDArray[np.int64]]]
    names: list[str]  # of the rounds

    @classmethod
    def empty(cls, game: BucketGame) -> _Counts:
        kinds = [[table.count for table in tables] for tables in game.buckets]
        matrices = np.zeros((len(MATRICES), kinds[0][-1], kinds[1][-1]))
        before = [[np.full(row[turn], -1) for row in kinds] for turn in range(game.rounds)]
        return cls(matrices, before, [game.definition.round_name(turn) for turn in range(game.rounds)])

    def joined(self, other: _Counts) -> _Counts:
        """The counts of both; buckets must come from the same ones."""
        for turn, pair in enumerate(other.before):
            for who, known in enumerate(pair):
                now = np.flatnonzero(known >= 0)
                _remember(self.before[turn][who], now, known[now], who, self.names[turn])
        return _Counts(self.matrices + other.matrices, self.before, self.names)


class _Counter:
    """Counts the pairs of hands on a board."""

    def __init__(self, game: BucketGame) -> None:
        rules = game.definition
        self.game = game
        self.ranking = showdown_tables(rules)
        self.holes = np.array(list(itertools.combinations(sorted(rules.deck), rules.hole_cards)), np.uint8)
        self.sets = (np.uint64(1) << self.holes.astype(np.uint64)).sum(axis=1, dtype=np.uint64)

    def add(self, counts: _Counts, board: NDArray[np.uint8], weight: float) -> None:
        """Count one board."""
        game, holes = self.game, self.holes
        rank = rank_holes(board.tolist(), holes, self.ranking).astype(np.int64) - 1
        held = np.flatnonzero(rank >= 0)
        last: list[NDArray[np.int64]] = []
        for who in range(2):
            if who == 1 and game.buckets[0] is game.buckets[1]:
                last.append(last[0])
                for turn in range(game.rounds):
                    counts.before[turn][1] = counts.before[turn][0]
                continue
            found = hand_buckets(game, who, holes[held], board)
            for turn in range(1, game.rounds):
                _remember(counts.before[turn][who], found[turn], found[turn - 1], who, counts.names[turn])
            wide = np.zeros(len(holes), np.int64)
            wide[held] = found[-1]
            last.append(wide)
        count_pairs(self.sets, rank, last[0], last[1], weight, *counts.matrices)


def measure_buckets(game: BucketGame, pairs: BucketPairs, strategy: NDArray[np.float64] | None = None) -> Measurement:
    """Value and best responses of a profile inside a bucket game, by default of the uniform one."""
    return pairs.walks(game).measure(strategy)


def sample_boards(game: BucketGame, turn: int, boards: int, seed: int) -> NDArray[np.uint8]:
    """Boards of a round, sampled at random, in the order dealt."""
    draw, deck = np.random.default_rng(seed), np.array(game.definition.deck, np.uint8)
    size = game.definition.board_ends[turn]
    return np.array([draw.choice(deck, size, replace=False) for _ in range(boards)], np.uint8).reshape(boards, size)


def _remember(known: NDArray[np.int64], now: NDArray[np.int64], then: NDArray[np.int64], who: int, name: str) -> None:
    """Record the previous bucket of each bucket; refuse two."""
    fresh = known[now] < 0
    known[now[fresh]] = then[fresh]
    wrong = np.flatnonzero(known[now] != then)
    if len(wrong):
        bucket = int(now[wrong[0]])
        raise AbstractionError(
            f"player {who + 1} forgets: bucket {bucket}, {name}, follows the buckets {int(known[bucket])} and "
            f"{int(then[wrong[0]])}; a best response inside the bucket game needs perfect recall"
        )


def _marginals(
    last: NDArray[np.float64], before: list[list[NDArray[np.int64]]], boards: int, exact: bool
) -> BucketPairs:
    """The matrices of all rounds from those of the last."""
    parents = [(np.maximum(one, 0), np.maximum(other, 0)) for one, other in before]  # weight 0 where there is none
    every = [last]
    for turn in range(len(before) - 1, 0, -1):
        one, other = parents[turn]
        fewer = np.zeros((len(last), len(before[turn - 1][0]), len(before[turn - 1][1])))
        for found, matrix in zip(fewer, every[0], strict=True):
            np.add.at(found, (one[:, None], other[None, :]), matrix)
        every.insert(0, fewer)
    matrices = {name: tuple(one[number] for one in every) for number, name in enumerate(MATRICES)}
    return BucketPairs(**matrices, before=tuple(parents), boards=boards, exact=exact)
