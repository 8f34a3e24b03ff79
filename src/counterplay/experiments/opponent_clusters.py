"""The clusters of opponents of OCHS, made again (Johanson 2016, table 5.1).

The 169 starting hands of hold'em in eight clusters, by the earth mover's distance between their histograms of hand
strength at the river.  Clusters are numbered as published: each of ours has the number of a published one, so that as
many hands as possible agree.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from counterplay.abstraction.cards import BuildSettings, CardFeatures, build_cards, parse_recipe
from counterplay.abstraction.cards.opponents import johanson2013
from counterplay.experiments.shared.experiment import Experiment
from counterplay.poker.cards import RANKS
from counterplay.poker.isomorphism import HandIndexer
from counterplay.runtime.array_cache import default_cache

DECK, RUNOUT, CLUSTERS = (13, 4), (3, 1, 1), 8


def run(quick: bool = False, restarts: int | None = None, seed: int = 0, threads: int = 1) -> Experiment:
    """Cluster the starting hands.

    Parameters
    ----------
    quick : bool
        2 restarts of k-means instead of 20; features take minutes the first time either way.
    restarts, seed : int
        Restarts and seed of k-means; the clusters with the smallest mean distance are taken.
    threads : int
        For features.
    """
    cache = default_cache()
    settings = BuildSettings(seed=seed, restarts=restarts or (2 if quick else 20), runout=RUNOUT)
    cards = build_cards(DECK, (2,), parse_recipe(f"KE{CLUSTERS}", DECK, (2,)), settings, cache, threads)
    features = CardFeatures(DECK, (2, *RUNOUT), cache, threads)
    histogram = features.sums(0).histogram.astype(np.float64)
    below = np.cumsum(histogram / histogram.sum(axis=1, keepdims=True), axis=1)
    published, table = johanson2013().cluster.astype(np.int64), cards.rounds[0].table
    assert table is not None
    ours, hands = matched(table.astype(np.int64), published), features.orbits(0).astype(np.float64)
    same = int(np.sum(ours == published))
    distance = [mean_distance(below, hands, cluster) for cluster in (ours, published)]
    return Experiment(
        title="Clusters of starting hands; suited hands above the diagonal, others below",
        source="Johanson 2016, table 5.1",
        columns=("", "published, 2 to A", "ours"),
        rows=tuple(zip(RANKS, grid(published), grid(ours), strict=True)),
        notes=(
            f"{same} of 169 starting hands are in the published cluster; rows J, Q and K are printed with an error.",
            f"Mean distance to the centre of the cluster: ours {distance[0]:.4f}, published {distance[1]:.4f} bins.",
        ),
    )


def matched(ours: NDArray[np.int64], published: NDArray[np.int64]) -> NDArray[np.int64]:
    """Our clusters with the numbers of the published ones, so that most hands agree."""
    shared = np.zeros((CLUSTERS, CLUSTERS))
    np.add.at(shared, (ours, published), 1.0)
    rows, columns = linear_sum_assignment(shared, maximize=True)
    return np.asarray(columns[np.argsort(rows)][ours])


def grid(cluster: NDArray[np.int64]) -> list[str]:
    """A text for each rank: the clusters, from 1 on, of its hands with the ranks 2 to A."""
    indexer = HandIndexer((2,), *DECK)

    def number(row: int, column: int) -> str:
        second = 4 * column + (0 if column > row else 1)  # suited above the diagonal
        return str(int(cluster[indexer.index([4 * row, second])]) + 1)

    return [" ".join(number(row, column) for column in range(13)) for row in range(13)]


def mean_distance(below: NDArray[np.float64], hands: NDArray[np.float64], cluster: NDArray[np.int64]) -> float:
    """The mean earth mover's distance of a hand from the mean histogram of its cluster, in bins."""
    total = 0.0
    for number in range(CLUSTERS):
        mine = cluster == number
        if mine.any():
            centre = np.average(below[mine], axis=0, weights=hands[mine])
            total += float(hands[mine] @ np.abs(below[mine] - centre).sum(axis=1))
    return total / float(hands.sum())
