"""Sharing iterations between threads that work on the same tables without locks."""

from __future__ import annotations

import threading

__all__ = ["SHARES", "parts_of", "wait_for"]

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
