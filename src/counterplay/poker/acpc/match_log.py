"""Logs of matches: one line for each hand with the winnings, as written by the competition's dealer.

::

    # name/game/hands/seed NAME GAMEFILE HANDS SEED     four lines of header
    STATE:1:cc/cc/rc/crrrrc:6sKs|5dJd/2sTh2h/Qh/8h:110|-110:P2|P1
    SCORE:-110|110:P1|P2                                 the sums, in the order of the seats

Values and names of a hand are by position, so names rotate from hand to hand.  Values have at most six decimals.  Logs
from before 2012 are read too: there the names come first (``names:handId:betting:cards:values``), the betting contains
the blinds (``b50b100``) and calls may carry a size.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path

from counterplay.errors import GameError
from counterplay.poker.acpc.dealing import Deal
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.acpc.match_state import MatchState, hand_values, read_hand
from counterplay.poker.rules import Betting, Chips

DECIMALS = 6
MAX_SPLIT = 2520
"""Pots are split among up to ten players, layer by layer: this is the least common multiple of 1 to 10."""

_BLINDS = re.compile(r"(?:b\d+)+")
_CALL_SIZE = re.compile(r"([cCkK])\d+")
_VALUE = re.compile(r"-?\d+(?:\.\d+)?")
_TIMES = ("t_response", "t_hand", "t_per_hand")


@dataclasses.dataclass(frozen=True, slots=True)
class HandRecord:
    """A finished hand: what was done, the cards, what each position won, and who sat there."""

    hand_id: int
    betting: Betting
    deal: Deal
    values: tuple[Chips, ...]
    names: tuple[str, ...]

    @classmethod
    def of(cls, state: MatchState, names: Sequence[str]) -> HandRecord:
        """The record of a finished hand that its dealer knows."""
        return cls(state.hand_id, state.betting, state.deal, state.values(), tuple(names))

    def state(self) -> MatchState:
        """The hand as its dealer knew it."""
        return MatchState(self.hand_id, self.betting, self.deal)

    def recomputed(self) -> tuple[Chips, ...]:
        """The values that follow from betting and cards."""
        return hand_values(self.betting, self.deal)

    def text(self) -> str:
        """The line of this hand in a log."""
        return format_hand(self.state().text(), self.values, self.names)


@dataclasses.dataclass(frozen=True)
class MatchLog:
    """A complete log.  ``hands``, ``seed`` and the times are those of the header, None without one."""

    records: tuple[HandRecord, ...]
    name: str = ""
    game_file: str = ""
    hands: int | None = None
    seed: int | None = None
    times: tuple[int, ...] = ()
    score: tuple[Chips, ...] = ()
    seats: tuple[str, ...] = ()

    def totals(self) -> dict[str, Chips]:
        """What each name has won over all hands."""
        totals: dict[str, Chips] = {}
        for record in self.records:
            for name, value in zip(record.names, record.values, strict=True):
                totals[name] = totals.get(name, 0) + value
        return totals

    def lines(self) -> Iterator[str]:
        """The lines of the log file, without newlines."""
        if self.hands is not None:
            yield from format_header(self.name, self.game_file, self.hands, self.seed or 0, self.times)
        for record in self.records:
            yield record.text()
        if self.seats:
            yield format_score(self.score, self.seats)


def format_chips(value: Chips) -> str:
    """An amount of chips with at most six decimals, without trailing zeros: ``110``, ``-2052.5``, ``33.333333``."""
    if isinstance(value, int):
        return str(value)
    text = f"{float(value):.{DECIMALS}f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def format_header(name: str, game_file: str, hands: int, seed: int, times: Sequence[int]) -> list[str]:
    """The four lines that open a log; ``times``: milliseconds for a response, a hand, and each hand on average."""
    lines = [f"# name/game/hands/seed {name} {game_file} {hands} {seed}"]
    return lines + [f"#--{key} {limit}" for key, limit in zip(_TIMES, times, strict=False)]


def format_hand(state: str, values: Sequence[Chips], names: Sequence[str]) -> str:
    """The line of a hand: its ``STATE``, then the values and the names by position."""
    return f"{state}:{'|'.join(map(format_chips, values))}:{'|'.join(names)}"


def format_score(score: Sequence[Chips], seats: Sequence[str]) -> str:
    """The last line of a log: the sums of the values, in the order of the seats."""
    return f"SCORE:{'|'.join(map(format_chips, score))}:{'|'.join(seats)}"


# ---------------------------------------------------------------------------------------------- reading


def read_log(path: str | os.PathLike[str], game: GameDefinition) -> MatchLog:
    """Read a log file."""
    name = os.fspath(path)
    try:
        text = Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise GameError(f"the log {name} cannot be read: {error.strerror or error}") from error
    try:
        return parse_log(text.splitlines(), game)
    except GameError as error:
        raise GameError(f"{name}: {error}") from error


def parse_log(lines: Iterable[str], game: GameDefinition) -> MatchLog:
    """Read the lines of a log; comments other than the header are skipped."""
    records = []
    facts: dict[str, object] = {}
    times: list[int] = []
    for number, raw in enumerate(lines, 1):
        line = raw.rstrip("\r\n")
        try:
            if line.startswith("# name/game/hands/seed "):
                facts.update(_header(line))
            elif (found := re.fullmatch(r"#--(\w+) (\d+)", line)) and found.group(1) in _TIMES:
                times.append(int(found.group(2)))
            elif line.startswith("SCORE:"):
                _, score, seats = line.split(":", 2)
                facts.update(score=_values(score), seats=tuple(seats.split("|")))
            elif line and line[0] not in "#;":
                records.append(parse_record(game, line))
        except (GameError, ValueError) as error:
            raise GameError(f"line {number}: {error}") from error
    return MatchLog(tuple(records), times=tuple(times), **facts)  # type: ignore[arg-type]


def _header(line: str) -> dict[str, object]:
    words = line.removeprefix("# name/game/hands/seed ").split(" ")
    if len(words) != 4 or not (words[2].isdigit() and words[3].isdigit()):
        raise GameError(f"cannot read the header {line!r}; it ends with a name, a file, a number of hands, a seed")
    return {"name": words[0], "game_file": words[1], "hands": int(words[2]), "seed": int(words[3])}


def parse_record(game: GameDefinition, line: str) -> HandRecord:
    """Read one hand of a log, in the current format or in the one with the names first."""
    fields = line.rstrip("\r\n").split(":")
    if len(fields) == 6 and fields[0] == "STATE":
        _, hand_id, betting, cards, values, names = fields
    elif len(fields) == 5 and fields[0] not in ("STATE", "MATCHSTATE"):
        names, hand_id, betting, cards, values = fields
        betting = _CALL_SIZE.sub(r"\1", _BLINDS.sub("", betting, count=1) if betting[:1] == "b" else betting)
    else:
        shape = "STATE:handId:betting:cards:values:names"
        raise GameError(f"cannot read {line[:100]!r}; a hand in a log is written {shape}")
    if not (hand_id.isascii() and hand_id.isdigit()):
        raise GameError(f"the number of a hand must be an integer; got {hand_id!r}")
    state = read_hand(game, int(hand_id), betting, cards, None)
    if not state.betting.finished:
        raise GameError(f"hand {hand_id} is not over after {betting!r}; logs hold finished hands")
    record = HandRecord(state.hand_id, state.betting, state.deal, _values(values), tuple(names.split("|")))
    if len(record.values) != game.players or len(record.names) != game.players:
        raise GameError(f"hand {hand_id} must give values and names of {game.players} players; got {values}:{names}")
    return record


def _values(text: str) -> tuple[Chips, ...]:
    values: list[Chips] = []
    for part in text.split("|"):
        if not _VALUE.fullmatch(part):
            raise GameError(f"cannot read the value {part!r} in {text!r}; values are numbers separated by |")
        whole, _, decimals = part.partition(".")
        if not decimals:
            values.append(int(whole))
            continue
        value = Fraction(part)
        near = value.limit_denominator(MAX_SPLIT)  # a split pot is written with six decimals
        values.append(near if abs(near - value) < Fraction(1, 10**DECIMALS) else value)
    return tuple(values)
