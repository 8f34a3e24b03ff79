"""The record of published tables and figures: every row is sound, and the pages are those of the stored results."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from counterplay.cli.main import main
from counterplay.errors import CounterplayError
from counterplay.experiments import EXPERIMENTS
from counterplay.experiments.record.pages import pages_of_record, stored_result, write_pages
from counterplay.experiments.record.published import VERDICTS, Published, published_rows

RESULTS = Path(__file__).resolve().parents[2] / "docs" / "results"
DATA = {path.stem: path for path in sorted((RESULTS / "data").iterdir())}
ROWS = published_rows()

OF_TEXT = {
    "adaptive-agents",
    "bluff-chain",
    "dominated-play",
    "plus-averaging",
    "plus-sampling",
    "resolving",
}
"""Experiments about what a source says in its text, without a table or figure."""

CAPTIONS = {
    "Gibson 2014": 44,
    "Gibson et al. 2012": 3,
    "Lanctot et al. 2012": 3,
    "Johanson 2016": 70,
    "Čermák 2018": 36,
}
"""Captions of each document; both halves of table 4.2 of Čermák have a row."""


def test_every_caption_has_one_row() -> None:
    assert Counter(row.document for row in ROWS) == CAPTIONS
    assert len({(row.document, row.label) for row in ROWS}) == len(ROWS)


def test_rows_and_experiments_name_each_other() -> None:
    assert {name for row in ROWS for name in row.experiments} == set(EXPERIMENTS) - OF_TEXT


@pytest.mark.parametrize("row", [pytest.param(row, id=f"{row.document}, {row.label}") for row in ROWS])
def test_a_verdict_needs_a_result_and_a_reason(row: Published) -> None:
    assert row.verdict in VERDICTS
    assert row.reason
    compared = row.verdict in ("agrees", "agrees in shape", "differs")
    assert bool(row.results) or not compared
    assert not (row.verdict == "not run yet" and row.results)
    assert row.experiments or row.verdict in ("out of reach", "nothing to compute")
    assert not (row.verdict == "nothing to compute" and row.experiments)
    found = [stored_result(DATA[name]) for name in row.results]
    assert {result["experiment"] for result in found} <= set(row.experiments)
    scales = {result["made"]["scale"] for result in found}
    assert row.scale == ("" if not found else "full" if scales == {"full"} else "quick")


def test_every_stored_result_is_used_and_whole() -> None:
    assert {name for row in ROWS for name in row.results} == set(DATA)
    for name, path in DATA.items():
        result = stored_result(path)
        assert not result["interrupted"], name
        assert name.startswith(result["experiment"])
        assert f"counterplay experiment {result['experiment']}" in result["made"]["command"]


def test_pages_are_those_of_the_stored_results() -> None:
    pages = pages_of_record(RESULTS / "data")
    assert {path.name for path in RESULTS.glob("*.md")} == set(pages)
    for name, text in pages.items():
        assert (RESULTS / name).read_text("utf-8") == text, f"{name} is old; run make record"


def test_pages_have_every_row_with_its_verdict() -> None:
    text = "\n".join(pages_of_record(RESULTS / "data").values())
    for row in ROWS:
        assert any(
            line.startswith(f"| {row.label} | {row.about} |") and row.verdict in line for line in text.splitlines()
        )


def test_a_new_result_is_written_with_its_command_and_read_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "kuhn.json"
    assert main(["experiment", "kuhn-tournament", "--quick", "--out", str(path)]) == 0
    made = stored_result(path)["made"]
    assert made["command"] == "counterplay experiment kuhn-tournament --quick"
    assert made["scale"] == "quick"
    capsys.readouterr()


def test_what_is_no_result_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "some.json"
    path.write_text('{"title": "a table"}', "utf-8")
    with pytest.raises(CounterplayError, match=r"some.json is not the stored result .* 'columns'"):
        stored_result(path)
    with pytest.raises(CounterplayError, match=r"kuhn-tournament.json is not the stored result"):
        write_pages(tmp_path)


def test_the_list_has_every_row(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["experiment", "--list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["published"]
    assert [(row["document"], row["label"], row["verdict"]) for row in listed] == [
        (r.document, r.label, r.verdict) for r in ROWS
    ]
    assert main(["experiment", "--list"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert sum("table 4.1" in line and "kuhn-tournament" in line and "agrees" in line for line in printed) == 1


def test_a_name_and_the_list_exclude_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["experiment", "kuhn-tournament", "--list"]) != 0
    assert "leave 'kuhn-tournament' out" in capsys.readouterr().err
