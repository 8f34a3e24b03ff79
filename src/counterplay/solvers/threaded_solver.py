"""Solvers whose threads walk over the same tables."""

from __future__ import annotations

import functools
from abc import abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from counterplay.runtime.threads import ThreadPool, available_cores
from counterplay.solvers.solver import Solver


class ThreadedSolver(Solver):
    """A solver whose threads walk over the same tables, each with its own random numbers and counters."""

    counters: NDArray[np.int64]
    """A row for each thread: iterations, histories or public states touched, and what else is counted."""

    _pool: ThreadPool

    works_apart: ClassVar[bool] = False
    """Whether one thread works apart from that of the caller too: Python code between kernels is not cut by Ctrl-C."""

    @property
    def iterations(self) -> int:
        """Iterations done so far, of all threads."""
        return int(self.counters[:, 0].sum())

    @property
    def least_iterations(self) -> int:
        """One for each thread that has a core."""
        return min(int(self.config.threads), available_cores())

    @property
    def nodes(self) -> int:
        """What was visited so far, each visit counted: histories, or public states."""
        return int(self.counters[:, 1].sum())

    def step(self, iterations: int = 1) -> None:
        """Advance by some iterations, divided among the threads."""
        work = functools.partial(self._pool.share, iterations, self.iterations, self._advance, self.deadline)
        if self.works_apart and self.config.threads == 1:
            self._pool.call(work)
        else:
            work()

    @abstractmethod
    def _advance(self, thread: int, iterations: int, start: int) -> None:
        """Iterations ``start + 1`` to ``start + iterations``, with the random numbers of a thread."""
