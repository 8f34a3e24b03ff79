"""The linear relaxation of the maxmin problem when probabilities lie in intervals (Čermák 2018, sections 4.3.4, 4.4.2).

With x(a) between lo and hi and r(σ) between 0 and c, the products r(σa) = x(a) r(σ) are replaced by their envelope
(McCormick 1976):

    lo r(σ) <= r(σa) <= hi r(σ),     c (x(a) - hi) + hi r(σ) <= r(σa) <= c (x(a) - lo) + lo r(σ).

The thesis writes this with digits and c = 1: the relaxation of its program (4.8) with the leading digits fixed and the
last one between two limits is this envelope on the interval that the digits leave (tests compare the two).  Here c is
the product of the upper limits of the probabilities along σ, which is tighter where those are restricted.

One program is built for a node and changed in place for its children.  The rows of a set enter it when a solution
violates them or the set's probabilities are restricted: most sets of a large game never matter.  Then, and when
sequences are added to a restricted game, the program is rebuilt and starts at the old basis.
"""

from __future__ import annotations

import dataclasses
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from counterplay.lp.highs import Basis, LinearModel, LiveModel, LpSolution
from counterplay.lp.zero_sum import sequence_program
from counterplay.solvers.maxmin.maxmin_problem import MaxminProblem
from counterplay.solvers.maxmin.maxmin_programs import pure_rows
from counterplay.solvers.restricted_game import BASIC, LOWER, AllowedSequences
from counterplay.tree.sequence.decision_points import DecisionPairs
from counterplay.tree.sequence.sequence_form import spans

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]
Bool = NDArray[np.bool_]

BROKEN = 1e-8
"""The violation of an envelope from which its rows enter."""


@dataclasses.dataclass(frozen=True, eq=False)
class RelaxedSolution:
    """An optimum of the relaxation.

    * ``value``: in chips
    * ``plan`` (S,) float64: the maximiser's plan and the minimiser's best mixture, by sequences
    * ``probability`` (places,) float64: the probabilities x; NaN where the program has none
    * ``envelope`` (T, 4) float64: the multipliers of the envelopes of the terms, in units of the sequence form
    * ``tight`` (S,) bool: the minimiser's sequences that are best responses to the plan, by their rows (4.1h)
    """

    value: float
    plan: Float64
    probability: Float64
    envelope: Float64
    tight: Bool


