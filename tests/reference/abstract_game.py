"""Poker with buckets in plain Python: the real game's states, with information sets named by betting and bucket.

A bucket is any function of what a player sees.  ``BucketGame`` is a ``Game`` like others, so that the slow twins of the
algorithms run on it; with ``deals`` every walk starts where these cards lie, as the kernels do it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from counterplay.game.game import Game
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.poker_game import PokerFile, PokerState
from tests.reference.mccfr import Stream

Bucket = Callable[[int, tuple[tuple[int, ...], ...]], int]
"""From the round and what a player sees of the cards, round by round, to a number."""


class BucketState:
    """A state of the real game that tells buckets instead of cards."""

    def __init__(self, state: PokerState, rules: Sequence[Bucket]) -> None:
        self.state = state
        self.rules = rules
        self.player = state.player

    def chance(self) -> list[tuple[str, float]]:
        return self.state.chance()

    def actions(self) -> tuple[str, ...]:
        return self.state.actions()

    def child(self, action: str) -> BucketState:
        return BucketState(self.state.child(action), self.rules)

    def infoset(self) -> str:
        betting = self.state.point.betting
        seen = (self.state.hole[betting.player], *self.state.board[1 : betting.round + 1])
        return f"{self.rules[betting.player](betting.round, seen)}:{betting.text()}"

    def utilities(self) -> list[float]:
        return self.state.utilities()


@dataclasses.dataclass(frozen=True)
class BucketGame(Game):
    """A poker game with a bucket function for each player."""

    definition: GameDefinition
    rules: tuple[Bucket, ...]
    deals: Iterator[list[int]] | None = None
    zero_sum = True

    @property
    def players(self) -> int:  # type: ignore[override]
        return self.definition.players

    def spec(self) -> str:
        return "buckets"

    def root(self) -> Any:
        game = PokerFile(self.definition, "real")
        state = game.root()
        if self.deals is None:
            return BucketState(state, self.rules)
        cards = next(self.deals)
        each, first = self.definition.hole_cards, self.definition.hole_cards * self.definition.players
        hole = tuple(tuple(sorted(cards[start : start + each])) for start in range(0, first, each))
        board, place = [], first
        for count in self.definition.board_cards:
            board.append(tuple(sorted(cards[place : place + count])))
            place += count
        return BucketState(PokerState(game, hole, tuple(board), state.point), self.rules)


def dealt(game: GameDefinition, stream: Stream) -> list[int]:
    """All cards of a hand, each time one of those that are left, in the order that taking has left them in."""
    stock = list(game.deck)
    taken = []
    for place in range(game.cards_dealt):
        pick = place + int(stream.uniform() * (len(stock) - place))
        stock[place], stock[pick] = stock[pick], stock[place]
        taken.append(stock[place])
    return taken
