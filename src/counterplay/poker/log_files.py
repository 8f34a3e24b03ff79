"""Files with logged hands: what they hold, who plays in them, and of which game they are.

Two formats are read: logs of the competition (``poker.acpc.match_log``), a hand a line, and hand histories in PHH
(``poker.phh``; names that end in ``.phh`` or ``.phhs``), a hand a table.  A hand is read by the rules of the game that
it should be of; in a log of the competition its values must be those that follow from betting and cards, which shows
logs of games with other blinds, and letters that have changed.
"""

from __future__ import annotations

import dataclasses
import itertools
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

from counterplay.errors import GameError
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.acpc.infoset_names import same_rules
from counterplay.poker.acpc.match_log import HandRecord, format_chips, parse_record
from counterplay.poker.acpc.match_state import MatchState, read_hand
from counterplay.poker.acpc.standard import STANDARD
from counterplay.poker.phh import parse_phh, replay
from counterplay.poker.poker_game import standard_name
from counterplay.runtime.suggestions import did_you_mean
from counterplay.storage import file_kind

AnyPath: TypeAlias = str | os.PathLike[str]

BLOCK = 1 << 22
"""Bytes of a log that are read at a time."""

FIRST = 20
"""Hands of a file that are read to see which game they are of."""

Played: TypeAlias = tuple[MatchState, tuple[str, ...]]
"""A finished hand, and who sat in each position."""

