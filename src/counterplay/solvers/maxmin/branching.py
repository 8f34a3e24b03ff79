"""Branch and bound over intervals of probabilities: IRABnB (Čermák 2018, section 4.4.2, algorithm 1).

A node restricts some probabilities x(a) by their decimals: the first ones are fixed, the last one lies between two
digits, and everything beyond it is free.  The relaxation bounds the node from above, the strategy reconstructed from
its solution from below.  The node with the highest upper bound is expanded, and one of its probabilities is split.

Departures.  The thesis splits digits lb ..  ub at m = (lb + ub) // 2 into lb ..  m and m ..  ub, which overlap and need
not get smaller; here they are lb ..  m and m+1 ..  ub, which still cover the interval, since what is beyond digit m
reaches up to m + 1.  A single digit is split at its next decimal at once.  The thesis' third child, the digit of the
solution with one more decimal, lies within one of the other two and only finds lower bounds earlier; it is made with
``third_child``, unless the same node waits already.
Intervals of a set are made consistent with each other (x(a) <= 1 - Σ lo of the others), which costs nothing and
tightens the envelopes.
"""

from __future__ import annotations

import dataclasses
import heapq
import math
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from counterplay.lp.highs import InfeasibleError
from counterplay.runtime.array_checks import COUNTS, check_limits
from counterplay.solvers.maxmin.maxmin_problem import MaxminProblem
from counterplay.solvers.maxmin.reconstruct import reconstruct
from counterplay.solvers.maxmin.relaxation import Relaxation, RelaxedSolution
from counterplay.solvers.restricted_game import STATUSES

Float64 = NDArray[np.float64]
ROUNDING = 1e-9
"""Tolerance of bounds for the rounding of linear programs, relative to the largest utility."""


@dataclasses.dataclass(frozen=True)
class Digits:
    """The restriction of a probability: ``position - 1`` decimals are fixed, the next lies between two digits.

    The whole range is position 1 with the digits 0 to 9.
    """

    position: int = 1
    prefix: int = 0
    low: int = 0
    high: int = 9

    @property
    def interval(self) -> tuple[float, float]:
        """The remaining interval of probabilities."""
        unit = 10**self.position
        return (10 * self.prefix + self.low) / unit, (10 * self.prefix + self.high + 1) / unit

    def open(self, most: int) -> Digits | None:
        """The same with at least two digits to choose from; None if there are no further decimals."""
        if self.low < self.high:
            return self
        return None if self.position >= most else Digits(self.position + 1, 10 * self.prefix + self.low)

    def around(self, probability: float, most: int) -> Digits | None:
        """The digit of a probability, or the nearest one left, with another decimal; None if there is none."""
        if self.position >= most:
            return None
        digit = math.floor(probability * 10**self.position + ROUNDING) - 10 * self.prefix
        return Digits(self.position + 1, 10 * self.prefix + min(max(digit, self.low), self.high))

    def halves(self) -> tuple[Digits, Digits]:
        """The lower and the upper half."""
        middle = (self.low + self.high) // 2
        return dataclasses.replace(self, high=middle), dataclasses.replace(self, low=middle + 1)


@dataclasses.dataclass(frozen=True, eq=False)
class Node:
    """A subset of the strategies.

    * ``digits``: the restrictions of probabilities, by place
    * ``upper``, ``lower``: an upper bound on the value of its strategies, and the guarantee of the one from its
      solution; in chips
    * ``branch``: the place to split; -1 if nothing can be split
    * ``probability``: of that place in its solution
    * ``version``: the size of the restricted game in which it was evaluated
    """

    digits: dict[int, Digits]
    upper: float
    lower: float
    branch: int
    probability: float = 0.0
    version: int = 0

    def as_list(self) -> list[Any]:
        """The node for a checkpoint."""
        known = [[place, *dataclasses.astuple(digits)] for place, digits in self.digits.items()]
        return [self.upper, self.lower, self.branch, self.probability, self.version, known]

    @classmethod
    def from_list(cls, values: list[Any]) -> Node:
        """The node of a checkpoint."""
        upper, lower, branch, probability, version, known = values
        return cls({place: Digits(*rest) for place, *rest in known}, upper, lower, branch, probability, version)


