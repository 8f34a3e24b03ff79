"""Fictitious play on payoff matrices (Brown 1951; Čermák 2018, section 3.4.3): the first of several best actions wins.

With perfect recall fictitious play in extensive form plays like this one on the matrix of the same game, with the same
ties.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Float64 = NDArray[np.float64]


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
            raise ValueError(f"a normal form has an array with n axes for each of n players; got shapes {shapes}")
        self.payoffs = tables
        self.alternating = alternating
        self.averages = [np.full(size, 1.0 / size) for size in tables[0].shape]
        if start is not None:
            self.averages = [np.array(strategy, dtype=np.float64) for strategy in start]
            sizes = tuple(len(strategy) for strategy in self.averages)
            if sizes != tables[0].shape or any(abs(s.sum() - 1) > 1e-9 or s.min() < 0 for s in self.averages):
                raise ValueError(f"start needs a distribution over the actions of each player; got sizes {sizes}")
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
