"""Normal-form examples of Gibson 2014 about domination, correlation and regret matching.

The players choose in turn, unobserved (see ``matrix.py``).  The payoffs of figure 4.4 are illegible in our copy; they
are reconstructed so that every statement about the figure holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from counterplay.games.matrix import TensorGame
from counterplay.games.toy import register_toy


def bimatrix(names: tuple[str, str], payoffs: Sequence[Sequence[tuple[float, float]]]) -> Any:
    """The state before the choices of a two-player game, from rows of (player 1's, player 2's) payoffs."""
    entries = np.array(payoffs, dtype=float)
    return TensorGame([entries[:, :, 0], entries[:, :, 1]], [tuple(side) for side in names]).root()


@register_toy("toy_undominated")
def undominated() -> Any:
    """One equilibrium, (B, b), and no strategy even weakly dominated (Gibson 2014, figure 2.1)."""
    rows = ((3, -1, -3), (1, 0, 1), (-3, -1, 3))
    return bimatrix(("ABC", "abc"), [[(entry, -entry) for entry in row] for row in rows])


@register_toy("toy_elimination_order", zero_sum=False)
def elimination_order() -> Any:
    """What is left of weakly dominated strategies depends on the order of removal (Gibson 2014, figure 2.4)."""
    return bimatrix(("AB", "abc"), [[(1, 1), (0, 0), (1, 0)], [(1, 1), (1, 0), (0, 0)]])


@register_toy("toy_coarse_correlated", zero_sum=False)
def coarse_correlated() -> Any:
    """A coarse correlated equilibrium may use C, which is strictly dominated (Gibson 2014, figure 2.5)."""
    return bimatrix(("ABC", "ab"), [[(1, 0), (0, 0)], [(0, 0), (2, 0)], [(-1, 0), (1, 0)]])


@register_toy("toy_weakly_dominated", zero_sum=False)
def weakly_dominated() -> Any:
    """Regret matching keeps playing W, which is weakly dominated (Gibson 2014, figure 4.3)."""
    return bimatrix(("AWS", "BI"), [[(2, 1), (1, 0)], [(2, 0), (0, 1)], [(0, 1), (0, 0)]])


@register_toy("toy_dominated_average", zero_sum=False)
def dominated_average() -> Any:
    """No-regret play whose average is strictly dominated (Gibson 2014, figure 4.4)."""
    return bimatrix(("ABC", "ab"), [[(2, 1), (-2, 0)], [(-2, 0), (2, 1)], [(1, 0), (1, 0)]])
