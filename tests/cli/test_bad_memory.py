"""A full disk, and games that do not fit into memory, are refused in one line."""

from __future__ import annotations

import errno
import io
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from counterplay import storage
from counterplay.cli.main import main
from counterplay.errors import MemoryLimitError, StrategyError
from counterplay.runtime.progress import Progress
from counterplay.solvers import CfrSolver, make_solver
from counterplay.strategy import TabularStrategy
from counterplay.tree import compile_game
from counterplay.tree.history import compile as compile_module
from tests.cli.test_bad_input import MISUSE, Capture, told


class FullFile(io.FileIO):
    """A file on a disk that is full."""

    def write(self, content: Any) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def no_space(*arguments: Any, **options: Any) -> Any:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize(
    ("owner", "name", "fault"),
    [
        pytest.param(storage, "open", FullFile, id="write"),
        pytest.param(os, "fsync", no_space, id="fsync"),
        pytest.param(os, "replace", no_space, id="replace"),
        pytest.param(storage, "open", no_space, id="create"),
    ],
)
def test_a_full_disk(
    capsys: Capture, strategy: Path, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, fault: Any
) -> None:
    before = strategy.read_bytes()
    solver = CfrSolver("kuhn")
    solver.step(3)
    monkeypatch.setattr(owner, name, fault, raising=False)
    message = f"cannot write {strategy}: No space left on device; the old file, if any, is intact"
    for save in (solver.profile().save, solver.save):
        with pytest.raises(StrategyError, match=re.escape(message)):
            save(strategy)
    for option in ("--out", "--checkpoint"):
        assert told(capsys, "solve", "kuhn", "--iterations", "3", "--quiet", option, str(strategy)) == message
    monkeypatch.undo()
    assert strategy.read_bytes() == before
    assert [entry.name for entry in strategy.parent.iterdir()] == [strategy.name]


LIMITED = """
import contextlib, io, resource, signal, sys
from counterplay.cli.main import main

command = ["solve", "kuhn", "--iterations", "3", "--quiet"]
with contextlib.redirect_stdout(io.StringIO()):
    assert main(command) == 0  # kernels are compiled and cached before files get scarce
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
sys.exit(main([*command, *sys.argv[1:]]))
"""


@pytest.mark.parametrize("option", ["--out", "--checkpoint"])
def test_a_disk_that_is_really_full(strategy: Path, option: str) -> None:
    before = strategy.read_bytes()
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, option, str(strategy)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (MISUSE, "")
    assert done.stderr == (
        f"counterplay: cannot write {strategy}: {os.strerror(errno.EFBIG)}; the old file, if any, is intact\n"
    )
    assert strategy.read_bytes() == before
    assert [entry.name for entry in strategy.parent.iterdir()] == [strategy.name]


def test_a_folder_that_is_not_there(capsys: Capture, tmp_path: Path) -> None:
    path = tmp_path / "missing" / "x"
    with pytest.raises(StrategyError, match=re.escape(f"cannot write {path}: No such file or directory")):
        TabularStrategy.uniform(compile_game("kuhn")).save(path)
    for option in ("--out", "--plot", "--checkpoint"):
        assert told(capsys, "solve", "kuhn", option, str(path)) == f"there is no folder {path.parent} to write x into"
        assert told(capsys, "solve", "kuhn", option, str(tmp_path)) == f"{tmp_path} is a folder; name a file in it"


# ---------------------------------------------------------------------------------------------- memory

SKEWED = '''
"""A game that looks small from above: a chain that nearly every descent leaves early, over a large tree."""

from counterplay import Game, terminal

END = terminal(0)


class Chain:
    player = 0

    def __init__(self, depth):
        self.depth = depth

    def actions(self):
        return ("stop", "on")

    def infoset(self):
        return self.depth

    def child(self, action):
        return END if action == "stop" and self.depth < 40 or self.depth == 60 else Chain(self.depth + 1)


class Skewed(Game):
    players = 1

    def root(self):
        return Chain(0)


class Perfect(Chain):
    def __init__(self, path=""):
        self.path = path

    def infoset(self):
        return self.path

    def child(self, action):
        return END if len(self.path) == 9 else Perfect(self.path + action[0])


class Vast(Perfect):
    def child(self, action):
        return END if len(self.path) == 900 else Vast(self.path + action[0])


class Universe(Game):
    players = 1

    def root(self):
        return Vast()


class Tables(Game):
    players = 1

    def root(self):
        return Perfect()
'''


@pytest.fixture
def games_file(tmp_path: Path) -> Path:
    path = tmp_path / "sizes.py"
    path.write_text(SKEWED)
    return path