class Played(NamedTuple):
    """The guarantee of the strategies from a solution, the blame of each place for the gap, its probability."""

    value: float
    blame: Float64
    probability: Float64


def intervals(problem: MaxminProblem, digits: dict[int, Digits]) -> tuple[Float64, Float64] | None:
    """The intervals of all probabilities, made consistent within each set; None if they contradict each other."""
    lower, upper = np.zeros(problem.places), np.ones(problem.places)
    for place, known in digits.items():
        lower[place], upper[place] = known.interval
    for number in {int(problem.place_set[place]) for place in digits}:
        part = slice(int(problem.place_start[number]), int(problem.place_start[number + 1]))
        low, high = lower[part], upper[part]
        if low.sum() > 1.0 + ROUNDING or high.sum() < 1.0 - ROUNDING:
            return None
        tighter = np.maximum(low, 1.0 - (high.sum() - high)), np.minimum(high, 1.0 - (low.sum() - low))
        lower[part] = np.minimum(tighter[0], tighter[1])
        upper[part] = np.maximum(tighter[0], tighter[1])
    return np.maximum(lower, 0.0), np.minimum(upper, 1.0)


def iteration_bound(problem: MaxminProblem, epsilon: float) -> float:
    """The order of the number of iterations in theorem 4.4.2, (3^(4 log10 S + 4) / ε²)^S; may be infinite.

    S is the number of forgetful sets times their most actions, and ε is in chips; utilities are scaled to [0, 1].
    """
    if not len(problem.sets):
        return 1.0
    size = len(problem.sets) * int(np.diff(problem.place_start).max())
    spread = float(np.ptp(problem.tree.utility[:, problem.player])) or 1.0
    log = size * ((4 * math.log10(size) + 4) * math.log(3.0) - 2 * math.log(epsilon / spread))
    return math.exp(log) if log < 700 else math.inf


