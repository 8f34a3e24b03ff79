"""Lines over a TCP connection, with deadlines and bounded memory.

A line of the protocol has at most 4096 bytes.  A longer one is not kept: it is reported once as ``LineTooLong``, and
the bytes up to its end are discarded as they arrive.
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import time
from collections.abc import Callable
from typing import TypeVar

from counterplay.errors import CounterplayError
from counterplay.poker.acpc.match_state import MAX_LINE

_Given = TypeVar("_Given")
_Answer = TypeVar("_Answer")

CHUNK = 1 << 13
"""Bytes taken from the system at a time."""

PATIENCE = 0.005
"""Seconds that ``ask`` waits."""

_PATIENT = struct.pack("L", round(1e3 * PATIENCE)) if os.name == "nt" else struct.pack("ll", 0, round(1e6 * PATIENCE))
_FOREVER = bytes(len(_PATIENT))

_AT_ONCE = getattr(socket, "MSG_DONTWAIT", None)
"""How to say that a call does not wait; None where the system does not know that."""


class ConnectionLostError(CounterplayError):
    """The other side is gone, or does not answer in time."""


class LineTooLongError(CounterplayError):
    """A line has more bytes than the protocol allows; the rest of it will be skipped."""


class Connection:
    """One side of a conversation in lines."""

    def __init__(self, link: socket.socket) -> None:
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        link.settimeout(None)
        self.link = link
        self._patient = False  # the system ends a wait after ``PATIENCE``
        self.held = b""  # whole lines that the next ``send`` or ``flush`` sends
        self._buffer = b""
        self._place = 0  # in the buffer, behind the lines that were read
        self._skipping = False

    # ------------------------------------------------------------------------------------------ sending

    def send(self, text: str, seconds: float | None = None) -> None:
        """Send a line; ``seconds`` is how long the other side may refuse to take it."""
        self.send_bytes(f"{text}\r\n".encode("ascii", "replace"), seconds)

    def send_bytes(self, data: bytes, seconds: float | None = None) -> None:
        """As ``send``, for bytes that need not be one line."""
        self.held += data
        self.flush(seconds)

    def flush(self, seconds: float | None = None) -> None:
        """Send what was held back; ``seconds`` as in ``send``."""
        data, self.held = self.held, b""
        if not data:
            return
        try:
            try:
                sent = 0 if _AT_ONCE is None else self.link.send(data, _AT_ONCE)
            except BlockingIOError:
                sent = 0
            if sent < len(data):
                self._within(seconds, self.link.sendall, data[sent:])
        except TimeoutError:
            raise ConnectionLostError(f"does not read what it is sent, for {seconds:g} s") from None
        except OSError as error:
            raise ConnectionLostError(f"the connection is lost: {error.strerror or error}") from None

    # ------------------------------------------------------------------------------------------ reading

    def read(self, deadline: float | None = None) -> str | None:
        """The next line without its end; None at the end of the conversation.

        ``deadline`` is a time of ``time.monotonic``; without one there is no limit.
        """
        line = self.read_bytes(deadline)
        return None if line is None else line.decode("ascii", "replace")

    def ask(self, seconds: float | None = None) -> bytes:
        """Send what was held back, as ``flush``, and receive what comes within ``PATIENCE``.

        That is nothing, if it does not, or if something came before that was not read.  The system ends the wait: one
        call, where a timeout of Python takes two.  ``whole_line`` then reads what came.
        """
        self.flush(seconds)
        if self._buffer or self._skipping:
            return b""
        if not self._patient:
            self.link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _PATIENT)
            self._patient = True
        try:
            return self.link.recv(CHUNK)
        except (BlockingIOError, TimeoutError):
            return b""
        except OSError as error:
            raise ConnectionLostError(f"the connection is lost: {error.strerror or error}") from None

    def whole_line(self, data: bytes) -> bytes | None:
        """What ``ask`` has just returned, if it is a line; what it is not is left to ``read_bytes``."""
        if data and data.find(b"\n") + 1 == len(data) <= MAX_LINE:
            return data.rstrip(b"\r\n")
        if data:  # if not, something may be left that came before
            self._buffer, self._place = data, 0
        return None

    def read_bytes(self, deadline: float | None = None) -> bytes | None:
        """As ``read``, before it is decoded."""
        while True:
            start, end = self._place, self._buffer.find(b"\n", self._place)
            if end >= 0:
                line, self._place = self._buffer[start:end], end + 1
                if self._place == len(self._buffer):
                    self._buffer, self._place = b"", 0
                if self._skipping:
                    self._skipping = False
                    continue
                if len(line) > MAX_LINE:
                    raise LineTooLongError(f"a line has at most {MAX_LINE} bytes; got {len(line)}")
                return line.rstrip(b"\r")
            self._buffer, self._place = self._buffer[start:], 0
            if self._skipping or len(self._buffer) > MAX_LINE:
                self._buffer = b""
                if not self._skipping:
                    self._skipping = True
                    raise LineTooLongError(f"a line has at most {MAX_LINE} bytes; this one has not ended")
            try:
                data = self._receive(None if deadline is None else deadline - time.monotonic())
            except TimeoutError:
                raise ConnectionLostError("no answer in time") from None
            if not data:
                return None
            self._buffer += data

    def _receive(self, seconds: float | None) -> bytes:
        """Wait for more; empty at the end of the conversation."""
        if seconds is not None and seconds <= 0:
            raise TimeoutError
        try:
            return self._within(seconds, self.link.recv, CHUNK)
        except TimeoutError:
            raise
        except OSError as error:
            raise ConnectionLostError(f"the connection is lost: {error.strerror or error}") from None

    def _within(self, seconds: float | None, call: Callable[[_Given], _Answer], given: _Given) -> _Answer:
        """A call of the link that may wait so long."""
        if self._patient:
            self.link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _FOREVER)
            self._patient = False
        if seconds is None:
            return call(given)
        self.link.settimeout(seconds)
        try:
            return call(given)
        finally:
            self.link.settimeout(None)

    def close(self) -> None:
        """Hang up."""
        with contextlib.suppress(OSError):
            if self.held:
                self.link.setblocking(False)
                self.link.send(self.held)
        with contextlib.suppress(OSError):
            self.link.close()


def connect(host: str, port: int, seconds: float = 60.0) -> Connection:
    """Call a dealer."""
    try:
        return Connection(socket.create_connection((host, port), timeout=seconds))
    except (OSError, OverflowError) as error:
        text = getattr(error, "strerror", None) or error
        raise ConnectionLostError(f"cannot connect to {host}, port {port}: {text}; is a dealer there?") from None
