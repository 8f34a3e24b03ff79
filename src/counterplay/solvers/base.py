"""What all iterative solvers share: when to stop, how progress is told, what a finished run is.

A solver owns tables and calls kernels.  ``run`` advances it in short calls, measures the strategy at iterations fixed
in advance (each about 5 % after the one before, so measuring costs little and does not depend on the clock), and
stops by iterations, seconds or exploitability.  Ctrl-C ends a run cleanly: the tables only change inside kernel calls,
so the work done so far is whole and the run can go on later to the same bits.
"""

from __future__ import annotations

import dataclasses
import math
import numbers
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import SolverError
from counterplay.kernels.jit import FormArrays
from counterplay.strategy.measurement import Measurement, measure_strategy
from counterplay.strategy.profile import Profile
from counterplay.tree.arrays import GameTree

__all__ = ["Progress", "SolveResult", "Solver", "Status", "Until", "next_check"]

Status = Literal["exploitability", "iterations", "seconds", "interrupted"]
"""Why a run ended: the limit that was reached, or Ctrl-C."""

CALL_SECONDS = 0.1
"""How long one kernel call should take, so that Ctrl-C and progress are prompt."""

CHECK_RATIO = 1.05


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
            whole = name == "iterations"
            fits = isinstance(limit, numbers.Integral if whole else numbers.Real) and not isinstance(limit, bool)
            if not fits or not 0 < limit < math.inf:
                raise SolverError(f"{name} must be a positive {'whole ' if whole else ''}number; got {limit!r}")


@dataclasses.dataclass(frozen=True)
class Progress:
    """Where a run is.  ``exploitability`` is the latest measured, at iteration ``measured_at``."""

    iterations: int
    seconds: float
    cpu_seconds: float
    exploitability: float
    measured_at: int


@dataclasses.dataclass(frozen=True)
class SolveResult:
    """A finished run: the profile and everything that is reported about it."""

    game: str
    algorithm: str
    status: Status
    profile: Profile
    measurement: Measurement
    iterations: int
    seconds: float
    cpu_seconds: float
    histories: int
    information_sets: int
    curve: tuple[Progress, ...]

    @property
    def value(self) -> tuple[float, ...]:
        """Expected value of each player."""
        return self.measurement.value

    @property
    def best_response(self) -> tuple[float, ...]:
        """Value of each player's best response to the others."""
        return self.measurement.best_response

    @property
    def nash_conv(self) -> float:
        """Sum over players of what a best response gains."""
        return self.measurement.nash_conv

    @property
    def exploitability(self) -> float:
        """Mean over players of what a best response gains."""
        return self.measurement.exploitability

    @property
    def nodes_per_second(self) -> float:
        """Histories of the game covered in a second: iterations times histories over seconds."""
        return self.iterations * self.histories / self.seconds if self.seconds > 0 else 0.0


def next_check(iteration: int) -> int:
    """The next iteration at which a run measures itself; the same for every run."""
    check = 1
    while check <= iteration:
        check = max(check + 1, math.ceil(check * CHECK_RATIO))
    return check


