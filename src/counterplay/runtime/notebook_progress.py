"""A progress bar in notebooks, where nothing else shows that a long call is running.

IPython is not imported here unless it is running already: there is a bar in notebooks only, and no dependency.
"""

from __future__ import annotations

import html
import importlib
import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from counterplay.runtime.pacing import Until
from counterplay.runtime.progress import Progress, ProgressCallback

EVERY = 0.2
"""Seconds between two updates of a bar."""


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None


@contextmanager
def notebook_progress(
    progress: ProgressCallback | bool | None, goal: Until | None = None
) -> Iterator[ProgressCallback | None]:
    """What a computation calls with its progress.

    A callback is called as it is.  None means a bar in a notebook and nothing elsewhere, False nothing at all.
    ``goal`` is that of a run of a solver.
    """
    if callable(progress):
        yield progress
    elif progress is False or not in_notebook():
        yield None
    else:
        bar = _Bar(goal)
        try:
            yield bar
        finally:
            bar.close()


class _Bar:
    """A bar below the cell that runs, with a line of text, replaced as a computation advances."""

    def __init__(self, goal: Until | None) -> None:
        self._goal = goal
        self._first = math.nan
        self._started = time.monotonic()
        self._due = 0.0
        self._last: Progress | None = None
        self._handle: Any = None

    def __call__(self, now: Progress) -> None:
        """Show the progress, if the last time was long enough ago."""
        if math.isnan(self._first) and now.measured_at > 0:
            self._first = now.exploitability
        self._last = now
        if time.monotonic() >= self._due:
            self._due = time.monotonic() + EVERY
            self._show(now, "")

    def close(self) -> None:
        """Show where the computation ended."""
        if self._last is not None:
            self._show(self._last, ", done")

    def _show(self, now: Progress, ending: str) -> None:
        display = importlib.import_module("IPython.display")
        page = display.HTML(self._html(now, ending))
        if self._handle is None:
            self._handle = display.display(page, display_id=True)
        else:
            self._handle.update(page)

    def _html(self, now: Progress, ending: str) -> str:
        done = now.share if self._goal is None else self._goal.fraction(now, self._first)
        place = "" if math.isnan(done) else f' value="{1.0 if ending else done:.4f}"'
        words = [now.stage, now.detail] if self._goal is None else [f"{now.iterations:,} iterations", now.state]
        words.append(f"{time.monotonic() - self._started:.0f} s{ending}")
        text = ", ".join(word for word in words if word)
        return f'<progress max="1"{place} style="width: 20em"></progress> {html.escape(text)}'
