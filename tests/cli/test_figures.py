"""The figures that people read: digits, units, visits, and the seconds of resumed runs."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., str]
RunJson = Callable[..., dict[str, Any]]


def row(text: str, name: str) -> str:
    """A row of a report."""
    (found,) = re.findall(rf"^  {re.escape(name)}  +(.*)$", text, re.MULTILINE)
    return str(found)


def test_large_numbers_have_no_exponents(run: Run) -> None:
    text = run("evaluate", "--strategy", "uniform", "--game", "leduc")
    assert row(text, "exploitability").startswith("2.373611 chips per game (2374 mbb/g), ")
    assert row(text, "NashConv").startswith("4.747222 chips")
    assert not re.search(r"\de\+", text)


def test_small_numbers_keep_three_digits(run: Run) -> None:
    text = run("solve", "kuhn", "--iterations", "1000", "--quiet")
    assert re.match(r"\d\.\d\de-05 chips per game \(0\.0\d+ mbb/g\)", row(text, "exploitability"))


@pytest.mark.parametrize(
    ("words", "name", "size"),
    [
        (["-a", "external-sampling", "--iterations", "300"], "histories", "9,457; "),
        (["-a", "cfr", "--iterations", "3"], "histories", "9,457; "),
        (["--representation", "public", "--iterations", "3"], "public states", "240; "),
        (["-a", "external-sampling", "--representation", "states", "--iterations", "30"], "histories", ""),
    ],
)
def test_visits(words: list[str], name: str, size: str, run: Run, run_json: RunJson) -> None:
    """What a run visited, not what its iterations would have visited of the whole tree."""
    nodes = run_json("solve", "leduc", *words)["nodes"]
    text = row(run("solve", "leduc", *words, "--quiet"), name)
    assert re.fullmatch(rf"{size}{nodes:,} visits, [\d,.]+ per second", text)


def test_linear_programs_visit_no_histories(run: Run, run_json: RunJson) -> None:
    found = run_json("solve", "kuhn", "-a", "lp")
    assert (found["nodes"], found["nodes_per_second"], found["histories"]) == (0, 0.0, 58)
    assert row(run("solve", "kuhn", "-a", "lp", "--quiet"), "histories") == "58"


def test_seconds_of_a_resumed_run_include_those_before(run_json: RunJson, tmp_path: Path) -> None:
    checkpoint = tmp_path / "run.checkpoint"
    before = run_json("solve", "leduc", "--iterations", "2000", "--checkpoint", checkpoint)
    resumed = run_json("solve", "--resume", checkpoint, "--iterations", "2001")
    assert resumed["seconds"] > before["seconds"]
    assert resumed["cpu_seconds"] > before["cpu_seconds"]
