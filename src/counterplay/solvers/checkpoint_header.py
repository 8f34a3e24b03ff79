"""What the header of a checkpoint holds."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

if TYPE_CHECKING:
    from counterplay.solvers.solver import Solver


class CheckpointHeader(TypedDict):
    """The values of the header."""

    solver: str
    game: str
    algorithm: str
    fingerprint: str
    digest: NotRequired[str]
    config: dict[str, Any]
    iterations: NotRequired[int]
    seconds: float
    cpu_seconds: float
    curve: list[list[float | str | None]]  # of Progress
    state: dict[str, Any]
    cards: NotRequired[list[str]]  # of a bucket game
    bets: NotRequired[str | None]
    opponent_cards: NotRequired[str]  # of runs against an opponent with other cards


def header_of(solver: Solver) -> dict[str, Any]:
    """The header of a solver's checkpoint."""
    return {
        "solver": solver.kind,
        **solver.identity(),
        "algorithm": solver.algorithm,
        "config": dataclasses.asdict(solver.config),
        "iterations": solver.iterations,
        "seconds": solver.seconds,
        "cpu_seconds": solver.cpu_seconds,
        "curve": [dataclasses.astuple(point) for point in solver.curve],
        "state": solver.state(),
    }
