"""What kernels need of numba's internals: arrays without owners, rows in vector registers, bits.

Nothing in the package but this file and ``kernels.compiled_code`` imports from ``numba.core`` or ``llvmlite``.  What
they use may change with any version of numba, so the supported ones are pinned (``SUPPORTED``, and the same range in
``pyproject.toml``), and ``tests/kernels/test_numba_internals.py`` says which of them a new version has changed.

* **Memory.** The library of the compiler holds 70 MiB of memory although kernels that are loaded do not need it any
  more; ``release_compiler`` gives that back.
* **Borrowed arrays.** numba counts the references of an array wherever code hands it over, or takes it from a tuple,
  with atomic instructions; in walks over small games that was two thirds of the time.  ``borrow`` gives an array
  without an owner, which is not counted.
* **Held tuples.** A named tuple of arrays is some hundred numbers, which numba hands over one by one to each function.
  ``held`` puts it into memory, and what is handed over is the address; Python does the same by ``hold``.
* **Rows.** The compiler makes vector instructions of long loops only; sums by card at the terminals of poker are short
  rows whose place depends on the cards.  A row of ``WIDE`` numbers is a type of its own, which numba keeps in a vector
  register: loaded, added, multiplied and stored by single instructions.  Rows lie in flat arrays of float32 or float64
  and are given by where they begin.
* **Bits.** Counting the bits of a word and finding the lowest one, by one machine instruction each.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import mmap
import operator
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
from llvmlite import ir
from numba._dispatcher import compute_fingerprint
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.datamodel.registry import register_default
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import NativeValue, intrinsic, lower_builtin, type_callable, unbox

SUPPORTED = ((0, 61), (0, 70))
"""Versions of numba that are supported: from the first on, below the second."""

WIDE = 8
"""Numbers in a row."""

_LANE = ir.IntType(32)
_LONG = ir.IntType(64)
_MASK = 2**64 - 1
_Fields = TypeVar("_Fields")


def unsupported(version: str) -> str | None:
    """What to say about a version of numba; None if it is supported."""
    (low, high), parts = SUPPORTED, re.findall(r"\d+", version)
    if len(parts) >= 2 and low <= (int(parts[0]), int(parts[1])) < high:
        return None
    least, most = (".".join(map(str, bound)) for bound in SUPPORTED)
    return (
        f"numba {version} is installed, and counterplay supports numba>={least},<{most}: its kernels use internals of "
        f'numba that may have changed; install a supported one with: pip install "numba>={least},<{most}"'
    )


if (_complaint := unsupported(numba.__version__)) is not None:
    warnings.warn(_complaint, stacklevel=2)


# ------------------------------------------------------------------------------------------ memory of the compiler


def release_compiler() -> int:
    """Give the memory of the compiler's library back to the system, and return how many bytes that were.

    Only what is the same in the file, so that it is read from there again if something is compiled or loaded later.
    Nothing happens where the system does not tell what that is (``/proc``, Linux).
    """
    given = 0
    with contextlib.suppress(OSError, AttributeError, ValueError):
        advise = ctypes.CDLL(None, use_errno=True).madvise
        advise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
        for start, size, resident in _clean_pages(Path("/proc/self/smaps").read_text("ascii", "replace")):
            if advise(start, size, mmap.MADV_DONTNEED) == 0:
                given += resident
    return given


def _clean_pages(maps: str, library: str = "libllvmlite") -> Iterator[tuple[int, int, int]]:
    """Where a library is in memory as in its file, and not writable: start, size and resident bytes of each part."""
    for part in re.split(r"^(?=[0-9a-f]+-[0-9a-f]+ )", maps, flags=re.MULTILINE):
        head = part.partition("\n")[0].split(maxsplit=5)
        if len(head) < 6 or library not in head[5].rpartition("/")[2] or head[1] not in ("r-xp", "r--p"):
            continue
        held = {name: int(size) * 1024 for name, size in re.findall(r"^(\w+): +(\d+) kB$", part, re.MULTILINE)}
        if held["Anonymous"] == held["Private_Dirty"] == held["Shared_Dirty"] == 0:
            start, end = (int(edge, 16) for edge in head[0].split("-"))
            yield start, end - start, held["Rss"]


# ------------------------------------------------------------------------------------------ borrowed arrays


def _borrow(context: Any, given: Any) -> Any:
    """An array, or a tuple with arrays, without its owner, for use inside a kernel while the caller holds it."""

    def one(context: Any, builder: Any, kind: Any, value: Any) -> Any:
        if not isinstance(kind, types.Array):
            return value
        array = context.make_array(kind)(context, builder, value=value)
        array.meminfo = cgutils.get_null_value(array.meminfo.type)  # type: ignore[no-untyped-call]
        return array._getvalue()

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind, value = signature.args[0], arguments[0]
        if not isinstance(kind, types.BaseTuple):
            return one(context, builder, kind, value)
        parts: list[Any] = list(signature.args[0])
        for number, part in enumerate(parts):
            bare = one(context, builder, part, builder.extract_value(value, number))
            value = builder.insert_value(value, bare, number)
        return value

    return given(given), generate


borrow: Any = intrinsic(_borrow)


# ------------------------------------------------------------------------------------------ held tuples


class HeldType(types.Type):
    """A named tuple that lies in memory, given by its address: words of eight bytes, those of each field in turn.

    An array is where its numbers are, its shape, its strides and how many numbers it has; all else is one word.
    """

    def __init__(self, kind: Any) -> None:
        self.kind = kind
        digest = hashlib.sha256(kind.name.encode()).hexdigest()[:16]  # names of functions hold those of all types
        super().__init__(name=f"Held({kind.instance_class.__name__}, {digest})")

    def place(self, number: int) -> int:
        """The first word of a field; of the one after the last, how many words there are."""
        return sum(2 + 2 * part.ndim if isinstance(part, types.Array) else 1 for part in self.kind.types[:number])


@register_default(HeldType)
class _HeldModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _LONG.as_pointer())  # type: ignore[no-untyped-call]


class HeldTuple:
    """A named tuple of arrays and numbers, in memory as kernels read it; it has the fields of the tuple.

    Python hands over one address.  Code that unpacks dozens of arrays takes a second to compile, in every kernel.
    """

    __slots__ = ("_memory", "_numba_type_", "address", "fields")

    def __init__(self, fields: Any) -> None:
        self.fields = fields
        self._memory = np.array([word for one in fields for word in _words(one)], np.uint64)
        self.address = self._memory.__array_interface__["data"][0]
        kind = compute_fingerprint(fields)
        if kind not in _HELD:
            _HELD[kind] = HeldType(numba.typeof(fields))  # type: ignore[no-untyped-call]
        self._numba_type_ = _HELD[kind]

    def __getattr__(self, name: str) -> Any:
        return getattr(object.__getattribute__(self, "fields"), name)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.fields)

    def __reduce__(self) -> Any:
        return HeldTuple, (self.fields,)  # a copy has addresses of its own


def hold(fields: _Fields) -> _Fields:
    """A named tuple as kernels take it, by its address: a ``HeldTuple``, which has the same fields."""
    return cast(_Fields, HeldTuple(fields))


_HELD: dict[bytes, HeldType] = {}
"""The types of held tuples, by what the types of their fields depend on."""


def _words(value: Any) -> list[int]:
    if isinstance(value, np.ndarray):
        address, strides = value.__array_interface__["data"][0], (step & _MASK for step in value.strides)
        return [address, *value.shape, *strides, value.size]
    if isinstance(value, float):
        return [int(np.float64(value).view(np.uint64))]
    return [int(value or 0) & _MASK]


@unbox(HeldType)  # type: ignore[no-untyped-call, untyped-decorator]
def _unbox_held(kind: Any, given: Any, scope: Any) -> Any:
    number = scope.pyapi.object_getattr_string(given, "address")
    address = scope.pyapi.long_as_voidptr(number)
    scope.pyapi.decref(number)
    return NativeValue(scope.builder.bitcast(address, _LONG.as_pointer()))  # type: ignore[no-untyped-call]


def _word(builder: Any, address: Any, at: int, kind: Any) -> Any:
    """The address of a word that holds a value of a type."""
    return builder.bitcast(builder.gep(address, [ir.Constant(_LONG, at)], inbounds=True), kind.as_pointer())


def _held(context: Any, given: Any) -> Any:
    """A named tuple with arrays, borrowed, and copied to a place of the kernel that calls this.

    Helpers then take one address, and not all that there is to know about dozens of arrays.  Once they are put into
    the kernel nothing is left of the place.
    """
    held = given if isinstance(given, HeldType) else HeldType(given)
    kind = held.kind

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        size = ir.Constant(_LONG, held.place(len(kind.types)))
        place = cgutils.alloca_once(builder, _LONG, size=size)  # type: ignore[no-untyped-call]
        for number in range(len(kind.types)):
            if isinstance(given, HeldType):
                value = _get_held(context, builder, given, values[0], number)
            else:
                value = builder.extract_value(values[0], number)
            _set_held(context, builder, held, place, number, value)
        return place

    return held(given), generate


def _set_held(context: Any, builder: Any, held: Any, place: Any, number: int, value: Any) -> None:
    part, at = held.kind.types[number], held.place(number)
    if not isinstance(part, types.Array):
        builder.store(value, _word(builder, place, at, value.type))
        return
    array = context.make_array(part)(context, builder, value=value)
    builder.store(array.data, _word(builder, place, at, array.data.type))
    sizes = [builder.extract_value(row, i) for row in (array.shape, array.strides) for i in range(part.ndim)]
    for step, size in enumerate([*sizes, array.nitems], 1):
        builder.store(size, _word(builder, place, at + step, _LONG))


def _get_held(context: Any, builder: Any, held: Any, place: Any, number: int) -> Any:
    part, at = held.kind.types[number], held.place(number)
    if not isinstance(part, types.Array):
        return builder.load(_word(builder, place, at, context.get_value_type(part)))
    array = context.make_array(part)(context, builder)
    array.data = builder.load(_word(builder, place, at, array.data.type))
    sizes = [builder.load(_word(builder, place, at + 1 + step, _LONG)) for step in range(2 * part.ndim + 1)]
    array.shape = cgutils.pack_array(builder, sizes[: part.ndim])  # type: ignore[no-untyped-call]
    array.strides = cgutils.pack_array(builder, sizes[part.ndim : -1])  # type: ignore[no-untyped-call]
    array.nitems = sizes[-1]
    array.itemsize = ir.Constant(_LONG, int(part.dtype.bitwidth) // 8 if part.dtype != types.boolean else 1)
    for name in ("meminfo", "parent"):
        setattr(array, name, cgutils.get_null_value(getattr(array, name).type))  # type: ignore[no-untyped-call]
    return array._getvalue()


@infer_getattr
class _HeldFields(AttributeTemplate):
    key = HeldType

    def generic_resolve(self, kind: Any, name: str) -> Any:  # type: ignore[override]
        return kind.kind.types[kind.kind.fields.index(name)] if name in kind.kind.fields else None


@lower_getattr_generic(HeldType)  # type: ignore[no-untyped-call, untyped-decorator]
def _held_field(context: Any, builder: Any, kind: Any, value: Any, name: str) -> Any:
    return _get_held(context, builder, kind, value, kind.kind.fields.index(name))


held: Any = intrinsic(_held)


# ------------------------------------------------------------------------------------------ rows in registers


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


def _add_row(context: Any, array: Any, at: Any, row: Any) -> Any:
    """Add a row, whose numbers may be narrower, to an array, from a place on."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        index = context.cast(builder, values[1], signature.args[1], types.intp)
        place, more = _address(context, builder, array, values[0], index), values[2]
        if row.dtype != array.dtype:
            more = builder.fpext(more, place.type.pointee)
        builder.store(builder.fadd(builder.load(place, align=_bytes(array)), more), place, align=_bytes(array))
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


