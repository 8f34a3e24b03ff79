"""Sharing iterations between threads that work on the same tables without locks."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait

__all__ = ["SHARES", "finish", "parts_of", "share_out", "wait_for"]

SHARES = 8
"""Into how many shares for each thread a call is divided, so that a thread which is held up holds up nobody."""


def parts_of(iterations: int, start: int, parts: int) -> list[tuple[int, int]]:
    """Iterations in about so many equal parts: (how many, iterations before)."""
    size = max(1, iterations // parts)
    return [(min(size, iterations - done), start + done) for done in range(0, iterations, size)]


def wait_for(workers: list[threading.Thread]) -> None:
    """Wait for all threads; Ctrl-C is told only when the tables are at rest."""
    interrupted = False
    for worker in workers:
        while worker.is_alive():
            try:
                worker.join()
            except KeyboardInterrupt:
                interrupted = True
    if interrupted:
        raise KeyboardInterrupt


def share_out(iterations: int, start: int, threads: int, advance: Callable[[int, int, int], None]) -> None:
    """Divide iterations among threads; each takes shares until none is left.

    Parameters
    ----------
    iterations, start : int
        How many, and how many were done before.
    threads : int
        One does all of them in the caller's thread.
    advance : callable
        ``advance(thread, iterations, start)`` does a share.
    """
    if threads == 1 or iterations < threads:
        advance(0, iterations, start)
        return
    shares = iter(parts_of(iterations, start, threads * SHARES))
    lock = threading.Lock()

    def work(thread: int) -> None:
        while True:
            with lock:
                share = next(shares, None)
            if share is None:
                return
            advance(thread, *share)

    workers = [threading.Thread(target=work, args=(thread,)) for thread in range(threads)]
    for worker in workers:
        worker.start()
    wait_for(workers)


def finish(work: Callable[[], None]) -> None:
    """Do something in a thread of its own, so that Ctrl-C, which the main thread gets, is told only after it."""
    interrupted = False
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(work)
        while not done.done():
            try:
                wait([done])
            except KeyboardInterrupt:
                interrupted = True
    done.result()
    if interrupted:
        raise KeyboardInterrupt
