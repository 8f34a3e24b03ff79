"""Clusters of starting hands beside the published ones."""

from __future__ import annotations

import numpy as np
import pytest

from counterplay.abstraction.cards.opponents import JOHANSON_2013, johanson2013
from counterplay.experiments import run_experiment
from counterplay.experiments.opponent_clusters import CLUSTERS, grid, matched, mean_distance


def test_the_published_clusters_are_found_by_any_numbers() -> None:
    published = johanson2013().cluster.astype(np.int64)
    assert [row.replace(" ", "") for row in grid(published)] == JOHANSON_2013.split()
    numbers = np.random.default_rng(5).permutation(CLUSTERS)
    assert np.array_equal(matched(numbers[published], published), published)
    moved = published.copy()
    moved[:5] = (moved[:5] + 1) % CLUSTERS
    assert int(np.sum(matched(numbers[moved], published) == published)) == len(published) - 5


def test_distances_from_centres_count_by_hands() -> None:
    below = np.array([[0.0, 1.0], [1.0, 1.0], [0.5, 0.5]])
    hands = np.array([3.0, 1.0, 4.0])
    assert mean_distance(below, hands, np.array([0, 0, 1])) == pytest.approx((3 * 0.25 + 0.75) / 8)
    assert mean_distance(below, hands, np.array([0, 1, 2])) == 0.0


@pytest.mark.slow
def test_most_hands_are_in_their_published_cluster() -> None:
    found = run_experiment("opponent-clusters")
    ours = "".join(str(row[2]) for row in found.rows).replace(" ", "")
    same = sum(one == two for one, two in zip(ours, "".join(JOHANSON_2013.split()), strict=True))
    assert same >= 150
    assert found.notes[0].startswith(f"{same} of 169 ")
