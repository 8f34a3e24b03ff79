"""Who runs single jobs: this thread, other threads or processes of this machine, or a cluster.

``job_executor`` is the one place that chooses: everything that is a list of jobs runs on a cluster inside
``on_cluster``, and elsewhere on this machine.
"""

from __future__ import annotations

import contextlib
import contextvars
import dataclasses
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any, Protocol, TypeVar

from counterplay.errors import ClusterError
from counterplay.runtime.signals import STOPPING, blocked, stop_main_thread, unblock, uninterrupted
from counterplay.trusted_code import trust_names, trusted_names

Job = TypeVar("Job")
Result = TypeVar("Result")


class Executor(Protocol):
    """Runs jobs somewhere."""

    @property
    def workers(self) -> int:
        """Number of jobs that are done at a time."""
        ...

    @property
    def local_workers(self) -> int:
        """Number of them on this machine, which share its memory."""
        ...

    @property
    def capacity(self) -> int:
        """Number of jobs to submit at a time to keep it busy."""
        ...

    def submit(self, work: Callable[[Job], Result], job: Job, /) -> Future[Result]:
        """Start ``work(job)`` as soon as a worker is free."""
        ...

    def stop(self) -> None:
        """Let all jobs end early, where that is possible."""
        ...


class StopFlag:
    """Whether somebody wants jobs to end early; set in one process, other processes have flags of their own."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self.set, self.is_set = self._event.set, self._event.is_set

    def __reduce__(self) -> tuple[type[StopFlag], tuple[()]]:
        return StopFlag, ()


class SerialExecutor:
    """Runs each job at once in the caller's thread, which Ctrl-C stops."""

    workers = local_workers = capacity = 1

    def submit(self, work: Callable[[Job], Result], job: Job, /) -> Future[Result]:
        """The result of ``work(job)``."""
        future: Future[Result] = Future()
        future.set_result(work(job))
        return future

    def stop(self) -> None:
        """Nothing: no job is running while something else is."""


class ThreadExecutor(ThreadPoolExecutor):
    """Some threads of this process."""

    def __init__(self, threads: int) -> None:
        super().__init__(threads)
        self.workers = self.local_workers = self.capacity = threads

    def stop(self) -> None:
        """Nothing: threads end early only if their jobs look at a ``StopFlag``."""


class ProcessExecutor(ProcessPoolExecutor):
    """Some processes of this machine; work and jobs are pickled.  Twice as many are submitted, so that none waits.

    ``stop`` raises KeyboardInterrupt in the jobs that run and in those that were submitted, as does Ctrl-C, which a
    terminal sends to all processes.
    """

    def __init__(self, processes: int) -> None:
        fresh = multiprocessing.get_context("spawn")  # threads do not survive a fork
        self._line, self._own_end = fresh.Pipe(duplex=False)
        super().__init__(processes, fresh, _start_worker, (os.getpid(), trusted_names(), self._line))
        self.workers = self.local_workers = processes
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


@dataclasses.dataclass
class _Chosen:
    """A cluster for the jobs of a block of code; connected when the first of them need it."""

    address: str
    workers: int | None
    open: contextlib.ExitStack
    executor: Executor | None = None

    def connected(self) -> Executor:
        if self.executor is None:
            from counterplay.runtime.ray_executor import RayExecutor

            self.executor = self.open.enter_context(RayExecutor(self.address, self.workers))
        return self.executor


_chosen: contextvars.ContextVar[_Chosen | None] = contextvars.ContextVar("cluster", default=None)


@contextlib.contextmanager
def on_cluster(address: str | None, workers: int | None = None) -> Iterator[None]:
    """Run all lists of jobs of a block of code on a Ray cluster, with the same results.

    That is what ``evaluate`` does below first deals, tournaments, and the experiments that have workers.

    Parameters
    ----------
    address : str, optional
        ``local`` starts Ray on this machine until the block is left; ``HOST:PORT`` is the head of a cluster that this
        machine belongs to, ``auto`` the one that was started here last; None changes nothing.
    workers : int, optional
        Most jobs at a time, by default as many as the machines have cores.

    Raises
    ------
    ClusterError
        When the first job needs it: if Ray is not installed, nobody answers at the address, or machines of the cluster
        have other versions of Python or counterplay.
    """
    if workers is not None and workers < 1:
        raise ClusterError(f"a cluster needs at least 1 worker; got {workers}")
    if address is None:
        yield
        return
    with contextlib.ExitStack() as stack:
        token = _chosen.set(_Chosen(address, workers, stack))
        try:
            yield
        finally:
            _chosen.reset(token)


def cluster_chosen() -> bool:
    """Whether jobs run on a cluster now."""
    return _chosen.get() is not None


def chosen_cluster() -> tuple[str, int | None] | None:
    """Address and most workers of the cluster of ``on_cluster``, for what is more than a list of jobs."""
    chosen = _chosen.get()
    return None if chosen is None else (chosen.address, chosen.workers)


@contextlib.contextmanager
def job_executor(workers: int, threads: bool = False) -> Iterator[Executor]:
    """Who runs a list of jobs: the cluster of ``on_cluster``, or some threads or processes of this machine.

    One process is this one itself, in the caller's thread.
    """
    chosen = _chosen.get()
    if chosen is not None:
        yield chosen.connected()
    elif threads:
        with ThreadExecutor(workers) as pool:
            yield pool
    elif workers == 1:
        yield SerialExecutor()
    else:
        with ProcessExecutor(workers) as processes:
            yield processes
