"""Opponents that are solved in a moment when they are first needed: ``equilibrium`` and ``small-equilibrium``.

*equilibrium* is an approximate equilibrium of the game itself.  *small-equilibrium* is one of a small abstraction: of
its hand a player knows in each round only whether its strength (``poker.hand_strength``) is below 1/3, from 1/3 to 2/3,
or above, and remembers that.  Both are averages of 500 iterations of CFR+, by ``counterplay.solve``: what an opponent
plays is part of the table of opponents, how a game is solved is not.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable

import counterplay
from counterplay.abstraction.infosets.builders import abstract_by_key
from counterplay.errors import GameError, MemoryLimitError
from counterplay.forms import open_game
from counterplay.game.game import Game
from counterplay.poker.poker_game import PokerGame
from counterplay.poker.postflop import game_title
from counterplay.strategy.strength_rules import seen_strengths
from counterplay.strategy.tabular import TabularStrategy
from counterplay.tree.history.game_tree import GameTree

MOST_HISTORIES = 500_000
"""Larger games are not solved in passing."""

ITERATIONS = 500
CLASSES = 3
"""Classes of hand strength in each round."""


def _remembered(solver: Callable[[Game], TabularStrategy]) -> Callable[[Game], TabularStrategy]:
    """The same, once for each game."""
    cached = functools.lru_cache(maxsize=8)(solver)

    @functools.wraps(solver)
    def solved(game: Game) -> TabularStrategy:
        return cached(game) if isinstance(game, Hashable) else solver(game)

    return solved


@_remembered
def equilibrium(game: Game) -> TabularStrategy:
    """An approximate equilibrium of a small game.  Raises GameError if the game is too large."""
    return _solved(_small_tree(game))


@_remembered
def small_equilibrium(game: Game) -> TabularStrategy:
    """An approximate equilibrium of a small abstraction of a poker game.

    Raises GameError if the game is too large, or hands have no strength in it.
    """
    tree = _small_tree(game)
    strengths = seen_strengths(game)
    classes = {name: [min(CLASSES - 1, int(CLASSES * one)) for one in row] for name, row in strengths.items()}

    def known(_player: int, infoset: str) -> Hashable:
        cards, _, betting = infoset.partition(":")
        return tuple(classes[cards]), betting

    abstraction = abstract_by_key(tree, known, "hands but for their strength")
    profile = _solved(abstraction.apply(tree))
    return TabularStrategy.from_tree(tree, abstraction.lift_strategy(profile.table), profile.provenance)


def _solved(tree: GameTree) -> TabularStrategy:
    profile = counterplay.solve(tree, "cfr+", iterations=ITERATIONS).profile  # found by the package when it is called
    assert isinstance(profile, TabularStrategy)
    return profile


def _small_tree(game: Game) -> GameTree:
    size = game.num_histories()
    try:
        tree = None if (size or 0) > MOST_HISTORIES else open_game(game, "history", memory_limit=1 << 28)
    except MemoryLimitError:
        tree = None
    if tree is None or tree.num_histories > MOST_HISTORIES:
        raise GameError(
            f"{game_title(game.spec())} is too large to be solved in passing (more than {MOST_HISTORIES:,} histories); "
            f"{_instead(game)}, which can be named instead"
        )
    return tree


def _instead(game: Game) -> str:
    """What makes a strategy of a large game."""
    if not isinstance(game, PokerGame):
        return "counterplay solve --out writes a strategy"
    bets = "" if game.definition.limit else " --bets fcpa"
    return f"counterplay build {game.spec()} --preset tiny{bets} makes an agent in about a minute"
