"""Branch and bound on a restricted game that grows: DOIRABnB (Čermák 2018, section 4.4.3, algorithm 2).

The relaxation of a node is not solved on the whole game but on the part spanned by the allowed sequences of both
players (``Relaxation.allow``).  Where that part stops and the game does not is a temporary leaf; it pays what the
maximiser, seeing everything, gets against the minimiser's default strategy, the first action everywhere.  Two oracles
extend the part until the node's relaxation is solved as on the whole game:

* the minimiser responds to the plan that was found, in the whole game;
* the maximiser responds to the minimiser's mixture y, which is extended by the default strategy.

A plain best response of the maximiser is not enough (thesis, figure 4.4), since it ignores that products must hold.
The thesis keeps a set of the minimiser's responses and adds every sequence that could gain against one of them, as we
do with ``pending`` (``pending_states``).  By default the multipliers μ of the envelopes (``Relaxation``) select, as in
column generation: for any y and μ >= 0,

    max over plans r of the refinement and probabilities x in their intervals of  r' A y + Σ μ (envelopes' slack)

is an upper bound of the node in the whole game, whatever the restricted game looks like; it takes one pass over the
sequences, and its maximiser is the response whose sequences are added.  When they are all allowed the bound is the
value of the relaxation.  So upper bounds hold at any time, temporary utilities need no set of responses, and nodes
that were evaluated in a smaller game need not be evaluated again.
"""

from __future__ import annotations

import math
import time

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError
from counterplay.kernels.history.passes import backward_best, leaf_values
from counterplay.kernels.history.pruned_response import mark_wide_response
from counterplay.lp.highs import InfeasibleError
from counterplay.solvers.maxmin.branching import ROUNDING, BranchAndBound, Digits, Node, intervals
from counterplay.solvers.maxmin.maxmin_problem import MaxminProblem
from counterplay.solvers.maxmin.pending_states import PendingStates
from counterplay.solvers.maxmin.reconstruct import PLAYED, reconstruct
from counterplay.solvers.maxmin.relaxation import Relaxation, RelaxedSolution
from counterplay.tree.sequence.decision_points import build_decision_pairs, optimistic_values
from counterplay.tree.sequence.sequence_form import spans

Float64 = NDArray[np.float64]
Bool = NDArray[np.bool_]


