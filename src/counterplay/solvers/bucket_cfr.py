"""Full-width CFR in card abstractions: CFR, CFR+, linear, discounted and predictive CFR over all boards.

The family and its settings are those of ``solvers/cfr.py``.  An iteration covers all boards, up to renaming suits,
before regrets change, with the walks of ``kernels/buckets/bucket_pcs.py`` (Johanson 2016, section 3.4): for
two players and games with few boards.

Departure: regrets are discounted for both players at once, which does not change the strategies.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import SolverError
from counterplay.evaluation.bucket_pairs import BucketPairs
from counterplay.kernels.buckets.bucket_pcs import walk_board
from counterplay.kernels.public.public_cfr import iteration_rule
from counterplay.poker.buckets.board_sampler import BoardSampler, betting_pieces, check_hands, every_board
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.runtime.memory import check_memory
from counterplay.runtime.threads import ThreadPool
from counterplay.solvers.bucket_tables import BucketTables
from counterplay.solvers.cfr import ROUNDING, CfrConfig, config_with, preset_name

__all__ = ["BucketCfrSolver", "cfr_table_bytes"]


class BucketCfrSolver(BucketTables):
    """Full-width CFR on a bucket game, two players.

    Parameters
    ----------
    game : BucketGame
        What to solve.
    config : CfrConfig or str
        A configuration or the name of a preset.
    algorithm : str, optional
        The name of the algorithm in results.
    memory_limit : int, optional
        Bytes that the tables may take; by default what the machine has free.
    pairs : BucketPairs, optional
        Bucket pair counts, to measure exploitability inside the bucket game.
    """

    kind = "bucket-cfr"
    config_class = CfrConfig

    def __init__(
        self,
        game: BucketGame,
        config: CfrConfig | str = "cfr+",
        algorithm: str | None = None,
        memory_limit: int | None = None,
        pairs: BucketPairs | None = None,
    ) -> None:
        super().__init__()
        self.config = config_with(config, {}) if isinstance(config, str) else config
        self.config.check_form(self.form_name)
        self.algorithm = algorithm or preset_name(config)
        if not isinstance(game, BucketGame):
            raise SolverError(f"this solver runs on bucket games; got {type(game).__name__}")
        check_hands(game)
        self.game, self.pairs = game, pairs
        check_memory(f"{self.algorithm} on {game.name}", self.table_bytes, memory_limit)
        self._pieces = betting_pieces(game)
        self._boards = BoardSampler(game, self._pieces)
        rows, stands_for = every_board(game)
        self._every_board = rows, stands_for / stands_for.sum()
        self.regret = np.zeros(game.num_entries)
        self.average = np.zeros(game.num_entries if self.config.keeps_average else 0)
        self.prediction = np.zeros((2 if self.config.predictive else 0, game.num_entries))
        self.counters = np.zeros(3, np.int64)
        self._learned = np.zeros(game.num_entries)
        self._tie = ROUNDING * float(np.abs(game.utility).max(initial=0.0))
        self._pool = ThreadPool(1)

    @property
    def iterations(self) -> int:
        """Iterations done so far."""
        return int(self.counters[0])

    @property
    def nodes(self) -> int:
        """Nodes of the betting touched so far, each time a walk visits one."""
        return int(self.counters[1])

    @property
    def table_bytes(self) -> int:
        """Bytes of all tables, and of the work arrays of boards."""
        pieces = betting_pieces(self.game)
        boards = BoardSampler.nbytes(self.game, pieces) + sum(part.nbytes for part in pieces)
        return cfr_table_bytes(self.game.num_entries, self.config) + boards

    def step(self, iterations: int = 1) -> None:
        """Advance by some iterations; Ctrl-C waits for the end of one."""
        for _ in range(iterations):
            self._pool.call(self._iterate)

    def _iterate(self) -> None:
        config, turns = self.config, np.arange(2)
        alpha, beta = (np.nan if power is None else float(power) for power in (config.alpha, config.beta))
        rule = iteration_rule(
            self.iterations + 1, config.regret_floor, alpha, beta, float(config.gamma), config.delay, config.shifted,
            self._tie, False, config.predictive,
        )  # fmt: skip
        if rule.keep_positive != 1.0 or rule.keep_negative != 1.0:
            self.regret *= np.where(self.regret > 0.0, rule.keep_positive, rule.keep_negative)
        for learners in (turns[:1], turns[1:]) if config.alternating else (turns,):
            self._learn(learners, float(rule.weight))
        self.counters[0] += 1

    def _learn(self, learners: NDArray[np.int64], weight: float) -> None:
        """Walk all boards for some players, then change their regrets."""
        boards, seen = self._boards, self._matched()
        self._learned[:] = 0.0
        for cards, share in zip(*self._every_board, strict=True):
            board = boards.board(cards)
            walk_board(
                self._pieces, board._replace(pairs=board.pairs / share), learners, float(share) * weight, False, seen,
                self._learned, self.average, boards.scratch, self.counters,
            )  # fmt: skip
        self.regret += self._learned
        self.regret[np.abs(self.regret) <= self._tie] = 0.0
        if self.config.regret_floor:
            np.maximum(self.regret, 0.0, out=self.regret)
        if self.config.predictive:
            self.prediction[learners[0]] = self._learned

    def _matched(self) -> NDArray[Any]:
        if not self.config.predictive:
            return self.regret
        matched: NDArray[np.float64] = self.regret + self.prediction.sum(axis=0)
        matched[np.abs(matched) <= self._tie] = 0.0
        return matched

    def tables(self) -> dict[str, NDArray[Any]]:
        """Regrets, average, predictions and counters."""
        return {
            "regret": self.regret,
            "average": self.average,
            "prediction": self.prediction,
            "counters": self.counters,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Nothing is derived from the tables."""

    @classmethod
    def named(cls, game: Any, algorithm: str, memory_limit: int | None, settings: Mapping[str, Any]) -> Self:
        """A solver for one of ``CFR_PRESETS``, with some settings changed."""
        return cls(game, config_with(algorithm, settings), algorithm, memory_limit)

    @classmethod
    def from_checkpoint(cls, game: Any, config: Mapping[str, Any], algorithm: str, memory_limit: int | None) -> Self:
        """A fresh solver with the settings of a checkpoint."""
        return cls(game, CfrConfig(**config), algorithm, memory_limit)


def cfr_table_bytes(entries: int, config: CfrConfig) -> int:
    """Bytes of the tables: regrets, increments of an iteration, average and predictions."""
    return 8 * entries * (2 + config.keeps_average + 3 * config.predictive)
