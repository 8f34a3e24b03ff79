"""The one module that calls HiGHS: programs from sparse matrices, solved so that Ctrl-C and time limits work.

HiGHS (Huangfu and Hall 2018) runs in a separate thread while Python waits for signals; an interrupt is passed on
through its callbacks, and the program is left unchanged.  It runs on one thread and without randomness that depends on
the clock, so the same program gives the same bits.
"""

from __future__ import annotations

import dataclasses
import threading
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from counterplay.errors import SolverError
from counterplay.runtime.signals import uninterrupted
from counterplay.runtime.threads import ThreadPool

Float64 = NDArray[np.float64]
Int8 = NDArray[np.int8]
Method = Literal["simplex", "ipm"]

TOLERANCE = 1e-9
"""Feasibility and optimality at a vertex; HiGHS does not go below 1e-10."""

INTERIOR_TOLERANCE = 1e-7
"""The same for the interior-point method without crossover, which does not come closer on degenerate programs."""

_CALLER = ThreadPool()
"""Runs HiGHS for the main thread."""

_OPTIMAL, _OUT_OF_TIME = "Optimal", "Time limit reached"


@dataclasses.dataclass(frozen=True, eq=False)
class LinearModel:
    """``min cost @ v`` (or max) such that ``row_lower <= matrix @ v <= row_upper`` and ``lower <= v <= upper``."""

    cost: Float64
    matrix: csr_array
    row_lower: Float64
    row_upper: Float64
    lower: Float64
    upper: Float64
    maximise: bool = False


@dataclasses.dataclass(frozen=True, eq=False)
class Basis:
    """A basis by the numbers that HiGHS gives to statuses: 0 at the lower bound, 1 basic, 2 at the upper, 3 at zero."""

    columns: Int8
    rows: Int8


@dataclasses.dataclass(frozen=True, eq=False)
class LpSolution:
    """An optimum.

    * ``value``: the objective
    * ``primal``: the variables
    * ``dual``: a multiplier for each row: by how much the objective grows when the row's bound does
    * ``basis``: the final basis; None after an interior-point method without crossover
    """

    value: float
    primal: Float64
    dual: Float64
    basis: Basis | None


class InfeasibleError(SolverError):
    """No point satisfies all rows and bounds."""


@dataclasses.dataclass(frozen=True, eq=False)
class IntegerSolution:
    """The best point of a mixed-integer program that was found, and a bound that no point passes.

    ``primal`` is None when the time was up before any point was found.
    """

    value: float
    bound: float
    primal: Float64 | None
    optimal: bool


def solve_model(
    model: LinearModel,
    method: Method = "simplex",
    crossover: bool = True,
    seconds: float | None = None,
    start: Basis | None = None,
    presolve: bool = True,
) -> LpSolution | None:
    """Solve a linear program; None when the time was up.

    Raises SolverError if there is no optimum: the program is infeasible or unbounded, or too hard numerically.

    Parameters
    ----------
    method : {"simplex", "ipm"}
        The dual simplex method or an interior-point method.
    crossover : bool
        After the interior-point method, go to a vertex.
    seconds : float, optional
        Give up after that time.
    start : Basis, optional
        Where the simplex method starts.
    presolve : bool
        Simplify the program first.
    """
    if seconds is not None and seconds <= 0.0:
        return None
    tolerance = TOLERANCE if method == "simplex" or crossover else INTERIOR_TOLERANCE
    options: dict[str, Any] = {
        "solver": "simplex" if method == "simplex" else "ipx", "run_crossover": "on" if crossover else "off",
        "presolve": "on" if presolve and start is None else "off",
        "primal_feasibility_tolerance": tolerance, "dual_feasibility_tolerance": tolerance,
        "ipm_optimality_tolerance": max(tolerance * 0.1, TOLERANCE),
    }  # fmt: skip
    highs = _new_highs(options | ({} if seconds is None else {"time_limit": float(seconds)}))
    highs.passModel(_as_highs(model))
    if start is not None:
        highs.setBasis(_basis_for_highs(start))
    _run(highs)
    return _optimum(highs, model.maximise)


