"""Bucket games of experiments: from the text of a card abstraction, or the five buckets of Gibson et al. 2012."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from counterplay.abstraction.cards import (
    BuildSettings,
    CardAbstraction,
    CardFeatures,
    Recall,
    build_cards,
    deck_shape,
    parse_recipe,
)  # fmt: skip
from counterplay.abstraction.cards.two_round import two_round_cards
from counterplay.evaluation.bucket_pairs import BucketPairs, count_bucket_pairs
from counterplay.forms import poker_definition
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.runtime.array_cache import default_cache


def cards_of(
    game: str, text: str, recall: Recall | None = None, threads: int = 1, runout: tuple[int, ...] = ()
) -> CardAbstraction:
    """The card abstraction of a game by a text as for ``counterplay abstract --rounds``; features are cached."""
    deck, shape = deck_shape(poker_definition(game))
    recipe = parse_recipe(text, deck, shape, recall)
    return build_cards(deck, shape, recipe, BuildSettings(runout=runout), cache=default_cache(), threads=threads)


def five_buckets(threads: int = 1) -> CardAbstraction:
    """The abstraction of 2-NL hold'em; its features take minutes the first time."""
    return two_round_cards(CardFeatures((13, 4), (2, 3, 1, 1), cache=default_cache(), threads=threads))


def bucket_game(game: str, cards: CardAbstraction) -> BucketGame:
    """A game in the buckets of a card abstraction."""
    return BucketGame.build(poker_definition(game), cards.rounds, name=game)


def two_round_games(stacks: Iterable[int], threads: int) -> Iterator[tuple[int, BucketGame, BucketPairs]]:
    """2-NL hold'em in five buckets by the size of the stacks, with its bucket pair counts, which are those of all."""
    cards, pairs = five_buckets(threads), None
    for stack in stacks:
        game = bucket_game(f"holdem_2_nolimit(stack={stack})", cards)
        pairs = pairs or count_bucket_pairs(game)
        yield stack, game, pairs
