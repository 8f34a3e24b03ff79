"""The final basis of a linear program solved again in fractions, which proves the optimum (as in Applegate, Cook, Dash
and Espinoza 2007, "Exact solutions to linear programming problems").

A basis says which variables and rows are not at their bounds.  The rows that are at theirs, in the basic variables, are
a square system; its solution and that of its transpose are the primal and the dual.  When both are feasible the basis
is optimal, with no tolerance.  Systems of sequence forms are sparse and nearly triangular, so plain elimination with
Markowitz' choice of pivots (1957) handles a few thousand rows.
"""

from __future__ import annotations

import dataclasses
import heapq
import itertools
from fractions import Fraction

import numpy as np

from counterplay.errors import SolverError
from counterplay.lp.highs import Basis, LinearModel, LpSolution, solve_model

MAX_EXACT_ROWS = 100_000
"""How many rows a program may have; elimination in fractions becomes slow and its numbers long beyond."""

MAX_DENOMINATOR = 10**6
"""The largest that is tried; with 10**9 some fraction is near enough to any floating-point number."""

_Row = dict[int, Fraction]


@dataclasses.dataclass(frozen=True)
class ExactSolution:
    """An optimum in fractions: the objective, the variables and the multipliers of the rows."""

    value: Fraction
    primal: list[Fraction]
    dual: list[Fraction]


def to_fraction(number: float) -> Fraction:
    """The simple fraction that a floating-point number represents, or the number itself if there is none."""
    exact = Fraction(number)
    simple = exact.limit_denominator(MAX_DENOMINATOR)
    return simple if abs(float(simple) - number) <= 4e-16 * abs(number) else exact


def check_size(rows: int) -> None:
    """Refuse a program that is too large for fractions, with its size and the limit."""
    if rows > MAX_EXACT_ROWS:
        raise SolverError(
            f"the linear program has {rows:,} rows; fractions are for at most {MAX_EXACT_ROWS:,}, so leave out exact"
        )


def solve_basis(model: LinearModel, basis: Basis) -> ExactSolution | None:
    """The solution at a basis, in fractions; None if the basis is not optimal.

    Every variable must be free or have the lower bound 0 alone; every row an equation or have a lower bound alone.
    """
    check_size(model.matrix.shape[0])
    matrix = model.matrix.tocsr()
    matrix.sum_duplicates()
    basic = np.flatnonzero(basis.columns == 1)
    tight = np.flatnonzero(basis.rows != 1)
    if len(basic) != len(tight):
        return None
    place = {int(column): slot for slot, column in enumerate(basic)}
    values = list(zip(matrix.indices.tolist(), map(to_fraction, matrix.data.tolist()), strict=True))
    spans = itertools.pairwise(matrix.indptr.tolist())
    rows: list[_Row] = [{column: value for column, value in values[low:high] if value} for low, high in spans]
    system = [{place[c]: v for c, v in rows[r].items() if c in place} for r in tight.tolist()]
    factors = _Factors.of(system)
    if factors is None:
        return None
    bound = [to_fraction(float(model.row_lower[r])) for r in tight.tolist()]
    cost = [to_fraction(float(value)) for value in model.cost]
    primal = [Fraction(0)] * matrix.shape[1]
    for slot, value in enumerate(factors.solve(bound)):
        primal[basic[slot]] = value
    dual = [Fraction(0)] * matrix.shape[0]
    for slot, value in enumerate(factors.solve_transposed([cost[column] for column in basic.tolist()])):
        dual[tight[slot]] = value
    if not _is_optimal(model, rows, primal, dual, cost):
        return None
    return ExactSolution(sum((c * v for c, v in zip(cost, primal, strict=True) if c), Fraction(0)), primal, dual)


def _is_optimal(
    model: LinearModel, rows: list[_Row], primal: list[Fraction], dual: list[Fraction], cost: list[Fraction]
) -> bool:
    """Whether primal and dual are feasible; they are complementary because they come from one basis."""
    sign = -1 if model.maximise else 1
    for row, entries in enumerate(rows):
        activity = sum((value * primal[column] for column, value in entries.items()), Fraction(0))
        lower = to_fraction(float(model.row_lower[row]))
        equation = model.row_upper[row] == model.row_lower[row]
        if activity < lower or (equation and activity != lower) or (not equation and sign * dual[row] < 0):
            return False
    reduced = list(cost)
    for row, entries in enumerate(rows):
        if dual[row]:
            for column, value in entries.items():
                reduced[column] -= dual[row] * value
    free = np.isneginf(model.lower)
    for column, gap in enumerate(reduced):
        if (free[column] and gap != 0) or (not free[column] and (sign * gap < 0 or primal[column] < 0)):
            return False
    return True