_HEADER = b"# name/game/hands/seed "
_TABLE = re.compile(r"^[ \t]*\[[^\[\]\n]*\][ \t]*(?:#.*)?$", re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class LogFile:
    """A file with logged hands."""

    path: Path

    @property
    def phh(self) -> bool:
        """Whether its hands are in the format PHH."""
        return self.path.suffix.lower() in (".phh", ".phhs")

    def blocks(self) -> Iterator[bytes]:
        """The lines of a log of the competition, some at a time; each ends with a newline."""
        rest = b""
        try:
            with open(self.path, "rb") as file:
                rest = file.read(BLOCK).removeprefix(b"\xef\xbb\xbf")
                while block := rest:
                    more = file.read(BLOCK)
                    end = block.rfind(b"\n") + 1 if more else len(block)
                    if not end:
                        raise GameError(f"{self.path} is no log: it has a line of more than {BLOCK >> 20} MiB")
                    rest = block[end:] + more
                    yield block[:end] if block.endswith(b"\n", 0, end) else block[:end] + b"\n"
        except OSError as error:
            raise GameError(f"the log {self.path} cannot be read: {error.strerror or error}") from error

    def hands(self) -> Iterator[tuple[int, str]]:
        """The line where each hand begins, from 1, and its text."""
        if self.phh:
            yield from self._tables()
            return
        number = 0
        for block in self.blocks():
            for number, line in enumerate(block.split(b"\n")[:-1], number + 1):  # noqa: B020
                if is_hand(line):
                    yield number, line_text(line)

    def _tables(self) -> Iterator[tuple[int, str]]:
        try:
            text = self.path.read_text(encoding="utf-8-sig", errors="replace")
        except OSError as error:
            raise GameError(f"the hand history {self.path} cannot be read: {error.strerror or error}") from error
        starts = [found.start() for found in _TABLE.finditer(text)]
        if text[: starts[0] if starts else None].strip():  # a single hand has no header
            starts.insert(0, 0)
        for start, end in itertools.pairwise([*starts, len(text)]):
            yield text.count("\n", 0, start) + 1, text[start:end]

    def played(self, rules: GameDefinition, text: str) -> Played:
        """A hand of this file.

        Raises GameError or ValueError if it is broken, or of a game with other rules.
        """
        return _history(rules, text) if self.phh else _logged(rules, text)

    def first(self) -> list[tuple[int, str]]:
        """The first hands."""
        return list(itertools.islice(self.hands(), FIRST))

    def names(self, hands: Iterable[tuple[int, str]] | None = None) -> set[str]:
        """Who plays in some of its hands, by default in all; in broken ones there may be nobody."""
        found: set[str] = set()
        for _, text in self.hands() if hands is None else hands:
            if self.phh:
                try:
                    found.update(replay(parse_phh(text)[0])[1])
                except (GameError, ValueError, IndexError):
                    continue
            else:
                fields = text.split(":")
                place = {6: 5, 5: 0}.get(len(fields))
                found.update(() if place is None else fields[place].split("|"))
        return found

    def header_game(self) -> GameDefinition | None:
        """The standard game that the header of a log names, if it does."""
        if self.phh:
            return None
        for block in self.blocks():
            for line in block.split(b"\n"):
                if line.startswith(_HEADER):
                    words = line_text(line.removeprefix(_HEADER)).split(" ")
                    file = words[1] if len(words) > 1 else ""
                    return STANDARD.get(re.split(r"[/\\]", file)[-1].removesuffix(".game"))
                if is_hand(line):
                    return None
        return None

    def check(self, rules: GameDefinition, game: str) -> None:
        """Refuse a file in which none of the first hands is one of a game, or whose header names another one.

        Raises
        ------
        GameError
        """
        named = self.header_game()
        if named is not None and not same_rules(rules, named):
            raise GameError(f"{self.path} is a log of {standard_name(named) or 'another game'}, not of {game}")
        problem = ""
        for number, text in self.first():
            try:
                self.played(rules, text)
            except (GameError, ValueError) as error:
                problem = problem or f"line {number}: {error}"
            else:
                return
        if problem:
            fits = [name for name in self._fitting() if name != game]
            hint = f"; it fits {', '.join(fits)}" if fits else ""
            raise GameError(f"{self.path} is no log of {game}{hint}; {problem}")

    def _fitting(self) -> list[str]:
        """The standard games of which all of the first hands are."""
        hands, found = self.first(), []
        for rules in dict.fromkeys(STANDARD.values()):
            name = standard_name(rules)
            try:
                for _, text in hands:
                    self.played(rules, text)
            except (GameError, ValueError):
                continue
            if name is not None:
                found.append(name)
        return found

    def game(self) -> str:
        """The name of the game that is played, from the header or from the first hands.

        Raises
        ------
        GameError
            If several games have such hands, or none.
        """
        named = self.header_game()
        name = None if named is None else standard_name(named)
        fits = [name] if name is not None else self._fitting()
        if len(fits) == 1:
            return fits[0]
        could = f"; it could be {' or '.join(fits)}" if fits else ""
        raise GameError(f"{self.path} does not say which game is played{could}; name the game")


def log_files(logs: AnyPath | Sequence[AnyPath]) -> list[LogFile]:
    """The files, after checking that they can be read and that none is given twice.

    Raises
    ------
    GameError
    """
    given = [logs] if isinstance(logs, str | os.PathLike) else list(logs)
    if not given:
        raise GameError("no log is given; name files with logged hands")
    met: set[str] = set()
    for path in given:
        if not isinstance(path, str | os.PathLike):
            raise GameError(f"a log is the name of a file; got {type(path).__name__}")
        name = os.fspath(path)
        if not os.path.isfile(path):
            raise GameError(f"{name} is a folder; name the logs in it" if os.path.isdir(path) else f"no file {name}")
        if (kind := file_kind(path)) is not None:
            raise GameError(f"{name} holds no logged hands; it is a counterplay file of the kind {kind}")
        if os.path.realpath(path) in met:
            raise GameError(f"the log {name} is given twice; its hands would count twice")
        met.add(os.path.realpath(path))
    return [LogFile(Path(path)) for path in given]


def check_names(files: Sequence[LogFile], names: Sequence[str]) -> None:
    """Refuse names of players who are in no hand; all hands are read only if the first ones do not have them.

    Raises
    ------
    GameError
    """
    met: set[str] = set()
    for file in files:
        met |= file.names(file.first())
    if not set(names) <= met:
        for file in files:
            met |= file.names()
    if not met:
        raise GameError(
            f"nobody plays in {files[0].path}{' and the others' if len(files) > 1 else ''}: no line is a hand"
        )
    for name in names:
        if name not in met:
            raise GameError(f"nobody is called {name!r} in the logs; {did_you_mean(name, sorted(met))}")


def is_hand(line: bytes) -> bool:
    """Whether a line of a log should be a hand: comments, the score and empty lines are none."""
    bare = line.rstrip(b"\r")
    return bool(bare) and bare[:1] not in (b"#", b";") and not bare.startswith(b"SCORE:")


def line_text(line: bytes) -> str:
    """The text of a line."""
    return line.rstrip(b"\r").decode("utf-8", "replace")


# ---------------------------------------------------------------------------------------------- hands


def _logged(rules: GameDefinition, line: str) -> Played:
    """A hand in a log of the competition."""
    record = parse_record(rules, line)
    _check_values(record)
    return record.state(), record.names


def _check_values(record: HandRecord) -> None:
    """Refuse values that are not those of betting and cards, as far as these are known."""
    betting, hole = record.betting, record.deal.hole
    known = not betting.showdown or all(hole[position] for position in betting.live())
    if known:
        right = record.values == record.recomputed()
    else:
        right = not sum(record.values) and all(map(lambda won, paid: won >= -paid, record.values, betting.spent))
    if not right:
        found = "|".join(map(format_chips, record.values))
        wanted = "|".join(map(format_chips, record.recomputed())) if known else "something else"
        raise GameError(f"the players of hand {record.hand_id} have won {wanted}, and the log says {found}")


def _history(rules: GameDefinition, text: str) -> Played:
    """A hand in the format PHH."""
    hands = parse_phh(text)
    if len(hands) != 1:
        raise GameError(f"a table of a hand history is one hand; got {len(hands)}")
    state, names = replay(hands[0])
    if not same_rules(rules, state.game):
        raise GameError(f"a hand with blinds {state.game.blinds} and stacks {state.game.stacks} is of another game")
    # read again by these rules: replaying does not check the cards
    return read_hand(rules, state.hand_id, state.betting.text(), state.cards_text(), None), names
