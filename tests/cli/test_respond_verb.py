"""``counterplay respond``: both numbers, files that other verbs take, curves that continue, and what is refused."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

import counterplay as cp
from counterplay.cli.main import main
from counterplay.modelling.response_runs import ResponseRun
from counterplay.solvers.solver import Solver
from tests.cli.conftest import Run, RunJson

KUHN = ("respond", "--game", "kuhn", "--model", "uniform")


def read(path: str) -> list[dict[str, str]]:
    """The rows of a CSV."""
    return list(csv.DictReader(Path(path).read_text().splitlines()))


def test_both_numbers_in_json_and_a_file_that_other_verbs_take(run: Run, run_json: RunJson, tmp_path: Path) -> None:
    file = tmp_path / "r.strategy"
    found = run_json(*KUHN, "--kind", "rnr", "--p", "0.5", "--out", file)
    assert (found["game"], found["kind"], found["p"], found["information_sets"]) == ("kuhn", "rnr", 0.5, 12)
    assert found["value_against_model"] == pytest.approx(13 / 36)
    assert found["exploitability"] == pytest.approx(1 / 12)
    assert {"gap", "iterations", "seconds", "algorithm"} <= set(found)
    assert run_json("evaluate", file)["exploitability"] == pytest.approx(found["exploitability"], abs=1e-12)
    won = run_json("match", file, "uniform", "--exact")
    assert won["table"][0][1] == pytest.approx(found["value_against_model_mbb"], abs=1e-9)
    assert run("show", file).startswith("kuhn: strategy by rnr with p = 0.5, lp")


def test_for_people(run: Run, tmp_path: Path) -> None:
    out = run(*KUHN, "--kind", "rnr", "--p", "0.5", "--true", "always-call", "--out", tmp_path / "r.strategy")
    assert "kuhn: restricted Nash response, p = 0.5: solved exactly" in out
    assert "wins from the model     +0.361111 chips per game (+361.1 mbb/g)" in out
    assert "wins from the opponent  " in out
    assert "exploitability          0.083333 chips per game (83.33 mbb/g)" in out
    assert f"counterplay match {tmp_path / 'r.strategy'} always-call" in out


def test_a_strategy_file_is_a_model_and_says_its_game(run_json: RunJson, strategy: Path) -> None:
    by_file = run_json("respond", "--model", strategy, "--kind", "dbr", "--pmax", "0.7")
    by_name = run_json(*KUHN, "--kind", "dbr", "--p", "0.7")  # the same number
    assert by_file["value_against_model"] == pytest.approx(by_name["value_against_model"], abs=1e-12)


def test_a_curve_continues_where_it_was_stopped(
    run_json: RunJson, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    solve, solved = ResponseRun.run, []

    def counted(self: ResponseRun, *args: Any) -> Any:
        solved.append(self.asked.kind)
        if len(solved) == 3:
            raise KeyboardInterrupt
        return solve(self, *args)

    monkeypatch.chdir(tmp_path)
    words = (*KUHN, "--kind", "rnr,mixture", "--curve", "0,0.5", "--csv", "x.csv", "--plot", "x.png")
    monkeypatch.setattr(ResponseRun, "run", counted)
    assert main(list(words)) == 130
    assert (
        "stopped after 2 of 4 points; the same command with --resume respond.points continues"
        in capsys.readouterr().err
    )
    assert len(read("x.csv")) == 2
    found = run_json(*words, "--resume", "respond.points")
    assert solved == ["rnr", "rnr", "mixture", "mixture", "mixture"]
    assert found["complete"]
    rows = read("x.csv")
    assert [(row["kind"], row["p"]) for row in rows] == [("rnr", "0.0"), ("rnr", "0.5"), ("mixture", "0.0"),
                                                         ("mixture", "0.5")]  # fmt: skip
    assert [float(row["exploitability"]) for row in rows] == [point["exploitability"] for point in found["points"]]
    assert Path("x.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--kind", "rnr", "--p", "1.2"), "p is a probability, from 0 to 1; got 1.2"),
        (("--kind", "rrn", "--p", "0.5"), "there is no kind of response 'rrn'; did you mean 'rnr'?"),
        (("--kind", "rnr"), "rnr needs a probability p, from 0 to 1"),
        ((), "dbr needs the cap Pmax of the confidence, from 0 to 1"),
        (("--p", "0.5", "--pmax", "0.5"), "--p and --pmax are the same number: --pmax for dbr, --p for the others"),
        (("--kind", "RNR", "--pmax", "0.5"), "--pmax is for dbr; the number of rnr is --p"),
        (("--kind", "rnr", "--p", "0.5", "--until", "soon"), "rnr is solved by a linear program here, without iter"),
        (("--kind", "rnr", "--p", "0.5", "--algorithm", "crf+"), "unknown algorithm 'crf+'; did you mean 'cfr+'?"),
        (("--kind", "rnr", "--p", "0.5", "--csv", "x.csv"), "--csv is for --curve; leave it out"),
        (("--kind", "rnr", "--curve", "0,half"), "a curve has values of p separated by commas, as 0,0.5,1, or grid"),
        (("--kind", "rnr", "--curve", "0,2"), "p is a probability, from 0 to 1; got 2.0"),
        (("--kind", "best", "--curve", "grid"), "a best response is their point at p = 1"),
        (("--kind", "rnr", "--curve", "grid", "--out", "x"), "--out is for a single response, not for a curve"),
        (("--kind", "rnr", "--curve", "grid", "--plot", "x.jpg"), "a plot is a .png, .svg, .pdf file; got 'x.jpg'"),
        (("--kind", "rnr", "--p", "0.5", "--out", "none/x"), "there is no folder none to write x into"),
        (("--kind", "rnr", "--p", "0.5", "--game", "kuhn(players=3)"), "responses are for two players; kuhn"),
        (("--kind", "rnr", "--p", "0.5", "--model", "tihgt"), "there is no opponent 'tihgt'; did you mean 'tight'?"),
        (("--kind", "rnr", "--p", "0.5", "--game", "khun"), "did you mean 'kuhn'?"),
    ],
)  # fmt: skip
def test_what_is_refused_before_work_starts(
    words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert main([*KUHN, *words]) == 2
    printed = capsys.readouterr()
    assert message in printed.err
    assert printed.err.count("\n") == 1
    assert printed.out == ""
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_response_says_how_to_continue(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(self: Solver, *args: Any) -> str:
        self.step(5)
        return "interrupted"

    monkeypatch.chdir(tmp_path)
    words = (*KUHN, "--kind", "rnr", "--p", "0.5", "-a", "cfr+", "--iterations", "10")
    with monkeypatch.context() as patched:
        patched.setattr(Solver, "advance", interrupted)
        assert main(list(words)) == 130
    assert "counterplay respond ... --resume respond.checkpoint" in capsys.readouterr().out
    assert "cfr+, 10 iterations" in run(*words, "--resume", "respond.checkpoint")


def test_a_model_of_another_game(capsys: pytest.CaptureFixture[str], strategy: Path) -> None:
    assert main(["respond", "--game", "leduc", "--model", str(strategy), "--kind", "rnr", "--p", "0.5"]) == 2
    assert "a strategy of kuhn does not fit leduc" in capsys.readouterr().err
    assert main(["respond"]) == 2
    assert "say what the opponent plays: --model FILE" in capsys.readouterr().err


def test_the_library_does_the_same() -> None:
    assert cp.modelling.respond("kuhn", "uniform", "rnr", 0.5).exploitability == pytest.approx(1 / 12)
