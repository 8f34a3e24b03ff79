"""BASE: a mixed-integer program whose probabilities get digits one by one (Čermák 2018, section 4.4.1).

All probabilities start without decimals.  The program gives an upper bound; the strategy from its plan (section 4.3.5)
a lower one.  The product with the largest weighted error gets another digit.

The thesis weights errors by "the expected utility"; here it is the range of utilities below the sequence.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterplay.lp.highs import solve_integer
from counterplay.solvers.maxmin.branching import BoundedSearch
from counterplay.solvers.maxmin.maxmin_problem import MaxminProblem
from counterplay.solvers.maxmin.maxmin_programs import digit_program
from counterplay.solvers.maxmin.reconstruct import reconstruct

Float64 = NDArray[np.float64]

ERROR = 1e-9
"""Tolerance of products, relative to the range of utilities."""


class RefiningProgram(BoundedSearch):
    """BASE: the state of a run, advanced program by program.

    * ``digits`` (places,) int64: number of decimals of each probability so far
    """

    def __init__(self, problem: MaxminProblem, epsilon: float, fallback: Float64) -> None:
        super().__init__(problem, epsilon, fallback)
        self.digits = np.zeros(problem.places, np.int64)

    def advance(self, deadline: float | None = None) -> bool:
        """Solve the next program; False if the time ran out, with the bound reached so far."""
        if self.finished:
            return True
        seconds = None if deadline is None else deadline - time.perf_counter()
        if seconds is not None and seconds <= 0.0:
            return False
        problem, unit = self.problem, self.problem.unit
        program = digit_program(problem, self.digits)
        found = solve_integer(program.model, program.integer, seconds, gap=self.epsilon / 10 / unit)
        self.upper = min(self.upper, found.bound * unit)
        if found.primal is not None:
            self._play(found.primal[: program.width])
        self.upper = max(self.upper, self.lower)
        self.finished = self.upper - self.lower <= self.epsilon
        if not found.optimal or found.primal is None:
            return False
        self.expanded += 1
        if not self.finished:
            self.finished = not self._refine(found.primal, program.rest_column, program.term_rest_column)
        return True

    def _play(self, weights: Float64) -> None:
        first = int(self.problem.form.sequence_start[self.problem.player])
        plan = np.zeros(self.problem.form.num_sequences)
        plan[first : first + len(weights)] = np.clip(weights, 0.0, 1.0)
        self.keep_better(reconstruct(self.problem, plan, self.fallback).strategy)

    def _refine(self, point: Float64, rest: int, term_rest: int) -> bool:
        """Give the probability with the worst product another digit; False if none can have one.

        If all products hold and yet the strategy is worth less than the bound, the least refined gets it.
        """
        problem = self.problem
        if not problem.places:
            return False
        before = point[problem.term_before - int(problem.form.sequence_start[problem.player])]
        product = before * point[rest + problem.term_place]
        stake = problem.high[problem.term_after] - problem.low[problem.term_after]
        error = np.abs(point[term_rest : term_rest + len(product)] - product) * stake
        digits = self.digits[problem.term_place]
        able = np.flatnonzero(digits < self.most[problem.term_place])
        if not len(able):
            return False
        worst = int(able[np.argmax(error[able])])
        if error[worst] <= ERROR * problem.scale:
            worst = int(able[np.argmin(digits[able])])
        self.digits[problem.term_place[worst]] += 1
        return True

    def tables(self) -> dict[str, NDArray[Any]]:
        """The live arrays that a checkpoint holds."""
        return {**super().tables(), "digits": self.digits}

    def limits(self) -> dict[str, tuple[int, int]]:
        """As ``Solver.limits``."""
        return {"digits": (0, int(self.most.max(initial=0)))}
