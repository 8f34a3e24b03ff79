"""A portfolio with every verb: played with checked numbers where an agent can play, else refused in one line."""

from __future__ import annotations

import io
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import counterplay as cp
from counterplay.agents import Dealer, DealerConfig, Member, Portfolio, load_portfolio, open_match_game
from counterplay.cli.main import main
from counterplay.forms import open_game
from counterplay.strategy.tabular import TabularStrategy
from counterplay.strategy.trivial import TRIVIAL
from tests.conformance.test_strategies import on_tree, refused, run, tree_of
from tests.crosstables import exact_scores

GAME, OPPONENT = "leduc_limit_2p", "always-call"
SEVERAL = "holds several strategies"
LOG = """# name/game/hands/seed m leduc.limit.2p.game 2 1
STATE:0:cc/crrc:Qs|Kh/Qh:9|-9:one|two
STATE:1:rrf:|Ah:-3|3:two|one
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three strategies of which the first is nearly an equilibrium."""
    there = tmp_path_factory.mktemp("portfolios") / "mine"
    tree = open_game(GAME, "history")
    near = cp.solve(GAME, "cfr+", iterations=20).profile
    any_one = TabularStrategy.random(tree, 3)
    Portfolio(
        GAME, (Member("near", near), Member("any", any_one), Member("even", TRIVIAL["50/50"].tabular(tree)))
    ).save(there)
    return there


def exact(folder: Path, member: str = "near") -> float:
    """What a member wins from the opponent."""
    found = load_portfolio(folder)
    tree, strategy = tree_of(GAME), found.members[found.number(member)].strategy
    return exact_scores(tree, [on_tree(strategy), TRIVIAL[OPPONENT].tabular(tree)])[0]


def lines(log: Path, member: str = "") -> int:
    """The hands in an agent's own log, or those that a member played."""
    return sum(f": {member}" in line for line in log.read_text().splitlines())


@pytest.mark.parametrize(
    "words",
    [
        ["evaluate", "{folder}"],
        ["evaluate", "--strategy", "{folder}", "--game", GAME],
        ["show", "{folder}"],
        ["show", "{folder}", "--infosets"],
        ["show", "{folder}", "--hands"],
        ["respond", "--model", "{folder}", "--game", GAME, "--kind", "best"],
        ["respond", "--model", "{folder}", "--kind", "best"],
        ["stitch", "{folder}", "--expert", "b@1={folder}/near.strategy", "--out", "x"],
        ["stitch", "{folder}/near.strategy", "--expert", "b@1={folder}", "--out", "x"],
        ["solve", GAME, "--part", "r@1", "--fix", "{folder}", "--iterations", "2"],
        ["analyse", "x.log", "--player", "one", "--strategy", "{folder}"],
        ["analyse", "x.log", "--player", "one", "--strategy", "{folder}/near.strategy", "--evaluate", "{folder}"],
        ["analyse", "x.log", "--player", "one", "--strategy", "{folder}/near.strategy", "--opponent", "{folder}"],
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_what_needs_one_strategy_says_so(
    words: list[str],
    folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The line names the verbs that take a portfolio, and where its strategies are; no file is written."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.log").write_text(LOG)
    before = sorted(path.name for path in [*tmp_path.iterdir(), *folder.iterdir()])
    refused(capsys, SEVERAL, *(word.replace("{folder}", str(folder)) for word in words))
    assert sorted(path.name for path in [*tmp_path.iterdir(), *folder.iterdir()]) == before


@pytest.mark.parametrize("verb", ["dominated", "info", "draw", "compare"])
def test_verbs_of_games_refuse_a_portfolio(verb: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    more = ("--algorithms", "cfr,cfr+") if verb == "compare" else ()
    refused(capsys, "unknown game", verb, folder, *more)


@pytest.mark.parametrize("member", ["near", "even"])
def test_match(member: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The member that always plays wins what is exact for it, within two intervals (four standard errors)."""
    path = folder / "portfolio.json"
    kept = path.read_text()
    path.write_text(json.dumps({**json.loads(kept), "equilibrium": member}))
    try:
        words = ["match", f"{folder}?select=fixed,log={tmp_path / 'log'}", OPPONENT, "--deals", 400, "--seed", 3]
        found = run(capsys, *words, "--estimate", "aivat")
    finally:
        path.write_text(kept)
    assert lines(tmp_path / "log", f"{member} played") == 800
    mean, half = found["agents"][0]["chips"], found["agents"][0]["chips_95"]
    assert abs(mean - exact(folder, member)) <= 2 * half
    assert half < 1.0


def test_tournament(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["tournament", tmp_path / "t", f"mine={folder}?select=fixed", OPPONENT, "--game", GAME]
    found = run(capsys, *words, "--deals", 300)
    won = next(row for row in found["bankroll"] if row["name"] == "mine")
    big_blind = tree_of(GAME).big_blind
    assert big_blind is not None
    assert abs(won["score"] - 1000 / big_blind * exact(folder)) <= 2 * won["score_95"]
    again = run(capsys, "tournament", tmp_path / "t")
    assert again["bankroll"] == found["bankroll"]


def test_agent(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """At a dealer's table, over the protocol."""
    definition = open_match_game(GAME).definition()
    dealer = Dealer(DealerConfig("m", definition, 40, 1, ("a", "b"), host="127.0.0.1", log=None), lambda _: None)
    with ThreadPoolExecutor(3) as pool:
        outcome = pool.submit(dealer.play)
        seated = pool.submit(main, ["agent", OPPONENT, GAME, "127.0.0.1", str(dealer.ports[1])])
        found = run(capsys, "agent", f"{folder}?log={tmp_path / 'log'}", GAME, "127.0.0.1", dealer.ports[0])
        assert seated.result(60) == 0
        score = outcome.result(60)
    assert (found["hands"], score.hands, lines(tmp_path / "log")) == (40, 40, 40)
    assert score.warnings == (0, 0)


def test_play(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Against a person it learns as at any table; hints are those of one strategy, so that it gives none."""
    monkeypatch.setattr("sys.stdin", io.StringIO("c\n" * 200))
    agent = f"{folder}?log={tmp_path / 'log'},select=ucb1"
    assert main(["play", agent, "--hands", "12", "--seed", "4", "--log", str(tmp_path / "hands")]) == 0
    learned = [line for line in (tmp_path / "log").read_text().splitlines() if "would have won: near" in line]
    assert len(learned) == 12
    assert len({line.split()[2] for line in learned}) > 1
    assert (tmp_path / "hands").read_text().count("STATE:") == 12
    refused(capsys, "no strategy whose probabilities could be shown", "play", folder, "--hint")


def test_games_that_it_cannot_play(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for game in ("kuhn", "goofspiel(cards=3)"):
        reason = "it cannot play kuhn" if game == "kuhn" else "cannot play goofspiel"
        refused(capsys, reason, "match", folder, OPPONENT, "--game", game)
        refused(capsys, reason, "tournament", tmp_path / "t", folder, OPPONENT, "--game", game, "--deals", 10)
    refused(capsys, "cannot play", "match", folder, OPPONENT, "--game", "kuhn_limit_2p")
    refused(capsys, "cannot play", "agent", folder, "kuhn_limit_2p", "127.0.0.1", 1)
    refused(capsys, "there is no agent 'nobody'", "play", folder, "--against", "nobody")
