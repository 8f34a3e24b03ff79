"""The lines that a dealer sends and logs, put together from parts that are written once.

The betting of a line is the same in every hand and for every seat, so it is kept in a ``BettingPlace``, with all
that follows from it.  The cards of a line change with the round only.  What is put together is what
``MatchState.text`` writes.
"""

from __future__ import annotations

from counterplay.poker.acpc.dealing import Deal
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.acpc.match_state import MatchState, board_text, hand_ranks
from counterplay.poker.cards import CARDS, card_text
from counterplay.poker.rules import Betting, Chips

_CARD = [card_text(card).encode("ascii") for card in range(CARDS)]

MOST_ORDERS = 16
"""Orders of the hands at a showdown whose winnings are kept; two players have three."""


class CardLayout:
    """How a game writes the cards of a hand."""

    def __init__(self, game: GameDefinition) -> None:
        players, last = game.players, game.board_ends[-1]
        self.hole = b"%b" * game.hole_cards
        text = board_text(game, game.deck[:last], game.rounds - 1)
        self.board_lengths = [len(board_text(game, game.deck[:last], number)) for number in range(game.rounds)]
        self.board = b"/".join([b"%b" * (len(part) // 2) for part in text.encode("ascii").split(b"/")])
        self.seen = [b":" + b"|" * own + b"%b" + b"|" * (players - 1 - own) for own in range(players)]
        self.all = b"|".join([b"%b"] * players)


class BettingPlace:
    """A betting and what follows from it; ``after`` has those after its actions, by the end of an answer, from the
    colon on, with either end of a line.
    """

    __slots__ = ("action", "after", "betting", "board", "line", "player", "round", "shown", "values")

    def __init__(self, layout: CardLayout, betting: Betting, action: bytes = b"") -> None:
        self.betting = betting
        self.action = action  # that led here
        self.player, self.round = betting.player, betting.round
        self.line = betting.text().encode("ascii")
        self.board = layout.board_lengths[betting.round]
        self.shown = frozenset(betting.live() if betting.showdown else ())  # positions whose cards all see
        self.values: dict[tuple[int, ...], tuple[Chips, ...]] = {}  # by the order of the hands
        self.after: dict[bytes, BettingPlace] = {}

    def winnings(self, deal: Deal) -> tuple[Chips, ...]:
        """What each position has won."""
        ranks = hand_ranks(self.betting, deal) if self.shown else []
        order = sorted(set(ranks))
        places = tuple(map(order.index, ranks))
        found = self.values.get(places)
        if found is None:
            found = self.betting.values(ranks)
            if len(self.values) < MOST_ORDERS:
                self.values[places] = found
        return found


class HandLines:
    """The lines of a hand; ``positions`` are those of the seats."""

    __slots__ = ("board", "cards", "deal", "hand_id", "holes", "layout", "positions", "round", "seen", "starts")

    def __init__(self, layout: CardLayout, hand_id: int, deal: Deal, positions: list[int]) -> None:
        self.layout = layout
        self.hand_id = hand_id
        self.deal = deal
        self.positions = positions
        self.starts = [b"MATCHSTATE:%d:%d:" % (position, hand_id) for position in positions]
        self.holes = tuple([layout.hole % tuple([_CARD[card] for card in cards]) for cards in deal.hole])
        self.board = layout.board % tuple([_CARD[card] for card in deal.board])
        self.seen = [layout.seen[own] % self.holes[own] for own in positions]
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
        if len(here.shown) == len(self.holes):
            return [b":" + self.layout.all % self.holes] * len(self.holes)
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
        cards = self.layout.all % self.holes + self.board[: here.board]
        return f"STATE:{self.hand_id}:{here.line.decode('ascii')}:{cards.decode('ascii')}"
