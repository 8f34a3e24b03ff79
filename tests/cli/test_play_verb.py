"""``counterplay play``, and ``match human``, which is the same table."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from counterplay.cli.main import main
from counterplay.poker.acpc.match_log import read_log
from counterplay.poker.acpc.standard import STANDARD

Type = Callable[[str], None]


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Type:
    """Lines that are piped in."""
    return lambda text: monkeypatch.setattr("sys.stdin", io.StringIO(text.replace(" ", "\n") + "\n"))


def test_a_match_at_the_terminal(
    strategy: Path, typed: Type, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    typed("? nonsense c c c c c c c c")
    log = tmp_path / "hands.log"
    words = ["play", str(strategy), "--terminal", "--hint", "--seed", "2", "--hands", "3", "--log", str(log)]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert out.startswith("kuhn: Kuhn poker")
    assert "hint: check 50.0 %, bet 1 50.0 %" in out  # the strategy is uniform
    assert "'nonsense' is not an action" in out
    records = read_log(log, STANDARD["kuhn.limit.2p"]).records
    assert [record.names[0] for record in records] == ["you", "kuhn", "you"]
    total = sum(record.values[record.names.index("you")] for record in records)
    assert f"Your score: {total:+d} chips in 3 hands" in out.replace(": 0 chips", ": +0 chips")
    assert out.rstrip().endswith(str(log))


@pytest.mark.parametrize("words", [["play", "kuhn", "--against", "always-call"], ["match", "human", "always-call"]])
def test_the_result_alone_is_on_standard_output(
    words: list[str], typed: Type, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both verbs seat the same person: with one seed they show the same hands and the same result."""
    typed("c c r c c q")
    more = ["--game", "kuhn"] if words[0] == "match" else []
    assert main([*words, *more, "--seed", "8", "--json"]) == 0
    printed = capsys.readouterr()
    found = json.loads(printed.out)
    assert (found["game"], found["opponents"], found["seed"]) == ("kuhn", ["always-call"], 8)
    assert not found["finished"]
    shown = [line for line in printed.err.splitlines() if "; score " in line]
    assert len(shown) == found["hands"]
    assert shown[-1].split("score ")[1].split()[0] == f"{found['chips']:+g}"


def test_no_deal_is_played_twice(typed: Type, capsys: pytest.CaptureFixture[str]) -> None:
    """``match`` plays a deal in all seatings; a person would know the cards of the opponent in the second one."""
    typed(" ".join(["c"] * 100))
    assert main(["match", "human", "always-call", "--game", "holdem_limit_2p", "--deals", "8"]) == 0
    lines = capsys.readouterr().out.splitlines()
    hands = [line.partition("you have ")[2] for line in lines if line.startswith("Hand ")]
    others = [line.partition("always-call ")[2][:5] for line in lines if line.startswith("  showdown")]
    assert len(hands) == len(others) == 8
    assert not set(hands) & set(others)


def test_control_c_prints_the_score(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    class Interrupted(io.StringIO):
        def readline(self, *_sizes: int) -> str:
            line = super().readline()
            if not line:
                raise KeyboardInterrupt
            return line

    monkeypatch.setattr("sys.stdin", Interrupted("r\n"))
    assert main(["play", "kuhn", "--against", "always-fold", "--seed", "1"]) == 0
    assert "Your score: +1 chips in 1 hand (+1000 mbb/g)." in capsys.readouterr().out


def test_a_postflop_spot(typed: Type, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``solve holdem`` writes it, ``play`` plays it: with one seat, the score in chips and in percent of the pot."""
    path = tmp_path / "spot.strategy"
    spot = ["--board", "QsJh2h3c8d", "--pot", "50", "--stack", "60", "--oop", "AsAh", "--ip", "KsKh,QdQc"]
    assert main(["solve", "holdem", *spot, "--iterations", "5", "--quiet", "--out", str(path)]) == 0
    capsys.readouterr()
    typed(" ".join(["c"] * 9))
    assert main(["play", str(path), "--hands", "4", "--seed", "1", "--seat", "ip", "--json"]) == 0
    printed = capsys.readouterr()
    found = json.loads(printed.out)
    assert (found["hands"], found["finished"]) == (4, True)
    assert found["pot_percent"] == pytest.approx(100 * found["chips"] / 4 / 50)
    assert printed.err.count("in position (ip)") == 4
    for words, message in ((["match", str(path), "always-call"], "counterplay play seats you against its strategy"),
                           (["play", str(path), "--seat", "3"], "stack 60 are oop and ip; got '3'"),
                           (["play", "kuhn", "--seat", "ip"], "the seats of kuhn are 1 to 2; got 'ip'")):  # fmt: skip
        assert main(words) == 2
        assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["play", "kuhn", "--hands", "0"], "at least 1 hand"),
        (["play", "kuhn", "--seed", "-1"], "seed of a match"),
        (["play", "none.strategy"], "no strategy file"),
        (["play", "kuhn", "--log", "/nowhere/x.log"], "no folder"),
        (["match", "human", "human", "--game", "kuhn"], "name human once"),
    ],
)
def test_misuse(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if {"--hands", "--seed", "--log"} & set(words):  # before an opponent is solved, which may take long
        monkeypatch.setattr("counterplay.agents.human_match.open_table", lambda *_: pytest.fail("opened"))
    assert main(words) == 2
    assert message in capsys.readouterr().err