def _transposed(builder: Any, rows: list[Any]) -> list[Any]:
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
        found = _transposed(builder, [builder.load(part, align=_bytes(vectors)) for part in parts])
        for row, line in zip(found, lines, strict=True):
            builder.store(row, line, align=_bytes(rows))
        return context.get_dummy_value()

    return types.void(vectors, places, h, rows, r), generate


def _vectors_from_rows(context: Any, vectors: Any, places: Any, h: Any, rows: Any, r: Any) -> Any:
    """``vectors[places[lane] + h + i] = rows[r + i * WIDE + lane]`` for ``WIDE`` i and lanes."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        parts, lines = _square(context, builder, signature, values)
        found = _transposed(builder, [builder.load(line, align=_bytes(rows)) for line in lines])
        for row, part in zip(found, parts, strict=True):
            builder.store(row, part, align=_bytes(vectors))
        return context.get_dummy_value()

    return types.void(vectors, places, h, rows, r), generate


load_row: Any = intrinsic(_load_row)
store_row: Any = intrinsic(_store_row)
add_row: Any = intrinsic(_add_row)
zero_row: Any = intrinsic(_zero_row)
spread_row: Any = intrinsic(_spread_row)
row_sum: Any = intrinsic(_row_sum)
rows_from_vectors: Any = intrinsic(_rows_from_vectors)
vectors_from_rows: Any = intrinsic(_vectors_from_rows)


# ------------------------------------------------------------------------------------------ bits of words


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