def test_a_game_that_is_refused_before_the_walk(capsys: Capture) -> None:
    seen: list[Progress] = []
    with pytest.raises(MemoryLimitError) as caught:
        compile_game("leduc(ranks=12,suited=true)", memory_limit=10**6, progress=seen.append)
    message = str(caught.value)
    found = re.fullmatch(
        r"leduc\(ranks=12,suited=true\) has about (\S+) histories and needs about (\S+) MiB, but only 976\.6 KiB "
        r"may be used; use smaller parameters, a higher memory limit or a solver that samples",
        message,
    )
    assert found is not None, message
    assert 3e5 < float(found[1].replace(",", "")) < 3e6  # 919,105 in truth
    assert 30 < float(found[2]) < 300
    assert seen == []
    assert told(capsys, "solve", "leduc(ranks=12,suited=true)", "--memory-limit", "1MB") == message
    assert main(["info", "leduc(ranks=12,suited=true)", "--memory-limit", "1MB"]) == 0
    assert f"too large: about {found[1]} histories, {found[2]} MiB" in capsys.readouterr().out
    uniform = ["--strategy", "uniform", "--game", "leduc(ranks=12,suited=true)"]
    assert told(capsys, "evaluate", *uniform, "--memory-limit", "1MB") == message


def test_a_game_beyond_all_bounds(capsys: Capture, games_file: Path) -> None:
    spec = f"{games_file}:Universe"
    message = told(capsys, "solve", spec, "--memory-limit", "1GiB")
    assert re.fullmatch(
        re.escape(spec) + r" has about \S{1,9} histories and needs about \S{1,12} EiB, but only 1\.0 GiB .*",
        message,
    ), message
    assert main(["info", spec, "--memory-limit", "1GiB"]) == 0
    assert re.search(r"as history +too large: about \S{1,9} histories, \S{1,12} EiB\n", capsys.readouterr().out)


def test_a_game_that_is_refused_during_the_walk(
    capsys: Capture, games_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Progress] = []
    limit = 120 * 20_000
    spec = f"{games_file}:Skewed"
    with pytest.raises(MemoryLimitError, match=r"Skewed has about 4,\d00,000 histories and needs about"):
        compile_game(spec, memory_limit=limit)
    monkeypatch.setattr(compile_module, "preflight", lambda *_: None)
    with pytest.raises(MemoryLimitError) as caught:
        compile_game(spec, memory_limit=limit, progress=seen.append)
    message = str(caught.value)
    found = re.fullmatch(
        re.escape(spec) + r": over ([\d,]+) histories, and 2\.3 MiB of memory are not enough for more; "
        r"use smaller parameters, a higher memory limit or a solver that samples",
        message,
    )
    assert found is not None, message
    assert 20_000 < int(found[1].replace(",", "")) < 40_000
    assert seen  # the walk was on its way
    assert told(capsys, "solve", spec, "--memory-limit", f"{limit}B", "-q") == message
    assert main(["info", spec, "--memory-limit", f"{limit}B"]) == 0
    assert "as history  too large: about " in capsys.readouterr().out


def test_tables_that_do_not_fit(capsys: Capture, games_file: Path) -> None:
    tree = compile_game("leduc")
    with pytest.raises(MemoryLimitError) as caught:
        make_solver(tree, "pcfr+", memory_limit=20_000)
    needed = CfrSolver.memory_bytes(tree, "pcfr+") / 1024
    assert str(caught.value) == (
        f"pcfr+ on leduc needs about {needed:.1f} KiB, but only 19.5 KiB may be used; "
        "try storage float32 or an abstraction"
    )
    spec = f"{games_file}:Tables"
    tree = compile_game(spec)
    limit = 40 * tree.num_histories  # enough for the tree by the estimate, not for the tables
    assert limit < CfrSolver.memory_bytes(tree, "cfr+")
    message = told(capsys, "solve", spec, "--memory-limit", f"{limit}B", "--quiet")
    assert message.startswith(f"cfr+ on {spec} needs ")
    assert message.endswith("may be used; try storage float32 or an abstraction")


def test_a_resumed_run_keeps_to_its_memory_limit(capsys: Capture, tmp_path: Path) -> None:
    path = tmp_path / "x.checkpoint"
    CfrSolver("leduc").save(path)
    message = told(capsys, "solve", "--resume", str(path), "--memory-limit", "2KB", "--quiet")
    assert "but only 2.0 KiB may be used" in message


# ---------------------------------------------------------------------------------------------- misuse


def test_a_full_memory_is_one_line(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> Any:
        raise MemoryError("std::bad_alloc")

    monkeypatch.setattr(compile_module, "checked_root", full)
    assert main(["solve", "kuhn", "--iterations", "1", "-q"]) == MISUSE
    assert capsys.readouterr().err.startswith("counterplay: the memory is full; use a smaller game")
