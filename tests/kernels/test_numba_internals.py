"""The internals of numba that kernels use: each is tried alone, and a failure says which one a version has changed."""

from __future__ import annotations

import contextlib
import copy
import re
import subprocess
import sys
import tomllib
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

from counterplay.kernels import compiled_code, jit
from counterplay.kernels import numba_internals as internals
from counterplay.kernels.jit import kernel
from counterplay.kernels.numba_internals import (
    SUPPORTED,
    WIDE,
    borrow,
    count_bits,
    held,
    hold,
    load_row,
    lowest_bit,
    row_space,
    row_sum,
    rows_from_vectors,
    spread_row,
    store_row,
    vectors_from_rows,
    zero_row,
)  # fmt: skip
from counterplay.poker.evaluator import rank_holes
from counterplay.runs import solve
from counterplay.solvers import solver

LEAST, MOST = (".".join(map(str, bound)) for bound in SUPPORTED)
ROOT = Path(__file__).parents[2]


@contextlib.contextmanager
def uses(what: str) -> Iterator[None]:
    """Say which internal a failure is about."""
    try:
        yield
    except Exception as error:
        message = f"numba {numba.__version__} changed {what}: counterplay supports {LEAST} up to, but not, {MOST}"
        raise AssertionError(f"{message} ({type(error).__name__}: {error})") from error


@kernel
def scaled_copy(values: Any, out: Any) -> None:
    values, out = borrow(values), borrow(out)
    for at in range(0, len(values), WIDE):
        row = load_row(values, at)
        store_row(out, at, (row + row) * spread_row(values[0]) - zero_row(values))


@kernel
def sum_of_row(values: Any) -> float:
    return row_sum(load_row(values, 0))


@kernel
def borrowed_sum(pair: Any) -> float:
    first, second = borrow(pair)
    return first[0] + second[1]


class Mixed(NamedTuple):
    """Every kind of field that kernels are given."""

    flags: Any
    shift: int
    table: Any
    share: float
    negative: bool
    nothing: Any


@kernel
def mixed_sum(given: Any) -> float:
    place = held(given)
    total = 0.0
    for row in range(place.table.shape[0]):
        for column in range(place.table.shape[1]):
            if place.flags[column]:
                total += place.table[row, column]
    total = (total + place.shift) * place.share
    place.table[0, 0] += 1.0
    return -total if place.negative else total


@kernel
def transposed(vectors: Any, places: Any, rows: Any, back: Any) -> None:
    rows_from_vectors(vectors, places, 0, rows, 0)
    vectors_from_rows(back, places, 0, rows, 0)


@kernel
def bits_of(word: Any) -> tuple[int, int]:
    return count_bits(word), lowest_bit(word)


def test_the_installed_version_is_supported() -> None:
    assert internals.unsupported(numba.__version__) is None


@pytest.mark.parametrize("version", ["0.60.0", "0.70.0", "1.0", "unknown"])
def test_another_version_is_named_with_the_supported_ones(version: str) -> None:
    said = internals.unsupported(version)
    assert said is not None
    assert said.startswith(f"numba {version} is installed, and counterplay supports numba>={LEAST},<{MOST}")


@pytest.mark.parametrize("version", ["0.61.0", "0.61.2rc1", "0.69.9", "0.68.1+local"])
def test_versions_of_the_range_pass(version: str) -> None:
    assert internals.unsupported(version) is None


def test_the_range_is_the_one_that_is_installed_by() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert f"numba>={LEAST},<{MOST}" in project["project"]["dependencies"]


def test_internals_are_imported_in_two_files() -> None:
    pattern = re.compile(r"numba\.(core|np|extending|cpython)|llvmlite|\b_cache\b")
    found = {
        path.relative_to(compiled_code.KERNELS).as_posix()
        for path in compiled_code.KERNELS.rglob("*.py")
        if pattern.search(path.read_text("utf-8"))
    }
    assert found == {"compiled_code.py", "numba_internals.py"}


