"""CFR against an opponent who plays without buckets: "A-vs-U", for both seats.

Johanson 2016, sections 4.4 and 11.3.3 (Waugh et al. 2009).  CFR is run in the game in which one player is abstracted
and the other is not, once for each seat, and of each run the abstracted player is kept.  In that game the average
approaches an equilibrium, so what is kept is the strategy of the abstraction that is least exploitable in the real
game, the limit of CFR-BR too; and a finer abstraction is never worse, as it may be between two abstracted players.

The unabstracted player has regrets for all hands on the public tree of the real game, up to suits, and no average.
Both runs advance together: in an iteration each seat is updated by buckets in the one and without in the other.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from counterplay.evaluation.public_walks import FIXED, NO_RESPONSE, Opponent
from counterplay.kernels.numba_internals import hold
from counterplay.kernels.public.piece_steps import Tables
from counterplay.poker.buckets.asymmetric_game import NONE, AsymmetricGame
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.poker_public_tree import count_public_tree
from counterplay.solvers.bucket_cfr import cfr_table_bytes
from counterplay.solvers.cfr import CFR_PRESETS, CfrConfig, FullWidthSolver
from counterplay.solvers.cfr_br import CfrBrSolver
from counterplay.solvers.cfr_br_settings import check_beside_buckets, real_game_bytes
from counterplay.solvers.public_tree_tables import rounding, table_type
from counterplay.solvers.settings import Settings


class UnabstractedOpponentSolver(CfrBrSolver):
    """CFR of an abstracted player against an unabstracted one, two players; the public tree must fit into memory.

    ``storage`` is the type of the regrets of the unabstracted player and of the vectors over hands.
    """

    kind = "unabstracted-opponent"
    config_class = CfrConfig
    presets: ClassVar = CFR_PRESETS
    default_preset = "cfr+"
    opponents: tuple[Tables, Tables]
    """Of the opponent of each seat."""

    @classmethod
    def settings_of(cls, config: Settings | str | None) -> CfrConfig:
        """The settings; threads and float32 are for the unabstracted player."""
        settings: CfrConfig = super(FullWidthSolver, cls).settings_of(config)
        check_beside_buckets(settings, cls.form_name)
        return settings

    def _opened(self, game: Any, memory_limit: int | None) -> BucketGame:
        return super()._opened(game.own if isinstance(game, AsymmetricGame) else game, memory_limit)

    def _allocate(self) -> None:
        self._open_real()
        self._close = rounding(self.real, self._real.kind)
        self.opponents = self._regrets(1), self._regrets(0)

    def _regrets(self, player: int) -> Tables:
        entries, kind = self.real.num_entries[player], self._real.kind
        none, scale = np.zeros(0, kind), np.ones(self.real.num_blocks[player], np.float32)
        prediction = np.zeros(entries if self.config.predictive else 0, kind)
        return hold(Tables(np.zeros(entries, kind), scale, none, scale[:0], prediction, NO_RESPONSE, np.zeros(0)))

    def _walk(self, learners: NDArray[np.int64], weight: float) -> None:
        """Each learner is updated by buckets against its opponent, and as the opponent of the other seat."""
        table, real, rule = self.strategy("last"), self._real, FIXED._replace(weight=weight, tie=self._close)
        for seat in learners.tolist():
            held = self.opponents[seat]
            opponent = Opponent(held.regret, held.regret_scale, held.prediction)
            real.answer(seat, table, opponent, rule, self._learned, self.average)
        for seat in learners.tolist():
            real.oppose(1 - seat, table, self.opponents[1 - seat], self._rule()._replace(tie=self._close))
        self.counters[1] += 2 * len(learners) * self.real.num_public_states

    def details(self) -> dict[str, Any]:
        """The bucket game, and the opponent's cards."""
        return {**super().details(), "opponent_cards": NONE}

    def identity(self) -> dict[str, Any]:
        """What a checkpoint records about its game."""
        return {**super().identity(), "opponent_cards": NONE}

    def tables(self) -> dict[str, NDArray[Any]]:
        """Those by buckets, and the regrets and predictions of both opponents."""
        held = super().tables()
        for seat, tables in enumerate(self.opponents):
            held |= {f"opponent_regret_{seat}": tables.regret, f"opponent_prediction_{seat}": tables.prediction}
        return held

    @classmethod
    def memory_bytes(cls, tree: BucketGame, config: CfrConfig | str | None = None) -> int:
        """Bytes of the tables, of the real game, of the opponents' regrets and of the buckets of hands."""
        settings = cls.settings_of(config)
        _, _, entries = count_public_tree(tree.definition)
        opponents = entries * (1 + settings.predictive) * table_type(entries, settings.storage).itemsize
        return cfr_table_bytes(tree.num_entries, settings) + real_game_bytes(tree, settings.threads) + opponents
