"""What a command works on: a game, and the abstract game in its place when players forget."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from counterplay.abstraction import Abstraction
from counterplay.cli.common import compile_status
from counterplay.forms import GameForms
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
    """Compile the game called ``name`` (which may say what is forgotten itself), and merge what is forgotten."""
    with compile_status(name, quiet) as progress:
        forms = GameForms(name, forget=forget, memory_limit=limit, progress=progress)
        return Problem(forms.real, forms.history(), forms.abstraction)