def test_the_cache_has_our_stamp() -> None:
    with uses("the cache of compiled functions (numba.core.caching)"):
        cache: Any = scaled_copy._cache  # type: ignore[attr-defined]
        assert isinstance(cache, compiled_code._KernelCache)
        assert cache._impl.locator.get_source_stamp() == compiled_code._stamp(Path(__file__))


def test_a_kernel_of_the_cache_runs_without_the_compiler() -> None:
    """What numba needs to compile is not loaded for kernels from the disk; a further one is compiled nevertheless."""
    script = """
import sys
import numpy as np
from counterplay.poker.evaluator import rank_holes
print(rank_holes((0, 5, 9, 13, 20), np.array([[1, 2], [50, 51]], np.uint8)).tolist(), "numba.np.linalg" in sys.modules)
import numba
print(numba.njit(lambda x: np.sqrt(x).sum())(np.array([4.0, 9.0])), "numba.np.linalg" in sys.modules)
"""
    ranks = rank_holes((0, 5, 9, 13, 20), np.array([[1, 2], [50, 51]], np.uint8)).tolist()  # in the cache from now on
    with uses("the cache of compiled functions (numba.core.caching), and the runtime of what it holds (rtsys)"):
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        assert done.stdout.splitlines() == [f"{ranks} False", "5.0 True"]


def test_a_kernel_without_a_writable_folder_still_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(function: Any) -> Any:
        raise RuntimeError("no locator")

    monkeypatch.setattr(compiled_code, "_KernelCache", refuse)
    with uses("how a dispatcher holds its cache"):
        assert jit.kernel(lambda x: x + 1)(2) == 3


@pytest.mark.parametrize("held_by_python", [False, True])
@pytest.mark.parametrize("step", [1, 2])
def test_held_tuples_are_read_by_their_address(held_by_python: bool, step: int) -> None:
    """Arrays, with strides, and numbers, with signs; what a kernel writes is in the arrays."""
    flags, table = np.array([True, False, True]), np.arange(12.0).reshape(4, 3)[::step]
    given = Mixed(flags, -7, table, 0.25, True, None)
    expected = -(table[:, flags].sum() - 7) * 0.25
    with uses("how named tuples, arrays and arguments of Python are given to kernels (unbox, make_array)"):
        assert mixed_sum(hold(given) if held_by_python else given) == expected
        assert table[0, 0] == 1.0


def test_copies_of_held_tuples_have_arrays_of_their_own() -> None:
    first = hold(Mixed(np.array([True, True, True]), 0, np.zeros((4, 3)), 1.0, False, None))
    second = copy.deepcopy(first)
    second.table[:] = 2.0
    assert (mixed_sum(first), mixed_sum(second)) == (0.0, 24.0)
    assert [table[0, 0] for table in (first.table, second.table)] == [1.0, 3.0]


