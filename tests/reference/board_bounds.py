"""Bounds of exploitability from one board in plain Python: dicts of hands, all pairs of hands at every end.

The board of a round is given; cards after it are dealt in every way.  A bucket is any function of what a player sees.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.acpc.match_state import rank_cards
from counterplay.poker.rules import Betting
from tests.reference.abstract_game import Bucket

Hand = tuple[int, ...]
Values = dict[Hand, float]
Strategy = Mapping[tuple[int, str], Mapping[str, float]]


class BoardBounds:
    """Responses to a strategy by "bucket:betting" of both players, on boards of the round ``drawn``."""

    def __init__(self, game: GameDefinition, rules: Sequence[Bucket], strategy: Strategy, drawn: int) -> None:
        self.game, self.rules, self.strategy, self.drawn = game, rules, strategy, drawn

    def measure(self, board: Sequence[int]) -> tuple[float, float]:
        """What is won by one who responds best from the drawn round on, and by one who is told the board."""
        return self._measure(board, False), self._measure(board, True)

    def _measure(self, board: Sequence[int], told: bool) -> float:
        left = [card for card in sorted(self.game.deck) if card not in board]
        hands = list(itertools.combinations(left, self.game.hole_cards))
        pairs = sum(not set(one) & set(other) for one in hands for other in hands)
        total = 0.0
        for self.player in range(2):
            self.told = told
            found = self.values(Betting.start(self.game), list(board), dict.fromkeys(hands, 1.0 / pairs))
            total += sum(found.values()) / 2
        return total

    def shares(self, betting: Betting, board: list[int], hand: Hand) -> Mapping[str, float]:
        ends = self.game.board_ends[: betting.round + 1]
        seen = (hand, *[tuple(board[low:high]) for low, high in itertools.pairwise(ends)])
        return self.strategy[betting.player, f"{self.rules[betting.player](betting.round, seen)}:{betting.text()}"]

    def values(self, betting: Betting, board: list[int], reach: Values) -> Values:
        """What each hand of the player is worth; ``reach`` is the opponent's."""
        needed = self.game.board_ends[-1 if betting.finished and betting.showdown else betting.round]
        if len(board) < needed and not (betting.finished and not betting.showdown):
            return self.dealt(betting, board, reach)
        if betting.finished:
            return {hand: self.won(betting, board, hand, reach) for hand in reach}
        actions, mine = betting.legal_actions(), betting.player == self.player
        shares = {hand: self.shares(betting, board, hand) for hand in reach}
        below = {}
        for action in actions:
            later = reach if mine else {hand: reach[hand] * shares[hand][action] for hand in reach}
            below[action] = self.values(betting.act(action), board, later)
        if not mine:
            return {hand: sum(found[hand] for found in below.values()) for hand in reach}
        if self.told or betting.round >= self.drawn:
            return {hand: max(found[hand] for found in below.values()) for hand in reach}
        return {hand: sum(shares[hand][action] * below[action][hand] for action in actions) for hand in reach}

    def dealt(self, betting: Betting, board: list[int], reach: Values) -> Values:
        """The next cards, in every way."""
        total = dict.fromkeys(reach, 0.0)
        number = next(end for end in self.game.board_ends if end > len(board)) - len(board)
        left = [card for card in sorted(self.game.deck) if card not in board]
        chance = 1.0 / math.comb(len(left) - 2 * self.game.hole_cards, number)
        for cards in itertools.combinations(left, number):
            later = {hand: value for hand, value in reach.items() if not set(hand) & set(cards)}
            for hand, value in self.values(betting, [*board, *cards], later).items():
                total[hand] += chance * value
        return total

    def won(self, betting: Betting, board: list[int], hand: Hand, reach: Values) -> float:
        total = 0.0
        for other, value in reach.items():
            if value and not set(hand) & set(other):
                holes = (hand, other) if self.player == 0 else (other, hand)
                ranks = [rank_cards(self.game, (*hole, *board)) for hole in holes] if betting.showdown else None
                total += value * float(betting.values(ranks)[self.player])
        return total