class BoundedSearch:
    """The state of a search for a maxmin strategy, advanced step by step.

    Parameters
    ----------
    problem : MaxminProblem
        Who maximises what.
    epsilon : float
        The gap at which the search is over, in chips.
    fallback : (E,) float64
        The strategy where a solution is undefined.

    Its attributes:

    * ``lower``, ``upper``: the bounds so far, in chips; they never get worse
    * ``strategy`` (E,) float64: the maximiser's strategy that guarantees ``lower``
    * ``expanded``: steps done so far: nodes, or programs
    * ``finished``: whether the bounds have met, or nothing is left to refine
    """

    def __init__(self, problem: MaxminProblem, epsilon: float, fallback: Float64) -> None:
        self.problem, self.epsilon, self.fallback = problem, epsilon, fallback
        self.most = problem.digits(epsilon)
        self.strategy = fallback.copy()
        self.lower, self.upper = -math.inf, math.inf
        self.expanded = 0
        self.finished = False

    def keep_better(self, strategy: Float64) -> float:
        """What a strategy guarantees, in chips; it is kept if that is the most so far."""
        value = self.problem.worst_case(strategy)
        if value > self.lower:
            self.lower, self.strategy = value, strategy
        return value

    def tables(self) -> dict[str, NDArray[Any]]:
        """The live arrays that a checkpoint holds."""
        return {"strategy": self.strategy}

    def limits(self) -> dict[str, tuple[int, int]]:
        """As ``Solver.limits``."""
        return {}

    def check_tables(self) -> None:
        """As ``Solver.check_tables``."""

    def state(self) -> dict[str, Any]:
        """The rest of a checkpoint."""
        bounds = {"lower": self.lower, "upper": self.upper}
        finite = {name: value if math.isfinite(value) else None for name, value in bounds.items()}
        return {**finite, "expanded": self.expanded, "finished": self.finished}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore a checkpoint after the tables were filled."""
        self.lower = -math.inf if state["lower"] is None else float(state["lower"])
        self.upper = math.inf if state["upper"] is None else float(state["upper"])
        self.expanded, self.finished = int(state["expanded"]), state["finished"]
        if not isinstance(self.finished, bool):
            raise ValueError(f"its value 'finished' must be true or false; it is {self.finished!r}")
        check_limits("expanded", np.array(self.expanded), *COUNTS)


class BranchAndBound(BoundedSearch):
    """IRABnB: the state of a search, advanced node by node; with the third child of the thesis or without."""

    def __init__(
        self, problem: MaxminProblem, epsilon: float, fallback: Float64, third_child: bool = False
    ) -> None:  # fmt: skip
        super().__init__(problem, epsilon, fallback)
        self.third_child = third_child
        self.relaxation = self.make_relaxation()
        self.leaf_upper = -math.inf  # of nodes that cannot be split
        self.fringe: list[tuple[float, int, Node]] = []
        self.counter = 0

    def make_relaxation(self) -> Relaxation:
        """The relaxation that nodes are solved by: that of the whole game."""
        return Relaxation(self.problem)

    def advance(self, deadline: float | None = None) -> bool:
        """Expand the next node; False, with nothing changed, if the time ran out."""
        if self.finished:
            return True
        self.relaxation.forget_program()
        before, plans = self.relaxation.snapshot(), len(self.relaxation.pure_plans)
        done = False
        try:
            done = self._take(deadline)
        finally:
            if not done:  # as if the node had not been touched, but a better strategy is kept
                self.relaxation.go_back(before)
                del self.relaxation.pure_plans[plans:]
                self.upper = max(self.upper, self.lower)
        return done

    def _take(self, deadline: float | None) -> bool:
        if not self.expanded and not self.fringe:
            root = self.evaluate({}, math.inf, deadline)
            if root is None:
                return False
            self._push(root)
        else:
            node = self.fringe[0][2]
            children = self.expand(node, deadline)
            if children is None:
                return False
            heapq.heappop(self.fringe)
            for child in children:
                self._push(child)
        self.expanded += 1
        self._close()
        return True

    def expand(self, node: Node, deadline: float | None) -> list[Node] | None:
        """The children of a node, or None if the time ran out."""
        most = int(self.most[node.branch])
        known = node.digits.get(node.branch, Digits()).open(most)
        assert known is not None
        parts = list(known.halves())
        third = known.around(node.probability, most) if self.third_child else None
        if third is not None and not self._waits(node.digits | {node.branch: third}):
            parts.append(third)
        children = []
        for part in parts:
            child = self.evaluate(node.digits | {node.branch: part}, node.upper, deadline)
            if child is None:
                if deadline is not None and time.perf_counter() >= deadline:
                    return None
                continue
            children.append(child)
        return children

    def evaluate(self, digits: dict[int, Digits], upper: float, deadline: float | None) -> Node | None:
        """Solve a node; None if it is infeasible or the time ran out."""
        limits = intervals(self.problem, digits)
        if limits is None:
            return None
        self.relaxation.set_intervals(*limits)
        try:
            solution = self.relaxation.solve(deadline)
        except InfeasibleError:
            return None
        if solution is None:
            return None
        return self.node(digits, min(upper, solution.value), self.play(solution))

    def _waits(self, digits: dict[int, Digits]) -> bool:
        """Whether a node with these restrictions is in the fringe."""
        return any(node.digits == digits for _, _, node in self.fringe)

    def node(self, digits: dict[int, Digits], upper: float, played: Played, version: int = 0) -> Node:
        """A node with its bounds, and the place that its children will differ in."""
        branch = self.select(digits, played.blame)
        probability = float(played.probability[branch]) if branch >= 0 else 0.0
        return Node(digits, max(upper, played.value), played.value, branch, probability, version)

    def play(self, solution: RelaxedSolution) -> Played:
        """Play the strategies from a solution, and keep the better one."""
        made = reconstruct(self.problem, solution.plan, self.fallback)
        candidates = [made.strategy]
        known = ~np.isnan(solution.probability)
        if known.any():  # the probabilities of the program can be played directly
            other = made.strategy.copy()
            values = np.where(known, np.clip(solution.probability, 0.0, 1.0), 0.0)
            totals = np.add.reduceat(values, self.problem.place_start[:-1])[self.problem.place_set]
            other[self.problem.place_entry[known]] = (values / np.where(known, totals, 1.0))[known]
            candidates.append(other)
        places = candidates[-1][self.problem.place_entry]
        return Played(max(map(self.keep_better, candidates)), made.blame, places)

    def select(self, digits: dict[int, Digits], blame: Float64) -> int:
        """The place to split: the one with the most blame, or else the widest; -1 if none can be split."""
        order = np.argsort(-blame, kind="stable")
        place: int
        for place in order[: int(np.count_nonzero(blame > 0.0))].tolist():
            if digits.get(place, Digits()).open(int(self.most[place])) is not None:
                return place
        widest, best = -1, 0.0
        for place in range(self.problem.places):
            known = digits.get(place, Digits())
            low, high = known.interval
            if high - low > best and known.open(int(self.most[place])) is not None:
                widest, best = place, high - low
        return widest

    def _push(self, node: Node) -> None:
        if node.upper <= self.lower + ROUNDING * self.problem.scale:
            return
        if node.branch < 0:
            self.leaf_upper = max(self.leaf_upper, node.upper)
            return
        self.counter += 1
        heapq.heappush(self.fringe, (-node.upper, self.counter, node))

    def _close(self) -> None:
        """Update the bounds, and check whether the search is over."""
        while self.fringe and -self.fringe[0][0] <= self.lower + ROUNDING * self.problem.scale:
            heapq.heappop(self.fringe)
        top = max(-self.fringe[0][0] if self.fringe else -math.inf, self.leaf_upper, self.lower)
        self.upper = max(min(self.upper, top), self.lower)
        self.finished = not self.fringe or self.upper - self.lower <= self.epsilon

    # -- checkpoints --------------------------------------------------------------------------------------------------

    def tables(self) -> dict[str, NDArray[Any]]:
        """The live arrays that a checkpoint holds."""
        relaxation = self.relaxation
        masks = {name: getattr(relaxation, name).view(np.uint8) for name in ("allowed", "active", "tight")}
        return {**super().tables(), **masks, **relaxation.statuses()}

    def limits(self) -> dict[str, tuple[int, int]]:
        """As ``Solver.limits``."""
        masks = dict.fromkeys(("allowed", "active", "tight", "started"), (0, 1))
        return masks | {name: STATUSES for name in self.relaxation.statuses() if name != "started"}

    def check_tables(self) -> None:
        """As ``Solver.check_tables``."""
        self.relaxation.check()

    def state(self) -> dict[str, Any]:
        """The rest of a checkpoint."""
        return {
            **super().state(),
            "leaf_upper": self.leaf_upper if math.isfinite(self.leaf_upper) else None,
            "fringe": [[counter, node.as_list()] for _, counter, node in sorted(self.fringe, key=lambda one: one[:2])],
            "counter": self.counter,
            "pure_plans": [plan.tolist() for plan in self.relaxation.pure_plans],
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore a checkpoint after the tables were filled."""
        super().restore(state)
        self.leaf_upper = -math.inf if state["leaf_upper"] is None else float(state["leaf_upper"])
        self.fringe = [(-values[0], counter, Node.from_list(values)) for counter, values in state["fringe"]]
        heapq.heapify(self.fringe)
        if self.expanded and not self.fringe and not self.finished:
            raise ValueError("it has no nodes left, but is not finished")
        for _, _, node in self.fringe:
            self._check_node(node)
        self.counter = int(state["counter"])
        self.relaxation.pure_plans = [np.array(plan, np.int64) for plan in state["pure_plans"]]
        for plan in self.relaxation.pure_plans:
            check_limits("pure_plans", plan, 0, self.problem.form.num_sequences - 1)

    def _check_node(self, node: Node) -> None:
        """Refuse a node of a file that restricts what is no probability.  Raises ValueError or TypeError."""
        check_limits("branch", np.array(node.branch), 0, self.problem.places - 1)
        check_limits("place", np.array([*node.digits], np.int64), 0, self.problem.places - 1)
        for place, digits in node.digits.items():
            check_limits("position", np.array(digits.position), 1, int(self.most[place]))
            check_limits("prefix", np.array(digits.prefix), 0, 10 ** (digits.position - 1) - 1)
            check_limits("digit", np.array([digits.low, digits.high]), 0, 9)
        if not 0.0 <= node.probability <= 1.0:
            raise ValueError(f"a node has the probability {node.probability!r}, which is not between 0 and 1")
        if node.digits.get(node.branch, Digits()).open(int(self.most[node.branch])) is None:
            raise ValueError(f"place {node.branch} of a node cannot be split")
