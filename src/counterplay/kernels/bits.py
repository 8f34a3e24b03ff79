"""Bits of 64-bit words, one machine instruction each, for sets kept in a word."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import intrinsic


@intrinsic
def count_bits(_context: Any, word: Any) -> Any:
    """How many bits of a word are set, as an int64."""

    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), build


@intrinsic
def lowest_bit(_context: Any, word: Any) -> Any:
    """The place of the lowest set bit of a word, as an int64; 64 when none is set."""

    def build(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        zero_gives_64 = context.get_constant(types.boolean, False)
        return builder.cttz(arguments[0], zero_gives_64)

    return types.int64(types.uint64), build
