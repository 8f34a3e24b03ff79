"""Poker hand histories in the PHH format (``.phh``, and ``.phhs`` for several), read and written.

Source: the Poker Hand History File Format Specification (uoftcprg/phh-std; Kim 2023).  A file is a TOML document with
one table of keys per hand.  Every variant of the format is read and written; hands of limit (``FT``) and no-limit
(``NT``) Texas hold'em are also converted to records of the competition's logs and back.

Player ``pN`` is position ``N - 1``.  With two players, blinds are written ``[small, big]`` but belong to p2 and p1: the
button has the small blind.  ``cbr`` gives the total amount of its street, not of the hand.
"""

from __future__ import annotations

import dataclasses
import os
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeAlias

from counterplay.errors import GameError
from counterplay.poker.acpc.dealing import Deal
from counterplay.poker.acpc.definition import UNLIMITED, GameDefinition
from counterplay.poker.acpc.match_log import HandRecord
from counterplay.poker.acpc.match_state import MatchState
from counterplay.poker.cards import cards_text, parse_cards
from counterplay.poker.rules import Betting

Number: TypeAlias = int | Decimal

VARIANTS = {
    **dict.fromkeys(("FT", "FO/8", "F2L3D", "FB"), ("antes", "blinds_or_straddles", "small_bet", "big_bet")),
    **dict.fromkeys(("NT", "NS", "PO", "N2L1D"), ("antes", "blinds_or_straddles", "min_bet")),
    **dict.fromkeys(("F7S", "F7S/8", "FR"), ("antes", "bring_in", "small_bet", "big_bet")),
}
"""The variants with the keys that each requires, besides ``starting_stacks`` and ``actions``."""

MOST_DIGITS = 15
"""Amounts have at most as many digits; those of other numbers may be as many before or after the point."""

_AMOUNTS = ("small_bet", "big_bet", "min_bet", "bring_in")
_PER_PLAYER = ("antes", "blinds_or_straddles", "starting_stacks")
_CARD = r"(?:[2-9TJQKA?][cdhs?])"
_ACTION = re.compile(
    rf"\s*(?:d\s+db\s+(?P<board>{_CARD}+)|d\s+dh\s+p(?P<to>\d{{1,4}})\s+(?P<hole>{_CARD}+)"
    rf"|p(?P<who>\d{{1,4}})\s+(?:(?P<verb>f|cc|pb)|cbr\s+(?P<amount>\d{{1,20}}(?:\.\d{{1,20}})?)"
    rf"|(?P<cards>sd|sm)(?:\s+(?P<shown>{_CARD}+|-))?)"
    r")?\s*(?:\#.*)?",
    re.DOTALL,
)
_HOLDEM_BOARD = (0, 3, 1, 1)


@dataclasses.dataclass(frozen=True)
class HandHistory:
    """One hand.  ``fields`` holds all keys of the table except ``variant`` and ``actions``, in their order."""

    variant: str
    fields: Mapping[str, Any]
    actions: tuple[str, ...]

    def __post_init__(self) -> None:
        if self.variant not in VARIANTS:
            raise GameError(f"unknown variant {_short(self.variant)}; the format has {', '.join(VARIANTS)}")
        missing = [key for key in (*VARIANTS[self.variant], "starting_stacks") if key not in self.fields]
        if missing:
            raise GameError(f"a hand of variant {self.variant} needs the keys {', '.join(missing)}")
        players = len(_numbers("starting_stacks", self.fields["starting_stacks"]))
        for key in _PER_PLAYER:
            if key in self.fields and len(_numbers(key, self.fields[key])) != players:
                raise GameError(f"{key} must have one number for each of {players} players")
        for key in _AMOUNTS:
            if key in self.fields:
                _numbers(key, [self.fields[key]])
        names = self.fields.get("players")
        if names is not None and not (
            isinstance(names, list | tuple) and len(names) == players and all(isinstance(name, str) for name in names)
        ):
            raise GameError(f"players must be a list of the names of {players} players")
        for action in self.actions:
            found = _ACTION.fullmatch(action) if isinstance(action, str) else None
            if found is None or not all(1 <= int(n) <= players for n in (found["to"], found["who"]) if n):
                raise GameError(f"cannot read the action {_short(action)} of a hand of {players} players")

    @property
    def players(self) -> int:
        """Number of players."""
        return len(self.fields["starting_stacks"])


def _numbers(key: str, values: Any) -> Sequence[Number]:
    if not isinstance(values, list | tuple) or not all(map(_is_amount, values)):
        raise GameError(f"{key} must be non-negative numbers up to 1e{MOST_DIGITS}, or inf; got {_short(values)}")
    return values


