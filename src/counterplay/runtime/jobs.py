"""Independent jobs: run by threads, processes or a cluster, kept in a file, resumed after a stop.

The result of each job is kept by its number, and sums are taken in the order of the jobs when all are done, so that
neither the number of workers nor an interruption changes a bit of them.

Single jobs are run by an ``Executor``, which knows nothing of lists or files.
"""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import StrategyError
from counterplay.runtime.array_checks import check_like
from counterplay.runtime.executors import Executor, Job, Result, job_executor
from counterplay.runtime.progress import Progress, ProgressCallback
from counterplay.runtime.signals import uninterrupted
from counterplay.storage import read_container, write_container

KIND = "evaluation"
"""The kind of the files in which results are kept."""

SAVE_SECONDS = 60.0


def run_jobs(
    work: Callable[[Job], Result],
    jobs: Iterable[Job],
    executor: Executor,
    keep: Callable[[Job, Result], None],
    report: Callable[[], None] | None = None,
    abandon: Callable[[], None] | None = None,
) -> None:
    """Run jobs in any order.

    Parameters
    ----------
    work, jobs : callable, iterable
        Does a job; they are submitted as there is room.
    keep : callable
        Called in the caller's thread with each job and its result.  Whatever stops the run, jobs that are running then
        are waited for and kept.
    report : callable, optional
        Called after results were kept.
    abandon : callable, optional
        Called when the run is interrupted, as the executor's ``stop`` is: lets jobs that take long fail, so that nobody
        waits for them.
    """
    waiting = iter(jobs)
    running: dict[Future[Result], Job] = {}
    try:
        while True:
            for job in waiting:
                running[executor.submit(work, job)] = job
                if len(running) >= executor.capacity:
                    break
            if not running:
                return
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                job = running.pop(future)
                keep(job, future.result())
            if report is not None:
                report()
    except BaseException as error:
        with uninterrupted():  # what a job has finished may be nowhere else
            if isinstance(error, KeyboardInterrupt):
                executor.stop()
                if abandon is not None:
                    abandon()
            for future, job in running.items():
                if not future.cancel() and future.exception() is None:
                    keep(job, future.result())
        raise


class JobList:
    """Numbered jobs, each of which computes an array.

    Parameters
    ----------
    header : mapping
        What is computed; a file is resumed only if its header is the same.
    total, shape : int, tuple of int
        Number of jobs, and the shape of each result.
    path, resume : path, optional
        Where results are kept, every minute and at the end, and a file to resume from.
    """

    def __init__(
        self,
        header: Mapping[str, Any],
        total: int,
        shape: tuple[int, ...],
        path: str | os.PathLike[str] | None = None,
        resume: str | os.PathLike[str] | None = None,
    ) -> None:
        self.header = dict(header)
        self.path = path if path is not None else resume
        self.found = np.zeros((total, *shape))
        self.done = np.zeros(total, np.bool_)
        self.abandon: Callable[[], None] | None = None  # see ``run_jobs``
        if resume is not None:
            self._load(resume)

    def _load(self, resume: str | os.PathLike[str]) -> None:
        header, arrays = read_container(resume, KIND)
        for name, expected in self.header.items():
            if header.get(name) != expected:
                raise StrategyError(
                    f"{resume} belongs to another evaluation: its {name} is {header.get(name)!r}, not {expected!r}"
                )
        try:
            check_like("found", arrays["found"], self.found.shape, self.found.dtype)
            check_like("done", arrays["done"], self.done.shape, self.done.dtype)
        except (KeyError, ValueError) as error:
            raise StrategyError(f"{resume} does not fit this evaluation: {error}; start it anew") from None
        self.found[:], self.done[:] = arrays["found"], arrays["done"].view(np.uint8) != 0

    def save(self) -> None:
        """Write the results so far, if there is a file for them."""
        if self.path is not None:
            write_container(self.path, KIND, self.header, {"found": self.found, "done": self.done})

    def run_on(
        self, workers: int, work: Callable[[int], NDArray[np.float64]], threads: bool = False
    ) -> NDArray[np.float64]:
        """``run`` by the ``job_executor`` of so many workers."""
        with job_executor(workers, threads) as executor:
            return self.run(work, executor)

    def run(
        self,
        work: Callable[[int], NDArray[np.float64]],
        executor: Executor,
        progress: ProgressCallback | None = None,
        stage: str = "",
        order: NDArray[np.int64] | None = None,
        cost: NDArray[np.float64] | None = None,
        enough: Callable[[], bool] | None = None,
    ) -> NDArray[np.float64]:
        """Do the remaining jobs and return the sum over all.  Whatever stops it, finished jobs are kept.

        ``order`` are the jobs to do, by default all; ``cost`` what each of all costs, by default the same, from which
        the time left follows; ``enough`` says before each job whether it and the others can be left out.
        """
        started = saved = time.monotonic()
        chosen = np.arange(len(self.done)) if order is None else order
        price = np.ones(len(self.done)) if cost is None else cost
        waiting, cpu = chosen[~self.done[chosen]], time.process_time()
        owed = float(price[waiting].sum())

        def keep(job: int, found: NDArray[np.float64]) -> None:
            self.found[job] = found
            self.done[job] = True

        def report() -> None:
            nonlocal saved
            now = time.monotonic()
            if progress is not None:
                done, total, spent = int(self.done[chosen].sum()), len(chosen), now - started
                rest = float(price[waiting[~self.done[waiting]]].sum())
                left = spent * rest / (owed - rest)
                progress(Progress(done, spent, time.process_time() - cpu, total=total, seconds_left=left, stage=stage))
            if now - saved > SAVE_SECONDS:
                self.save()
                saved = now

        try:
            wanted = itertools.takewhile(lambda _: enough is None or not enough(), waiting.tolist())
            run_jobs(work, wanted, executor, keep, report, self.abandon)
        finally:
            self.save()
        return np.asarray(np.add.reduce(self.found, axis=0))


def read_jobs(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The header of a file of interrupted jobs: what it computes."""
    header, _ = read_container(path, KIND, verify=False)
    return header
