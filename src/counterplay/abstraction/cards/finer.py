"""Whether one card abstraction is finer than another (Johanson 2016, sections 2.6 and 4.1).

A finer abstraction is expected to give a less exploitable strategy, but need not: such cases are called pathologies.
"""

from __future__ import annotations

import numpy as np

from counterplay.abstraction.cards.bucket_report import random_deals
from counterplay.abstraction.cards.card_abstraction import CardAbstraction
from counterplay.abstraction.cards.features import CardFeatures
from counterplay.errors import AbstractionError

EVERY_HAND = 2_000_000
"""Rounds with at most this many hands are compared in full."""


def refines(fine: CardAbstraction, coarse: CardAbstraction, deals: int = 1_000_000, seed: int = 0) -> bool:
    """Whether hands that share a bucket of ``fine`` always share one of ``coarse``, in every round.

    Rounds of up to two million hands are compared in full, others by random deals: False is certain, True holds for
    the deals compared.
    """
    if (fine.deck, fine.shape) != (coarse.deck, coarse.shape):
        raise AbstractionError(
            f"abstractions of different cards cannot be compared: {fine.deck}, {fine.shape} and "
            f"{coarse.deck}, {coarse.shape}"
        )
    features = CardFeatures(fine.deck, fine.shape)
    hole = fine.shape[0]
    for turn in range(len(fine.shape)):
        indexer = features.ordered(turn)
        if indexer.size() <= EVERY_HAND:
            hands = indexer.hands(np.arange(indexer.size()))
        else:
            hands = random_deals(features.cards, sum(fine.shape[: turn + 1]), deals, seed)
        one = fine.buckets(hands[:, :hole], hands[:, hole:])[:, turn].astype(np.int64)
        other = coarse.buckets(hands[:, :hole], hands[:, hole:])[:, turn]
        pairs = np.unique(one * (int(other.max()) + 1) + other)
        if len(pairs) > len(np.unique(one)):
            return False
    return True
