"""The contents of the buckets of a card abstraction: their mass, their strength, and a few hands of each.

Random deals are looked up, so that every family and recall is reported in the same way; the figures are means over
these deals.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt

from counterplay.abstraction.cards.card_abstraction import CardAbstraction
from counterplay.abstraction.cards.features import CardFeatures
from counterplay.errors import AbstractionError
from counterplay.poker.cards import cards_text
from counterplay.runtime.seeds import check_seed


@dataclasses.dataclass(frozen=True, eq=False)
class RoundReport:
    """The buckets of a round that occurred in the deals, weakest first."""

    name: str  # how they were made
    count: int  # all buckets, including those that did not occur
    bucket: npt.NDArray[np.int64]  # (M,) their numbers
    mass: npt.NDArray[np.float64]  # (M,) share of the deals
    strength: npt.NDArray[np.float64]  # (M,) mean of the hand strength at the showdown
    spread: npt.NDArray[np.float64]  # (M,) its standard deviation
    histogram: npt.NDArray[np.float64]  # (M, bins) the distribution of the hand strength at the showdown
    hands: tuple[tuple[str, ...], ...]  # a few hands of each, as ``AsKd QhJhTh``


def random_deals(cards: npt.NDArray[Any], size: int, deals: int, seed: int) -> npt.NDArray[np.uint8]:
    """Random deals of ``size`` cards: (deals, size)."""
    generator = np.random.default_rng(check_seed(seed, AbstractionError))
    order = np.argsort(generator.random((deals, len(cards)), dtype=np.float32), axis=1)[:, :size]
    return np.asarray(cards)[order].astype(np.uint8)


def report_cards(
    abstraction: CardAbstraction, features: CardFeatures, deals: int = 100_000, examples: int = 4, seed: int = 0
) -> tuple[RoundReport, ...]:
    """Report on the buckets of every round by random deals; ``examples`` hands of each bucket are shown.

    The features must be of the same cards.
    """
    shape, hole = abstraction.shape, abstraction.shape[0]
    dealt = random_deals(features.cards, sum(shape), deals, seed)
    found = abstraction.buckets(dealt[:, :hole], dealt[:, hole:])
    strength = features.strengths()[features.indexer(len(shape) - 1).indices(dealt)] / features.unit
    bin_of = np.minimum(features.bins - 1, np.floor(strength * features.bins + 1e-9).astype(np.int64))
    rounds = []
    for turn, table in enumerate(abstraction.rounds):
        seen = sum(shape[: turn + 1])
        bucket, place = np.unique(found[:, turn], return_inverse=True)
        number = np.bincount(place)
        mean = np.bincount(place, strength) / number
        square = np.bincount(place, strength**2) / number
        cells = np.bincount(place * features.bins + bin_of, minlength=len(bucket) * features.bins)
        histogram = cells.reshape(len(bucket), features.bins) / number[:, None]
        hands = _examples(dealt[:, :seen], place, len(bucket), hole, examples)
        order = np.argsort(mean, kind="stable")
        rounds.append(
            RoundReport(
                table.name, table.count, bucket[order].astype(np.int64), number[order] / deals, mean[order],
                np.sqrt(np.maximum(square - mean**2, 0))[order], histogram[order], tuple(hands[at] for at in order),
            )
        )  # fmt: skip
    return tuple(rounds)


def _examples(
    dealt: npt.NDArray[np.uint8], place: npt.NDArray[np.int64], count: int, hole: int, examples: int
) -> list[tuple[str, ...]]:
    order = np.argsort(place, kind="stable")
    starts = np.searchsorted(place[order], np.arange(count + 1))
    hands = []
    for bucket in range(count):
        rows = dealt[order[starts[bucket] : starts[bucket + 1]][:examples]]
        texts = [f"{cards_text(sorted(row[:hole])[::-1])} {cards_text(row[hole:])}".strip() for row in rows.tolist()]
        hands.append(tuple(texts))
    return hands
