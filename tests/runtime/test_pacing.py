"""When runs stop and are measured, and how much each call does: simulated with a clock of its own."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterplay.errors import SolverError
from counterplay.runtime import pacing
from counterplay.runtime.pacing import CALL_SECONDS, THREADED_CALL_SECONDS, Axis, Pace, PacedSteps, Until, next_check


def simulated(
    overhead: float, cost: float, threads: int, calls: int = 60, noise: float = 0.0
) -> list[tuple[int, float]]:
    """Calls of a machine that takes ``overhead + cost * iterations / threads`` seconds for each."""
    pace = Pace(threads)
    found = []
    for call in range(60):
        count = pace.iterations
        seconds = (overhead + cost * count / threads) * (1.0 + noise * ((call * 7919) % 13 - 6) / 6)
        pace.record(count, seconds)
        found.append((count, seconds))
    return found


@given(
    st.floats(0.0, 0.05),
    st.floats(1e-7, 2.0),
    st.integers(1, 64),
    st.sampled_from([0.0, 0.1, 0.3]),
)
def test_calls_take_their_time(overhead: float, cost: float, threads: int, noise: float) -> None:
    last = simulated(overhead, cost, threads, noise=noise)[-20:]
    one_each = overhead + cost  # a call is never shorter than an iteration for each thread
    for count, seconds in last:
        assert count >= threads
        assert 0.3 * CALL_SECONDS < seconds < max(10 * CALL_SECONDS, 1.5 * one_each)


@given(st.floats(0.0, 0.3), st.floats(1e-7, 0.1), st.integers(2, 64))
def test_no_overhead_makes_calls_collapse(overhead: float, cost: float, threads: int) -> None:
    """Whatever threads cost that iterations do not, work is left: no fixed point is bad."""
    count, seconds = simulated(overhead, cost, threads)[-1]
    work = cost * count / threads
    assert work >= min(seconds / 3, 0.5 * CALL_SECONDS)


def test_the_pace_recovers_from_a_machine_that_was_busy() -> None:
    for threads in (1, 2, 16, 64):
        pace, cost = Pace(threads), 1e-4
        for call in range(100):
            count = pace.iterations
            held_up = 3.0 if call % 17 == 0 else 0.0
            pace.record(count, 0.001 + held_up + cost * count / threads)
        assert pace.iterations * cost / threads == pytest.approx(CALL_SECONDS, rel=0.5)


def test_short_calls_before_a_measurement_leave_the_pace_as_it_is() -> None:
    pace = Pace(16)
    for _ in range(20):
        pace.record(pace.iterations, 0.002 + 1e-5 * pace.iterations / 16)
    settled = pace.iterations
    for short in (1, 5, 40):
        pace.record(short, 0.002 + 1e-5 * short / 16)
        assert pace.iterations == settled


def test_the_first_call_gives_every_thread_an_iteration() -> None:
    assert Pace(16).iterations == 16
    assert Pace().iterations == 1


def test_measurements_are_scheduled_by_iterations_alone() -> None:
    checks = [0]
    while checks[-1] < 10_000:
        checks.append(next_check(checks[-1]))
    assert checks[1:6] == [1, 2, 3, 4, 5]
    assert all(next_check(between) == checks[-1] for between in range(checks[-2], checks[-1]))
    assert checks[-1] / checks[-2] == pytest.approx(1.05, abs=1e-3)
    assert next_check(100, 2.0) == 128
    assert [next_check(iteration, every=50) for iteration in (0, 49, 50, 99)] == [50, 50, 100, 100]


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({}, "say when to stop"),
        ({"iterations": 0}, "iterations must be a positive integer; got 0"),
        ({"iterations": 2.5}, "iterations must be a positive integer; got 2.5"),
        ({"iterations": True}, "iterations must be a positive integer; got True"),
        ({"seconds": math.inf}, "seconds must be a positive number; got inf"),
        ({"exploitability": -1.0}, "exploitability must be a positive number; got -1.0"),
    ],
)
def test_limits_that_make_no_sense(limits: dict[str, float], message: str) -> None:
    with pytest.raises(SolverError, match=message):
        Until(**limits)  # type: ignore[arg-type]


class Imagined:
    """A solver on a machine of its own clock: ``overhead + cost * iterations`` seconds a call, all threads busy."""

    finished = False

    def __init__(self, clock: list[float], overhead: float, cost: float, threads: int, end: int | None = None) -> None:
        self.clock, self.overhead, self.cost, self.threads, self.end = clock, overhead, cost, threads, end
        self.iterations, self.seconds, self.cpu_seconds = 0, 0.0, 0.0
        self.calls: list[int] = []

    @property
    def nodes(self) -> int:
        """Seven in each iteration."""
        return 7 * self.iterations

    @property
    def least_iterations(self) -> int:
        """One for each thread."""
        return self.threads

    def step(self, iterations: int, /) -> None:
        """Count, and let time pass."""
        self.calls.append(iterations)
        self.iterations += iterations
        self.clock[0] += self.overhead + self.cost * iterations
        self.finished = self.end is not None and self.iterations >= self.end


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(
        pacing, "time", SimpleNamespace(perf_counter=lambda: now[0], process_time=lambda: 2 * now[0])
    )  # two processors
    return now


@pytest.mark.parametrize("threads", [1, 16])
@pytest.mark.parametrize("axis", ["iterations", "nodes", "seconds", "cpu_seconds"])
def test_steps_come_to_their_target(clock: list[float], axis: Axis, threads: int) -> None:
    solver = Imagined(clock, 0.001, 1e-4, threads)
    steps = PacedSteps(solver)
    for target in (70, 7_000, 70_000) if axis in ("iterations", "nodes") else (0.5, 2.0, 10.0):
        steps.advance(axis, target)
        reached = getattr(solver, axis)
        assert target <= reached <= target + max(7, 0.02 * target)
        steps.advance(axis, target)  # nothing is left to do
        assert getattr(solver, axis) == reached
    assert solver.seconds == pytest.approx(clock[0] - 100.0)
    assert solver.cpu_seconds == pytest.approx(2 * solver.seconds)
    longest = CALL_SECONDS if threads == 1 else THREADED_CALL_SECONDS
    assert max(solver.calls) * 1e-4 < 3 * longest or axis == "nodes"


def test_where_a_run_along_nodes_ends_does_not_depend_on_the_clock(clock: list[float]) -> None:
    found = []
    for cost in (1e-6, 1e-3):
        solver = Imagined(clock, 0.0, cost, 1)
        PacedSteps(solver).advance("nodes", 123_456)
        found.append(solver.calls)
    assert found[0] == found[1]


def test_a_finished_solver_is_left_alone(clock: list[float]) -> None:
    solver = Imagined(clock, 0.0, 1e-3, 1, end=50)
    PacedSteps(solver).advance("seconds", 1e9)
    assert solver.finished
    assert solver.iterations < 500
