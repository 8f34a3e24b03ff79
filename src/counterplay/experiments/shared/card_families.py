"""The eighteen families of card abstractions of Johanson 2016, chapter 5 and section 11.3, in games of any size.

A family is named by recall and by what its buckets are made from, before the last round and in it:

    PR   perfect recall, equally many buckets in every round
    EQ   imperfect recall: hands before the flop are not abstracted, later rounds have equal numbers of buckets
    FT   the same with fewer buckets in the last round and more before it
    PHS  nested percentiles of hand strength        KE  k-means by earth mover's distance between histograms
    KO   k-means by strength against clusters of opponents

All families of a game have nearly the same number of information sets, that of perfect recall.
"""

from __future__ import annotations

import math

from counterplay.abstraction.cards import CardAbstraction, deck_shape
from counterplay.errors import AbstractionError
from counterplay.experiments.shared.bucket_games import bucket_game, cards_of
from counterplay.forms import poker_definition
from counterplay.poker.betting import count_betting
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.isomorphism import HandIndexer

RECALLS = ("PR", "EQ", "FT")
FEATURES = ("PHS-PHS", "PHS-KO", "KE-PHS", "KE-KO", "KO-PHS", "KO-KO")

FAMILIES = tuple(f"{recall}-{features}" for recall in RECALLS for features in FEATURES)
"""All families, in the order of table 11.3."""

LAST_SHARE = 1950 / 9000
"""Buckets of the last round of a family FT for each of a family EQ, as published for the river."""

NESTED = 2.5
"""First percentiles for each second one: 150 x 60 and 406 x 163 as published."""


def family_recipe(family: str, game: str, buckets: int) -> str:
    """The buckets of a family, as for ``counterplay abstract --rounds``.

    Parameters
    ----------
    family : str
        One of ``FAMILIES``.
    game : str
        A poker game from a definition.
    buckets : int
        Buckets of each round with perfect recall, which say how many information sets all families have.

    Raises
    ------
    AbstractionError
        If there is no such family.
    """
    if family not in FAMILIES:
        raise AbstractionError(f"families are {', '.join(FAMILIES)}; got {family!r}")
    recall, early, late = family.split("-")
    definition = poker_definition(game)
    rounds = definition.rounds
    if recall == "PR":
        return "/".join([early_part(early, buckets)] * (rounds - 1) + [last_part(late, buckets)])
    middle, last = equal_size(game, [buckets**turn for turn in range(1, rounds + 1)], recall)
    return "/".join(["IRlossless", *[f"IR{early_part(early, middle)}"] * (rounds - 2), last_part(late, last)])


def equal_size(game: str, counts: list[int], recall: str) -> tuple[int, int]:
    """The buckets of the middle rounds and of the last one that give imperfect recall as many information sets.

    ``counts`` are the buckets of the rounds of the other abstraction.
    """
    definition = poker_definition(game)
    deck, shape = deck_shape(definition)
    betting = count_betting(definition)
    left = betting.infosets(counts) - betting.decisions[0] * HandIndexer(shape, *deck).sizes[0]
    equal = max(1, round(left / sum(betting.decisions[1:])))
    if recall == "EQ" or definition.rounds == 2:
        return equal, equal
    last = max(1, round(LAST_SHARE * equal))
    return max(1, round((left - betting.decisions[-1] * last) / sum(betting.decisions[1:-1]))), last


def early_part(features: str, buckets: int) -> str:
    """The entry of a round before the last; percentiles are nested in the ratio published where that gives as many."""
    second = max(2, round(math.sqrt(buckets / NESTED)))
    first = round(buckets / second)
    if features == "PHS" and first > 1 and abs(first * second - buckets) <= buckets / 10:
        return f"PHS{first}x{second}"
    return last_part(features, buckets)


def last_part(features: str, buckets: int) -> str:
    """The entry of the last round, where hand strength is one number: percentiles are not nested."""
    return f"{features.replace('PHS', 'PS')}{buckets}"


def family_game(family: str, game: str, buckets: int, threads: int = 1) -> tuple[CardAbstraction, BucketGame]:
    """A game in the buckets of a family."""
    cards = cards_of(game, family_recipe(family, game, buckets), threads=threads)
    return cards, bucket_game(game, cards)
