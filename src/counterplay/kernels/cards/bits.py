"""Bits of 64-bit words, one machine instruction each, for sets that are kept in a word."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import intrinsic


def _count_bits(_typing: Any, _word: Any) -> Any:
    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), build


def _lowest_bit(_typing: Any, _word: Any) -> Any:
    def build(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        zero_is_undefined = context.get_constant(types.boolean, False)
        return builder.cttz(arguments[0], zero_is_undefined)

    return types.int64(types.uint64), build


count_bits: Any = intrinsic(_count_bits)
"""How many bits of a word are set, as an int64; in kernels only."""

lowest_bit: Any = intrinsic(_lowest_bit)
"""The place of the lowest bit of a word that is set, as an int64, 64 if none is; in kernels only."""
