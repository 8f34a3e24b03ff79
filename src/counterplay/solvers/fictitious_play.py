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
from collections.abc import Mapping
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import SolverError
from counterplay.forms import open_game
from counterplay.game.game import Game
from counterplay.kernels.history.fictitious_play import iterate_fictitious_play
from counterplay.kernels.history.passes import form_arrays
from counterplay.runtime.memory import check_memory
from counterplay.solvers.solver import Solver
from counterplay.strategy.strategy import Provenance
from counterplay.strategy.tabular import TabularStrategy
from counterplay.tree.history.game_tree import GameTree

__all__ = ["FictitiousPlay", "FictitiousPlayConfig"]


@dataclasses.dataclass(frozen=True)
class FictitiousPlayConfig:
    """Settings of fictitious play.

    Attributes
    ----------
    alternating : bool
        Players respond in turn, each to the updated averages of the others; otherwise all to the old ones.
    start : {"uniform", "first"}
        The strategy before the first response, which counts as one response: uniform, or the first action.
    """

    alternating: bool = True
    start: Literal["uniform", "first"] = "uniform"

    def __post_init__(self) -> None:
        if not isinstance(self.alternating, bool):
            raise SolverError(f"alternating must be true or false; got {self.alternating!r}")
        if self.start not in ("uniform", "first"):
            raise SolverError(f"start must be uniform or first; got {self.start!r}")


class FictitiousPlay(Solver):
    """Fictitious play on a compiled game, any number of players.

    Parameters
    ----------
    game : GameTree, Game or str
        What to solve.
    config : FictitiousPlayConfig, optional
        The settings.
    algorithm : str
        The name of the algorithm in results.
    memory_limit : int, optional
        Bytes that the tables may take; by default what the machine has free.
    """

    kind = "fictitious-play"
    config_class = FictitiousPlayConfig

    def __init__(
        self,
        game: GameTree | Game | str,
        config: FictitiousPlayConfig | None = None,
        algorithm: str = "fictitious-play",
        memory_limit: int | None = None,
    ) -> None:
        super().__init__()
        self.config = config or FictitiousPlayConfig()
        self.algorithm = algorithm
        self.tree = open_game(game, "history", memory_limit=memory_limit)
        check_memory(f"{algorithm} on {self.tree.name}", self.memory_bytes(self.tree), memory_limit)
        self.form = form_arrays(self.tree.sequences)
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

    @staticmethod
    def memory_bytes(tree: GameTree) -> int:
        """Bytes of all arrays that a solver will allocate."""
        form = tree.sequences
        return 8 * (2 * tree.num_entries + 3 * form.num_sequences) + 4 * form.num_decisions + 8

    @property
    def table_bytes(self) -> int:
        """Bytes of all arrays."""
        return self.memory_bytes(self.tree)

    @property
    def iterations(self) -> int:
        """Iterations done so far."""
        return int(self._clock[0])

    def step(self, iterations: int = 1) -> None:
        """Advance by some iterations."""
        iterate_fictitious_play(
            self.form, self.tree.infoset_offset, self.tree.player_infosets, self.config.alternating, iterations,
            self._clock, self.average, *self._scratch,
        )  # fmt: skip

    def strategy(self) -> NDArray[np.float64]:
        """The average profile."""
        return self.average.copy()

    def profile(self) -> TabularStrategy:
        """The average profile, with its provenance."""
        origin = Provenance(self.algorithm, dataclasses.asdict(self.config), None, self.iterations, self.seconds)
        return TabularStrategy.from_tree(self.tree, self.strategy(), origin)

    def tables(self) -> dict[str, NDArray[Any]]:
        """The average and the number of iterations."""
        return {"average": self.average, "clock": self._clock}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Nothing is derived from the tables."""

    @classmethod
    def from_checkpoint(
        cls, game: GameTree | Game | str, config: Mapping[str, Any], algorithm: str, memory_limit: int | None
    ) -> Self:
        """A fresh solver with the settings of a checkpoint."""
        return cls(game, FictitiousPlayConfig(**config), algorithm, memory_limit)
