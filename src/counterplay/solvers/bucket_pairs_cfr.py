"""Full-width CFR in card abstractions with too many boards: from bucket pairs, two players with perfect recall.

The family and its settings are those of ``solvers/cfr.py``, and an iteration is that of ``solvers/bucket_cfr.py``; only
the walk differs.  All that matters of the cards is how often each pair of buckets occurs and who wins then, so that the
bucket game is solved without cards (``evaluation/pair_walks.py``).  Pairs that were counted over sampled boards are a
game of their own, *the game as sampled*: it is solved exactly, and comes as near to the bucket game as its boards do.

The opponent may be restricted (``solvers/restricted_solver.py``).  A checkpoint holds the pairs, so that a resumed run
needs no boards.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError, SolverError
from counterplay.evaluation.bucket_pairs import BucketPairs
from counterplay.evaluation.pair_walks import NONE, Goal, PairWalks
from counterplay.kernels.buckets.bucket_response import add_regrets
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.solvers.bucket_cfr import BucketCfrSolver, cfr_table_bytes
from counterplay.solvers.cfr import CFR_PRESETS, CfrConfig
from counterplay.solvers.restricted_solver import RestrictedSolver
from counterplay.solvers.restriction_values import opponent_parts


class BucketPairsSolver(RestrictedSolver, BucketCfrSolver):
    """Full-width CFR on the bucket pairs of a bucket game.

    Parameters
    ----------
    *args, **kwargs
        Those of other solvers in card abstractions.
    pairs : BucketPairs
        How often each pair of buckets occurs, and who wins; a checkpoint brings its own.
    restriction : Restriction, optional
        Who is restricted, and to what; a checkpoint brings its own.
    """

    kind = "bucket-pairs-cfr"
    restricted_presets = tuple(CFR_PRESETS)

    def _check_game(self) -> None:
        if self.game.players != 2:
            raise GameError(f"bucket pairs are for two players; {self.game.name} has {self.game.players}")
        self._check_restriction()

    def _allocate(self) -> None:
        self._allocate_tables()
        self._current = np.zeros(self.game.num_entries)
        self._derive()
        self._match(range(2))

    def _derive(self) -> None:
        """What follows from the restriction."""
        held = self.restriction
        self._least = held.least if held is not None and held.kind == "dbr" else NONE

    def _match(self, players: Any) -> None:
        """The current strategy of some players from their regrets."""
        for player in players:
            for first, last, block in self.blocks("last", player):
                self._current[first:last] = block

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

    def _learn(self, learners: NDArray[np.int64], weight: float) -> None:
        """Walk the game for some players, then change their regrets and what they play."""
        tables = [(seat, part) for seat in learners.tolist() for part in _slots(self.game, seat)]
        for _, part in tables:
            self._learned[part] = 0.0
        self._walk(learners, weight)
        for seat, part in tables:
            add_regrets(self._learned[part], self._tie, self.config.regret_floor, self.regret[part])
            if self.config.predictive:
                self.prediction[seat, part] = self._learned[part]
        self._match(learners.tolist())

    def _walk(self, learners: NDArray[np.int64], weight: float) -> None:
        walks, strategy, held = self.pair_walks, self._current, self.restriction
        assert walks is not None
        for player in learners.tolist():
            bound = held is not None and player == held.player
            goal = Goal(strategy, least=self._least if bound else NONE, learned=self._learned)
            walks.walk(player, opponent_parts(held, player, strategy), [goal])
            if len(self.average) and weight > 0.0:
                walks.add_play(player, strategy, weight, self.average)
            self.counters[1] += walks.nodes

    def details(self) -> dict[str, Any]:
        """The bucket game, and whether it is that of sampled boards."""
        sampled = self.pairs is not None and not self.pairs.exact
        return super().details() | ({"solved": "the game as sampled by these boards"} if sampled else {})

    def tables(self) -> dict[str, NDArray[Any]]:
        """Those of all members of the family, and the pairs."""
        pairs = {} if self.pairs is None else self.pairs.arrays()
        return {**super().tables(), **pairs, **self.restriction_tables()}

    def state(self) -> dict[str, Any]:
        """How the pairs were counted."""
        counted = {} if self.pairs is None else {"boards": self.pairs.boards, "exact": self.pairs.exact}
        return super().state() | counted | self.restriction_state()

    def fill(self, tables: Mapping[str, NDArray[Any]], state: Mapping[str, Any]) -> None:
        """Take over a checkpoint, and the pairs in it."""
        if "boards" in state:
            self.pairs = BucketPairs.of_arrays(self.game, tables, state["boards"], state["exact"])
        super().fill(tables, state)

    def restore(self, state: Mapping[str, Any]) -> None:
        """Derive the current strategy from the tables."""
        super().restore(state)
        self._match(range(2))


def _slots(game: BucketGame, player: int) -> list[slice]:
    """Where the tables of a player lie, by round."""
    ends = game.slot_start + game.slot_width * game.slot_buckets
    return [slice(int(low), int(high)) for low, high in zip(game.slot_start[player::2], ends[player::2], strict=True)]
