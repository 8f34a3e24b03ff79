"""The record of published tables and figures: every row is sound, and the pages are those of the stored results."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from counterplay.cli.main import main
from counterplay.errors import CounterplayError
from counterplay.experiments import (
    EXPERIMENTS,
    Experiment,
    kuhn_tournament,
    options_of,
    run_experiment,
    stitched_leduc,
)
from counterplay.experiments.record import missing_results, pages
from counterplay.experiments.record.missing_results import missing_runs, scale_of_result
from counterplay.experiments.record.pages import pages_of_record, stored_result, write_pages
from counterplay.experiments.record.published import VERDICTS, Published, published_rows, settings_of
from counterplay.experiments.scales import EXPERIMENT_SCALES, HOUR, OWN, SCALES
from counterplay.runtime.threads import available_cores

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
    scales = (OWN, *SCALES)
    smallest = min((scales.index(result["made"]["scale"]) for result in found), default=None)
    assert row.scale == ("" if smallest is None else scales[smallest])


def test_every_stored_result_is_used_and_whole() -> None:
    assert {name for row in ROWS for name in row.results} == set(DATA)
    for name, path in DATA.items():
        result = stored_result(path)
        assert not result["interrupted"], name
        assert name.startswith(result["experiment"])
        assert f"counterplay experiment {result['experiment']}" in result["made"]["command"]


@pytest.mark.parametrize("name", DATA)
def test_the_command_of_a_stored_result_is_one_that_can_be_typed(name: str) -> None:
    """And its scale is the one that it would get today."""
    result = stored_result(DATA[name])
    words = shlex.split(result["made"]["command"])
    options = settings_of(word for option, word in pairwise(words) if option == "--set")
    assert set(options) <= set(options_of(result["experiment"]))
    scale = "quick" if "--quick" in words else "hour" if "hour" in words else "full"
    assert result["made"]["scale"] == scale_of_result(result["experiment"], scale, options)


def test_pages_are_those_of_the_stored_results() -> None:
    written = pages_of_record(RESULTS / "data")
    assert {path.name for path in RESULTS.glob("*.md")} == set(written)
    for name, text in written.items():
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
    with pytest.raises(CounterplayError, match=r"\.json is not the stored result .* counterplay experiment NAME --out"):
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


class TestScales:
    def test_every_experiment_has_its_scales(self) -> None:
        """What does not fit an hour has settings that do, which the experiment takes; the last scales have no
        condition, so that they apply to all other options."""
        assert list(EXPERIMENT_SCALES) == list(EXPERIMENTS)
        for name, known in EXPERIMENT_SCALES.items():
            takes = options_of(name)
            assert known[-1].when == {}
            for scales in known:
                assert (scales.hour is None) == (scales.full <= HOUR), name
                assert {*(scales.hour or {}), *scales.when} <= set(takes), name
                assert not scales.resumes or "folder" in takes, name

    def test_an_hour_is_full_with_the_settings_of_the_hour(self, monkeypatch: pytest.MonkeyPatch) -> None:
        seen = []
        monkeypatch.setattr(stitched_leduc, "run", lambda **given: seen.append(given) or FOUND)
        monkeypatch.setattr("counterplay.experiments._checked", lambda name, run, options: dict(options))
        for scale in SCALES:
            run_experiment("stitched-leduc", scale, players=3)
        run_experiment("stitched-leduc", "hour", players=3, iterations=7)
        run_experiment("stitched-leduc", "hour")
        assert seen == [
            {"quick": True, "players": 3},
            {"quick": False, "players": 3, "iterations": 300_000},
            {"quick": False, "players": 3},
            {"quick": False, "players": 3, "iterations": 7},
            {"quick": False},
        ]

    def test_other_scales_are_refused(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["experiment", "kuhn-tournament", "--scale", "huge"]) == 2
        assert "unknown scale 'huge'" in capsys.readouterr().err
        assert main(["experiment", "kuhn-tournament", "--quick", "--scale", "hour"]) == 2
        assert "--quick is short for --scale quick" in capsys.readouterr().err
        assert main(["experiment", "kuhn-tournament", "--set", "scale=hour"]) == 2
        assert "scale is not given by --set" in capsys.readouterr().err

    def test_the_list_says_what_scales_need(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["experiment", "--list"]) == 0
        (line,) = (line for line in capsys.readouterr().out.splitlines() if "table 7.2" in line and "stitched" in line)
        assert "2 cores: quick 3 min, hour 60 min, full 2 h" in line


FOUND = Experiment("a table", "a source", ("x",), ((1,),))


class TestMissingResults:
    """Runs of a small record: three experiments that take a second, one of them stored, one out of reach."""

    @pytest.fixture
    def folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        rows = tuple(
            Published("A 2000", f"table {number}", "", (name,), settings, verdict, "", (), "")
            for number, name, settings, verdict in (
                (1, "kuhn-tournament", "", "not run yet"),
                (2, "heuristic-failure", "steps=10", "not run yet"),
                (3, "forgetful-sizes", "", "out of reach"),
                (4, "kuhn-tournament", "", "not run yet"),
            )
        )
        for module in (missing_results, pages):
            monkeypatch.setattr(module, "published_rows", lambda: rows)
        (tmp_path / "data").mkdir()
        return tmp_path

    def test_what_is_missing(self, folder: Path) -> None:
        first, second = missing_runs(folder / "data", "hour")
        assert first.path == folder / "data" / "kuhn-tournament.json"  # it fits an hour, so its full scale
        assert first.labels == ("A 2000, table 1", "A 2000, table 4")
        assert (second.path.name, second.options) == ("heuristic-failure-10.json", {"steps": 10})

    def test_they_are_run_stored_and_shown(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        words = ["experiment", "--pages", str(folder), "--scale", "hour"]
        assert main(words) == 0
        said = capsys.readouterr().err
        assert "1 of 2: counterplay experiment kuhn-tournament" in said
        assert "its verdict belongs into the row of A 2000, table 1; A 2000, table 4" in said
        made = stored_result(folder / "data" / "heuristic-failure-10.json")["made"]
        assert made["command"] == "counterplay experiment heuristic-failure --scale hour --set steps=10"
        assert made["scale"] == "full"
        page = (folder / "a-2000.md").read_text("utf-8")
        assert page.count("No verdict yet") == 2
        assert "## table 1, table 4: " in page
        assert missing_runs(folder / "data", "full") == []
        assert main(words) == 0
        assert "of 2" not in capsys.readouterr().err

    def test_ctrl_c_keeps_what_is_finished(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        def run(name: str, scale: str, **options: object) -> Experiment:
            if name == "heuristic-failure":
                raise KeyboardInterrupt
            return replace(FOUND, name=name)

        monkeypatch.setattr(missing_results, "run_experiment", run)
        words = ["experiment", "--pages", str(folder), "--scale", "full"]
        assert main(words) == 130
        assert "the same command does the rest" in capsys.readouterr().err
        assert [run.experiment for run in missing_runs(folder / "data", "full")] == ["heuristic-failure"]
        assert "No verdict yet" in (folder / "a-2000.md").read_text("utf-8")

    def test_another_setting_does_not_count(self, folder: Path) -> None:
        """A result with other steps leaves the row without one; one with more than asked for counts."""
        path = folder / "data" / "some.json"
        for option, left in (("steps=20", 2), ("steps=10", 1)):
            missing_results.store_result(path, replace(FOUND, name="heuristic-failure"), "full", [option], 1.0)
            assert len(missing_runs(folder / "data", "quick")) == left
        row = Published("A 2000", "figure 1", "", ("refining-sizes",), "games=GP6,GS6", "not run yet", "", (), "")
        for games, enough in (("GP6", False), ("GS6,P224,GP6", True)):
            made = {"command": f"counterplay experiment refining-sizes --set games={games}"}
            assert pages.answers({"experiment": "refining-sizes", "made": made}, row, "refining-sizes") == enough

    def test_what_fails_does_not_stop_the_rest(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        def fail(quick: bool) -> None:
            raise CounterplayError("too large")

        monkeypatch.setattr(kuhn_tournament, "run", fail)
        assert main(["experiment", "--pages", str(folder), "--scale", "quick"]) == 1
        assert "kuhn-tournament has no result: too large" in capsys.readouterr().err
        assert (folder / "data" / "heuristic-failure-10-quick.json").exists()

    def test_work_is_kept_in_a_folder(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        rows = (Published("A 2000", "table 1", "", ("stitched-leduc",), "players=3", "not run yet", "", (), ""),)
        monkeypatch.setattr(missing_results, "published_rows", lambda: rows)
        seen: dict[str, object] = {}

        def run(name: str, scale: str, **options: object) -> Experiment:
            seen.update(options)
            return replace(FOUND, name=name)

        monkeypatch.setattr(missing_results, "run_experiment", run)
        (found,) = missing_results.run_missing(folder / "data", "hour", lambda text: None)
        assert found.path.name == "stitched-leduc-3-hour.json"
        assert seen["folder"] == str(folder / "unfinished" / "stitched-leduc-3-hour")
        assert seen["workers"] == min(2, available_cores())
