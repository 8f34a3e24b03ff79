"""Progress: what every long computation reports, through one kind of callback."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import TypeAlias

from counterplay.runtime.number_text import chips, figure


class Curve(tuple["Progress", ...]):
    """The points of a run, which show themselves in a line."""

    def __repr__(self) -> str:
        if not self:
            return "<Curve of 0 points>"
        ends = [f"{figure(point.exploitability)} at iteration {point.iterations:,}" for point in (self[0], self[-1])]
        many = "1 point" if len(self) == 1 else f"{len(self):,} points"
        return f"<Curve of {many}: exploitability {', '.join(dict.fromkeys(ends))}>"


@dataclasses.dataclass(frozen=True)
class Progress:
    """The state of a computation.

    Attributes
    ----------
    iterations : int
        Iterations, jobs or items done.
    seconds, cpu_seconds : float
        Time spent so far; of a resumed run of a solver the time before counts as well.
    exploitability : float
        Of a run of a solver: the latest that was measured, at iteration ``measured_at``; NaN if there is none.
    measured_at : int
        When that was.
    nodes : int
        Histories touched so far.
    lower, upper : float or None
        Bounds on the value that is computed, if any.
    total : int or None
        Total iterations, jobs or items, if known.
    seconds_left : float or None
        Time for the rest at this pace, if known.
    stage, detail : str
        What is being done, where a computation has several stages, and within a stage.
    """

    iterations: int
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    exploitability: float = math.nan
    measured_at: int = 0
    nodes: int = 0
    lower: float | None = None
    upper: float | None = None
    total: int | None = None
    seconds_left: float | None = None
    stage: str = ""
    detail: str = ""

    @property
    def share(self) -> float:
        """The fraction of the total that is done; NaN if the total is unknown."""
        return math.nan if self.total is None else 1.0 if self.total == 0 else self.iterations / self.total

    @property
    def state(self) -> str:
        """How far a run of a solver is: the bounds, if the algorithm has converging ones, or the exploitability."""
        if self.lower is not None and self.upper is not None:
            return f"value from {figure(self.lower, 6)} to {figure(self.upper, 6)}"
        if math.isnan(self.exploitability):
            return f"{self.nodes:,} histories visited"
        return f"exploitability {chips(self.exploitability)}"


ProgressCallback: TypeAlias = Callable[[Progress], None]
"""What a computation calls with its progress."""
