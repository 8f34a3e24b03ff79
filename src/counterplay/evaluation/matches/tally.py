"""Mean winnings of agents, with 95 % confidence intervals over deals, and paired differences.

The score of a deal is the mean over all seatings in which it was played (Johanson 2016, sections 3.4 and 5.5; Gibson
2014, sections 5.6 and 7.3.2), in chips a hand.  Deals are independent of one another, hands of one deal are not; so the
interval is 1.96 s / √n with the deviation s over n deals.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError

Z_95 = 1.96
"""Standard deviations on each side of a mean that hold 95 %."""


class Estimate(NamedTuple):
    """A mean, and half of the width of its 95 % confidence interval."""

    mean: float
    half: float

    def scaled(self, factor: float) -> Estimate:
        """In another unit."""
        return Estimate(self.mean * factor, self.half * factor)

    def as_json(self) -> tuple[float, float | None]:
        """For JSON, which has no infinity: after a single deal the interval is None."""
        return self.mean, self.half if math.isfinite(self.half) else None

    def holds(self, value: float) -> bool:
        """Whether a value lies in the interval."""
        return abs(value - self.mean) <= self.half + 1e-12


@dataclasses.dataclass(frozen=True)
class Tally:
    """Sums over deals, of the scores of each agent and of their products; tallies of different deals add up."""

    deals: int
    totals: tuple[float, ...]
    products: tuple[tuple[float, ...], ...]

    @classmethod
    def of(cls, scores: NDArray[np.float64]) -> Tally:
        """The tally of scores, one row a deal, one column an agent."""
        products = scores.T @ scores
        return cls(len(scores), tuple(scores.sum(axis=0).tolist()), tuple(map(tuple, products.tolist())))

    @classmethod
    def empty(cls, agents: int) -> Tally:
        """Of no deals."""
        return cls(0, (0.0,) * agents, ((0.0,) * agents,) * agents)

    def __add__(self, other: Tally) -> Tally:
        totals = tuple(one + two for one, two in zip(self.totals, other.totals, strict=True))
        products = tuple(
            tuple(one + two for one, two in zip(row, more, strict=True))
            for row, more in zip(self.products, other.products, strict=True)
        )
        return Tally(self.deals + other.deals, totals, products)

    def estimate(self, agent: int) -> Estimate:
        """What an agent wins a hand."""
        return self._estimate(self.totals[agent], self.products[agent][agent])

    def difference(self, one: int, other: int) -> Estimate:
        """How much more an agent wins than another one, paired by deals."""
        products = self.products
        square = products[one][one] - 2 * products[one][other] + products[other][other]
        return self._estimate(self.totals[one] - self.totals[other], square)

    def _estimate(self, total: float, square: float) -> Estimate:
        if self.deals == 0:
            raise GameError("no deal was played; there is no mean")
        mean = total / self.deals
        if self.deals == 1:
            return Estimate(mean, math.inf)
        variance = max(0.0, square - total * mean) / (self.deals - 1)
        return Estimate(mean, Z_95 * math.sqrt(variance / self.deals))

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"deals": self.deals, "totals": list(self.totals), "products": [list(row) for row in self.products]}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Tally:
        """From JSON; raises KeyError, TypeError or ValueError where it is not a tally."""
        totals = tuple(map(float, values["totals"]))
        products = tuple(tuple(map(float, row)) for row in values["products"])
        if len(products) != len(totals) or any(len(row) != len(totals) for row in products):
            raise ValueError(f"a tally of {len(totals)} agents has a square of products")
        return cls(int(values["deals"]), totals, products)
