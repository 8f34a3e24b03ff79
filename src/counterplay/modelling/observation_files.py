"""``load_observations``: what ``Observations.save`` has written, so that hands are counted once.

A file names its game and, of a bucket game, its card files; a digest shows whether they are still the same.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import CounterplayError, StrategyError
from counterplay.forms import open_game
from counterplay.modelling.observations import KIND, Form, Observations, tables_digest
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.runtime.array_checks import COUNTS, check_like, check_limits
from counterplay.runtime.header_checks import check_header
from counterplay.storage import read_container


class ObservationsHeader(TypedDict):
    """What the header of a file holds."""

    game: str
    form: str
    digest: str
    cards: list[str]
    bets: str | None
    opponent: str
    hands: int
    unseen: int
    diverged: int
    skipped: int
    broken: list[str]


def load_observations(path: str | os.PathLike[str], form: Form | None = None) -> Observations:
    """Read observations from a file.

    Parameters
    ----------
    path : path
        The file.
    form : GameTree or BucketGame, optional
        The game; by default it is opened as the file names it, with card files where they were or next to the file.

    Raises
    ------
    StrategyError
        If the file is damaged or of another kind, or was made in another game or abstraction.
    """
    source = Path(path)
    header, arrays = read_container(source, KIND)
    check_header(source, header, ObservationsHeader)
    game = _opened(source, header) if form is None else form
    if header["digest"] != tables_digest(game):
        raise StrategyError(f"{source} was counted in another game or abstraction than {game.name} as it is here")
    try:
        counts = _counts(arrays, game.num_entries)
        numbers = {name: header[name] for name in ("hands", "unseen", "diverged", "skipped")}
        for name, number in numbers.items():
            check_limits(name, np.array([number]), *COUNTS)
    except (KeyError, ValueError) as error:
        raise StrategyError(f"{source} is damaged: {type(error).__name__}: {error}") from None
    return Observations(game, counts, header["opponent"], broken=tuple(header["broken"]), **numbers)


def _opened(source: Path, header: dict[str, Any]) -> Form:
    """The form that a file names."""
    try:
        if header["form"] == BucketGame.form_name:
            beside = [source.parent / Path(card).name for card in header["cards"]]
            files = [card if os.path.isfile(card) else near for card, near in zip(header["cards"], beside, strict=True)]
            return open_game(header["game"], "buckets", cards=files, bets=header["bets"])
        return open_game(header["game"], "history")
    except (CounterplayError, ValueError) as error:
        raise StrategyError(f"the game of {source} cannot be opened: {error}") from None


def _counts(arrays: Any, size: int) -> NDArray[np.int64]:
    """All counts, from those that are not 0."""
    entry, count = arrays["entry"], arrays["count"]
    check_like("entry", entry, entry.shape[:1], np.int64)
    check_like("count", count, entry.shape, np.int64)
    check_limits("entry", entry, 0, size - 1)
    check_limits("count", count, 1, COUNTS[1])
    if np.any(np.diff(entry) <= 0):
        raise ValueError("array 'entry' does not ascend")
    counts = np.zeros(size, np.int64)
    counts[entry] = count
    return counts
