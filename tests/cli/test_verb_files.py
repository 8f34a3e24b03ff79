"""The command line: strategies, checkpoints and plots on the disk, games from elsewhere, interrupts, progress."""

from __future__ import annotations

import re
import shlex
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from counterplay.cli import running
from counterplay.cli.main import main
from counterplay.cli.solve import read_settings
from counterplay.game import make
from counterplay.game.efg import write_efg
from counterplay.runs.run import Run as SolverRun
from counterplay.runtime.pacing import Until
from counterplay.runtime.progress import Progress, ProgressCallback
from counterplay.solvers import CfrSolver
from counterplay.strategy.files import load_strategy
from tests.cli.test_verbs import INTERRUPTED, KUHN_VALUE, MY_GAME, PNG, Run, RunJson, plain, same_measurement


def test_a_saved_strategy_measures_the_same(run_json: RunJson, tmp_path: Path) -> None:
    path = tmp_path / "leduc.strategy"
    solved = run_json("solve", "leduc", "--iterations", "50", "--out", path)
    measured = run_json("evaluate", path)
    assert solved["profile"] == measured["profile"] == str(path)
    assert same_measurement(solved, measured)
    assert (measured["game"], measured["algorithm"], measured["iterations"]) == ("leduc", "cfr+", 50)
    assert same_measurement(run_json("evaluate", path, "--game", "leduc"), measured)
    other = run_json("evaluate", path, "--game", "leduc(ante=2)")  # the same decisions for other stakes
    assert other["game"] == "leduc(ante=2)"
    assert not same_measurement(other, measured)


def test_resume_goes_on_to_the_same_bits(run_json: RunJson, tmp_path: Path) -> None:
    path = tmp_path / "leduc.checkpoint"
    straight = run_json("solve", "leduc", "-a", "dcfr", "--iterations", "20")
    first = run_json("solve", "leduc", "-a", "dcfr", "--iterations", "7", "--checkpoint", path)
    assert (first["iterations"], first["checkpoint"]) == (7, str(path))
    second = run_json("solve", "--resume", path, "--iterations", "20", "--checkpoint", path)
    assert (second["game"], second["algorithm"], second["iterations"]) == ("leduc", "dcfr", 20)
    assert same_measurement(second, straight)
    named = run_json("solve", "leduc", "--resume", path, "--iterations", "20")
    assert same_measurement(named, straight)


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_plots(run_json: RunJson, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"curve{suffix}"
    run_json("solve", "kuhn", "--iterations", "30", "--until", "1e-9", "--plot", path)
    start = path.read_bytes()[:64]
    assert start.startswith({".png": PNG, ".svg": b"<?xml", ".pdf": b"%PDF-"}[suffix])


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["rock_paper_scissors", "--iterations", "5"], id="an equilibrium from the start"),
        pytest.param(["kuhn", "--until", "1000"], id="no iteration at all"),
    ],
)
def test_plots_of_runs_with_nothing_to_draw(run_json: RunJson, tmp_path: Path, words: list[str]) -> None:
    path = tmp_path / "curve.png"
    run_json("solve", *words, "--plot", path)
    assert path.read_bytes().startswith(PNG)


@pytest.mark.parametrize("kind", ["average", "last", "best"])
def test_profiles_of_every_kind(run_json: RunJson, tmp_path: Path, kind: str) -> None:
    path = tmp_path / kind
    solved = run_json("solve", "leduc", "--iterations", "60", "--profile", kind, "--out", path)
    measured = run_json("evaluate", path)
    assert same_measurement(solved, measured)
    assert measured["provenance"]["settings"]["profile"] == kind


def test_the_best_profile_is_no_worse_than_the_last(run_json: RunJson) -> None:
    words = ("solve", "leduc", "-a", "linear", "--iterations", "20", "--profile")  # each iteration is measured
    assert run_json(*words, "best")["exploitability"] <= run_json(*words, "last")["exploitability"]


def test_settings_are_changed_and_recorded(run_json: RunJson, tmp_path: Path) -> None:
    path = tmp_path / "x"
    texts = ("delay=5", "gamma=2.5", "fallback=argmax-uniform", "alternating=false", "storage=float32")
    changes = [word for text in texts for word in ("--set", text)]
    changed = run_json("solve", "leduc", "--iterations", "20", *changes, "--out", path)
    settings = run_json("evaluate", path)["provenance"]["settings"]
    expected = {"delay": 5, "gamma": 2.5, "fallback": "argmax-uniform", "alternating": False, "storage": "float32"}
    assert {key: settings[key] for key in expected} == expected
    assert not same_measurement(changed, run_json("solve", "leduc", "--iterations", "20"))


def test_settings_are_read_in_their_types() -> None:
    texts = ["a=1", "b=-2", "c=0.5", "d=true", "e=None", "f=uniform", " g = 1e3 "]
    expected = {"a": 1, "b": -2, "c": 0.5, "d": True, "e": None, "f": "uniform", "g": 1000.0}
    found = read_settings(texts)
    assert found == expected
    assert [type(value) for value in found.values()] == [type(value) for value in expected.values()]


def test_strategies_and_checkpoints_are_written_together(run: Run, tmp_path: Path) -> None:
    out, checkpoint = tmp_path / "x", tmp_path / "y"
    text = run("solve", "kuhn", "--iterations", "9", "--out", out, "--checkpoint", checkpoint, "--quiet")
    assert re.search(rf"checkpoint +{re.escape(str(checkpoint))}\n", text)
    profile, solver = load_strategy(out), CfrSolver.resume(checkpoint)
    assert profile.provenance.iterations == solver.iterations == 9
    assert profile.table.tolist() == solver.strategy().tolist()


# ---------------------------------------------------------------------------------------------- games from elsewhere


