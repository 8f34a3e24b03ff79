"""``counterplay abstract``: sizes, files, reports and misuse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from counterplay.abstraction.cards import CardAbstraction
from counterplay.cli.main import main


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COUNTERPLAY_CACHE", str(tmp_path / "cache"))


def test_sizes_are_told_without_building(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["abstract", "holdem_limit_2p", "--rounds", "IR169/IR570/IR570/570", "--families", "KE-KO"]
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert "3,632,252 information sets" in shown
    assert "Nothing was built" in shown
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["rounds"] == ["lossless", "KE570", "KE570", "KO570"]
    assert found["buckets"] == [169, 570, 570, 570]
    assert found["information_sets_by_round"] == [1352, 39_900, 359_100, 3_231_900]
    assert found["entries"] == 21 * 169 + 570 * (182 + 1638 + 14742)
    assert found["memory_bytes"]["float64"] == 16 * found["entries"]


def test_a_file_and_a_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, folder = tmp_path / "cards.cpa", tmp_path / "report"
    words = ["abstract", "leduc_limit_2p", "--rounds", "3,KE3", "--out", str(path), "--report", str(folder), "--json"]
    assert main(words) == 0
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    assert captured.err == ""
    assert found["buckets"] == [3, 9]
    assert found["information_sets"] == 288  # as rank-only Leduc hold'em has
    abstraction = CardAbstraction.load(path)
    assert abstraction.counts() == (3, 9)
    assert abstraction.provenance["recipe"] == "lossless/KE3"
    page = (folder / "index.html").read_text("utf-8")
    assert "Round 2: KE3" in page
    assert (
        page.count("<tr>") == 2 + 3 + 7
    )  # two heads; a jack and a king have two strengths with a board, a queen three
    for turn in (1, 2):
        assert (folder / f"round{turn}.png").read_bytes().startswith(b"\x89PNG")
    kept = {file: file.stat().st_mtime_ns for file in (tmp_path / "cache").iterdir()}
    assert kept
    assert main([*words[:-1], "--seed", "1"]) == 0
    captured = capsys.readouterr()
    assert "abstraction" in captured.out
    assert "hand strength" not in captured.err  # features come from the cache
    assert {file: file.stat().st_mtime_ns for file in kept} == kept  # beside them there is a table for the new seed


def test_stages_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["abstract", "kuhn_limit_2p", "--rounds", "PE2", "--out", str(tmp_path / "kuhn.cpa")]
    assert main(words) == 0
    assert "hand strength at the showdown" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["kuhn", "--rounds", "2"], "card abstractions are for poker with a definition"),
        (["leduc_limit_2p", "--rounds", "3"], "have 2 rounds; '3' has 1 entries"),
        (["leduc_limit_2p", "--rounds", "3,KE30"], "15 different hands, which cannot make 30 buckets"),
        (["leduc_limit_2p", "--rounds", "3s", "--recall", "some"], "recall is perfect or imperfect; got 'some'"),
        (["leduc_limit_2p", "--rounds", "3s", "--families", "XX"], "families of buckets are"),
        (["leduc_limit_2p", "--rounds", "3s", "--opponents", "many"], "johanson2013 or a number"),
        (
            ["rhode_island(three_card_hands=true)", "--rounds", "3s"],
            "does not support straights and flushes of three cards",
        ),
        (["leduc_limit_2p", "--rounds", "3s", "--report", "folder"], "give --out FILE.cpa too"),
        (["leduc_limit_2p", "--rounds", "3s", "--out", "nowhere/cards.cpa"], "there is no folder nowhere"),
        (["holdem_limit_2p", "--rounds", "5s", "--out", "cards.cpa", "--memory-limit", "1MB"], "may be used"),
    ],
)
def test_misuse(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["abstract", *words]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert len(captured.err.splitlines()) == 1


def test_features_may_look_beyond_the_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "cards.cpa"
    words = ["abstract", "leduc_limit_2p", "--rounds", "3,KE3", "--quiet", "--out", str(path)]
    assert main([*words, "--runout", "1"]) == 0
    assert CardAbstraction.load(path).provenance["runout"] == [1]
    capsys.readouterr()
    for wrong in ("turn", "1,,1", "0", "-1"):
        assert main([*words, "--runout", wrong]) == 2
        assert "such as 1,1; got" in capsys.readouterr().err
    assert main([*words, "--runout", "5,5"]) == 2
    assert "7 cards in all at most" in capsys.readouterr().err
