"""``counterplay analyse`` and ``match --estimate``: what they print and write, and what is refused before any work."""

from __future__ import annotations

import csv
import dataclasses
from pathlib import Path
from typing import Any

import pytest

from counterplay.cli.main import main
from counterplay.forms import open_game
from counterplay.poker.acpc.match_log import format_header
from counterplay.strategy.tabular import TabularStrategy
from tests.cli.conftest import Run, RunJson
from tests.evaluation.test_tree_estimates import random_table
from tests.modelling.logs import random_lines, random_records
from tests.poker.test_bucket_game import LEDUC

HEADER = format_header("m", "leduc.limit.2p.game", 100, 1, ())
ESTIMATORS = [
    "money", "bc-divat", "ef", "ac", "ac+ef", "ac+bc-divat", "ac+ef+bc-divat", "aivat"
]  # fmt: skip
KEYS = {
    "game", "player", "opponents", "hands", "deals", "information", "evaluated", "estimates", "without_player",
    "without_own_cards", "opponent_unseen", "skipped", "broken", "cpu_seconds", "plot", "csv", "html",
}  # fmt: skip
ROW = {
    "estimator", "deals", "hands", "chips", "chips_95", "deviation", "money_hands", "more_hands", "significant", "mbb",
    "mbb_95", "deviation_mbb", "result",
}  # fmt: skip


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "a.log"
    path.write_text("".join(f"{line}\n" for line in [*HEADER, *random_lines(LEDUC, 80)]))
    return path


def saved(path: Path, game: str, seed: int) -> Path:
    tree = open_game(game, "history")
    TabularStrategy.from_tree(tree, random_table(tree, seed)).save(path)
    return path


@pytest.fixture
def own(tmp_path: Path) -> Path:
    return saved(tmp_path / "own.strategy", "leduc_limit_2p", 1)


@pytest.fixture
def other(tmp_path: Path) -> Path:
    return saved(tmp_path / "other.strategy", "leduc_limit_2p", 2)


def won(name: str) -> list[float]:
    return [float(one.values[one.names.index(name)]) for one in random_records(LEDUC, 80)]


# analyse --------------------------------------------------------------------------------------------------------


def test_text(run: Run, log: Path, own: Path) -> None:
    text = run("analyse", log, "--player", "Ann", "--strategy", own)
    lines = text.splitlines()
    assert lines[0] == "leduc_limit_2p: 80 hands of Ann against Bob, all cards"
    assert lines[2].split()[:4] == ["estimator", "mbb/g", "95", "%"]
    assert [line.split()[0] for line in lines[3 : 3 + len(ESTIMATORS)]] == ESTIMATORS
    assert lines[-1].startswith("match: won or lost by more than 25 big blinds")
    mean = 1000 * sum(won("Ann")) / 80
    assert float(lines[3].split()[1].replace(",", "")) == pytest.approx(mean, rel=1e-3)


def test_money_alone_without_a_strategy(run: Run, run_json: RunJson, log: Path) -> None:
    text = run("analyse", log, "--player", "Bob")
    assert [line.split()[0] for line in text.splitlines()[3:-2]] == ["money"]
    found = run_json("analyse", log, "--player", "Bob")
    assert found["estimates"][0]["chips"] == pytest.approx(sum(won("Bob")) / 80)


def test_json(run_json: RunJson, log: Path, own: Path, other: Path) -> None:
    found = run_json("analyse", log, "--player", "Ann", "--strategy", own, "--opponent", other)
    assert set(found) == KEYS
    assert [row["estimator"] for row in found["estimates"]] == ESTIMATORS
    assert all(set(row) == ROW for row in found["estimates"])
    assert (found["hands"], found["deals"], found["information"], found["evaluated"]) == (80, 80, "full", None)
    assert (found["opponents"], found["broken"], found["plot"]) == (["Bob"], [], None)
    row: dict[str, Any] = found["estimates"][0]
    assert row["mbb"] == pytest.approx(1000 * row["chips"])
    off = run_json("analyse", log, "--player", "Ann", "--strategy", own, "--evaluate", other, "--estimate", "ac,ef")
    assert [row["estimator"] for row in off["estimates"]] == ["money", "basic", "ac", "ef"]
    assert off["evaluated"] is not None