class Solver(ABC):
    """An iterative solver on a compiled game."""

    tree: GameTree
    form: FormArrays
    algorithm: str
    seconds: float = 0.0
    cpu_seconds: float = 0.0

    def __init__(self) -> None:
        self.curve: list[Progress] = []

    @property
    @abstractmethod
    def iterations(self) -> int:
        """Iterations done so far."""

    @abstractmethod
    def step(self, iterations: int = 1) -> None:
        """Advance by some iterations."""

    @abstractmethod
    def strategy(self) -> NDArray[np.float64]:
        """The probabilities of the profile that the solver stands for."""

    @abstractmethod
    def profile(self) -> Profile:
        """That profile, with its provenance."""

    def measure(self) -> Measurement:
        """Measure the profile that the solver stands for."""
        return measure_strategy(self.tree, self.form, self.strategy())

    def check(self) -> Measurement:
        """What ``run`` does at the iterations of its schedule, and only there, so that it does not matter where a run
        is cut: measure, and whatever else a solver does then.
        """
        return self.measure()

    def run(
        self,
        until: Until,
        callback: Callable[[Progress], None] | None = None,
        check_every: int | None = None,
    ) -> SolveResult:
        """Advance until a limit is reached; limits count from the solver's first iteration, resumed runs included.

        Parameters
        ----------
        until : Until
            When to stop.
        callback : callable, optional
            Called several times a second with the progress.
        check_every : int, optional
            Measure at multiples of this number instead of the growing distances.
        """
        if check_every is not None and (not isinstance(check_every, numbers.Integral) or check_every < 1):
            raise SolverError(f"check_every must be a whole number, at least 1; got {check_every!r}")
        self.step(0)  # kernels are compiled before the clock starts
        last = self.check() if self.iterations == 0 else self.measure()
        if self._missed_check(check_every):
            last = self.check()
            self.curve.append(self._progress(last.exploitability, self.iterations))
        status: Status = "interrupted"
        clock, cpu_clock = time.perf_counter() - self.seconds, time.process_time() - self.cpu_seconds
        pace = 1
        check = _following_check(self.iterations, check_every)
        try:
            while True:
                reached = self._reached(until, last)
                if reached is not None:
                    status = reached
                    break
                target = check if until.iterations is None else min(check, until.iterations)
                before = time.perf_counter()
                count = min(pace, target - self.iterations)
                self.step(count)
                after = time.perf_counter()
                self.seconds, self.cpu_seconds = after - clock, time.process_time() - cpu_clock
                pace = _next_pace(count, after - before)
                if self.iterations == target or self._out_of_time(until):
                    last = self.check() if self.iterations == check else self.measure()
                    check = _following_check(self.iterations, check_every)
                    self.curve.append(self._progress(last.exploitability, self.iterations))
                    self.seconds, self.cpu_seconds = time.perf_counter() - clock, time.process_time() - cpu_clock
                if callback is not None:
                    callback(self._progress(last.exploitability, self.curve[-1].iterations if self.curve else 0))
        except KeyboardInterrupt:
            pass
        return self._result(status)

    def _missed_check(self, check_every: int | None) -> bool:
        """Whether this iteration is on the schedule and was not measured: Ctrl-C came while it was computed."""
        measured = self.curve[-1].iterations if self.curve else 0
        return measured < self.iterations == _following_check(self.iterations - 1, check_every)

    def _out_of_time(self, until: Until) -> bool:
        return until.seconds is not None and self.seconds >= until.seconds

    def _reached(self, until: Until, last: Measurement) -> Status | None:
        if until.exploitability is not None and last.exploitability <= until.exploitability:
            return "exploitability"
        if until.iterations is not None and self.iterations >= until.iterations:
            return "iterations"
        return "seconds" if self._out_of_time(until) else None

    def _progress(self, exploitability: float, measured_at: int) -> Progress:
        return Progress(self.iterations, self.seconds, self.cpu_seconds, exploitability, measured_at)

    def _result(self, status: Status) -> SolveResult:
        return SolveResult(
            game=self.tree.name,
            algorithm=self.algorithm,
            status=status,
            profile=self.profile(),
            measurement=self.measure(),
            iterations=self.iterations,
            seconds=self.seconds,
            cpu_seconds=self.cpu_seconds,
            histories=self.tree.num_histories,
            information_sets=self.tree.num_infosets,
            curve=tuple(self.curve),
        )


def _following_check(iteration: int, check_every: int | None) -> int:
    return next_check(iteration) if check_every is None else (iteration // check_every + 1) * check_every


def _next_pace(count: int, seconds: float) -> int:
    """How many iterations the next call should do to take about ``CALL_SECONDS``, after ``count`` took ``seconds``."""
    return max(1, min(8 * count, int(count * CALL_SECONDS / max(seconds, 1e-9))))
