"""Full-width CFR in card abstractions with too many boards: from bucket pairs, two players with perfect recall.

The family and its settings are those of ``solvers/cfr.py``, and an iteration is that of ``solvers/bucket_cfr.py``; only
the walk differs.  All that matters of the cards is how often each pair of buckets occurs and who wins then, so that the
bucket game is solved without cards (``evaluation/pair_walks.py``).  Pairs that were counted over sampled boards are a
game of their own, *the game as sampled*: it is solved exactly, and comes as near to the bucket game as its boards do.

A checkpoint holds the pairs, so that a resumed run needs no boards.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError, SolverError
from counterplay.evaluation.bucket_pairs import BucketPairs
from counterplay.evaluation.pair_walks import PairWalks
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.solvers.bucket_cfr import BucketCfrSolver, cfr_table_bytes
from counterplay.solvers.cfr import CfrConfig


class BucketPairsSolver(BucketCfrSolver):
    """Full-width CFR on the bucket pairs of a bucket game.

    Parameters
    ----------
    *args, **kwargs
        Those of other solvers in card abstractions.
    pairs : BucketPairs
        How often each pair of buckets occurs, and who wins; a checkpoint brings its own.
    """

    kind = "bucket-pairs-cfr"

    def _check_game(self) -> None:
        if self.game.players != 2:
            raise GameError(f"bucket pairs are for two players; {self.game.name} has {self.game.players}")

    def _allocate(self) -> None:
        self._allocate_tables()

    @classmethod
    def memory_bytes(cls, tree: BucketGame, config: CfrConfig | str | None = None) -> int:
        """Bytes of all tables, of the strategy of an iteration, of the pairs and of the walks over them."""
        buckets = tree.slot_buckets.reshape(-1, 2)
        pairs = 8 * 4 * int(buckets.prod(axis=1).sum())
        tables = cfr_table_bytes(tree.num_entries, cls.settings_of(config)) + 8 * tree.num_entries
        return tables + pairs + PairWalks.nbytes(tree)

    def step(self, iterations: int = 1) -> None:
        """Advance by some iterations; Ctrl-C waits for the end of one."""
        if self.pairs is None:
            raise SolverError(
                f"{self.name} has too many boards for {self.algorithm} to walk; count bucket pairs on some of them: "
                "solver.pairs = count_bucket_pairs(game, 10_000), or --boards 10000"
            )
        super().step(iterations)

    def _walk(self, learners: NDArray[np.int64], weight: float) -> None:
        walks = self.pair_walks
        assert walks is not None
        walks.learn(learners, self.strategy("last"), weight, self._learned, self.average)
        self.counters[1] += len(learners) * walks.nodes

    def details(self) -> dict[str, Any]:
        """The bucket game, and whether it is that of sampled boards."""
        sampled = self.pairs is not None and not self.pairs.exact
        return super().details() | ({"solved": "the game as sampled by these boards"} if sampled else {})

    def tables(self) -> dict[str, NDArray[Any]]:
        """Those of all members of the family, and the pairs."""
        return {**super().tables(), **({} if self.pairs is None else self.pairs.arrays())}

    def state(self) -> dict[str, Any]:
        """How the pairs were counted."""
        return {} if self.pairs is None else {"boards": self.pairs.boards, "exact": self.pairs.exact}

    def fill(self, tables: Mapping[str, NDArray[Any]], state: Mapping[str, Any]) -> None:
        """Take over a checkpoint, and the pairs in it."""
        self.pairs = BucketPairs.of_arrays(self.game, tables, state["boards"], state["exact"])
        super().fill(tables, state)
