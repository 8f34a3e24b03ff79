"""What a source states about one of its examples, beside what is computed."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from counterplay.forms import open_game
from counterplay.solvers import make_solver
from counterplay.tree.history.game_tree import GameTree


class Line(NamedTuple):
    """A statement of a source about an example.

    Attributes
    ----------
    what : str
        What is stated.
    published, ours : str or float
        The stated value and the computed one.
    within : float
        How far numbers may be apart: the error of the printed digits, or of a computation that is not exact.
    """

    what: str
    published: str | float
    ours: str | float
    within: float = 1e-9

    @property
    def same(self) -> bool:
        """Whether both agree."""
        if isinstance(self.published, str) or isinstance(self.ours, str):
            return self.published == self.ours
        return abs(self.published - self.ours) <= self.within


def tree_of(game: str) -> GameTree:
    """A game, compiled."""
    tree: GameTree = open_game(game, "history")
    return tree


def maxmin_value(game: str, player: int) -> float:
    """What a player of a zero-sum game, 1 or 2, can secure by a behavioural strategy, up to 1e-5 of the payoffs."""
    low, high = _bounds(game, player, -math.inf)
    return (low + high) / 2


def secures(game: str, player: int, value: float) -> bool:
    """Whether a player can secure a value, up to 1e-5 of the payoffs; a smaller upper bound is enough to deny it."""
    return _bounds(game, player, value)[1] >= value - 1e-4


def _bounds(game: str, player: int, needed: float) -> tuple[float, float]:
    """Bounds on the maxmin value, as soon as they are close or exclude what is needed."""
    solver: Any = make_solver(game, "maxmin", player=player, method="irabnb", epsilon=1e-5)
    while not solver.finished and (solver.value_bounds is None or solver.value_bounds[1] >= needed - 1e-4):
        solver.step()
    low, high = solver.value_bounds
    return float(low), float(high)
