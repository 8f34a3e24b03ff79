"""Ready-made opponents: the one table of their names, for ``match``, ``tournament``, ``play`` and ``evaluate`` alike.

Some do not look at their cards (``strategy.trivial``), some look at the strength of their hand
(``strategy.strength_rules``), and ``equilibrium`` and ``small-equilibrium`` are solved when they are needed.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping
from typing import TypeAlias

from counterplay.errors import StrategyError
from counterplay.game.game import Game
from counterplay.runtime.suggestions import did_you_mean, find_name
from counterplay.strategy.solved_opponents import equilibrium, small_equilibrium
from counterplay.strategy.strength_rules import StrengthRule
from counterplay.strategy.tabular import TabularStrategy
from counterplay.strategy.trivial import TRIVIAL, CardFree


@dataclasses.dataclass(frozen=True)
class Solved:
    """A strategy that is solved for its game.

    Attributes
    ----------
    solver : callable
        Solves a game.  Raises GameError if the game is too large for that.
    what : str
        What is solved.
    """

    solver: Callable[[Game], TabularStrategy]
    what: str

    def strategy(self, game: Game) -> TabularStrategy:
        """The strategy for a game, which is solved once."""
        return self.solver(game)

    def note(self, game: Game) -> str:
        """How it was solved."""
        origin, name = self.strategy(game).provenance, game.spec()
        return f"solved {self.what.format(game=name)}: {origin.iterations} iterations of {origin.algorithm}"


ReadyMade: TypeAlias = CardFree | StrengthRule | Solved

FOLD, CALL, RAISE = CardFree(1.0, 0.0, 0.0), CardFree(0.0, 1.0, 0.0), CardFree(0.0, 0.0, 1.0)
EVEN = CardFree(0.0, 0.5, 0.5)
BLUFF = CardFree(0.75, 0.0, 0.25)
STRONGEST = 2.0
"""An end above all strengths."""

RULES = (
    StrengthRule("tight", ((0.6, FOLD), (0.85, CALL), (STRONGEST, RAISE))),
    StrengthRule("loose", ((0.2, FOLD), (0.85, CALL), (STRONGEST, RAISE))),
    StrengthRule("aggressive", ((0.3, BLUFF), (0.55, EVEN), (STRONGEST, RAISE))),
    StrengthRule("tilted", ((0.5, EVEN), (STRONGEST, RAISE))),
)

READY_MADE: Mapping[str, ReadyMade] = {
    **TRIVIAL,
    **{rule.name: rule for rule in RULES},
    "equilibrium": Solved(equilibrium, "{game} for equilibrium"),
    "small-equilibrium": Solved(small_equilibrium, "{game} with 3 classes of hand strength for small-equilibrium"),
}
"""The ready-made opponents by name."""

MEANT = {"fold": "always-fold", "call": "always-call", "check": "always-call", "always-check": "always-call",
         "calling-station": "always-call loose", "raise": "always-raise", "fifty-fifty": "50/50", "50-50": "50/50",
         "probe": "50/50", "random": "uniform", "nit": "tight", "rock": "tight", "maniac": "tilted aggressive",
         "tilt": "tilted", "lag": "aggressive", "nash": "equilibrium",
         "gto": "equilibrium"}  # fmt: skip
"""What somebody means who writes it so."""


def opponent_name(text: str) -> str:
    """A ready-made opponent as the table writes it, whatever its case; any other text, and a file's name, unchanged."""
    found = find_name(text, READY_MADE)
    return text if found is None or (found != text and os.path.exists(text)) else found


def ready_made(name: str) -> ReadyMade:
    """A ready-made opponent by name."""
    if name not in READY_MADE:
        raise StrategyError(f"there is no strategy {name!r}; {did_you_mean(name, READY_MADE, meant=MEANT)}")
    return READY_MADE[name]


def ready_made_name(strategy: CardFree | StrengthRule) -> str:
    """The name of a strategy in the table; its representation if it has none."""
    return next((name for name, known in READY_MADE.items() if known == strategy), repr(strategy))