@dataclasses.dataclass
class _Factors:
    """A square matrix after elimination: pivots in order, the rows as they were then, and what was subtracted."""

    pivots: list[tuple[int, int]]  # (row, column)
    upper: list[_Row]  # the pivot's row without the pivot
    diagonal: list[Fraction]
    lower: list[list[tuple[int, Fraction]]]  # (row, how many times the pivot's row was subtracted)

    @classmethod
    def of(cls, matrix: list[_Row]) -> _Factors | None:
        """Eliminate; None if the matrix is singular."""
        rows = [dict(row) for row in matrix]
        where: list[set[int]] = [set() for _ in rows]
        for number, row in enumerate(rows):
            for column in row:
                where[column].add(number)
        made = cls([], [], [], [])
        shortest = [(len(row), number) for number, row in enumerate(rows)]
        heapq.heapify(shortest)
        done = [False] * len(rows)
        while shortest:
            length, pivot = heapq.heappop(shortest)
            row = rows[pivot]
            if done[pivot] or length != len(row):  # an entry from before the row changed
                continue
            if not row:
                return None
            column = min(row, key=lambda candidate: (len(where[candidate]), candidate))
            done[pivot] = True
            for number in made._eliminate(rows, where, pivot, column):
                heapq.heappush(shortest, (len(rows[number]), number))
        return made

    def _eliminate(self, rows: list[_Row], where: list[set[int]], pivot: int, column: int) -> list[int]:
        """Subtract a row from all others that have the pivot's column; returns those."""
        row = rows[pivot]
        diagonal = row.pop(column)
        where[column].discard(pivot)
        for other in row:
            where[other].discard(pivot)
        subtracted = []
        for number in sorted(where[column]):
            target = rows[number]
            factor = target.pop(column) / diagonal
            subtracted.append((number, factor))
            for other, value in row.items():
                changed = target.get(other, Fraction(0)) - factor * value
                if changed:
                    target[other] = changed
                    where[other].add(number)
                elif other in target:
                    del target[other]
                    where[other].discard(number)
        where[column] = set()
        self.pivots.append((pivot, column))
        self.upper.append(row)
        self.diagonal.append(diagonal)
        self.lower.append(subtracted)
        return [number for number, _ in subtracted]

    def solve(self, right: list[Fraction]) -> list[Fraction]:
        """Solve for a right-hand side."""
        values = list(right)
        for (pivot, _), subtracted in zip(self.pivots, self.lower, strict=True):
            if values[pivot]:
                for number, factor in subtracted:
                    values[number] -= factor * values[pivot]
        solution = [Fraction(0)] * len(right)
        for step in range(len(self.pivots) - 1, -1, -1):
            pivot, column = self.pivots[step]
            known = sum((value * solution[other] for other, value in self.upper[step].items()), Fraction(0))
            solution[column] = (values[pivot] - known) / self.diagonal[step]
        return solution

    def solve_transposed(self, right: list[Fraction]) -> list[Fraction]:
        """Solve the transposed system."""
        values = list(right)
        solution = [Fraction(0)] * len(right)
        for step, (pivot, column) in enumerate(self.pivots):
            solution[pivot] = values[column] / self.diagonal[step]
            if solution[pivot]:
                for other, value in self.upper[step].items():
                    values[other] -= value * solution[pivot]
        for step in range(len(self.pivots) - 1, -1, -1):
            pivot = self.pivots[step][0]
            for number, factor in self.lower[step]:
                solution[pivot] -= factor * solution[number]
        return solution


def prove_optimal(model: LinearModel, solution: LpSolution, seconds: float | None = None) -> ExactSolution:
    """The solution at the final basis in fractions; a basis that rounding has spoiled is looked for once more.

    Raises SolverError if no basis was found that is optimal without a tolerance.
    """
    for candidate in (solution, None):
        if candidate is None:
            candidate = solve_model(model, "simplex", seconds=seconds, presolve=False)
        proven = solve_basis(model, candidate.basis) if candidate is not None and candidate.basis is not None else None
        if proven is not None:
            return proven
    raise SolverError("the basis found is optimal up to rounding only; the value cannot be given as a fraction")
