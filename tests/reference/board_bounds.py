"""Bounds of exploitability from one board in plain Python: dicts of hands, all pairs of hands at every end.

The board of a round is given; cards after it are dealt in every way.  A bucket is any function of what a player sees.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tests.reference.bucket_game import Bucket
from tests.reference.poker import Table, board_ends, deck_of, worth

if TYPE_CHECKING:
    from counterplay.poker.acpc.definition import GameDefinition

Hand = tuple[int, ...]
Values = dict[Hand, float]
Strategy = Mapping[tuple[int, str], Mapping[str, float]]


class BoardBounds:
    """Responses to a strategy by "bucket:betting" of both players, on boards of the round ``drawn``."""

    def __init__(self, game: GameDefinition, rules: Sequence[Bucket], strategy: Strategy, drawn: int) -> None:
        self.game, self.rules, self.strategy, self.drawn = game, rules, strategy, drawn

    def measure(self, board: Sequence[int]) -> tuple[float, float]:
        """What is won by one who responds best from the drawn round on, and by one who is shown the board."""
        return self._measure(board, False), self._measure(board, True)

    def _measure(self, board: Sequence[int], shown: bool) -> float:
        left = [card for card in sorted(deck_of(self.game)) if card not in board]
        hands = list(itertools.combinations(left, self.game.hole_cards))
        pairs = sum(not set(one) & set(other) for one in hands for other in hands)
        total = 0.0
        for self.player in range(2):
            self.shown = shown
            found = self.values(Table(self.game), list(board), dict.fromkeys(hands, 1.0 / pairs))
            total += sum(found.values()) / 2
        return total

    def shares(self, table: Table, board: list[int], hand: Hand) -> Mapping[str, float]:
        ends = board_ends(self.game)[: table.round + 1]
        seen = (hand, *[tuple(board[low:high]) for low, high in itertools.pairwise(ends)])
        return self.strategy[table.player(), f"{self.rules[table.player()](table.round, seen)}:{table.text()}"]

    def values(self, table: Table, board: list[int], reach: Values) -> Values:
        """What each hand of the player is worth; ``reach`` is the opponent's."""
        needed = board_ends(self.game)[-1 if table.showdown() else table.round]
        if len(board) < needed and not (table.finished and not table.showdown()):
            return self.dealt(table, board, reach)
        if table.finished:
            return {hand: self.won(table, board, hand, reach) for hand in reach}
        actions, mine = table.actions(), table.player() == self.player
        shares = {hand: self.shares(table, board, hand) for hand in reach}
        below = {}
        for action in actions:
            later = reach if mine else {hand: reach[hand] * shares[hand][action] for hand in reach}
            below[action] = self.values(table.after(action), board, later)
        if not mine:
            return {hand: sum(found[hand] for found in below.values()) for hand in reach}
        if self.shown or table.round >= self.drawn:
            return {hand: max(found[hand] for found in below.values()) for hand in reach}
        return {hand: sum(shares[hand][action] * below[action][hand] for action in actions) for hand in reach}

    def dealt(self, table: Table, board: list[int], reach: Values) -> Values:
        """The next cards, in every way."""
        total = dict.fromkeys(reach, 0.0)
        number = next(end for end in board_ends(self.game) if end > len(board)) - len(board)
        left = [card for card in sorted(deck_of(self.game)) if card not in board]
        chance = 1.0 / math.comb(len(left) - 2 * self.game.hole_cards, number)
        for cards in itertools.combinations(left, number):
            later = {hand: value for hand, value in reach.items() if not set(hand) & set(cards)}
            for hand, value in self.values(table, [*board, *cards], later).items():
                total[hand] += chance * value
        return total

    def won(self, table: Table, board: list[int], hand: Hand, reach: Values) -> float:
        total = 0.0
        for other, value in reach.items():
            if value and not set(hand) & set(other):
                holes = (hand, other) if self.player == 0 else (other, hand)
                worths = [worth(self.game, (*hole, *board)) if table.showdown() else () for hole in holes]
                total += value * table.won(self.player, worths)
        return total
