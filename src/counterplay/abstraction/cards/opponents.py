"""Clusters of opponent hands before the flop, and their weights (Johanson 2016, section 5.4, table 5.1).

Opponent cluster hand strength (OCHS) is the strength of a hand against each of eight groups of starting hands.  The
groups are starting hands with similar histograms of hand strength, by earth mover's distance; ``JOHANSON_2013`` is the
published grouping, whose rows J, Q and K lack a column in print: they are restored to the nearest groups.

The distance between two vectors of OCHS is Euclidean.  The published distances are reproduced if each group is weighted
by its share of the hands; whether of the 1326 combinations (``mass``) or of the 169 classes (``classes``) is open.
"""

from __future__ import annotations

import dataclasses
import itertools
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from counterplay.errors import AbstractionError
from counterplay.poker.cards import CARDS, deck
from counterplay.poker.isomorphism import HandIndexer

Weights: TypeAlias = Literal["none", "mass", "classes"]

JOHANSON_2013 = """
4111112224446
1611112234466
1161122234466
1116333334466
1111733334566
1112373355567
1122338355567
2222333855577
2222333585777
2244445558777
4444445555877
4446666677787
6666666677778
"""
"""Rows and columns 2 to A; suited hands above the diagonal, pairs on it, others below."""


@dataclasses.dataclass(frozen=True, eq=False)
class OpponentClusters:
    """A partition of the starting hands."""

    cluster: npt.NDArray[np.uint8]  # (classes,) the cluster of each starting hand, by its index up to suits
    count: int  # number of clusters
    # (64 ** hole cards,) the same by the cards as digits of base 64, in any order; 255 where there is no such hand
    cluster_of: npt.NDArray[np.uint8]
    # combinations, classes: (count,) number of hands of each cluster, and number up to suits
    combinations: npt.NDArray[np.int64]
    classes: npt.NDArray[np.int64]

    def shares(self, weights: Weights) -> npt.NDArray[np.float64]:
        """Weight of each cluster in a distance: 1, its share of the combinations, or of the classes."""
        if weights == "none":
            return np.ones(self.count)
        if weights not in ("mass", "classes"):
            raise AbstractionError(f"clusters are weighted by none, mass or classes; got {weights!r}")
        hands = self.combinations if weights == "mass" else self.classes
        return np.asarray(hands / hands.sum(), dtype=np.float64)


def opponent_clusters(deck_: tuple[int, int], hole: int, cluster: npt.ArrayLike) -> OpponentClusters:
    """Clusters from the cluster of each starting hand up to suits."""
    indexer = HandIndexer((hole,), *deck_)
    group = np.asarray(cluster, dtype=np.uint8)
    if group.shape != (indexer.size(),):
        raise AbstractionError(f"a partition has {indexer.size()} starting hands; got an array of shape {group.shape}")
    count = int(group.max()) + 1
    cards = deck(*deck_)
    hands = np.array(list(itertools.combinations(cards, hole)), dtype=np.uint8)
    of_hand = group[indexer.indices(hands)]
    slots = np.full(64**hole, 255, dtype=np.uint8)
    for order in itertools.permutations(range(hole)):
        slot = np.zeros(len(hands), dtype=np.int64)
        for place in order:
            slot = 64 * slot + hands[:, place]
        slots[slot] = of_hand
    return OpponentClusters(
        group, count, slots, np.bincount(of_hand, minlength=count), np.bincount(group, minlength=count)
    )


def johanson2013() -> OpponentClusters:
    """The published clusters of the starting hands of hold'em; cluster 7 is the eights and better pairs."""
    rows = JOHANSON_2013.split()
    hands = HandIndexer((2,)).hands(np.arange(169)).astype(np.int64)
    cluster = []
    for one, other in hands.tolist():
        low, high = sorted((one // 4, other // 4))
        row, column = (low, high) if one % 4 == other % 4 else (high, low)
        cluster.append(int(rows[row][column]) - 1)
    assert CARDS == 52
    return opponent_clusters((13, 4), 2, cluster)
