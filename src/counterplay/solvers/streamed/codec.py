"""A lossless code for tables: differences of neighbours, their bytes sorted, and Zstandard (Collet, RFC 8878).

Johanson 2016, section 9.3 does not say how the tables were compressed.  The numbers of a row belong to the hands of a
public state in the order of their classes: by rank at the last deals, where nearly all of the numbers are, so that
neighbours are alike.  Differences run on from row to row, which costs one large difference each.  The lowest level of
Zstandard is used: on regrets of hold'em higher ones take twice the time and compress no better.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray

from counterplay.kernels.byte_planes import gather_bytes, spread_bytes

LEVEL = 1
"""Of Zstandard."""

Coded = NDArray[np.uint8]


class _Space(threading.local):
    """What a thread codes with: the coders are not safe to share, and fresh memory costs as much as coding."""

    def __init__(self) -> None:
        self.compressor = zstandard.ZstdCompressor(level=LEVEL)
        self.decompressor = zstandard.ZstdDecompressor()
        self._planes: Coded = np.zeros(0, np.uint8)

    def planes(self, size: int) -> Coded:
        """Some bytes to work in."""
        if len(self._planes) < size:
            self._planes = np.zeros(size, np.uint8)
        return self._planes[:size]


_SPACE = _Space()


def encode(table: NDArray[Any]) -> Coded:
    """The code of a flat array of integers or floats of 2, 4 or 8 bytes."""
    planes = _SPACE.planes(table.nbytes)
    spread_bytes(_integers(table), planes)
    return np.frombuffer(_SPACE.compressor.compress(planes.data), np.uint8)


def decode(code: Coded, table: NDArray[Any]) -> None:
    """Fill an array from its code.  Raises ValueError if that is damaged or of another length."""
    planes = _SPACE.planes(table.nbytes)
    try:
        with _SPACE.decompressor.stream_reader(code.data) as reader:
            found = reader.readinto(planes.data) if len(planes) else 0
            longer = bool(reader.read(1))
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from None
    if found != len(planes) or longer:
        raise ValueError(f"it holds {'more' if longer else 'less'} than {len(table):,} numbers")
    gather_bytes(planes, _integers(table))


def _integers(table: NDArray[Any]) -> NDArray[Any]:
    """The same bytes as integers."""
    return table.view(np.dtype(f"i{table.dtype.itemsize}"))
