"""k-means for the features of hands, Euclidean and by earth mover's distance (Johanson 2016, section 5.4).

1. Equal points are merged and their weights added.
2. Centres are seeded by k-means++: each next one is drawn with probability weight · (distance to the nearest centre)².
3. Points go to their nearest centre and centres to the mean of their points, until few points change; bounds by the
   triangle inequality skip most distances and change nothing (``counterplay.kernels.cards.clustering``).
4. A centre without points moves to the point that is farthest from its centre.
5. Of several restarts the one with the lowest objective is kept.

The earth mover's distance between two histograms on a line is the sum of absolute differences of their cumulative
sums, which is how it is computed here; the centre is the mean histogram, since the thesis does not say.  The objective
is the weighted mean of the squared distance (Euclidean) or of the distance (earth mover's).  The mean histogram does
not minimise the latter, so it need not fall at every step.  Departure: with many points, seeds are drawn from a sample.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from counterplay.errors import AbstractionError
from counterplay.runtime.progress import Progress, ProgressCallback
from counterplay.runtime.seeds import check_seed
from counterplay.runtime.threads import ThreadPool

Metric: TypeAlias = Literal["euclidean", "absolute"]

SEEDED = 1 << 18
"""Seeds are drawn from at most this many points."""

CHUNK = 1 << 15


@dataclasses.dataclass(frozen=True, eq=False)
class Points:
    """Weighted points: rows of integers times a scale for each column."""

    rows: npt.NDArray[Any]  # (N, d) the points
    scale: npt.NDArray[np.float32]  # (d,) factor of each column
    weights: npt.NDArray[np.int64]  # (N,) number of deals that each point represents
    metric: Metric  # "euclidean" or "absolute": how distances are measured

    @property
    def code(self) -> int:
        """The metric's code in the kernels."""
        from counterplay.kernels.cards.clustering import ABSOLUTE, EUCLIDEAN

        return ABSOLUTE if self.metric == "absolute" else EUCLIDEAN


@dataclasses.dataclass(frozen=True, eq=False)
class Clustering:
    """The result of k-means."""

    label: npt.NDArray[np.int32]  # (N,) the cluster of each point
    centres: npt.NDArray[np.float32]  # (k, d) the centres, scaled
    objective: float  # weighted mean of the squared distance (Euclidean) or of the distance (absolute)
    iterations: int  # number of assignments
    objectives: tuple[float, ...] = ()  # the objective after each assignment, if traced


def merge_points(
    rows: npt.NDArray[Any], weights: npt.NDArray[Any], threads: int = 1
) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """The distinct rows, the sums of their weights, and which of them each row is."""
    from counterplay.kernels.cards.clustering import add_weights, mark_distinct

    order = np.argsort(_hashes(rows, threads))  # equal rows become adjacent; their order does not matter
    place = np.empty(len(rows), dtype=np.int32)
    found = mark_distinct(rows, order, place)
    merged = np.zeros(found, dtype=np.int64)
    add_weights(place, weights, merged)
    return np.ascontiguousarray(rows[order[:found]]), merged, place


def _hashes(rows: npt.NDArray[Any], threads: int) -> npt.NDArray[np.uint64]:
    from counterplay.kernels.cards.clustering import hash_rows

    key = np.empty(len(rows), dtype=np.uint64)
    with ThreadPool(threads) as pool:
        pool.chunks(lambda first, last: hash_rows(rows, first, last, key), len(rows), CHUNK)
    return key


@dataclasses.dataclass(frozen=True)
class KMeansConfig:
    """How k-means runs."""

    # seed, restarts: seed of the seeding, and the number of restarts
    seed: int = 0
    restarts: int = 1
    max_iterations: int = 100  # assignments at most
    settled: float = 0.001  # stop when at most this fraction of the points moves to another cluster
    bounds: bool = True  # whether to skip distances by the triangle inequality; the result is the same
    trace: bool = False  # whether to keep the objective of every iteration

    def __post_init__(self) -> None:
        check_seed(self.seed, AbstractionError)


