"""Game definitions of the Annual Computer Poker Competition: the ``.game`` files that define a game for a dealer.

Source: the public reference server of the competition, protocol 2.0.0 (``readGame``, ``printGame``).  A file is read
line by line.  Empty lines and lines that start with ``#`` are skipped; otherwise the start of the line is compared with
the keys below, ignoring case; other lines are ignored.  Values are integers separated by spaces and ``=``; reading a
line stops at the first non-number; if a key occurs twice the later one counts.  ``END GAMEDEF`` ends the file.

We depart in three places, where the reference program continues with nonsense: a number that does not fit its type,
a negative amount of chips and a line of more than 4095 characters are refused.  One line is an extension:
``threeCardHands`` means that straights and flushes of three cards count (``counterplay.poker.three_cards``); other
programs ignore the line.
"""

from __future__ import annotations

import dataclasses
import functools
import os
import re
from collections.abc import Sequence
from pathlib import Path

from counterplay.errors import GameError
from counterplay.poker.cards import deck

UNLIMITED = 2**31 - 1
"""The stack of a player whose stack is not limited."""

MAX_PLAYERS = 10
MAX_ROUNDS = 4
MAX_SUITS = 4
MAX_RANKS = 13
MAX_HOLE_CARDS = 3
MAX_BOARD_CARDS = 7
MAX_LINE = 4095
NO_CAP = 255
"""The number of raises in a round when it is not limited."""

_KEYS = ("end gamedef", "gamedef", "stack", "blind", "raisesize", "limit", "nolimit", "numplayers", "numrounds",
         "firstplayer", "maxraises", "numsuits", "numranks", "numholecards", "numboardcards",
         "threecardhands")  # fmt: skip
_NUMBER = re.compile(r"[\s=]*([+-]?\d+)")
_STREETS = ("preflop", "flop", "turn", "river")
"""The rounds of hold'em."""


@dataclasses.dataclass(frozen=True)
class GameDefinition:
    """What is played: betting, chips and cards.  All tuples are by position or by round.

    Attributes
    ----------
    limit : bool
        Whether raises have fixed sizes.
    players, rounds : int
        Number of players (2 to 10) and betting rounds (1 to 4).
    stacks, blinds : tuple of int
        Chips at the start of a hand, and chips posted before play, by position.
    raise_sizes : tuple of int
        Chips of a raise in each round; empty in no-limit games.
    first_players : tuple of int
        The position, from 0, that acts first in each round (in files it counts from 1).
    max_raises : tuple of int
        Bets and raises allowed in each round; 255 means no limit.
    suits, ranks, hole_cards : int
        The deck and the private cards of each player.
    board_cards : tuple of int
        Public cards dealt at the start of each round.
    three_card_hands : bool
        Whether hands of three cards have straights and flushes, as in the original Rhode Island hold'em; in the
        competition only hands of five cards do.
    """

    limit: bool
    players: int
    rounds: int
    blinds: tuple[int, ...]
    suits: int
    ranks: int
    hole_cards: int
    board_cards: tuple[int, ...]
    raise_sizes: tuple[int, ...] = ()
    stacks: tuple[int, ...] = ()
    first_players: tuple[int, ...] = ()
    max_raises: tuple[int, ...] = ()
    three_card_hands: bool = False

    def __post_init__(self) -> None:
        """Fill in defaults, and check in the order of the reference dealer."""
        fill = object.__setattr__
        if not self.stacks and self.players <= 4:
            fill(self, "stacks", (UNLIMITED,) * self.players)
        if not self.first_players:
            fill(self, "first_players", (0,) * self.rounds)
        if not self.max_raises:
            fill(self, "max_raises", (NO_CAP,) * self.rounds)
        if not self.limit:
            fill(self, "raise_sizes", ())
        _check_betting(self)
        _check_cards(self)

    @property
    def cards_dealt(self) -> int:
        """Cards that a hand takes from the deck when its whole board is dealt."""
        return self.hole_cards * self.players + sum(self.board_cards)

    @functools.cached_property
    def deck(self) -> tuple[int, ...]:
        """The cards of the deck, by suit from the lowest, ranks ascending: the dealer's order."""
        return deck(self.ranks, self.suits)

    @functools.cached_property
    def board_ends(self) -> tuple[int, ...]:
        """Number of board cards on the table in each round."""
        return tuple(sum(self.board_cards[: number + 1]) for number in range(self.rounds))

    def round_name(self, number: int) -> str:
        """``flop`` for the second round of hold'em; ``round 2`` in games with other boards."""
        before = self.board_cards[0]
        return f"round {number + 1}" if before else round_name((self.hole_cards, *self.board_cards[1:]), number)

    @property
    def big_blind(self) -> int:
        """The largest blind; at least 1 chip, so that sizes can be measured in it."""
        return max(1, *self.blinds)

    @property
    def has_stacks(self) -> bool:
        """Whether some stack is limited."""
        return any(stack != UNLIMITED for stack in self.stacks)


