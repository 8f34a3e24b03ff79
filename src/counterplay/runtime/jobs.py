"""Work that falls into one job for each first deal of a game: done by threads, kept in a file, gone on with.

Johanson 2016, section 2.4: subgames below different deals share nothing, so that they can be measured in any order, and
again.  What each job found is kept; the sum is taken in the order of the jobs when all are there, so that neither the
number of threads nor a stop in between changes a bit of it.
"""

from __future__ import annotations

import dataclasses
import itertools
import os
import time
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import StrategyError
from counterplay.storage import read_container, write_container

__all__ = ["JobProgress", "Jobs", "read_jobs"]

KIND = "evaluation"
SAVE_SECONDS = 60.0


@dataclasses.dataclass(frozen=True)
class JobProgress:
    """How far the work is.

    Attributes
    ----------
    done, total : int
        Jobs.
    seconds : float
        Time spent since the work was started or gone on with.
    seconds_left : float
        Time that the rest will take at this pace; NaN before the first job is done.
    """

    done: int
    total: int
    seconds: float
    seconds_left: float


class Jobs:
    """What the jobs have found so far.

    Parameters
    ----------
    header : mapping
        What is being measured; a file is only gone on with if it has the same.
    total : int
        Number of jobs.
    shape : tuple of int
        The shape of what each finds.
    path : path, optional
        Where it is kept.
    resume : path, optional
        A file to go on from.
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
        if resume is not None:
            self._take(resume)

    def _take(self, resume: str | os.PathLike[str]) -> None:
        header, arrays = read_container(resume, KIND)
        for name, wanted in self.header.items():
            if header.get(name) != wanted:
                raise StrategyError(
                    f"{resume} is of another evaluation: its {name} is {header.get(name)!r}, not {wanted!r}"
                )
        found, done = arrays.get("found"), arrays.get("done")
        if found is None or done is None or found.shape != self.found.shape or done.shape != self.done.shape:
            raise StrategyError(f"{resume} does not fit this evaluation; start it anew")
        self.found[:], self.done[:] = found, done

    def save(self) -> None:
        """Write what there is, if there is a file for it."""
        if self.path is not None:
            write_container(self.path, KIND, self.header, {"found": self.found, "done": self.done})

    def run(
        self,
        work: Callable[[int], NDArray[np.float64]],
        threads: int = 1,
        progress: Callable[[JobProgress], None] | None = None,
    ) -> NDArray[np.float64]:
        """Do what is left; the sum over all jobs.  Whatever stops it, what was done by then is kept."""
        waiting = iter(np.flatnonzero(~self.done).tolist())
        started = saved = time.monotonic()
        before = int(self.done.sum())
        running: dict[Future[NDArray[np.float64]], int] = {}
        with ThreadPoolExecutor(threads) as pool:
            try:
                for job in list(itertools.islice(waiting, threads)):
                    running[pool.submit(work, job)] = job
                while running:
                    finished, _ = wait(running, return_when=FIRST_COMPLETED)
                    for future in finished:
                        self._keep(running.pop(future), future)
                        job = next(waiting, -1)
                        if job >= 0:
                            running[pool.submit(work, job)] = job
                    if progress is not None:
                        progress(self._progress(before, time.monotonic() - started))
                    if time.monotonic() - saved > SAVE_SECONDS:
                        self.save()
                        saved = time.monotonic()
            finally:
                for future, job in running.items():
                    if not future.cancel() and future.exception() is None:
                        self._keep(job, future)
                self.save()
        return np.asarray(np.add.reduce(self.found, axis=0))

    def _keep(self, job: int, future: Future[NDArray[np.float64]]) -> None:
        self.found[job] = future.result()
        self.done[job] = True

    def _progress(self, before: int, seconds: float) -> JobProgress:
        done, total = int(self.done.sum()), len(self.done)
        left = seconds / (done - before) * (total - done) if done > before else float("nan")
        return JobProgress(done, total, seconds, left)


def read_jobs(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What the file of an evaluation that was stopped says it measures."""
    header, _ = read_container(path, KIND, verify=False)
    return header
