"""A strategy profile measured exactly: expected values and best responses of all players at once.

Exploitability is the mean over players of what a best response gains, NashConv the sum (Johanson 2016, equation 2.3;
Gibson 2014, section 2.1.2).  A best response is computed at the decision points of the sequence form; for a player
with imperfect recall that is the best response in the coarsest perfect-recall refinement, an upper bound.
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from counterplay.tree.history.game_tree import GameTree

if TYPE_CHECKING:
    from counterplay.kernels.jit import FormArrays

__all__ = ["Measurement", "measure_strategy"]


@dataclasses.dataclass(frozen=True)
class Measurement:
    """A strategy profile measured exactly, in the game's own chips."""

    value: tuple[float, ...]
    best_response: tuple[float, ...]

    @property
    def nash_conv(self) -> float:
        """Sum over players of what a best response gains."""
        return math.fsum(best - value for best, value in zip(self.best_response, self.value, strict=True))

    @property
    def exploitability(self) -> float:
        """Mean over players of what a best response gains."""
        return self.nash_conv / len(self.value)

    @property
    def epsilon(self) -> float:
        """The largest gain of any player: the profile is an ε-Nash equilibrium for this ε."""
        return max(best - value for best, value in zip(self.best_response, self.value, strict=True))


def measure_strategy(tree: GameTree, form: FormArrays, strategy: NDArray[np.float64]) -> Measurement:
    """Measure a profile given by the probabilities of its entries."""
    from counterplay.kernels.history.passes import measure  # reading a profile must not cost the import of numba

    expected = np.empty(tree.players)
    best = np.empty(tree.players)
    choice = np.empty(tree.sequences.num_decisions, np.int32)
    measure(form, np.ascontiguousarray(strategy, dtype=np.float64), expected, best, choice)
    return Measurement(tuple(expected.tolist()), tuple(best.tolist()))