def test_files(run: Run, run_json: RunJson, log: Path, own: Path, tmp_path: Path) -> None:
    table, page, picture = tmp_path / "a.csv", tmp_path / "a.html", tmp_path / "a.png"
    words = ("analyse", log, "--player", "Ann", "--strategy", own, "--estimate", "ac+ef")
    text = run(*words, "--csv", table, "--html", page, "--plot", picture)
    assert text.splitlines()[-3:] == [f"wrote {path}" for path in (picture, table, page)]
    rows = list(csv.DictReader(table.read_text().splitlines()))
    wanted = run_json(*words)["estimates"]
    assert [row["estimator"] for row in rows] == ["money", "ac+ef"]
    assert [float(row["mbb"]) for row in rows] == pytest.approx([row["mbb"] for row in wanted])
    assert picture.read_bytes().startswith(b"\x89PNG")
    html = page.read_text()
    assert "80 hands of Ann against Bob" in html
    assert "data:image/png;base64," in html
    assert "http://" not in html.replace("http://www.w3.org", "")
    found = run_json(*words, "--csv", table, "--html", page, "--plot", picture)
    assert (found["csv"], found["html"], found["plot"]) == (str(table), str(page), str(picture))


def test_names_are_escaped_in_the_page(run: Run, tmp_path: Path) -> None:
    records = [dataclasses.replace(one, names=("<b>x</b>", "Bob")) for one in random_records(LEDUC, 5)]
    log, page = tmp_path / "a.log", tmp_path / "a.html"
    log.write_text("".join(f"{one.text()}\n" for one in records))
    run("analyse", log, "--player", "<b>x</b>", "--game", "leduc", "--html", page)
    assert "<b>x" not in page.read_text()


def test_partial_information_is_said(run: Run, log: Path, own: Path) -> None:
    text = run("analyse", log, "--player", "Ann", "--strategy", own, "--information", "partial")
    assert text.splitlines()[0].endswith("the opponent's cards at showdowns only")
    assert "biased where the opponent's cards are not seen" in text
    assert "aivat" not in text