class OracleBranchAndBound(BranchAndBound):
    """DOIRABnB: the state of a search; parameters and attributes as for ``BranchAndBound``.

    Raises
    ------
    GameError
        If the minimiser has no A-loss recall.
    """

    def __init__(
        self, problem: MaxminProblem, epsilon: float, fallback: Float64, third_child: bool = False,
        pending: bool = False,
    ) -> None:  # fmt: skip
        if not problem.a_loss:
            raise GameError(
                f"doirabnb needs an opponent with A-loss recall, which player {problem.other + 1} of "
                f"{problem.tree.name} has not; use irabnb"
            )
        self.pairs = build_decision_pairs(problem.tree)
        super().__init__(problem, epsilon, fallback, third_child)
        self._pending = PendingStates(problem) if pending else None
        self._levels = problem.levels_of(problem.other)

    def make_relaxation(self) -> Relaxation:
        """The relaxation of a restricted game without any moves yet."""
        return Relaxation(self.problem, self.pairs, optimistic_values(self.problem.tree, self.problem.player))

    def evaluate(self, digits: dict[int, Digits], upper: float, deadline: float | None) -> Node | None:
        """Solve a node, the restricted game growing; None if nothing is in it or the time was up."""
        limits = intervals(self.problem, digits)
        if limits is None:
            return None
        self.relaxation.set_intervals(*limits)
        lower = -math.inf
        if self._pending is not None:
            self._pending.start()
        while True:
            try:
                solution = self.relaxation.solve(deadline)
            except InfeasibleError:
                return None
            if solution is None or (deadline is not None and time.perf_counter() >= deadline):
                return None
            bound, wanted = self._maximise(solution)
            upper = min(upper, bound)
            played = self.play(solution)
            lower = max(lower, played.value)
            settled = upper <= self.lower + ROUNDING * self.problem.scale or upper - lower <= self.epsilon
            if settled or not self._grow(solution, wanted):
                return self.node(digits, upper, played._replace(value=lower), int(self.relaxation.allowed.sum()))

    def _grow(self, solution: RelaxedSolution, wanted: Bool) -> bool:
        """Let the oracles extend the restricted game; whether it has grown.

        With pending states they come first, as in the thesis, then the minimiser's response, and what the multipliers
        select only when nothing else is left, so that the bound becomes that of the whole game.
        """
        relaxation = self.relaxation
        if self._pending is None:
            return relaxation.allow(wanted | self._minimise(solution)) > 0
        made = reconstruct(self.problem, solution.plan, self.fallback)
        gaining = self._pending.gaining(solution.tight, relaxation.allowed, made.strategy)
        return any(relaxation.allow(more) for more in (gaining, self._minimise(solution), wanted))

    def _minimise(self, solution: RelaxedSolution) -> Bool:
        """The sequences of the minimiser's response to a plan, where the plan reaches.

        Where the restricted game stops, the maximiser continues with the fallback strategy.
        """
        problem, form = self.problem, self.problem.form
        plan = solution.plan.copy()
        for points in problem.levels:
            stops = points[~self.relaxation.active[points] & (plan[form.decision_parent[points]] > PLAYED)]
            counts = form.decision_actions[stops]
            played = self.fallback[spans(form.decision_entry[stops], counts)]
            plan[spans(form.decision_first[stops], counts)] = (
                np.repeat(plan[form.decision_parent[stops]], counts) * played
            )
        _, value, choice = problem.response(plan)
        self._prefer_allowed(problem.other, value, choice)
        used = np.zeros(form.num_sequences, bool)
        used[form.sequence_start[problem.other]] = True
        reach = np.where(plan > PLAYED, plan, 0.0)
        pairs = self.pairs
        mark_wide_response(problem.arrays, problem.other, reach, pairs.start, pairs.other, choice, used)
        return used | self._answer(solution, choice)

    def _answer(self, solution: RelaxedSolution, response: NDArray[np.int32]) -> Bool:
        """How the maximiser continues against a response where the restricted game stops."""
        problem, form = self.problem, self.problem.form
        reach = np.zeros(form.num_sequences)
        reach[form.sequence_start[problem.other]] = 1.0
        for points in self._levels:
            reach[form.decision_first[points] + response[points]] = reach[form.decision_parent[points]]
        value = np.zeros(form.num_sequences)
        choice = np.zeros(form.num_decisions, np.int32)
        leaf_values(problem.arrays, problem.player, reach, value)
        backward_best(problem.arrays, problem.player, value, choice)
        self._prefer_allowed(problem.player, value, choice, math.inf)
        return self._follow(solution.plan, reach, choice)

    def _follow(self, plan: Float64, reach: Float64, choice: NDArray[np.int32]) -> Bool:
        """The maximiser's sequences that a plan plays, and what its choices add to them where they are reached."""
        form, player, pairs = self.problem.form, self.problem.player, self.pairs
        low, high = form.sequence_start[player], form.sequence_start[player + 1]
        used = np.zeros(form.num_sequences, bool)
        used[low:high] = plan[low:high] > PLAYED
        used[low] = True
        mark_wide_response(self.problem.arrays, player, reach, pairs.start, pairs.other, choice, used)
        return used

    def _maximise(self, solution: RelaxedSolution) -> tuple[float, Bool]:
        """The bound by the multipliers of a solution, and the sequences that reach it, also after those played."""
        problem, form = self.problem, self.problem.form
        reach = self._extend(solution.plan)
        value = np.zeros(form.num_sequences)
        choice = np.zeros(form.num_decisions, np.int32)
        leaf_values(problem.arrays, problem.player, reach, value)
        rest = self._add_envelopes(solution.envelope, value)
        backward_best(problem.arrays, problem.player, value, choice)
        bound = (float(value[form.sequence_start[problem.player]]) + rest) * form.unit
        self._prefer_allowed(problem.player, value, choice)
        return bound, self._follow(solution.plan, reach, choice)

    def _extend(self, plan: Float64) -> Float64:
        """The minimiser's mixture on all its sequences: first actions where it says nothing."""
        form = self.problem.form
        reach = np.ones(form.num_sequences)
        for points in self._levels:
            counts = form.decision_actions[points]
            after = spans(form.decision_first[points], counts)
            starts = np.cumsum(counts) - counts
            if not len(points):
                continue
            weights = plan[after]
            totals = np.add.reduceat(weights, starts)
            idle = totals <= 1e-12
            weights[np.repeat(idle, counts)] = 0.0
            weights[starts[idle]] = 1.0
            totals[idle] = 1.0
            reach[after] = np.repeat(reach[form.decision_parent[points]] / totals, counts) * weights
        return reach

    def _add_envelopes(self, envelope: Float64, value: Float64) -> float:
        """Add what the envelopes' multipliers charge to the values of sequences; returns what x and constants bring."""
        problem = self.problem
        terms = np.flatnonzero(envelope.any(axis=1))
        if not len(terms):
            return 0.0
        place = problem.term_place[terms]
        lower, upper = self.relaxation.lower, self.relaxation.upper
        low, high = lower[place], upper[place]
        above, below, over, under = envelope[terms].T
        np.add.at(value, problem.term_after[terms], above - below - over + under)
        np.add.at(value, problem.term_before[terms], -above * low + below * high + over * low - under * high)
        worth = np.zeros(problem.places)
        caps = self.relaxation.caps[problem.term_before[terms]]
        np.add.at(worth, place, caps * (over - under))
        total = float((caps * under) @ high - (caps * over) @ low)
        for number in np.unique(problem.place_set[place]).tolist():
            part = slice(int(problem.place_start[number]), int(problem.place_start[number + 1]))
            total += _best_mix(worth[part], lower[part], upper[part])
        return total

    def _prefer_allowed(
        self, player: int, value: Float64, choice: NDArray[np.int32], tolerance: float = ROUNDING
    ) -> None:
        """Prefer an action that is already allowed unless another one is better by a tolerance."""
        form, allowed = self.problem.form, self.relaxation.allowed
        points = int(form.decision_start[player]) + np.flatnonzero(
            self.relaxation.active[form.decision_start[player] : form.decision_start[player + 1]]
        )
        if not len(points):
            return
        counts = form.decision_actions[points]
        after = spans(form.decision_first[points], counts)
        starts = np.cumsum(counts) - counts
        inside = np.where(allowed[after], value[after], -np.inf)
        best, best_inside = np.maximum.reduceat(value[after], starts), np.maximum.reduceat(inside, starts)
        near = best_inside >= best - tolerance * self.problem.scale / form.unit
        hits = np.flatnonzero(inside >= np.repeat(best_inside, counts))
        owner = np.repeat(np.arange(len(points)), counts)[hits]
        first = np.full(len(points), len(after), np.int64)
        np.minimum.at(first, owner, hits)
        choice[points[near]] = (first - starts)[near]


def _best_mix(worth: Float64, lower: Float64, upper: Float64) -> float:
    """The largest objective of probabilities in intervals that sum to 1."""
    left = 1.0 - float(lower.sum())
    total = float(worth @ lower)
    for action in np.argsort(-worth, kind="stable").tolist():
        share = min(left, float(upper[action] - lower[action]))
        total += share * float(worth[action])
        left -= share
    return total
