"""Summaries of estimates: mean, interval, deviation, and what they are worth in hands of plain money.

Johanson 2016, section 7.4 (bias, standard deviation and root mean squared error over 1,000 hands), and chapter 8 for
the rule of the man-versus-machine matches: a match is won if the duplicate score is above 25 big blinds, lost below
-25, else tied; it is *significantly* won or lost if the score differs from 0 in a one-sided test at 95 %.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterplay.evaluation.matches.tally import Z_95, Estimate

Float64 = NDArray[np.float64]

MARGIN = 25.0
"""Big blinds by which a match is won (section 8.1)."""

Z_ONE_SIDED = 1.645
"""Standard deviations of a one-sided test at 95 %."""

ROUNDING = 1e-9
"""What is smaller than this share of the deviation of money is 0."""

MATCH = 1_000
"""Hands of the root mean squared error."""

RESULTS = {1: "win", 0: "tie", -1: "loss"}


@dataclasses.dataclass(frozen=True)
class Summary:
    """An estimate of what a player wins.

    Attributes
    ----------
    name : str
        The estimator.
    deals, hands : int
        Independent deals, and hands in them.
    mean, half : float
        Chips a hand, and half the width of the 95 % interval.
    deviation : float
        The standard deviation of a deal, which is a hand unless it was played in several seats.
    money : float
        The standard deviation of the money won in a deal.
    """

    name: str
    deals: int
    hands: int
    mean: float
    half: float
    deviation: float
    money: float

    @classmethod
    def of(cls, name: str, scores: Float64, hands: int, money: float | None = None) -> Summary:
        """The summary of scores of deals, in chips a hand; ``money``: the deviation of money in them."""
        deals, mean = len(scores), float(scores.mean())
        spread = float(scores.std(ddof=1)) if deals > 1 else math.inf
        nothing = ROUNDING * (spread if money is None else money)
        if math.isfinite(nothing):  # an estimator without any variance must not be decided by rounding
            mean, spread = (0.0 if abs(value) < nothing else value for value in (mean, spread))
        half = Z_95 * spread / math.sqrt(deals)
        return cls(name, deals, hands, mean, half, spread, spread if money is None else money)

    @property
    def estimate(self) -> Estimate:
        """Mean and interval."""
        return Estimate(self.mean, self.half)

    @property
    def money_hands(self) -> float:
        """How many hands money would need for an interval of this width."""
        if self.deviation == 0.0:
            return math.inf
        return self.hands * (self.money / self.deviation) ** 2

    @property
    def more_hands(self) -> float:
        """How many more hands would make the interval exclude 0 if mean and deviation stay; 0 if it does already."""
        if self.mean == 0.0 or not math.isfinite(self.deviation):
            return math.inf
        needed = (Z_95 * self.deviation / self.mean) ** 2 * self.hands / self.deals
        return max(0.0, math.ceil(needed) - self.hands)

    def error(self, bias: float = 0.0, hands: int = MATCH) -> float:
        """The root mean squared error of a match of so many hands, with a bias."""
        return math.sqrt(bias**2 + self.deviation**2 * self.hands / self.deals / hands)

    def result(self, big_blind: float, margin: float = MARGIN) -> int:
        """1 for a match that was won by more than a margin in big blinds, -1 for a lost one, else 0."""
        score = self.mean * self.hands / big_blind
        return (score > margin) - (score < -margin)

    @property
    def significant(self) -> int:
        """1 if it is significantly above 0 (one-sided, 95 %), -1 if below, else 0."""
        bound = Z_ONE_SIDED / Z_95 * self.half
        return (self.mean > bound) - (self.mean < -bound)

    def to_dict(self, big_blind: float | None = None) -> dict[str, Any]:
        """For JSON, which has no infinity: None instead."""
        found: dict[str, Any] = {"estimator": self.name, "deals": self.deals, "hands": self.hands}
        found["chips"], found["chips_95"] = self.estimate.as_json()
        found |= {"deviation": _finite(self.deviation), "money_hands": _finite(self.money_hands)}
        found |= {"more_hands": _finite(self.more_hands), "significant": RESULTS[self.significant]}
        if big_blind is not None:
            found["mbb"], found["mbb_95"] = self.estimate.scaled(1000 / big_blind).as_json()
            found |= {"deviation_mbb": _finite(1000 * self.deviation / big_blind)}
            found |= {"result": RESULTS[self.result(big_blind)]}
        return found


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