def k_means(
    points: Points, count: int, config: KMeansConfig | None = None, *, threads: int = 1,
    start: npt.NDArray[np.float32] | None = None, progress: ProgressCallback | None = None, stage: str = "clustering",
) -> Clustering:  # fmt: skip
    """Cluster distinct points (``merge_points``) into ``count`` clusters; the result does not depend on ``threads``.

    ``start`` (count, d) gives the first centres, scaled, instead of seeding.  ``progress`` is called with the progress
    in iterations of the ``stage``.

    Raises AbstractionError if there are fewer points than clusters.
    """
    if not 1 <= count <= len(points.rows):
        raise AbstractionError(
            f"{len(points.rows):,} distinct points cannot make {count:,} clusters; ask for fewer buckets"
        )
    config, pool = config or KMeansConfig(), ThreadPool(threads)
    if start is not None:
        return _Run(points, np.array(start, dtype=np.float32), pool, config).settle(progress, stage)
    best: Clustering | None = None
    for attempt in range(config.restarts):
        generator = np.random.default_rng([config.seed, attempt])
        found = _Run(points, _seeds(points, count, generator), pool, config).settle(progress, stage)
        if best is None or found.objective < best.objective:
            best = found
    assert best is not None
    return best


def _seeds(points: Points, count: int, generator: np.random.Generator) -> npt.NDArray[np.float32]:
    """k-means++."""
    from counterplay.kernels.cards.clustering import lower_distances

    rows, weights = points.rows, points.weights.astype(np.float64)
    most = max(SEEDED, 4 * count)
    if len(rows) > most:  # points at equal distances in deals
        steps = (np.arange(most) + generator.random()) * (weights.sum() / most)
        chosen = np.unique(np.searchsorted(np.cumsum(weights), steps, side="right").clip(0, len(rows) - 1))
        if len(chosen) >= count:
            rows, weights = rows[chosen], np.ones(len(chosen))
    nearest = np.full(len(rows), np.inf, dtype=np.float32)
    centres = np.empty((count, rows.shape[1]), dtype=np.float32)
    chance = weights
    for centre in range(count):
        total = np.cumsum(chance)
        if total[-1] <= 0:  # all remaining points coincide with a centre
            total = np.cumsum(weights)
        at = int(np.searchsorted(total, generator.random() * total[-1], side="right").clip(0, len(rows) - 1))
        centres[centre] = rows[at] * points.scale
        lower_distances(rows, points.scale, np.ascontiguousarray(centres[centre][:, None]), points.code, nearest)
        chance = weights * nearest.astype(np.float64) ** 2
    return centres


