"""``MaxminSolver``: the strategy with the best guaranteed value of a player who forgets, between two bounds.

An iteration is a node of branch and bound, or a program of BASE.  The lower bound is the value of the returned strategy
against a best response, so it can be checked with that strategy alone; the upper bound comes from relaxations.  In a
game that abstracts only the maximiser, the lower bound also holds in the original game (Čermák 2018, corollary 4.4.1),
since the opponent is the same.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import SolverError
from counterplay.kernels.history.passes import forward_reach
from counterplay.solvers.linear_program import LinearProgram
from counterplay.solvers.maxmin.branching import BranchAndBound
from counterplay.solvers.maxmin.digit_refinement import RefiningProgram
from counterplay.solvers.maxmin.maxmin_problem import MaxminProblem, check_maxmin
from counterplay.solvers.maxmin.oracles import OracleBranchAndBound
from counterplay.solvers.settings import Bounds, Settings
from counterplay.solvers.solver import Solver
from counterplay.tree.history.game_tree import GameTree

Float64 = NDArray[np.float64]


@dataclasses.dataclass(frozen=True)
class MaxminConfig(Settings):
    """Settings of the maxmin algorithms.

    * ``player``: who maximises
    * ``method``: the refined mixed-integer program, branch and bound, or branch and bound on a growing restricted game;
      auto is the last one, or irabnb against an opponent without A-loss recall, which only base and irabnb support
    * ``epsilon``: the gap between the bounds at which the problem counts as solved, relative to the largest utility
    * ``third_child``: irabnb and doirabnb make the third child of a node too, as in the thesis
    * ``oracle``: which sequences of the maximiser doirabnb adds: those that multipliers select, or, as in the thesis,
      all pending ones that might gain against some response of the minimiser
    """

    player: Literal[1, 2] = 1
    method: Literal["auto", "base", "irabnb", "doirabnb"] = "auto"
    epsilon: Annotated[float, Bounds(at_least=1e-8, below=1)] = 1e-4
    third_child: bool = False
    oracle: Literal["multipliers", "pending"] = "multipliers"


class MaxminSolver(Solver):
    """Maxmin strategies of two-player zero-sum games without absent-mindedness.

    * ``problem``: who maximises what
    * ``search``: the state of the algorithm, with the bounds
    """

    kind = "maxmin"
    config_class = MaxminConfig
    visits_histories = False
    presets: ClassVar = {"maxmin": MaxminConfig()}
    default_iterations = 10**9  # it stops by itself

    def _check_game(self) -> None:
        check_maxmin(self.tree, self.config.player - 1)

    def _allocate(self) -> None:
        self.problem = MaxminProblem(self.tree, self.config.player - 1)
        self.fallback = np.zeros(self.tree.num_entries)
        self.fallback[self.tree.infoset_offset[:-1]] = 1.0
        self.search = self._make_search()

    def _make_search(self) -> BranchAndBound | RefiningProgram:
        method = self.config.method
        if method == "auto":
            method = "doirabnb" if self.problem.a_loss else "irabnb"
        gap = self.config.epsilon * self.problem.scale
        third, pending = self.config.third_child, self.config.oracle == "pending"
        if method == "base" and third:
            raise SolverError("third_child is for irabnb and doirabnb; base has no nodes with children")
        if method != "doirabnb" and pending:
            raise SolverError(f"oracle is for doirabnb; {method} has the whole game from the start")
        if method == "base":
            return RefiningProgram(self.problem, gap, self.fallback)
        if method == "irabnb":
            return BranchAndBound(self.problem, gap, self.fallback, third)
        return OracleBranchAndBound(self.problem, gap, self.fallback, third, pending)

    @classmethod
    def memory_bytes(cls, tree: GameTree, config: Any = None) -> int:
        """Bytes that the programs and their solution will take, roughly: twice those of the sequence form's."""
        return 2 * LinearProgram.memory_bytes(tree)

    @property
    def table_bytes(self) -> int:
        """Bytes of the solver's arrays; programs are rebuilt when needed."""
        return self.fallback.nbytes

    @property
    def iterations(self) -> int:
        """Nodes expanded, or programs of BASE solved."""
        return self.search.expanded

    @property
    def finished(self) -> bool:
        """Whether the bounds have met."""
        return self.search.finished

    @property
    def value_bounds(self) -> tuple[float, float] | None:
        """What the maximiser's strategy guarantees, and an upper bound for all strategies."""
        low, high = self.search.lower, self.search.upper
        return (low + 0.0, high + 0.0) if math.isfinite(low) and math.isfinite(high) else None  # no minus zero

    def details(self) -> dict[str, Any]:
        """The player, the bounds, and the size of the restricted game, if there is one."""
        bounds = self.value_bounds
        found: dict[str, Any] = {
            "player": self.config.player,
            "lower_bound": None if bounds is None else bounds[0],
            "upper_bound": None if bounds is None else bounds[1],
            "forgetful_sets": len(self.problem.sets),
        }
        if isinstance(self.search, OracleBranchAndBound):
            start, allowed = self.tree.sequences.sequence_start, self.search.relaxation.allowed
            found["restricted_sequences"] = [int(allowed[start[p] : start[p + 1]].sum()) for p in range(2)]
        return found

    def step(self, iterations: int = 1) -> None:
        """Advance by some nodes, or until the problem is solved; a node that runs out of time is dropped."""
        for _ in range(iterations):
            if self.finished or not self.search.advance(self.deadline):
                return

    def strategy(self) -> Float64:
        """The best strategy of the maximiser so far, and a best response of the opponent to it."""
        tree, form, problem = self.tree, self.tree.sequences, self.problem
        probabilities = self.fallback.copy()
        own = slice(
            *(int(tree.infoset_offset[tree.player_infosets[one]]) for one in (problem.player, problem.player + 1))
        )
        probabilities[own] = self.search.strategy[own]
        reach = np.ones(form.num_sequences)
        forward_reach(self.form, problem.player, probabilities, reach)
        choice = problem.response(reach)[2]
        played = np.zeros(form.num_sequences, bool)
        played[problem.pure_plan(choice)] = True
        for point in range(int(form.decision_start[problem.other]), int(form.decision_start[problem.other + 1])):
            if played[form.decision_parent[point]] and choice[point]:
                entry = int(form.decision_entry[point])
                probabilities[entry : entry + int(form.decision_actions[point])] = 0.0
                probabilities[entry + choice[point]] = 1.0
        return probabilities

    def tables(self) -> dict[str, NDArray[Any]]:
        """What the search keeps in arrays."""
        return self.search.tables()

    def state(self) -> dict[str, Any]:
        """What else it keeps."""
        return self.search.state()

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over a checkpoint."""
        self.search.restore(state)

    def limits(self) -> dict[str, tuple[int, int]]:
        """As ``Solver.limits``."""
        return self.search.limits()

    def check_tables(self) -> None:
        """As ``Solver.check_tables``."""
        self.search.check_tables()
