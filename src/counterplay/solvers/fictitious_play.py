"""Fictitious play: every player plays a best response to the average of what the others have played.

Brown 1951; in behavioural strategies of extensive-form games, Čermák 2018, sections 3.4.3 and 3.6.2 (and, as
realisation-weighted fictitious play, Heinrich, Lanctot and Silver 2015).  The average of two strategies is the
behavioural strategy that plays like their mixture (lemma 3.4.1), which needs perfect recall; with imperfect recall the
same formula is applied, and need not converge.

Departure: the thesis updates one player per iteration, in turn; here an iteration updates every player once, by
default in turn.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from counterplay.kernels.history.fictitious_play import iterate_fictitious_play
from counterplay.solvers.settings import Settings
from counterplay.solvers.solver import Solver
from counterplay.strategy.tabular import TabularStrategy
from counterplay.tree.history.game_tree import GameTree


@dataclasses.dataclass(frozen=True)
class FictitiousPlayConfig(Settings):
    """Settings of fictitious play.

    * ``alternating``: players respond in turn, each to the updated averages of the others; otherwise all to the old
      ones
    * ``start``: the strategy before the first response, which counts as one response: uniform, or the first action
    """

    alternating: bool = True
    start: Literal["uniform", "first"] = "uniform"


class FictitiousPlay(Solver):
    """Fictitious play on a compiled game, any number of players."""

    kind = "fictitious-play"
    config_class = FictitiousPlayConfig
    presets: ClassVar = {"fictitious-play": FictitiousPlayConfig()}

    def _allocate(self) -> None:
        self.average = TabularStrategy.uniform(self.tree).table.copy()
        if self.config.start == "first":
            self.average[:] = 0.0
            self.average[self.tree.infoset_offset[:-1]] = 1.0
        sequences = self.tree.sequences.num_sequences
        self._clock = np.zeros(1, np.int64)
        self._scratch = (
            np.ones(sequences), np.zeros(sequences), np.zeros(sequences), np.zeros(self.tree.num_entries),
            np.zeros(self.tree.sequences.num_decisions, np.int32),
        )  # fmt: skip

    @classmethod
    def memory_bytes(cls, tree: GameTree, config: Any = None) -> int:
        """Bytes of all arrays that a solver will allocate."""
        form = tree.sequences
        return 8 * (2 * tree.num_entries + 3 * form.num_sequences) + 4 * form.num_decisions + 8

    def step(self, iterations: int = 1) -> None:
        """Advance by some iterations."""
        iterate_fictitious_play(
            self.form, self.tree.infoset_offset, self.tree.player_infosets, self.config.alternating, iterations,
            self._clock, self.average, *self._scratch,
        )  # fmt: skip

    def strategy(self) -> NDArray[np.float64]:
        """The average profile."""
        return self.average.copy()

    def tables(self) -> dict[str, NDArray[Any]]:
        """The average and the number of iterations."""
        return {"average": self.average, "clock": self._clock}
