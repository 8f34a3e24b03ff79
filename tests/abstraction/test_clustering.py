"""k-means: seeding, bounds by the triangle inequality, weights, and what it refuses."""

from __future__ import annotations

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

from counterplay.abstraction.cards.clustering import KMeansConfig, Metric, Points, k_means, merge_points
from counterplay.errors import AbstractionError

METRICS: tuple[Metric, ...] = ("euclidean", "absolute")


def blobs(seed: int, size: int = 400, columns: int = 6, metric: Metric = "euclidean") -> Points:
    """Random points around a few places; all different."""
    generator = np.random.default_rng(seed)
    places = generator.integers(0, 200, (5, columns))
    rows = (places[generator.integers(0, 5, size)] + generator.integers(0, 50, (size, columns))).astype(np.uint8)
    rows = np.unique(rows, axis=0)
    generator.shuffle(rows)
    weights = generator.integers(1, 25, len(rows))
    return Points(rows, np.full(columns, 1 / 255, dtype=np.float32), weights, metric)


def lloyd(points: Points, centres: np.ndarray, most: int) -> np.ndarray:
    """The definition: every distance, added up column by column, so that ties come out alike."""
    rows = points.rows.astype(np.float32) * points.scale
    label = np.full(len(rows), -1)
    for _ in range(most):
        distance = np.zeros((len(rows), len(centres)), dtype=np.float32)
        for column in range(rows.shape[1]):
            gap = rows[:, column, None] - centres[None, :, column]
            distance += np.abs(gap) if points.metric == "absolute" else gap * gap
        new = distance.argmin(axis=1)
        if (new == label).all():
            break
        label = new
        for centre in range(len(centres)):
            mine = label == centre
            total = (points.rows[mine] * points.weights[mine, None]).sum(axis=0)
            centres[centre] = (total / points.weights[mine].sum() * points.scale).astype(np.float32)
    return label


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("seed", range(4))
def test_equals_the_definition_from_the_same_centres(metric: Metric, seed: int) -> None:
    points = blobs(seed, metric=metric)
    start = (points.rows[:9] * points.scale).astype(np.float32)
    found = k_means(points, 9, KMeansConfig(settled=0.0, max_iterations=200), start=start)
    assert found.label.tolist() == lloyd(points, start.copy(), 200).tolist()


@hypothesis.given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.sampled_from(METRICS))
@hypothesis.settings(max_examples=25, deadline=None)
def test_bounds_and_threads_change_nothing(seed: int, count: int, metric: Metric) -> None:
    points = blobs(seed, size=150, columns=3, metric=metric)
    with_bounds = k_means(points, count, KMeansConfig(seed), threads=2)
    plain = k_means(points, count, KMeansConfig(seed, bounds=False))
    assert np.array_equal(with_bounds.label, plain.label)
    assert np.array_equal(with_bounds.centres, plain.centres)


@pytest.mark.parametrize("metric", METRICS)
def test_the_order_of_points_is_of_no_matter(metric: Metric) -> None:
    points = blobs(5, metric=metric)
    start = (points.rows[:7] * points.scale).astype(np.float32)
    order = np.random.default_rng(0).permutation(len(points.rows))
    mixed = Points(points.rows[order], points.scale, points.weights[order], metric)
    found, again = k_means(points, 7, start=start), k_means(mixed, 7, start=start)
    assert np.array_equal(found.label[order], again.label)
    assert np.array_equal(found.centres, again.centres)


def test_the_objective_never_rises() -> None:
    found = k_means(blobs(6), 8, KMeansConfig(settled=0.0, trace=True))
    assert len(found.objectives) > 3
    assert (np.diff(found.objectives) <= 1e-9).all()
    assert found.objective == pytest.approx(found.objectives[-1])


def test_more_restarts_are_no_worse() -> None:
    points = blobs(7)
    best = k_means(points, 5, KMeansConfig(seed=1, restarts=6)).objective
    assert best <= k_means(points, 5, KMeansConfig(seed=1)).objective


def test_weights_count_like_copies() -> None:
    """A point of weight three is three points; merging finds them."""
    points = blobs(8, size=60)
    weights = points.weights % 3 + 1
    rows, merged, place = merge_points(np.repeat(points.rows, weights, axis=0), np.ones(weights.sum(), dtype=np.int64))
    assert sorted(map(tuple, rows.tolist())) == sorted(map(tuple, points.rows.tolist()))
    weight_of = {tuple(row): weight for row, weight in zip(points.rows.tolist(), weights.tolist(), strict=True)}
    assert [weight_of[tuple(row)] for row in rows.tolist()] == merged.tolist()
    assert np.array_equal(rows[place], np.repeat(points.rows, weights, axis=0))


def test_as_many_clusters_as_points_leave_nothing_over() -> None:
    points = blobs(9, size=30)
    found = k_means(points, len(points.rows))
    assert found.objective == 0
    assert len(set(found.label.tolist())) == len(points.rows)


def test_centres_without_points_find_some() -> None:
    """Two centres in the same place: one of them would stay empty."""
    points = blobs(10)
    start = (points.rows[[0, 0, 1]] * points.scale).astype(np.float32)
    assert len(set(k_means(points, 3, start=start).label.tolist())) == 3


def test_too_few_points_are_told() -> None:
    points = blobs(11, size=20)
    with pytest.raises(AbstractionError, match=r"distinct points cannot make 50 clusters"):
        k_means(points, 50)


def test_one_dimensional_earth_movers_distance() -> None:
    """The sum of absolute differences of cumulative histograms is the work of moving earth (here: by hand)."""
    one, other = np.array([4, 0, 0, 0]), np.array([1, 1, 1, 1])
    assert np.abs(np.cumsum(one) - np.cumsum(other)).sum() == 1 * 1 + 1 * 2 + 1 * 3
