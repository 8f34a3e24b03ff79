"""Monte Carlo CFR on bucket games: real cards, tables by bucket.

The algorithms are in ``solvers/mccfr.py`` and its kernels; this module adds the deals.  Before each walk all cards are
dealt in the real game, and hands are mapped to buckets (Johanson 2016, section 3.4; Gibson 2014, section 5.6).  Deals
are sampled in batches, from separate random numbers for each thread, so that a run can be interrupted anywhere and
resumed to the same bits.

``pcs-boards`` draws boards alone and walks all hands of both players at once (Johanson 2016, algorithm 1 with section
3.4), two players.  Its walks are those of ``kernels/buckets/bucket_pcs.py``; tables, checkpoints and profiles are the
same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import StrategyError
from counterplay.game.game import Scheme
from counterplay.kernels.buckets.bucket_pcs import walk_board
from counterplay.kernels.walks import WalkArrays, random_state
from counterplay.poker.buckets.board_sampler import BoardSampler, betting_pieces, check_hands
from counterplay.poker.buckets.bucket_counts import BucketGameSize
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.buckets.deal_sampler import DealSampler
from counterplay.poker.buckets.prefix_sampler import sampler_bytes, sampler_of
from counterplay.runtime.threads import spaced_rows
from counterplay.solvers.bucket_cfr import cfr_table_bytes
from counterplay.solvers.bucket_tables import BucketTables
from counterplay.solvers.cfr import CFR_PRESETS, CfrConfig, config_with
from counterplay.solvers.mccfr import (
    MCCFR_PRESETS,
    MccfrConfig,
    MccfrSolver,
    Walked,
    WalkedSizes,
    mccfr_config,
    table_memory,
)
from counterplay.solvers.restricted_solver import restriction_bytes
from counterplay.solvers.sampling_schemes import betting_scheme

BATCH = 4096
"""Iterations whose cards are dealt at a time: enough to make the time in Python between kernels negligible."""

BUCKET_PRESETS: Mapping[str, MccfrConfig] = {**MCCFR_PRESETS, "pcs-boards": MccfrConfig("public")}
"""The algorithms for bucket games by name."""


def takes_experts(config: MccfrConfig) -> bool:
    """Whether buckets may depend on the betting; walks of boards take one bucket a round."""
    return config.sampling != "public"


class BucketSolver(BucketTables, MccfrSolver):
    """Monte Carlo CFR on a bucket game."""

    kind = "mccfr-abstract"
    works_apart = True
    presets = BUCKET_PRESETS

    @property
    def takes_experts(self) -> bool:  # type: ignore[override]
        """As ``BucketTables.takes_experts``."""
        return takes_experts(self.config)

    restricted_presets = (*MccfrSolver.restricted_presets, "pcs-boards")

    def _check_game(self) -> None:
        if self.config.sampling == "public":
            check_hands(self.game)
        super()._check_game()

    def _layout_bytes(self) -> int:
        fixed = 0 if self.game.fixed is None or self.game.start else 12 * self.game.fixed.game.num_entries
        return 16 * len(self.game.tree) + fixed + restriction_bytes(self.restriction)

    def _walkers(self) -> Sequence[int]:
        return self.game.deciding

    def _walk_arrays(self) -> WalkArrays:
        return self.game.walks()

    def _allocate(self) -> None:
        super()._allocate()
        seeds = np.random.SeedSequence(self.config.seed).spawn(1)[0].generate_state(1, np.uint64)
        self.deal_state = spaced_rows(random_state(int(seeds[0]), self.config.threads))
        threads, game = range(self.config.threads), self.game
        self._samplers: list[DealSampler] = []
        self._boards: list[BoardSampler] = []
        if self.config.sampling == "public":
            self._pieces = betting_pieces(game)
            self._boards = [BoardSampler(game, self._pieces) for _ in threads]
        else:
            self._samplers = [sampler_of(game, BATCH * game.players) for _ in threads]

    def _scheme_array(self, scheme: str | Scheme | NDArray[np.float64]) -> NDArray[np.float64]:
        return betting_scheme(self.game, scheme)

    @classmethod
    def memory_bytes(cls, tree: Walked, config: MccfrConfig | str | None = None) -> int:
        """Bytes of all tables that a solver will allocate, the buffers of deals included."""
        assert isinstance(tree, BucketGame)
        settings = cls.settings_of(config)
        if settings.sampling == "public":
            pieces = betting_pieces(tree)
            deals = settings.threads * (BoardSampler.nbytes(tree, pieces) + 8) + sum(piece.nbytes for piece in pieces)
        else:
            deals = settings.threads * (sampler_bytes(tree, BATCH * tree.players) + 8)
        return super().memory_bytes(tree, settings) + deals

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
        """Sample a board for each iteration and walk it for both players; with 0 iterations, only compile."""
        config, boards, state = self.config, self._boards[thread], self.deal_state[thread]
        learners = np.arange(2 if iterations else 0)
        coins = () if self._model is None else (self._model, self.random_state[thread])
        for done in range(max(iterations, 1)):
            board = boards.draw(state if iterations else state.copy())
            weight = float(start + done + 1) if config.linear_average else 1.0
            walk_board(
                self._pieces, board, learners, weight, config.regret_floor, self.regret, self.regret, self.average,
                boards.scratch, self.counters[thread], *coins,
            )  # fmt: skip
            self.counters[thread, 0] += len(learners) // 2

    def tables(self) -> dict[str, NDArray[Any]]:
        """Those of any sampling run, and the random numbers of the deals."""
        return {**super().tables(), "deal_state": self.deal_state.view(np.int64)}

    @classmethod
    def from_checkpoint(cls, game: Any, config: Mapping[str, Any], algorithm: str, memory_limit: int | None) -> Self:
        """A fresh solver with the settings of a checkpoint; ``pcs-boards`` was once called ``pcs``."""
        if config.get("sampling") == "boards":
            raise StrategyError(f"{algorithm} of an old counterplay 0.1.0 wrote this with other tables; solve again")
        return cls(game, MccfrConfig(**config), "pcs-boards" if algorithm == "pcs" else algorithm, memory_limit)


def predicted_tables(size: BucketGameSize, algorithm: str, settings: Mapping[str, Any]) -> int:
    """Bytes of the tables of a run, counted before anything is built."""
    if algorithm in CFR_PRESETS:
        return cfr_table_bytes(size.entries, config_with(algorithm, settings))
    if algorithm == "cfr-br":  # the solver counts its best response before it is made
        return cfr_table_bytes(size.entries, CfrConfig(profile=settings.get("profile", "average")))
    sizes = WalkedSizes(size.entries, 0, len(size.buckets), 64 * len(size.betting.decisions), 8)
    return table_memory(sizes, mccfr_config(algorithm, settings, BUCKET_PRESETS))
