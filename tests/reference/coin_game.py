"""Restricted games built out: a coin before the game, or before each decision, says whether a player must follow a
fixed strategy.

Johanson 2016, sections 6.1 and 6.5.  The coin is an event of chance that the other player does not see.  The restricted
player sees his own coins, so that he forgets nothing; what he has already done does not change what he should do.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from counterplay.game.game import CHANCE, Game, State
from tests.reference.best_response import best_response
from tests.reference.walks import Profile, expected_values, infosets

FIXED, FREE = "fixed", "free"


class _Before:
    """The event before a game with one coin."""

    player = CHANCE


_BEFORE: Any = _Before()


@dataclasses.dataclass(frozen=True)
class CoinState:
    """A history of a game with coins: that of the game, the coins so far, and the one that was just tossed."""

    rules: Any
    state: State
    coins: tuple[str, ...]
    tossed: str | None

    @property
    def bound(self) -> bool:
        """Whether the restricted player is to act."""
        return self.state.player == self.rules.player

    @property
    def player(self) -> int:
        return CHANCE if self.bound and self.tossed != FREE else self.state.player

    def actions(self) -> Sequence[Hashable]:
        return self.state.actions()

    def chance(self) -> Sequence[tuple[Hashable, float]]:
        if self.state is _BEFORE:
            return [(FIXED, self.rules.p), (FREE, 1.0 - self.rules.p)]
        if not self.bound:
            return self.state.chance()
        if self.tossed == FIXED:
            return list(self.rules.fixed[self.state.player, self.state.infoset()].items())
        share = self.rules.share(self.state.infoset())
        return [(FIXED, share), (FREE, 1.0 - share)]

    def child(self, action: Any) -> CoinState:
        if self.state is _BEFORE:
            return CoinState(self.rules, self.rules.game.root(), (), action)
        if self.bound and self.tossed is None:
            return dataclasses.replace(self, coins=(*self.coins, action), tossed=action)
        kept = self.tossed if self.rules.for_games else None
        return CoinState(self.rules, self.state.child(action), self.coins, kept)

    def infoset(self) -> Hashable:
        return (self.state.infoset(), self.coins) if self.bound else self.state.infoset()

    def utilities(self) -> Sequence[float]:
        return self.state.utilities()


@dataclasses.dataclass(frozen=True, eq=False)
class CoinForGames(Game):
    """The player plays ``fixed`` with probability ``p``, a coin for each game."""

    game: Game
    fixed: Profile
    player: int
    p: float
    for_games = True

    def root(self) -> CoinState:
        return CoinState(self, _BEFORE, (), None)


@dataclasses.dataclass(frozen=True, eq=False)
class CoinForDecisions(Game):
    """The player plays ``fixed`` with the probability of each information set, by its name."""

    game: Game
    fixed: Profile
    player: int
    confidence: Mapping[str, float]
    for_games = False

    def root(self) -> CoinState:
        return CoinState(self, self.game.root(), (), None)

    def share(self, key: Hashable) -> float:
        return self.confidence[str(key)]


def measured(game: Any, played: Profile, player: int) -> tuple[list[float], list[float]]:
    """What both players win when they play a profile of the game without coins, and what best responses win."""
    profile: Profile = {}
    for who, key in infosets(game):
        plain = key[0] if who == player else key  # type: ignore[index]
        profile[who, key] = played[who, plain]
    value = list(expected_values(game, profile))
    return value, [best_response(game, profile, who)[0] for who in range(2)]
