"""The result of an experiment: a table with the published numbers and ours, and curves to plot."""

from __future__ import annotations

import contextlib
import contextvars
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

Cell: TypeAlias = str | int | float | None
Curves: TypeAlias = dict[str, tuple[list[float], list[float]]]


@dataclasses.dataclass(frozen=True)
class Experiment:
    """A published table or figure, reproduced.

    Attributes
    ----------
    title : str
        What it shows.
    source : str
        Author, year, table or figure.
    columns : tuple of str
        The column headers.
    rows : tuple of tuples
        Texts, numbers, or None for an empty cell.
    notes : tuple of str
        What differs from the source, and why.
    curves : mapping
        Name to (x, y) of what is plotted.
    xlabel : str
        What x is.
    name : str
        Its name in ``counterplay experiment``, which ``run_experiment`` adds.
    interrupted : bool
        Whether Ctrl-C stopped it; the rows are those that were finished.
    """

    title: str
    source: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    curves: Mapping[str, tuple[Sequence[float], Sequence[float]]] = dataclasses.field(default_factory=dict)
    xlabel: str = "iterations"
    name: str = ""
    interrupted: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The experiment for JSON."""
        return {
            "experiment": self.name,
            "title": self.title,
            "source": self.source,
            "columns": list(self.columns),
            "rows": [list(row) for row in self.rows],
            "notes": list(self.notes),
            "curves": {name: [list(xs), list(ys)] for name, (xs, ys) in self.curves.items()},
            "interrupted": self.interrupted,
        }


_stopped: contextvars.ContextVar[list[bool] | None] = contextvars.ContextVar("stopped", default=None)


@contextlib.contextmanager
def keeping_rows() -> Iterator[None]:
    """Around the loop of an experiment: Ctrl-C ends the loop, and the experiment is reported with the rows so far."""
    try:
        yield
    except KeyboardInterrupt:
        stops = _stopped.get()
        if stops is None:
            raise
        stops.append(True)


@contextlib.contextmanager
def noting_stops() -> Iterator[list[bool]]:
    """Let ``keeping_rows`` end loops; the list is not empty if one was ended."""
    stops: list[bool] = []
    token = _stopped.set(stops)
    try:
        yield stops
    finally:
        _stopped.reset(token)
