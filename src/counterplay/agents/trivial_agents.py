"""Agents without a thought: always fold, always call, always raise, call or raise at even odds, anything at random.

Johanson 2016, section 2.6 and table 2.1.  *Always fold* folds where it may, that is when it faces a bet; in heads-up
limit hold'em it loses 750 mbb/g to whoever bets.  *Always raise* calls when it may not raise.  *Fifty-fifty* never
folds, and calls and raises with equal probability; as an opponent that leads into every part of a game it is called
*probe* (section 6.3.2).  In no-limit games a raise is the smallest one.  *Uniform* takes every legal action, and every
size of a raise, with the same probability.
"""

from __future__ import annotations

from collections.abc import Sequence

from counterplay.agents.agent import Decision, Policy, Seen, choices

__all__ = ["AlwaysCall", "AlwaysFold", "AlwaysRaise", "FiftyFifty", "UniformRandom"]


class AlwaysFold(Policy):
    """Folds where it may."""

    def distribution(self, seen: Seen) -> Sequence[tuple[str, float]]:
        """Fold, or check where folding is not allowed."""
        options = choices(seen)
        return [(options.fold or options.call, 1.0)]


class AlwaysCall(Policy):
    """Checks and calls."""

    def distribution(self, seen: Seen) -> Sequence[tuple[str, float]]:
        """Call."""
        return [(choices(seen).call, 1.0)]


class AlwaysRaise(Policy):
    """Bets and raises where it may, and calls where it may not."""

    def distribution(self, seen: Seen) -> Sequence[tuple[str, float]]:
        """Raise."""
        options = choices(seen)
        return [(options.raises[0] if options.raises else options.call, 1.0)]


class FiftyFifty(Policy):
    """Never folds; calls and raises at even odds."""

    def distribution(self, seen: Seen) -> Sequence[tuple[str, float]]:
        """Call and raise."""
        options = choices(seen)
        if not options.raises:
            return [(options.call, 1.0)]
        return [(options.call, 0.5), (options.raises[0], 0.5)]


class UniformRandom(Policy):
    """Every legal action with the same probability."""

    def distribution(self, seen: Seen) -> Sequence[tuple[str, float]]:
        """All actions alike."""
        actions = seen.actions if isinstance(seen, Decision) else seen.betting.legal_actions()
        return [(action, 1.0 / len(actions)) for action in actions]

    def act(self, seen: Seen) -> str:
        """Draw an action; in no-limit games without a list of all sizes."""
        if isinstance(seen, Decision):
            return seen.actions[self.random.randrange(len(seen.actions))]
        betting = seen.betting
        plain = ["f", "c"] if betting.can_fold() else ["c"]
        span = betting.raise_range()
        sizes = 0 if span is None else span[1] - span[0] + 1
        pick = self.random.randrange(len(plain) + sizes)
        if span is None or pick < len(plain):
            return plain[pick]
        return "r" if seen.game.limit else f"r{span[0] + pick - len(plain)}"
