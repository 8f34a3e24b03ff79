"""Estimate of the memory that building a card abstraction takes, before it starts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from counterplay.abstraction.cards.features import MOST_LEVELS, CardFeatures
from counterplay.abstraction.cards.recipe import by_strength
from counterplay.runtime.memory import check_memory

if TYPE_CHECKING:
    from counterplay.abstraction.cards.recipe import CardRecipe


def build_bytes(features: CardFeatures, recipe: CardRecipe, max_table: int) -> int:
    """Approximate peak of bytes: what is kept, plus the largest round."""
    kept = 0
    most = 0
    last = features.rounds - 1
    counts = recipe.counts(features.deck, features.shape)
    for turn, entry in enumerate(recipe.rounds):
        if entry.family == "lossless":
            continue
        size = features.size(turn)
        domain = size
        remembers = turn > 0 and not recipe.rounds[turn - 1].forgets
        if remembers:
            domain = features.ordered(turn).size()
            domain = size if domain > max_table else domain
        kept += domain * np.min_scalar_type(max(1, counts[turn] - 1)).itemsize
        if turn < last and entry.family != "PH":
            size_of = np.min_scalar_type(features.runouts(turn)).itemsize
            table = size * (16 + features.bins * size_of)
        else:
            table = 2 * size
        columns = {"KE": features.bins - 1 if turn < last else 1, "KO": 8}.get(entry.family, 0)
        if entry.family == "PA":
            columns = counts[turn + 1]
        if columns:
            width = 1 if size > 20_000_000 else np.min_scalar_type(_most(features, turn, entry.family)).itemsize
            work = size * (columns * width + 8 + 8 + 4 + 8)
        elif not remembers and by_strength(entry, turn == last):
            work = 0
        else:
            work = domain * 40
        most = max(most, table + work)
    return kept + most


def _most(features: CardFeatures, turn: int, family: str) -> int:
    """The largest number in a row of points."""
    if family == "KO":
        return 65535
    if turn == features.rounds - 1:
        return MOST_LEVELS
    if family == "PA":
        return math.comb(len(features.cards) - features.shape[0] - features.board(turn), features.shape[turn + 1])
    return features.runouts(turn)


def check_build(features: CardFeatures, recipe: CardRecipe, max_table: int, limit: int | None) -> None:
    """Refuse a recipe whose building would not fit, as ``check_memory`` does."""
    advice = "use fewer buckets, another family, or a higher memory limit"
    check_memory(f"building {recipe}", build_bytes(features, recipe, max_table), limit, advice)