def maximise(
    objective: Float64,
    what: str,
    at_most: tuple[Any, Float64] | None = None,
    equal: tuple[Any, Float64] | None = None,
    lower: Float64 | float = 0.0,
    upper: Float64 | float = np.inf,
) -> tuple[float, Float64]:
    """Maximise ``objective @ v`` such that ``A @ v <= b`` and ``C @ v == d``: the optimum and where it is.

    ``at_most`` is ``A, b`` and ``equal`` is ``C, d``, with dense or sparse matrices; ``lower`` and ``upper`` bound the
    variables.  Raises SolverError, which names ``what`` the program is for, if it is infeasible or unbounded.
    """
    blocks, lows, highs = [csr_array((0, len(objective)))], [np.zeros(0)], [np.zeros(0)]
    if at_most is not None:
        blocks.append(csr_array(at_most[0]))
        lows.append(np.full(len(at_most[1]), -np.inf))
        highs.append(np.asarray(at_most[1], np.float64))
    if equal is not None:
        blocks.append(csr_array(equal[0]))
        lows.append(np.asarray(equal[1], np.float64))
        highs.append(lows[-1])
    least, most = (np.full(len(objective), bound, np.float64) for bound in (lower, upper))
    rows = np.concatenate(lows), np.concatenate(highs)
    model = LinearModel(objective, vstack(blocks, format="csr"), *rows, least, most, maximise=True)
    try:
        solution = solve_model(model)
    except SolverError as error:
        raise type(error)(f"{what}: {error}") from error
    assert solution is not None  # there is no time limit
    return solution.value, solution.primal


class LiveModel:
    """A linear program that is solved again and again with other bounds and coefficients, by the simplex method.

    Every solution starts at a basis that is given, or from nothing, and from no other memory of the ones before; so it
    depends on the program and that basis only.
    """

    def __init__(self, model: LinearModel) -> None:
        self.maximise = model.maximise
        self._highs = _new_highs({
            "solver": "simplex", "primal_feasibility_tolerance": TOLERANCE, "dual_feasibility_tolerance": TOLERANCE,
        })  # fmt: skip
        self._highs.passModel(_as_highs(model))

    def change_columns(self, columns: NDArray[np.integer], lower: Float64, upper: Float64) -> None:
        """Set the bounds of variables."""
        for column, low, high in zip(columns.tolist(), lower.tolist(), upper.tolist(), strict=True):
            self._highs.changeColBounds(column, low, high)

    def change_row(self, row: int, lower: float, upper: float) -> None:
        """Set the bounds of a row."""
        self._highs.changeRowBounds(row, lower, upper)

    def change_coefficient(self, row: int, column: int, value: float) -> None:
        """Set one coefficient."""
        self._highs.changeCoeff(row, column, value)

    def solve(self, start: Basis | None = None, seconds: float | None = None) -> LpSolution | None:
        """The optimum, or None when the time was up; raises ``InfeasibleError`` where nothing is feasible."""
        if seconds is not None and seconds <= 0.0:
            return None
        highs = self._highs
        highs.clearSolver()
        # HiGHS counts the time of all runs of one object.
        highs.setOptionValue("time_limit", np.inf if seconds is None else highs.getRunTime() + seconds)
        highs.setOptionValue("presolve", "on" if start is None else "off")
        if start is not None:
            highs.setBasis(_basis_for_highs(start))
        _run(highs)
        return _optimum(highs, self.maximise)