def test_a_users_file(run_json: RunJson, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_game.py").write_text(MY_GAME)
    monkeypatch.chdir(tmp_path)
    found = run_json("solve", "./my_game.py:MyGame(stake=3)", "--until", "1e-6", "--out", "mine.strategy")
    assert found["game"] == "./my_game.py:MyGame(stake=3)"
    assert found["value"][0] == pytest.approx(-1, abs=1e-5)  # -3 if guessed, 1 if not, half of the time each
    assert same_measurement(run_json("evaluate", "mine.strategy", "--trust"), found)
    assert run_json("info", "my_game.py")["information_sets"] == [1, 1]


def test_an_efg_file(run_json: RunJson, tmp_path: Path) -> None:
    path = tmp_path / "kuhn.efg"
    write_efg(make("kuhn"), path)
    found = run_json("solve", path, "--iterations", "100")
    assert found["game"] == str(path)
    assert same_measurement(found, run_json("solve", "kuhn", "--iterations", "100"))


def test_a_game_of_openspiel(run_json: RunJson) -> None:
    pytest.importorskip("pyspiel")
    found = run_json("solve", "openspiel:kuhn_poker", "--until", "1e-4")
    assert found["game"] == "openspiel:kuhn_poker"
    assert abs(found["value"][0] - KUHN_VALUE) <= found["nash_conv"] <= 2e-4
    assert (found["information_sets"], found["histories"]) == (12, 58)


# ---------------------------------------------------------------------------------------------- interrupted


def interrupt_at(monkeypatch: pytest.MonkeyPatch, iterations: int) -> None:
    """Ctrl-C is pressed once the solver has done some iterations."""

    def watch(run: SolverRun, progress: ProgressCallback | None) -> ProgressCallback:
        def tick(now: Progress) -> None:
            if now.iterations >= iterations:
                raise KeyboardInterrupt

        return tick

    monkeypatch.setattr(SolverRun, "watched", watch)


def test_an_interrupted_run_is_saved(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupt_at(monkeypatch, 10)
    out = tmp_path / "x"
    text = run("solve", "kuhn", "--out", out, "--quiet", code=INTERRUPTED)
    assert text.startswith("kuhn solved by cfr+: interrupted; the work is saved\n")
    solver = CfrSolver.resume(f"{out}.checkpoint")
    assert solver.iterations >= 10
    assert load_strategy(out).provenance.iterations == solver.iterations
    monkeypatch.undo()
    advice = re.search(r"  counterplay (solve --resume .*?) +# continue from here\n", text)
    assert advice is not None
    assert str(out) in advice[1]
    assert "all iterations are done" in run(*shlex.split(advice[1]), "--quiet")  # the advice works as it stands
    assert load_strategy(out).provenance.iterations == 1000  # and its result is where that of the run was meant to be


def test_an_interrupted_run_without_files_is_saved_too(
    run_json: RunJson, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupt_at(monkeypatch, 10)
    monkeypatch.chdir(tmp_path)
    found = run_json("solve", "kuhn(players=3)", code=INTERRUPTED)
    assert found["status"] == "interrupted"
    assert [entry.name for entry in tmp_path.iterdir()] == [found["checkpoint"]]
    assert CfrSolver.resume(found["checkpoint"]).iterations == found["iterations"]


def test_ctrl_c_before_the_first_iteration(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "slow.py"
    path.write_text(
        "from counterplay import Game\n\n\nclass G(Game):\n    def root(self):\n        raise KeyboardInterrupt\n"
    )
    for verb in ("info", "solve"):
        assert main([verb, str(path)]) == INTERRUPTED
        printed = capsys.readouterr()
        assert printed.out == ""
        assert printed.err == "counterplay: interrupted\n"


# ---------------------------------------------------------------------------------------------- progress


def test_progress_on_a_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert main(["solve", "leduc(ranks=4)", "--iterations", "40", "--json"]) == 0
    assert capsys.readouterr().err == ""  # scripts see nothing
    assert main(["solve", "leduc(ranks=4)", "--iterations", "40"]) == 0
    printed = capsys.readouterr()
    assert re.search(r"40 iterations .*exploitability \d\.\d{6} ", plain(printed.err))
    assert "iterations are done" in printed.out


def test_progress_elsewhere_is_a_line_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    draw = running._plain_lines(lambda now: running._state(now, Until(exploitability=0.0025), "exploitability"))
    for second in range(400):
        draw(Progress(1000 * second, float(second), float(second), 0.5, 1))
    lines = capsys.readouterr().err.splitlines()
    found = [
        re.fullmatch(r"([\d,]+) iterations, (\d+) s, exploitability 0\.500000, stops at 0\.0025", line)
        for line in lines
    ]
    assert None not in found
    seconds = [int(match[2]) for match in found if match]
    gaps = [later - earlier for earlier, later in pairwise(seconds)]
    assert gaps == [4, 8, 16, 32, 60, 60, 60, 60, 60]  # ever less often, but once a minute
    of_response = running._state(Progress(1, 1.0, 1.0, 0.5, 1), Until(iterations=9), "gap")
    assert of_response == "gap 0.500000"  # a response is more exploitable than its gap


def test_checkpoints_are_written_on_the_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x"
    saved: list[int] = []
    original = CfrSolver.save

    def save(self: CfrSolver, target: Any) -> None:
        saved.append(self.iterations)
        original(self, target)

    monkeypatch.setattr(CfrSolver, "save", save)
    monkeypatch.setattr("counterplay.runs.run.CHECKPOINT_SECONDS", -1.0)
    assert main(["solve", "kuhn", "--iterations", "30", "--checkpoint", str(path), "--quiet"]) == 0
    assert len(saved) > 2
    assert saved == sorted(saved)
    assert saved[-1] == CfrSolver.resume(path).iterations == 30
