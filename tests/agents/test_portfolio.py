"""Portfolios: written and read to the same strategies, refused with a reason, and no code started by opening one."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.agents import Member, Portfolio, load_portfolio, make_entry, match
from counterplay.cli.main import main
from counterplay.errors import CounterplayError, GameError, StrategyError
from counterplay.forms import open_game
from counterplay.strategy.files import load_strategy
from counterplay.strategy.tabular import TabularStrategy
from counterplay.strategy.trivial import TRIVIAL

TREE = open_game("kuhn_limit_2p", "history")
MEMBERS = (
    Member("even", TRIVIAL["50/50"].tabular(TREE)),
    Member("any", TabularStrategy.random(TREE, 3)),
    Member("calls", TRIVIAL["always-call"].tabular(TREE), 0.5),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    Portfolio("kuhn_limit_2p", MEMBERS, 1, "greedy", {"window": 9}).save(tmp_path / "mine")
    return tmp_path / "mine"


def edited(folder: Path, **changes: Any) -> Path:
    path = folder / "portfolio.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
    return folder


def test_portfolios_are_read_as_they_were_written(folder: Path) -> None:
    found = load_portfolio(folder)
    assert (found.game, found.names, found.equilibrium) == ("kuhn_limit_2p", ("even", "any", "calls"), 1)
    assert (found.select, dict(found.settings)) == ("greedy", {"window": 9})
    assert [member.exploitability for member in found.members] == [None, None, 0.5]
    for mine, theirs in zip(MEMBERS, found.members, strict=True):
        assert isinstance(mine.strategy, TabularStrategy)
        assert isinstance(theirs.strategy, TabularStrategy)
        np.testing.assert_array_equal(mine.strategy.for_tree(TREE), theirs.strategy.for_tree(TREE))


def test_members_are_measured_exactly() -> None:
    """By ``evaluate``; what was known stays."""
    found = Portfolio("kuhn_limit_2p", MEMBERS).measured()
    for member, made in zip(MEMBERS[:2], found.members, strict=False):
        wanted = cp.evaluate(member.strategy, method="history").exploitability
        assert made.exploitability == pytest.approx(wanted, abs=1e-12)
    assert found.exploitabilities()[2] == 0.5
    with pytest.raises(GameError, match="that of even is not known"):
        Portfolio("kuhn_limit_2p", MEMBERS).exploitabilities()


def test_members_have_names(folder: Path) -> None:
    assert load_portfolio(folder).number("calls") == 2
    with pytest.raises(GameError, match="did you mean 'even'"):
        load_portfolio(folder).number("evn")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("kuhn_limit_2p", ()), "at least 1 member"),
        (("kuhn_limit_2p", (MEMBERS[0], MEMBERS[0])), "different names"),
        (("kuhn_limit_2p", (Member("../up", MEMBERS[0].strategy),)), "slashes"),
        (("kuhn_limit_2p", (Member("", MEMBERS[0].strategy),)), "slashes"),
        (("kuhn_limit_2p", MEMBERS, 3), "one of 3 members"),
        (("kuhn_limit_2p", MEMBERS, 0, "ucb2"), "did you mean"),
        (("kuhn_limit_2p", MEMBERS, 0, "fixed", {"window": 3}), "no settings"),
    ],
)
def test_wrong_portfolios(arguments: tuple[Any, ...], words: str) -> None:
    with pytest.raises(GameError, match=words):
        Portfolio(*arguments)


ROW = {"name": "even", "strategy": "even.strategy", "exploitability": None}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"portfolio": 2}, "has format 2"),
        ({"portfolio": "1"}, "an integer"),
        ({"game": 5}, "a text"),
        ({"equilibrium": "nobody"}, "is no member"),
        ({"members": []}, "is no member"),
        ({"members": {"even": "even.strategy"}}, "a list"),
        ({"members": [{**ROW, "strategy": "../even.strategy"}]}, "file of its folder"),
        ({"members": [{**ROW, "strategy": "/etc/passwd"}]}, "file of its folder"),
        ({"members": [{**ROW, "strategy": "program:./run"}]}, "file of its folder"),
        ({"members": [{**ROW, "strategy": "gone.strategy"}]}, "there is no file"),
        ({"members": [{**ROW, "exploitability": -1.0}]}, "the exploitability of 'even'"),
        ({"members": [{**ROW, "exploitability": math.nan}]}, "the exploitability of 'even'"),
        ({"members": [ROW, ROW], "equilibrium": "even"}, "different names"),
        ({"members": [{"name": "even"}]}, "is missing"),
        ({"select": "best"}, "there is no rule"),
        ({"settings": {"scale": 1.0}}, "it takes window"),
        ({"settings": {"members": 2.0}}, "no setting 'members'"),
        ({"settings": {"seed": 1.0}}, "no setting 'seed'"),
        ({"settings": {"window": "9"}}, "settings.window"),
        ({"game": "./evil.py:Game"}, "Python code"),
    ],
)
def test_damaged_manifests(
    changes: dict[str, Any], words: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evil.py").write_text("open('was-run', 'w')")
    with pytest.raises(StrategyError, match=words):
        load_portfolio(edited(folder, **changes))
    assert not (tmp_path / "was-run").exists()


@pytest.mark.parametrize("text", ["", "[]", "{", '{"portfolio": 1', "\x00\xff", "[" * 100_000])
def test_manifests_that_cannot_be_read(text: str, folder: Path) -> None:
    (folder / "portfolio.json").write_text(text, encoding="utf-8")
    with pytest.raises(StrategyError):
        load_portfolio(folder)


def test_folders_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(StrategyError, match="is no portfolio"):
        load_portfolio(tmp_path)


def test_a_portfolio_is_no_strategy(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(StrategyError, match="holds several strategies"):
        load_strategy(folder)
    for words in (["evaluate", str(folder)], ["show", str(folder)]):
        assert main(words) != 0
        streams = capsys.readouterr()
        assert streams.out == ""
        assert "holds several strategies" in streams.err
        assert streams.err.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("?purify=true", "settings of a portfolio are select"),
        ("?select=best", "there is no rule"),
        ("?select=ucb1,window=3", "it takes scale"),
        ("?bound=5", "that of even is not known"),
        ("?estimator=aivat", "needs the opponent's cards"),
        ("?scale=0,select=ucb1", "above 0"),
    ],
)
def test_entries_with_wrong_settings(text: str, words: str, folder: Path) -> None:
    played = cp.agents.open_match_game("kuhn_limit_2p")
    with pytest.raises(CounterplayError, match=words):
        make_entry(f"{folder}{text}").check(played)


def test_portfolios_play_poker_from_a_definition(folder: Path) -> None:
    for game, words in (("kuhn", "cannot play kuhn"), ("leduc_limit_2p", "other rules|cannot play|not a game")):
        with pytest.raises(CounterplayError, match=words):
            make_entry(str(folder)).check(cp.agents.open_match_game(game))


# Three players ----------------------------------------------------------------------------------------------------

LEDUC_3P = "GAMEDEF\nlimit\nnumPlayers = 3\nnumRounds = 2\nblind = 1 1 1\nraiseSize = 2 4\nfirstPlayer = 1 1\n" \
           "maxRaises = 1 1\nnumSuits = 2\nnumRanks = 3\nnumHoleCards = 1\nnumBoardCards = 0 1\n" \
           "END GAMEDEF\n"  # fmt: skip


def test_three_player_leduc_from_the_folder_to_a_match(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Saved, played from the command line and in process alike, and what is estimated is what was won."""
    rules = tmp_path / "leduc-three.game"
    rules.write_text(LEDUC_3P, encoding="utf-8")
    tree = open_game(str(rules), "history")
    members = tuple(Member(name, TRIVIAL[name.replace("even", "50/50")].tabular(tree)) for name in ("even", "uniform"))
    Portfolio(str(rules), members).save(tmp_path / "three")
    words = ["match", f"{tmp_path / 'three'}?select=thompson", "always-call", "50/50", "--deals", "6", "--seed", "4"]
    assert main([*words, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    result = match(str(rules), [f"{tmp_path / 'three'}?select=thompson", "always-call", "50/50"], 6, 4)
    assert printed["choices"] == json.loads(json.dumps(result.to_dict()["choices"]))
    assert [len(one.played) for one in result.choices["three"]] == [6] * 6  # one for each seating
    alone = match(str(rules), [f"{tmp_path / 'three'}?select=fixed,estimator=basic", "always-call", "50/50"], 6, 4)
    won = [one.estimates[:, 0].mean() for one in alone.choices["three"]]
    assert np.mean(won) == pytest.approx(alone.estimate(0).mean, abs=1e-12)
