"""The files of a match: its log, and the transaction log from which an interrupted match is resumed.

A line of the transaction log is ``ACTION HANDID SENDSEC.USEC RECVSEC.USEC``, written when an answer is accepted, before
it is sent to anybody else.  A match is resumed by replaying these lines: hand numbers, legality and time are checked.
An incomplete last line, left by a crash, is dropped.

We depart from the reference dealer in one point: when a match is resumed the log is rewritten from the transactions,
so that a hand whose line was lost in the crash is not missing.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from counterplay.errors import GameError
from counterplay.storage import write_text

TRANSACTION = b"%b %d %.6f %.6f\n"
_LINE = re.compile(r"([a-zA-Z][0-9]{0,10}) ([0-9]{1,10}) ([0-9]{1,12}\.[0-9]{6}) ([0-9]{1,12}\.[0-9]{6})")


@dataclasses.dataclass(frozen=True, slots=True)
class Transaction:
    """One answer of a player: the action that was played, the hand, when the state was sent and the answer came."""

    action: str
    hand_id: int
    sent: float
    received: float

    def text(self) -> str:
        """The line of this answer."""
        line = TRANSACTION % (self.action.encode("ascii"), self.hand_id, self.sent, self.received)
        return line[:-1].decode("ascii")


def stamp(seconds: float) -> str:
    """A time as the dealer writes it."""
    return f"{seconds:.6f}"


def read_transactions(path: Path) -> list[Transaction]:
    """The answers of an interrupted match; none if there is no file."""
    try:
        text = path.read_text(encoding="ascii", errors="replace")
    except FileNotFoundError:
        return []
    except OSError as error:
        raise GameError(f"the transaction log {path} cannot be read: {error.strerror or error}") from None
    found = []
    for number, line in enumerate(text.split("\n")[:-1], 1):
        words = _LINE.fullmatch(line)
        if words is None:
            raise GameError(f"{path}, line {number}: {line[:80]!r} is not ACTION HANDID SENT RECEIVED")
        action, hand_id, sent, received = words.groups()
        found.append(Transaction(action, int(hand_id), float(sent), float(received)))
    return found


class MatchFiles:
    """The log and the transaction log, open for writing; either may be missing.

    With ``append`` existing files are continued, and ``kept`` are the transactions recorded so far.
    """

    def __init__(
        self, log: Path | None, transactions: Path | None, append: bool, kept: Sequence[Transaction] = ()
    ) -> None:
        self._log: IO[bytes] | None = None
        self._transactions: IO[bytes] | None = None
        if log is not None and not append:
            _refuse_finished(log)
        if transactions is not None:
            write_text(transactions, "".join(f"{line.text()}\n" for line in kept))
            self._transactions = _open(transactions, append=True)
        if log is not None:
            self._log = _open(log, append and transactions is None)

    def line(self, text: str) -> None:
        """Write a line of the log, flushed to the system."""
        _put(self._log, text)

    def transaction(self, action: bytes, hand_id: int, sent: float, received: float) -> None:
        """Write a line of the transaction log."""
        if self._transactions is not None:
            self._transactions.write(TRANSACTION % (action, hand_id, sent, received))

    def close(self) -> None:
        """Close both."""
        for file in filter(None, (self._log, self._transactions)):
            file.close()


def _refuse_finished(log: Path) -> None:
    """Keep the log of a match that was played to its end."""
    try:
        finished = log.is_file() and any(line.startswith(b"SCORE:") for line in log.read_bytes().splitlines())
    except OSError:
        return  # opening it says why
    if finished:
        raise GameError(f"{log} is the log of a finished match; choose another name, or remove or rename the file")


def _put(file: IO[bytes] | None, text: str) -> None:
    if file is not None:
        file.write(f"{text}\n".encode("ascii", "replace"))


def _open(path: Path, append: bool) -> IO[bytes]:
    """A file without a buffer: a line is with the system when it is written."""
    try:
        return open(path, "ab" if append else "wb", buffering=0)
    except OSError as error:
        raise GameError(f"cannot write {path}: {error.strerror or error}") from None
