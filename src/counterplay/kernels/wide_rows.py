"""Rows of ``WIDE`` numbers as values of a kernel: loaded, added, multiplied and stored by single instructions.

The compiler makes vector instructions of long loops only; sums by card at the ends of poker are short rows whose place
depends on the cards.  Here a row is a type of its own, which numba keeps in a vector register.  Rows lie in flat
arrays of float32 or float64 and are given by where they begin.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.datamodel import models
from numba.core.datamodel.registry import register_default
from numba.extending import intrinsic, lower_builtin, type_callable

WIDE = 8

_LANE = ir.IntType(32)
_LONG = ir.IntType(64)


def row_space(count: int, kind: Any = np.float64) -> Any:
    """An array of rows of zeros, none of which lies across the border of a cache line."""
    line, size = 64, np.dtype(kind).itemsize
    held = np.zeros(count * WIDE + line // size, kind)
    skip = -held.ctypes.data % line // size
    return held[skip : skip + count * WIDE]


class RowType(types.Type):
    """``WIDE`` numbers of a type."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        super().__init__(name=f"Row({dtype}, {WIDE})")


@register_default(RowType)
class _RowModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        number = ir.FloatType() if kind.dtype == types.float32 else ir.DoubleType()
        super().__init__(manager, kind, ir.VectorType(number, WIDE))  # type: ignore[no-untyped-call]


def _arithmetic(function: Any, instruction: str) -> None:
    def typer(context: Any) -> Any:
        return lambda one, other: one if isinstance(one, RowType) and one == other else None

    def lower(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return getattr(builder, instruction)(*values)

    type_callable(function)(typer)
    lower_builtin(function, RowType, RowType)(lower)  # type: ignore[no-untyped-call]


_arithmetic(operator.add, "fadd")
_arithmetic(operator.sub, "fsub")
_arithmetic(operator.mul, "fmul")


def _address(context: Any, builder: Any, kind: Any, value: Any, index: Any) -> Any:
    array = context.make_array(kind)(context, builder, value=value)
    row = ir.VectorType(context.get_value_type(kind.dtype), WIDE)
    return builder.bitcast(builder.gep(array.data, [index]), row.as_pointer())


def _bytes(kind: Any) -> int:
    return int(kind.dtype.bitwidth) // 8


def _load_row(context: Any, array: Any, at: Any) -> Any:
    """The row of an array that begins at a place."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        index = context.cast(builder, values[1], signature.args[1], types.intp)
        return builder.load(_address(context, builder, array, values[0], index), align=_bytes(array))

    return RowType(array.dtype)(array, at), generate


def _store_row(context: Any, array: Any, at: Any, row: Any) -> Any:
    """Put a row into an array, from a place on."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        index = context.cast(builder, values[1], signature.args[1], types.intp)
        builder.store(values[2], _address(context, builder, array, values[0], index), align=_bytes(array))
        return context.get_dummy_value()

    return types.void(array, at, row), generate


def _shuffle(builder: Any, one: Any, other: Any, order: list[int]) -> Any:
    return builder.shuffle_vector(one, other, ir.Constant(ir.VectorType(_LANE, len(order)), order))


def _zero_row(context: Any, array: Any) -> Any:
    """A row of zeros, of the type of an array."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return ir.Constant(ir.VectorType(context.get_value_type(array.dtype), WIDE), [0.0] * WIDE)

    return RowType(array.dtype)(array), generate


def _spread_row(context: Any, number: Any) -> Any:
    """A row that has a number in all lanes."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        empty = ir.Constant(ir.VectorType(values[0].type, WIDE), ir.Undefined)
        row = builder.insert_element(empty, values[0], ir.Constant(_LANE, 0))
        return _shuffle(builder, row, row, [0] * WIDE)

    return RowType(number)(number), generate


def _row_sum(context: Any, row: Any) -> Any:
    """The sum of a row, always in the same order."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        total, half = values[0], WIDE
        while half > 1:
            half //= 2
            total = builder.fadd(*(_shuffle(builder, total, total, list(range(at, at + half))) for at in (0, half)))
        return builder.extract_element(total, ir.Constant(_LANE, 0))

    return row.dtype(row), generate


def _turned(builder: Any, rows: list[Any]) -> list[Any]:
    """``WIDE`` rows, transposed: blocks on the diagonal stay, the others change places, at every scale."""
    half = WIDE // 2
    while half:
        for at in range(WIDE):
            if not at & half:
                one, other = rows[at], rows[at + half]
                low = [lane if not lane & half else WIDE + lane - half for lane in range(WIDE)]
                high = [lane + half if not lane & half else WIDE + lane for lane in range(WIDE)]
                rows[at], rows[at + half] = _shuffle(builder, one, other, low), _shuffle(builder, one, other, high)
        half //= 2
    return rows


def _square(context: Any, builder: Any, signature: Any, values: Any) -> tuple[list[Any], list[Any]]:
    """Addresses of the parts of vectors and of the rows that hold the same square of numbers."""
    vectors, places, _, rows, _ = signature.args
    step, at = (context.cast(builder, values[i], signature.args[i], types.intp) for i in (2, 4))
    begin = context.make_array(places)(context, builder, value=values[1]).data
    parts, lines = [], []
    for lane in range(WIDE):
        start = builder.load(builder.gep(begin, [ir.Constant(_LONG, lane)]))
        parts.append(_address(context, builder, vectors, values[0], builder.add(start, step)))
        lines.append(_address(context, builder, rows, values[3], builder.add(at, ir.Constant(_LONG, lane * WIDE))))
    return parts, lines


def _rows_from_vectors(context: Any, vectors: Any, places: Any, h: Any, rows: Any, r: Any) -> Any:
    """``rows[r + i * WIDE + lane] = vectors[places[lane] + h + i]`` for ``WIDE`` i and lanes."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        parts, lines = _square(context, builder, signature, values)
        found = _turned(builder, [builder.load(part, align=_bytes(vectors)) for part in parts])
        for row, line in zip(found, lines, strict=True):
            builder.store(row, line, align=_bytes(rows))
        return context.get_dummy_value()

    return types.void(vectors, places, h, rows, r), generate


def _vectors_from_rows(context: Any, vectors: Any, places: Any, h: Any, rows: Any, r: Any) -> Any:
    """``vectors[places[lane] + h + i] = rows[r + i * WIDE + lane]`` for ``WIDE`` i and lanes."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        parts, lines = _square(context, builder, signature, values)
        found = _turned(builder, [builder.load(line, align=_bytes(rows)) for line in lines])
        for row, part in zip(found, parts, strict=True):
            builder.store(row, part, align=_bytes(vectors))
        return context.get_dummy_value()

    return types.void(vectors, places, h, rows, r), generate


load_row: Any = intrinsic(_load_row)
store_row: Any = intrinsic(_store_row)
zero_row: Any = intrinsic(_zero_row)
spread_row: Any = intrinsic(_spread_row)
row_sum: Any = intrinsic(_row_sum)
rows_from_vectors: Any = intrinsic(_rows_from_vectors)
vectors_from_rows: Any = intrinsic(_vectors_from_rows)