def round_name(cards: Sequence[int], number: int) -> str:
    """The name of a round of a game that deals these cards by round, hole cards first; ``flop`` in hold'em."""
    holdem = cards[0] > 1 and tuple(cards[1:]) == (3, 1, 1)[: len(cards) - 1]
    return _STREETS[number] if holdem else f"round {number + 1}"


def with_article(name: str) -> str:
    """``the flop``, but ``round 2`` and ``preflop``: the name of a round in a sentence."""
    return name if name.startswith(("round", "preflop")) else f"the {name}"


def _check_betting(game: GameDefinition) -> None:
    _between("numRounds", game.rounds, 1, MAX_ROUNDS)
    _between("numPlayers", game.players, 2, MAX_PLAYERS)
    _each("stack", game.stacks, game.players, "player")
    _each("blind", game.blinds, game.players, "player")
    for position, (blind, stack) in enumerate(zip(game.blinds, game.stacks, strict=True)):
        _between(f"stack of position {position}", stack, 0, UNLIMITED)
        if not 0 <= blind <= stack:
            raise GameError(f"the blind of position {position} must lie between 0 and its stack {stack}; got {blind}")
    if game.limit:
        _each("raiseSize", game.raise_sizes, game.rounds, "round")
        for size in game.raise_sizes:
            _between("raiseSize", size, 0, UNLIMITED)
    _each("firstPlayer", game.first_players, game.rounds, "round")
    for first in game.first_players:
        _between("firstPlayer", first + 1, 1, game.players)
    _each("maxRaises", game.max_raises, game.rounds, "round")
    for most in game.max_raises:
        _between("maxRaises", most, 0, NO_CAP)


def _check_cards(game: GameDefinition) -> None:
    _between("numSuits", game.suits, 1, MAX_SUITS)
    _between("numRanks", game.ranks, 1, MAX_RANKS)
    _between("numHoleCards", game.hole_cards, 1, MAX_HOLE_CARDS)
    _each("numBoardCards", game.board_cards, game.rounds, "round")
    for count in game.board_cards:
        _between("numBoardCards", count, 0, MAX_BOARD_CARDS)
    _between("the sum of numBoardCards", sum(game.board_cards), 0, MAX_BOARD_CARDS)
    if game.cards_dealt > game.suits * game.ranks:
        deck = game.suits * game.ranks
        raise GameError(f"a hand takes {game.cards_dealt} cards but the deck has {deck}; add suits or ranks")
    if game.three_card_hands and game.hole_cards + sum(game.board_cards) != 3:
        held = game.hole_cards + sum(game.board_cards)
        raise GameError(f"threeCardHands needs hands of three cards, hole cards and board together; got {held}")


