"""The five-bucket abstraction of 2-NL hold'em (Gibson, Burch, Lanctot and Szafron 2012, section 5).

Percentile buckets by E[HS²], five before the flop and five after it within each of these, with perfect recall.  The
paper does not say how far the strength looks ahead; looking ahead to the river, although the game ends after the flop,
gives its published number (6793 mbb/g for the uniform profile with stacks of 36), looking ahead to the flop does not.
Before the flop a class of hands goes to the bucket that contains its midpoint.
"""

from __future__ import annotations

import numpy as np

import counterplay
from counterplay.abstraction.cards.card_abstraction import BucketTable, CardAbstraction
from counterplay.abstraction.cards.features import CardFeatures
from counterplay.abstraction.cards.percentile import percentile

HOLDEM = (2, 3, 1, 1)


def two_round_cards(features: CardFeatures | None = None, count: int = 5) -> CardAbstraction:
    """The abstraction for games with two hole cards and a flop, full deck; ``count`` buckets at each chance event.

    The features of hold'em are computed if not given, which takes minutes.
    """
    made = features or CardFeatures((13, 4), HOLDEM)
    metric, weight = made.sums(0).square, made.orbits(0).astype(np.int64)
    order = np.argsort(metric, kind="stable")
    middle = 2 * (np.cumsum(weight[order]) - weight[order]) + weight[order]  # doubled, to stay an integer
    first = np.empty(len(order), np.int64)
    first[order] = count * middle // (2 * weight.sum())

    flops = made.indexer(1)
    numbers = np.empty(flops.size(), np.int64)
    for start in range(0, flops.size(), 1 << 18):
        some = np.arange(start, min(flops.size(), start + (1 << 18)))
        numbers[some] = made.indexer(0).indices(flops.hands(some)[:, :2])
    group = first[numbers]
    second = count * group + percentile(made.sums(1).square, made.orbits(1), count, group)
    rounds = (
        BucketTable((2,), count, first.astype(np.uint8), name=f"E[HS²] {count}"),
        BucketTable((2, 3), count * count, second.astype(np.uint16), name=f"E[HS²] {count}x{count}"),
    )
    return CardAbstraction((13, 4), (2, 3), rounds, "perfect", {"version": counterplay.__version__})
