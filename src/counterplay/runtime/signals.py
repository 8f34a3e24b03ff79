"""Signals that ask a run to stop: Ctrl-C, ``kill``, and a terminal or connection that is gone."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

STOPPING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
"""What stops a run."""


@contextmanager
def interruptible() -> Iterator[None]:
    """Let all of them do what Ctrl-C does: stop, save, report."""

    def stop(signum: int, frame: object) -> None:
        raise KeyboardInterrupt

    with _handled_by(stop):
        yield


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let a short piece of work finish, such as writing a file; a signal that came meanwhile is delivered after it."""
    came: list[tuple[int, Any]] = []
    with _handled_by(lambda signum, frame: came.append((signum, frame))):
        yield
    for signum, frame in came[:1]:
        handler = signal.getsignal(signum)
        if callable(handler):
            handler(signum, frame)
        elif handler == signal.SIG_DFL:
            signal.raise_signal(signum)


@contextmanager
def _handled_by(handler: Any) -> Iterator[None]:
    """Handle the signals by a function, where this thread may; those that were ignored stay ignored (``nohup``)."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    found = {number: signal.getsignal(number) for number in STOPPING}
    old = {number: before for number, before in found.items() if before not in (signal.SIG_IGN, None)}
    for number in old:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number, before in old.items():
            signal.signal(number, before)


CUT_SHORT = (
    "counterplay: a file that is in use was cut short by another program, or its disk failed; write a new version "
    "beside the old one, then rename it (mv)\n"
)


def explain_bus_errors() -> None:
    """End the process in one line when a file that is mapped into memory gets shorter, which is a SIGBUS.

    Python's own handlers of signals would run too late: the instruction that failed is repeated until then.
    """
    if hasattr(signal, "SIGBUS") and signal.getsignal(signal.SIGBUS) == signal.SIG_DFL:
        with contextlib.suppress(OSError, AttributeError, TypeError):
            library = ctypes.CDLL(None)
            library.signal.argtypes = (ctypes.c_int, type(_HANDLER))
            library.signal(signal.SIGBUS, _HANDLER)


def _end(signum: int) -> None:
    os.write(2, CUT_SHORT.encode())
    os._exit(2)


_HANDLER = ctypes.CFUNCTYPE(None, ctypes.c_int)(_end)
