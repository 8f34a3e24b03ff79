"""The scales of experiments: their settings at the scale of an hour, and the time that quick and full runs take.

Full is the default of every experiment, quick what its own module says about ``quick``.  Hour is the largest that fits
two cores in an hour: full where that fits, and full with the settings below where it does not.  Quick times are rounded
up from runs on two cores; those of full runs, and that these settings fit an hour, are estimates from shorter runs
where the record has no such run.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from counterplay.errors import CounterplayError
from counterplay.runtime.suggestions import did_you_mean

__all__ = ["HOUR", "OWN", "SCALES", "SHOWN", "Scales", "check_scale", "scales_of"]

SCALES = ("quick", "hour", "full")
"""From the smallest to the largest."""

OWN = "own settings"
"""In place of a scale: a full run with settings of its own, most of them smaller."""

SHOWN = frozenset({"chapter", "families", "figures", "folder", "games", "methods", "players", "seed", "threads",
                   "workers", "year"})  # fmt: skip
"""Options that choose what is shown, or who does the work and where, not how much is done."""

HOUR = 60
"""Minutes on two cores that a run at hour scale may take."""


FIFTEEN_CARDS = {"game": "holdem_4_1(ranks=5,suits=3)"}
"""Limit hold'em with four rounds, in place of twenty cards."""


@dataclasses.dataclass(frozen=True)
class Scales:
    """What the scales of an experiment need.

    Attributes
    ----------
    quick, full : int
        Minutes on two cores, about.
    hour : mapping, optional
        Settings of a full run that then fits an hour; None if it does as it is.
    when : mapping, optional
        Options with which this applies; without them it applies always.
    resumes : bool
        Whether a run keeps its work in ``folder`` and continues there.
    """

    quick: int
    full: int
    hour: Mapping[str, Any] | None = None
    when: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    resumes: bool = False

    def machine(self) -> str:
        """The machine and the time that every scale needs, in words."""
        minutes = {"quick": self.quick, "hour": min(self.full, HOUR), "full": self.full}
        if self.hour is None:
            del minutes["hour"]
        return "2 cores: " + ", ".join(f"{name} {_words(value)}" for name, value in minutes.items())


def _words(minutes: int) -> str:
    return f"{minutes} min" if minutes <= HOUR else f"{-(-minutes // 60)} h"


EXPERIMENT_SCALES: dict[str, tuple[Scales, ...]] = {
    "abstraction-families": (Scales(1, 180, {"boards": 10_000}),),
    "abstract-sizes": (Scales(1, 1),),
    "adaptive-agents": (Scales(20, 960, {"matches": 1, "deals": 1000}, resumes=True),),
    "average-strategy": (Scales(1, 20),),
    "bluff-chain": (Scales(1, 60),),
    "bluff-faces": (Scales(1, 60),),
    "bluff-sampling": (Scales(1, 40),),
    "bluff-memory": (Scales(1, 1),),
    "competition-results": (Scales(1, 1),),
    "current-profile": (Scales(1, 30),),
    "data-biased-responses": (Scales(1, 50, resumes=True),),
    "dominated-play": (Scales(1, 20),),
    "estimator-ranges": (Scales(1, 900, {"hands": 100_000}, resumes=True),),
    "exploitability-by-size": (
        *(Scales(1, 60, when={"figures": figure}) for figure in ("figure2.3", "figure2.4", "figure4.10")),
        Scales(1, 480, FIFTEEN_CARDS),
    ),
    "failing-learners": (Scales(1, 20),),
    "family-crosstable": (Scales(2, 240, FIFTEEN_CARDS),),
    "family-exploitability": (Scales(5, 480, FIFTEEN_CARDS),),
    "forgetful-sizes": (Scales(1, 1),),
    "hand-distances": (Scales(2, 2),),
    "heuristic-failure": (Scales(1, 1),),
    "hybrid-memory": (Scales(1, 1),),
    "kuhn-tournament": (Scales(1, 1),),
    "least-exploitable": (Scales(2, 240, {"iterations": 120}),),
    "limit-solution": (Scales(1, 60),),
    "man-machine-series": (Scales(1, 60, resumes=True),),
    "match-estimators": (Scales(1, 300, {"hands": 100_000}, resumes=True),),
    "maxmin-games": (Scales(2, 240, {"seconds": 120.0}),),
    "maxmin-shares": (Scales(1, 300, {"instances": 10, "seconds": 15.0}),),
    "opponent-clusters": (Scales(1, 5),),
    "oshi-zumo-sizes": (Scales(1, 1),),
    "overfitting": (Scales(5, 60),),
    "phantom-memory": (Scales(1, 20),),
    "reference-agents": (Scales(1, 1),),
    "refining-convergence": (Scales(1, 60),),
    "refining-memory": (Scales(1, 60),),
    "refining-sizes": (Scales(1, 60),),
    "refining-times": (Scales(1, 60),),
    "plus-averaging": (Scales(1, 10),),
    "plus-sampling": (Scales(1, 20),),
    "pooled-responses": (Scales(1, 30, resumes=True),),
    "probing-convergence": (Scales(1, 40),),
    "probing-variance": (Scales(1, 5),),
    "public-sampling": (Scales(3, 60),),
    "resolving": (Scales(1, 20),),
    "restricted-responses": (Scales(1, 50, resumes=True),),
    "sampling-by-size": (Scales(1, 20),),
    "sampling-parameters": (Scales(2, 20),),
    "strategies-over-time": (Scales(1, 60),),
    "skewed-dice": (Scales(1, 1),),
    "solved-games": (Scales(1, 1),),
    "stitched-leduc": (
        Scales(3, 120, {"iterations": 300_000}, {"players": 3}, resumes=True),
        Scales(1, 5, resumes=True),
    ),
    "stitched-sizes": (Scales(1, 1),),
    "three-player-profiles": (Scales(5, 60),),
    "three-player-sampling": (Scales(5, 30),),
    "trivial-agents": (Scales(1, 5),),
    "tilt-exploitability": (Scales(1, 60),),
    "tilted-games": (Scales(1, 60),),
    "two-round-sampling": (Scales(1, 120, {"stacks": ("10", "12", "14", "16", "20", "24")}),),
    "worked-examples": (Scales(1, 1),),
    "yearly-agents": (Scales(10, 1200, {"iterations": 300_000, "preset": "tiny", "deals": 2000}, resumes=True),),
    "two-round-uniform": (Scales(2, 5),),
}
"""By the names of the experiments; an experiment with several has them by its options, the last for all others."""


def check_scale(scale: str) -> str:
    """The scale, if it is one."""
    if scale not in SCALES:
        raise CounterplayError(f"unknown scale {scale!r}; {did_you_mean(scale, SCALES)}")
    return scale


def scales_of(name: str, options: Mapping[str, Any]) -> Scales:
    """The scales of an experiment with these options: those for the options if there are any, or those for all."""
    return next(known for known in EXPERIMENT_SCALES[name] if known.when.items() <= options.items())
