"""When a run stops, when it is measured, and how much it does in each call of its kernels.

Runs are measured at iterations fixed in advance, each later than the previous one by a constant ratio, so that
measuring costs a bounded fraction of the time and does not depend on the clock.  Between measurements kernels are
called for about ``CALL_SECONDS``, so that Ctrl-C and progress are prompt.  ``Pace`` chooses the number of iterations of
a call from the time that calls have taken, by the model ``overhead + cost * iterations``: calls are never made so short
that the overhead dominates them, however large it turns out to be.
"""

from __future__ import annotations

import dataclasses
import math
import numbers
import time
from typing import Any, Literal, Protocol, TypeAlias

from counterplay.errors import SolverError
from counterplay.runtime.progress import Progress

CALL_SECONDS = 0.1
"""How long one call of the kernels should take."""

THREADED_CALL_SECONDS = 0.5
"""The same with several threads, which wait for the last one when a call ends; Ctrl-C ends a call between shares."""

CALL_NODES = 1e6
"""Number of histories of a call that must not depend on the clock."""

CHECK_RATIO = 1.05
"""The ratio of the iterations of successive measurements."""

Axis: TypeAlias = Literal["iterations", "nodes", "seconds", "cpu_seconds"]
"""What a run can be measured along."""

OVERHEAD_SHARE = 0.1
"""At most this fraction of a call should be overhead."""

LONGEST = 5.0
"""Calls with a large overhead may be this many times longer than ``CALL_SECONDS``."""


@dataclasses.dataclass(frozen=True)
class Until:
    """When to stop: at the first of the limits that are given."""

    iterations: int | None = None
    seconds: float | None = None
    exploitability: float | None = None

    def __post_init__(self) -> None:
        limits: dict[str, Any] = dataclasses.asdict(self)
        if all(limit is None for limit in limits.values()):
            raise SolverError("say when to stop: give iterations, seconds or exploitability")
        for name, limit in limits.items():
            if limit is None:
                continue
            integer = name == "iterations"
            fits = isinstance(limit, numbers.Integral if integer else numbers.Real) and not isinstance(limit, bool)
            if not fits or not 0 < limit < math.inf:
                raise SolverError(f"{name} must be a positive {'integer' if integer else 'number'}; got {limit!r}")

    def fraction(self, now: Progress, first: float) -> float:
        """The fraction done, by the nearest limit; exploitability, at ``first`` in the beginning, on a log scale."""
        parts = [0.0]
        if self.iterations:
            parts.append(now.iterations / self.iterations)
        if self.seconds:
            parts.append(now.seconds / self.seconds)
        if self.exploitability and first > self.exploitability and now.exploitability > 0:
            parts.append(math.log(first / now.exploitability) / math.log(first / self.exploitability))
        return min(1.0, max(parts))


def next_check(iteration: int, ratio: float = CHECK_RATIO, every: int | None = None) -> int:
    """The next iteration at which a run is measured; the same for every run.

    The iterations of successive measurements have the given ratio, or are the multiples of ``every``.
    """
    if every is not None:
        return (iteration // every + 1) * every
    check = 1
    while check <= iteration:
        check = max(check + 1, math.ceil(check * ratio))
    return check


class Pace:
    """The number of iterations of the next call, so that it takes about ``seconds``.

    ``least`` is the fewest iterations of a call: at least one for each thread.
    """

    def __init__(self, least: int = 1, seconds: float = CALL_SECONDS) -> None:
        self.least = least
        self.seconds = seconds
        self.iterations = least
        """Iterations of the next call."""
        self.overhead = 0.0
        """Seconds of a call that do not depend on its iterations, as far as calls of different lengths have shown."""
        self._last = (0, 0.0)

    def record(self, iterations: int, seconds: float) -> None:
        """Take account of a call that did some iterations in some seconds."""
        before, took = self._last
        self._last = (iterations, seconds)
        if before and max(before, iterations) >= 2 * min(before, iterations):  # overhead and cost can be separated
            slope = max(0.0, (seconds - took) / (iterations - before))
            measured = max(0.0, min(seconds, took) - slope * min(iterations, before))
            self.overhead = (self.overhead + measured) / 2 if self.overhead else measured
        if 4 * iterations < self.iterations and seconds < self.seconds:
            return  # cut short by a measurement: too short to learn from
        overhead = min(self.overhead, 0.9 * seconds)
        wanted = max(self.seconds - overhead, overhead / OVERHEAD_SHARE) * iterations / max(seconds - overhead, 1e-9)
        most = max(iterations, min(8 * iterations, int(LONGEST * self.seconds * iterations / max(seconds, 1e-9))))
        self.iterations = max(self.least, iterations // 8, int(min(wanted, most)))
        if not before and self.least > 1:  # threads have an overhead, and one size of calls does not show it
            self.iterations = max(self.iterations, 2 * iterations)


class Stepped(Protocol):
    """What can be advanced: a solver."""

    seconds: float
    cpu_seconds: float

    @property
    def iterations(self) -> int:
        """Iterations done so far."""
        ...

    @property
    def nodes(self) -> int:
        """Histories touched so far."""
        ...

    @property
    def finished(self) -> bool:
        """Whether nothing is left to do."""
        ...

    @property
    def least_iterations(self) -> int:
        """Fewest iterations of a call that keep all threads busy."""
        ...

    def step(self, iterations: int, /) -> None:
        """Advance by some iterations."""
        ...


class PacedSteps:
    """Advances a solver in calls of about ``CALL_SECONDS``; the time of its steps is added to its ``seconds``."""

    def __init__(self, solver: Stepped) -> None:
        self.solver = solver
        threaded = solver.least_iterations > 1
        self.pace = Pace(solver.least_iterations, THREADED_CALL_SECONDS if threaded else CALL_SECONDS)

    def step(self, iterations: int) -> None:
        """One call."""
        solver, done = self.solver, self.solver.iterations
        clock, cpu_clock = time.perf_counter(), time.process_time()
        solver.step(iterations)
        took = time.perf_counter() - clock
        solver.seconds += took
        solver.cpu_seconds += time.process_time() - cpu_clock
        self.pace.record(solver.iterations - done, took)

    def advance(self, axis: Axis, target: float) -> None:
        """Step until a target is reached; at least one iteration in all.

        Where a run along iterations or nodes ends does not depend on the clock.
        """
        solver = self.solver
        while not solver.finished:
            left, done = target - getattr(solver, axis), solver.iterations
            if left <= 0 and done > 0:
                return
            count = self.pace.iterations
            if axis == "iterations":
                count = min(count, int(left))
            elif axis == "nodes":  # a quarter of what is left, single iterations at first and at last
                count = int(min(left / 4, CALL_NODES) * done / max(1, solver.nodes))
            elif done > 0 and getattr(solver, axis) > 0:
                count = min(count, int(left * done / getattr(solver, axis)))
            self.step(max(1, count))
