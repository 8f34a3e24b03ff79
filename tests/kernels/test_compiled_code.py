"""Code that kernels share: helpers inside them, kernels apart, tuples that lie in memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from counterplay.kernels.jit import apart, inlined, kernel
from counterplay.kernels.numba_internals import held

MODULE = """
from counterplay.kernels.jit import apart, inlined, kernel


@inlined
def helped(values, at):
    return values[at] * 2.0


@apart
def total(values):
    found = 0.0
    for at in range(len(values)):
        found += helped(values, at)
    return found


@kernel
def asked(values):
    return total(values) + 1.0
"""
CALL = """
import numpy as np, shared
print(shared.asked(np.arange(4.0)), sum(shared.asked.stats.cache_hits.values()), len(shared.helped.signatures))
"""


class Pair(NamedTuple):
    values: Any
    flags: Any
    table: Any
    scale: Any
    nothing: Any


@inlined
def weighed(pair: Pair, at: int) -> float:
    return pair.values[at] * pair.scale + pair.table[at, 1] if pair.flags[at] else 0.0


@apart
def sum_apart(pair: Pair) -> float:
    pair = held(pair)
    found = 0.0
    for at in range(len(pair.values)):
        found += weighed(pair, at)
        pair.values[at] = 0.0
    return found + (0.0 if pair.nothing is None else 1.0)


@kernel
def sum_of_pairs(one: Pair, other: Pair, first: bool) -> float:
    one, other = held(one), held(other)
    return sum_apart(one if first else other)


@inlined
def same(values: Any) -> Any:
    return values


@kernel
def first_of_same(values: Any) -> float:
    return same(values)[0]


def pair(start: float) -> Pair:
    values = np.arange(start, start + 3.0, dtype=np.float32)
    return Pair(values, np.array([True, False, True]), np.arange(6, dtype=np.int16).reshape(3, 2), 2.0, None)


@pytest.mark.parametrize(("first", "expected"), [(True, 2 * 0 + 1 + 2 * 2 + 5), (False, 2 * 10 + 1 + 2 * 12 + 5)])
def test_held_tuples_are_read_and_their_arrays_written(first: bool, expected: float) -> None:
    one, other = pair(0.0), pair(10.0)
    assert sum_of_pairs(one, other, first) == expected
    assert (one.values.tolist(), other.values.tolist()) == (
        ([0.0] * 3, [10.0, 11.0, 12.0]) if first else ([0.0, 1.0, 2.0], [0.0] * 3)
    )


def test_a_helper_that_returns_an_array_is_refused() -> None:
    with pytest.raises(TypeError, match="same returns an array, which helpers do not count: make it a kernel"):
        first_of_same(np.arange(3.0))


def run_script(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run Python code that can import the modules of a folder."""
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment)


def called(folder: Path) -> list[str]:
    done = run_script(CALL, folder)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_a_kernel_from_the_disk_finds_those_it_calls_and_is_compiled_again_without_them(tmp_path: Path) -> None:
    """The name of a function counts what was compiled before it, so a second compilation has another."""
    (tmp_path / "shared.py").write_text(MODULE)
    assert called(tmp_path) == ["13.0", "0", "1"]
    assert called(tmp_path) == ["13.0", "1", "0"]
    for file in tmp_path.rglob("shared.total*.nb?"):
        file.unlink()
    assert called(tmp_path)[0] == "13.0"
    assert called(tmp_path) == ["13.0", "1", "0"]


INTERRUPTED = """
import os, signal
import numpy as np
from numba.core.codegen import JITCodeLibrary

callback, killed = JITCodeLibrary._object_{hook}_hook, []

def interrupted(*arguments):
    if not killed:
        killed.append(os.kill(os.getpid(), signal.SIGINT))
    return callback(*arguments)

JITCodeLibrary._object_{hook}_hook = staticmethod(interrupted)
import shared
try:
    shared.asked(np.arange(4.0))
except KeyboardInterrupt:
    print(shared.asked(np.arange(4.0)), killed)
"""


@pytest.mark.parametrize("hook", ["compiled", "getbuffer"])
def test_ctrl_c_in_a_callback_of_the_compiler(hook: str, tmp_path: Path) -> None:
    """An exception there is dropped, with the code that was handed over: the kernel crashed when it was called."""
    (tmp_path / "shared.py").write_text(MODULE)
    if hook == "getbuffer":
        called(tmp_path)  # which then reads the code from the disk
    done = run_script(INTERRUPTED.format(hook=hook), tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "13.0 [None]\n", "")
