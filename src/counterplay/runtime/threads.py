"""Threads that live as long as their owner and share its work; kernels release Python's lock, so that they run at once.

Iterations of samplers are divided by guided self-scheduling (Polychronopoulos and Kuck 1987): each thread takes half of
what would be its part of the rest, and no less than ``SHARE_SECONDS`` of work by the measured cost of an iteration.  So
shares are as long with many threads as with few, the overhead of a share is small, and no thread waits long for the
last one.  Whatever is run here is at rest when an exception or Ctrl-C reaches the caller.
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from counterplay.runtime.progress import Progress, ProgressCallback
from counterplay.runtime.signals import uninterrupted

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

SHARE_SECONDS = 0.005
"""CPU seconds of the smallest share that is worth a separate call."""

REPORT_SECONDS = 0.1
"""How often the progress of chunks is checked."""

SPACE = 128
"""Bytes between what different threads write: two cache lines, since processors fetch pairs of them."""


class ThreadPool:
    """Some threads, started when they are first needed and kept until the pool is no longer used.

    One thread means the caller's own.
    """

    def __init__(self, threads: int = 1) -> None:
        self.threads = threads
        self._executor: ThreadPoolExecutor | None = None
        self._spent, self._counted = 0.0, 0.0

    @property
    def least(self) -> int:
        """Iterations of the smallest share, from the CPU time that the latest shares have taken."""
        if self._counted == 0.0:
            return 1
        return max(1, math.ceil(SHARE_SECONDS * self._counted / max(self._spent, 1e-12)))

    def share(
        self, iterations: int, start: int, advance: Callable[[int, int, int], None], deadline: float | None = None
    ) -> None:
        """Divide iterations among the threads; each takes shares until none is left.

        Parameters
        ----------
        iterations, start : int
            How many, and how many were done before.
        advance : callable
            ``advance(thread, iterations, start)`` does a share; no two run at once with the same thread.
        deadline : float, optional
            By ``time.perf_counter``: no share is begun later, except each thread's first.
        """
        workers = min(self.threads, iterations // self.least)
        if workers <= 1:
            self._timed(advance, 0, iterations, start)
            return
        lock, done, stopped = threading.Lock(), 0, False

        def work(thread: int) -> None:
            nonlocal done, stopped
            while True:
                with lock:
                    left = iterations - done
                    count = min(left, max(self.least, left // (2 * self.threads)))
                    first = start + done
                    done += count
                if count == 0 or stopped:
                    return
                try:
                    self._timed(advance, thread, count, first)
                except BaseException:
                    stopped = True
                    raise
                if deadline is not None and time.perf_counter() > deadline:
                    return

        def stop() -> None:
            nonlocal stopped
            stopped = True

        self._run(work, workers, stop)

    def _timed(self, advance: Callable[[int, int, int], None], thread: int, iterations: int, start: int) -> None:
        before = time.thread_time()
        advance(thread, iterations, start)
        if iterations:
            spent = time.thread_time() - before  # older shares count less and less
            self._spent, self._counted = self._spent / 2 + spent, self._counted / 2 + iterations

    def each(self, work: Callable[[int], Any]) -> None:
        """Call ``work(thread)`` for every thread, all at once."""
        if self.threads == 1:
            work(0)
        else:
            self._run(work, self.threads)

    def call(self, work: Callable[[], Any], stop: Callable[[], None] | None = None) -> None:
        """Call something in another thread: Ctrl-C, which the main thread gets, is raised only after it.

        ``stop`` is called at Ctrl-C, so that ``work`` can end early.
        """
        self._run(lambda _thread: work(), 1, stop)

    def chunks(
        self,
        work: Callable[[int, int], Any],
        total: int,
        chunk: int,
        progress: ProgressCallback | None = None,
        stage: str = "",
    ) -> None:
        """Run ``work(first, last)`` over all of 0 .. total - 1, in chunks."""
        spans = iter([(first, min(total, first + chunk)) for first in range(0, total, chunk)])
        if self.threads == 1:
            for first, last in spans:
                work(first, last)
                if progress is not None:
                    progress(Progress(last, total=total, stage=stage))
            return
        lock, done = threading.Lock(), [0]

        def take(_thread: int) -> None:
            while True:
                with lock:
                    span = next(spans, None)
                if span is None:
                    return
                try:
                    work(*span)
                except BaseException:
                    stop()
                    raise
                with lock:
                    done[0] += span[1] - span[0]

        def stop() -> None:
            with lock:
                for _ in spans:
                    pass

        def report() -> None:
            if progress is not None:
                progress(Progress(done[0], total=total, stage=stage))

        workers = min(self.threads, math.ceil(total / chunk))
        self._run(take, workers, stop, report)

    def _run(
        self,
        work: Callable[[int], Any],
        workers: int,
        stop: Callable[[], None] | None = None,
        report: Callable[[], None] | None = None,
    ) -> None:
        """Call ``work(thread)`` in some threads, wait until all are at rest, then raise what went wrong, Ctrl-C first.

        Signals are held back from before the first thread begins until the last one is at rest: the first one calls
        ``stop``, and all others change nothing.
        """
        stopped = False

        def stop_once() -> None:
            nonlocal stopped
            if stop is not None and not stopped:
                stopped = True
                stop()

        with uninterrupted(stop_once):
            self._wait([self._submit(work, thread) for thread in range(workers)], stop_once, report)

    def _submit(self, work: Callable[[int], Any], thread: int) -> Future[Any]:
        if self._executor is None:
            from concurrent.futures import ThreadPoolExecutor

            self._executor = ThreadPoolExecutor(self.threads, thread_name_prefix="counterplay")
        try:
            return self._executor.submit(work, thread)
        except BaseException:  # no room for another thread: those that have begun come to rest first
            self._executor.shutdown(cancel_futures=True)
            self._executor = None
            raise

    @staticmethod
    def _wait(
        futures: Iterable[Future[Any]], stop: Callable[[], None], report: Callable[[], None] | None = None
    ) -> None:
        """Wait until all work is at rest, then raise what went wrong, Ctrl-C first."""
        from concurrent.futures import wait

        waiting, finished, error = set(futures), set(), None
        while waiting:
            try:
                done, waiting = wait(waiting, None if report is None else REPORT_SECONDS)
                finished |= done
                if report is not None:
                    report()
            except BaseException as caught:
                if not isinstance(error, KeyboardInterrupt):
                    error = caught
                report = None
                stop()
        if error is not None:
            raise error
        for future in finished:
            future.result()

    def close(self) -> None:
        """End the threads; the pool can be used again, and starts others then."""
        if self._executor is not None:
            with uninterrupted():
                self._executor.shutdown()
                self._executor = None

    def __enter__(self) -> ThreadPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def available_cores() -> int:
    """Processors that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def spaced_zeros(shape: int | tuple[int, ...], kind: Any = np.float64) -> NDArray[Any]:
    """Zeros for one thread to write, with space behind them, so that no other thread's numbers share a cache line."""
    size = math.prod(shape) if isinstance(shape, tuple) else shape
    return np.zeros(size + SPACE // np.dtype(kind).itemsize, kind)[:size].reshape(shape)


def spaced_rows(rows: NDArray[Any]) -> NDArray[Any]:
    """A copy of a table of which each thread writes one row, with rows on separate cache lines."""
    spaced = np.zeros((len(rows), rows.shape[1] + SPACE // rows.dtype.itemsize), rows.dtype)[:, : rows.shape[1]]
    spaced[:] = rows
    return spaced
