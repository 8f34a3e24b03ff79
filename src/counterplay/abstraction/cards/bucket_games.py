"""Bucket games as trees of histories.

A bucket game whose real game can be compiled is also an ``Abstraction`` of it, which merges the information sets with
the same betting and bucket: this gives a ``GameTree`` for everything that needs the whole game, and lifts strategies
to the real game.
"""

from __future__ import annotations

from counterplay.abstraction.infosets.abstraction import Abstraction
from counterplay.abstraction.infosets.builders import from_classes
from counterplay.errors import AbstractionError, GameError
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.cards import parse_cards
from counterplay.poker.rules import Betting
from counterplay.tree.history.game_tree import GameTree


def bucket_abstraction(tree: GameTree, game: BucketGame) -> Abstraction:
    """The abstraction of the compiled real game that merges what the bucket game does not distinguish.

    ``bucket_abstraction(tree, game).apply(tree)`` is the bucket game as a tree of histories.

    Raises AbstractionError if the tree is of another game, or the game has a betting abstraction.
    """
    if game.bets is not None:
        raise AbstractionError(
            "with a betting abstraction the real game has other actions; compile the game with those bets"
        )
    texts = [name.partition(":")[2] for name in tree.infoset_names]
    _, buckets = infoset_places(tree, game)
    classes = list(zip(texts, buckets, strict=True))
    names = {key: f"{key[1]}:{key[0]}" for key in classes}
    return from_classes(tree, classes, f"buckets of {game.name}", names=names)  # type: ignore[arg-type]


def infoset_places(tree: GameTree, game: BucketGame) -> tuple[list[int], list[int]]:
    """Node of the betting tree and bucket of each information set of the compiled real game."""
    nodes, buckets = [], []
    known: dict[str, int] = {}
    for name in tree.infoset_names:
        cards, _, betting = name.partition(":")
        try:
            hole, *boards = [parse_cards(part) for part in cards.split("/")]
            if betting not in known:
                known[betting] = game.tree.find(Betting.after(game.definition, betting))
        except GameError:
            raise AbstractionError(f"{tree.name} is not {game.name}: it has the information set {name!r}") from None
        nodes.append(known[betting])
        buckets.append(game.bucket(known[betting], hole, [card for part in boards for card in part]))
    return nodes, buckets
