"""Confidence: how far the prediction of a model is trusted, by the number of observations behind it.

Johanson 2016, section 6.5.2.  With n observations in an information set, and a cap Pmax:

    1-step     Pmax from the first observation on
    10-step    Pmax from the tenth observation on, 0 before
    linear     n / 10 of Pmax up to ten observations, then Pmax ("0-10 Linear")
    curve      Pmax n / (s + n) ("s-Curve"; the source uses s = 1)

All are 0 without an observation, never fall as observations are added, and never exceed Pmax.
"""

from __future__ import annotations

import dataclasses
import math
import numbers

import numpy as np
from numpy.typing import ArrayLike, NDArray

from counterplay.errors import StrategyError
from counterplay.runtime.suggestions import did_you_mean, find_name, quoted

CONFIDENCES = ("1-step", "10-step", "linear", "curve")
"""The functions by name."""

MEANT = {"one-step": "1-step", "ten-step": "10-step", "0-10 linear": "linear", "1-curve": "curve", "s-curve": "curve"}
"""What the source calls them."""

ENOUGH = 10
"""Observations from which the step and the line trust a prediction as far as they ever do."""


@dataclasses.dataclass(frozen=True)
class Confidence:
    """A confidence function.

    Attributes
    ----------
    kind : {"10-step", "1-step", "linear", "curve"}
        Which one.
    pmax : float
        The cap, from 0 to 1.
    strength : float
        The s of ``curve``: with so many observations half of the cap is reached; above 0.

    Raises
    ------
    StrategyError
        If there is no such function, or a number is outside its range.

    >>> Confidence("curve", pmax=0.9)([0, 1, 9]).tolist()
    [0.0, 0.45, 0.81]
    """

    kind: str = "10-step"
    pmax: float = 1.0
    strength: float = 1.0

    def __post_init__(self) -> None:
        kind = find_name(self.kind, CONFIDENCES) if isinstance(self.kind, str) else None
        if kind is None:
            hint = did_you_mean(str(self.kind), CONFIDENCES, meant=MEANT)
            raise StrategyError(f"there is no confidence function {quoted(self.kind)}; {hint}")
        object.__setattr__(self, "kind", kind)
        if not is_number(self.pmax) or not 0.0 <= self.pmax <= 1.0:
            raise StrategyError(f"the cap of a confidence lies in [0, 1]; got {quoted(self.pmax)}")
        if not is_number(self.strength) or not 0.0 < self.strength < math.inf:
            raise StrategyError(f"the strength of a curve is a number above 0; got {quoted(self.strength)}")

    def __call__(self, observations: ArrayLike) -> NDArray[np.float64]:
        """The confidence after each of these numbers of observations."""
        seen = np.asarray(observations, np.float64)
        if self.kind == "1-step":
            share = np.asarray(seen >= 1.0, np.float64)
        elif self.kind == "10-step":
            share = np.asarray(seen >= ENOUGH, np.float64)
        elif self.kind == "linear":
            share = np.minimum(seen / ENOUGH, 1.0)
        else:
            share = seen / (self.strength + seen)
        return np.asarray(self.pmax * share, np.float64)


def is_number(value: object) -> bool:
    """Whether a value is a real number, and not a truth value."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)
