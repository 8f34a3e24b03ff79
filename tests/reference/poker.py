"""Plain twins of the poker rules: a table that changes in place, as the dealer's rules are told, and a slow evaluator.

Written from the description of the reference dealer alone: called players are counted back over the list of actions,
pots are won layer by layer for one player at a time, and a hand of more than five cards is the best of its
five-card parts.
"""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction

from counterplay.poker.acpc.definition import GameDefinition


class Table:
    """The betting of one hand, in place."""

    def __init__(self, game: GameDefinition) -> None:
        self.game = game
        self.spent = list(game.blinds)
        self.max_spent = max(game.blinds)
        self.min_raise_to = 2 * self.max_spent if self.max_spent else 1
        self.round = 0
        self.folded = [False] * game.players
        self.done: list[list[tuple[int, str]]] = [[] for _ in range(game.rounds)]
        self.finished = not self.acting()

    def acting(self) -> list[int]:
        everyone = range(self.game.players)
        return [p for p in everyone if not self.folded[p] and self.spent[p] < self.game.stacks[p]]

    def player(self) -> int:
        done = self.done[self.round]
        place = done[-1][0] + 1 if done else self.game.first_players[self.round]
        while place % self.game.players not in self.acting():
            place += 1
        return place % self.game.players

    def raise_range(self) -> tuple[int, int] | None:
        done = self.done[self.round]
        raises = sum(action[0] == "r" for _, action in done)
        stack = self.game.stacks[self.player()]
        if raises >= self.game.max_raises[self.round] or len(done) + self.game.players > 64:
            return None
        if len(self.acting()) < 2 or stack <= self.max_spent:
            return None
        if self.game.limit:
            to = min(self.max_spent + self.game.raise_sizes[self.round], stack)
            return to, to
        return (stack, stack) if self.min_raise_to > stack else (self.min_raise_to, stack)

    def can_fold(self) -> bool:
        return self.spent[self.player()] < self.max_spent

    def act(self, action: str) -> None:
        player = self.player()
        if action == "f":
            self.folded[player] = True
        elif action == "c":
            self.spent[player] = min(self.max_spent, self.game.stacks[player])
        else:
            span = self.raise_range()
            assert span is not None
            to = span[0] if self.game.limit else int(action[1:])
            self.min_raise_to = max(self.min_raise_to, 2 * to - self.max_spent)
            self.max_spent = self.spent[player] = to
        self.done[self.round].append((player, action))
        self.end_round()

    def called(self) -> int:
        count = 0
        for player, action in reversed(self.done[self.round]):
            count += action != "f" and self.spent[player] < self.game.stacks[player]
            if action[0] == "r":
                break
        return count

    def end_round(self) -> None:
        if sum(self.folded) == self.game.players - 1:
            self.finished = True
        elif self.called() >= len(self.acting()):
            if len(self.acting()) > 1 and self.round + 1 < self.game.rounds:
                self.round += 1
                self.min_raise_to = self.max_spent + max(1, *self.game.blinds)
            else:
                self.finished = True
                self.round = self.game.rounds - 1

    def text(self) -> str:
        return "/".join("".join(action for _, action in done) for done in self.done[: self.round + 1])

    def value(self, player: int, ranks: list[int]) -> Fraction:
        if self.folded[player]:
            return Fraction(-self.spent[player])
        if sum(self.folded) == self.game.players - 1:
            return Fraction(sum(self.spent) - self.spent[player])
        won = Fraction(0)
        left = {p: chips for p, chips in enumerate(self.spent) if chips > 0}
        strength = {p: -1 if self.folded[p] else ranks[p] for p in left}
        while player in left:
            size = min(left.values())
            best = max(strength[p] for p in left)
            winners = [p for p in left if strength[p] == best]
            won += Fraction(size * (len(left) - len(winners)), len(winners)) if player in winners else -size
            left = {p: chips - size for p, chips in left.items() if chips > size}
        return won


def hand_strength(cards: tuple[int, ...]) -> tuple[int, ...]:
    """A tuple that is larger for better hands; cards are 4 * rank + suit."""
    if len(cards) > 5:
        return max(hand_strength(part) for part in itertools.combinations(cards, 5))
    ranks = sorted((card // 4 for card in cards), reverse=True)
    counts = Counter(ranks)
    groups = sorted(counts, key=lambda rank: (counts[rank], rank), reverse=True)
    shape = sorted(counts.values(), reverse=True)
    flush = len(cards) == 5 and len({card % 4 for card in cards}) == 1
    straight = len(shape) == 5 and ranks[0] - ranks[4] == 4
    if ranks == [12, 3, 2, 1, 0]:
        straight, groups = True, [3, 2, 1, 0, -1]
    category = 0
    if straight and flush:
        category = 8
    elif shape[0] == 4:
        category = 7
    elif shape[:2] == [3, 2]:
        category = 6
    elif flush:
        category = 5
    elif straight:
        category = 4
    elif shape[0] == 3:
        category = 3
    elif shape[:2] == [2, 2]:
        category = 2
    elif shape[0] == 2:
        category = 1
    return (category, *groups)
