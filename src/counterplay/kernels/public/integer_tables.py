"""Tables of 16-bit integers with a scale for each public state (Johanson 2016, section 9.3)."""

from __future__ import annotations

from typing import Any

import numpy as np

from counterplay.kernels.jit import apart

_LEAST = 1e-33
"""Below this a block of integers counts as 0: its scale would leave the range of float32."""


@apart
def store_integers(
    table: Any, scales: Any, block: int, first: Any, n: Any, actions: Any, new: Any, s: Any, stride: Any, salt: int,
) -> None:  # fmt: skip
    """Write a block of a table of integers from the vectors that begin at ``s``.

    The block gets a scale of its own, so that the largest number fills the range; numbers are rounded up or down at
    random with the right mean, because what is added in an iteration is often less than one unit.
    """
    number = new.dtype.type
    least, most = number(0.0), number(0.0)
    for a in range(actions):
        for h in range(n):
            one = new[s + a * stride + h]
            least = one if one < least else least
            most = one if one > most else most
    largest = max(most, -least)
    scales[block] = largest / 32766.0 if largest > _LEAST else 1.0
    inverse = number(1.0 / np.float64(scales[block]))  # as it will be read
    dice = (np.uint64(salt) * np.uint64(0x9E3779B97F4A7C15)) ^ (np.uint64(block) * np.uint64(0xBF58476D1CE4E5B9))
    unit = number(1.0 / 16777216.0)
    for a in range(actions):
        row, out = first + a * n, s + a * stride
        dice = dice * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
        start = np.uint32(dice >> np.uint64(32))
        for h in range(n):  # multiples of the golden section from a random start: even in [0, 1), hand by hand
            up = np.uint32(start + np.uint32(h) * np.uint32(2654435769)) >> np.uint32(8)
            table[row + h] = np.int16(np.floor(new[out + h] * inverse + number(np.int32(up)) * unit))
