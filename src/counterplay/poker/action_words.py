"""The words that players and programs use for actions: ``x``, ``CHECK``; ``b45``, ``bet45``, ``bet 45``; ``all-in``.

Actions in a row may be separated by spaces, commas, colons, slashes or dashes, or by nothing: ``x b45 c``, ``x-b45-c``
and ``xb45c`` are the same.  Which action a word means depends on those that are legal: ``c`` calls a bet and checks
where there is none, and ``b45`` is the raise to 45 where there is a bet.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Sequence

from counterplay.errors import GameError

FOLD = "fold|f"
CHECK = "check|x|k"
CALL = "call|c"
RAISE = "raise|bet|r|b"
ALL_IN = "all[ -]?in|ai|a"

_ROOT = "r:0"
"""The name of the first decision in PioSOLVER, with which its names of other decisions start."""

_SEPARATORS = re.compile(r"[\s,;:/>-]*")

_SIZED = re.compile(rf"(?:{RAISE})([0-9]+(?:\.[0-9]+)?)")
_CHIPS = re.compile(rf"(?:{RAISE})\s*([0-9]+(?:\.[0-9]+)?)(?!\.?[0-9])|(?:{ALL_IN})(?![a-z])", re.IGNORECASE)
_LETTER = re.compile(rf"({FOLD})|({CHECK}|{CALL})|(?:{RAISE})\s*([0-9]*)", re.IGNORECASE)
_WORD = re.compile(r"[^\s,;:/>-]+|.")


def match_action(text: str, start: int, actions: Sequence[str]) -> tuple[int, int] | None:
    """The legal action that the text names at a place: its index, and where its word ends; None if it names none.

    The longest word counts, and an action's own name before other words for it.
    """
    best: tuple[int, bool, int] | None = None
    for number, name in enumerate(actions):
        found = _pattern(name).match(text, start)
        if found is not None and found.end() > start:
            mine = (found.end(), found.group() == name, -number)
            best = mine if best is None else max(best, mine)
    return None if best is None else (-best[2], best[0])


def match_size(text: str, start: int) -> tuple[float, int] | None:
    """The chips of the bet or raise that the text names at a place, and where its word ends; None if it names none.

    All in is infinite.
    """
    found = _CHIPS.match(text, start)
    return None if found is None else (float(found.group(1) or math.inf), found.end())


def first_word(text: str) -> int:
    """Where the first action of a node's name starts."""
    return skip_separators(text, len(_ROOT) if text.startswith(_ROOT) else 0)


def skip_separators(text: str, start: int) -> int:
    """Where the next word starts."""
    found = _SEPARATORS.match(text, start)
    return start if found is None else found.end()


def word_at(text: str, start: int) -> str:
    """The word that starts at a place, for errors."""
    found = _WORD.match(text, start)
    return "" if found is None else found.group()


@functools.lru_cache(maxsize=1 << 10)
def _pattern(name: str) -> re.Pattern[str]:
    """What matches the words for an action."""
    sized = _SIZED.fullmatch(name)
    if sized is not None:
        words = rf"(?:{RAISE})\s*{re.escape(sized.group(1))}(?:\.0+)?(?!\.?[0-9])"
    elif name in ("fold", "f"):
        words = FOLD
    elif name in ("check", "c"):
        words = f"{CHECK}|{CALL}"
    elif name == "call":
        words = CALL
    elif name == "allin":
        words = ALL_IN
    elif name in ("raise", "bet", "r", "b"):
        words = rf"(?:{RAISE})(?!\s*[0-9])"
    else:
        words = re.escape(name) + (r"(?![0-9])" if name[-1:].isdigit() else "")
    return re.compile(words, re.IGNORECASE)


def betting_letters(text: str) -> str:
    """A betting in the letters of the competition: ``CHECK raise 300, call`` is ``cr300c``.

    Raises GameError if it has other words.
    """
    letters, place = [], skip_separators(text, 0)
    while place < len(text):
        found = _LETTER.match(text, place)
        if found is None:
            raise GameError(
                f"cannot read {word_at(text, place)!r} at character {place + 1} of the betting {text!r}; actions are "
                "fold, check, call, and bet or raise with the chips that it is to, or f, c and r250"
            )
        letters.append("f" if found.group(1) else "c" if found.group(2) else f"r{found.group(3)}")
        place = skip_separators(text, found.end())
    return "".join(letters)
