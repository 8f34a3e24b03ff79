"""Runs that are stopped at the worst moment, and disks that are full: nothing is lost."""

from __future__ import annotations

import errno
import os
import signal
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay import storage
from counterplay.cli.main import main
from counterplay.errors import StrategyError
from counterplay.runs import run as runs
from counterplay.runtime.signals import STOPPING, interruptible, uninterrupted
from counterplay.solvers.solver import Solver

ITERATIONS = 50


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "elsewhere"))


def resumed(path: str | os.PathLike[str]) -> Any:
    """The strategy of a checkpoint after twice the iterations."""
    return cp.resume(path, iterations=2 * ITERATIONS).profile.table


@pytest.fixture
def expected() -> Any:
    return cp.solve("kuhn", "cfr+", iterations=2 * ITERATIONS).profile.table


def full_for(monkeypatch: pytest.MonkeyPatch, *endings: str, times: int = 10**9) -> list[str]:
    """Let the disk be full for files with these endings; gives the names that were tried."""
    tried: list[str] = []
    written = storage.replace_file

    def write(path: str | os.PathLike[str], *parts: bytes, **options: bool) -> None:
        if str(path).endswith(endings) and len(tried) < times:
            tried.append(str(path))
            raise OSError(errno.ENOSPC, "No space left on device")
        written(path, *parts, **options)

    monkeypatch.setattr(storage, "replace_file", write)
    return tried


@pytest.mark.parametrize("stage", ["result", "_lifted"])
def test_ctrl_c_while_the_result_is_made(stage: str, monkeypatch: pytest.MonkeyPatch, expected: Any) -> None:
    """The iterations are done; the signal comes while they are measured."""
    with monkeypatch.context() as patch:

        def stopped(*_: Any) -> None:
            raise KeyboardInterrupt

        patch.setattr(Solver if stage == "result" else runs.Run, stage, stopped)
        said: list[str] = []
        with pytest.raises(KeyboardInterrupt):
            cp.solve("kuhn", "cfr+", iterations=ITERATIONS, note=said.append)
    assert said == ["stopped before the result was complete; the run is in kuhn-cfr+.checkpoint"]
    assert np.array_equal(resumed("kuhn-cfr+.checkpoint"), expected)


def test_ctrl_c_twice(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], expected: Any) -> None:
    """The second comes while the interrupted run is measured: its checkpoint was written before."""
    with monkeypatch.context() as patch:

        def stopped(_: Solver, status: str) -> None:
            assert status == "interrupted"
            assert Path("kuhn-cfr+.checkpoint").is_file()
            raise KeyboardInterrupt

        def once(_: Any) -> None:
            raise KeyboardInterrupt

        patch.setattr(Solver, "result", stopped)
        patch.setattr(runs.Run, "watched", lambda _run, _progress: once)
        assert main(["solve", "kuhn", "--algorithm", "cfr+", "--seconds", "100"]) == 130
    assert "the run is in kuhn-cfr+.checkpoint" in capsys.readouterr().err
    wanted = cp.solve("kuhn", "cfr+", iterations=5000).profile.table
    assert np.array_equal(cp.resume("kuhn-cfr+.checkpoint", iterations=5000).profile.table, wanted)


@pytest.mark.parametrize("number", STOPPING, ids=lambda number: number.name)
def test_a_signal_waits_for_the_write(number: signal.Signals) -> None:
    done: list[str] = []

    def write() -> None:
        with uninterrupted():
            os.kill(os.getpid(), number)
            os.kill(os.getpid(), number)
            done.append("written")
        done.append("not stopped")

    with interruptible(), pytest.raises(KeyboardInterrupt):
        write()
    assert done == ["written"]


def test_a_signal_during_a_write_that_fails_is_not_lost() -> None:
    def write() -> None:
        with uninterrupted():
            os.kill(os.getpid(), signal.SIGINT)
            raise StrategyError("no space left")

    with pytest.raises(KeyboardInterrupt):
        write()


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_signal_while_handlers_are_changed(when: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is delivered, and so are the next ones: no handler that keeps signals is left."""
    change = signal.signal

    def changed(number: int, handler: Any) -> Any:
        monkeypatch.setattr(signal, "signal", change)
        old = change(number, handler)
        os.kill(os.getpid(), signal.SIGINT)
        return old

    def write() -> None:
        if when == "before":
            monkeypatch.setattr(signal, "signal", changed)
        with uninterrupted():
            monkeypatch.setattr(signal, "signal", changed)

    with interruptible():
        with pytest.raises(KeyboardInterrupt):
            write()
        for number in STOPPING:
            with pytest.raises(KeyboardInterrupt):
                os.kill(os.getpid(), number)


def test_ignored_signals_stay_ignored() -> None:
    """``nohup counterplay ...`` outlives its terminal."""
    old = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with interruptible():
            os.kill(os.getpid(), signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, old)


def test_a_full_disk_at_a_checkpoint(monkeypatch: pytest.MonkeyPatch, expected: Any) -> None:
    """The run says so, continues, tries again, and writes its files when there is room."""
    monkeypatch.setattr(runs, "CHECKPOINT_SECONDS", -1.0)
    tried = full_for(monkeypatch, ".checkpoint", times=2)
    said: list[str] = []
    solved = cp.solve("leduc", "cfr+", seconds=0.5, checkpoint="l.checkpoint", out="l.strategy", note=said.append)
    assert tried == ["l.checkpoint"] * 2
    assert said == ["cannot write l.checkpoint: No space left on device; the old file, if any, is intact; solving "
                    "continues, and the checkpoint is tried again"] * 2  # fmt: skip
    assert solved.status == "seconds"
    assert Path("l.strategy").is_file()
    assert cp.resume("l.checkpoint", iterations=solved.iterations).iterations == solved.iterations


def test_a_full_disk_at_the_end(monkeypatch: pytest.MonkeyPatch, expected: Any) -> None:
    full_for(monkeypatch, ".strategy")
    with pytest.raises(StrategyError, match=r"cannot write k.strategy: No space .* --resume (\S+) --iterations 50"):
        cp.solve("kuhn", "cfr+", iterations=ITERATIONS, out="k.strategy")
    assert np.array_equal(resumed("k.strategy.checkpoint"), expected)


def test_no_room_next_to_the_strategy_either(monkeypatch: pytest.MonkeyPatch, expected: Any) -> None:
    full_for(monkeypatch, "k.strategy", "/k.checkpoint", "k.checkpoint", times=2)
    said: list[str] = []
    with pytest.raises(StrategyError, match=r"--resume \S*elsewhere/k.checkpoint --iterations 50 --out FILE"):
        cp.solve("kuhn", "cfr+", iterations=ITERATIONS, out="k.strategy", checkpoint="k.checkpoint", note=said.append)
    assert said[-1].endswith("elsewhere/k.checkpoint")
    assert np.array_equal(resumed("elsewhere/k.checkpoint"), expected)
