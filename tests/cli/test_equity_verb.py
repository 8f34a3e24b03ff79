"""``counterplay equity``."""

from __future__ import annotations

from pathlib import Path

import pytest

import counterplay as cp
from tests.cli.conftest import Run, RunJson
from tests.cli.test_bad_input import told


def test_the_table(run: Run) -> None:
    lines = run("equity", "AA", "KK").splitlines()
    assert lines[:2] == ["AA against KK", "  exact: all deals of hands and boards (61,642,944)"]
    assert lines[3].split() == ["player", "range", "hands", "equity", "win", "tie"]
    assert lines[4].split() == ["1", "AA", "6", "81.95%", "81.71%", "0.46%"]
    assert lines[5].split() == ["2", "KK", "6", "18.05%", "17.82%", "0.46%"]


def test_single_hands_and_files(tmp_path: Path, run: Run, run_json: RunJson) -> None:
    words = ["equity", "JJ,AKs", "QQ", "--board", "Qs Jh 2h 8d", "--dead", "2c", "--hands"]
    found = cp.equity("JJ,AKs", "QQ", board="QsJh2h8d", dead="2c")
    lines = run(*words, "--csv", tmp_path / "x.csv", "--html", tmp_path / "x.html").splitlines()
    assert [line.split()[1] for line in lines[8:-2]] == [row.name for _, row in found.rows(hands=True)]
    assert lines[-2:] == [f"wrote {tmp_path / 'x.csv'}", f"wrote {tmp_path / 'x.html'}"]
    printed = run_json(*words)
    assert [one["equity"] for one in printed["ranges"]] == [one.equity for one in found.ranges]
    assert [hand["name"] for hand in printed["ranges"][1]["hands"]] == [hand.name for hand in found.ranges[1].hands]
    assert (printed["board"], printed["dead"], printed["exact"], printed["csv"]) == ("QsJh2h8d", "2c", True, None)
    assert "hands" not in run_json(*words[:-1])["ranges"][0]


def test_samples_have_an_error_and_a_seed(run: Run, run_json: RunJson) -> None:
    words = ["equity", "AA", "KK", "random", "--samples", "10000", "--seed", "3"]
    lines = run(*words).splitlines()
    assert lines[1] == "  sampled: 10,000 deals, seed 3"
    assert lines[3].split() == ["player", "range", "hands", "equity", "+-", "win", "tie"]
    assert [line.split()[2] for line in lines[4:]] == ["6", "6", "1,326"]  # however many were dealt
    printed = run_json(*words)
    assert printed["seed"] == 3
    assert printed["ranges"][0]["error"] == cp.equity("AA", "KK", "random", samples=10000, seed=3).ranges[0].error


def test_misuse(capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, "equity", "AA") == "equity is for 2 to 10 ranges; got 1"
    assert "there is no folder nowhere" in told(capsys, "equity", "AA", "KK", "--csv", "nowhere/x.csv")
    assert "did you mean" in told(capsys, "equty", "AA", "KK")
    assert "'equity'" in told(capsys, "odds", "AA", "KK")
