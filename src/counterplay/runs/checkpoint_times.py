"""When a run keeps checkpoints of its own, besides the one that is written again every minute.

Open Pure CFR has such a schedule (Gibson 2014, section 5.5): the first at some time, and each later one at a multiple
of the last, plus a constant.
"""

from __future__ import annotations

import dataclasses
import math
import os
from pathlib import Path

from counterplay.errors import SolverError


@dataclasses.dataclass(frozen=True)
class CheckpointTimes:
    """Seconds of solving: ``start``, and after each time t the time ``factor`` t + ``step``."""

    start: float
    factor: float
    step: float

    @classmethod
    def read(cls, text: str) -> CheckpointTimes:
        """Times from START, which repeats, START,FACTOR or START,FACTOR,STEP."""
        try:
            numbers = [float(part) for part in str(text).split(",")]
        except ValueError:
            numbers = []
        if len(numbers) == 1:
            numbers = [numbers[0], 1.0, numbers[0]]
        elif len(numbers) == 2:
            numbers = [*numbers, 0.0]
        if len(numbers) == 3 and all(map(math.isfinite, numbers)):
            start, factor, step = numbers
        else:
            start = factor = step = 0.0
        if not (start > 0.0 and factor >= 1.0 and step >= 0.0 and factor * start + step > start):
            raise SolverError(
                "checkpoint times are START, START,FACTOR or START,FACTOR,STEP in seconds, such as 60 (every minute), "
                f"60,2 (after 60, 120, 240) or 60,1,300 (after 60, 360, 660); each later than the last; got {text!r}"
            )
        return cls(start, factor, step)

    def after(self, seconds: float) -> float:
        """The first time above a number of seconds."""
        time = self.start
        while time <= seconds:
            time = self.factor * time + self.step
        return time


def checkpoint_at(path: str | os.PathLike[str], iterations: int) -> Path:
    """The file of a checkpoint that is kept: ``run.checkpoint`` after 500 iterations is ``run.500.checkpoint``."""
    whole = Path(path)
    return whole.with_name(f"{whole.stem}.{iterations}{whole.suffix}")
