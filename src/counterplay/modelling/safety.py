"""A bound on what choosing among strategies may cost, whatever the opponent does.

A strategy that exploits somebody can be exploited itself, at worst for its exploitability in every hand (Johanson 2016,
chapter 6).  ``SafetyBound`` adds up, hand by hand, how much more exploitable the member that plays is than the
equilibrium, and has the equilibrium play, for good, as soon as the next hand would exceed the bound.  Members that are
less exploitable than the equilibrium earn nothing back.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from counterplay.errors import GameError


class SafetyBound:
    """Admits members as long as a bound is kept.

    Parameters
    ----------
    exploitabilities : sequence of float
        Of the members, in chips a hand.
    equilibrium : int
        The member that is played when the bound is reached.
    bound : float
        The most that the sum over hands of (exploitability of the member played - that of the equilibrium) may be.
    """

    def __init__(self, exploitabilities: Sequence[float], equilibrium: int, bound: float) -> None:
        number = isinstance(bound, int | float) and not isinstance(bound, bool)
        if not number or not math.isfinite(bound) or bound < 0.0:
            raise GameError(f"the bound of a safe agent is an amount of chips, at least 0; got {bound!r}")
        if not all(math.isfinite(one) and one >= 0.0 for one in exploitabilities):
            raise GameError(f"exploitabilities are numbers, at least 0; got {list(exploitabilities)}")
        self.equilibrium, self.bound = equilibrium, float(bound)
        self.excess = [max(one - exploitabilities[equilibrium], 0.0) for one in exploitabilities]
        """How much more than the equilibrium each member can lose in a hand."""
        self.spent = 0.0
        """The sum over the hands so far."""
        self.reached = False
        """Whether the equilibrium alone plays."""

    def keeps(self, member: int) -> bool:
        """Whether the bound is kept if a member plays the next hand."""
        return not self.reached and self.spent + self.excess[member] <= self.bound

    def admit(self, member: int) -> int:
        """Who plays the next hand instead of a member: itself, or the equilibrium; the hand is counted."""
        if not self.keeps(member):
            self.reached = True
            return self.equilibrium
        self.spent += self.excess[member]
        return member

    def restore(self, spent: float, reached: bool) -> None:
        """Resume.  Raises GameError if more than the bound was spent."""
        if not 0.0 <= spent <= self.bound:
            raise GameError(f"{spent!r} chips of the bound of {self.bound!r} cannot have been spent")
        self.spent, self.reached = spent, reached
