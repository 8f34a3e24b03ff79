"""Standard input, output and error as they may be: closed, full, gone, or of an encoding that lacks a character."""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import sys
import unicodedata

ERRORS = "counterplay"
"""The name of the handler of characters that an encoding lacks."""

PLAIN = {
    "♠": "s", "♥": "h", "♦": "d", "♣": "c", "♤": "s", "♡": "h", "♢": "d", "♧": "c", "±": "+-", "×": "x", "·": ".",
    "→": "->", "−": "-", "–": "-", "—": "-", "≥": ">=", "≤": "<=", "≈": "~", "√": "sqrt ", "‘": "'", "’": "'",
    "“": '"', "”": '"', "•": "*", "─": "-", "━": "-", "│": "|", "┃": "|",
}  # fmt: skip
"""What is written instead of characters that an encoding lacks; suits are letters, as in the names of cards."""


def prepare_streams() -> None:
    """Let nothing that is printed stop a command.

    A stream that is closed takes everything; characters that an encoding lacks are replaced; lines on standard error
    that nobody can read any more are dropped.  A reader of standard output who is gone still stops the command.
    """
    codecs.register_error(ERRORS, _replace)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started us
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    if sys.stderr is sys.__stderr__ and isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr = Diagnostics(sys.stderr)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=ERRORS)
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")


class Diagnostics(io.TextIOWrapper):
    """Standard error; what cannot be written there is dropped, since the work matters more than what is said of it."""

    def __init__(self, stream: io.TextIOWrapper) -> None:
        self._original = stream  # whose end would close the file
        super().__init__(stream.buffer, stream.encoding, line_buffering=True, write_through=True)

    def write(self, text: str) -> int:
        """Write a text, or drop it."""
        try:
            return super().write(text)
        except OSError:
            return len(text)

    def flush(self) -> None:
        """Write what waits, or drop it."""
        with contextlib.suppress(OSError):
            super().flush()


def _replace(error: UnicodeError) -> tuple[str, int]:
    """Plain letters for what an encoding lacks: a word, the letter without its accent, or ``?``."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_plain, error.object[error.start : error.end])), error.end


def _plain(character: str) -> str:
    if character in PLAIN:
        return PLAIN[character]
    name = unicodedata.name(character, "")
    if name.startswith("BOX DRAWINGS"):
        return "+"
    if name.endswith("BLOCK"):
        return "#"
    if name.startswith("GREEK "):
        return name.rpartition(" ")[2].lower()
    return unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode() or "?"
