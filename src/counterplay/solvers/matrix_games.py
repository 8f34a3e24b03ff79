"""Zero-sum games in normal form: the linear program of a payoff matrix.

The program (Johanson 2016, section 9.2; Gibson 2014, section 2.3, in normal form): with payoffs A to the row player,
``max v`` such that ``A' x >= v``, ``sum x = 1``, ``x >= 0``; the multipliers of the inequalities are the column
player's strategy.
"""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import block_array, csr_array

from counterplay.errors import GameError
from counterplay.lp.highs import LinearModel, solve_model
from counterplay.lp.rational import prove_optimal
from counterplay.tree.sequence.matrices import payoff_scale

Float64 = NDArray[np.float64]


@dataclasses.dataclass(frozen=True, eq=False)
class MatrixSolution:
    """An equilibrium of a zero-sum matrix game.

    * ``value``: the value of the game to the row player
    * ``row``, ``column``: the mixed strategies
    * ``exact_value``: the value as a fraction, if requested
    """

    value: float
    row: Float64
    column: Float64
    exact_value: Fraction | None = None


def matrix_program(payoffs: Float64) -> LinearModel:
    """The row player's program; the variables are the mixed strategy and the value."""
    rows, columns = payoffs.shape
    one = np.ones((1, rows))
    matrix = block_array(
        [[csr_array(one), None], [csr_array(payoffs.T), csr_array(-np.ones((columns, 1)))]], format="csr"
    )
    cost = np.zeros(rows + 1)
    cost[-1] = 1.0
    return LinearModel(
        cost=cost,
        matrix=matrix,
        row_lower=np.concatenate(([1.0], np.zeros(columns))),
        row_upper=np.concatenate(([1.0], np.full(columns, np.inf))),
        lower=np.concatenate((np.zeros(rows), [-np.inf])),
        upper=np.full(rows + 1, np.inf),
        maximise=True,
    )


def solve_matrix(payoffs: ArrayLike, exact: bool = False) -> MatrixSolution:
    """Solve a zero-sum game given by the row player's payoffs.

    Parameters
    ----------
    payoffs : (rows, columns) array
        What the row player wins.
    exact : bool
        Solve the final basis again in fractions, for the value as a fraction.
    """
    table = np.asarray(payoffs, dtype=np.float64)
    if table.ndim != 2 or 0 in table.shape or not np.isfinite(table).all():
        raise GameError(f"a matrix game is a table of numbers with rows and columns; got shape {table.shape}")
    scale = payoff_scale(table)
    solution = solve_model(matrix_program(scale * table))
    assert solution is not None  # there is no time limit
    if exact:
        proven = prove_optimal(matrix_program(table), solution)
        row = np.array([float(weight) for weight in proven.primal[:-1]])
        column = np.array([float(-weight) for weight in proven.dual[1:]])
        return MatrixSolution(float(proven.value), row, column, proven.value)
    return MatrixSolution(
        solution.value / scale, _distribution(solution.primal[:-1]), _distribution(-solution.dual[1:])
    )


def _distribution(weights: Float64) -> Float64:
    positive = np.maximum(weights, 0.0)
    return np.asarray(positive / positive.sum(), dtype=np.float64)
