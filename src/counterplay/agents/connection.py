"""Lines over a TCP connection, with deadlines and bounded memory.

A line of the protocol has at most 4096 bytes.  A longer one is not kept: it is reported once as ``LineTooLong``, and
the bytes up to its end are discarded as they arrive.
"""

from __future__ import annotations

import contextlib
import socket
import time

from counterplay.errors import CounterplayError
from counterplay.poker.acpc.match_state import MAX_LINE

CHUNK = 1 << 16


class ConnectionLostError(CounterplayError):
    """The other side is gone, or does not answer in time."""


class LineTooLongError(CounterplayError):
    """A line has more bytes than the protocol allows; the rest of it will be skipped."""


class Connection:
    """One side of a conversation in lines."""

    def __init__(self, link: socket.socket) -> None:
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.link = link
        self._out = link.dup()  # which never waits: one system call for a line, where a timeout takes two
        self._out.setblocking(False)
        self._waiting = b""
        self._buffer = b""
        self._skipping = False

    def send(self, text: str, seconds: float | None = None) -> None:
        """Send a line; ``seconds`` is how long the other side may refuse to take it."""
        self.send_bytes(f"{text}\r\n".encode("ascii", "replace"), seconds)

    def queue_bytes(self, data: bytes) -> None:
        """Send whole lines together with the next ones."""
        self._waiting += data

    def send_bytes(self, data: bytes, seconds: float | None = None) -> None:
        """Send whole lines."""
        if self._waiting:
            data, self._waiting = self._waiting + data, b""
        try:
            try:
                sent = self._out.send(data)
            except BlockingIOError:
                sent = 0
            if sent < len(data):
                self.link.settimeout(seconds)
                self.link.sendall(data[sent:])
        except TimeoutError:
            raise ConnectionLostError(f"does not read what it is sent, for {seconds:g} s") from None
        except OSError as error:
            raise ConnectionLostError(f"the connection is lost: {error.strerror or error}") from None

    def read(self, deadline: float | None = None) -> str | None:
        """The next line without its end; None at the end of the conversation.

        ``deadline`` is a time of ``time.monotonic``; without one there is no limit.
        """
        line = self.read_bytes(deadline)
        return None if line is None else line.decode("ascii", "replace")

    def read_bytes(self, deadline: float | None = None) -> bytes | None:
        """As ``read``, before it is decoded."""
        while True:
            end = self._buffer.find(b"\n")
            if end >= 0:
                line, self._buffer = self._buffer[:end], self._buffer[end + 1 :]
                if self._skipping:
                    self._skipping = False
                    continue
                if end > MAX_LINE:
                    raise LineTooLongError(f"a line has at most {MAX_LINE} bytes; got {end}")
                return line.rstrip(b"\r")
            if self._skipping or len(self._buffer) > MAX_LINE:
                self._buffer = b""
                if not self._skipping:
                    self._skipping = True
                    raise LineTooLongError(f"a line has at most {MAX_LINE} bytes; this one has not ended")
            if not self._receive(deadline):
                return None

    def _receive(self, deadline: float | None) -> bool:
        """Wait for more; False at the end of the conversation."""
        left = None if deadline is None else deadline - time.monotonic()
        try:
            if left is not None and left <= 0:
                raise TimeoutError
            self.link.settimeout(left)
            data = self.link.recv(CHUNK)
        except TimeoutError:
            raise ConnectionLostError("no answer in time") from None
        except OSError as error:
            raise ConnectionLostError(f"the connection is lost: {error.strerror or error}") from None
        self._buffer += data
        return bool(data)

    def close(self) -> None:
        """Hang up."""
        with contextlib.suppress(OSError):
            if self._waiting:
                self._out.send(self._waiting)
        for side in (self._out, self.link):
            with contextlib.suppress(OSError):
                side.close()


def connect(host: str, port: int, seconds: float = 60.0) -> Connection:
    """Call a dealer."""
    try:
        return Connection(socket.create_connection((host, port), timeout=seconds))
    except (OSError, OverflowError) as error:
        text = getattr(error, "strerror", None) or error
        raise ConnectionLostError(f"cannot connect to {host}, port {port}: {text}; is a dealer there?") from None
