"""CFR-BR: a regret minimiser that plays by buckets against a best responder who does not.

Johanson 2016, section 4.3 (Johanson, Bard, Burch and Bowling 2012).  CFR in an abstraction finds an equilibrium of the
abstract game, which the real game may exploit more than other strategies of the same abstraction.  CFR-BR finds the
strategy of the abstraction that is *least exploitable in the real game*: in every iteration, and for each seat in turn,

1. the opponent plays a best response to the current strategy, in the real game,
2. the counterfactual regrets of the player against that response are added to the regrets of each bucket.

The opponent has no regret, so the average strategy approaches its part of an equilibrium of the game in which only the
player is bound to the buckets (theorem 4); so does the current strategy at most iterations (theorem 5), which need not
keep an average.  The best response is the exact one of ``PublicWalks``, in the real game up to suits; it is computed
anew and not kept.  What the responder wins is the exploitability of the current strategy.

With ``trunk`` the responder is a hybrid (``solvers/cfr_br_trunk.py``), for games in which that takes too long.

Departure: the regret minimiser may be any member of the CFR family (``solvers.cfr``), not only CFR.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import SolverError
from counterplay.evaluation.lifted_buckets import RealGame, check_real_game
from counterplay.evaluation.measurement import Measurement
from counterplay.evaluation.public_walks import NO_ROWS, Opponent, PublicWalks, plain_tables
from counterplay.forms import open_game
from counterplay.kernels.public.piece_steps import UPDATE, Rule
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.poker_game import PokerFile
from counterplay.poker.poker_public_tree import count_public_tree
from counterplay.solvers.bucket_cfr import BucketCfrSolver, cfr_table_bytes
from counterplay.solvers.cfr import CfrConfig
from counterplay.solvers.cfr_br_settings import CFR_BR_PRESETS, CfrBrConfig, real_game_bytes
from counterplay.solvers.cfr_br_trunk import TrunkSolver
from counterplay.solvers.public_tree_tables import table_type
from counterplay.solvers.result import RunFacts
from counterplay.solvers.settings import preset
from counterplay.tree.public.public_tree import PublicTree


class CfrBrSolver(BucketCfrSolver):
    """CFR-BR on a bucket game whose real game has a public tree that fits into memory, two players."""

    kind = "cfr-br"
    config_class: ClassVar[type[CfrConfig]] = CfrBrConfig
    presets: ClassVar[Mapping[str, CfrConfig]] = CFR_BR_PRESETS
    default_preset = "cfr-br"
    real_game = True
    real: PublicTree
    _close = 0.0  # regrets of the opponent up to this count as 0

    @classmethod
    def named(cls, game: Any, algorithm: str, memory_limit: int | None, settings: Mapping[str, Any]) -> Any:
        """A solver with these settings: another one where there is a trunk."""
        config = preset(cls.presets, algorithm, settings)
        solver: Any = TrunkSolver if _trunk(config) else cls
        return solver(game, config, algorithm, memory_limit)

    def _check_game(self) -> None:
        if _trunk(self.config):
            raise SolverError("a trunk is for TrunkSolver; make_solver chooses the class by the settings")
        check_real_game(self.game)

    def _allocate(self) -> None:
        self._open_real()
        self._response = np.zeros(max(self.real.num_entries), self._real.kind)

    def _open_real(self) -> None:
        """The tables by buckets, and the real game with walks in which one seat plays by them."""
        self._allocate_tables()
        game = self.game
        self.real = real = open_game(PokerFile(game.definition, game.name), "public")
        kind = table_type(sum(real.num_entries), self.config.storage)
        self._real = RealGame(game, real, kind, self.config.threads)
        first, second = self._real.rows
        self._walkers = [
            PublicWalks(real, self.config.threads, kind=kind, rows=rows)
            for rows in ((first, NO_ROWS), (NO_ROWS, second))
        ]

    def _walk(self, learners: NDArray[np.int64], weight: float) -> None:
        """For each seat: the best response to it, and what it regrets against that."""
        table = self.strategy("last").astype(self._real.kind)
        learned = np.zeros((2, self.game.num_entries))
        for seat in learners.tolist():
            self._real.respond(1 - seat, table, self._response[: self.real.num_entries[1 - seat]])
            self._answer(seat, table, weight, learned)
        self._learned += learned[0]
        if len(self.average):
            self.average += learned[1]
        self.counters[1] += 2 * len(learners) * self.real.num_public_states

    def _answer(self, seat: int, table: NDArray[Any], weight: float, learned: NDArray[np.float64]) -> None:
        """Add what a seat regrets against its opponent, and what it plays, to ``learned``."""
        walker, none = self._walkers[seat], np.zeros(0, self._real.kind)
        own = plain_tables(table, walker.ones(seat), none, learned)
        rule = Rule(1.0, 1.0, False, weight, self._close, True, False, 0)
        walker.walk(seat, UPDATE, own, self._opponent(seat), rule=rule)

    def _opponent(self, seat: int) -> Opponent:
        """What the opponent of a seat plays."""
        return Opponent(self._response[: self.real.num_entries[1 - seat]])

    @property
    def measures(self) -> bool:  # type: ignore[override]
        """Exploitability in the real game."""
        return True

    def measure(self, kind: Literal["average", "last"] | None = None) -> Measurement:
        """Measure a strategy in the real game."""
        return self._real.measure(self.strategy(kind))

    def check(self) -> Measurement:
        """The measurement that a run needs: best responses alone."""
        return self._real.measure(self.strategy(), valued=False)

    def facts(self) -> RunFacts:
        """What reports say about the game and the tables."""
        return dataclasses.replace(super().facts(), public_states=self.real.num_public_states)

    @classmethod
    def memory_bytes(cls, tree: BucketGame, config: CfrConfig | str | None = None) -> int:
        """Bytes of the tables, of the real game, of the best response and of the buckets of hands."""
        settings = cls.settings_of(config)
        _, _, entries = count_public_tree(tree.definition)
        response = (entries // 2 + 1) * table_type(entries, settings.storage).itemsize
        return cfr_table_bytes(tree.num_entries, settings) + real_game_bytes(tree, settings.threads) + response


def _trunk(config: CfrConfig) -> int:
    """Rounds of the trunk; other members of the family have none."""
    return config.trunk if isinstance(config, CfrBrConfig) else 0
