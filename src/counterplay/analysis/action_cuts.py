"""Dominated actions where the others have too many pure strategies to list: constraint generation.

The plans that start with the action are listed, and the pure strategies of all other players except one, who must have
perfect recall; against each of these the worst strategy of that player is found by a backward pass over the player's
decision points.  A linear program over plans and the constraints found so far proposes a dominating plan, and the pass
finds the constraints that it violates, until there are none.  Strict domination is always decided.  Weak domination is
certified, or refuted when every plan loses somewhere; otherwise it stays open.

If there are too many plans as well, only those are used that are best against some random strategies of the others:
enough to refute domination, never to prove it.
"""

from __future__ import annotations

import dataclasses
from itertools import product

import numpy as np
from numpy.typing import NDArray

from counterplay.analysis.action_problem import ActionProblem
from counterplay.analysis.domination import SLACK, TOLERANCE, Kind, largest_margin
from counterplay.lp.highs import maximise

Float64 = NDArray[np.float64]

MAX_CELLS = 8_000_000
CHUNK = 4096
MAX_ROUNDS = 200
SAMPLES = 500
"""Pure strategies of the others that are tried to see whether weak domination ever pays."""


@dataclasses.dataclass(frozen=True, eq=False)
class CutAnswer:
    """Whether the question was decided, and the dominating plan with its least and its largest known gain."""

    settled: bool
    plan: Float64 | None = None
    margin: float = 0.0
    gain: float = 0.0


class _Opponent:
    """The one other player whose worst strategy is found by a backward pass."""

    def __init__(self, problem: ActionProblem, place: int) -> None:
        index, form = problem.index, problem.index.tree.sequences
        relevant = problem.relevant(place)
        empty = int(form.sequence_start[problem.others[place]])
        self.sequences = [empty, *sorted(relevant)]
        self.position = {sequence: number for number, sequence in enumerate(self.sequences)}
        self.points: list[tuple[int, list[int], bool]] = []  # parent, children, whether other actions are possible
        for decision in sorted({int(index.decision_of[sequence]) for sequence in relevant}):
            allowed = problem.allowed(decision)
            children = [self.position[sequence] for sequence in allowed if sequence in self.position]
            parent = self.position[int(form.decision_parent[decision])]
            self.points.append((parent, children, len(children) < len(allowed)))
        self.forced = {
            way[place]: {self.position[sequence] for sequence in index.past(way[place])} for way in problem.ways
        }

    def worst(self, values: Float64, end: int) -> Float64:
        """The most, for each row of values, that strategies which play the sequence ``end`` can make of it."""
        total = values.copy()
        forced = self.forced[end]
        for parent, children, free in reversed(self.points):
            must = [child for child in children if child in forced]
            if must:
                total[:, parent] += total[:, must[0]]
            elif children:
                best = total[:, children].max(axis=1)
                total[:, parent] += np.maximum(best, 0.0) if free else best
        return np.asarray(total[:, 0], dtype=np.float64)

    def worst_plan(self, values: Float64, end: int) -> Float64:
        """The strategy that does it for one row: which of the sequences it plays."""
        total = values.copy()
        choice: list[int | None] = []
        forced = self.forced[end]
        for parent, children, free in reversed(self.points):
            must = [child for child in children if child in forced]
            best = must[0] if must else max(children, key=lambda child: total[child], default=None)
            if best is None or (not must and free and total[best] <= 0.0):
                choice.append(None)
                continue
            total[parent] += total[best]
            choice.append(best)
        played = np.zeros(len(self.sequences))
        played[0] = 1.0
        for (parent, _, _), best in zip(self.points, reversed(choice), strict=True):
            if best is not None and played[parent]:
                played[best] = 1.0
        return played


class _Cuts:
    """The listed plans and strategies of one question, and the search for violated constraints."""

    def __init__(self, problem: ActionProblem, position: int, plans: NDArray[np.bool_], last: int) -> None:
        self.problem, self.last = problem, last
        self.opponent = _Opponent(problem, last)
        self.plans = plans.astype(np.float64)
        self.columns = problem.other_columns(position)
        self.matrix, self.right = problem.plan_rows(position, self.columns)

    def prepare(self, listed: list[list[frozenset[int]]]) -> bool:
        """Values by (strategies of the listed others, own sequence, sequence of the last one); False if too large."""
        problem, last = self.problem, self.last
        joint = list(product(*listed))
        size = len(joint) * len(self.opponent.sequences)
        if size * len(problem.sequences) > MAX_CELLS or size * len(self.plans) > 4 * MAX_CELLS:
            return False
        rest = [place for place in range(len(problem.others)) if place != last]
        column = np.array([self.opponent.position[int(s)] for s in problem.leaf_others[:, last]], np.int64)
        self.values = np.zeros((len(joint), len(problem.sequences), len(self.opponent.sequences)))
        self.ends: dict[int, list[int]] = {}
        for number, strategies in enumerate(joint):
            plays = np.ones(len(column), bool)
            for place, strategy in zip(rest, strategies, strict=True):
                plays &= np.array([int(s) in strategy for s in problem.leaf_others[:, place]], bool)
            np.add.at(self.values[number], (problem.leaf_own[plays], column[plays]), problem.leaf_payoff[plays])
            ends = {
                way[last]
                for way in problem.ways
                if all(way[place] in strategy for place, strategy in zip(rest, strategies, strict=True))
            }
            for end in ends:
                self.ends.setdefault(end, []).append(number)
        return bool(self.ends)

    def violated(self, plan: Float64) -> tuple[float, list[tuple[Float64, float]]]:
        """The least gain of a plan, and constraints (values of own sequences, what they must reach) that say so."""
        found: list[tuple[float, int, int, int]] = []
        for end, numbers in self.ends.items():
            for number in numbers:
                base = self.values[number]
                for start in range(0, len(self.plans), CHUNK):
                    losses = self.opponent.worst(self.plans[start : start + CHUNK] @ base - plan @ base, end)
                    row = int(np.argmax(losses))
                    found.append((float(losses[row]), end, number, start + row))
        found.sort(reverse=True)
        cuts = []
        for _, end, number, row in found[:10]:
            base = self.values[number]
            played = self.opponent.worst_plan((self.plans[row] - plan) @ base, end)
            own = base @ played
            cuts.append((own, float(self.plans[row] @ own)))
        return -found[0][0], cuts

    def propose(self, rows: list[tuple[Float64, float]], goal: Float64 | None) -> tuple[float, Float64]:
        """The plan with the largest least gain by the constraints so far; or the best by ``goal`` without a loss."""
        gains = np.array([own[self.columns] for own, _ in rows]).reshape(len(rows), len(self.columns))
        reach = np.array([least for _, least in rows])
        plans = self.matrix, self.right
        if goal is None:
            bound = 2.0 * float(np.abs(self.problem.leaf_payoff).sum()) + 1.0  # nothing gains more
            value, solution = largest_margin(gains, reach, plans, "a dominated action", bound)
        else:
            value, solution = maximise(goal[self.columns], "a dominated action", (-gains, -reach + SLACK), plans)
        plan = np.zeros(len(self.problem.sequences))
        plan[self.columns] = np.maximum(solution, 0.0)
        return value, plan


