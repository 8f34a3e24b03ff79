"""``counterplay dominated``: what it prints, in JSON and for people, and what it refuses."""

from __future__ import annotations

import json
from typing import Any

import pytest

from counterplay.cli.main import main


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    def call(*words: str, code: int = 0) -> tuple[str, str]:
        capsys.readouterr()
        assert main(["dominated", *words]) == code
        captured = capsys.readouterr()
        return captured.out, captured.err

    return call


def test_json_of_kuhn(run: Any) -> None:
    facts = json.loads(run("kuhn", "--json")[0])
    assert {"game", "kind", "iterated", "strategies", "actions", "seconds"} == set(facts)
    assert facts["strategies"]["pure_strategies"] == [27, 64]
    assert len(facts["strategies"]["dominated"]) == 27 + 64 - sum(facts["strategies"]["remaining"])
    for one in facts["strategies"]["dominated"]:
        assert one["margin"] > 0
        assert sum(part["weight"] for part in one["mixture"]) == pytest.approx(1.0)
    queen = facts["actions"]["dominated"][-1]
    assert (queen["player"], queen["information_set"], queen["action"], queen["round"]) == (1, "Q:", "bet", 2)
    assert queen["response"]["Q:kb"]["call"] == pytest.approx(2 / 3)
    assert facts["actions"]["undecided"] == []


def test_for_people(run: Any) -> None:
    out, _ = run("kuhn", "--what", "actions")
    assert "strictly dominated actions: 5" in out
    assert "player 1, 'Q:': bet, round 2, strict, by Q: check 1; Q:kb fold 0.3333 call 0.6667" in out
    out, _ = run("toy_dominated_plans", "--what", "strategies", "--once")
    assert "strictly dominated strategies: 2; left: 2 of 4, 4 of 4 (by player)" in out
    assert "[first a, a f] by 1 [first b, b f], gains 1 to 1" in out
    out, _ = run("kuhn", "--kind", "weak")
    assert "weakly dominated actions: 7" in out
    assert "more; --json lists all" in out


def test_gambit(run: Any) -> None:
    out, _ = run("kuhn", "--gambit", "--what", "actions")
    assert "strictly dominated actions: 4" in out
    assert "player 1, 'J:kb': call by fold" in out


def test_too_many_strategies(run: Any) -> None:
    """With --what both the actions are still listed; alone it is refused, with the size."""
    out, _ = run("leduc", "--at", "KK:kk/kb")
    assert "strategies: not listed; leduc has about 10^14.0 x about 10^26.7 pure strategies" in out
    assert "strictly dominated actions: 1" in out
    _, err = run("leduc", "--what", "strategies", code=2)
    assert "about 10^14.0 x about 10^26.7 pure strategies" in err


def test_players_who_forget(run: Any) -> None:
    out, _ = run("toy_forgotten_choice")
    assert "player 2 forgets and was left out" in out
    assert json.loads(run("toy_forgotten_choice", "--json")[0])["actions"]["forgetful_players"] == [2]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("kuhn", "--kind", "very"), "--kind is strict or weak; got 'very'"),
        (("kuhn", "--what", "all"), "--what is actions, strategies or both; got 'all'"),
        (("kuhn", "--what", "actions", "--at", "A:"), "kuhn has no information set 'A:'"),
        (("bluff", "--what", "actions"), "24,576 information sets; at most 5,000"),
    ],
)
def test_misuse(run: Any, words: tuple[str, ...], message: str) -> None:
    assert message in run(*words, code=2)[1]
