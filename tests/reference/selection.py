"""Rules of selection as their papers state them, from the whole list of what was seen; slow.

``rows`` are the hands so far: for each, what every member is estimated to have won, None where nothing is known.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

import numpy as np

Rows = Sequence[Sequence[float | None]]


def column(rows: Rows, member: int) -> list[float]:
    return [row[member] for row in rows if row[member] is not None]  # type: ignore[misc]


def best(scores: Sequence[float], first: int) -> int:
    """The greatest; ``first`` among equal ones, else the one with the lowest number."""
    top = [member for member, score in enumerate(scores) if score == max(scores)]
    return first if first in top else top[0]


def spread(rows: Rows, member: int) -> float:
    """The standard deviation of a member's estimates, of everybody's if it has fewer than two."""
    own = column(rows, member)
    if len(own) < 2:
        own = [one for row in rows for one in row if one is not None]
    return statistics.stdev(own) if len(own) > 1 else 0.0


def greedy(rows: Rows, members: int, first: int, window: int) -> int:
    last = rows[-window:] if window else rows
    columns = [column(last, member) for member in range(members)]
    return best([statistics.fmean(one) if one else math.inf for one in columns], first)


def ucb1(rows: Rows, members: int, first: int, scale: float | None) -> int:
    scores = []
    for member in range(members):
        own = column(rows, member)
        if not own:
            scores.append(math.inf)
            continue
        width = spread(rows, member) if scale is None else scale
        scores.append(statistics.fmean(own) + width * math.sqrt(2 * math.log(len(rows)) / len(own)))
    return best(scores, first)


def thompson(rows: Rows, members: int, first: int, scale: float | None, seed: int) -> int:
    """The first of the hand's draws."""
    return thompson_draw(rows, members, first, scale, np.random.default_rng([seed, len(rows)]))


def thompson_shares(rows: Rows, members: int, first: int, scale: float | None, seed: int, draws: int) -> list[float]:
    """How many of so many draws choose each member."""
    numbers = np.random.default_rng([seed, len(rows)])
    chosen = [thompson_draw(rows, members, first, scale, numbers) for _ in range(draws)]
    return [chosen.count(member) / draws for member in range(members)]


def thompson_draw(rows: Rows, members: int, first: int, scale: float | None, numbers: np.random.Generator) -> int:
    noise = numbers.standard_normal(members)
    scores = []
    for member in range(members):
        own = column(rows, member)
        if not own:
            scores.append(math.inf)
            continue
        width = spread(rows, member) if scale is None else scale
        scores.append(statistics.fmean(own) + float(noise[member]) * width / math.sqrt(len(own)))
    return best(scores, first)


def exponential_weights(rows: Rows, members: int, scale: float) -> list[float]:
    """Weights before hand number t: exp(η_t · sum of gains), η_t = √(8 ln K / t)."""
    rate = math.sqrt(8 * math.log(members) / (len(rows) + 1))
    weights = [math.exp(rate * sum(column(rows, member)) / scale) for member in range(members)]
    return [weight / sum(weights) for weight in weights]


def exponential(rows: Rows, members: int, scale: float, seed: int) -> int:
    """A draw with these weights, by one number of the hand."""
    left = np.random.default_rng([seed, len(rows)]).random()
    for member, weight in enumerate(exponential_weights(rows, members, scale)):
        left -= weight
        if left < 0:
            return member
    return members - 1
