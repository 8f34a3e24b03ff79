"""Poker with buckets in plain Python: poker by states, with information sets named by betting and bucket.

A bucket is any function of what a player sees.  ``BucketGame`` is a ``Game`` like others, so that the slow twins of the
algorithms run on it; with ``deals`` every walk starts where these cards lie, as the kernels do it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from counterplay.game.game import Game
from tests.reference.mccfr import Stream
from tests.reference.poker import Cards, PokerState, Table, deck_of

if TYPE_CHECKING:
    from counterplay.poker.acpc.definition import GameDefinition

Bucket = Callable[[int, tuple[Cards, ...]], int]
"""From the round and what a player sees of the cards, round by round, to a number."""


class BucketState(PokerState):
    """A state of poker whose information sets say buckets instead of cards."""

    def __init__(
        self, rules: Sequence[Bucket], table: Table, hole: tuple[Cards, ...] = (), board: tuple[Cards, ...] = ()
    ) -> None:
        super().__init__(table, hole, board)
        self.rules = rules

    def with_cards(self, table: Table, hole: tuple[Cards, ...], board: tuple[Cards, ...]) -> BucketState:
        return BucketState(self.rules, table, hole, board)

    def infoset(self) -> str:
        seen = (self.hole[self.player], *self.board[1 : self.table.round + 1])
        return f"{self.rules[self.player](self.table.round, seen)}:{self.table.text()}"


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
        table = Table(self.definition)
        if self.deals is None:
            return BucketState(self.rules, table)
        cards = next(self.deals)
        each, first = self.definition.hole_cards, self.definition.hole_cards * self.definition.players
        hole = tuple(tuple(sorted(cards[start : start + each])) for start in range(0, first, each))
        board, place = [], first
        for count in self.definition.board_cards:
            board.append(tuple(sorted(cards[place : place + count])))
            place += count
        return BucketState(self.rules, table, hole, tuple(board))


def drawn_cards(game: GameDefinition, count: int, stream: Stream) -> list[int]:
    """So many cards, each time one of those that are left, in the order that taking has left them in."""
    stock = deck_of(game)
    for place in range(count):
        pick = place + int(stream.uniform() * (len(stock) - place))
        stock[place], stock[pick] = stock[pick], stock[place]
    return stock[:count]


def drawn_deal(game: GameDefinition, stream: Stream) -> list[int]:
    """All cards of a hand: hole cards by position, then the board."""
    return drawn_cards(game, game.players * game.hole_cards + sum(game.board_cards), stream)


def drawn_board(game: GameDefinition, stream: Stream) -> list[int]:
    """All public cards of a hand."""
    return drawn_cards(game, sum(game.board_cards), stream)