def _is_amount(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return False
    if isinstance(value, Decimal) and not value.is_finite():
        return bool(value.is_infinite() and value > 0)
    return bool(0 <= value <= 10**MOST_DIGITS)


def _short(value: Any) -> str:
    """A value for a message."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # thousands of digits, or of lists in lists
        text = f"a long {type(value).__name__}"
    return text if len(text) <= 80 else f"{text[:80]}..."


def _decimal(text: str) -> Decimal:
    """A number of a file, which is neither astronomic nor infinitesimal; written out it would fill the memory."""
    value = Decimal(text)
    if value.is_nan() or (value.is_finite() and value and not -MOST_DIGITS <= value.adjusted() <= MOST_DIGITS):
        raise GameError(f"a hand history has no number like {text[:80]}")
    return value


# ---------------------------------------------------------------------------------------------- files


def read_phh(path: str | os.PathLike[str]) -> list[HandHistory]:
    """Read the hands of a ``.phh`` or ``.phhs`` file."""
    name = os.fspath(path)
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise GameError(f"the hand history {name} cannot be read: {error}") from error
    try:
        return parse_phh(text)
    except GameError as error:
        raise GameError(f"{name}: {error}") from error


def parse_phh(text: str) -> list[HandHistory]:
    """Read one hand, or several as tables with headers ``[1]``, ``[2]``, ..., in the order of the file."""
    try:
        document = tomllib.loads(text, parse_float=_decimal)
    except (ValueError, ArithmeticError, RecursionError) as error:
        raise GameError(f"a hand history must be TOML: {str(error) or type(error).__name__}") from None
    tables = [document] if "variant" in document else list(document.values())
    hands = []
    for table in tables:
        if not isinstance(table, dict) or not isinstance(table.get("variant"), str):
            raise GameError("a hand history needs a variant; write variant = 'FT' or another")
        actions = table.get("actions")
        if not isinstance(actions, list):
            raise GameError(f"a hand history needs a list of actions; got {_short(actions)}")
        fields = {key: value for key, value in table.items() if key not in ("variant", "actions")}
        hands.append(HandHistory(table["variant"], fields, tuple(actions)))
    return hands


def format_phh(hand: HandHistory) -> str:
    """The text of a ``.phh`` file."""
    keys = {"variant": hand.variant, **hand.fields, "actions": list(hand.actions)}
    order = ["variant", "antes", "blinds_or_straddles", "bring_in", "small_bet", "big_bet", "min_bet"]
    order += ["starting_stacks", "actions"]
    names = [key for key in order if key in keys] + [key for key in keys if key not in order]
    return "".join(f"{_key(name)} = {_toml(keys[name])}\n" for name in names)


def format_phhs(hands: Iterable[HandHistory]) -> str:
    """The text of a ``.phhs`` file."""
    return "\n".join(f"[{number}]\n{format_phh(hand)}" for number, hand in enumerate(hands, 1))


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _toml(name)


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return "inf" if value.is_infinite() else format(value, "f")
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        plain = re.sub(r"[\x00-\x1f\x7f]", lambda found: f"\\u{ord(found.group()):04x}", escaped)
        return f'"{plain}"'
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_key(key)} = {_toml(inner)}' for key, inner in value.items())}}}"
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


# ---------------------------------------------------------------------------------------------- records


def from_record(record: HandRecord) -> HandHistory:
    """The history of a hand of Texas hold'em from a log.

    Raises GameError if the game is not the limit or no-limit hold'em of the format.
    """
    game = record.betting.game
    sizes = game.raise_sizes[:1] * 2 + game.raise_sizes[-1:] * 2
    if game != _definition(game.limit, game.players, game.blinds, game.stacks, sizes):
        raise GameError("the format has only Texas hold'em with blinds, usual bets and four bets a round")
    blinds = list(game.blinds[::-1] if game.players == 2 else game.blinds)
    stacks = [Decimal("inf") if stack == UNLIMITED else stack for stack in game.stacks]
    fields: dict[str, Any] = {"antes": [0] * game.players, "blinds_or_straddles": blinds}
    if game.limit:
        fields.update(small_bet=game.raise_sizes[0], big_bet=game.raise_sizes[-1])
    else:
        fields["min_bet"] = game.big_blind
    fields.update(starting_stacks=stacks, hand=record.hand_id, players=list(record.names))
    return HandHistory("FT" if game.limit else "NT", fields, tuple(_actions(record)))


def _actions(record: HandRecord) -> list[str]:
    game, deal = record.betting.game, record.deal
    lines = [f"d dh p{p + 1} {cards_text(cards) or '????'}" for p, cards in enumerate(deal.hole)]
    betting = Betting.start(game)
    first = game.first_players[-1]
    shown: list[str] = []
    for number, actions in enumerate(record.betting.actions):
        if number:
            start, end = game.board_ends[number - 1], game.board_ends[number]
            if betting.finished and not shown:  # everybody is all in: hands are shown before the rest of the board
                shown = _shown(record, first)
                lines += shown
            lines.append(f"d db {cards_text(deal.board[start:end])}")
        base = betting.max_spent if number else 0
        for action in actions:
            player = betting.player
            betting = betting.act(action)
            verb = {"f": "f", "c": "cc"}.get(action, f"cbr {betting.spent[player] - base}")
            first = player if action[0] == "r" else first
            lines.append(f"p{player + 1} {verb}")
    return lines + (_shown(record, first) if not shown else [])


def _shown(record: HandRecord, first: int) -> list[str]:
    """Who shows what at a showdown, from the last raiser on."""
    betting, hole = record.betting, record.deal.hole
    if not betting.showdown:
        return []
    players = betting.game.players
    order = [(first + step) % players for step in range(players)]
    return [f"p{p + 1} sm {cards_text(hole[p])}" for p in order if not betting.folded >> p & 1]


def to_record(hand: HandHistory) -> HandRecord:
    """A hand of limit or no-limit hold'em as a record of a log, its values computed.

    Raises GameError if the variant is another, amounts are not integers, antes are paid, the actions break the rules,
    or cards at a showdown are unknown.
    """
    return HandRecord.of(*replay(hand))


def replay(hand: HandHistory) -> tuple[MatchState, tuple[str, ...]]:
    """A finished hand of limit or no-limit hold'em with the cards that are known, and the names of its players.

    Raises GameError as ``to_record``, but for unknown cards.
    """
    if hand.variant not in ("FT", "NT"):
        raise GameError(f"hands of variant {hand.variant!r} cannot be converted to records; FT and NT can")
    whole = {key: [_whole(key, value) for value in hand.fields[key]] for key in _PER_PLAYER}
    if any(whole["antes"]):
        raise GameError(f"antes {whole['antes']} cannot be recorded; blinds can")
    blinds = tuple(whole["blinds_or_straddles"][:: -1 if hand.players == 2 else 1])
    limit = hand.variant == "FT"
    sizes: tuple[int, ...] = ()
    if limit:
        small, big = (_whole(key, hand.fields[key]) for key in ("small_bet", "big_bet"))
        sizes = (small, small, big, big)
    game = _definition(limit, hand.players, blinds, tuple(whole["starting_stacks"]), sizes)
    if not limit and _whole("min_bet", hand.fields["min_bet"]) != game.big_blind:
        raise GameError(f"min_bet must be the big blind {game.big_blind}; got {hand.fields['min_bet']}")
    betting, deal = _play(game, hand.actions)
    names = hand.fields.get("players") or [f"p{number + 1}" for number in range(hand.players)]
    number = hand.fields.get("hand", 0)
    return MatchState(number if isinstance(number, int) else 0, betting, deal), tuple(names)


def _play(game: GameDefinition, actions: Iterable[str]) -> tuple[Betting, Deal]:
    """The betting and the cards of a hand, replayed."""
    betting = Betting.start(game)
    hole: list[tuple[int, ...]] = [()] * game.players
    board: tuple[int, ...] = ()
    base = 0
    for action in actions:
        found = _ACTION.fullmatch(action)
        if found is None or found["verb"] == "pb" or found["cards"] == "sd":
            raise GameError(f"{action!r} is no action of Texas hold'em")
        if found["hole"] or (found["shown"] and found["shown"] != "-"):
            cards = found["hole"] or found["shown"]
            who = int(found["to"] or found["who"]) - 1
            hole[who] = hole[who] if "?" in cards else parse_cards(cards)
        elif found["board"]:
            board += parse_cards(found["board"])
            base = betting.max_spent
        elif found["verb"] or found["amount"]:
            if int(found["who"]) - 1 != betting.player:
                raise GameError(f"{action!r} is out of turn after {betting.text()!r}")
            letter = {"f": "f", "cc": "c"}.get(found["verb"] or "", "r")
            if letter == "r" and not game.limit:
                letter = f"r{_whole('cbr', Decimal(found['amount'])) + base}"
            betting = betting.act(letter)
    if not betting.finished:
        raise GameError(f"the hand is not over after {betting.text()!r}")
    return betting, Deal(tuple(hole), board)


def _definition(
    limit: bool, players: int, blinds: tuple[int, ...], stacks: tuple[int, ...], sizes: tuple[int, ...]
) -> GameDefinition:
    """Texas hold'em as the format means it: the player after the last blind acts first, then the small blind."""
    posted = [position for position, blind in enumerate(blinds) if blind]
    first = 1 if players == 2 else (posted[-1] + 1) % players if posted else 0
    return GameDefinition(
        limit=limit, players=players, rounds=4, blinds=blinds, stacks=stacks, raise_sizes=sizes,
        first_players=(first, 0, 0, 0), max_raises=(3, 4, 4, 4) if limit else (),
        suits=4, ranks=13, hole_cards=2, board_cards=_HOLDEM_BOARD,
    )  # fmt: skip


def _whole(key: str, value: Number) -> int:
    if isinstance(value, Decimal):
        if value.is_infinite():
            return UNLIMITED
        if value != int(value):
            raise GameError(f"{key}: {value} is not an integer number of chips; multiply all amounts of the hand")
    return int(value)