def solve_integer(
    model: LinearModel, integer: NDArray[np.bool_], seconds: float | None = None, gap: float = 0.0
) -> IntegerSolution:
    """Solve a mixed-integer program; ``integer`` says which variables are integers.

    It stops after ``seconds`` with the best point and the bound so far, or when the two are within ``gap``.
    """
    highspy = _library()

    highs = _new_highs({"mip_rel_gap": 0.0, "mip_abs_gap": gap, "mip_feasibility_tolerance": TOLERANCE})
    if seconds is not None:
        highs.setOptionValue("time_limit", max(float(seconds), 1e-3))
    lp = _as_highs(model)
    kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
    lp.integrality_ = [kinds[whole] for whole in integer.astype(int).tolist()]
    highs.passModel(lp)
    _run(highs)
    status = highs.modelStatusToString(highs.getModelStatus())
    if status not in (_OPTIMAL, _OUT_OF_TIME):
        raise _failure(status, "mixed-integer program")
    info = highs.getInfo()
    sign = -1.0 if model.maximise else 1.0
    solution = highs.getSolution()
    primal = np.array(solution.col_value) if solution.value_valid else None
    value = sign * info.objective_function_value
    bound = sign * info.mip_dual_bound if integer.any() else value  # without integers it is a linear program
    return IntegerSolution(value, bound, primal, status == _OPTIMAL)


def _library() -> Any:
    """HiGHS; a signal that comes while it is imported waits, for it would leave half of the library."""
    with uninterrupted():
        import highspy
    return highspy


def _new_highs(options: dict[str, Any]) -> Any:
    highspy = _library()

    highs = highspy.Highs()
    always = {"output_flag": False, "threads": 1, "parallel": "off", "random_seed": 0}
    for name, value in (always | options).items():
        highs.setOptionValue(name, value)
    return highs


def _failure(status: str, what: str) -> SolverError:
    kind = InfeasibleError if status == "Infeasible" else SolverError
    return kind(f"the {what} has no optimum: HiGHS says {status.lower()!r}")


def _optimum(highs: Any, maximise: bool) -> LpSolution | None:
    status = highs.modelStatusToString(highs.getModelStatus())
    if status == _OUT_OF_TIME:
        return None
    if status != _OPTIMAL:
        raise _failure(status, "linear program")
    solution, found = highs.getSolution(), highs.getBasis()
    sign, basis = -1.0 if maximise else 1.0, None
    if found.valid:
        statuses = ([int(status) for status in part] for part in (found.col_status, found.row_status))
        basis = Basis(*(np.array(part, np.int8) for part in statuses))
    value = sign * float(highs.getObjectiveValue())
    return LpSolution(value, np.array(solution.col_value), sign * np.array(solution.row_dual), basis)


def _as_highs(model: LinearModel) -> Any:
    highspy = _library()

    lp = highspy.HighsLp()
    lp.num_row_, lp.num_col_ = model.matrix.shape
    # Always a minimum: HiGHS 1.15 gives wrong multipliers for a maximum after the interior-point method and presolve.
    lp.col_cost_ = -model.cost if model.maximise else model.cost
    lp.col_lower_, lp.col_upper_ = model.lower, model.upper
    lp.row_lower_, lp.row_upper_ = model.row_lower, model.row_upper
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = model.matrix.indptr
    lp.a_matrix_.index_ = model.matrix.indices
    lp.a_matrix_.value_ = model.matrix.data
    return lp


def _basis_for_highs(basis: Basis) -> Any:
    highspy = _library()

    statuses = [highspy.HighsBasisStatus(number) for number in range(5)]
    made = highspy.HighsBasis()
    made.valid = True
    made.alien = True  # HiGHS checks it and mends it where the program has changed
    made.col_status = [statuses[number] for number in basis.columns.tolist()]
    made.row_status = [statuses[number] for number in basis.rows.tolist()]
    return made


def _run(highs: Any) -> None:
    """Run HiGHS in a thread, so that Ctrl-C reaches Python at once and HiGHS soon after."""
    if threading.current_thread() is not threading.main_thread():
        highs.run()  # signals go to the main thread only
        return
    highs.HandleUserInterrupt = True
    _CALLER.call(highs.run, highs.cancelSolve)
