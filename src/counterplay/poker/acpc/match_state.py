"""The messages between a dealer and its players: ``MATCHSTATE`` and ``STATE`` strings, read and written.

Source: the protocol of the Annual Computer Poker Competition, version 2.0.0::

    STATE:handId:betting:cards                    all that happened (the start of a line in a log)
    MATCHSTATE:position:handId:betting:cards      what one position sees
    cards = hole|hole|.../board of round 1/...    one section a position, empty where unseen

A betting string has one section for each round reached.  Players always see their own cards, and those of another
player if the hand is over, that player has not folded, and at least two have not.

Reading is as tolerant as the reference reader: slashes and bars may be missing, and a newline may follow.  Every action
is checked against the rules.  We are stricter in one point: cards that are not in the deck, or occur twice, are
refused.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import re
from collections.abc import Sequence

from counterplay.errors import GameError
from counterplay.poker.acpc.dealing import Deal
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.cards import cards_text, parse_cards
from counterplay.poker.evaluator import MAX_HAND, rank_hand
from counterplay.poker.rules import Betting, Chips, parse_actions
from counterplay.poker.three_cards import rank_three_cards

MAX_LINE = 4096
"""The longest line of the protocol."""

_STATE = re.compile(r"STATE:(\d{1,10}):([^:]*):([^:]*)")
_MATCH_STATE = re.compile(r"MATCHSTATE:(\d{1,10}):(\d{1,10}):([^:]*):([^:]*)")


@dataclasses.dataclass(frozen=True, slots=True)
class MatchState:
    """A hand in a match, as its dealer knows it, or as one position sees it."""

    hand_id: int  # the number of the hand in its match, from 0
    betting: Betting  # what was done
    deal: Deal  # the known cards; unknown hole cards are empty, the board may be longer than what is shown
    position: int | None = None  # the position that sees this; None for an observer who sees everything

    @property
    def game(self) -> GameDefinition:
        """What is played."""
        return self.betting.game

    @property
    def my_turn(self) -> bool:
        """Whether the position that sees this must act now."""
        return self.betting.player == self.position

    @property
    def board(self) -> tuple[int, ...]:
        """The board cards on the table."""
        return self.deal.board[: self.game.board_ends[self.betting.round]]

    def seen_by(self, position: int) -> MatchState:
        """What one position sees of this hand."""
        betting = self.betting
        open_cards = betting.showdown
        hole = tuple([
            cards if p == position or (open_cards and not betting.folded >> p & 1) else ()
            for p, cards in enumerate(self.deal.hole)
        ])  # fmt: skip
        return MatchState(self.hand_id, betting, Deal(hole, self.board), position)

    def act(self, action: str) -> MatchState:
        """The hand after an action; the known cards do not change."""
        return MatchState(self.hand_id, self.betting.act(action), self.deal, self.position)

    def values(self) -> tuple[Chips, ...]:
        """What each position has won in a finished hand; a showdown needs the cards of all who have not folded."""
        return hand_values(self.betting, self.deal)

    def text(self) -> str:
        """The line of this state, without a newline."""
        start = "STATE" if self.position is None else f"MATCHSTATE:{self.position}"
        return f"{start}:{self.hand_id}:{self.betting.text()}:{self.cards_text()}"

    def cards_text(self) -> str:
        """The cards as the line shows them."""
        return holes_text(self.deal.hole) + board_text(self.game, self.deal.board, self.betting.round)


def holes_text(holes: Sequence[tuple[int, ...]]) -> str:
    """The hole cards of all positions, empty where unseen, as a line shows them."""
    return "|".join([cards_text(cards) for cards in holes])


def board_text(game: GameDefinition, board: tuple[int, ...], last: int) -> str:
    """The board cards up to a round as a line shows them."""
    ends, shown = game.board_ends[: last + 1], game.board_cards
    return "/".join([cards_text(board[end - shown[number] : end]) for number, end in enumerate(ends)])


def hand_ranks(betting: Betting, deal: Deal) -> list[int]:
    """The rank of each position's hand with the complete board; -1 for those who have folded."""
    game, folded, ranks = betting.game, betting.folded, []
    board = deal.board[: game.board_ends[-1]]
    for position, hole in enumerate(deal.hole):
        if folded >> position & 1:
            ranks.append(-1)
            continue
        if len(hole) != game.hole_cards or len(board) < game.board_ends[-1]:
            raise GameError(f"the cards of position {position} or of the board are not known; a showdown needs them")
        ranks.append(rank_cards(game, hole + board))
    return ranks


def rank_cards(game: GameDefinition, cards: tuple[int, ...]) -> int:
    """The rank of a hand at a showdown, by the game's order of hands."""
    return rank_three_cards(cards) if game.three_card_hands else _best_rank(cards)


@functools.lru_cache(maxsize=1 << 14)
def _best_rank(cards: tuple[int, ...]) -> int:
    """The rank of the best hand among any number of cards; definitions allow up to ten."""
    if len(cards) <= MAX_HAND:
        return rank_hand(cards)
    return max(map(rank_hand, itertools.combinations(cards, MAX_HAND)))


