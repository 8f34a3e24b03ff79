"""Several numbers in one instruction: rows of ``LANES`` numbers that a kernel scales, adds and multiplies as wholes.

The compiler makes vector instructions of long loops only; the sums by card at the ends of poker are short rows whose
place depends on the cards.  So these steps are written as vectors.  Rows lie in flat float64 arrays and are given by
where they begin; the sums are made in a fixed order, which gives the same bits on every machine.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

LANES = 4

_DOUBLE = ir.DoubleType()
_ROW = ir.VectorType(_DOUBLE, LANES)
_SIZE = ir.IntType(32)


def _place(context: Any, builder: Any, kinds: Any, values: Any, number: int) -> Any:
    """The address of the row that argument ``number``, an array, has at the argument after it."""
    array = context.make_array(kinds[number])(context, builder, value=values[number])
    index = context.cast(builder, values[number + 1], kinds[number + 1], types.intp)
    return builder.bitcast(builder.gep(array.data, [index]), _ROW.as_pointer())


def _load(builder: Any, place: Any) -> Any:
    return builder.load(place, align=8)


def _spread(builder: Any, number: Any) -> Any:
    """A row that has a number in all lanes."""
    row = builder.insert_element(ir.Constant(_ROW, ir.Undefined), number, ir.Constant(_SIZE, 0))
    zeros = ir.Constant(ir.VectorType(_SIZE, LANES), [0] * LANES)
    return builder.shuffle_vector(row, row, zeros)


def _scale_row(context: Any, target: Any, t: Any, source: Any, s: Any, factor: Any) -> Any:
    """``target = factor * source``."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        row = builder.fmul(
            _load(builder, _place(context, builder, signature.args, values, 2)), _spread(builder, values[4])
        )
        builder.store(row, _place(context, builder, signature.args, values, 0), align=8)
        return context.get_dummy_value()

    return types.void(target, t, source, s, types.float64), generate


def _add_row(context: Any, target: Any, t: Any, source: Any, s: Any) -> Any:
    """``target += source``."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        place = _place(context, builder, signature.args, values, 0)
        row = builder.fadd(_load(builder, place), _load(builder, _place(context, builder, signature.args, values, 2)))
        builder.store(row, place, align=8)
        return context.get_dummy_value()

    return types.void(target, t, source, s), generate


def _add_rest(
    context: Any, target: Any, t: Any, keep: Any, total: Any, a: Any, one: Any, b: Any, other: Any, c: Any, sign: Any
) -> Any:
    """``target = keep * target + sign * (total - one - other)``."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        kinds = signature.args
        place = _place(context, builder, kinds, values, 0)
        rest = builder.fsub(
            builder.fsub(
                _load(builder, _place(context, builder, kinds, values, 3)),
                _load(builder, _place(context, builder, kinds, values, 5)),
            ),
            _load(builder, _place(context, builder, kinds, values, 7)),
        )
        kept = builder.fmul(_load(builder, place), _spread(builder, values[2]))
        row = builder.fadd(kept, builder.fmul(rest, _spread(builder, values[9])))
        builder.store(row, place, align=8)
        return context.get_dummy_value()

    return types.void(target, t, types.float64, total, a, one, b, other, c, types.float64), generate


def _dot_rows(context: Any, first: Any, f: Any, second: Any, s: Any) -> Any:
    """The sum of the products."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        one = _load(builder, _place(context, builder, signature.args, values, 0))
        other = _load(builder, _place(context, builder, signature.args, values, 2))
        row, width = builder.fmul(one, other), LANES
        while width > 1:
            width //= 2
            halves = [
                builder.shuffle_vector(
                    row, row, ir.Constant(ir.VectorType(_SIZE, width), list(range(low, low + width)))
                )
                for low in (0, width)
            ]
            row = builder.fadd(*halves)
        return builder.extract_element(row, ir.Constant(_SIZE, 0))

    return types.float64(first, f, second, s), generate


scale_row: Any = intrinsic(_scale_row)
add_row: Any = intrinsic(_add_row)
add_rest: Any = intrinsic(_add_rest)
dot_rows: Any = intrinsic(_dot_rows)
