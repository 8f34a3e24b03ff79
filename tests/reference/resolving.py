"""Subgames solved again, history by history: what the opponent is offered, the gadget game, the error of an answer.

Source: Burch, Johanson and Bowling 2014, CFR-D.  At a public state the opponent has c(I) for each of his hands by a
best response to the blueprint.  In the gadget chance deals a history with probability proportional to our reach times
that of chance; the opponent sees his hand and either takes c(I) / pi_{-opp}(I) or plays on.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable
from typing import Any

from counterplay.game.builder import ExplicitGame, chance, decision, terminal
from counterplay.game.game import Game, State
from tests.reference.best_response import best_response
from tests.reference.walks import Profile, walk

Hand = Callable[[Any, int], Hashable]
"""What a player holds in a state."""


@dataclasses.dataclass(frozen=True)
class SlowSubgame:
    """The histories of a public state.  ``weights[i]`` leaves out the reach of player i, ``weights[None]`` nobody's."""

    histories: list[State]
    weights: dict[int | None, list[float]]
    hand: Hand

    @classmethod
    def of(cls, game: Game, profile: Profile, begins: Callable[[State], bool], hand: Hand) -> SlowSubgame:
        visits = [visit for visit in walk(game, profile) if begins(visit.state)]
        weights = {
            free: [visit.reach_of_others(-1 if free is None else free) for visit in visits] for free in (None, 0, 1)
        }
        return cls([visit.state for visit in visits], weights, hand)

    def total(self, free: int | None) -> float:
        return sum(self.weights[free])

    def masses(self, player: int) -> dict[Hashable, float]:
        """pi_{-i}(I) of each hand of a player."""
        found: dict[Hashable, float] = {}
        for state, weight in zip(self.histories, self.weights[player], strict=True):
            found[self.hand(state, player)] = found.get(self.hand(state, player), 0.0) + weight
        return found

    def game(self, free: int | None = None, offered: dict[Hashable, float] | None = None) -> ExplicitGame:
        """The subgame as a game; the player ``free`` comes there with every hand, and may take what is offered."""
        branches: dict[Hashable, Any] = {}
        for number, (state, weight) in enumerate(zip(self.histories, self.weights[free], strict=True)):
            node: Any = state
            if offered is not None and free is not None:
                held = self.hand(state, free)
                taken = (offered[held] / self.masses(free)[held] if weight > 0.0 else 0.0) * (1 if free == 0 else -1)
                node = decision(free, ("choice", held), {"terminate": terminal(taken, -taken), "follow": node})
            if weight > 0.0:
                branches[number] = (weight / self.total(free), node)
        return ExplicitGame(chance(branches), players=2)

    def offers(self, profile: Profile, player: int) -> dict[Hashable, float]:
        """c(I): what each hand of a player gets by a best response to a profile, a counterfactual value."""
        found = {}
        for held, mass in self.masses(player).items():
            alone = [float(self.hand(state, player) == held) for state in self.histories]
            weights = [weight * here for weight, here in zip(self.weights[player], alone, strict=True)]
            one = dataclasses.replace(self, weights={player: weights})
            found[held] = best_response(one.game(player), profile, player)[0] * mass if mass > 0.0 else 0.0
        return found

    def error(self, profile: Profile, player: int, offered: dict[Hashable, float]) -> float:
        """What the opponent of a player gets from an answer beyond what is offered, by all hands."""
        free = 1 - player
        choices: Profile = {(free, ("choice", held)): {"terminate": 0.5, "follow": 0.5} for held in offered}
        best, _ = best_response(self.game(free, offered), profile | choices, free)
        return best * self.total(free) - sum(offered.values())
