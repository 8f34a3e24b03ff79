"""``counterplay show``: tables of infosets in the terminal and as files, and where hands are shown instead."""

from __future__ import annotations

import csv
import dataclasses
from html.parser import HTMLParser
from pathlib import Path

import pytest

import counterplay as cp
from counterplay.cli.main import main
from counterplay.evaluation.infoset_rows import infoset_table
from tests.cli.conftest import Run, RunJson
from tests.cli.test_bad_input import told


@pytest.fixture
def goofspiel(tmp_path: Path) -> Path:
    """A strategy file of a game without private hands."""
    path = tmp_path / "goofspiel.strategy"
    cp.TabularStrategy.random(cp.compile_game("goofspiel(cards=4)"), 1).save(path)
    return path


def test_the_table_of_infosets(strategy: Path, run: Run) -> None:
    lines = run("show", strategy, "--infosets").splitlines()
    assert lines[0] == "kuhn: strategy by uniform"
    assert lines[2].split() == ["player", "infoset", "reach", "value", "probabilities"]
    assert lines[3].split() == ["1", "J:", "0.3333", "-0.8750", "check", "0.5000", "bet", "0.5000"]
    assert len(lines[3:-2]) == 12
    assert "reach: how often play gets there" in lines[-1]
    starts = {line.index("bet") if "bet" in line else line.index("call") for line in lines[3:15]}
    assert len(starts) == 1  # probabilities are aligned


def test_json_has_all_rows_and_counts_players_from_1(strategy: Path, run_json: RunJson) -> None:
    found = run_json("show", strategy, "--infosets")
    rows = infoset_table(strategy).rows
    assert found["game"] == "kuhn"
    assert [(row["player"], row["infoset"]) for row in found["infosets"]] == [(r.player + 1, r.infoset) for r in rows]
    assert found["infosets"][0]["value"] == rows[0].value == pytest.approx(-0.875)
    assert (found["left_out"], found["notes"]) == (0, [])


def test_rows_are_limited_and_the_rest_is_counted(tmp_path: Path, run: Run, run_json: RunJson) -> None:
    path = tmp_path / "leduc.strategy"
    cp.TabularStrategy.uniform(cp.compile_game("leduc")).save(path)
    shown = run("show", path, "--infosets").splitlines()
    assert sum(line.startswith(("  1", "  2")) for line in shown) == 40
    assert "248 more infosets: --rows 288 shows all, --node and --player select some." in shown
    everything = run("show", path, "--rows", "288")
    assert "more infosets" not in everything
    assert sum(line.startswith(("  1", "  2")) for line in everything.splitlines()) == 288
    assert len(run_json("show", path, "--player", "2")["infosets"]) == 144
    kings = run_json("show", path, "--infosets", "--node", "K:")["infosets"]
    assert kings
    assert all(row["infoset"].startswith("K:") for row in kings)


def test_games_without_hands_of_cards_are_shown_by_infosets(goofspiel: Path, strategy: Path, run: Run) -> None:
    shown = run("show", goofspiel).splitlines()
    assert shown[0].startswith("goofspiel")
    assert shown[2].split()[:4] == ["player", "infoset", "reach", "value"]
    assert run("show", strategy, "--node", "K:") == run("show", strategy, "--node", "K:", "--infosets")


def test_where_hands_are_shown_the_table_is_offered(tmp_path: Path, strategy: Path, run: Run) -> None:
    path = tmp_path / "cards.strategy"
    cp.TabularStrategy.uniform(cp.compile_game("leduc_limit_2p")).save(path)
    for words in (["show", path], ["show", strategy, "--hands"]):
        shown = run(*words)
        assert "weight" in shown
        assert "--infosets" in shown.splitlines()[-1]


def test_a_strategy_outlives_its_game(tmp_path: Path, run: Run) -> None:
    """The file of a user's own game can be read when the game is gone."""
    path = tmp_path / "mine.strategy"
    uniform = cp.TabularStrategy.uniform(cp.compile_game("matching_pennies"))
    dataclasses.replace(uniform, game=f"{tmp_path / 'gone.py'}:Mine").save(path)
    shown = run("show", path)
    assert "Reach and value are not known: " in shown
    assert shown.count("0.5000") == 4


