"""CFR-BR with dicts, one history at a time: a regret minimiser against a best responder who sees all cards.

Johanson 2016, section 4.3.  In the game of a seat its player has the information sets of the abstraction, and the other
those of the real game.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from counterplay.game.game import CHANCE, TERMINAL, State
from tests.reference.best_response import best_response
from tests.reference.bucket_game import Bucket, BucketGame, BucketState
from tests.reference.cfr import regret_matching
from tests.reference.poker import Cards, PokerState, deck_of, worth
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


class Hybrid:
    """One seat against a hybrid, hand by hand: it learns in the rounds of a trunk, and responds best below it.

    Boards up to the end of the trunk are given.  Regrets of the hybrid are by its cards, up to renaming suits.
    """

    def __init__(self, definition: GameDefinition, rule: Bucket, seat: int, trunk: int) -> None:
        self.game, self.rule, self.seat, self.trunk = definition, rule, seat, trunk
        self.regret: dict[Any, dict[Any, float]] = defaultdict(lambda: defaultdict(float))
        self.average: dict[Any, dict[Any, float]] = defaultdict(lambda: defaultdict(float))
        self.weight = 1.0

    def name(self, player: int, table: Betting, hand: Cards, board: tuple[Cards, ...]) -> Any:
        """The information set of a hand: the player's by its bucket, the hybrid's by its cards."""
        seen = (hand, *board[1 : table.round + 1])
        if player == self.seat:
            return player, f"{self.rule(table.round, seen)}:{table.text()}"
        suits = sorted({card % 4 for card in deck_of(self.game)})
        same = []
        for other in itertools.permutations(suits):
            renamed = dict(zip(suits, other, strict=True))
            same.append(tuple(tuple(sorted(c // 4 * 4 + renamed[c % 4] for c in cards)) for cards in seen))
        return player, min(same), table.text()

    def plays(self, player: int, table: Betting, hand: Cards, board: tuple[Cards, ...]) -> dict[str, float]:
        row = self.regret[self.name(player, table, hand, board)]
        return regret_matching({action: row[action] for action in table.actions()})

    def iterate(self, boards: list[tuple[tuple[Cards, ...], float]]) -> None:
        """An iteration on boards that have some weight each."""
        self.learned: dict[Any, dict[Any, float]] = defaultdict(lambda: defaultdict(float))
        for board, share in boards:
            hands = self.hands(board)
            pairs = sum(not set(one) & set(other) for one in hands for other in hands)
            reach = dict.fromkeys(hands, share / pairs)
            self.average_weight = self.weight * pairs
            self.walk(Betting(self.game), board, reach, reach)
        for name, row in self.learned.items():
            for action, regret in row.items():
                self.regret[name][action] += regret

    def hands(self, board: tuple[Cards, ...]) -> list[Cards]:
        left = set(deck_of(self.game)) - {card for cards in board for card in cards}
        return list(itertools.combinations(sorted(left), self.game.hole_cards))

    def won(self, player: int, table: Betting, board: tuple[Cards, ...], reach: dict[Cards, float]) -> dict[Any, float]:
        """What each hand of a player wins at the end against the reaches of the other."""
        shown = [card for cards in board for card in cards]
        strength = {hand: worth(self.game, (*hand, *shown)) if table.showdown() else () for hand in reach}

        def one(mine: Cards, other: Cards) -> float:
            worths = [strength[mine], strength[other]] if player == 0 else [strength[other], strength[mine]]
            return table.won(player, worths)

        return {
            mine: sum(chance * one(mine, other) for other, chance in reach.items() if not set(mine) & set(other))
            for mine in reach
        }

    def learn(self, player: int, table: Betting, board: tuple[Cards, ...], values: Any, reach: Any) -> Any:
        """Regrets, and the player's average, from what actions are worth; what the hands are worth."""
        found = {}
        for hand in reach:
            row, name = self.plays(player, table, hand, board), self.name(player, table, hand, board)
            found[hand] = sum(row[action] * values[action][hand] for action in row)
            for action, chance in row.items():
                self.learned[name][action] += values[action][hand] - found[hand]
                if player == self.seat:
                    self.average[name][action] += self.average_weight * reach[hand] * chance
        return found

    def walk(self, table: Betting, board: tuple[Cards, ...], own: Any, other: Any) -> tuple[Any, Any]:
        """Values of the player and of the hybrid in the trunk."""
        seat = self.seat
        if table.finished:
            return self.won(seat, table, board, other), self.won(1 - seat, table, board, own)
        if table.round >= self.trunk:
            plan: dict[Any, str] = {}
            responded = self.respond(table, board, own, plan)
            return self.answer(table, board, own, other, plan), responded
        actor = table.player()
        played = {hand: self.plays(actor, table, hand, board) for hand in own}
        below = {}
        for action in table.actions():
            moved = {hand: reach * played[hand][action] for hand, reach in (own if actor == seat else other).items()}
            both = (moved, other) if actor == seat else (own, moved)
            below[action] = self.walk(table.after(action), board, *both)
        values = [{action: pair[side] for action, pair in below.items()} for side in (0, 1)]
        sums = [{hand: sum(row[hand] for row in side.values()) for hand in own} for side in values]
        if actor == seat:
            return self.learn(seat, table, board, values[0], own), sums[1]
        return sums[0], self.learn(1 - seat, table, board, values[1], other)

    def dealt(self, table: Betting, board: tuple[Cards, ...]) -> Iterator[tuple[tuple[Cards, ...], float]]:
        """The boards after the next cards, and how likely they are for two hands."""
        left = sorted(set(deck_of(self.game)) - {card for cards in board for card in cards})
        count = self.game.board_cards[len(board)]
        for cards in itertools.combinations(left, count):
            yield (*board, cards), 1 / math.comb(len(left) - 2 * self.game.hole_cards, count)

    def respond(self, table: Betting, board: tuple[Cards, ...], own: Any, plan: dict[Any, str]) -> Any:
        """Values of the hybrid's best response; of equal actions the first."""
        if not table.finished and len(board) <= table.round:
            total = dict.fromkeys(own, 0.0)
            for after, chance in self.dealt(table, board):
                reach = {hand: chance * own[hand] for hand in self.hands(after)}
                for hand, value in self.respond(table, after, reach, plan).items():
                    total[hand] += value
            return total
        if table.finished:
            return self.won(1 - self.seat, table, board, own)
        below = {}
        for action in table.actions():
            moved = own
            if table.player() == self.seat:
                moved = {hand: own[hand] * self.plays(self.seat, table, hand, board)[action] for hand in own}
            below[action] = self.respond(table.after(action), board, moved, plan)
        if table.player() == self.seat:
            return {hand: sum(row[hand] for row in below.values()) for hand in own}
        for hand in own:
            plan[hand, table.text(), board] = max(below, key=lambda action: below[action][hand])
        return {hand: max(row[hand] for row in below.values()) for hand in own}

    def answer(self, table: Betting, board: tuple[Cards, ...], own: Any, other: Any, plan: dict[Any, str]) -> Any:
        """Values of the player against a plan, and his regrets."""
        if not table.finished and len(board) <= table.round:
            total = dict.fromkeys(own, 0.0)
            for after, chance in self.dealt(table, board):
                reaches = [{hand: chance * reach[hand] for hand in self.hands(after)} for reach in (own, other)]
                for hand, value in self.answer(table, after, reaches[0], reaches[1], plan).items():
                    total[hand] += value
            return total
        if table.finished:
            return self.won(self.seat, table, board, other)
        below = {}
        for action in table.actions():
            if table.player() == self.seat:
                moved = {hand: own[hand] * self.plays(self.seat, table, hand, board)[action] for hand in own}
                below[action] = self.answer(table.after(action), board, moved, other, plan)
            else:
                moved = {hand: other[hand] * (plan[hand, table.text(), board] == action) for hand in other}
                below[action] = self.answer(table.after(action), board, own, moved, plan)
        if table.player() == self.seat:
            return self.learn(self.seat, table, board, below, own)
        return {hand: sum(row[hand] for row in below.values()) for hand in own}
