"""95 % confidence intervals of means, by Student's distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def student_factor(freedom: int) -> float:
    """Half of the width of an interval in standard errors."""
    from scipy.stats import t

    return float(t.ppf(0.975, freedom))


def interval(values: Sequence[float] | NDArray[np.float64]) -> tuple[float, float]:
    """The mean of some numbers, and half of the width of its interval; NaN for a single number."""
    mean = float(np.mean(values))
    if len(values) < 2:
        return mean, math.nan
    return mean, student_factor(len(values) - 1) * float(np.std(values, ddof=1)) / math.sqrt(len(values))
