"""Single jobs on a Ray cluster: what they are done by is sent once, and the jobs of a worker that dies are done again.

A job is done by a process of any machine of the cluster, on one core.  Jobs are independent and depend on nothing but
what is sent with them, so it does not matter where, or how often, one is done.
"""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from counterplay.errors import ClusterError
from counterplay.runtime.ray_cluster import Cluster, Setting, first_line, get

RETRIES = 10
"""How often a job may end its worker, or lose it, before that is an error."""

GRACE_SECONDS = 30.0
"""How long jobs may take to end after ``stop``, before their workers are ended."""

_received: dict[str, Callable[[Any], Any]] = {}
"""In a worker: what the latest jobs are done by."""


class RayExecutor:
    """An ``Executor`` on a cluster.

    The parameters, and what is raised, are those of ``executors.on_cluster``.
    """

    def __init__(self, address: str, workers: int | None = None) -> None:
        self._cluster = Cluster(address, workers)
        self._do = self._cluster.ray.remote(num_cpus=1, max_retries=RETRIES)(_do)
        self._sent: tuple[Any, list[Any]] | None = None  # the latest work, and where the cluster has it
        self._running: weakref.WeakKeyDictionary[Future[Any], Any] = weakref.WeakKeyDictionary()

    @property
    def workers(self) -> int:
        """Number of jobs at a time, which changes with the machines of the cluster."""
        return self._cluster.workers

    @property
    def local_workers(self) -> int:
        """Number of them on this machine, if it is the whole cluster; otherwise 1 is assumed."""
        return self.workers if self._cluster.local else 1

    @property
    def capacity(self) -> int:
        """Twice as many jobs, so that no worker waits; exactly as many if the user limits them."""
        return self.workers if self._cluster.most and not self._cluster.local else 2 * self.workers

    def submit(self, work: Callable[[Any], Any], job: Any, /) -> Future[Any]:
        """Start ``work(job)`` as soon as a worker is free; work, job and result are pickled."""
        ray, future = self._cluster.ray, Future[Any]()
        future.set_running_or_notify_cancel()  # only ``stop`` ends it
        try:
            if self._sent is None or self._sent[0] is not work:
                self._sent = work, [self._cluster.put(work)]
            reference = self._do.remote(self._sent[1], self._cluster.setting(), job)
        except ray.exceptions.RayError as error:
            raise ClusterError(f"the cluster takes no jobs: {first_line(error)}") from None
        self._running[future] = reference
        reference.future().add_done_callback(functools.partial(_answer, ray, future))
        return future

    def stop(self) -> None:
        """Raise KeyboardInterrupt in all jobs; those that do not end soon lose their workers."""
        self._cancel(False)
        timer = threading.Timer(GRACE_SECONDS, self._cancel, (True,))
        timer.daemon = True
        timer.start()

    def _cancel(self, force: bool) -> None:
        for future, reference in list(self._running.items()):
            if not future.done() and self._cluster.ray.is_initialized():
                self._cluster.ray.cancel(reference, force=force)

    def close(self) -> None:
        """Leave the cluster."""
        self._cluster.close()

    def __enter__(self) -> RayExecutor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _do(sent: list[Any], setting: Setting, job: Any) -> Any:
    """Do a job, in a worker; what it is done by is kept for the next one."""
    reference = sent[0]
    if reference.hex() not in _received:
        setting.adopt()
        work = get(reference)
        _received.clear()
        _received[reference.hex()] = work
    return _received[reference.hex()](job)


def _answer(ray: Any, future: Future[Any], answered: Future[Any]) -> None:
    """Pass on a result or an error."""
    error = answered.exception()
    if error is None:
        future.set_result(answered.result())
    else:
        future.set_exception(plain_error(ray, error))


def plain_error(ray: Any, error: BaseException) -> BaseException:
    """An error of Ray as the job raised it, or in our words; the original is its cause."""
    found: BaseException
    if isinstance(error, ray.exceptions.TaskCancelledError):
        found = KeyboardInterrupt()
    elif isinstance(error, ray.exceptions.RayTaskError):
        cause = error.cause
        plain = isinstance(cause, Exception) and not isinstance(cause, ray.exceptions.RayError)
        found = cause if plain else ClusterError(f"a job could not be done: {first_line(cause)}")
    elif isinstance(error, ray.exceptions.RayError):
        found = ClusterError(f"a job lost its worker {RETRIES + 1} times: {first_line(error)}")
    else:
        return error
    found.__cause__ = error
    return found
