"""A game where a strategy or an agent is needed, a strategy where a game is needed, names and players in tables."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import counterplay as cp
from counterplay.build.planning import make_plan
from counterplay.cli.main import main
from counterplay.errors import CounterplayError
from counterplay.experiments import run_experiment

RunJson = Callable[..., dict[str, Any]]


def refusal(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """The message of a command that is refused."""
    capsys.readouterr()
    assert main(list(words)) == 2
    return capsys.readouterr().err.removeprefix("counterplay: ").removesuffix("\n")


@pytest.mark.parametrize("verb", ["show", "evaluate"])
def test_a_game_where_a_strategy_is_needed(capsys: pytest.CaptureFixture[str], verb: str) -> None:
    assert refusal(capsys, verb, "leduc(ranks=4)") == (
        "there is no file leduc(ranks=4); leduc(ranks=4) is a game: "
        "counterplay solve 'leduc(ranks=4)' --out FILE makes a strategy for it"
    )


def test_an_opponent_where_a_file_is_needed(capsys: pytest.CaptureFixture[str]) -> None:
    assert refusal(capsys, "show", "Uniform") == (
        "there is no file Uniform; uniform is a ready-made opponent: "
        "counterplay evaluate uniform --game GAME measures it"
    )
    assert main(["evaluate", "uniform", "--game", "kuhn"]) == 0


def test_a_game_where_an_agent_is_needed(capsys: pytest.CaptureFixture[str]) -> None:
    message = "there is no agent 'kuhn'; it is a game, which is named by --game kuhn"
    assert refusal(capsys, "match", "kuhn", "tight", "loose") == message


@pytest.mark.parametrize("verb", ["info", "solve", "draw"])
def test_a_strategy_where_a_game_is_needed(capsys: pytest.CaptureFixture[str], strategy: Path, verb: str) -> None:
    message = refusal(capsys, verb, str(strategy))
    assert message.startswith(f"{strategy} is a file, but not one of a game")
    assert "counterplay draw GAME --strategy FILE" in message


def test_opponents_in_any_case(run_json: RunJson, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("--game", "leduc", "--deals", "50")
    assert run_json("match", "TIGHT", "mine=Loose", *words)["agents"] == [
        row | {"name": name}
        for row, name in zip(run_json("match", "tight", "loose", *words)["agents"], ("tight", "mine"), strict=True)
    ]
    assert run_json("evaluate", "UNIFORM", "--game", "kuhn")["exploitability"] == pytest.approx(11 / 24)
    monkeypatch.chdir(tmp_path)
    cp.solve("kuhn", "lp").profile.save("Uniform")  # a file comes first
    assert cp.evaluate("Uniform", "kuhn").exploitability < 1e-12


def test_presets_experiments_and_representations_in_any_case(run_json: RunJson) -> None:
    assert make_plan("leduc_limit_2p", "TINY") == make_plan("leduc_limit_2p", "tiny")
    assert run_experiment("Kuhn-Tournament", scale="quick").name == "kuhn-tournament"
    found = run_json("solve", "kuhn", "--representation", "History", "--iterations", "5")
    assert found["representation"] == "history"


def test_experiments_are_suggested(capsys: pytest.CaptureFixture[str]) -> None:
    message = "unknown experiment 'forgetful'; did you mean 'forgetful-sizes'?"
    assert refusal(capsys, "experiment", "forgetful") == message


def test_a_result_where_its_strategy_is_needed() -> None:
    result = cp.solve("kuhn", iterations=5)
    for call in (cp.evaluate, cp.infoset_table, cp.load, lambda one: cp.best_response(one, 0)):
        with pytest.raises(CounterplayError, match=r"is needed; got SolveResult, whose strategy is its \.profile$"):
            call(result)


@pytest.mark.parametrize("wrong", [3, None, cp.TabularStrategy.uniform(cp.compile_game("kuhn"))])
def test_something_that_is_not_a_game(wrong: Any) -> None:
    with pytest.raises(CounterplayError, match=f"a game is a name, a path, .*; got {type(wrong).__name__}$"):
        cp.solve(wrong)


def test_one_agent_as_text() -> None:
    with pytest.raises(CounterplayError, match=r"kuhn is played by 2; got 1 agent$"):
        cp.match("kuhn", "tight")


def test_ctrl_c_during_the_import() -> None:
    code = (
        "import sys\n"
        "class Stop:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'counterplay.cli.main': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Stop())\n"
        "import runpy\n"
        "runpy.run_module('counterplay', run_name='__main__', alter_sys=True)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "counterplay: interrupted\n")


def test_tables_of_one_strategy_agree_on_players(run_json: RunJson, strategy: Path, tmp_path: Path) -> None:
    run_json("show", strategy, "--csv", tmp_path / "shown.csv")
    cp.load(strategy).to_csv(tmp_path / "exported.csv")
    rows = [
        sorted(line.split(",")[:3] for line in (tmp_path / name).read_text(encoding="utf-8").splitlines()[1:])
        for name in ("shown.csv", "exported.csv")
    ]
    assert rows[0] == rows[1]
    assert {row[0] for row in rows[0]} == {"1", "2"}
    page = cp.load(strategy)._repr_html_()
    assert (page.count("<td>0</td>"), page.count("<td>1</td>"), page.count("<td>2</td>")) == (0, 6, 6)
