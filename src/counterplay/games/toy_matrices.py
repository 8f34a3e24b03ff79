"""Normal-form examples of Gibson 2014 about domination, correlation and regret matching.

The players choose in turn, unobserved (see ``matrix.py``).  The payoffs of figure 4.4 are illegible in our copy; they
are reconstructed so that every statement about the figure holds.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from counterplay.game.game import Game
from counterplay.game.registry import register
from counterplay.games.matrix import TensorGame


def bimatrix(names: tuple[str, str], payoffs: Sequence[Sequence[tuple[float, float]]]) -> Any:
    """The state before the choices of a two-player game, from rows of (player 1's, player 2's) payoffs."""
    entries = np.array(payoffs, dtype=float)
    return TensorGame([entries[:, :, 0], entries[:, :, 1]], [tuple(side) for side in names]).root()


@register("toy_undominated")
@dataclasses.dataclass(frozen=True)
class Undominated(Game):
    """One equilibrium, (B, b), and no strategy even weakly dominated (Gibson 2014, figure 2.1)."""

    zero_sum = True

    def root(self) -> Any:
        """Before the choices."""
        rows = ((3, -1, -3), (1, 0, 1), (-3, -1, 3))
        return bimatrix(("ABC", "abc"), [[(entry, -entry) for entry in row] for row in rows])


@register("toy_elimination_order")
@dataclasses.dataclass(frozen=True)
class EliminationOrder(Game):
    """What is left of weakly dominated strategies depends on the order of removal (Gibson 2014, figure 2.4)."""

    zero_sum = False

    def root(self) -> Any:
        """Before the choices."""
        return bimatrix(("AB", "abc"), [[(1, 1), (0, 0), (1, 0)], [(1, 1), (1, 0), (0, 0)]])


@register("toy_coarse_correlated")
@dataclasses.dataclass(frozen=True)
class CoarseCorrelated(Game):
    """A coarse correlated equilibrium may use C, which is strictly dominated (Gibson 2014, figure 2.5)."""

    zero_sum = False

    def root(self) -> Any:
        """Before the choices."""
        return bimatrix(("ABC", "ab"), [[(1, 0), (0, 0)], [(0, 0), (2, 0)], [(-1, 0), (1, 0)]])


@register("toy_weakly_dominated")
@dataclasses.dataclass(frozen=True)
class WeaklyDominated(Game):
    """Regret matching keeps playing W, which is weakly dominated (Gibson 2014, figure 4.3)."""

    zero_sum = False

    def root(self) -> Any:
        """Before the choices."""
        return bimatrix(("AWS", "BI"), [[(2, 1), (1, 0)], [(2, 0), (0, 1)], [(0, 1), (0, 0)]])


@register("toy_dominated_average")
@dataclasses.dataclass(frozen=True)
class DominatedAverage(Game):
    """No-regret play whose average is strictly dominated (Gibson 2014, figure 4.4)."""

    zero_sum = False

    def root(self) -> Any:
        """Before the choices."""
        return bimatrix(("ABC", "ab"), [[(2, 1), (-2, 0)], [(-2, 0), (2, 1)], [(1, 0), (1, 0)]])
