"""Buckets by expected hand strength itself rather than by its percentiles (the schemes surveyed in Johanson 2016, 5.2).

* Chosen *ranges*: cut points between 0 and 1.
* *Merged* hands: hands whose E[HS] differ by less than a threshold share a bucket.  Starting from the weakest hand, a
  bucket takes all hands less than the threshold above its first one; the thesis does not say where buckets begin.

Hand strengths are integers, ``scale`` of them being a strength of 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt


def cut_ranges(values: npt.NDArray[Any], scale: float, cuts: Sequence[float]) -> npt.NDArray[np.int32]:
    """The range of each hand; a strength at a cut point belongs above it."""
    points = np.ceil(np.array(cuts) * scale - 1e-9)
    return np.searchsorted(points, values.astype(np.float64), side="right").astype(np.int32)


def most_merged(threshold: float) -> int:
    """The most buckets that merging by a threshold can leave."""
    return int(1.0 / threshold + 1e-9) + 1


def merge_near(
    values: npt.NDArray[Any], scale: float, threshold: float, groups: npt.NDArray[Any] | None = None
) -> npt.NDArray[np.int32]:
    """Buckets of hands that are closer than the threshold; hands of different groups are merged separately."""
    local = np.zeros(len(values), np.int32)
    order = np.lexsort((values,) if groups is None else (values, groups))
    ends = np.zeros(0, np.int64) if groups is None else np.flatnonzero(np.diff(groups[order])) + 1
    for members in np.split(order, ends):
        held = values[members].astype(np.float64)  # ascending
        starts, first = [], 0
        while first < len(held):
            starts.append(first)
            first = int(np.searchsorted(held, np.ceil(held[first] + threshold * scale - 1e-9), side="left"))
        sizes = np.diff([*starts, len(held)])
        local[members] = np.repeat(np.arange(len(starts), dtype=np.int32), sizes)
    return local
