"""Programs for the maxmin strategy of a player who forgets, as models (Čermák 2018, sections 4.3.1 to 4.3.4).

* ``bilinear_program``: the exact one, (4.1) against an A-loss minimiser and (4.5) against another one, whose pure
  strategies are listed; the products are kept separate from the linear part.  HiGHS does not solve it; it defines what
  a solution is.
* ``digit_program``: a mixed-integer program whose binary variables are the decimal digits of the probabilities (the
  multiparametric disaggregation technique of Kolodziej, Castro and Grossmann 2013).  What is beyond the last digit is
  relaxed (4.8), which gives an upper bound, or left out (4.6), which gives strategies with that many digits.

The digits of a probability x and the shares of r that belong to them:

    x = Σ_ℓ Σ_k 10^ℓ k w_{kℓ} + Δx,   r(σ) = Σ_k r̂_{kℓ},  r̂_{kℓ} <= w_{kℓ},   r(σa) = Σ_ℓ Σ_k 10^ℓ k r̂_{kℓ} + Δr
    0 <= Δx <= 10^-P,   (r(σ) - 1) 10^-P + Δx <= Δr <= 10^-P r(σ),   0 <= Δr <= Δx

with position 0 holding the digits 0 and 1 and each other one 0 .. 9.  (4.8j), the end of the last line, is missing in
our copy of the thesis and follows from the others being the envelope of Δx r(σ).
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import block_array, coo_array, csr_array, vstack

from counterplay.errors import SolverError
from counterplay.lp.highs import LinearModel
from counterplay.lp.zero_sum import sequence_program
from counterplay.solvers.maxmin.maxmin_problem import MaxminProblem
from counterplay.tree.sequence.matrices import constraint_matrix, payoff_matrix
from counterplay.tree.sequence.sequence_form import spans

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]

MAX_PURE = 1 << 14
"""Most pure strategies of a minimiser without A-loss recall that are listed."""


@dataclasses.dataclass(frozen=True, eq=False)
class BilinearProgram:
    """The exact program: a linear part, and products that must hold as well.

    Variables are the maximiser's plan (``width`` of them), the minimiser's values, and the probabilities at places.

    * ``model``: the objective, rows and bounds; values are in ``MaxminProblem.unit``
    * ``width``: the maximiser's sequences
    * ``before``, ``probability``, ``after``: the products: ``v[before] * v[probability] = v[after]``
    """

    model: LinearModel
    width: int
    before: Int64
    probability: Int64
    after: Int64

    def violation(self, vector: Float64) -> float:
        """The largest violation of a row, bound or product by a vector."""
        model = self.model
        rows = model.matrix @ vector
        misses = [
            model.row_lower - rows, rows - model.row_upper, model.lower - vector, vector - model.upper,
            np.abs(vector[self.before] * vector[self.probability] - vector[self.after]),
        ]  # fmt: skip
        return max(0.0, *(float(miss.max(initial=0.0)) for miss in misses))


@dataclasses.dataclass(frozen=True, eq=False)
class DigitProgram:
    """A mixed-integer program: variables are those of the exact one and then the digits' and the remainders'."""

    model: LinearModel
    integer: NDArray[np.bool_]
    width: int
    place_column: int
    rest_column: int
    """Where the Δx of the places start."""
    term_rest_column: int
    """Where the Δr of the terms start."""


def response_program(problem: MaxminProblem) -> LinearModel:
    """Plans of the maximiser against every pure strategy of a minimiser without A-loss recall, listed (4.5)."""
    sizes = [len(problem.tree.actions_of(infoset)) for infoset in problem.tree.infosets_of(problem.other)]
    if math.prod(sizes) > MAX_PURE:
        raise SolverError(
            f"player {problem.other + 1} of {problem.tree.name} has {math.prod(sizes)} pure strategies; "
            f"at most {MAX_PURE} are listed, use irabnb, which finds those that matter"
        )
    form = problem.form
    low, high = form.decision_start[problem.other], form.decision_start[problem.other + 1]
    first = int(problem.tree.player_infosets[problem.other])
    choice = np.zeros(form.num_decisions, np.int32)
    plans = []
    for pure in itertools.product(*map(range, sizes)):
        choice[low:high] = np.array(pure, np.int32)[form.decision_infoset[low:high] - first] if sizes else 0
        plans.append(problem.pure_plan(choice))
    return pure_rows(problem, plans)


def pure_rows(problem: MaxminProblem, plans: list[Int64]) -> LinearModel:
    """The program with a row for each of some pure strategies, given by the sequences that they play."""
    form = problem.form
    equations, right = constraint_matrix(form, problem.player)
    payoffs = -payoff_matrix(form, problem.other, unit=problem.factor)
    first = int(form.sequence_start[problem.other])
    rows = [np.asarray(payoffs[plan - first].sum(axis=0)).ravel() for plan in plans]
    width = equations.shape[1]
    table = csr_array(np.array(rows).reshape(len(rows), width))
    most = problem.scale / problem.unit
    cost = np.zeros(width + 1)
    cost[width] = 1.0
    return LinearModel(
        cost=cost,
        matrix=block_array([[equations, None], [table, csr_array(-np.ones((len(rows), 1)))]], format="csr"),
        row_lower=np.concatenate((right, np.zeros(len(rows)))),
        row_upper=np.concatenate((right, np.full(len(rows), np.inf))),
        lower=np.concatenate((np.zeros(width), [-most])),
        upper=np.concatenate((np.full(width, np.inf), [most])),
        maximise=True,
    )


def _linear_part(problem: MaxminProblem, responses: Literal["auto", "pure"]) -> LinearModel:
    """The plans against the minimiser, then the probabilities at places, which sum to 1 in each set."""
    by_points = responses == "auto" and problem.a_loss
    plans = (
        sequence_program(problem.tree, problem.player, scale=problem.factor) if by_points else response_program(problem)
    )
    sums = coo_array(
        (np.ones(problem.places), (problem.place_set, np.arange(problem.places))),
        shape=(len(problem.sets), problem.places),
    )
    ones = np.ones(len(problem.sets))
    upper = plans.upper.copy()
    upper[: problem.form.sequences_of(problem.player)] = 1.0
    return LinearModel(
        cost=np.concatenate((plans.cost, np.zeros(problem.places))),
        matrix=block_array([[plans.matrix, None], [None, sums]], format="csr"),
        row_lower=np.concatenate((plans.row_lower, ones)),
        row_upper=np.concatenate((plans.row_upper, ones)),
        lower=np.concatenate((plans.lower, np.zeros(problem.places))),
        upper=np.concatenate((upper, np.ones(problem.places))),
        maximise=True,
    )


def bilinear_program(problem: MaxminProblem, responses: Literal["auto", "pure"] = "auto") -> BilinearProgram:
    """The exact program (4.1), or (4.5) with all pure strategies of the minimiser.

    Parameters
    ----------
    problem : MaxminProblem
        Who maximises what.
    responses : {"auto", "pure"}
        A row for each of the minimiser's sequences if it has A-loss recall; or one for each pure strategy anyway.
    """
    model = _linear_part(problem, responses)
    first = int(problem.form.sequence_start[problem.player])
    place = model.matrix.shape[1] - problem.places
    return BilinearProgram(
        model,
        problem.form.sequences_of(problem.player),
        problem.term_before - first,
        problem.term_place + place,
        problem.term_after - first,
    )


class _Rows:
    """Entries of further rows of a program, gathered."""

    def __init__(self) -> None:
        self.count = 0
        self.entries: list[tuple[Int64, Int64, Float64]] = []
        self.bounds: list[tuple[Float64, Float64]] = []

    def add(self, number: int, lower: float, upper: float, *parts: tuple[Int64, Int64, Float64 | float]) -> None:
        """``number`` rows with the same bounds; a part has rows counted from 0, columns and values."""
        for rows, columns, values in parts:
            self.entries.append((rows + self.count, columns, np.broadcast_to(values, rows.shape).astype(np.float64)))
        self.bounds.append((np.full(number, lower), np.full(number, upper)))
        self.count += number

    def matrix(self, columns: int) -> csr_array:
        """The rows as a matrix."""
        rows, places, values = (np.concatenate([part[which] for part in self.entries]) for which in range(3))
        return coo_array((values, (rows, places)), shape=(self.count, columns)).tocsr()


class _DigitColumns:
    """Where the further variables of a digit program lie, and what digit each belongs to.

    A *slot* is a digit of a position of a place: position 0 has the digits 0 and 1, each other one 0 .. 9.  A *share*
    is a slot together with a term of its place.
    """

    def __init__(self, problem: MaxminProblem, digits: Int64, start: int) -> None:
        positions = digits + 1
        owner = np.repeat(np.arange(problem.places), positions)
        position = spans(np.zeros(problem.places, np.int64), positions)
        sizes = np.where(position == 0, 2, 10)
        self.positions = len(owner)
        self.slot_position = np.repeat(np.arange(len(owner)), sizes)
        self.slot_place = owner[self.slot_position]
        digit = spans(np.zeros(len(owner), np.int64), sizes)
        self.slot_weight = digit * 10.0 ** -position[self.slot_position].astype(np.float64)
        per_place = np.bincount(self.slot_place, minlength=problem.places)
        slot_start = np.cumsum(per_place) - per_place
        counts = per_place[problem.term_place]
        self.share_term = np.repeat(np.arange(len(counts)), counts)
        self.share_slot = spans(slot_start[problem.term_place], counts)
        self.slot = start + np.arange(len(self.slot_place))
        self.share = start + len(self.slot) + np.arange(len(self.share_slot))
        self.rest = start + len(self.slot) + len(self.share)
        self.term_rest = self.rest + problem.places
        self.width = self.term_rest + len(counts)


def digit_program(problem: MaxminProblem, digits: NDArray[np.integer], relaxed: bool = True) -> DigitProgram:
    """The program in which probabilities have digits.

    Parameters
    ----------
    problem : MaxminProblem
        Who maximises what.
    digits : (places,) integers
        Number of decimals of each probability.
    relaxed : bool
        Let probabilities exceed their last digit, with the product relaxed: an upper bound (4.8).  Otherwise they end
        there: strategies that can be played, a lower bound.
    """
    base = _linear_part(problem, "auto")
    start = base.matrix.shape[1]
    columns = _DigitColumns(problem, digits.astype(np.int64), start)
    unit = 10.0 ** -digits.astype(np.float64)
    step = unit[problem.term_place]
    place_column = start - problem.places
    rows = _digit_rows(problem, columns, place_column, step)
    row_lower, row_upper = (np.concatenate([bound[which] for bound in rows.bounds]) for which in range(2))
    row_lower[len(row_lower) - len(step) :] = -step  # the last rows are the lower side of the remainders' envelope
    extra = columns.width - start
    integer = np.zeros(columns.width, bool)
    integer[columns.slot] = True
    upper = np.concatenate((base.upper, np.ones(columns.rest - start), unit, step))
    if not relaxed:
        upper[columns.rest :] = 0.0
    model = LinearModel(
        cost=np.concatenate((base.cost, np.zeros(extra))),
        matrix=_stack(base.matrix, rows.matrix(columns.width), columns.width),
        row_lower=np.concatenate((base.row_lower, row_lower)),
        row_upper=np.concatenate((base.row_upper, row_upper)),
        lower=np.concatenate((base.lower, np.zeros(extra))),
        upper=upper,
        maximise=True,
    )
    width = problem.form.sequences_of(problem.player)
    return DigitProgram(model, integer, width, place_column, columns.rest, columns.term_rest)


def _digit_rows(problem: MaxminProblem, columns: _DigitColumns, place_column: int, step: Float64) -> _Rows:
    """What ties digits, shares and remainders to probabilities and plans, (4.8b) to (4.8j)."""
    rows = _Rows()
    places, term = np.arange(problem.places), np.arange(len(step))
    place_rest, term_rest = columns.rest + places, columns.term_rest + term
    sequence = int(problem.form.sequence_start[problem.player])
    before, after = problem.term_before - sequence, problem.term_after - sequence
    slot, share, weight = columns.slot, columns.share, columns.slot_weight
    rows.add(columns.positions, 1.0, 1.0, (columns.slot_position, slot, 1.0))  # one digit at each position
    rows.add(
        problem.places, 0.0, 0.0,
        (columns.slot_place, slot, weight), (places, place_rest, 1.0), (places, place_column + places, -1.0),
    )  # fmt: skip
    number = np.arange(len(share))
    rows.add(len(share), -np.inf, 0.0, (number, share, 1.0), (number, slot[columns.share_slot], -1.0))
    key = columns.share_term * max(columns.positions, 1) + columns.slot_position[columns.share_slot]
    pair, pair_row = np.unique(key, return_inverse=True)  # the shares of a term at a position add up to its sequence
    whose = before[pair // max(columns.positions, 1)]
    rows.add(len(pair), 0.0, 0.0, (pair_row.ravel(), share, 1.0), (np.arange(len(pair)), whose, -1.0))
    rows.add(
        len(term), 0.0, 0.0,
        (columns.share_term, share, weight[columns.share_slot]), (term, term_rest, 1.0), (term, after, -1.0),
    )  # fmt: skip
    place_part = (term, place_rest[problem.term_place], -1.0)
    rows.add(len(term), -np.inf, 0.0, (term, term_rest, 1.0), (term, before, -step))
    rows.add(len(term), -np.inf, 0.0, (term, term_rest, 1.0), place_part)
    rows.add(len(term), 0.0, np.inf, (term, term_rest, 1.0), (term, before, -step), place_part)
    return rows


def _stack(top: csr_array, bottom: csr_array, width: int) -> csr_array:
    """One matrix above another, the upper one filled up with zeros."""
    wide = csr_array((top.data, top.indices, top.indptr), shape=(top.shape[0], width))
    return csr_array(vstack((wide, bottom), format="csr"))
