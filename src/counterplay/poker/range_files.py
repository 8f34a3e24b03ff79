"""Ranges from files: one on each line, or with names, or lists of 1,326 weights.

A file holds ranges as ``poker.ranges`` reads them, one on each line.  A line that starts with a name and a colon gives
that name to its range: ``OOP: 66+,A8s+`` or ``BTN open: top 45%``.  A range continues on the next line after a comma,
inside brackets, and in a file with names until the next name.  Numbers alone are lists of weights in PioSOLVER's order
of hands, 1,326 for each range, however they are spread over lines.  ``#`` starts a comment.

Wherever a range is given, ``@FILE`` stands for the range of a file, and ``@FILE:NAME`` for the one with that name.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Sequence

from counterplay.errors import GameError
from counterplay.poker.ranges import HANDS, parse_range, range_text
from counterplay.runtime.suggestions import did_you_mean
from counterplay.storage import read_lines

PLAYERS = ("oop", "ip")
_NAME = re.compile(r"\s*([^\s,:\[\]#][^,:\[\]#]*):(.*)", re.DOTALL)
_NUMBERS = re.compile(r"[\s,]*(?:[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?(?:[\s,]+|$))+", re.IGNORECASE)


@dataclasses.dataclass(frozen=True)
class FileRange:
    """A range of a file: its name, empty if it has none, the file and line where it starts, and its text."""

    name: str
    where: str
    text: str


@dataclasses.dataclass
class _Part:
    """The lines of a range, with their numbers."""

    name: str
    lines: list[tuple[int, str]]

    @property
    def open(self) -> bool:
        """Whether the next line belongs to it."""
        text = "\n".join(line for _, line in self.lines)
        return text.rstrip().endswith((",", ":")) or not text.strip() or text.count("[") > 2 * text.count("[/")


def read_ranges(path: str | os.PathLike[str]) -> list[FileRange]:
    """The ranges of a file.

    Raises CounterplayError if it cannot be read, has no range, or one of them is wrong; the message names file and
    line.
    """
    lines = read_lines(path)
    text = "\n".join(line for _, line in lines)
    parts = _lists(lines, path) if _NUMBERS.fullmatch(text) else _parts(lines)
    if not parts:
        raise GameError(f"{path} has no range")
    found = [_checked(part, path) for part in parts]
    names = [one.name.lower() for one in found if one.name]
    if 0 < len(names) < len(found):
        bare = next(one for one in found if not one.name)
        raise GameError(f"{bare.where}: the range has no name, but others in the file have one; write NAME: RANGE")
    for number, one in enumerate(found):
        if one.name and one.name.lower() in names[:number]:
            raise GameError(f"{one.where}: there is already a range named {one.name!r}")
    return found


def range_of(text: str, name: str) -> str:
    """The text of a range that may be in a file.

    Parameters
    ----------
    text : str
        A range, ``@FILE``, ``@FILE:NAME``, or the path of a file if it is not a range itself.
    name : str
        Of the range; in a file with several, the one with this name is taken.
    """
    found = _from_file(text)
    if found is None:
        return text
    if len(found) > 1:
        named = [one for one in found if one.name.lower() == name.lower()]
        if not named:
            raise GameError(f"{_held(text, found)}; {_chosen(text, found)}")
        found = named
    return found[0].text


def ranges_of(texts: Sequence[str]) -> list[FileRange]:
    """All ranges of texts, each of which may be a file with several."""
    found = []
    for text in texts:
        held = _from_file(text)
        found += held if held is not None else [FileRange("", "", text)]
    return found


def spot_ranges(path: str | os.PathLike[str]) -> tuple[str, str]:
    """The ranges of the players out of position and in position: named ``OOP`` and ``IP``, or the only two."""
    found = read_ranges(path)
    named = {one.name.lower(): one.text for one in found}
    if set(PLAYERS) <= set(named):
        return named["oop"], named["ip"]
    if len(found) == 2 and not any(one.name for one in found):
        return found[0].text, found[1].text
    raise GameError(f"{_held(str(path), found)}; name two of them OOP and IP, or give two lines without names")


def _from_file(text: str) -> list[FileRange] | None:
    """The ranges of a file that a text refers to; None if it is a range itself."""
    if not text.startswith("@"):
        try:
            parse_range(text)
        except GameError:
            return read_ranges(text) if os.path.isfile(text) else None
        return None
    path, colon, name = text[1:].rpartition(":")
    if not colon or os.path.isfile(text[1:]):
        return read_ranges(text[1:])
    found = read_ranges(path)
    chosen = [one for one in found if one.name.lower() == name.strip().lower()]
    if not chosen:
        names = [one.name for one in found if one.name]
        hint = did_you_mean(name.strip(), names) if names else "its ranges have no names"
        raise GameError(f"{path} has no range named {name.strip()!r}; {hint}")
    return chosen


def _held(text: str, found: list[FileRange]) -> str:
    names = ", ".join(one.name for one in found if one.name)
    path = found[0].where.rpartition(", line ")[0] or text
    return f"{path} has {len(found)} range{'s' if len(found) > 1 else ''}{f' ({names})' if names else ''}"


def _chosen(text: str, found: list[FileRange]) -> str:
    if found[0].name:
        return f"choose one, such as {'' if text.startswith('@') else '@'}{text}:{found[0].name}"
    return "leave one line, end a line with a comma where the range continues, or write NAME: in front of each"


def _parts(lines: list[tuple[int, str]]) -> list[_Part]:
    """The lines of each range."""
    parts: list[_Part] = []
    named = False
    for number, line in lines:
        found = _NAME.fullmatch(line)
        name = "" if found is None else found.group(1).rstrip()
        if found is not None and not _is_range(name):
            parts.append(_Part(name, [(number, found.group(2))]))
            named = True
        elif parts and (named or parts[-1].open or line.lstrip().startswith((",", "[/"))):
            parts[-1].lines.append((number, line))
        else:
            parts.append(_Part("", [(number, line)]))
    return parts


def _is_range(text: str) -> bool:
    try:
        parse_range(text)
    except GameError:
        return False
    return True


def _lists(lines: list[tuple[int, str]], path: str | os.PathLike[str]) -> list[_Part]:
    """Lists of weights, or pairs such as 22 on lines of their own."""
    words = [(number, word) for number, line in lines for word in line.replace(",", " ").split()]
    if all(_is_range(line) for _, line in lines):
        return _parts(lines)
    if len(words) % HANDS:
        raise GameError(
            f"{path} is a list of {len(words):,} numbers; a list of weights has {HANDS:,}, one for each hand in "
            "PioSOLVER's order: 2d2c 2h2c 2h2d ..."
        )
    starts = range(0, len(words), HANDS)
    return [_Part("", [words[place] for place in range(start, start + HANDS)]) for start in starts]


def _checked(part: _Part, path: str | os.PathLike[str]) -> FileRange:
    """A range that can be read."""
    where = f"{path}, line {part.lines[0][0]}"
    text = " ".join(line for _, line in part.lines)
    what = f"range{f' {part.name}' if part.name else ''}"
    try:
        weights = parse_range(text, what)
    except GameError as error:
        for number, line in part.lines:
            try:
                parse_range(line.strip().strip(","), what)
            except GameError as first:
                raise GameError(f"{path}, line {number}: {first}") from None
        raise GameError(f"{where}: {error}") from None
    if not weights.any():
        raise GameError(f"{where}: the {what} has no hands")
    return FileRange(part.name, where, range_text(weights))
