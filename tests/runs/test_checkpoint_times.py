"""Checkpoints that are kept by a schedule."""

from __future__ import annotations

from pathlib import Path

import pytest

import counterplay as cp
from counterplay.cli.main import main
from counterplay.errors import SolverError
from counterplay.runs import RunOptions, Target, prepare
from counterplay.runs.checkpoint_times import CheckpointTimes
from counterplay.runtime.progress import Progress


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("60", [60, 120, 180, 240]),
        ("60,2", [60, 120, 240, 480]),
        ("60,1,300", [60, 360, 660, 960]),
        ("10,2,5", [10, 25, 55, 115]),
        ("0.5,3,0", [0.5, 1.5, 4.5, 13.5]),
    ],
)
def test_the_times_of_a_schedule(text: str, times: list[float]) -> None:
    found = [0.0]
    while len(found) <= len(times):
        found.append(CheckpointTimes.read(text).after(found[-1]))
    assert found[1:] == times
    assert CheckpointTimes.read(text).after(times[1] - 0.1) == times[1]


@pytest.mark.parametrize("text", ["", "often", "0", "-1", "60,0.5", "60,1", "60,1,0", "1,2,3,4", "inf", "60,2,-1"])
def test_what_is_no_schedule_is_refused(text: str) -> None:
    with pytest.raises(SolverError, match="checkpoint times are START"):
        CheckpointTimes.read(text)


def test_a_run_keeps_a_checkpoint_at_each_time(tmp_path: Path) -> None:
    """The clock of the solver is set by hand; each checkpoint resumes to the run as it is without stopping."""
    options = RunOptions(checkpoint=tmp_path / "run.checkpoint", checkpoint_times="10,2")
    run = prepare("leduc", "external-sampling", Target(iterations=1000), options, {"seed": 3})
    tick = run.watched(None)
    for iterations, seconds in ((100, 9.0), (200, 10.5), (300, 15.0), (400, 85.0), (500, 90.0), (600, 161.0)):
        run.solver.step(iterations - run.solver.iterations)
        run.solver.seconds = seconds
        tick(Progress(iterations, seconds, seconds, 0.0))
    kept = {path.name for path in tmp_path.iterdir()}
    assert kept == {f"run.{iterations}.checkpoint" for iterations in (200, 400, 600)}
    run.solver.step(400)
    again = cp.resume(tmp_path / "run.200.checkpoint", iterations=1000)
    assert again.profile.table.tobytes() == run.solver.profile().table.tobytes()


def test_a_resumed_run_keeps_to_the_schedule(tmp_path: Path) -> None:
    run = prepare("kuhn", "cfr", Target(iterations=9), RunOptions(), {})
    run.solver.step(5)
    run.solver.seconds = 30.0
    options = RunOptions(checkpoint=tmp_path / "run.checkpoint", checkpoint_times="10,2")
    later = type(run)(run.solver, run.goal, options, run.forms)
    tick = later.watched(None)
    for seconds, count in ((39.0, 0), (41.0, 1)):
        run.solver.seconds = seconds
        tick(Progress(5, seconds, seconds, 0.0))
        assert len(list(tmp_path.iterdir())) == count


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["solve", "kuhn", "--iterations", "50", "--checkpoint-times", "0.000001,2"]
    assert main(words) == 2
    assert "need a checkpoint" in capsys.readouterr().err
    assert main([*words, "--checkpoint", str(tmp_path / "run.checkpoint")]) == 0
    kept = sorted(tmp_path.glob("run.*.checkpoint"))
    assert kept
    assert all(cp.resume(path, iterations=60).iterations == 60 for path in kept)
