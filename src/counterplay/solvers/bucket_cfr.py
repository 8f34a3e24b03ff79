"""Full-width CFR in card abstractions: CFR, CFR+, linear, discounted and predictive CFR over all boards.

The family and its settings are those of ``solvers/cfr.py``.  An iteration covers all boards, up to renaming suits,
before regrets change, with the walks of ``kernels/buckets/bucket_pcs.py`` (Johanson 2016, section 3.4), in tilted games
with those of ``solvers/tilted_walks.py``: for two players and games with few boards.

Departure: regrets are discounted for both players at once, which does not change the strategies.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterplay.evaluation.lifted_buckets import check_real_game
from counterplay.kernels.buckets.bucket_pcs import walk_board
from counterplay.kernels.buckets.bucket_response import add_regrets
from counterplay.kernels.public.piece_steps import Rule
from counterplay.kernels.public.public_cfr import iteration_rule
from counterplay.poker.buckets.board_sampler import BoardSampler, betting_pieces, check_hands, every_board
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.runtime.threads import ThreadPool
from counterplay.solvers.bucket_tables import BucketTables
from counterplay.solvers.cfr import ROUNDING, CfrConfig, FullWidthSolver
from counterplay.solvers.cfr_br_settings import real_game_bytes
from counterplay.solvers.tilted_walks import TiltedWalks


class BucketCfrSolver(BucketTables, FullWidthSolver):
    """Full-width CFR on a bucket game, two players."""

    kind = "bucket-cfr"

    def _check_game(self) -> None:
        if self.game.tilt is None:
            check_hands(self.game)
        else:
            check_real_game(self.game)

    def _allocate(self) -> None:
        game = self.game
        self._allocate_tables()
        if game.tilt is not None:
            self._tilted = TiltedWalks(game)
            return
        self._pieces = betting_pieces(game)
        self._boards = BoardSampler(game, self._pieces)
        rows, stands_for = every_board(game)
        self._every_board = rows, stands_for / stands_for.sum()

    def _allocate_tables(self) -> None:
        game = self.game
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

    @classmethod
    def memory_bytes(cls, tree: BucketGame, config: CfrConfig | str | None = None) -> int:
        """Bytes of all tables, and of the work arrays of boards."""
        if tree.tilt is not None:
            settings = cls.settings_of(config)
            return cfr_table_bytes(tree.num_entries, settings) + real_game_bytes(tree, settings.threads)
        pieces = betting_pieces(tree)
        boards = BoardSampler.nbytes(tree, pieces) + sum(piece.nbytes for piece in pieces)
        return cfr_table_bytes(tree.num_entries, cls.settings_of(config)) + boards

    def step(self, iterations: int = 1) -> None:
        """Advance by some iterations; Ctrl-C waits for the end of one."""
        for _ in range(iterations):
            self._pool.call(self._iterate)

    def _iterate(self) -> None:
        rule, turns = self._rule(), np.arange(2)
        if rule.keep_positive != 1.0 or rule.keep_negative != 1.0:
            self.regret *= np.where(self.regret > 0.0, rule.keep_positive, rule.keep_negative)
        for learners in (turns[:1], turns[1:])[self.config.turns] if self.config.alternating else (turns,):
            self._learn(learners, float(rule.weight))
        self.counters[0] += 1

    def _rule(self) -> Rule:
        """The numbers of this iteration."""
        config = self.config
        return iteration_rule(
            self.iterations + 1, config.regret_floor, *self._exponents, config.delay, config.shifted,
            self._tie, False, config.predictive,
        )  # fmt: skip

    def _learn(self, learners: NDArray[np.int64], weight: float) -> None:
        """Walk the game for some players, then change their regrets."""
        self._learned[:] = 0.0
        self._walk(learners, weight)
        add_regrets(self._learned, self._tie, self.config.regret_floor, self.regret)
        if self.config.predictive:
            self.prediction[learners[0]] = self._learned

    def _walk(self, learners: NDArray[np.int64], weight: float) -> None:
        """Add the regrets of some players to ``_learned``, and what they play to the average."""
        if self.game.tilt is not None:
            self._tilted.learn(learners, self.strategy("last"), weight, self._learned, self.average)
            self.counters[1] += len(learners) * self._tilted.tree.num_public_states
            return
        boards, seen = self._boards, self._matched()
        for cards, share in zip(*self._every_board, strict=True):
            board = boards.board(cards)
            walk_board(
                self._pieces, board._replace(pairs=board.pairs / share), learners, float(share) * weight, False, seen,
                self._learned, self.average, boards.scratch, self.counters,
            )  # fmt: skip

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


def cfr_table_bytes(entries: int, config: CfrConfig) -> int:
    """Bytes of the tables: regrets, increments of an iteration, average and predictions."""
    return 8 * entries * (2 + config.keeps_average + 3 * config.predictive)
