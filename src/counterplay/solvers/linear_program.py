"""The linear program of the sequence form as a solver: one iteration solves a two-player zero-sum game.

The program and its sources are in ``lp/zero_sum.py``.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from counterplay.lp.rational import check_size
from counterplay.lp.zero_sum import program_rows, solve_zero_sum, zero_sum_tree
from counterplay.solvers.settings import Settings
from counterplay.solvers.solver import Solver
from counterplay.strategy.tabular import TabularStrategy
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.sequence.matrices import behavioural_strategy

Float64 = NDArray[np.float64]

BYTES_PER_COEFFICIENT = 150
"""Bytes that a program with its solution process needs for each coefficient (measured on Bluff)."""


@dataclasses.dataclass(frozen=True)
class LinearProgramConfig(Settings):
    """Settings of the linear program.

    * ``method``: the simplex method, the interior-point method, or the one that fits the size
    * ``crossover``: after the interior-point method, continue to a vertex
    * ``exact``: solve the final basis again in fractions
    """

    method: Literal["auto", "simplex", "ipm"] = "auto"
    crossover: bool = False
    exact: bool = False


class LinearProgram(Solver):
    """The sequence-form linear program as a solver: its single iteration solves the game."""

    kind = "lp"
    config_class = LinearProgramConfig
    visits_histories = False
    presets: ClassVar = {"lp": LinearProgramConfig()}
    default_iterations = 10**9  # it stops by itself

    def _check_game(self) -> None:
        zero_sum_tree(self.tree, "the linear program")
        if self.config.exact:
            check_size(program_rows(self.tree))

    def _allocate(self) -> None:
        self.probabilities = TabularStrategy.uniform(self.tree).table.copy()
        self._clock = np.zeros(1, np.int64)  # 1 when the game is solved
        self.exact_value: Fraction | None = None

    @classmethod
    def memory_bytes(cls, tree: GameTree, config: Any = None) -> int:
        """Bytes that the program and its solution will take, roughly."""
        form = tree.sequences
        coefficients = len(form.leaf_payoff) // 2 + 2 * form.num_sequences + form.num_decisions
        return 8 * tree.num_entries + 8 + BYTES_PER_COEFFICIENT * coefficients

    @property
    def table_bytes(self) -> int:
        """Bytes of the strategy; the program itself is gone when it is solved."""
        return self.probabilities.nbytes + self._clock.nbytes

    @property
    def finished(self) -> bool:
        """Whether the game is solved."""
        return self.iterations > 0

    def details(self) -> dict[str, Any]:
        """The value as a fraction, if requested."""
        return {} if self.exact_value is None else {"exact_value": str(self.exact_value)}

    def step(self, iterations: int = 1) -> None:
        """Solve the game, unless it is solved; nothing changes if the time runs out."""
        if iterations < 1 or self.finished:
            return
        seconds = None if self.deadline is None else self.deadline - time.perf_counter()
        solution = solve_zero_sum(self.tree, self.config.method, self.config.crossover, self.config.exact, seconds)
        if solution is not None:
            self.probabilities[:] = behavioural_strategy(self.tree, solution.plan)
            self.exact_value = solution.exact_value
            self._clock[0] = 1

    def strategy(self) -> Float64:
        """The equilibrium; the uniform profile as long as there is none."""
        return self.probabilities.copy()

    def tables(self) -> dict[str, NDArray[Any]]:
        """The strategy, and whether it is the solution."""
        return {"probabilities": self.probabilities, "clock": self._clock}

    def limits(self) -> dict[str, tuple[int, int]]:
        """As ``Solver.limits``."""
        return {"clock": (0, 1)}

    def state(self) -> dict[str, Any]:
        """The value as a fraction."""
        return self.details()

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over the value as a fraction."""
        self.exact_value = Fraction(state["exact_value"]) if "exact_value" in state else None
