"""Files at odd places and files that lie: devices, links, read-only folders, replaced while read, forged arrays."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import threading
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterplay import storage
from counterplay.cli.common import check_writable
from counterplay.errors import CounterplayError, StrategyError
from counterplay.solvers import CfrSolver
from counterplay.storage import read_container, replace_file, write_container, write_text
from counterplay.strategy import TabularStrategy
from counterplay.strategy.files import load_strategy
from counterplay.tree import compile_game

compiled = cache(compile_game)


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    """As root, --out /dev/null made a plain file of the device."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append(path.read_bytes()), daemon=True)
    reader.start()
    TabularStrategy.uniform(compiled("kuhn")).save(path)
    reader.join(timeout=60)
    assert stat.S_ISFIFO(path.stat().st_mode)
    assert [entry.name for entry in tmp_path.iterdir()] == ["pipe"]
    copy = tmp_path / "copy"
    copy.write_bytes(received[0])
    assert load_strategy(copy).game == "kuhn"


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    link = tmp_path / "latest"
    link.symlink_to(Path("data") / "x")
    for seed in (1, 2):
        TabularStrategy.random(compiled("kuhn"), seed).save(link)
        assert link.is_symlink()
        assert load_strategy(tmp_path / "data" / "x").provenance.seed == seed


def test_a_folder_without_room_for_a_new_file_is_told_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old file may be written, but a new one cannot take its place."""
    path = tmp_path / "x"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "access", lambda place, mode: Path(place) != tmp_path)
    check_writable(path)
    with pytest.raises(CounterplayError, match="x cannot be written"):
        check_writable(path, replaced=True)


def test_a_file_may_be_replaced_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Header and arrays come from one file, the old one or the new one."""
    path = tmp_path / "x"
    write_container(path, "test", {"n": 1}, {"a": np.full(3, 1.0)})
    check = storage._check_kind

    def replace(*arguments: Any) -> None:
        check(*arguments)
        write_container(path, "test", {"n": 2}, {"b": np.zeros(9), "a": np.full(3, 2.0)})

    monkeypatch.setattr(storage, "_check_kind", replace)
    header, arrays = read_container(path, "test")
    assert (header, arrays["a"].tolist(), list(arrays)) == ({"n": 1}, [1.0, 1.0, 1.0], ["a"])


WRITER = """
import sys
from counterplay.strategy import TabularStrategy
from counterplay.tree import compile_game
tree = compile_game("kuhn")
for turn in range(150):
    TabularStrategy.random(tree, int(sys.argv[2])).save(sys.argv[1])
"""


def test_two_processes_may_save_to_one_file(tmp_path: Path) -> None:
    path = tmp_path / "x"
    TabularStrategy.random(compiled("kuhn"), 1).save(path)
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(path), seed]) for seed in ("1", "2")]
    while any(writer.poll() is None for writer in writers):
        assert load_strategy(path).provenance.seed in (1, 2)
    assert [writer.returncode for writer in writers] == [0, 0]
    assert [entry.name for entry in tmp_path.iterdir()] == ["x"]


# ---------------------------------------------------------------------------------------------- files that lie


def forged(path: Path, kind: str, name: str, array: Any) -> None:
    """Write a file again with one array replaced, and with a checksum that fits."""
    header, arrays = read_container(path, kind)
    write_container(path, kind, header, {**arrays, name: array})


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("probabilities", np.full(3, 0.5), r"array 'probabilities' is float64 of shape \(3,\)"),
        ("probabilities", np.full(24, 0.5, np.float32), "array 'probabilities' is float32"),
        ("probabilities", np.full((24, 1), 0.5), r"array 'probabilities' is float64 of shape \(24, 1\)"),
        ("probabilities", np.full(24, np.nan), "probabilities at 'J:' must be at least 0 and sum to 1"),
        ("probabilities", np.full(24, 0.7), "probabilities at 'J:' must be at least 0 and sum to 1"),
        ("infoset_player", np.zeros(3, np.int8), "array 'infoset_player' is int8"),
        ("infoset_offset", np.arange(13), "its information sets and their actions do not fit together"),
        ("infoset_offset", np.arange(13)[::-1], "its information sets and their actions do not fit together"),
        ("infoset_offset", np.arange(5), "array 'infoset_offset' is int64"),
        ("infoset_labels", np.full(12, 99, np.int32), "array 'infoset_labels' holds 99; its numbers are 0 to 1"),
        ("infoset_labels", np.zeros(5, np.int32), "array 'infoset_offset' is int64"),
        ("name_offset", np.zeros(3, np.int64), "array 'name_offset' does not divide"),
    ],
)
def test_arrays_of_a_strategy_must_fit_together(tmp_path: Path, name: str, array: Any, message: str) -> None:
    """A checksum says that a file is as it was written, not that it was written by us."""
    path = tmp_path / "x"
    TabularStrategy.uniform(compiled("kuhn")).save(path)
    forged(path, "profile", name, array)
    with pytest.raises(StrategyError, match=f"x is damaged: .*{message}"):
        load_strategy(path)


