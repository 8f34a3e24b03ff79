"""Child processes that are forked from this one, where everything is imported and compiled, and may die.

A fork starts in milliseconds.  Nothing here may have started a thread before; linear programs do (HiGHS), so they are
only solved in children.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

STOPPING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
INTERRUPTED = 130
CRASHED = 70
"""The exit code of a child whose work raised an exception."""


def fork(work: Callable[[], int | None], output: Path | None = None) -> int:
    """Do some work in a child, the first of its own group of processes; gives its number.

    The exit code is what the work returns.  What it prints is appended to a file, or lost.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)  # a child that is not ready yet cannot be stopped
    child = os.fork()
    if child:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return child
    code = CRASHED
    try:
        for number in STOPPING:  # ignored under nohup, or in the background of a shell
            if signal.getsignal(number) == signal.SIG_IGN:
                signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
        os.setpgid(0, 0)
        place = os.open(os.devnull if output is None else output, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        for stream in (1, 2):
            os.dup2(place, stream)
        for number in STOPPING:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        code = work() or 0
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(BaseException):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def wait(child: int, seconds: float) -> int | None:
    """The exit code of a child, minus the signal that killed it; None if it still runs after some seconds."""
    deadline = time.monotonic() + seconds
    pause = 0.0005
    while True:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        left = deadline - time.monotonic()
        if left <= 0:
            return None
        time.sleep(min(pause, left))
        pause = min(2 * pause, 0.01)


def send(child: int, number: int) -> None:
    """A signal to a child that may be gone."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, number)


def remains(child: int, seconds: float) -> bool:
    """Whether a process of the child's group, of those that it started, still runs after some seconds; it is ended."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            os.killpg(child, 0)
        except ProcessLookupError:
            return False
        time.sleep(0.02)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    return True


def result(work: Callable[[], int | None], seconds: float, output: Path | None = None) -> int | None:
    """The exit code of some work in a child, which is killed after some seconds; then it is None."""
    child = fork(work, output)
    found = wait(child, seconds)
    if found is None:
        send(child, signal.SIGKILL)
        wait(child, 60.0)
    return found


def limit_memory(more: int) -> None:
    """Let this process take so many bytes more than it has, and no more."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + more
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def peak_memory() -> int:
    """The most bytes of memory that this process has held."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
