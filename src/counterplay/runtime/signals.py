"""Signals that ask a run to stop: Ctrl-C, ``kill``, and a terminal or connection that is gone."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

STOPPING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
"""What stops a run."""


@contextmanager
def interruptible() -> Iterator[None]:
    """Let all of them do what Ctrl-C does: stop, save, report."""

    def stop(signum: int, frame: object) -> None:
        raise KeyboardInterrupt

    with _handled(lambda old: stop):
        yield


@contextmanager
def uninterrupted(at_once: Callable[[], object] | None = None) -> Iterator[None]:
    """Let a piece of work finish, such as writing a file; a signal that came meanwhile is delivered after it.

    ``at_once`` is called when the first one comes, so that the work can end early.
    """
    holds: list[_Hold] = []

    def held(old: Mapping[int, Any]) -> Any:
        holds.append(_Hold(old, at_once))
        return holds[0]

    try:
        with _handled(held):
            for hold in holds:
                hold.holding = True
            try:
                yield
            finally:
                for hold in holds:
                    hold.holding = False
    finally:
        for hold in holds:
            hold.deliver()


class _Hold:
    """A handler that keeps signals while it is ``holding``, and passes them on otherwise.

    Handlers are changed one after another, and a signal may come in between: then all that are left of it are handlers
    that pass signals on.
    """

    def __init__(self, old: Mapping[int, Any], at_once: Callable[[], object] | None) -> None:
        self.old, self.at_once = old, at_once
        self.holding = False
        self.came: list[tuple[int, Any]] = []

    def __call__(self, signum: int, frame: Any) -> None:
        if not self.holding:
            self.pass_on(signum, frame)
            return
        self.came.append((signum, frame))
        if self.at_once is not None and len(self.came) == 1:
            self.at_once()

    def deliver(self) -> None:
        """Pass on the first signal that came."""
        for signum, frame in self.came[:1]:
            self.pass_on(signum, frame)

    def pass_on(self, signum: int, frame: Any) -> None:
        """Do what would have been done without this handler."""
        handler = self.old[signum]
        if callable(handler):
            handler(signum, frame)
        elif handler == signal.SIG_DFL:
            signal.signal(signum, signal.SIG_DFL)
            signal.raise_signal(signum)


@contextmanager
def _handled(make: Callable[[Mapping[int, Any]], Any]) -> Iterator[None]:
    """Handle the signals by a function, where this thread may; those that were ignored stay ignored (``nohup``).

    ``make`` makes it from the handlers that it replaces.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    found = {number: signal.getsignal(number) for number in STOPPING}
    old = {number: before for number, before in found.items() if before not in (signal.SIG_IGN, None)}
    handler = make(old)
    try:
        for number in old:
            signal.signal(number, handler)
        yield
    finally:
        for number, before in old.items():
            signal.signal(number, before)


@contextmanager
def blocked() -> Iterator[None]:
    """Block the signals in this thread, and in the processes and threads that it starts, which begin without them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    old = signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, old)


def unblock() -> None:
    """Take the signals that were blocked when this process was started; those that came are delivered now."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPPING)


def stop_main_thread(numbers: Sequence[int]) -> None:
    """Send the first of some signals to the main thread, also if it sleeps."""
    for number in numbers[:1]:
        if hasattr(signal, "pthread_kill"):
            signal.pthread_kill(threading.main_thread().ident or 0, number)
        else:
            signal.raise_signal(number)


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