class _Run:
    """One run of Lloyd's iteration, from given centres."""

    def __init__(
        self, points: Points, centres: npt.NDArray[np.float32], pool: ThreadPool, config: KMeansConfig
    ) -> None:
        size = len(points.rows)
        self.points = points
        self.pool = pool
        self.config = config
        self.centres = np.ascontiguousarray(centres.T)  # (d, k)
        self.label = np.full(size, -1, dtype=np.int32)
        self.upper = np.zeros(size, dtype=np.float32)
        self.lower = np.zeros(size, dtype=np.float32)
        self.shift = np.zeros(len(centres), dtype=np.float32)
        reach = points.rows.max(axis=0).astype(np.float64) @ points.scale  # no distance is larger
        self.slack = float(1e-6 * max(reach, 1e-9))

    def settle(self, progress: ProgressCallback | None, stage: str) -> Clustering:
        """Assign and move until few points change their cluster."""
        objectives: list[float] = []
        iteration, max_iterations = 0, self.config.max_iterations
        few = int(self.config.settled * len(self.label))
        while True:
            changed = self._assign()
            iteration += 1
            if self.config.trace:
                objectives.append(self._objective())
            if progress is not None:
                progress(Progress(iteration, total=max_iterations, stage=stage))
            if iteration >= max_iterations:
                break
            moved = self._fill_empty()
            if changed <= few and not moved:
                break
            if not moved:
                self._move()
        return Clustering(
            self.label, np.ascontiguousarray(self.centres.T), self._objective(), iteration, tuple(objectives)
        )

    def _assign(self) -> int:
        from counterplay.kernels.cards.clustering import assign_points, centre_gaps

        gap = np.empty(self.centres.shape[1], dtype=np.float32)
        centre_gaps(self.centres, self.points.code, gap)
        if not self.config.bounds:
            gap[:] = -1
        points = self.points
        projection = self.centres.sum(axis=0, dtype=np.float64)
        if points.metric == "euclidean":
            projection /= np.sqrt(len(self.centres))
        order = np.argsort(projection, kind="stable")
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        columns = np.ascontiguousarray(self.centres[:, order])
        projection = projection[order]
        changed: list[int] = []

        def work(first: int, last: int) -> None:
            changed.append(
                assign_points(
                    points.rows, points.scale, columns, projection, order, place, points.code, gap, self.shift,
                    self.slack, first, last, self.label, self.upper, self.lower,
                )
            )  # fmt: skip

        self.pool.chunks(work, len(self.label), CHUNK)
        self.shift[:] = 0
        return sum(changed)

    def _move(self) -> None:
        """Move every centre to the mean of its points."""
        sums, mass = self._sums()
        means = (sums / np.maximum(mass, 1)[:, None] * self.points.scale).astype(np.float32).T
        self._replace(np.where(mass > 0, means, self.centres))

    def _fill_empty(self) -> bool:
        """Move centres without points to the points farthest from theirs; whether there were any."""
        mass = np.bincount(self.label, minlength=self.centres.shape[1])
        empty = np.flatnonzero(mass == 0)
        if not len(empty):
            return False
        distance = self._distances()
        far = np.lexsort((np.arange(len(distance)), -distance))[: len(empty)]
        if distance[far[0]] == 0:
            return False  # every point coincides with a centre
        centres = self.centres.copy()
        centres[:, empty] = (self.points.rows[far] * self.points.scale).T
        self._replace(centres)
        return True

    def _replace(self, centres: npt.NDArray[np.float32]) -> None:
        difference = np.abs(centres - self.centres).astype(np.float64)
        absolute = self.points.metric == "absolute"
        moved = difference.sum(axis=0) if absolute else np.sqrt((difference**2).sum(axis=0))
        self.shift += moved.astype(np.float32) * np.float32(1 + 1e-6)
        self.centres = np.ascontiguousarray(centres)

    def _sums(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        from counterplay.kernels.cards.clustering import add_points

        columns, count = self.centres.shape
        parts: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]] = []

        def work(first: int, last: int) -> None:
            try:
                part = parts.pop()  # one for each thread
            except IndexError:
                part = (np.zeros((count, columns), dtype=np.int64), np.zeros(count, dtype=np.int64))
            add_points(self.points.rows, self.points.weights, self.label, first, last, *part)
            parts.append(part)

        self.pool.chunks(work, len(self.label), CHUNK)
        first, *others = parts
        for sums, mass in others:
            first[0][:] += sums
            first[1][:] += mass
        return first

    def _distances(self) -> npt.NDArray[np.float64]:
        """The distance of each point to its centre."""
        total = np.zeros(len(self.label))
        for column in range(len(self.centres)):
            value = self.points.rows[:, column] * self.points.scale[column] - self.centres[column][self.label]
            total += np.abs(value) if self.points.metric == "absolute" else value.astype(np.float64) ** 2
        return total if self.points.metric == "absolute" else np.sqrt(total)

    def _objective(self) -> float:
        distance = self._distances()
        cost = distance if self.points.metric == "absolute" else distance**2
        return float(cost @ self.points.weights / self.points.weights.sum())
