"""Long work in chunks, in threads: kernels let go of Python's lock, so that they run at the same time."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from typing import TypeAlias

__all__ = ["Progress", "in_chunks"]

Progress: TypeAlias = Callable[[str, float], None]
"""Called with the name of a stage and the share of it that is done."""


def in_chunks(
    work: Callable[[int, int], object],
    total: int,
    chunk: int,
    threads: int = 1,
    progress: Callable[[float], None] | None = None,
) -> None:
    """Run ``work(first, last)`` over all of 0 .. total - 1; ``progress`` gets the share that is done."""
    spans = iter([(first, min(total, first + chunk)) for first in range(0, total, chunk)])
    if threads == 1:
        for first, last in spans:
            work(first, last)
            if progress is not None:
                progress(last / total)
        return
    done = 0
    with ThreadPoolExecutor(threads) as pool:
        running = {pool.submit(work, *span): span for span in itertools.islice(spans, 2 * threads)}
        while running:
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                first, last = running.pop(future)
                future.result()
                done += last - first
                running.update({pool.submit(work, *span): span for span in itertools.islice(spans, 1)})
            if progress is not None:
                progress(done / total)
