"""``small-equilibrium``: an opponent that is solved in a moment when it is first needed."""

from __future__ import annotations

import functools

from counterplay.errors import GameError, MemoryLimitError
from counterplay.forms import open_game
from counterplay.game.game import Game
from counterplay.runs import solve
from counterplay.strategy.tabular import TabularStrategy
from counterplay.tree.history.game_tree import GameTree

MOST_HISTORIES = 200_000
"""Larger games are not solved in passing."""

ITERATIONS = 500


@functools.lru_cache(maxsize=8)
def small_equilibrium(game: Game) -> TabularStrategy:
    """An approximate equilibrium of a small game, by 500 iterations of CFR+.

    Raises GameError if the game is too large to be solved in a few seconds.
    """
    profile = solve(_small_tree(game), "cfr+", iterations=ITERATIONS).profile
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
            f"{game.spec()} is too large to be solved in passing (more than {MOST_HISTORIES:,} histories); solve it, "
            "or build an agent for it (counterplay build), and name the file"
        )
    return tree
