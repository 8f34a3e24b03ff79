"""The trivial strategies of ``strategy.trivial`` as agents."""

from __future__ import annotations

from collections.abc import Sequence

from counterplay.agents.agent import Decision, Policy, Seen
from counterplay.poker.rules import Betting
from counterplay.strategy.trivial import CardFree, Uniform, trivial


class TrivialAgent(Policy):
    """Plays a strategy that does not look at its cards, given itself or by name."""

    def __init__(self, strategy: str | CardFree, seed: int = 0) -> None:
        super().__init__(seed)
        self.strategy = trivial(strategy) if isinstance(strategy, str) else strategy

    def distribution(self, seen: Seen) -> Sequence[tuple[str, float]]:
        """The actions that are played."""
        if isinstance(seen, Decision):
            actions: Sequence[str] = seen.actions
        else:
            every = isinstance(self.strategy, Uniform)
            actions = seen.betting.legal_actions() if every else _smallest(seen.betting)
        row = self.strategy.row(actions).tolist()
        return [(action, share) for action, share in zip(actions, row, strict=True) if share > 0.0]

    def act(self, seen: Seen) -> str:
        """Draw an action; uniform no-limit play without a list of all sizes."""
        if not isinstance(self.strategy, Uniform):
            return super().act(seen)
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


def _smallest(betting: Betting) -> list[str]:
    """Fold, call and the smallest raise, as far as they are legal."""
    span = betting.raise_range()
    raises = [] if span is None else ["r" if betting.game.limit else f"r{span[0]}"]
    return [*(["f"] if betting.can_fold() else []), "c", *raises]
