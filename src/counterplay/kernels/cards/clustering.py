"""k-means over many short rows of integers, with bounds that skip most of the distances.

A point is a row of unsigned numbers times a scale for each column; its weight is an integer.  Two metrics: the
Euclidean distance, and the sum of absolute differences, which over cumulative histograms is the earth mover's distance
in one dimension.  Each point keeps an upper bound of the distance to its centre and a lower bound of that to any
other, which move with the centres (triangle inequality; Elkan 2003, in the form with one lower bound of Hamerly 2010);
a point whose bounds do not meet stays where it is.  Where they meet, distances are computed to the centres whose
projection on the diagonal is near enough to matter, which stand side by side in the order of their projections: column
by column, which vectorises without reordering any sum.

Sums of points are integers, so that new centres do not depend on the order of the points or of the threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from counterplay.kernels.jit import kernel

EUCLIDEAN = 0
ABSOLUTE = 1
"""Metrics: the Euclidean distance, the sum of absolute differences."""


@kernel
def distance(points: np.ndarray, row: int, scale: np.ndarray, centres: np.ndarray, centre: int, metric: int) -> Any:
    """The distance of a point to a centre, summed as ``assign_points`` does."""
    total = np.float32(0)
    for column in range(points.shape[1]):
        gap = np.float32(points[row, column]) * scale[column] - centres[column, centre]
        total += abs(gap) if metric == ABSOLUTE else gap * gap
    return total if metric == ABSOLUTE else np.sqrt(total)


@kernel
def centre_gaps(
    centres: np.ndarray,  # IN  (d, k) float32
    metric: int,  # IN
    gap: np.ndarray,  # OUT (k,) float32: half the distance to the nearest other centre
) -> None:
    """How far each centre is from the others."""
    size = centres.shape[1]
    gap[:] = np.inf
    total = np.empty(size, dtype=np.float32)
    for one in range(size):
        total[:] = 0
        for column in range(centres.shape[0]):
            value = centres[column, one]
            if metric == ABSOLUTE:
                for other in range(size):
                    total[other] += abs(value - centres[column, other])
            else:
                for other in range(size):
                    total[other] += (value - centres[column, other]) ** 2
        for other in range(size):
            if other != one:
                gap[one] = min(gap[one], total[other])
        gap[one] = np.float32(0.5) * (gap[one] if metric == ABSOLUTE else np.sqrt(gap[one]))


@kernel
def assign_points(
    points: np.ndarray,  # IN  (N, d) unsigned
    scale: np.ndarray,  # IN  (d,) float32
    centres: np.ndarray,  # IN  (d, k) float32: centres as columns, in rising order of their projections
    projection: np.ndarray,  # IN  (k,) float64: sum of the columns, over √d for the Euclidean distance
    name: np.ndarray,  # IN  (k,) int64: which centre stands in each place
    place: np.ndarray,  # IN  (k,) int64: where each centre stands
    metric: int,  # IN
    gap: np.ndarray,  # IN  (k,) float32, by centre: half the distance to the nearest other one; negative for no bounds
    shift: np.ndarray,  # IN  (k,) float32, by centre: how far it has moved since the bounds were right
    slack: float,  # IN  what rounding may amount to
    first: int,  # IN
    last: int,  # IN  rows of the points
    label: np.ndarray,  # IN OUT (N,) int32: the nearest centre, the lowest of equal ones; -1 before the first pass
    upper: np.ndarray,  # IN OUT (N,) float32: at least the distance to it
    lower: np.ndarray,  # IN OUT (N,) float32: at most the distance to any other
) -> Any:
    """Give each point its nearest centre; how many changed."""
    size = centres.shape[1]
    total = np.empty(size, dtype=np.float32)
    factor = 1.0 if metric == ABSOLUTE else 1 / np.sqrt(np.float64(points.shape[1]))
    largest, at, second = np.float32(0), -1, np.float32(0)
    for centre in range(size):
        if shift[centre] > largest:
            largest, second, at = shift[centre], largest, centre
        elif shift[centre] > second:
            second = shift[centre]
    changed = 0
    for row in range(first, last):
        old = label[row]
        low, high = 0, size
        if old >= 0 and gap[old] >= 0:
            upper[row] += shift[old]
            lower[row] -= second if old == at else largest
            bound = max(lower[row], gap[old])
            if upper[row] + slack < bound:
                continue
            upper[row] = distance(points, row, scale, centres, place[old], metric)
            if upper[row] + slack < bound:
                continue
            # The nearest other centre is no farther than this; projections differ by no more than distances do.
            reach = upper[row] + 2 * gap[old] + 2 * slack
            middle = 0.0
            for column in range(points.shape[1]):
                middle += np.float32(points[row, column]) * scale[column]
            middle *= factor
            low = np.searchsorted(projection, middle - reach)
            high = np.searchsorted(projection, middle + reach, side="right")
        total[low:high] = 0
        for column in range(points.shape[1]):
            value = np.float32(points[row, column]) * scale[column]
            if metric == ABSOLUTE:
                for centre in range(low, high):
                    total[centre] += abs(value - centres[column, centre])
            else:
                for centre in range(low, high):
                    difference = value - centres[column, centre]
                    total[centre] += difference * difference
        best, nearest, next_best = np.float32(np.inf), size, np.float32(np.inf)
        for centre in range(low, high):
            if total[centre] < best or (total[centre] == best and name[centre] < nearest):
                best, next_best, nearest = total[centre], best, name[centre]
            elif total[centre] < next_best:
                next_best = total[centre]
        upper[row] = best if metric == ABSOLUTE else np.sqrt(best)
        lower[row] = next_best if metric == ABSOLUTE else np.sqrt(next_best)
        if nearest != old:
            label[row] = nearest
            changed += 1
    return changed


@kernel
def add_points(
    points: np.ndarray,  # IN  (N, d) unsigned
    weight: np.ndarray,  # IN  (N,) int64
    label: np.ndarray,  # IN  (N,) int32
    first: int,  # IN
    last: int,  # IN
    sums: np.ndarray,  # IN OUT (k, d) int64
    mass: np.ndarray,  # IN OUT (k,) int64
) -> None:
    """Add each point to the sum of its centre."""
    for row in range(first, last):
        centre = label[row]
        heavy = weight[row]
        mass[centre] += heavy
        for column in range(points.shape[1]):
            sums[centre, column] += heavy * np.int64(points[row, column])


@kernel
def lower_distances(
    points: np.ndarray,  # IN  (N, d) unsigned
    scale: np.ndarray,  # IN  (d,) float32
    centre: np.ndarray,  # IN  (d, 1) float32
    metric: int,  # IN
    nearest: np.ndarray,  # IN OUT (N,) float32: distance to the nearest of the centres so far
) -> None:
    """Take one more centre into account."""
    for row in range(points.shape[0]):
        nearest[row] = min(nearest[row], distance(points, row, scale, centre, 0, metric))


@kernel
def hash_rows(
    points: np.ndarray,  # IN  (N, d) unsigned
    first: int,  # IN
    last: int,  # IN
    key: np.ndarray,  # OUT (N,) uint64
) -> None:
    """A 64-bit key of each row; equal rows have equal keys."""
    for row in range(first, last):
        word = np.uint64(0x9E3779B97F4A7C15)
        for column in range(points.shape[1]):
            word ^= np.uint64(points[row, column])
            word *= np.uint64(0xBF58476D1CE4E5B9)
            word ^= word >> np.uint64(29)
        key[row] = word


@kernel
def mark_distinct(
    points: np.ndarray,  # IN  (N, d) unsigned
    order: np.ndarray,  # IN OUT (N,) int64: rows, equal ones side by side; then a row of each distinct one in front
    place: np.ndarray,  # OUT (N,) int32: which of the distinct rows each one is
) -> Any:
    """Number the distinct rows; gives how many there are."""
    found = 0
    for at in range(len(order)):
        row = order[at]
        same = found > 0
        if same:
            other = order[found - 1]
            for column in range(points.shape[1]):
                same &= points[row, column] == points[other, column]
        if not same:
            order[found] = row
            found += 1
        place[row] = found - 1
    return found


@kernel
def add_weights(
    place: np.ndarray,  # IN  (N,) int32
    weight: np.ndarray,  # IN  (N,) integers
    total: np.ndarray,  # IN OUT int64, by place
) -> None:
    """Add up the weights of the rows that are one."""
    for row in range(len(place)):
        total[place[row]] += weight[row]
