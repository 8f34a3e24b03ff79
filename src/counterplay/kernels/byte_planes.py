"""Rows of alike integers as bytes that compress well: differences of neighbours, small in size, sorted by bytes.

Johanson 2016, section 9.3 stores integers in an order that compresses well and leaves the coding open.  Differences of
neighbours are mapped to 0, 1, 2, ... for 0, -1, 1, ... (zigzag), and all their highest bytes come first, nearly always
0, then the next, down to the lowest.  Floats are taken for integers of their size: numbers that are alike share sign,
exponent and leading digits.
"""

from __future__ import annotations

import numpy as np

from counterplay.kernels.jit import kernel

_CHUNK = 4096
"""Numbers that are turned at once, so that they stay in the cache between loops."""


@kernel
def spread_bytes(
    table: np.ndarray,  # IN  (n,) int16, int32 or int64
    planes: np.ndarray,  # OUT (n * itemsize,) uint8
) -> None:
    """Write the differences of neighbours byte by byte, the highest bytes first."""
    n, bits = np.uint64(len(table)), 8 * table.itemsize
    for p in range(table.itemsize):
        shift, at = bits - 8 - 8 * p, np.uint64(p) * n
        for i in range(np.uint64(1), n):
            step = table.dtype.type(table[i] - table[i - np.uint64(1)])  # wraps around
            planes[at + i] = np.uint8(((step << 1) ^ (step >> (bits - 1))) >> shift)
        if n > 0:
            step = table[0]
            planes[at] = np.uint8(((step << 1) ^ (step >> (bits - 1))) >> shift)


@kernel
def gather_bytes(
    planes: np.ndarray,  # IN  (n * itemsize,) uint8
    table: np.ndarray,  # OUT (n,) int16, int32 or int64
) -> None:
    """Undo ``spread_bytes``."""
    n, size = np.uint64(len(table)), table.itemsize
    low = np.uint64(0xFFFFFFFFFFFFFFFF) >> np.uint64(64 - 8 * size)
    before = table.dtype.type(0)
    for first in range(np.uint64(0), n, np.uint64(_CHUNK)):
        last = min(n, first + np.uint64(_CHUNK))
        for i in range(first, last):
            table[i] = planes[i]
        for p in range(1, size):
            at = np.uint64(p) * n
            for i in range(first, last):
                table[i] = table.dtype.type((table[i] << 8) | planes[at + i])
        for i in range(first, last):
            folded = np.uint64(table[i]) & low
            table[i] = table.dtype.type(np.int64(folded >> np.uint64(1)) ^ -np.int64(folded & np.uint64(1)))
        for i in range(first, last):
            before = table.dtype.type(before + table[i])
            table[i] = before