def test_borrowed_arrays_are_read_and_not_counted() -> None:
    with uses("how arrays hold their owner (make_array, meminfo)"):
        first, second = np.array([1.0, 2.0]), np.array([3.0, 4.0])
        fresh = numba.njit(borrowed_sum.py_func)  # type: ignore[attr-defined]
        assert fresh((first, second)) == 5.0
        code = next(iter(fresh.inspect_llvm().values()))
        body = code[code.index("define") :].split("\ndefine ")[0]
        assert "NRT_incref" not in body


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_rows_are_loaded_stored_added_and_multiplied(kind: type) -> None:
    with uses("types, data models, lowering or intrinsics (numba.extending, numba.core.datamodel, llvmlite.ir)"):
        values = row_space(3, kind)
        values[:] = np.random.default_rng(1).normal(size=3 * WIDE)
        out = row_space(3, kind)
        scaled_copy(values, out)
        np.testing.assert_array_equal(out, (values + values) * values[0])
        assert out.ctypes.data % 64 == 0
        pairs = values[: WIDE // 2] + values[WIDE // 2 : WIDE]
        pairs = pairs[:2] + pairs[2:]
        assert sum_of_row(values) == pairs[0] + pairs[1]


def test_rows_are_transposed() -> None:
    with uses("shuffles of vectors (llvmlite.ir)"):
        vectors = np.random.default_rng(2).normal(size=WIDE * 11)
        places = np.arange(WIDE, dtype=np.uint64) * np.uint64(11)
        rows, back = row_space(WIDE), np.zeros(WIDE * 11)
        transposed(vectors, places, rows, back)
        square = vectors.reshape(WIDE, 11)[:, :WIDE]
        np.testing.assert_array_equal(rows.reshape(WIDE, WIDE), square.T)
        np.testing.assert_array_equal(back.reshape(WIDE, 11)[:, :WIDE], square)


def test_bits_are_counted() -> None:
    with uses("instructions for bits (builder.ctpop, builder.cttz)"):
        assert bits_of(np.uint64(0b1011000)) == (3, 3)
        assert bits_of(np.uint64(0)) == (0, 64)
        assert bits_of(np.uint64(2**64 - 1)) == (64, 0)


def test_a_failure_names_the_version_and_what_changed() -> None:
    with (
        pytest.raises(AssertionError, match=rf"numba .* changed rows: counterplay supports {LEAST} .*KeyError"),
        uses("rows"),
    ):
        raise KeyError("gone")


def test_an_unsupported_version_warns_at_import(monkeypatch: pytest.MonkeyPatch) -> None:
    source = Path(internals.__file__).read_text("utf-8")
    head = source[: source.index("# ----")]
    monkeypatch.setattr(numba, "__version__", "0.99.1")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        exec(compile(head, internals.__file__, "exec"), {"__name__": "fresh", "__file__": internals.__file__})
    assert [str(one.message) for one in caught if "numba 0.99.1 is installed" in str(one.message)] != []


MAPS = """\
7f0000000000-7f0000004000 r--p 00000000 08:01 42  /x/llvmlite/binding/libllvmlite.so
Rss:                  12 kB
Shared_Dirty:          0 kB
Private_Dirty:         0 kB
Anonymous:             0 kB
VmFlags: rd mr mw me
7f0000004000-7f0000010000 r-xp 00004000 08:01 42  /x/llvmlite/binding/libllvmlite.so
Rss:                  40 kB
Shared_Dirty:          0 kB
Private_Dirty:         0 kB
Anonymous:             0 kB
7f0000010000-7f0000012000 r--p 00010000 08:01 42  /x/llvmlite/binding/libllvmlite.so
Rss:                   8 kB
Shared_Dirty:          0 kB
Private_Dirty:         8 kB
Anonymous:             8 kB
7f0000012000-7f0000013000 rw-p 00012000 08:01 42  /x/llvmlite/binding/libllvmlite.so
Rss:                   4 kB
Shared_Dirty:          0 kB
Private_Dirty:         0 kB
Anonymous:             0 kB
7f0000020000-7f0000030000 r-xp 00000000 08:01 43  /x/libllvmlite.so/other.so
Rss:                   4 kB
Shared_Dirty:          0 kB
Private_Dirty:         0 kB
Anonymous:             0 kB
7ffff0000000-7ffff0001000 rw-p 00000000 00:00 0
Rss:                   4 kB
"""


def test_only_unchanged_memory_of_the_compiler_is_given_back() -> None:
    assert list(internals._clean_pages(MAPS)) == [
        (0x7F0000000000, 0x4000, 12 * 1024), (0x7F0000004000, 0xC000, 40 * 1024),
    ]  # fmt: skip


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="the system does not say what a library holds")
def test_the_compiler_works_after_its_memory_was_given_back() -> None:
    with uses("the library of the compiler (libllvmlite)"):
        assert numba.njit(lambda x: x + 1)(2) == 3
        assert internals.release_compiler() > 1 << 20
        assert numba.njit(lambda x: x * 7)(6) == 42


def test_a_run_with_large_tables_gives_it_back(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    monkeypatch.setattr(solver, "release_compiler", lambda: calls.append(1))
    for large, count in ((1 << 40, 0), (0, 1)):
        monkeypatch.setattr(solver, "LARGE", large)
        solve("kuhn", "cfr+", iterations=2)
        assert len(calls) == count
