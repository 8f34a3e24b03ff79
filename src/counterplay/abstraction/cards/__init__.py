"""Card abstractions: hands that are played alike share a bucket, round by round (Johanson 2016, chapter 5)."""

from counterplay.abstraction.cards.build_cards import BuildSettings, build_cards
from counterplay.abstraction.cards.card_abstraction import BucketTable, CardAbstraction, Recall, deck_shape
from counterplay.abstraction.cards.expert_buckets import part_bucket_game, with_experts
from counterplay.abstraction.cards.features import CardFeatures, HandSums
from counterplay.abstraction.cards.finer import refines
from counterplay.abstraction.cards.recipe import CardRecipe, RoundRecipe, parse_recipe

__all__ = [
    "BucketTable", "BuildSettings", "CardAbstraction", "CardFeatures", "CardRecipe", "HandSums", "Recall",
    "RoundRecipe", "build_cards", "deck_shape", "parse_recipe", "part_bucket_game", "refines", "with_experts",
]  # fmt: skip