@pytest.mark.parametrize(
    "table", [np.zeros(1), np.zeros(24, np.float32), np.zeros((1, 24))], ids=["one number", "float32", "matrix"]
)
def test_tables_of_a_checkpoint_must_fit(tmp_path: Path, table: Any) -> None:
    path = tmp_path / "x"
    CfrSolver("kuhn").save(path)
    forged(path, "checkpoint", "regret", table)
    with pytest.raises(StrategyError, match="x is damaged: ValueError: array 'regret' is float"):
        CfrSolver.resume(path)


@pytest.mark.parametrize(
    "header",
    [
        b"[]", b"5", b'"text"', b"[" * 5000 + b"]" * 5000, b'{"a": 3}', b'{"a": {}}',
        b'{"a": {"dtype": "F64", "shape": [1], "data_offsets": [0, 9]}}',
        b'{"a": {"dtype": "F64", "shape": [1], "data_offsets": [0]}}',
        b'{"a": {"dtype": "F64", "shape": [1], "data_offsets": "ab"}}',
        b'{"a": {"dtype": "F64", "shape": [1], "data_offsets": [8, 0]}}',
        b'{"__metadata__": 3}', b'{"__metadata__": {"counterplay": 3}}',
    ],
    ids=range(12),
)  # fmt: skip
def test_headers_that_make_no_sense(tmp_path: Path, header: bytes) -> None:
    path = tmp_path / "x"
    path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(8))
    with pytest.raises(StrategyError, match="x is damaged or not a counterplay file"):
        read_container(path, "profile")


@pytest.mark.parametrize(
    "entry",
    [
        b'{"dtype": "F64", "shape": [2], "data_offsets": [0, 8]}',
        b'{"dtype": "F64", "shape": [-1], "data_offsets": [0, 8]}',
        b'{"dtype": "F64", "shape": [1.0], "data_offsets": [0, 8]}',
        b'{"dtype": "F64", "shape": null, "data_offsets": [0, 8]}',
        b'{"dtype": ["F64"], "shape": [1], "data_offsets": [0, 8]}',
        b'{"dtype": "F64", "data_offsets": [0, 8]}',
    ],
    ids=range(6),
)
def test_arrays_that_make_no_sense(tmp_path: Path, entry: bytes) -> None:
    path = tmp_path / "x"
    header = b'{"__metadata__": {"counterplay": "profile", "format": "1"}, "a": ' + entry + b"}"
    path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(8))
    with pytest.raises(StrategyError, match="x is damaged: array 'a'"):
        read_container(path, "profile")


def test_what_killed_writers_left_is_removed(tmp_path: Path) -> None:
    dead = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    left = tmp_path / f".kuhn.strategy.{int(dead.stdout)}-1.part"
    busy = tmp_path / f".kuhn.strategy.{os.getppid()}-1.part"  # its process is alive
    other = tmp_path / f".leduc.strategy.{int(dead.stdout)}-1.part"
    for path in (left, busy, other):
        path.write_bytes(b"half")
    replace_file(tmp_path / "kuhn.strategy", b"whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([busy.name, other.name, "kuhn.strategy"])


def test_a_failed_write_leaves_the_old_file_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.md"
    write_text(path, "old")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CounterplayError, match=r"cannot write .*report.md: No space left on device"):
        write_text(path, "new")
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.md"]
    assert path.read_text() == "old"
