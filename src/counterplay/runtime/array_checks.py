"""Arrays from files: kernels trust their indices, so every index is compared with its limits before a kernel sees it.

A checksum says that a file is as it was written, not that it was written by this program.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

COUNTS = (0, 2**53)
"""The limits of counters: more would overflow soon, or be no exact float."""


def check_like(name: str, array: NDArray[Any], shape: tuple[int, ...], dtype: Any) -> None:
    """Refuse an array of another type or shape.  Raises ValueError."""
    if (array.shape, array.dtype) != (shape, np.dtype(dtype)):
        raise ValueError(f"array {name!r} is {array.dtype} of shape {array.shape}; {np.dtype(dtype)} {shape} is needed")


def check_limits(name: str, array: NDArray[Any], low: int, high: int) -> None:
    """Refuse numbers outside of ``low`` to ``high``, both included.  Raises ValueError."""
    if array.dtype.kind not in "biuO":
        raise ValueError(f"array {name!r} holds no integers but {array.dtype}")
    if not array.size:
        return
    for found in (int(array.min()), int(array.max())):
        if not low <= found <= high:
            raise ValueError(f"array {name!r} holds {found}; its numbers are {low} to {high}")


def check_weights(name: str, array: NDArray[Any], types: Sequence[str], verify: bool, least: float = -math.inf) -> None:
    """Refuse an array of another type, and with ``verify`` one with numbers that are not finite or below ``least``.

    Raises ValueError.
    """
    if array.ndim != 1 or array.dtype.name not in types:
        raise ValueError(f"array {name!r} is {array.dtype} of shape {array.shape}; a list of {types[-1]} is needed")
    if verify and array.dtype.kind == "f" and array.size:
        low, high = float(array.min()), float(array.max())
        if not (least <= low and math.isfinite(low) and math.isfinite(high)):
            raise ValueError(f"array {name!r} holds {low if not low >= least else high}, which is no weight")
