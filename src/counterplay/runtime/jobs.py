"""Independent jobs: run by threads, processes or another executor, kept in a file, resumed after a stop.

The result of each job is kept by its number, and sums are taken in the order of the jobs when all are done, so that
neither the number of workers nor an interruption changes a bit of them.

An ``Executor`` runs single jobs and knows nothing of lists or files; ``ThreadExecutor``, ``ProcessExecutor`` and
``SerialExecutor`` are those of one machine, and a cluster is another one with the same two members.
"""

from __future__ import annotations

import itertools
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import StrategyError
from counterplay.runtime.array_checks import check_like
from counterplay.runtime.progress import Progress, ProgressCallback
from counterplay.runtime.signals import STOPPING, blocked, stop_main_thread, unblock, uninterrupted
from counterplay.storage import read_container, write_container
from counterplay.trusted_code import trust_names, trusted_names

KIND = "evaluation"
"""The kind of the files in which results are kept."""

SAVE_SECONDS = 60.0

Job = TypeVar("Job")
Result = TypeVar("Result")


class Executor(Protocol):
    """Runs jobs somewhere."""

    capacity: int
    """Number of jobs to submit at a time to keep it busy."""

    def submit(self, work: Callable[[Job], Result], job: Job, /) -> Future[Result]:
        """Start ``work(job)`` as soon as a worker is free."""
        ...


class SerialExecutor:
    """Runs each job at once in the caller's thread, which Ctrl-C stops."""

    capacity = 1

    def submit(self, work: Callable[[Job], Result], job: Job, /) -> Future[Result]:
        """The result of ``work(job)``."""
        future: Future[Result] = Future()
        future.set_result(work(job))
        return future


class ThreadExecutor(ThreadPoolExecutor):
    """Some threads of this process."""

    def __init__(self, threads: int) -> None:
        super().__init__(threads)
        self.capacity = threads


class ProcessExecutor(ProcessPoolExecutor):
    """Some processes of this machine; work and jobs are pickled.  Twice as many are submitted, so that none waits.

    ``stop`` raises KeyboardInterrupt in the jobs that run and in those that were submitted, as does Ctrl-C, which a
    terminal sends to all processes.
    """

    def __init__(self, processes: int) -> None:
        fresh = multiprocessing.get_context("spawn")  # threads do not survive a fork
        self._line, self._own_end = fresh.Pipe(duplex=False)
        super().__init__(processes, fresh, _start_worker, (os.getpid(), trusted_names(), self._line))
        self.capacity = 2 * processes

    def submit(self, work: Callable[..., Any], /, *arguments: Any, **options: Any) -> Future[Any]:
        """As an executor does; workers begin with signals blocked, until they can handle them."""
        with uninterrupted(), blocked():
            return super().submit(_do, work, *arguments, **options)

    def stop(self) -> None:
        """Let all jobs end early."""
        self._own_end.close()  # which the workers see, also when this process is killed


class _Stop:
    """What a worker knows about signals: whether one came, whether it is to end, and whether it does a job."""

    came = leaving = busy = False


def _do(work: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Do a job in a worker; no job is begun, and none continues, after a signal."""
    try:
        _Stop.busy = True
        if _Stop.came:
            raise KeyboardInterrupt
        return work(*arguments, **options)
    finally:
        _Stop.busy = False


def _start_worker(parent: int, trusted: Iterable[str], line: Any) -> None:
    """Trust what the parent trusts; stop when it says so, and when it is gone, however it was killed."""
    trust_names(trusted)

    def stop(signum: int, frame: object) -> None:
        first, _Stop.came = not _Stop.came, True
        _Stop.leaving |= signum == signal.SIGTERM
        if _Stop.busy and first:
            raise KeyboardInterrupt

    heard = [number for number in STOPPING if signal.getsignal(number) != signal.SIG_IGN]
    for number in heard:
        signal.signal(number, stop)
    unblock()

    def watch() -> None:
        while os.getppid() == parent and not (_Stop.leaving and not _Stop.busy):
            try:
                if not _Stop.came and line.poll(1.0):
                    line.recv()
            except (EOFError, OSError):
                stop_main_thread(heard)
            if _Stop.came:
                time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


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
        Called when the run is interrupted: lets jobs that take long fail, so that nobody waits for them.
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
            if isinstance(error, KeyboardInterrupt) and abandon is not None:
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

    def run_on(self, workers: int, work: Callable[[int], NDArray[np.float64]]) -> NDArray[np.float64]:
        """``run`` in some processes, which stop at a signal; one worker is this process itself."""
        if workers == 1:
            return self.run(work, SerialExecutor())
        with ProcessExecutor(workers) as executor:
            self.abandon = executor.stop
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