def _between(what: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise GameError(f"{what} must lie between {least} and {most}; got {value}")


def _each(what: str, values: Sequence[int], wanted: int, each: str, more: bool = False) -> None:
    if len(values) < wanted or (len(values) > wanted and not more):
        raise GameError(f"{what} needs one value for each {each}, {wanted} in all; got {list(values)}")


# ---------------------------------------------------------------------------------------------- files


def read_definition(path: str | os.PathLike[str]) -> GameDefinition:
    """Read a ``.game`` file.

    Raises GameError if the file cannot be read or does not define a game; the message names the file.
    """
    name = os.fspath(path)
    try:
        text = Path(path).read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        raise GameError(f"there is no file {name!r}; give the path of a .game file") from None
    except OSError as error:
        raise GameError(f"{name} cannot be read: {error.strerror or error}") from error
    try:
        return parse_definition(text)
    except GameError as error:
        raise GameError(f"{name}: {error}") from error


def parse_definition(text: str) -> GameDefinition:
    """Read a game definition from the text of a ``.game`` file."""
    limit, three_card_hands = True, False
    single = {"numplayers": 0, "numrounds": 0, "numsuits": 0, "numranks": 0, "numholecards": 0}
    lists: dict[str, list[int]] = {"blind": [], "raisesize": [], "numboardcards": [], "stack": [UNLIMITED] * 4}
    kept = {"firstplayer": [1] * MAX_ROUNDS, "maxraises": [NO_CAP] * MAX_ROUNDS}
    for line in text.split("\n"):
        if len(line) > MAX_LINE:
            raise GameError(f"a line of a game definition has at most {MAX_LINE} characters; got {len(line)}")
        start = line.lower()
        key = next((key for key in _KEYS if start.startswith(key)), None)
        if key is None or line.startswith("#"):
            continue
        values = _values(key, line[len(key) :])
        if key == "end gamedef":
            break
        if key in ("limit", "nolimit"):
            limit = key == "limit"
        elif key == "threecardhands":
            three_card_hands = True
        elif key in single:
            single[key] = values[0] if values else single[key]
        elif key in lists:
            lists[key] = values
        elif key in kept:
            kept[key][: len(values)] = values[:MAX_ROUNDS]
    players, rounds = single["numplayers"], single["numrounds"]
    _between("numRounds", rounds, 1, MAX_ROUNDS)
    _between("numPlayers", players, 2, MAX_PLAYERS)
    _each("stack", lists["stack"], players, "player", more=True)
    _each("blind", lists["blind"], players, "player", more=True)
    if limit:
        _each("raiseSize", lists["raisesize"], rounds, "round", more=True)
    _each("numBoardCards", lists["numboardcards"], rounds, "round", more=True)
    return GameDefinition(
        limit, players, rounds, tuple(lists["blind"][:players]), single["numsuits"], single["numranks"],
        single["numholecards"], board_cards=tuple(lists["numboardcards"][:rounds]),
        raise_sizes=tuple(lists["raisesize"][:rounds]), stacks=tuple(lists["stack"][:players]),
        first_players=tuple(position - 1 for position in kept["firstplayer"][:rounds]),
        max_raises=tuple(kept["maxraises"][:rounds]), three_card_hands=three_card_hands,
    )  # fmt: skip


def _values(key: str, text: str) -> list[int]:
    values = []
    place = 0
    while (found := _NUMBER.match(text, place)) is not None:
        value = int(found.group(1)) if len(found.group(1)) <= 20 else 2**63
        if abs(value) > UNLIMITED:
            raise GameError(f"{key}: {found.group(1)} is too large; numbers go up to {UNLIMITED}")
        values.append(value)
        place = found.end()
    return values


def format_definition(game: GameDefinition) -> str:
    """The text of a ``.game`` file, as the reference program writes it."""

    def row(values: Sequence[int]) -> str:
        return " ".join(map(str, values))

    lines = ["GAMEDEF", "limit" if game.limit else "nolimit", f"numPlayers = {game.players}"]
    lines.append(f"numRounds = {game.rounds}")
    if game.has_stacks:
        lines.append(f"stack = {row(game.stacks)}")
    lines.append(f"blind = {row(game.blinds)}")
    if game.limit:
        lines.append(f"raiseSize = {row(game.raise_sizes)}")
    if any(game.first_players):
        lines.append(f"firstPlayer = {row([first + 1 for first in game.first_players])}")
    if any(most != NO_CAP for most in game.max_raises):
        lines.append(f"maxRaises = {row(game.max_raises)}")
    lines += [f"numSuits = {game.suits}", f"numRanks = {game.ranks}", f"numHoleCards = {game.hole_cards}"]
    lines.append(f"numBoardCards = {row(game.board_cards)}")
    if game.three_card_hands:
        lines.append("threeCardHands")
    lines += ["END GAMEDEF", ""]
    return "\n".join(lines)