def test_skipped_lines_are_named(log: Path, own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with log.open("a") as file:
        file.write("STATE:80:rubbish\n")
    words = ["analyse", str(log), "--player", "Ann", "--strategy", str(own)]
    assert main(words) == 2
    assert f"{log}, line 82: cannot read" in capsys.readouterr().err
    assert main([*words, "--broken", "skip"]) == 0
    printed = capsys.readouterr()
    assert "not used: 1 hands broken" in printed.out
    assert f"warning: skipped {log}, line 82: cannot read" in printed.err


REFUSED = [
    ((), "--player"),
    (("--player", "An"), "nobody is called 'An' in the logs; did you mean 'Ann'?"),
    (("--player", "Ann", "--estimate", "ac"), "--strategy FILE"),
    (("--player", "Ann", "--evaluate", "OWN"), "--strategy FILE"),
    (("--player", "Ann", "--opponent", "OWN"), "--strategy FILE"),
    (("--player", "Ann", "--strategy", "nothing.strategy"), "nothing.strategy"),
    (("--player", "Ann", "--strategy", "LOG"), "a.log"),
    (("--player", "Ann", "--strategy", "KUHN"), "is a log of leduc_limit_2p, not of kuhn"),
    (("--player", "Ann", "--strategy", "OWN", "--evaluate", "KUHN"), "rules are those of another game"),
    (("--player", "Ann", "--strategy", "OWN", "--opponent", "KUHN"), "rules are those of another game"),
    (("--player", "Ann", "--strategy", "OWN", "--estimate", "ack"), "there is no estimator 'ack'"),
    (("--player", "Ann", "--strategy", "OWN", "--estimate", "divat+bc-divat"), "is no estimator"),
    (("--player", "Ann", "--strategy", "OWN", "--evaluate", "OWN", "--estimate", "aivat"), "aivat is for the strategy"),
    (("--player", "Ann", "--strategy", "OWN", "--information", "some"), "auto, full or partial; got 'some'"),
    (("--player", "Ann", "--broken", "ignore"), "refused or skipped; got 'ignore'"),
    (("--player", "Ann", "--game", "kuhn"), "is a log of leduc_limit_2p, not of kuhn"),
    (("--player", "Ann", "--game", "goofspiel"), "goofspiel is something else"),
    (("--player", "Ann", "--game", "leduk"), "leduk"),
    (("--player", "Ann", "--plot", "a.gif"), "a.gif"),
    (("--player", "Ann", "--csv", "no/folder.csv"), "no"),
    (("--player", "Ann", "LOG"), "is given twice"),
    (("--player", "Ann", "nothing.log"), "no file nothing.log"),
]


@pytest.mark.parametrize(("words", "said"), REFUSED, ids=[" ".join(words) for words, _ in REFUSED])
def test_refused_in_one_line(
    words: tuple[str, ...], said: str, log: Path, own: Path, strategy: Path, tmp_path: Path,
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    named = {"LOG": str(log), "OWN": str(own), "KUHN": str(strategy)}
    assert main(["analyse", str(log), *(named.get(word, word) for word in words)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert said in printed.err
    assert len(printed.err.strip().splitlines()) == 1
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix in (".csv", ".gif", ".html")) == []


def test_an_empty_log_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty.log").write_text("")
    assert main(["analyse", str(tmp_path / "empty.log"), "--player", "Ann", "--game", "leduc"]) == 2
    assert "empty.log holds no hands" in capsys.readouterr().err


# match --estimate -----------------------------------------------------------------------------------------------


def test_estimates_of_a_match(run: Run, run_json: RunJson, own: Path, other: Path) -> None:
    words = ("match", own, other, "--deals", "150", "--seed", "3")
    plain, found = run_json(*words), run_json(*words, "--estimate", "all")
    assert plain.pop("estimates") == {}
    del plain["cpu_seconds"]
    assert {key: found[key] for key in plain} == plain
    names = ["money", "divat", "ef", "ac", "ac+ef", "ac+ef+divat", "aivat"]
    assert set(found["estimates"]) == {"own", "other"}
    for agent in found["agents"]:
        rows = found["estimates"][agent["name"]]
        assert [row["estimator"] for row in rows] == names
        assert rows[0]["chips"] == pytest.approx(agent["chips"])
        assert rows[0]["chips_95"] == pytest.approx(agent["chips_95"])
        assert (rows[0]["deals"], rows[0]["hands"]) == (150, 300)
        assert rows[-1]["chips_95"] < rows[0]["chips_95"]  # aivat
    text = run(*words, "--estimate", "ac+ef")
    assert "own, by estimators with less variance:" in text
    assert sum(line.strip().startswith("ac+ef ") for line in text.splitlines()) == 2


def test_nothing_is_decided_by_rounding(run_json: RunJson, own: Path, tmp_path: Path) -> None:
    """Against itself aivat with exact values is 0 in every deal, up to rounding; that is no significant loss."""
    same = tmp_path / "same.strategy"
    same.write_bytes(own.read_bytes())
    found = run_json("match", own, same, "--deals", "50", "--estimate", "aivat")["estimates"]
    for rows in found.values():
        aivat = rows[-1]
        assert aivat["chips"] == pytest.approx(0.0, abs=1e-9)
        assert aivat["significant"] == "tie"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("OWN", "uniform", "--estimate", "ack"), "there is no estimator 'ack'"),
        (("uniform", "always-call", "--game", "leduc", "--estimate", "all"), "agents that are strategies; none of"),
        (("OWN", "OTHER", "--exact", "--estimate", "all"), "--exact plays no deals"),
        (("uniform", "uniform", "uniform", "--game", "kuhn(players=3)", "--estimate", "all"), "for two players"),
    ],
)
def test_estimates_that_are_refused(
    words: tuple[str, ...], said: str, own: Path, other: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    named = {"OWN": str(own), "OTHER": str(other)}
    assert main(["match", *(named.get(word, word) for word in words)]) == 2
    printed = capsys.readouterr()
    assert (printed.out, len(printed.err.strip().splitlines())) == ("", 1)
    assert said in printed.err
