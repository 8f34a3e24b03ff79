"""Card abstractions put together with games: abstract games by name, and small ones as trees of histories.

``poker.BucketGame`` knows arrays; here they come from files.  An abstract game whose real game can be compiled is
also an ``Abstraction`` of it, which merges the information sets with the same betting and bucket: that gives a
``GameTree`` for everything that needs the whole game, and lifts strategies to the real one.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from counterplay.abstraction.cards.card_abstraction import CardAbstraction
from counterplay.abstraction.infosets.abstraction import Abstraction
from counterplay.abstraction.infosets.builders import from_classes
from counterplay.errors import AbstractionError, GameError
from counterplay.game.registry import make
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.cards import parse_cards
from counterplay.poker.poker_game import PokerGame
from counterplay.poker.raise_sizes import bet_abstraction
from counterplay.poker.rules import Betting
from counterplay.tree.history.game_tree import GameTree

__all__ = ["bucket_abstraction", "bucket_game", "infoset_places", "open_cards", "poker_definition"]


def poker_definition(game: str) -> GameDefinition:
    """The definition of a poker game by its name, or from a ``.game`` file."""
    made = make(game)
    if not isinstance(made, PokerGame):
        raise GameError(f"{game} has no hands and betting rounds that cards could be abstracted in; name a poker game")
    return made.definition


def open_cards(
    game: str, cards: Sequence[str | os.PathLike[str]], verify: bool = True
) -> tuple[GameDefinition, tuple[CardAbstraction, ...]]:
    """The definition of a game and the card abstraction of each player.

    Parameters
    ----------
    game : str
        The game by its name.
    cards : sequence of paths
        One file for all players, or one for each.
    verify : bool
        Whether to compare the checksums of the files.
    """
    definition = poker_definition(game)
    if len(cards) not in (1, definition.players):
        raise AbstractionError(
            f"give one card abstraction for all players, or one for each of the {definition.players}; got {len(cards)}"
        )
    paths = [os.fspath(path) for path in cards]
    opened = {path: CardAbstraction.load(path, definition, verify) for path in dict.fromkeys(paths)}
    each = [opened[path] for path in paths]
    return definition, tuple(each * definition.players if len(each) == 1 else each)


def bucket_game(game: str, cards: Sequence[str | os.PathLike[str]], bets: str | None = None) -> BucketGame:
    """An abstract game by names: the game, the files of its card abstractions, and the bets that are left."""
    definition, abstractions = open_cards(game, cards)
    return BucketGame.build(
        definition,
        [abstraction.rounds for abstraction in abstractions],
        None if bets is None else bet_abstraction(bets),
        name=game,
        cards=[os.path.abspath(path) for path in cards],
    )


def bucket_abstraction(tree: GameTree, game: BucketGame) -> Abstraction:
    """The abstraction of the compiled real game that merges what the abstract game does not tell apart.

    ``bucket_abstraction(tree, game).apply(tree)`` is the abstract game as a tree of histories.

    Raises
    ------
    AbstractionError
        If the tree is of another game, or bets were abstracted.
    """
    if game.bets is not None:
        raise AbstractionError("with abstract bets the real game has other actions; compile the game of those bets")
    texts = [name.partition(":")[2] for name in tree.infoset_names]
    _, buckets = infoset_places(tree, game)
    classes = list(zip(texts, buckets, strict=True))
    names = {key: f"{key[1]}:{key[0]}" for key in classes}
    return from_classes(tree, classes, f"buckets of {game.name}", names=names)  # type: ignore[arg-type]


def infoset_places(tree: GameTree, game: BucketGame) -> tuple[list[int], list[int]]:
    """Node of the betting tree and bucket of each information set of the compiled real game."""
    nodes, buckets = [], []
    known: dict[str, int] = {}
    for player, name in zip(tree.infoset_player.tolist(), tree.infoset_names, strict=True):
        cards, _, betting = name.partition(":")
        try:
            hole, *boards = [parse_cards(part) for part in cards.split("/")]
            if betting not in known:
                known[betting] = game.tree.find(Betting.after(game.definition, betting))
        except GameError:
            raise AbstractionError(f"{tree.name} is not {game.name}: it has the information set {name!r}") from None
        nodes.append(known[betting])
        buckets.append(game.bucket(player, betting.count("/"), hole, [card for part in boards for card in part]))
    return nodes, buckets
