"""Public chance sampling by buckets in plain Python: one board, dicts of hands, all pairs of hands at every end.

Johanson 2016, algorithm 1 (PCS) with section 3.4.  A bucket is any function of what a player sees.
"""

from __future__ import annotations

import collections
import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tests.reference.bucket_game import Bucket
from tests.reference.poker import Table, board_ends, deck_of, worth

if TYPE_CHECKING:
    from counterplay.poker.acpc.definition import GameDefinition

Hand = tuple[int, ...]
Values = dict[Hand, float]


class BucketPcs:
    """Regrets and averages by player and "bucket:betting", then by action."""

    def __init__(
        self, game: GameDefinition, rules: Sequence[Bucket], floor: bool = False, linear: bool = False
    ) -> None:
        self.game, self.rules, self.floor, self.linear = game, rules, floor, linear
        self.regret: dict[tuple[int, str], dict[str, float]] = collections.defaultdict(
            lambda: collections.defaultdict(float)
        )
        self.average: dict[tuple[int, str], dict[str, float]] = collections.defaultdict(
            lambda: collections.defaultdict(float)
        )
        self.iteration = 0

    def iterate(self, board: Sequence[int]) -> None:
        """A walk for each player on a board."""
        self.iteration += 1
        for player in range(2):
            self.walk(board, player)

    def walk(self, board: Sequence[int], player: int) -> None:
        left = [card for card in sorted(deck_of(self.game)) if card not in board]
        self.board, self.player = list(board), player
        self.hands = list(itertools.combinations(left, self.game.hole_cards))
        self.worth = {hand: worth(self.game, (*hand, *board)) for hand in self.hands}
        self.pairs = sum(not set(one) & set(other) for one in self.hands for other in self.hands)
        self.values(Table(self.game), dict.fromkeys(self.hands, 1.0), dict.fromkeys(self.hands, 1.0))

    def name(self, table: Table, hand: Hand) -> tuple[int, str]:
        ends = board_ends(self.game)[: table.round + 1]
        seen = (hand, *[tuple(self.board[low:high]) for low, high in itertools.pairwise(ends)])
        return table.player(), f"{self.rules[table.player()](table.round, seen)}:{table.text()}"

    def sigma(self, name: tuple[int, str], actions: list[str]) -> dict[str, float]:
        positive = {action: max(self.regret[name][action], 0.0) for action in actions}
        total = sum(positive.values())
        return {action: value / total if total > 0.0 else 1.0 / len(actions) for action, value in positive.items()}

    def values(self, table: Table, own: Values, opp: Values) -> Values:
        """What each hand of the player is worth, the opponent's reach included."""
        if table.finished:
            return {hand: self.won(table, hand, opp) for hand in self.hands}
        actions = table.actions()
        names = {hand: self.name(table, hand) for hand in self.hands}
        chances = {name: self.sigma(name, actions) for name in names.values()}
        reach = own if table.player() == self.player else opp
        below = {}
        for action in actions:
            later = {hand: reach[hand] * chances[names[hand]][action] for hand in self.hands}
            mine, theirs = (later, opp) if table.player() == self.player else (own, later)
            below[action] = self.values(table.after(action), mine, theirs)
        if table.player() != self.player:
            return {hand: sum(found[hand] for found in below.values()) for hand in self.hands}
        found = {hand: sum(chances[names[hand]][a] * below[a][hand] for a in actions) for hand in self.hands}
        for action in actions:
            for hand in self.hands:
                self.regret[names[hand]][action] += below[action][hand] - found[hand]
                weight = self.iteration if self.linear else 1
                self.average[names[hand]][action] += weight * own[hand] * chances[names[hand]][action]
        if self.floor:
            for name, action in itertools.product(set(names.values()), actions):
                self.regret[name][action] = max(self.regret[name][action], 0.0)
        return found

    def won(self, table: Table, hand: Hand, opp: Values) -> float:
        total = 0.0
        for other in self.hands:
            if not set(hand) & set(other):
                holes = (hand, other) if self.player == 0 else (other, hand)
                total += opp[other] * table.won(self.player, [self.worth[hole] for hole in holes])
        return total / self.pairs
