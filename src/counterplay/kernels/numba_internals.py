"""All that touches numba's internals: the cache of kernels, arrays without owners, rows in vector registers, bits.

Nothing else in the package imports from ``numba.core`` or ``llvmlite``.  What is used here may change with any version
of numba, so the supported ones are pinned (``SUPPORTED``, and the same range in ``pyproject.toml``), and
``tests/kernels/test_numba_internals.py`` says which of the internals a new version has changed.

* **Cache.** numba's own cache looks at the file of a kernel only, so that after an update a kernel would keep the old
  code of those it calls from other files.  ``cache_on_disk`` stamps a kernel with every file of kernels that its file
  imports.  Constants from other packages are not seen: keep those that kernels use in this one.  Processes that start
  together, such as those of ``make test``, compile each kernel once: one compiles, the others wait for the file.
* **Memory.** The library of the compiler holds 70 MiB of memory although kernels that are loaded do not need it any
  more; ``release_compiler`` gives that back.
* **Borrowed arrays.** numba counts the references of an array wherever code hands it over, or takes it from a tuple,
  with atomic instructions; in walks over small games that was two thirds of the time.  ``borrow`` gives an array
  without an owner, which is not counted.
* **Rows.** The compiler makes vector instructions of long loops only; sums by card at the terminals of poker are short
  rows whose place depends on the cards.  A row of ``WIDE`` numbers is a type of its own, which numba keeps in a vector
  register: loaded, added, multiplied and stored by single instructions.  Rows lie in flat arrays of float32 or float64
  and are given by where they begin.
* **Bits.** Counting the bits of a word and finding the lowest one, by one machine instruction each.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import mmap
import operator
import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.compiler_lock import global_compiler_lock
from numba.core.datamodel import models
from numba.core.datamodel.registry import register_default
from numba.core.runtime.nrt import rtsys
from numba.extending import intrinsic, lower_builtin, type_callable

try:
    import fcntl
except ImportError:  # Windows: every process compiles for itself
    fcntl = None  # type: ignore[assignment]

SUPPORTED = ((0, 61), (0, 70))
"""Versions of numba that are supported: from the first on, below the second."""

KERNELS = Path(__file__).parent
"""The folder of all kernels."""

WIDE = 8
"""Numbers in a row."""

_LANE = ir.IntType(32)
_LONG = ir.IntType(64)


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


# ------------------------------------------------------------------------------------------ the cache on the disk


def cache_on_disk(compiled: Any, function: Callable[..., Any]) -> Any:
    """Keep what is compiled on the disk, as ``cache=True`` does, but for the stamp."""
    with contextlib.suppress(RuntimeError):  # raised where there is no folder that numba may write its cache into
        compiled._cache = _KernelCache(function)  # type: ignore[no-untyped-call]
        compiled.compile = _compile_once(compiled)
    return compiled


def _compile_once(compiled: Any) -> Callable[[Any], Any]:
    """Of several processes that need a kernel one compiles it; the others wait, and load it."""
    compile_, cache = compiled.compile, compiled._cache
    path = Path(cache.cache_path) / f"{cache._impl.filename_base}.lock"

    def compile_once(signature: Any) -> Any:
        with global_compiler_lock, _locked(path):
            return compile_(signature)

    return compile_once


_HELD: set[Path] = set()
"""Locks that this process holds: a kernel may come to itself while it is compiled; guarded by the compiler's lock."""


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file while the block runs; without one where files cannot be locked or written."""
    with contextlib.ExitStack() as stack:
        if fcntl is not None and path not in _HELD:
            with contextlib.suppress(OSError):
                path.parent.mkdir(parents=True, exist_ok=True)
                file = stack.enter_context(open(path, "w"))
                fcntl.flock(file, fcntl.LOCK_EX)
                _HELD.add(path)
                stack.callback(_HELD.discard, path)
        yield


def sources(file: Path) -> set[Path]:
    """A file of kernels and all files of kernels that it names, directly or not: those that it imports, at least."""
    near = _files(KERNELS if file.is_relative_to(KERNELS) else file.parent)
    found: set[Path] = set()
    waiting = [file]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting.extend(near[name] for name in near.keys() & _words(path))
    return found


@functools.cache
def _files(folder: Path) -> dict[str, Path]:
    return {path.stem: path for path in folder.rglob("*.py")}


@functools.cache
def _words(path: Path) -> set[str]:
    return set(re.findall(r"\w+", path.read_text("utf-8")))


@functools.cache
def _stamp(file: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(sources(file)):
        digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()


class _KernelCacheFiles(CompileResultCacheImpl):
    """The cache files of a kernel, valid while the stamp of its sources is the same."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        self.locator.get_source_stamp = lambda: _stamp(Path(function.__code__.co_filename))


class _KernelCache(FunctionCache):
    _impl_class = _KernelCacheFiles

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The kernel from the disk; None, so that it is compiled again, if its files cannot be read.

        numba would load all that it can compile first, which takes 25 MiB and a third of a second; what has been
        compiled needs its runtime only.
        """
        try:
            rtsys.initialize(target_context)
            with self._guard_against_spurious_io_errors():
                return self._load_overload(sig, target_context)  # type: ignore[no-untyped-call]
            return None
        except Exception:  # unpickling what another version, or a full disk, has left raises anything
            self.flush()  # type: ignore[no-untyped-call]
            return None


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
