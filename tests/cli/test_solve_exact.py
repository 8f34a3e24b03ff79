"""``counterplay solve`` with the algorithms that finish."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from counterplay.cli.main import main


def test_kuhn_as_a_fraction(capsys: pytest.CaptureFixture[str]) -> None:
    """-1/18: Gibson 2014, section 3.2."""
    assert main(["solve", "kuhn", "--algorithm", "lp", "--exact", "--quiet"]) == 0
    shown = capsys.readouterr().out
    assert "kuhn solved by lp: solved exactly" in shown
    assert "exact value        -1/18" in shown
    assert main(["solve", "kuhn", "-a", "lp", "--exact", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["status"], found["iterations"], found["exact_value"]) == ("solved", 1, "-1/18")


def test_double_oracle_reports_its_sizes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", "goofspiel(cards=4)", "-a", "double-oracle", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["status"] == "solved"
    assert found["lower_bound"] == pytest.approx(0.0, abs=1e-9)
    assert found["upper_bound"] == pytest.approx(0.0, abs=1e-9)
    assert sum(found["restricted_information_sets"]) < found["information_sets"]
    assert found["memory_words"] > 0
    assert main(["solve", "goofspiel(cards=4)", "-a", "double-oracle", "--set", "wide=true", "--quiet"]) == 0
    assert "restricted information sets" in capsys.readouterr().out


def test_checkpoints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run.checkpoint"
    words = ["solve", "leduc", "-a", "double-oracle", "--iterations", "5", "--checkpoint", str(path), "--json"]
    assert main(words) == 0
    assert json.loads(capsys.readouterr().out)["status"] == "iterations"
    assert main(["solve", "--resume", str(path), "--iterations", "1000", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["status"] == "solved"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["kuhn", "--exact"], "cfr+ has no setting 'exact'"),
        (["kuhn(players=3)", "-a", "lp"], "the linear program is for two players; kuhn(players=3) has 3"),
        (["toy_no_equilibrium", "-a", "double-oracle"], "use a maxmin algorithm for imperfect recall"),
    ],
)
def test_misuse(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", *words]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
