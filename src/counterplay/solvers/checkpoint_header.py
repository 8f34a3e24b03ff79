"""What the header of a checkpoint holds."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict


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
