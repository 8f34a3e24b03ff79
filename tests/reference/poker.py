"""Plain twins of the poker rules: a table that changes in place, as the dealer's rules are told, and a slow evaluator.

Written from the description of the reference dealer alone: called players are counted back over the list of actions,
pots are won layer by layer for one player at a time, and a hand of more than five cards is the best of its
five-card parts.
"""

from __future__ import annotations

import copy
import itertools
from collections import Counter
from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from counterplay.game.game import CHANCE, TERMINAL
from tests.reference.hands import Value, cards_text, deck, hand_value
from tests.reference.rhode_island import hand_value as three_card_value

if TYPE_CHECKING:
    from counterplay.poker.acpc.definition import GameDefinition

Cards = tuple[int, ...]


def deck_of(game: GameDefinition) -> list[int]:
    """The cards of a game, in the dealer's order."""
    return deck(game.ranks, game.suits)


def board_ends(game: GameDefinition) -> list[int]:
    """How many cards lie on the table in each round."""
    return list(itertools.accumulate(game.board_cards))


def worth(game: GameDefinition, cards: Sequence[int]) -> Value:
    """What a hand is worth at a showdown: tuples compare as hands do."""
    if game.three_card_hands:
        return three_card_value(tuple(cards_text([card]) for card in cards), straights=True)
    return hand_value(cards)


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

    def after(self, action: str) -> Table:
        """A table of its own where the action has been taken."""
        table = copy.copy(self)
        table.spent, table.folded = list(self.spent), list(self.folded)
        table.done = [list(done) for done in self.done]
        table.act(action)
        return table

    def actions(self) -> tuple[str, ...]:
        """Fold, call, raises from the smallest."""
        span = self.raise_range()
        raises = [] if span is None else ["r"] if self.game.limit else [f"r{to}" for to in range(span[0], span[1] + 1)]
        return (*(["f"] if self.can_fold() else []), "c", *raises)

    def showdown(self) -> bool:
        return self.finished and sum(self.folded) < self.game.players - 1

    def won(self, player: int, worths: Sequence[Value]) -> float:
        """What a player wins with these hands at the end."""
        order = sorted(set(worths))
        return float(self.value(player, [order.index(one) for one in worths]))

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


class PokerState:
    """Poker as a game of states: hole cards by position and board cards by round as dealt so far, and the betting."""

    def __init__(self, table: Table, hole: tuple[Cards, ...] = (), board: tuple[Cards, ...] = ()) -> None:
        rules = table.game
        if len(hole) == rules.players:
            while len(board) <= table.round and not rules.board_cards[len(board)]:
                board = (*board, ())
        self.table, self.hole, self.board = table, hole, board
        decided = table.finished and not table.showdown()
        if len(hole) < rules.players or (len(board) <= table.round and not decided):
            self.player = CHANCE
        else:
            self.player = TERMINAL if table.finished else table.player()

    def chance(self) -> list[tuple[Hashable, float]]:
        rules = self.table.game
        count = rules.hole_cards if len(self.hole) < rules.players else rules.board_cards[len(self.board)]
        gone = {card for cards in (*self.hole, *self.board) for card in cards}
        every = list(itertools.combinations(sorted(set(deck_of(rules)) - gone), count))
        return [(cards, 1 / len(every)) for cards in every]

    def actions(self) -> tuple[str, ...]:
        return self.table.actions()

    def child(self, action: Hashable) -> PokerState:
        if self.player != CHANCE:
            return self.with_cards(self.table.after(str(action)), self.hole, self.board)
        assert isinstance(action, tuple)
        if len(self.hole) < self.table.game.players:
            return self.with_cards(self.table, (*self.hole, action), self.board)
        return self.with_cards(self.table, self.hole, (*self.board, action))

    def with_cards(self, table: Table, hole: tuple[Cards, ...], board: tuple[Cards, ...]) -> PokerState:
        return PokerState(table, hole, board)

    def infoset(self) -> str:
        shown = [cards for turn, cards in enumerate(self.board[: self.table.round + 1]) if cards or turn]
        return f"{'/'.join(cards_text(cards) for cards in (self.hole[self.player], *shown))}:{self.table.text()}"

    def utilities(self) -> list[float]:
        board = [card for cards in self.board for card in cards]
        worths = [worth(self.table.game, (*hole, *board)) if self.table.showdown() else () for hole in self.hole]
        return [self.table.won(player, worths) for player in range(self.table.game.players)]


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