def decide_by_cuts(problem: ActionProblem, position: int, kind: Kind, limit: int) -> CutAnswer:
    """Whether the action at ``position`` is dominated."""
    sizes = [problem.other_plans(place, limit) for place in range(len(problem.others))]
    unlisted = [place for place, plans in enumerate(sizes) if plans is None]
    if len(unlisted) > 1:
        return CutAnswer(False)
    last = unlisted[0] if unlisted else int(np.argmax([len(plans or ()) for plans in sizes]))
    if not problem.index.tree.sequences.has_perfect_recall(problem.others[last]):
        return CutAnswer(False)
    complete = problem.count_plans(position) <= limit
    plans = problem.list_plans(position) if complete else problem.plans_against(position, _samples(problem))
    cuts = _Cuts(problem, position, plans, last)
    if not cuts.prepare([plans for place, plans in enumerate(sizes) if place != last and plans is not None]):
        return CutAnswer(False)
    rows: list[tuple[Float64, float]] = []
    for _ in range(MAX_ROUNDS):
        bound, plan = cuts.propose(rows, None)
        if bound < (TOLERANCE if kind == "strict" else -SLACK):
            return CutAnswer(True)
        plan = problem.snapped(position, plan)
        margin, fresh = cuts.violated(plan)
        if margin > TOLERANCE:
            return CutAnswer(True, plan, margin, margin) if complete else CutAnswer(False)
        if kind == "weak" and bound - margin <= TOLERANCE:
            if not complete:
                return CutAnswer(False)
            return _decide_weak(problem, position, cuts, rows)
        rows += fresh
    return CutAnswer(False)


def _decide_weak(problem: ActionProblem, position: int, cuts: _Cuts, rows: list[tuple[Float64, float]]) -> CutAnswer:
    """Among plans that never lose, the best against random strategies; then search for a strategy where it gains."""
    samples = _samples(problem)
    if not len(samples):
        return CutAnswer(False)
    for _ in range(MAX_ROUNDS):
        _, plan = cuts.propose(rows, samples.mean(axis=0))
        plan = problem.snapped(position, plan)
        margin, fresh = cuts.violated(plan)
        if margin >= -SLACK:
            gain = float((samples @ plan - problem.best_plans(position, samples)).max())
            return CutAnswer(True, plan, margin, gain) if gain > TOLERANCE else CutAnswer(False)
        rows += fresh
    return CutAnswer(False)


def _samples(problem: ActionProblem) -> Float64:
    """What own sequences get against random pure strategies of the others."""
    tree, form = problem.index.tree, problem.index.tree.sequences
    generator = np.random.default_rng(0)
    weights = np.tile(problem.leaf_payoff, (SAMPLES, 1))
    for place, other in enumerate(problem.others):
        low = int(form.sequence_start[other])
        played = np.zeros((SAMPLES, form.sequences_of(other)), bool)
        played[:, 0] = True
        chosen: dict[int, NDArray[np.int64]] = {}
        for decision in range(int(form.decision_start[other]), int(form.decision_start[other + 1])):
            infoset, entry = int(form.decision_infoset[decision]), int(form.decision_entry[decision])
            allowed = np.flatnonzero(~problem.removed[entry : entry + len(tree.actions_of(infoset))])
            choice = chosen.setdefault(infoset, generator.choice(allowed, SAMPLES))
            before = played[:, int(form.decision_parent[decision]) - low]
            for action in allowed.tolist():
                played[:, int(form.decision_first[decision]) - low + action] = before & (choice == action)
        weights *= played[:, problem.leaf_others[:, place] - low]
    values = np.zeros((SAMPLES, len(problem.sequences)))
    for sequence in range(len(problem.sequences)):
        values[:, sequence] = weights[:, problem.leaf_own == sequence].sum(axis=1)
    return values[np.any(values != 0.0, axis=1)]