class Page(HTMLParser):
    """The texts of the cells of a page, row by row, and every address that it refers to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.links += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data.strip("\n")


def test_files_have_all_infosets(tmp_path: Path, run: Run, run_json: RunJson) -> None:
    path, table, page = (tmp_path / name for name in ("leduc.strategy", "leduc.csv", "leduc.html"))
    cp.TabularStrategy.uniform(cp.compile_game("leduc")).save(path)
    shown = run("show", path, "--csv", table, "--html", page)
    assert shown.splitlines() == [f"wrote 288 infosets to {table}", f"wrote 288 infosets to {page}"]
    rows = infoset_table(path).rows
    with open(table, newline="", encoding="utf-8") as file:
        head, *lines = csv.reader(file)
    assert head == ["player", "infoset", "action", "probability", "reach", "value"]
    assert [(int(p), name, action, float(x), float(r), float(v)) for p, name, action, x, r, v in lines] == [
        (row.player + 1, row.infoset, action, share, row.reach, row.value)
        for row in rows for action, share in row.probabilities.items()
    ]  # fmt: skip
    read = Page(page.read_text("utf-8"))
    assert read.links == []
    assert read.rows[0] == ["player", "infoset", "reach", "value", "strategy", "probabilities"]
    assert [(int(row[0]), row[1]) for row in read.rows[1:]] == [(row.player + 1, row.infoset) for row in rows]
    assert float(read.rows[1][3]) == pytest.approx(rows[0].value, abs=1e-6)
    found = run_json("show", path, "--rows", "3", "--csv", table)
    assert (len(found["infosets"]), found["left_out"], found["csv"], found["html"]) == (3, 285, str(table), None)


def test_files_of_hands(tmp_path: Path, run: Run, run_json: RunJson) -> None:
    path, table, page = (tmp_path / name for name in ("cards.strategy", "cards.csv", "cards.html"))
    cp.TabularStrategy.random(cp.compile_game("leduc_limit_2p"), 1).save(path)
    words = ["show", path, "--node", "r", "--csv", table, "--html", page]
    assert f"wrote {page}" in run(*words)
    hands = run_json(*words)["hands"]
    with open(table, newline="", encoding="utf-8") as file:
        head, *lines = csv.reader(file)
    assert head == ["hand", "hands", "weight", "f", "c", "r"]
    assert {name: [float(share) for share in mix] for name, _, _, *mix in lines} == {
        name: hand["frequencies"] for name, hand in hands.items()
    }
    read = Page(page.read_text("utf-8"))
    assert read.links == []
    assert [row[0] for row in read.rows[1:]] == [*hands]


def test_names_are_escaped_in_pages(tmp_path: Path, run: Run) -> None:
    path, page = tmp_path / "odd.strategy", tmp_path / "odd.html"
    uniform = cp.TabularStrategy.uniform(cp.compile_game("matching_pennies"))
    names = ("<script>x</script>", 'a "b" & c')
    dataclasses.replace(uniform, infoset_names=names, digest="seen:x").save(path)
    run("show", path, "--html", page)
    assert "<script" not in page.read_text("utf-8")


def test_solve_offers_show(tmp_path: Path, run: Run) -> None:
    out = tmp_path / "kuhn.strategy"
    shown = run("solve", "kuhn", "--iterations", "10", "--out", out, "--quiet")
    assert f"  counterplay show {out} " in shown.partition("Next:")[2]


def test_inspect_is_now_show(capsys: pytest.CaptureFixture[str], strategy: Path) -> None:
    said = told(capsys, "inspect", str(strategy), "--node", "a b")
    assert said == f"inspect is now show: counterplay show {strategy} --node 'a b'"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--player", "3"], "kuhn has players 1 to 2; got player 3"),
        (["--infosets", "--node", "A"], "no infoset in kuhn starts with 'A'; the first are 'J:', 'J:kb', 'Q:'"),
        (["--infosets", "--hands"], "use one or the other"), (["--ev", "--player", "1"], "use one or the other"),
        (["--csv", "nowhere/x.csv"], "there is no folder nowhere to write x.csv into"),
        (["--hands", "--node", "bet7"], "there is no decision after 'bet7'"),
    ],
)  # fmt: skip
def test_misuse(words: list[str], message: str, strategy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert message in told(capsys, "show", str(strategy), *words)


def test_rows_are_at_least_one(strategy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(strategy), "--rows", "0"]) == 2
    assert "--rows" in capsys.readouterr().err
