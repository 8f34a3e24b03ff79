"""The lines that a dealer sends and logs, put together from parts that are written once.

The betting of a line is the same in every hand and for every seat, so it is kept in a ``BettingPlace``, with all
that follows from it.  The cards of a line change with the round only.  What is put together is what
``MatchState.text`` writes.
"""

from __future__ import annotations

from counterplay.poker.acpc.dealing import Deal
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.acpc.match_state import MatchState, board_text, hand_values
from counterplay.poker.cards import cards_text
from counterplay.poker.rules import Betting, Chips


class BettingPlace:
    """A betting and what follows from it; ``after`` has those after its actions, by the end of an answer: ``:c``."""

    __slots__ = ("action", "after", "betting", "board", "line", "player", "round", "shown", "values")

    def __init__(self, betting: Betting, action: bytes = b"") -> None:
        game = betting.game
        self.betting = betting
        self.action = action  # that led here
        self.player, self.round = betting.player, betting.round
        self.line = betting.text().encode("ascii")
        self.board = len(board_text(game, game.deck[: game.board_ends[-1]], betting.round))  # characters that are seen
        self.shown = frozenset(betting.live() if betting.showdown else ())  # positions whose cards all see
        self.values = betting.values() if betting.finished and not betting.showdown else None
        self.after: dict[bytes, BettingPlace] = {}

    def winnings(self, deal: Deal) -> tuple[Chips, ...]:
        """What each position has won."""
        return hand_values(self.betting, deal) if self.values is None else self.values


class HandLines:
    """The lines of a hand; ``positions`` are those of the seats."""

    def __init__(self, game: GameDefinition, hand_id: int, deal: Deal, positions: list[int]) -> None:
        self.hand_id = hand_id
        self.deal = deal
        self.positions = positions
        self.starts = [b"MATCHSTATE:%d:%d:" % (position, hand_id) for position in positions]
        self.holes = [cards_text(cards).encode("ascii") for cards in deal.hole]
        self.board = board_text(game, deal.board, game.rounds - 1).encode("ascii")
        bars = b"|" * len(positions)
        self.seen = [b":%b%b%b" % (bars[:own], self.holes[own], bars[own + 1 :]) for own in positions]
        self.round = -1
        self.cards: list[bytes] = []

    def state(self, here: BettingPlace) -> MatchState:
        """The hand after some betting."""
        return MatchState(self.hand_id, here.betting, self.deal)

    def write_cards(self, here: BettingPlace) -> None:
        """Write the cards as each seat sees them; they change when a round or the hand is over."""
        board = self.board[: here.board] + b"\r\n"
        self.cards = [holes + board for holes in (self._open(here) if here.shown else self.seen)]
        self.round = here.round

    def _open(self, here: BettingPlace) -> list[bytes]:
        """The hole cards that each seat sees at a showdown."""
        seen = []
        for own in self.positions:
            holes = [hole if place in here.shown or place == own else b"" for place, hole in enumerate(self.holes)]
            seen.append(b":" + b"|".join(holes))
        return seen

    def line(self, here: BettingPlace, seat: int) -> bytes:
        """What a seat is sent, without the end of the line."""
        return self.starts[seat] + here.line + self.cards[seat][:-2]

    def record(self, here: BettingPlace) -> str:
        """The hand in the log, without values and names."""
        cards = b"|".join(self.holes) + self.board[: here.board]
        return f"STATE:{self.hand_id}:{here.line.decode('ascii')}:{cards.decode('ascii')}"