class Relaxation(AllowedSequences):
    """The relaxation on the sequences that are allowed: all of them, or those of a restricted game.

    Parameters
    ----------
    problem : MaxminProblem
        Who maximises what.
    pairs : DecisionPairs, optional
        For a restricted game, which starts with nothing but the empty sequences: where the players meet.
    optimistic : (M,) float64
        What the maximiser gets at most from each pair on, against the minimiser's first actions, in units: the
        utilities of temporary leaves.
    capped : bool
        Bound weights of sequences by the probabilities along them; otherwise by 1, as the thesis does.

    Its attributes:

    * ``tight`` (K,) bool: the forgetful sets whose rows are in the program
    * ``lower``, ``upper`` (places,) float64: the intervals
    * ``caps`` (S,) float64: the largest weights of the maximiser's sequences in these intervals
    """

    def __init__(
        self,
        problem: MaxminProblem,
        pairs: DecisionPairs | None = None,
        optimistic: Float64 | None = None,
        capped: bool = True,
    ) -> None:
        super().__init__(problem.form, problem.player, everything=pairs is None)
        self.problem, self.pairs, self.optimistic = problem, pairs, optimistic
        self.tight = np.zeros(len(problem.sets), bool)
        self.lower, self.upper = np.zeros(problem.places), np.ones(problem.places)
        self.caps, self.capped = np.ones(self.form.num_sequences), capped
        self.started = np.zeros(1, np.int8)
        self.place_status = np.zeros(problem.places, np.int8)
        self.sum_status = np.zeros(len(problem.sets), np.int8)
        self.envelope_status = np.full((len(problem.term_place), 4), BASIC, np.int8)
        self.pure_plans: list[Int64] = []
        self.solved = 0
        self._whole = sequence_program(problem.tree, problem.player, scale=problem.factor) if problem.a_loss else None
        self._live: LiveModel | None = None

    def statuses(self) -> dict[str, NDArray[np.int8]]:
        """The basis at which the next solution starts; the live arrays."""
        return {
            "started": self.started, "sequence_status": self.sequence_status, "decision_status": self.decision_status,
            "place_status": self.place_status, "sum_status": self.sum_status, "envelope_status": self.envelope_status,
        }  # fmt: skip

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """A copy of all that a solution depends on besides the intervals."""
        masks = {name: getattr(self, name) for name in ("allowed", "active", "tight")}
        return {name: array.copy() for name, array in (masks | self.statuses()).items()}

    def forget_program(self) -> None:
        """Rebuild the program before the next solution.

        The last bits of HiGHS's result after changes of coefficients depend on their history; a run resumed from a
        checkpoint has no such history, so both start from the same program at each node.
        """
        self._live = None

    def go_back(self, snapshot: dict[str, NDArray[Any]]) -> None:
        """Return to a snapshot."""
        self._live = None
        for name, array in snapshot.items():
            getattr(self, name)[...] = array

    def allow(self, sequences: Bool) -> int:
        """Allow further sequences, which come with all their beginnings; returns how many are new.

        At a decision point of a forgetful set all actions come together, so that every probability can be played.
        """
        form, problem = self.form, self.problem
        new = np.flatnonzero(sequences & ~self.allowed)
        if not len(new):
            return 0
        self._live = None
        points = np.unique(self._origin[new])
        points = points[problem.set_of_decision[points] >= 0]
        more = spans(form.decision_first[points], form.decision_actions[points])
        new = np.union1d(new, more[~self.allowed[more]])
        self._enter(new)
        return len(new)

    def _tighten(self, sets: Bool) -> None:
        """Let sets enter the program."""
        self._live = None
        new = np.flatnonzero(sets & ~self.tight)
        self.tight[new] = True
        self.place_status[spans(self.problem.place_start[new], np.diff(self.problem.place_start)[new])] = LOWER
        self.place_status[self.problem.place_start[new]] = BASIC
        self.sum_status[new] = LOWER
        self.envelope_status[np.isin(self.problem.term_set, new)] = BASIC

    def set_intervals(self, lower: Float64, upper: Float64) -> None:
        """Restrict the probabilities."""
        problem = self.problem
        changed = (lower != self.lower) | (upper != self.upper)
        caps = self._weigh(upper) if self.capped else self.caps
        touched = changed[problem.term_place] | (caps != self.caps)[problem.term_before]
        self.lower, self.upper, self.caps = lower.copy(), upper.copy(), caps
        sets = np.zeros(len(self.tight), bool)
        narrowed = (lower > 0.0) | (upper < 1.0)
        sets[self.problem.place_set[narrowed]] = True
        if np.any(sets & ~self.tight):
            self._tighten(sets)
        live, self._live = self._live, None  # an interrupt must not leave it half changed
        if live is None:
            return
        places = np.flatnonzero(changed & self.tight[problem.place_set])
        live.change_columns(self._place_column[places], lower[places], upper[places])
        for slot in np.flatnonzero(touched[self._terms]).tolist():
            term = int(self._terms[slot])
            place, before = int(problem.term_place[term]), int(problem.term_before[term])
            low, high, cap = float(lower[place]), float(upper[place]), float(caps[before])
            row, column = self._envelope_row + 4 * slot, int(self._place_column[place])
            for kind, value in enumerate((low, -high, -low, high)):
                live.change_coefficient(row + kind, int(self._column[before]), value)
            live.change_coefficient(row + 2, column, -cap)
            live.change_coefficient(row + 3, column, cap)
            live.change_row(row + 2, -np.inf, -low * cap)
            live.change_row(row + 3, -np.inf, high * cap)
        self._live = live

    def _weigh(self, upper: Float64) -> Float64:
        """The largest weights of sequences when probabilities have these upper limits."""
        problem, form = self.problem, self.form
        caps = np.ones(form.num_sequences)
        if np.all(upper >= 1.0):
            return caps
        limit = np.ones(form.num_sequences)
        limit[problem.term_after] = upper[problem.term_place]
        for points in problem.levels:
            after = spans(form.decision_first[points], form.decision_actions[points])
            before = np.repeat(form.decision_parent[points], form.decision_actions[points])
            caps[after] = caps[before] * limit[after]
        return caps

    def solve(self, deadline: float | None = None) -> RelaxedSolution | None:
        """The optimum, or None if the time ran out; raises ``InfeasibleError`` if the intervals are infeasible."""
        while True:
            if self._live is None:
                self._put_together()
            assert self._live is not None
            seconds = None if deadline is None else deadline - time.perf_counter()
            found = self._live.solve(self._basis() if self.started[0] else None, seconds)
            self.solved += 1
            if found is None:
                return None
            self._keep_basis(found)
            solution = self._read(found)
            broken = self._broken(solution.plan)
            if broken.any():
                self._tighten(broken)
            elif self.problem.a_loss or not self._missing_response(solution):
                return solution

    def _broken(self, plan: Float64) -> Bool:
        """The sets outside the program for which no probabilities fit the envelopes of a plan on [0, 1]."""
        problem = self.problem
        live = ~self.tight[problem.term_set] & self.allowed[problem.term_after]
        sets = np.zeros(len(problem.sets), bool)
        terms = np.flatnonzero(live)
        if not len(terms):
            return sets
        before, after = plan[problem.term_before[terms]], plan[problem.term_after[terms]]
        least, most = np.zeros(problem.places), np.ones(problem.places)
        np.maximum.at(least, problem.term_place[terms], after)
        np.minimum.at(most, problem.term_place[terms], 1.0 - before + after)
        sets[problem.place_set[least > most + BROKEN]] = True
        sums = [np.add.reduceat(limit, problem.place_start[:-1]) for limit in (least, most)]
        sets |= (sums[0] > 1.0 + BROKEN) | (sums[1] < 1.0 - BROKEN)
        return sets & ~self.tight

    def _missing_response(self, solution: RelaxedSolution) -> bool:
        """Add the minimiser's best pure strategy against a plan, unless the program has one as good."""
        value, _, choice = self.problem.response(solution.plan)
        if -value >= solution.value - 1e-9 * self.problem.scale:
            return False
        self.pure_plans.append(self.problem.pure_plan(choice))
        self._live = None
        self.started[0] = 0
        return True

    # -- putting the program together -------------------------------------------------------------------------------

    def _put_together(self) -> None:
        problem, form = self.problem, self.form
        player = problem.player
        base = self._base()
        self._sequences = [self.sequences_of(one) for one in range(2)]
        self._decisions = [self.decisions_of(one) for one in range(2)]
        self._column = np.full(form.num_sequences, -1, np.int64)
        self._column[self._sequences[player]] = np.arange(len(self._sequences[player]))
        sets = np.flatnonzero(self.tight)
        places = spans(problem.place_start[sets], np.diff(problem.place_start)[sets])
        self._places, self._sets = places, sets
        self._terms = np.flatnonzero(self.tight[problem.term_set] & self.allowed[problem.term_after])
        height, width = base.matrix.shape
        self._envelope_row = height + len(sets)
        self._place_column = np.full(problem.places, -1, np.int64)
        self._place_column[places] = width + np.arange(len(places))
        sums = np.searchsorted(sets, problem.place_set[places]) + height, self._place_column[places]
        rows, columns, values = self._envelope()
        matrix = base.matrix.tocoo()
        shape = (self._envelope_row + 4 * len(self._terms), width + len(places))
        whole = coo_array(
            (
                np.concatenate((matrix.data, np.ones(len(places)), values)),
                (np.concatenate((matrix.row, sums[0], rows)), np.concatenate((matrix.col, sums[1], columns))),
            ),
            shape=shape,
        ).tocsr()
        place = problem.term_place[self._terms]
        limits = np.zeros((len(place), 4))
        caps = self.caps[problem.term_before[self._terms]]
        limits[:, 2], limits[:, 3] = -self.lower[place] * caps, self.upper[place] * caps
        ones = np.ones(len(sets))
        self._other_rows = (1 + len(self._decisions[player]), height)
        self._response_rows = base.matrix
        self._live = LiveModel(
            LinearModel(
                cost=np.concatenate((base.cost, np.zeros(len(places)))),
                matrix=whole,
                row_lower=np.concatenate((base.row_lower, ones, np.full(limits.size, -np.inf))),
                row_upper=np.concatenate((base.row_upper, ones, limits.ravel())),
                lower=np.concatenate((base.lower, self.lower[places])),
                upper=np.concatenate((base.upper, self.upper[places])),
                maximise=True,
            )
        )

    def _envelope(self) -> tuple[Int64, Int64, Float64]:
        """The four rows of each term, all with upper limits; zeros are stored, for they may change."""
        problem, terms = self.problem, self._terms
        place = problem.term_place[terms]
        low, high = self.lower[place], self.upper[place]
        before, after = self._column[problem.term_before[terms]], self._column[problem.term_after[terms]]
        column = self._place_column[place]
        row = self._envelope_row + 4 * np.arange(len(terms))
        one, cap = np.ones(len(terms)), self.caps[problem.term_before[terms]]
        parts = [
            (row, before, low), (row, after, -one),
            (row + 1, before, -high), (row + 1, after, one),
            (row + 2, before, -low), (row + 2, after, one), (row + 2, column, -cap),
            (row + 3, before, high), (row + 3, after, -one), (row + 3, column, cap),
        ]  # fmt: skip
        rows, columns, values = (np.concatenate([part[which] for part in parts]) for which in range(3))
        return rows, columns, values

    def _base(self) -> LinearModel:
        """Plans against the minimiser, on the allowed sequences; temporary leaves pay their upper bounds."""
        if self._whole is None:
            return pure_rows(self.problem, self.pure_plans or [self.problem.pure_plan(self._first_choice())])
        if self.pairs is None:
            return self._whole
        problem, form, whole = self.problem, self.form, self._whole
        player, other = problem.player, problem.other
        starts = form.sequence_start, form.decision_start
        own, theirs = (self.sequences_of(one) - int(starts[0][one]) for one in (player, other))
        mine, their_points = (self.decisions_of(one) - int(starts[1][one]) for one in (player, other))
        equations = 1 + int(starts[1][player + 1] - starts[1][player])
        rows = np.concatenate(([0], 1 + mine, equations + theirs))
        width = form.sequences_of(player)
        columns = np.concatenate((own, [width], width + 1 + their_points))
        matrix = csr_array(whole.matrix[rows][:, columns])
        matrix = csr_array(matrix + self._temporary(own, theirs, len(mine), matrix.shape))
        return LinearModel(
            whole.cost[columns], matrix, whole.row_lower[rows], whole.row_upper[rows], whole.lower[columns],
            whole.upper[columns], maximise=True,
        )  # fmt: skip

    def _temporary(self, own: Int64, theirs: Int64, equations: int, shape: tuple[int, int]) -> csr_array:
        """The payoffs of temporary leaves: where the restricted game stops and the game does not."""
        assert self.pairs is not None
        assert self.optimistic is not None
        form, problem = self.form, self.problem
        mover, facing, numbers = self.temporary_leaves(self.pairs)
        low, high = form.sequence_start[problem.player], form.sequence_start[problem.player + 1]
        moves = (mover >= low) & (mover < high)
        first, second = np.where(moves, mover, facing), np.where(moves, facing, mover)
        keep = self.allowed[first] & self.allowed[second]
        columns = np.searchsorted(own, first[keep] - int(low))
        rows = 1 + equations + np.searchsorted(theirs, second[keep] - int(form.sequence_start[problem.other]))
        return coo_array((problem.factor * self.optimistic[numbers[keep]], (rows, columns)), shape=shape).tocsr()

    def _first_choice(self) -> NDArray[np.int32]:
        return np.zeros(self.form.num_decisions, np.int32)

    # -- the basis, and reading solutions ----------------------------------------------------------------------------

    def _basis_places(self) -> tuple[list[NDArray[np.integer]], list[NDArray[np.integer]]]:
        player, other = self.problem.player, self.problem.other
        columns = [self._sequences[player], np.array([-1]), self._decisions[other]]
        rows = [np.array([-2]), self._decisions[player], self._sequences[other]]
        return columns, rows

    def _basis(self) -> Basis:
        columns, rows = self._basis_places()
        return Basis(
            np.concatenate((
                self.sequence_status[columns[0]], self.decision_status[columns[1]], self.decision_status[columns[2]],
                self.place_status[self._places],
            )),
            np.concatenate((
                self.decision_status[rows[0]], self.decision_status[rows[1]], self.sequence_status[rows[2]],
                self.sum_status[self._sets], self.envelope_status[self._terms].ravel(),
            )),
        )  # fmt: skip

    def _keep_basis(self, found: LpSolution) -> None:
        if found.basis is None or not self.problem.a_loss:
            return
        columns, rows = self._basis_places()
        widths = np.cumsum([len(part) for part in columns])
        heights = np.cumsum([len(part) for part in (*rows, self._sets)])
        statuses = np.split(found.basis.columns, widths)
        self.sequence_status[columns[0]] = statuses[0]
        self.decision_status[columns[1]], self.decision_status[columns[2]] = statuses[1], statuses[2]
        self.place_status[self._places] = statuses[3]
        statuses = np.split(found.basis.rows, heights)
        self.decision_status[rows[0]], self.decision_status[rows[1]] = statuses[0], statuses[1]
        self.sequence_status[rows[2]] = statuses[2]
        self.sum_status[self._sets] = statuses[3]
        self.envelope_status[self._terms] = statuses[4].reshape(-1, 4)
        self.started[0] = 1

    def _read(self, found: LpSolution) -> RelaxedSolution:
        problem, form = self.problem, self.form
        own, theirs = self._sequences[problem.player], self._sequences[problem.other]
        plan = np.zeros(form.num_sequences)
        plan[own] = np.clip(found.primal[: len(own)], 0.0, 1.0)
        tight = np.zeros(form.num_sequences, bool)
        if problem.a_loss:
            first, last = self._other_rows
            plan[theirs] = np.maximum(-found.dual[first:last], 0.0)
            slack = self._response_rows[first:last] @ found.primal[: self._response_rows.shape[1]]
            tight[theirs] = np.abs(slack) <= BROKEN
        probability = np.full(problem.places, np.nan)
        probability[self._places] = found.primal[self._place_column[self._places]]
        envelope = np.zeros((len(problem.term_place), 4))
        envelope[self._terms] = np.maximum(found.dual[self._envelope_row :] / problem.factor, 0.0).reshape(-1, 4)
        return RelaxedSolution(found.value * problem.unit, plan, probability, envelope, tight)
