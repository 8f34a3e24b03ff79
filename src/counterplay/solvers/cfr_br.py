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

from counterplay.errors import GameError, SolverError
from counterplay.evaluation.lifted_buckets import PUBLIC_INFOSETS, RealGame, check_real_game, real_infosets
from counterplay.evaluation.measurement import Measurement
from counterplay.evaluation.public_walks import FIXED
from counterplay.forms import open_game
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.poker_game import PokerFile
from counterplay.poker.poker_public_tree import count_public_tree
from counterplay.solvers.bucket_cfr import BucketCfrSolver, cfr_table_bytes
from counterplay.solvers.cfr import CfrConfig
from counterplay.solvers.cfr_br_settings import CFR_BR_PRESETS, CfrBrConfig, check_zero_sum, real_game_bytes
from counterplay.solvers.cfr_br_start import StartedSolver
from counterplay.solvers.cfr_br_trunk import TrunkSolver
from counterplay.solvers.public_tree_tables import table_type
from counterplay.solvers.result import RunFacts
from counterplay.solvers.settings import preset
from counterplay.tree.public.public_tree import PublicTree


class CfrBrSolver(StartedSolver, BucketCfrSolver):
    """CFR-BR on a bucket game whose real game has a public tree that fits into memory, two players."""

    kind = "cfr-br"
    config_class: ClassVar[type[CfrConfig]] = CfrBrConfig
    presets: ClassVar[Mapping[str, CfrConfig]] = CFR_BR_PRESETS
    default_preset = "cfr-br"
    real_game = True
    real: PublicTree

    @classmethod
    def named(cls, game: Any, algorithm: str, memory_limit: int | None, settings: Mapping[str, Any]) -> Any:
        """A solver with these settings: another one where there is a trunk."""
        config = preset(cls.presets, algorithm, settings)
        solver: Any = TrunkSolver if _trunk(config) else cls
        return solver(game, config, algorithm, memory_limit)

    def _check_game(self) -> None:
        if _trunk(self.config):
            raise SolverError("a trunk is for TrunkSolver; make_solver chooses the class by the settings")
        check_zero_sum(self.game)
        if isinstance(self.config, CfrBrConfig) and real_infosets(self.game.definition) > PUBLIC_INFOSETS:
            raise GameError(
                f"the real game of {self.name} is too large for an exact best response; "
                "let the opponent learn in a trunk: --set trunk=2"
            )
        check_real_game(self.game)

    def _allocate(self) -> None:
        self._open_real()
        self._response = np.zeros(max(self._real.responses(seat) for seat in (0, 1)), np.uint8)
        self._start()

    def _open_real(self) -> None:
        """The tables by buckets, and the real game."""
        self._allocate_tables()
        game = self.game
        self.real = real = open_game(PokerFile(game.definition, game.name), "public")
        kind = table_type(sum(real.num_entries), self.config.storage)
        self._real = RealGame(game, real, kind, self.config.threads)

    def _walk(self, learners: NDArray[np.int64], weight: float) -> None:
        """For each seat: the best response to it, and what it regrets against that."""
        table, response = self.strategy("last"), self._response
        for seat in learners.tolist():
            self._real.respond(1 - seat, table, response)
            rule = FIXED._replace(weight=weight)
            self._real.answer(seat, table, response, rule, self._learned, self.average)
        self.counters[1] += 2 * len(learners) * self.real.num_public_states

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
        _, infosets, _ = count_public_tree(tree.definition)
        response = infosets // 2 + 1
        return cfr_table_bytes(tree.num_entries, settings) + real_game_bytes(tree, settings.threads) + response


def _trunk(config: CfrConfig) -> int:
    """Rounds of the trunk; other members of the family have none."""
    return config.trunk if isinstance(config, CfrBrConfig) else 0
