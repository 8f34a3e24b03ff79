"""What is compared: CFR+ as three packages do it.

All three do the same work in an iteration: the two players are updated in turn, each against the other's newest
strategy; regrets are floored at 0 (regret matching plus); the strategy, weighed by the player's own reach and by the
number of the iteration, is added to an average.  Two differences remain.  LiteEFG adds the strategy that an iteration
ends with, the others the one it began with, so its average is one iteration ahead and its exploitability a little
different.  Ours does any number of iterations in one call; the others are called from Python for each, which is the
only way that they offer.
"""

from __future__ import annotations

import importlib
from typing import Protocol

GAMES = ("kuhn", "leduc")


class Run(Protocol):
    """CFR+ on one game, from the first iteration on."""

    def iterate(self, iterations: int) -> None:
        """Do some iterations."""

    def exploitability(self) -> float:
        """Exploitability of the linear average: the mean over players of what a best response gains."""


class Rival(Protocol):
    """A package that runs CFR+."""

    name: str
    tolerance: float
    """How far, relatively, its exploitability may be from ours after the same number of iterations."""

    def start(self, game: str) -> Run:
        """Make everything anew for one of ``GAMES``: from the rules to a solver that has done nothing."""


def find_rivals() -> tuple[list[Rival], list[str]]:
    """Ours first, then the others that are installed, and what is said about those that are not."""
    from benchmarks.ours import Ours

    rivals: list[Rival] = [Ours()]
    skipped = []
    for module, kind in (("openspiel", "OpenSpiel"), ("liteefg", "LiteEFG")):
        try:
            rivals.append(getattr(importlib.import_module(f"benchmarks.{module}"), f"{kind}Rival")())
        except ImportError as error:
            skipped.append(f"{kind} was skipped: it is not installed ({error.name or 'import failed'} is missing)")
    return rivals, skipped
