"""``counterplay flops``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from counterplay.cli import flops
from counterplay.cli.main import main
from counterplay.runs import solve_flops
from counterplay.runtime.progress import Progress
from counterplay.solvers.public_cfr import PublicSolver
from tests.cli.conftest import Run, RunJson
from tests.cli.test_bad_input import told

SPOT = [
    "--pot", "60", "--stack", "100", "--oop", "AA,KQs,98s", "--ip", "KK,QJs,77", "--bets", "75%", "--raises", "none",
    "--until", "1%",
]  # fmt: skip
RIVERS = "KsTd7h4c2s:3 QsJh2h3c8d"


def test_the_report(tmp_path: Path, run: Run, run_json: RunJson) -> None:
    folder = tmp_path / "report"
    lines = run("flops", folder, "--flops", RIVERS, *SPOT, "--quiet").splitlines()
    report = solve_flops(folder)
    total = report.total()
    assert total is not None
    assert lines[0] == "2 boards, pot 60, stack 100"
    assert lines[4].split() == [
        "board",
        "share",
        "equity",
        "oop",
        "ev",
        "oop",
        "ev",
        "ip",
        "expl.",
        *["check", "bet45"] * 2,
    ]
    assert [line.split()[0] for line in lines[5:8]] == ["KsTd7h4c2s", "QsJh2h3c8d", "all"]
    assert lines[7].split()[3:5] == [f"{value:.3f}" for value in total.value]
    assert lines[-2:] == [f"wrote {folder / 'flops.csv'}", f"wrote {folder / 'flops.html'}"]
    assert run("flops", folder, "--quiet").splitlines() == lines  # nothing is left to do
    found = run_json("flops", folder)
    assert [one["board"] for one in found["boards"]] == ["KsTd7h4c2s", "QsJh2h3c8d"]
    assert found["total"]["value"] == list(total.value)
    assert found["left"] == []


def test_ctrl_c_says_how_to_continue(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, step = tmp_path / "my report", PublicSolver.step

    def pressed(self: PublicSolver, *words: Any, **more: Any) -> Any:
        if "QsJh2h3c8d" in self.tree.name:
            raise KeyboardInterrupt
        return step(self, *words, **more)

    monkeypatch.setattr(PublicSolver, "step", pressed)
    shown = run("flops", folder, "--flops", RIVERS, *SPOT, "--quiet", code=130)
    assert "1 of 2 boards are solved" in shown
    assert shown.splitlines()[-1] == f"  counterplay flops '{folder}'  # continue"
    monkeypatch.undo()
    assert "2 boards, each solved on its own" in run("flops", folder, "--quiet")


def test_misuse(tmp_path: Path, capsys: pytest.CaptureFixture[str], run: Run) -> None:
    folder = str(tmp_path / "x")
    assert "nothing was started in" in told(capsys, "flops", folder)
    assert "--subset and --all both say which flops" in told(capsys, "flops", folder, "--subset", "3", "--all")
    assert told(capsys, "flops", folder, "--flops", "QsJh", *SPOT) == "a board has 3, 4 or 5 cards; got 2 in 'QsJh'"
    assert "a postflop spot needs pot, stack" in told(
        capsys, "flops", folder, "--flops", RIVERS, "--oop", "AA", "--ip", "KK"
    )
    assert not Path(folder).exists()
    run("flops", folder, "--flops", RIVERS, *SPOT, "--quiet")
    assert "another spot: pot is 60.0 there, 50.0 here; give the same one" in told(
        capsys, "flops", folder, "--pot", "50"
    )
    assert main(["flops", folder, "--random", "x"]) == 2


def test_progress_elsewhere_is_a_line_at_least_every_minute(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = [0.0]
    monkeypatch.setattr(flops.time, "monotonic", lambda: clock[0])
    with flops._progress(quiet=False) as draw:
        assert draw is not None
        for clock[0], boards in ((0.0, 0), (5.0, 0), (6.0, 1), (7.0, 2), (17.0, 3), (40.0, 3), (77.0, 3), (80.0, 3)):
            draw(Progress(boards, total=9, stage=f"board {boards + 1}"))
    assert capsys.readouterr().err.splitlines() == [
        "1 of 9 boards, board 2",
        "3 of 9 boards, board 4",
        "3 of 9 boards, board 4",  # after a minute on one board
    ]
