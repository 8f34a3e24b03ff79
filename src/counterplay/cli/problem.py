"""What a command works on: a game, and the abstract game in its place when players forget."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from counterplay.abstraction import Abstraction, abstraction_by_name, split_name
from counterplay.cli.common import compile_with_progress, make_game
from counterplay.errors import AbstractionError
from counterplay.tree.history.game_tree import GameTree

if TYPE_CHECKING:
    from counterplay.strategy import TabularStrategy

FORGET_HELP = (
    "What players forget, such as last-bids=2 (counterplay games says what a game offers), initial, match=PATTERN, "
    "map=FILE.  Can be repeated."
)


@dataclasses.dataclass(frozen=True)
class Problem:
    """A compiled game with what its players forget.

    Attributes
    ----------
    real : GameTree
        The game.
    solved : GameTree
        The game that is solved: the abstract one if there is an abstraction.
    abstraction : Abstraction or None
        Between the two.
    """

    real: GameTree
    solved: GameTree
    abstraction: Abstraction | None = None

    def lift(self, profile: TabularStrategy) -> TabularStrategy:
        """A profile of the solved game as one of the real game."""
        return profile if self.abstraction is None else self.abstraction.lift(profile, self.real)


def load_problem(name: str, forget: list[str], limit: int | None, quiet: bool) -> Problem:
    """Compile the game called ``name`` (which may say what is forgotten itself), and abstract it."""
    plain, what = split_name(name)
    if what is not None and forget:
        raise AbstractionError(f"{name!r} says what is forgotten; leave out --forget")
    what = ",".join(forget) if forget else what
    game = make_game(plain)
    tree = compile_with_progress(game, limit, quiet)
    if what is None:
        return Problem(tree, tree)
    abstraction = abstraction_by_name(game, tree, what)
    return Problem(tree, abstraction.apply(tree), abstraction)
