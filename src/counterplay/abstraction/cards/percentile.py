"""Percentile buckets: hands ordered by one number, split into parts of equal probability (Johanson 2016, 5.2).

The bucket of a hand is ⌊k · F⌋ where F is the fraction of hands strictly below it, so equal hands always share a
bucket; where many are equal, some buckets stay empty (of 9000 buckets of the river only 1950 are used, section 11.3).
Everything is exact integers.  With groups, the hands of each group are split separately: grouped by the buckets of an
earlier round this is perfect recall; grouped by a first split by another number it is the nested split "A x B".
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def percentile(
    values: npt.NDArray[Any], weights: npt.NDArray[Any], count: int, groups: npt.NDArray[Any] | None = None
) -> npt.NDArray[np.int32]:
    """Split hands into ``count`` buckets of equal weight, 0 .. count - 1 from the weakest, in each group separately.

    ``values`` are unsigned integers that rank the hands, ``weights`` the numbers of deals that each represents.
    """
    if not len(values):
        return np.zeros(0, dtype=np.int32)
    order, new_value, new_group = _sorted(values, groups)
    starts = np.flatnonzero(new_value)
    weight = np.add.reduceat(weights[order], starts, dtype=np.int64)  # of each run of equal values
    below = np.cumsum(weight) - weight
    first = np.flatnonzero(new_group[starts])  # the first run of each group
    runs = np.diff(np.append(first, len(starts)))
    total = np.repeat(np.add.reduceat(weight, first), runs)
    below -= np.repeat(below[first], runs)
    cut = np.minimum(count - 1, count * below // np.maximum(total, 1))
    bucket = np.empty(len(values), dtype=np.int32)
    bucket[order] = np.repeat(cut, np.diff(np.append(starts, len(order))))
    return bucket


def _sorted(
    values: npt.NDArray[Any], groups: npt.NDArray[Any] | None
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Hands by group and value, and where in that order a value and where a group begins."""
    if groups is None:
        order = np.argsort(values, kind="stable")
        ordered = values[order]
        new_value = np.concatenate(([True], ordered[1:] != ordered[:-1]))
        return order, new_value, np.arange(len(values)) == 0
    span = int(values.max()) + 1
    if span * (int(groups.max()) + 1) < 1 << 64:
        key = groups.astype(np.uint64)
        key *= np.uint64(span)
        key += values.astype(np.uint64, copy=False)
        order = np.argsort(key, kind="stable")
        key = key[order]
        group = key // np.uint64(span)
        new_group = np.concatenate(([True], group[1:] != group[:-1]))
        return order, np.concatenate(([True], key[1:] != key[:-1])), new_group
    order = np.lexsort((values, groups))
    value, group = values[order], groups[order]
    new_group = np.concatenate(([True], group[1:] != group[:-1]))
    return order, new_group | np.concatenate(([True], value[1:] != value[:-1])), new_group
