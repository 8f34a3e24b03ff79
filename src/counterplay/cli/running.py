"""Shared by commands that run a solver: the progress line."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

from counterplay.cli.common import note
from counterplay.runtime.number_text import figure

if TYPE_CHECKING:
    from counterplay.runtime.pacing import Until
    from counterplay.runtime.progress import Progress, ProgressCallback


@contextmanager
def live_progress(
    quiet: bool,
    lines: ProgressCallback,
    columns: Sequence[str],
    show: Callable[[Progress], tuple[str, dict[str, Any]]],
    first: tuple[str, dict[str, Any]] | None = None,
    transient: bool = False,
) -> Iterator[ProgressCallback | None]:
    """Bars on a terminal, ``lines`` elsewhere, nothing if quiet.

    ``columns`` are bar, percent, elapsed, remaining, or a text with the fields of a task.  ``show`` gives the title of
    the bar of a progress, and its fields; every title has its own bar.  ``first`` is shown before any progress.
    """
    if quiet or not sys.stderr.isatty():
        yield None if quiet else lines
        return
    from rich import progress as rich
    from rich.console import Console

    kinds = {"bar": rich.BarColumn, "percent": rich.TaskProgressColumn, "elapsed": rich.TimeElapsedColumn,
             "remaining": rich.TimeRemainingColumn}  # fmt: skip
    made = [kinds[name]() if name in kinds else rich.TextColumn(name) for name in columns]
    with rich.Progress(*made, console=Console(stderr=True), transient=transient) as bars:
        tasks: dict[str, Any] = {}

        def put(title: str, fields: dict[str, Any]) -> None:
            if title not in tasks:
                tasks[title] = bars.add_task(title, **{"total": 1.0, **fields})
            bars.update(tasks[title], **fields)

        if first is not None:
            put(*first)
        yield lambda now: put(*show(now))


def time_left(step: Progress) -> str:
    """The time that is left, in parentheses; empty if it is not known."""
    if step.seconds_left is None:
        return ""
    number, unit = (step.seconds_left / 60, "minutes") if step.seconds_left > 90 else (step.seconds_left, "seconds")
    return f" ({number:.0f} {unit} left)"


def progress_line(
    goal: Until, quiet: bool, measured: str = "exploitability"
) -> AbstractContextManager[ProgressCallback | None]:
    """A live line with a bar on a terminal; a plain line at intervals elsewhere.

    ``measured`` is what the run calls its exploitability: that of a restricted game is a gap.
    """
    first = math.nan

    def state(now: Progress) -> str:
        return _state(now, goal, measured)

    def show(now: Progress) -> tuple[str, dict[str, Any]]:
        nonlocal first
        if math.isnan(first) and now.measured_at > 0:
            first = now.exploitability
        done = goal.fraction(now, first)
        return "solving", {"completed": done, "iterations": now.iterations, "state": state(now)}

    columns = ("{task.fields[iterations]:>12,} iterations", "bar", "{task.fields[state]}", "elapsed")
    return live_progress(
        quiet, _plain_lines(state), columns, show, ("solving", {"iterations": 0, "state": "preparing kernels"})
    )


def _state(now: Progress, goal: Until, measured: str) -> str:
    """How far a run is, and the exploitability at which it stops, to be compared with its own."""
    aim = "" if goal.exploitability is None else f", stops at {figure(goal.exploitability)}"
    detail = f", {now.detail}" if now.detail else ""
    return now.state.replace("exploitability", measured) + aim + detail


def _plain_lines(state: Callable[[Progress], str]) -> ProgressCallback:
    due = wait = 2.0

    def draw(now: Progress) -> None:
        nonlocal due, wait
        if now.seconds >= due:
            wait *= 2
            due = now.seconds + min(wait, 60.0)
            note(f"{now.iterations:,} iterations, {now.seconds:.0f} s, {state(now)}")

    return draw


def counted_progress(title: str, quiet: bool) -> AbstractContextManager[ProgressCallback | None]:
    """A live bar with what is done and the time left on a terminal; a plain line at intervals elsewhere."""

    def show(now: Progress) -> tuple[str, dict[str, Any]]:
        left = f"{_time(now.seconds_left)} left" if now.total else ""
        return title, {"total": now.total, "completed": now.iterations, "state": _counted(now), "left": left}

    columns = ("{task.fields[state]}", "bar", "{task.fields[left]}", "elapsed")
    start = (title, {"total": None, "state": title, "left": ""})
    return live_progress(quiet, _counted_lines(), columns, show, start, transient=True)


def _counted_lines() -> ProgressCallback:
    due = wait = 2.0
    started = time.monotonic()

    def draw(now: Progress) -> None:
        nonlocal due, wait
        seconds = time.monotonic() - started
        if seconds >= due:
            wait *= 2
            due = seconds + min(wait, 60.0)
            note(f"{_counted(now)}, {seconds:.0f} s, {_time(now.seconds_left)} left")

    return draw


def _counted(now: Progress) -> str:
    done = f"{now.iterations:,}" if now.total is None else f"{now.iterations:,} of {now.total:,}"
    return f"{now.stage or 'done'}: {done}" + (f", {now.detail}" if now.detail else "")


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "?"
    return f"{int(seconds) // 3600}:{int(seconds) // 60 % 60:02d}:{int(seconds) % 60:02d}"
