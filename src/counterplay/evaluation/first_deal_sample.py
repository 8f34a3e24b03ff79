"""The exploitability of a strategy, estimated from some of the first deals, walked in a random order.

The order is *successive sampling*: the next deal is drawn among those not yet walked, in proportion to the real deals
that each stands for.  A prefix of n deals is then a sample without replacement, and a deal of probability p belongs to
it with probability ``1 - exp(-p t)``, nearly, where t is such that these add up to n (Rosén 1997, order sampling).
Values at the links of the trunk are means over the sample, weighted by p over that probability.

A best response before the first deal takes the largest of several such means, which is too large on average: what is
best in the sample is partly luck.  The *optimism* is estimated and taken off: the choices are made again from means
that are disturbed as much as sampling disturbs them, and lose that much by the undisturbed means.  (Where gaps between
actions are spread evenly around 0, picking the largest noisy mean is too high by as much as choosing by noise loses.)

The interval is that of Student's distribution around the estimate, from the spread of what the chosen response wins
on each deal of the sample, with the correction for a finite population: it shrinks to nothing as the sample becomes
everything, and so does the optimism.  Half of the optimism counts as another standard error, since it is estimated too
low where most gaps are smaller than the noise.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import StrategyError
from counterplay.evaluation.trunk import Trunk
from counterplay.runtime.intervals import student_factor
from counterplay.runtime.seeds import check_seed

Vector = NDArray[np.float64]

DISTURBED = 64
"""Disturbed means from which choices are made again."""


@dataclasses.dataclass(frozen=True)
class FirstDealEstimate:
    """What is known about the exploitability after some of the first deals, in chips.

    Attributes
    ----------
    walked, total : int
        First deals in the sample, and all of them.
    values : tuple of float
        Of each walk: what a best response, or the strategy, wins.
    exploitability, half : float
        The estimate, and half of the width of its 95 % confidence interval.
    optimism : float
        How much too high the largest means were; taken off already.
    interrupted : bool
        Whether the work was stopped by Ctrl-C or a signal.
    """

    walked: int
    total: int
    values: tuple[float, ...]
    exploitability: float
    half: float
    optimism: float
    interrupted: bool = False

    def to_dict(self, big_blind: float) -> dict[str, Any]:
        """The numbers by name, for JSON."""
        return {
            "exact": False, "exploitability_95": self.half, "exploitability_mbb_95": 1000 * self.half / big_blind,
            "optimism": self.optimism, "first_deals": self.walked, "first_deals_total": self.total,
            "interrupted": self.interrupted,
        }  # fmt: skip


def visiting_order(probability: Vector, seed: int) -> NDArray[np.int64]:
    """All first deals in a random order, likely ones rather earlier."""
    wait = np.random.default_rng(check_seed(seed, StrategyError)).exponential(size=len(probability)) / probability
    return np.argsort(wait, kind="stable")


def inclusion(probability: Vector, size: int) -> Vector:
    """How likely each first deal is among the first ``size`` of the order, nearly."""
    if size >= len(probability):
        return np.ones(len(probability))
    low, high = 0.0, 1.0
    while -np.expm1(-probability * high).sum() < size:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if -np.expm1(-probability * middle).sum() < size else (low, middle)
    return np.asarray(-np.expm1(-probability * high))


def estimate(
    trunks: Sequence[Trunk], found: Vector, probability: Vector, order: NDArray[np.int64]
) -> FirstDealEstimate:
    """The estimate from the first deals of an order.

    Parameters
    ----------
    trunks : sequence of Trunk
        Of the walks; the first two are best responses of the players.
    found : (n, walks, links, hands) array
        What hands win below the deals of the sample at least, parts of the sums over all deals.
    probability : (N,) array
        Of all first deals.
    order : (n,) array
        The deals of the sample, two or more.
    """
    size = len(order)
    share, likely = inclusion(probability, size)[order], probability[order]
    weight = likely / share / (likely / share).sum()
    spread = weight * np.sqrt((1.0 - share) * size / max(size - 1, 1))
    noise = np.random.default_rng(0).standard_normal((DISTURBED, size)) * spread
    values, optimism, each = [], 0.0, np.zeros(size)
    for number, trunk in enumerate(trunks):
        single = found[:, number] / likely[:, None, None]
        mean = np.tensordot(weight, single, 1)[None]
        value = float(trunk.climb(mean)[0])
        if number < 2:
            disturbed = mean + np.tensordot(noise, single - mean, 1)
            luck = max(0.0, value - float(trunk.climb(np.broadcast_to(mean, disturbed.shape), disturbed).mean()))
            each += trunk.climb(single, mean) / 2
            optimism, value = optimism + luck / 2, value - luck
        values.append(value)
    middle = (values[0] + values[1]) / 2
    error = math.hypot(math.sqrt(float(((each - weight @ each) ** 2 * spread**2).sum())), optimism / 2)
    half = student_factor(max(size - 1, 1)) * error
    return FirstDealEstimate(size, len(probability), tuple(values), middle, half, optimism)
