"""CFR-BR with dicts, one history at a time: a regret minimiser against a best responder who sees all cards.

Johanson 2016, section 4.3.  In the game of a seat its player has the information sets of the abstraction, and the other
those of the real game.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from counterplay.game.game import CHANCE, TERMINAL, State
from tests.reference.best_response import best_response
from tests.reference.bucket_game import Bucket, BucketGame, BucketState
from tests.reference.cfr import regret_matching
from tests.reference.poker import Cards, PokerState
from tests.reference.poker import Table as Betting
from tests.reference.walks import Profile, Table, infosets, pure_profile

if TYPE_CHECKING:
    from counterplay.poker.acpc.definition import GameDefinition


class OneSidedState(BucketState):
    """A state in which only one player is bound to buckets; the rule of the other is None."""

    def with_cards(self, table: Betting, hole: tuple[Cards, ...], board: tuple[Cards, ...]) -> OneSidedState:
        return OneSidedState(self.rules, table, hole, board)

    def infoset(self) -> str:
        return PokerState.infoset(self) if self.rules[self.player] is None else super().infoset()


class OneSidedGame(BucketGame):
    """A poker game in which the player of one seat plays by buckets."""

    def root(self) -> Any:
        return OneSidedState(self.rules, Betting(self.definition))


class CfrBr:
    """One seat: its regrets and its average, with weight t at iteration t, against a responder in the other seat."""

    def __init__(self, definition: GameDefinition, rule: Bucket, seat: int) -> None:
        rules: tuple[Any, ...] = (rule, None) if seat == 0 else (None, rule)
        self.game, self.seat, self.iteration = OneSidedGame(definition, rules), seat, 0
        self.sets = infosets(self.game)
        own = {name: actions for name, actions in self.sets.items() if name[0] == seat}
        self.regret: Table = {name: dict.fromkeys(actions, 0.0) for name, actions in own.items()}
        self.average: Table = {name: dict.fromkeys(actions, 0.0) for name, actions in own.items()}

    def current(self) -> Profile:
        return {name: regret_matching(row) for name, row in self.regret.items()}

    def against(self, profile: Profile) -> tuple[float, Profile]:
        """What the best response to a strategy of the seat wins, and the response."""
        other = 1 - self.seat
        idle = {name: dict.fromkeys(actions, 1.0) for name, actions in self.sets.items() if name[0] == other}
        won, choices = best_response(self.game, {**idle, **profile}, other)
        pure = pure_profile(self.game, {(other, key): action for key, action in choices.items()})
        return won, {name: row for name, row in pure.items() if name[0] == other}

    def learn(self, response: Profile) -> float:
        """An iteration against what the responder plays; what the seat wins."""
        self.iteration += 1
        learned: dict[Any, dict[Any, float]] = defaultdict(lambda: defaultdict(float))
        profile = {**response, **self.current()}

        def value(state: State, chance: float, own: float, other: float) -> float:
            if state.player == TERMINAL:
                return state.utilities()[self.seat]
            if state.player == CHANCE:
                return sum(p * value(state.child(move), chance * p, own, other) for move, p in state.chance())
            name = state.player, state.infoset()
            row = profile[name]
            if state.player != self.seat:
                return sum(p * value(state.child(action), chance, own, other * p) for action, p in row.items())
            values = {action: value(state.child(action), chance, own * p, other) for action, p in row.items()}
            mean = sum(p * values[action] for action, p in row.items())
            for action, p in row.items():
                learned[name][action] += chance * other * (values[action] - mean)
                self.average[name][action] += self.iteration * chance * own * p
            return mean

        won = value(self.game.root(), 1.0, 1.0, 1.0)
        for name, regrets in learned.items():
            for action, regret in regrets.items():
                total = self.regret[name][action] + regret
                self.regret[name][action] = total if abs(total) > 1e-12 else 0.0  # a tie, not a preference
        return won
