"""Shared by commands that run a solver: the progress line, Ctrl-C, the plot at the end."""

from __future__ import annotations

import math
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from counterplay.cli.common import note

if TYPE_CHECKING:
    from counterplay.runtime.pacing import Until
    from counterplay.runtime.progress import Progress
    from counterplay.solvers import SolveResult


def plot_run(result: SolveResult, path: Path, goal: Until) -> None:
    """Draw the curve of a run; that of a sampling algorithm against nodes and seconds as well."""
    from counterplay.plots.convergence import plot_curves
    from counterplay.solvers import ALGORITHMS

    known = ALGORITHMS.get(result.algorithm)
    title = f"{result.facts.title or result.game}: {result.algorithm}"
    plot_curves(
        path, {result.algorithm: result.curve}, title,
        ("iterations", "nodes", "seconds") if known is not None and known.sampled else ("iterations",),
        goal.exploitability,
    )  # fmt: skip


@contextmanager
def interruptible() -> Iterator[None]:
    """Let SIGTERM do what Ctrl-C does: stop, save, report."""

    def stop(signum: int, frame: object) -> None:
        raise KeyboardInterrupt

    old = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, old)


@contextmanager
def progress_line(goal: Until, quiet: bool) -> Iterator[Callable[[Progress], None] | None]:
    """A live line with a bar on a terminal; a plain line at intervals elsewhere."""
    if quiet:
        yield None
        return
    if not sys.stderr.isatty():
        yield _plain_lines()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.fields[iterations]:>12,} iterations"),
        BarColumn(),
        TextColumn("{task.fields[state]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("solving", total=1.0, iterations=0, state="preparing kernels")
        first = math.nan

        def draw(now: Any) -> None:
            nonlocal first
            if math.isnan(first) and now.measured_at > 0:
                first = now.exploitability
            done = _fraction(goal, now, first)
            bar.update(task, completed=done, iterations=now.iterations, state=_state(now))

        yield draw


def _state(now: Progress) -> str:
    """The state of a run: the bounds, if the algorithm has converging ones, or the exploitability."""
    if now.lower is not None and now.upper is not None:
        return f"value from {now.lower:.6g} to {now.upper:.6g}"
    if math.isnan(now.exploitability):
        return f"{now.nodes:,} histories touched"
    return f"exploitability {now.exploitability:.3e}"


def _plain_lines() -> Callable[[Progress], None]:
    due = wait = 2.0

    def draw(now: Progress) -> None:
        nonlocal due, wait
        if now.seconds >= due:
            wait *= 2
            due = now.seconds + wait
            note(f"{now.iterations:,} iterations, {now.seconds:.0f} s, {_state(now)}")

    return draw


def _fraction(goal: Until, now: Progress, first: float) -> float:
    """The fraction done, by the nearest limit; exploitability counts on a logarithmic scale."""
    parts = [0.0]
    if goal.iterations:
        parts.append(now.iterations / goal.iterations)
    if goal.seconds:
        parts.append(now.seconds / goal.seconds)
    if goal.exploitability and first > goal.exploitability and now.exploitability > 0:
        parts.append(math.log(first / now.exploitability) / math.log(first / goal.exploitability))
    return min(1.0, max(parts))
