"""Compiled kernels on the disk are not used when anything they were made from has changed."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from counterplay.kernels import compiled_code, jit
from counterplay.kernels.history import cfr, passes

INNER = (
    "from counterplay.kernels.jit import kernel\n\n\n@kernel\ndef inner(x: float) -> float:\n    return x + {number}\n"
)
OUTER = (
    "from counterplay.kernels.jit import kernel\nfrom inner import inner\n\n\n"
    "@kernel\ndef outer(x: float) -> float:\n    return inner(x)\n"
)
CALL = "from outer import outer; value = outer(1.0); print(value, sum(outer.stats.cache_hits.values()))"


FULL = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)); "
"""No file may grow, as on a full disk."""


def start(folder: Path, before: str = "") -> subprocess.Popen[str]:
    """A process that calls the outer kernel."""
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.Popen([sys.executable, "-c", before + CALL], stdout=subprocess.PIPE, text=True, env=environment)


def called(folder: Path, before: str = "") -> list[str]:
    """The value of the outer kernel in a process of its own, and how often it came from the disk."""
    process = start(folder, before)
    out, _ = process.communicate()
    assert process.returncode == 0
    return out.split()


def test_a_kernel_is_compiled_again_when_one_that_it_calls_has_changed(tmp_path: Path) -> None:
    """numba itself looks only at the file of the kernel, and would go on with the old code of the other."""
    (tmp_path / "outer.py").write_text(OUTER)
    (tmp_path / "inner.py").write_text(INNER.format(number=1))
    assert called(tmp_path) == ["2.0", "0"]
    assert called(tmp_path) == ["2.0", "1"]
    (tmp_path / "inner.py").write_text(INNER.format(number=5))
    assert called(tmp_path) == ["6.0", "0"]
    assert called(tmp_path) == ["6.0", "1"]


def test_sources_of_a_kernel_are_found() -> None:
    folder = Path(cfr.__file__).parent
    assert {folder / "cfr.py", folder / "passes.py", Path(jit.__file__)} <= compiled_code.sources(Path(cfr.__file__))
    assert folder / "cfr.py" not in compiled_code.sources(Path(passes.__file__))


def test_processes_that_start_together_compile_once(tmp_path: Path) -> None:
    (tmp_path / "outer.py").write_text(OUTER)
    (tmp_path / "inner.py").write_text(INNER.format(number=1))
    processes = [start(tmp_path) for _ in range(3)]
    answers = [process.communicate()[0].split() for process in processes]
    assert sorted(answers) == [["2.0", "0"], ["2.0", "1"], ["2.0", "1"]]


def test_a_cache_of_types_that_have_moved_is_made_anew(tmp_path: Path) -> None:
    """The index of numba's cache is pickled with the types of the arguments."""
    (tmp_path / "outer.py").write_text(OUTER)
    (tmp_path / "inner.py").write_text(INNER.format(number=1))
    called(tmp_path)
    for index in tmp_path.rglob("outer*.nbi"):
        version = pickle.dumps(pickle.loads(index.read_bytes()))
        index.write_bytes(version + b"c" + b"counterplay.kernels.jit\nnot_there_any_more\n.")
    assert called(tmp_path) == ["2.0", "0"]
    assert called(tmp_path) == ["2.0", "1"]


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"cgone_module\nthing\n.", id="module that is gone", marks=pytest.mark.slow),
        pytest.param(b"ccounterplay.kernels.jit\nnot_there\n.", id="name that is gone"),
        pytest.param(b"no pickle", id="no pickle", marks=pytest.mark.slow),
        pytest.param(b"", id="empty"),
    ],
)
def test_a_broken_cache_file_is_a_miss(tmp_path: Path, suffix: str, content: bytes) -> None:
    (tmp_path / "outer.py").write_text(OUTER)
    (tmp_path / "inner.py").write_text(INNER.format(number=1))
    called(tmp_path)
    cached = list(tmp_path.rglob(f"outer*.{suffix}"))
    assert cached
    for file in cached:
        file.write_bytes(content)
    assert called(tmp_path) == ["2.0", "0"]
    assert called(tmp_path) == ["2.0", "1"]


@pytest.mark.parametrize("content", [None, b""], ids=["no cache", "empty index"])
def test_without_room_for_the_cache(tmp_path: Path, content: bytes | None) -> None:
    """The kernel is compiled and runs; the next process that has room keeps it."""
    (tmp_path / "outer.py").write_text(OUTER)
    (tmp_path / "inner.py").write_text(INNER.format(number=1))
    if content is not None:
        called(tmp_path)
        for file in tmp_path.rglob("outer*.nbi"):
            file.write_bytes(content)
    assert called(tmp_path, FULL) == ["2.0", "0"]
    assert called(tmp_path) == ["2.0", "0"]
    assert called(tmp_path) == ["2.0", "1"]
