"""What ``build.json`` holds: the plan, the finished stages with what they found, and parts of unfinished ones."""

from __future__ import annotations

from typing import Any, TypedDict


class CurvePoint(TypedDict):
    """A measurement of the run."""

    iterations: int
    seconds: float
    cpu_seconds: float
    exploitability: float | None


class Stage(TypedDict):
    """What every finished stage holds."""

    seconds: float
    cpu_seconds: float


class MatchStage(Stage):
    """A match."""

    mbb: float
    mbb_95: float | None


class Part(TypedDict, total=False):
    """What an unfinished stage holds."""

    seconds: float
    cpu_seconds: float
    curve: list[CurvePoint]
    goals: list[float]


class CardsStage(Stage):
    """The stage ``cards``."""

    buckets: list[int]
    recall: str
    information_sets: int


class PairsStage(Stage):
    """The stage ``pairs``."""

    reason: str | None
    boards: int | None
    exact: bool | None
    counted: bool


class SolveStage(Stage):
    """The stage ``solve``."""

    iterations: int
    curve: list[CurvePoint]
    goals: list[float]


class BuildState(TypedDict):
    """The whole file."""

    plan: dict[str, Any]
    done: dict[str, Stage]
    parts: dict[str, Part]


STAGES: dict[str, type] = {"cards": CardsStage, "pairs": PairsStage, "solve": SolveStage}
"""The stages on which others depend."""
