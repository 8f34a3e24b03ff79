"""Curves of exploitation against exploitability: several kinds of response, each for a grid of p.

Johanson 2016, figures 6.1 and 6.2: a point for each value of p (restricted Nash, mixtures) or Pmax (data biased).  The
point of ``safe`` at p has at most p times the exploitability of the safest best response, which makes its curve the
frontier that no strategy passes; it has its own grid.  Points are independent jobs: a curve that was stopped continues
with the points that it lacks, the one that was being solved from its own checkpoint.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import counterplay
from counterplay.errors import SolverError
from counterplay.forms import GameLike
from counterplay.modelling.counter_strategy import GRID, ResponseKind, find_kind
from counterplay.modelling.response_runs import ResponseRun, prepare_response
from counterplay.runtime.data_frames import Tabulated
from counterplay.runtime.executors import SerialExecutor
from counterplay.runtime.jobs import JobList
from counterplay.runtime.notebook_progress import notebook_progress
from counterplay.runtime.progress import ProgressCallback

Float64 = NDArray[np.float64]

COLUMNS = ("kind", "p", "exploitability", "value_against_model", "value_against_true", "gap", "iterations", "seconds")
"""Of a curve as a table."""

MEASURED = COLUMNS[2:]
"""The numbers of a point."""

DEFAULT_FILE = "respond.points"
"""Where the points of an interrupted curve are kept that has no file for them."""

FRONTIER = tuple((step / 24) ** 2 for step in range(25))
"""The values of p for ``safe``, whatever the grid: a frontier has its corners where little is given away."""


@dataclasses.dataclass(frozen=True)
class CurvePoint:
    """A response of a curve; amounts are chips per game, and None where the opponent itself is not known."""

    kind: str
    p: float
    exploitability: float
    value_against_model: float
    value_against_true: float | None
    gap: float
    iterations: int
    seconds: float


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class ResponseCurve(Tabulated):
    """Exploitation against exploitability, a row for each kind and p.

    Attributes
    ----------
    game : str
        What was played.
    points : tuple of CurvePoint
        Those that are solved, in the order of kinds and p.
    total : int
        How many there are to solve; fewer points are those of a curve that was interrupted.
    big_blind : float, optional
        Of a poker game.
    inside : bool
        Whether the numbers are those of a bucket game.
    checkpoint : path, optional
        Where the points are kept.
    """

    game: str
    points: tuple[CurvePoint, ...]
    total: int
    big_blind: float | None = None
    inside: bool = False
    checkpoint: str | os.PathLike[str] | None = None

    @property
    def complete(self) -> bool:
        """Whether all points are solved."""
        return len(self.points) == self.total

    @property
    def unit(self) -> tuple[float, str]:
        """What chips are multiplied with for reports, and the name of the result: mbb/g in poker."""
        return (1.0, "chips per game") if self.big_blind is None else (1000 / self.big_blind, "mbb/g")

    def of(self, kind: str) -> list[CurvePoint]:
        """The points of a kind."""
        return [point for point in self.points if point.kind == kind]

    @property
    def kinds(self) -> list[str]:
        """The kinds that have points."""
        return list(dict.fromkeys(point.kind for point in self.points))

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """Draw it, into a file or for a notebook; see ``counterplay.plot_responses``."""
        return counterplay.plot_responses(self, path)  # of a higher layer, found when it is called

    def _columns(self) -> tuple[str, ...]:
        return COLUMNS

    def _lines(self) -> Iterator[tuple[Any, ...]]:
        return (dataclasses.astuple(point) for point in self.points)

    def to_dict(self) -> dict[str, Any]:
        """The report for JSON."""
        return {
            "game": self.game,
            "big_blind": self.big_blind,
            "inside_bucket_game": self.inside,
            "complete": self.complete,
            "points": [dict(zip(COLUMNS, line, strict=True)) for line in self._lines()],
            "checkpoint": None if self.checkpoint is None else str(self.checkpoint),
        }

    def __repr__(self) -> str:
        return f"ResponseCurve(game={self.game!r}, kinds={self.kinds}, {len(self.points)} of {self.total} points)"


@dataclasses.dataclass(frozen=True, eq=False)
class CurveRun:
    """A curve that is ready to be solved."""

    run: ResponseRun
    pairs: list[tuple[str, float]]
    jobs: JobList
    resumed: bool = False

    def solve(self, progress: ProgressCallback | None = None) -> ResponseCurve:
        """Solve the points that are missing, until Ctrl-C at most: a curve that was interrupted has those so far."""
        try:
            self.jobs.run(self._point, SerialExecutor(), progress, "points of the curve")
        except KeyboardInterrupt:
            if self.jobs.path is None:
                self.jobs.path = DEFAULT_FILE
                self.jobs.save()
        measured = self.run.play.measure(self.run.prediction)
        found = [
            CurvePoint(kind, p, row[0], row[1], None if math.isnan(row[2]) else row[2], row[3], int(row[4]), row[5])
            for (kind, p), row, done in zip(self.pairs, self.jobs.found.tolist(), self.jobs.done, strict=True)
            if done
        ]
        return ResponseCurve(
            measured.game, tuple(found), len(self.jobs.done), measured.big_blind, measured.method == "buckets",
            self.jobs.path,
        )  # fmt: skip

    def _point(self, number: int) -> Float64:
        kind, p = self.pairs[number]
        asked = ResponseKind(kind, epsilon=p * self.run.most_given_away()) if kind == "safe" else ResponseKind(kind, p)
        run, kept = self.run, Path(f"{self.jobs.path or DEFAULT_FILE}.{kind}-{p:g}")
        options = dataclasses.replace(run.options, checkpoint=None if self.jobs.path is None else kept)
        resume = kept if self.resumed and kept.exists() else None
        found = dataclasses.replace(run, asked=asked, options=options, resume=resume, spare=kept).run()
        if found.status == "interrupted":
            raise KeyboardInterrupt
        kept.unlink(missing_ok=True)
        won = math.nan if found.value_against_true is None else found.value_against_true
        numbers = (found.exploitability, found.value_against_model, won, found.gap, found.iterations, found.seconds)
        return np.array(numbers)


def response_curve(
    game: GameLike | None,
    model: Any,
    kinds: Sequence[str] = ("rnr",),
    grid: Sequence[float] = GRID,
    *,
    true: Any = None,
    progress: ProgressCallback | bool | None = None,
    **settings: Any,
) -> ResponseCurve:
    """Solve responses of several kinds for a grid of p, and measure each.

    Parameters
    ----------
    game, model, true, progress
        As in ``respond``.
    kinds : sequence of str
        Of rnr, dbr, mixture and safe.
    grid : sequence of float
        The values of p.
    **settings
        As in ``respond``; ``checkpoint`` is a file for the points, which are kept as they are solved, ``resume`` one to
        continue from.
    """
    run = prepare_curve(game, model, kinds, grid, true, settings)
    with notebook_progress(progress) as shown:
        return run.solve(shown)


def prepare_curve(
    game: GameLike | None, model: Any, kinds: Sequence[str], grid: Sequence[float], true: Any,
    settings: Mapping[str, Any],
) -> CurveRun:  # fmt: skip
    """A curve that can be started: everything is checked, the game is open, the points of ``resume`` are read."""
    own = dict(settings)
    checkpoint, resume = own.pop("checkpoint", None), own.pop("resume", None)
    chosen = tuple(dict.fromkeys(find_kind(kind) for kind in ([kinds] if isinstance(kinds, str) else kinds)))
    if not chosen or "best" in chosen:
        raise SolverError("a curve has the kinds rnr, dbr, mixture and safe; a best response is their point at p = 1")
    values = tuple(dict.fromkeys(float(p) for p in grid))
    if not values:
        raise SolverError("a curve has at least one value of p")
    asked = [ResponseKind(kind, p) for kind in chosen if kind != "safe" for p in values]
    asked += [ResponseKind("safe", epsilon=0.0)] if "safe" in chosen else []
    run = prepare_response(game, model, asked[0], true, own, asked[1:])
    header = {"what": "response curve", "kinds": list(chosen), "grid": list(values), "digest": _digest(run)}
    pairs = [(kind, p) for kind in chosen for p in (FRONTIER if kind == "safe" else values)]
    return CurveRun(run, pairs, JobList(header, len(pairs), (len(MEASURED),), checkpoint, resume), resume is not None)


def _digest(run: ResponseRun) -> str:
    """What differs between curves of other games, models and settings."""
    found = hashlib.sha256(run.play.form.fingerprint.encode())
    for table in (run.prediction, run.confidence, run.true):
        found.update(b"none" if table is None else np.ascontiguousarray(table).data)
    found.update(repr((run.algorithm, run.target, run.options.seed, sorted(run.settings.items()))).encode())
    return found.hexdigest()[:32]
