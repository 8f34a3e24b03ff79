"""The strategies of ``strategy.ready_made`` that are rules as agents."""

from __future__ import annotations

from collections.abc import Sequence

from counterplay.agents.agent import Decision, Policy, Seen
from counterplay.errors import GameError, StrategyError
from counterplay.game.game import Game
from counterplay.poker.hand_strength import hand_strength
from counterplay.poker.rules import Betting
from counterplay.strategy.ready_made import Solved, ready_made
from counterplay.strategy.strength_rules import StrengthRule, check_strength, seen_strengths
from counterplay.strategy.trivial import CardFree, Uniform


class RuleAgent(Policy):
    """Plays a rule, given itself or by name: without a look at its cards, or by the strength of its hand.

    ``game`` is what is played, for rules about hand strength in games other than poker from a definition.  Raises
    GameError if hands have no strength in it.
    """

    def __init__(self, strategy: str | CardFree | StrengthRule, seed: int = 0, game: Game | None = None) -> None:
        super().__init__(seed)
        found = ready_made(strategy) if isinstance(strategy, str) else strategy
        if isinstance(found, Solved):
            raise StrategyError(f"{strategy} is solved for a game; it is not a rule")
        if isinstance(found, StrengthRule) and game is not None:
            check_strength(game)
        self.strategy = found
        self.game = game

    def distribution(self, seen: Seen) -> Sequence[tuple[str, float]]:
        """The actions that are played."""
        rule = self._part(seen)
        if isinstance(seen, Decision):
            actions: Sequence[str] = seen.actions
        else:
            every = isinstance(rule, Uniform)
            actions = seen.betting.legal_actions() if every else _smallest(seen.betting)
        row = rule.row(actions).tolist()
        return [(action, share) for action, share in zip(actions, row, strict=True) if share > 0.0]

    def _part(self, seen: Seen) -> CardFree:
        """What is played with the cards that are seen."""
        if isinstance(self.strategy, CardFree):
            return self.strategy
        if isinstance(seen, Decision):
            if self.game is None:
                raise GameError(
                    f"{self.strategy.name} looks at hand strength; it needs the game to read {seen.infoset!r}"
                )
            return self.strategy.part(seen_strengths(self.game)[seen.infoset.partition(":")[0]][-1])
        hole = tuple(sorted(seen.deal.hole[seen.betting.player]))
        return self.strategy.part(hand_strength(seen.game, hole, tuple(sorted(seen.board))))

    def act(self, seen: Seen) -> str:
        """Draw an action; uniform no-limit play without a list of all sizes."""
        if not isinstance(self.strategy, Uniform):
            return super().act(seen)
        if isinstance(seen, Decision):
            return seen.actions[int(self.draw(seen) * len(seen.actions))]
        betting = seen.betting
        plain = ["f", "c"] if betting.can_fold() else ["c"]
        span = betting.raise_range()
        sizes = 0 if span is None else span[1] - span[0] + 1
        pick = int(self.draw(seen) * (len(plain) + sizes))
        if span is None or pick < len(plain):
            return plain[pick]
        return "r" if seen.game.limit else f"r{span[0] + pick - len(plain)}"


def _smallest(betting: Betting) -> list[str]:
    """Fold, call and the smallest raise, as far as they are legal."""
    span = betting.raise_range()
    raises = [] if span is None else ["r" if betting.game.limit else f"r{span[0]}"]
    return [*(["f"] if betting.can_fold() else []), "c", *raises]