def hand_values(betting: Betting, deal: Deal) -> tuple[Chips, ...]:
    """What each position has won in a finished hand with these cards."""
    return betting.values(hand_ranks(betting, deal) if betting.showdown else None)


# ---------------------------------------------------------------------------------------------- reading


def parse_state(game: GameDefinition, line: str) -> MatchState:
    """Read a ``STATE`` line; what follows the cards, after another colon, is ignored."""
    found = _STATE.match(line.rstrip("\r\n"))
    if found is None or line[found.end() : found.end() + 1] not in ("", ":", "\r", "\n"):
        raise GameError(f"cannot read {_short(line)!r}; a state is written STATE:handId:betting:cards")
    hand_id, betting, cards = found.groups()
    return read_hand(game, int(hand_id), betting, cards, None)


def parse_match_state(game: GameDefinition, line: str) -> MatchState:
    """Read a ``MATCHSTATE`` line, which may end in a newline."""
    state, rest = _match_state(game, line)
    if rest:
        raise GameError(f"{rest!r} follows the state in {_short(line)!r}; a match state ends with its cards")
    return state


def parse_reply(game: GameDefinition, line: str) -> tuple[MatchState, str]:
    """Read a player's answer: a ``MATCHSTATE`` line, a colon and an action, which is returned unchanged.

    The action is empty if none follows.
    """
    state, rest = _match_state(game, line)
    return state, rest[1:]


def _match_state(game: GameDefinition, line: str) -> tuple[MatchState, str]:
    line = line.rstrip("\r\n")
    found = _MATCH_STATE.match(line)
    if found is None:
        shape = "MATCHSTATE:position:handId:betting:cards"
        raise GameError(f"cannot read {_short(line)!r}; a match state is written {shape}")
    position, hand_id, betting, cards = found.groups()
    if int(position) >= game.players:
        raise GameError(f"position {position} does not exist with {game.players} players, in {_short(line)!r}")
    return read_hand(game, int(hand_id), betting, cards, int(position)), line[found.end() :]


def read_hand(game: GameDefinition, hand_id: int, betting: str, cards: str, position: int | None) -> MatchState:
    """Put a hand together from its betting string and its cards."""
    if len(betting) + len(cards) > MAX_LINE:
        raise GameError(f"a state has at most {MAX_LINE} characters; got {len(betting) + len(cards)}")
    after = _betting_after(game, betting)
    return MatchState(hand_id, after, parse_deal(game, cards, after.round), position)


_LAST_ACTION = re.compile(r"[a-zA-Z][0-9]*/*$")
_STEPS = 200
"""Longest betting that is read recursively from the previous betting; more would recurse too deeply."""


@functools.lru_cache(maxsize=1 << 13)
def _betting_after(game: GameDefinition, text: str) -> Betting:
    """The betting of a line; if it continues another line only the new actions are played."""
    last = _LAST_ACTION.search(text) if len(text) <= _STEPS else None
    if last is None:
        return Betting.after(game, text)
    betting = _betting_after(game, text[: last.start()])
    for action in parse_actions(last.group(), game.limit):
        betting = betting.act(action)
    return betting


@functools.lru_cache(maxsize=1 << 12)
def parse_deal(game: GameDefinition, text: str, last_round: int) -> Deal:
    """Read the cards of a line whose betting has reached ``last_round``; bars and slashes may be missing."""
    each, open_board = game.hole_cards, game.board_cards[0]
    place = 0

    def take(most: int) -> tuple[int, ...]:
        nonlocal place
        start, place = place, min(place + 2 * most, _run_end(text, place))
        return parse_cards(text[start:place])

    hole = []
    for position in range(game.players):
        place += position > 0 and text[place : place + 1] == "|"
        # nothing separates the last hole cards from a board of the first round: fewer cards than both are the board
        hidden = position == game.players - 1 and _run_end(text, place) - place < 2 * (each + open_board)
        hole.append(take(0 if open_board and hidden else each))
        if len(hole[-1]) not in (0, each):
            raise GameError(f"{text!r} does not give {each} hole cards to each of {game.players} players, or none")
    board: list[int] = []
    for number in range(last_round + 1):
        place += number > 0 and text[place : place + 1] == "/"
        board += take(game.board_cards[number])
        if len(board) < game.board_ends[number]:
            wanted = game.board_cards[: last_round + 1]
            raise GameError(f"the board in {text!r} must have {list(wanted)} cards in the rounds that were reached")
    if place < len(text):
        raise GameError(f"{text[place:]!r} is too much in the cards {text!r} after {last_round + 1} rounds")
    deal = Deal(tuple(hole), tuple(board))
    seen = [card for cards in (*deal.hole, deal.board) for card in cards]
    if len(set(seen)) != len(seen):
        raise GameError(f"a card occurs twice in {text!r}")
    if not set(seen) <= set(game.deck):
        raise GameError(f"the deck has {game.suits} suits and {game.ranks} ranks; {text!r} holds other cards")
    return deal


def _run_end(text: str, start: int) -> int:
    """Where the cards that follow each other without a bar or a slash end."""
    ends = [end for end in (text.find("|", start), text.find("/", start)) if end >= 0]
    return min(ends, default=len(text))


def _short(line: str) -> str:
    return line if len(line) <= 100 else line[:97] + "..."
