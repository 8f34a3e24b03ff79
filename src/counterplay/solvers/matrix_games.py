"""Games in normal form, by their payoff matrices: the linear program of a zero-sum game, and fictitious play.

The program (Johanson 2016, section 9.2; Gibson 2014, section 2.3, in normal form): with payoffs A to the row player,
``max v`` such that ``A' x >= v``, ``sum x = 1``, ``x >= 0``; the multipliers of the inequalities are the column
player's strategy.

Fictitious play (Brown 1951; Čermák 2018, section 3.4.3): every player responds to the averages of the others, the
first of several best actions wins.  In extensive form it is ``solvers/fictitious_play.py``, which with perfect recall
plays like this one does on the matrix of the same game, with the same ties.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import block_array, csr_array

from counterplay.errors import GameError, SolverError
from counterplay.lp.highs import LinearModel, solve_model
from counterplay.lp.rational import prove_optimal
from counterplay.tree.sequence.matrices import payoff_scale

__all__ = ["MatrixSolution", "NormalFormPlay", "matrix_program", "solve_matrix"]

Float64 = NDArray[np.float64]


@dataclasses.dataclass(frozen=True, eq=False)
class MatrixSolution:
    """An equilibrium of a zero-sum matrix game.

    Attributes
    ----------
    value : float
        What the game is worth to the row player.
    row, column : float64
        The mixed strategies.
    exact_value : Fraction or None
        The value as a fraction, if that was asked for.
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


class NormalFormPlay:
    """Fictitious play in a normal-form game, any number of players.

    Parameters
    ----------
    payoffs : sequence of arrays
        For each player an array with an axis for each player's actions; a single matrix is a zero-sum game.
    alternating : bool
        Players take turns, each answering the new averages of those before; otherwise all answer the old ones.
    start : sequence of arrays, optional
        The strategies before the first response, which count as one response; uniform by default.

    Attributes
    ----------
    averages : list of float64
        The average strategy of each player.
    iterations : int
        Iterations done so far.
    """

    def __init__(
        self,
        payoffs: ArrayLike | Sequence[ArrayLike],
        alternating: bool = True,
        start: Sequence[ArrayLike] | None = None,
    ) -> None:
        tables = [np.asarray(table, dtype=np.float64) for table in _tables(payoffs)]
        if any(table.shape != tables[0].shape or table.ndim != len(tables) for table in tables):
            shapes = ", ".join(str(table.shape) for table in tables)
            raise GameError(f"a normal form has an array with n axes for each of n players; got shapes {shapes}")
        self.payoffs = tables
        self.alternating = alternating
        self.averages = [np.full(size, 1.0 / size) for size in tables[0].shape]
        if start is not None:
            self.averages = [np.array(strategy, dtype=np.float64) for strategy in start]
            sizes = tuple(len(strategy) for strategy in self.averages)
            if sizes != tables[0].shape or any(abs(s.sum() - 1) > 1e-9 or s.min() < 0 for s in self.averages):
                raise SolverError(f"start needs a distribution over the actions of each player; got sizes {sizes}")
        self.iterations = 0

    def values(self, player: int) -> Float64:
        """What each action of a player is worth against the averages of the others."""
        table = np.moveaxis(self.payoffs[player], player, 0)
        for other in range(len(self.payoffs) - 1, -1, -1):
            if other != player:
                table = table @ self.averages[other]  # the last axis that is left
        return np.asarray(table, dtype=np.float64)

    def step(self, iterations: int = 1) -> None:
        """Advance by some iterations, in each of which every player responds once."""
        players = range(len(self.payoffs))
        for _ in range(iterations):
            new = 1.0 / (self.iterations + 2.0)  # the start counts as one
            before = None if self.alternating else [int(np.argmax(self.values(player))) for player in players]
            for player in players:
                response = int(np.argmax(self.values(player))) if before is None else before[player]
                self.averages[player] *= 1.0 - new
                self.averages[player][response] += new
            self.iterations += 1

    def gains(self) -> list[float]:
        """What a best response to the others' averages gains each player."""
        found = []
        for player, average in enumerate(self.averages):
            values = self.values(player)
            found.append(float(values.max() - values @ average))
        return found


def _tables(payoffs: ArrayLike | Sequence[ArrayLike]) -> list[ArrayLike]:
    """The payoffs of each player; a single matrix is what the row player of a zero-sum game wins."""
    table = np.asarray(payoffs, dtype=np.float64)
    return [table, -table] if table.ndim == 2 else list(table)
