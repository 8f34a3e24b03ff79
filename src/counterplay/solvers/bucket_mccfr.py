"""Monte Carlo CFR on a betting tree with buckets: real cards, abstract tables.

Everything about the algorithms is in ``solvers/mccfr.py`` and its kernels; here are the deals.  Before each walk all
cards are dealt in the real game, and hands are mapped to buckets (Johanson 2016, section 3.4; Gibson 2014, section
5.6).  Deals are made in batches, from random numbers of their own for each thread, so that a run can be cut anywhere
and resumed to the same bits.

``pcs`` draws boards alone and walks all hands of both players at once (Johanson 2016, algorithm 1 with section 3.4),
two players.  Its walks are those of ``kernels/buckets/bucket_pcs.py``; tables, checkpoints and profiles are the same.
``cfr`` and ``cfr+`` (see ``solvers/cfr.py``) go through all boards in every iteration instead, up to renaming suits,
and draw nothing: for games with few of them.

A best response needs to know how often buckets meet: with ``pairs`` (``evaluation.bucket_pairs``, two players with
perfect recall) a run is measured inside the bucket game; without them nothing is measured.  ``bucket_abstraction`` (in
``abstraction.cards.bucket_games``) turns a bucket game that is small enough into a ``GameTree``.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Iterator, Mapping
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import SolverError, StrategyError
from counterplay.evaluation.bucket_pairs import BucketPairs, measure_buckets
from counterplay.evaluation.measurement import Measurement
from counterplay.forms import open_game
from counterplay.game.game import Scheme
from counterplay.kernels.buckets.bucket_pcs import walk_board
from counterplay.kernels.regret import match_regrets
from counterplay.kernels.walks import WalkArrays, random_state
from counterplay.poker.buckets.board_sampler import BoardSampler, betting_pieces, check_hands, every_board
from counterplay.poker.buckets.bucket_counts import BucketGameSize
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.buckets.deal_sampler import DealSampler
from counterplay.runtime.memory import check_memory
from counterplay.runtime.threads import spaced_rows
from counterplay.solvers.cfr import ROUNDING
from counterplay.solvers.mccfr import (
    MCCFR_PRESETS,
    MccfrConfig,
    MccfrSolver,
    Walked,
    WalkedSizes,
    mccfr_config,
    table_memory,
)
from counterplay.solvers.result import RunFacts
from counterplay.solvers.sampling_schemes import betting_scheme
from counterplay.strategy.bucket_strategy import BucketStrategy, Storage, packed
from counterplay.strategy.strategy import Provenance
from counterplay.strategy.tabular import normalise

__all__ = ["BUCKET_PRESETS", "BucketSolver", "predicted_tables"]

BATCH = 4096
"""Iterations whose cards are dealt at a time: so many that what Python does between kernels is little beside them."""

BUCKET_PRESETS: Mapping[str, MccfrConfig] = {
    **MCCFR_PRESETS,
    "pcs-boards": MccfrConfig("public"),
    "cfr": MccfrConfig("boards"),
    "cfr+": MccfrConfig("boards", regret_floor=True, linear_average=True),
}
"""The algorithms for bucket games by name."""


class BucketSolver(MccfrSolver):
    """Monte Carlo CFR on a bucket game.

    Parameters
    ----------
    game : BucketGame
        What to solve.
    *arguments, **named
        Those of ``MccfrSolver``.
    pairs : BucketPairs, optional
        How often buckets meet, to measure exploitability inside the bucket game.
    """

    kind = "mccfr-abstract"
    form_name = "buckets"
    check_ratio = 1.5
    presets = BUCKET_PRESETS
    game: BucketGame

    def __init__(self, game: BucketGame, *arguments: Any, pairs: BucketPairs | None = None, **named: Any) -> None:
        super().__init__(game, *arguments, **named)  # type: ignore[arg-type]  # what _open takes
        self.pairs = pairs
        seeds = np.random.SeedSequence(self.config.seed).spawn(1)[0].generate_state(1, np.uint64)
        self.deal_state = spaced_rows(random_state(int(seeds[0]), self.config.threads))
        threads = range(self.config.threads)
        self._samplers: list[DealSampler] = []
        self._boards: list[BoardSampler] = []
        if self.config.sampling in ("public", "boards"):
            self._pieces = betting_pieces(game)
            self._boards = [BoardSampler(game, self._pieces) for _ in threads]
            if self.config.sampling == "boards":
                rows, stands_for = every_board(game)
                self._every_board = rows, stands_for / stands_for.sum()
                self._learned = np.zeros(game.num_entries)
                self._tie = ROUNDING * float(np.abs(game.utility).max(initial=0.0))
        else:
            self._samplers = [DealSampler(game, BATCH * game.players) for _ in threads]

    def _open(self, game: Any, memory_limit: int | None) -> tuple[Walked, WalkArrays]:
        if not isinstance(game, BucketGame):
            raise SolverError(f"this solver runs on bucket games; got {type(game).__name__}")
        if self.config.sampling in ("public", "boards"):
            check_hands(game)
        needed = self.memory_bytes(game, self.config)
        check_memory(f"{self.algorithm} on {game.name}", needed + 16 * len(game.tree), memory_limit)
        return game, game.walks()

    def _scheme_array(self, scheme: str | Scheme | NDArray[np.float64]) -> NDArray[np.float64]:
        return betting_scheme(self.game, scheme)

    @staticmethod
    def memory_bytes(game: Walked, config: MccfrConfig | str) -> int:
        """Bytes of all tables that a solver will allocate, the buffers of deals included."""
        settings = mccfr_config(config, {}, BUCKET_PRESETS) if isinstance(config, str) else config
        assert isinstance(game, BucketGame)
        if settings.sampling in ("public", "boards"):
            pieces = betting_pieces(game)
            deals = settings.threads * (BoardSampler.nbytes(game, pieces) + 8) + sum(part.nbytes for part in pieces)
        else:
            deals = settings.threads * (DealSampler.nbytes(game, BATCH * game.players) + 8)
        return MccfrSolver.memory_bytes(game, settings) + deals

    @property
    def name(self) -> str:
        """The game's name."""
        return self.game.name

    @property
    def histories(self) -> int | None:
        """Not known: the deals are not enumerated."""
        return None

    @property
    def information_sets(self) -> int:
        """Pairs of a point of the betting and a bucket."""
        return self.game.num_infosets

    def step(self, iterations: int = 1) -> None:
        """Advance by some iterations, divided among the threads; cards that were dealt are walked before Ctrl-C."""
        if self.config.sampling == "boards":
            for _ in range(iterations):
                self._pool.call(self._walk_all_boards)
        elif self.config.threads == 1:
            self._pool.call(functools.partial(super().step, iterations))
        else:
            super().step(iterations)

    def _advance(self, thread: int, iterations: int, start: int) -> None:
        """Deal and walk in batches."""
        if self.config.sampling == "public":
            self._walk_boards(thread, iterations, start)
            return
        sampler, players = self._samplers[thread], self.game.players
        for done in range(0, max(iterations, 1), BATCH):
            count = min(BATCH, iterations - done)
            deals = sampler.deal(self.deal_state[thread], count * players)
            self._iterate(thread, count, start + done, deals)

    def _walk_boards(self, thread: int, iterations: int, start: int) -> None:
        """Draw a board for each iteration and walk it for both players; for none, only compile."""
        config, boards, state = self.config, self._boards[thread], self.deal_state[thread]
        learners = np.arange(2 if iterations else 0)
        for done in range(max(iterations, 1)):
            board = boards.draw(state if iterations else state.copy())
            weight = float(start + done + 1) if config.linear_average else 1.0
            walk_board(
                self._pieces, board, learners, weight, config.regret_floor, self.regret, self.regret, self.average,
                boards.scratch, self.counters[thread],
            )  # fmt: skip
            self.counters[thread, 0] += len(learners) // 2

    def _walk_all_boards(self) -> None:
        """One iteration over all boards.

        With a regret floor players take turns, as in CFR+; without one both move from one profile, as in CFR.
        """
        config, boards, turns = self.config, self._boards[0], np.arange(2)
        iteration = self.iterations + 1
        for learners in (turns[:1], turns[1:]) if config.regret_floor else (turns,):
            self._learned[:] = 0.0
            for cards, share in zip(*self._every_board, strict=True):
                board = boards.board(cards)
                weight = float(share) * (iteration if config.linear_average else 1)
                walk_board(
                    self._pieces, board._replace(pairs=board.pairs / share), learners, weight, False, self.regret,
                    self._learned, self.average, boards.scratch, self.counters[0],
                )  # fmt: skip
            self.regret += self._learned
            self.regret[np.abs(self.regret) <= self._tie] = 0.0
            if config.regret_floor:
                np.maximum(self.regret, 0.0, out=self.regret)
        self.counters[0, 0] += 1

    @property
    def measures(self) -> bool:  # type: ignore[override]
        """Whether exploitability in the bucket game can be measured."""
        return self.pairs is not None

    def measure(self) -> Measurement:
        """Measure the profile inside the bucket game; every number is NaN without ``pairs``."""
        if self.pairs is not None:
            return measure_buckets(self.game, self.pairs, self.strategy())
        nothing = (math.nan,) * self.game.players
        return Measurement(nothing, nothing)

    def details(self) -> dict[str, Any]:
        """What was walked."""
        found = {"betting_nodes": len(self.game.tree), "entries": self.game.num_entries}
        return found if self.pairs is None else {**found, "boards": self.pairs.boards, "exact": self.pairs.exact}

    def facts(self) -> RunFacts:
        """What reports say about the game and the tables."""
        return RunFacts(
            big_blind=self.game.big_blind, entries=self.game.num_entries, tree_bytes=self.game.tree_bytes,
            table_bytes=self.table_bytes, seed=self.config.seed, threads=self.config.threads,
        )  # fmt: skip

    def _blocks(self, kind: Literal["average", "last"] | None) -> Iterator[tuple[int, int, NDArray[np.float64]]]:
        """Entries from, to, and their probabilities, block by block."""
        kind = kind or self.config.profile
        if kind == "average" and not self.config.keeps_average:
            raise SolverError(f"this solver keeps no average (its profile is {self.config.profile!r})")
        for first, last, offset in self.game.blocks():
            if kind == "average":
                yield first, last, normalise(self.average[first:last], offset)
            else:
                found = np.zeros(last - first)
                match_regrets(offset, 0, len(offset) - 1, self.regret[first:last], self._none, False, 0.0, found)
                yield first, last, found

    def strategy(self, kind: Literal["average", "last"] | None = None) -> NDArray[np.float64]:
        """The probabilities of all entries, laid out as the tables are."""
        found = np.zeros(self.game.num_entries)
        for first, last, block in self._blocks(kind):
            found[first:last] = block
        return found

    def profile(  # type: ignore[override]
        self, kind: Literal["average", "last"] | None = None, storage: Storage = "uint16"
    ) -> BucketStrategy:
        """A profile with its provenance; ``kind`` as for ``strategy``, ``storage`` as for ``BucketStrategy.save``."""
        settings = {**dataclasses.asdict(self.config), "profile": kind or self.config.profile}
        origin = Provenance(self.algorithm, settings, self.config.seed, self.iterations, self.seconds)
        weights = np.zeros(self.game.num_entries, storage)
        for first, last, block in self._blocks(kind):
            weights[first:last] = packed(block, storage)
        return BucketStrategy.of_game(self.game, weights, origin)

    def tables(self) -> dict[str, NDArray[Any]]:
        """Those of any sampled run, and the random numbers of the deals."""
        return {**super().tables(), "deal_state": self.deal_state.view(np.int64)}

    def identity(self) -> dict[str, Any]:
        """What a checkpoint says of its game."""
        return {
            "game": self.game.name,
            "digest": self.game.fingerprint,
            "fingerprint": self.game.fingerprint,
            **self.game.origin(),
        }

    @classmethod
    def from_checkpoint(cls, game: Any, config: Mapping[str, Any], algorithm: str, memory_limit: int | None) -> Self:
        """A fresh solver with the settings of a checkpoint; ``pcs-boards`` was once called ``pcs``."""
        return cls(game, MccfrConfig(**config), "pcs-boards" if algorithm == "pcs" else algorithm, memory_limit)

    @classmethod
    def open_game(cls, game: Any, memory_limit: int | None) -> BucketGame:
        """The bucket game of a checkpoint: its card files are opened again."""
        if isinstance(game, BucketGame):
            return game
        if not isinstance(game, Mapping):
            raise StrategyError(f"a checkpoint of a bucket game is resumed with a bucket game; got {game!r}")
        try:
            name, cards, bets = game["game"], game["cards"], game["bets"]
        except KeyError as error:
            raise StrategyError(f"the checkpoint is damaged: its header lacks {error}") from None
        if not cards:
            raise StrategyError("the card abstraction of the checkpoint is in no file; give the bucket game itself")
        return open_game(name, "buckets", cards=cards, bets=bets)


def predicted_tables(size: BucketGameSize, algorithm: str, settings: Mapping[str, Any]) -> int:
    """Bytes of the tables of a run, counted before anything is built."""
    sizes = WalkedSizes(size.entries, 0, len(size.buckets), 64 * len(size.betting.decisions), 8)
    return table_memory(sizes, mccfr_config(algorithm, settings, BUCKET_PRESETS))
