"""Regret diagnostics of a CFR run, iteration by iteration (Gibson 2014, sections 4.3 and 4.4.3).

The theorems about domination require that information sets without positive regret become rare, and that information
sets are reached often enough; these counters measure both.  They observe every iteration, so they are for small games.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from counterplay.evaluation.history_values import history_values, infoset_members, others_reach
from counterplay.lp.treeplex import plan_of
from counterplay.solvers.cfr import CfrSolver


class RegretDiagnostics:
    """Steps a solver and counts.

    Attributes
    ----------
    steps : int
        Iterations counted, T.
    without_positive : int
        x^T: iterations after which some information set has no positive regret.
    played : (E,) int64
        y^T(I,a): iterations whose profile played the entry with positive probability.
    """

    def __init__(self, solver: CfrSolver) -> None:
        self.solver = solver
        self.steps = 0
        self.without_positive = 0
        self.played = np.zeros(solver.tree.num_entries, np.int64)
        self._supports: list[NDArray[np.bool_]] = []
        self._reaches: list[NDArray[np.float64]] = []

    def step(self, iterations: int = 1) -> None:
        """Advance the solver and count each iteration."""
        offset = self.solver.tree.infoset_offset[:-1]
        for _ in range(iterations):
            strategy = self.solver.strategy("last")
            self.played += strategy > 0
            self._supports.append(strategy > 0)
            self._reaches.append(_counterfactual_reach(self.solver, strategy))
            self.solver.step()
            largest = np.maximum.reduceat(self.solver.regret, offset)
            self.without_positive += bool((largest <= 0).any())
            self.steps += 1

    def supports(self, strategy: NDArray[np.float64], player: int) -> int:
        """y^T(σ_i): iterations whose profile played everything that ``strategy`` plays for the player."""
        tree = self.solver.tree
        low, high = tree.infoset_offset[tree.player_infosets[[player, player + 1]]]
        wanted = strategy[low:high] > 0
        return sum(bool(support[low:high][wanted].all()) for support in self._supports)

    def reached(self, infoset: int, delta: float) -> int:
        """Iterations at which the others and chance reached an information set with probability ``delta`` or more."""
        return sum(bool(reach[infoset] >= delta) for reach in self._reaches)

    def reached_often(self, infoset: int, delta: float, share: float) -> bool:
        """Whether an information set was reached with ``delta`` in at least this fraction of the iterations."""
        return self.reached(infoset, delta) >= share * self.steps


def _counterfactual_reach(solver: CfrSolver, strategy: NDArray[np.float64]) -> NDArray[np.float64]:
    """Σ over the histories of each information set of the reach of all but its player."""
    tree = solver.tree
    reach = history_values(tree, strategy).reach
    owners = tree.infoset_player.tolist()
    return np.array(
        [others_reach(reach[nodes], owner).sum() for nodes, owner in zip(infoset_members(tree), owners, strict=True)]
    )


@dataclasses.dataclass(frozen=True)
class ProbedAction:
    """The record of one action in a run.

    Attributes
    ----------
    entry : int
        The action.
    played : int
        y^T(I,a): iterations whose profile played it with positive probability.
    regret : float
        R^T(I,a).
    negative_since : int
        T_0: the first iteration since which the regret has stayed below 0; T + 1 if it is not below 0 now.
    current : float
        The probability of the action in the current profile.
    average : float
        π_i(I) σ(I,a) of the average profile: own reach times probability.
    """

    entry: int
    played: int
    regret: float
    negative_since: int
    current: float
    average: float


class DominationProbe:
    """Steps a CFR solver and tracks some actions, usually dominated ones.

    Theorem 4.2 (Gibson 2014) says that the regret of an iteratively strictly dominated action stays below 0 from some
    iteration on, that the fraction of iterations that play it vanishes, and so does its weight in the average.  It is
    about regrets that may become negative, so about ``cfr`` rather than ``cfr+``.
    """

    def __init__(self, solver: CfrSolver, entries: Sequence[int]) -> None:
        self.solver = solver
        self.entries = np.array(entries, np.int64)
        self.steps = 0
        self.played = np.zeros(len(self.entries), np.int64)
        self.not_negative = np.zeros(len(self.entries), np.int64)

    def step(self, iterations: int = 1) -> None:
        """Advance the solver and observe each iteration."""
        for _ in range(iterations):
            self.played += self.solver.strategy("last")[self.entries] > 0
            self.solver.step()
            self.steps += 1
            self.not_negative[self.solver.regret[self.entries] >= 0] = self.steps

    def report(self) -> list[ProbedAction]:
        """The record of each action, in the order in which they were given."""
        tree, form = self.solver.tree, self.solver.tree.sequences
        current, average = self.solver.strategy("last"), self.solver.strategy("average")
        plans = [plan_of(tree, player, average) for player in range(tree.players)]
        found = []
        for number, entry in enumerate(self.entries.tolist()):
            infoset = int(np.searchsorted(tree.infoset_offset, entry, side="right")) - 1
            player = int(tree.infoset_player[infoset])
            decision = int(np.flatnonzero(form.decision_infoset == infoset)[0])
            sequence = int(form.decision_first[decision]) + entry - int(tree.infoset_offset[infoset])
            found.append(ProbedAction(
                entry, int(self.played[number]), float(self.solver.regret[entry]), int(self.not_negative[number]) + 1,
                float(current[entry]), float(plans[player][sequence - int(form.sequence_start[player])]),
            ))  # fmt: skip
        return found
