"""Arrays that take long to compute, kept in a folder of the user: features of hands, equities."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from counterplay.errors import CounterplayError, StrategyError
from counterplay.storage import Arrays, read_container, write_container


def default_cache() -> Path | None:
    """Where arrays are kept: ``$COUNTERPLAY_CACHE``, or ``counterplay`` in the user's cache folder.

    None if there is no home directory, or no folder can be made there.
    """
    given = os.environ.get("COUNTERPLAY_CACHE")
    if given:
        return Path(given)
    try:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "counterplay"
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # RuntimeError: nobody knows where the home directory is
        return None
    return folder


def cached_arrays(
    path: Path, kind: str, make: Callable[[], dict[str, NDArray[Any]]], check: Callable[[Arrays], None]
) -> Arrays:
    """The arrays in a file, or, if there is none that passes a check, those that are made and written there."""
    if path.exists():
        with contextlib.suppress(CounterplayError, KeyError, IndexError, ValueError):
            found = read_container(path, kind)[1]
            check(found)
            return found
    arrays = make()
    try:
        write_container(path, kind, {"name": path.name}, arrays)
        return read_container(path, kind, verify=False)[1]
    except StrategyError:  # a full disk, or a cache that may only be read; the arrays are in memory
        return arrays
