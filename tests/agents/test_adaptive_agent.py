"""Agents that adapt: whom they choose and why, what a restart loses, what they risk, with two players and three."""

from __future__ import annotations

import functools
import json
import math
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.agents import (
    AdaptiveAgent,
    Agent,
    Dealer,
    DealerConfig,
    Entry,
    Member,
    Portfolio,
    make_entry,
    match,
    open_match_game,
)
from counterplay.agents.agent import Decision
from counterplay.agents.match_estimates import MatchRecorder
from counterplay.agents.matches import dealt_hand
from counterplay.agents.rule_agent import RuleAgent
from counterplay.agents.strategy_agent import StrategyAgent
from counterplay.cli.main import main
from counterplay.errors import GameError, StrategyError
from counterplay.evaluation.matches.member_estimates import MemberEstimates
from counterplay.forms import open_game
from counterplay.modelling.selection import RULES, make_rule
from counterplay.poker.acpc.dealing import deals as deal_stream
from counterplay.poker.acpc.match_state import MatchState
from counterplay.strategy.ready_made import READY_MADE
from counterplay.strategy.strategy import Strategy
from counterplay.strategy.strength_rules import StrengthRule
from counterplay.strategy.tabular import TabularStrategy
from counterplay.strategy.trivial import TRIVIAL, CardFree
from tests.crosstables import exact_scores

LEDUC = "leduc_limit_2p"
OPPONENTS = ("always-call", "always-raise", "tight")


@functools.cache
def best_response(opponent: str | Strategy, game: str = LEDUC) -> Strategy:
    found: Strategy = cp.modelling.respond(game, opponent, "best", progress=False).strategy
    return found


@functools.cache
def portfolio() -> Portfolio:
    """Nearly an equilibrium of Leduc, and soft best responses to three opponents."""
    near = cp.solve(LEDUC, "cfr+", iterations=60).profile
    made = [Member("equilibrium", near)]
    tree = open_game(LEDUC, "history")
    for name in OPPONENTS:
        best = best_response(name)
        assert isinstance(best, TabularStrategy)
        mixed = 0.9 * best.for_tree(tree) + 0.1 * near.for_tree(tree)
        made.append(Member(f"beats-{name}", TabularStrategy.from_tree(tree, mixed)))
    return Portfolio(LEDUC, tuple(made)).measured()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    there = tmp_path_factory.mktemp("agents") / "mine"
    portfolio().save(there)
    return there


def adaptive(seed: int = 0, **settings: Any) -> AdaptiveAgent:
    return AdaptiveAgent(portfolio(), open_match_game(LEDUC).definition(), seed, **settings)


def play(agent: AdaptiveAgent, opponent: Agent, hands: range, seed: int = 1) -> list[MatchState]:
    """Play some hands of a long match, seats changing."""
    rules = open_match_game(LEDUC).definition()
    found = []
    for number, deal in zip(range(hands.stop), deal_stream(rules, seed), strict=False):
        if number in hands:
            seated: list[Agent] = [agent, opponent] if number % 2 == 0 else [opponent, agent]
            found.append(dealt_hand(rules, deal, number, seated))
    return found


def test_every_member_is_estimated_and_the_rule_chooses() -> None:
    """By the one estimator of matches, from what the agent saw, and with the probabilities of the draw."""
    agent = adaptive(seed=3, select="thompson")
    hands = play(agent, RuleAgent("always-raise", 2), range(60))
    rules, members = open_match_game(LEDUC).definition(), portfolio().members
    estimates = MemberEstimates(rules, [member.strategy for member in members], "ac+ef")
    rule, found = make_rule("thompson", 4, 3), agent.choices()
    for number, hand in enumerate(hands):
        assert found.played[number] == rule.choose()
        row = estimates.estimate(hand.seen_by(number % 2), rule.shares())
        np.testing.assert_array_equal(found.estimates[number], row)
        rule.update(row)


@pytest.mark.parametrize("opponent", OPPONENTS)
def test_the_best_member_is_found(opponent: str) -> None:
    """The one that wins most by exact values, which the estimates come near."""
    tree, rules = open_game(LEDUC, "history"), open_game(LEDUC, "states")
    made = READY_MADE[opponent]
    assert isinstance(made, StrengthRule | CardFree)
    other = made.tabular(tree, rules) if isinstance(made, StrengthRule) else made.tabular(tree)
    exact = [exact_scores(tree, [member.strategy, other])[0] for member in portfolio().members]
    agent = adaptive(select="thompson")
    play(agent, RuleAgent(opponent, 5, rules), range(500))
    best = int(np.argmax(exact))
    assert best == 1 + OPPONENTS.index(opponent)
    assert np.bincount(agent.choices().played[250:], minlength=4).argmax() == best
    error = agent.rule.deviations[best] / math.sqrt(500)
    assert agent.rule.means[best] == pytest.approx(exact[best], abs=4.0 * error)


@pytest.mark.parametrize("select", RULES)
def test_the_same_seed_plays_the_same(select: str) -> None:
    entry = Entry("adaptive", lambda seed: adaptive(seed % 1000, select=select))
    one, two = (match(LEDUC, [entry, "50/50"], deals=15, seed=4) for _ in range(2))
    assert one.to_dict() == two.to_dict()


@pytest.mark.parametrize("select", RULES)
def test_a_restart_loses_nothing(select: str, tmp_path: Path) -> None:
    """Stopped after any hand, and in the middle of one: the state has all finished hands."""
    through = adaptive(seed=1, select=select, bound=20.0)
    whole = play(through, RuleAgent("always-raise", 2), range(30))
    found: list[MatchState] = []
    for part in (range(7), range(7, 8), range(8, 30)):
        agent = adaptive(seed=1, select=select, bound=20.0)
        agent.keep(tmp_path / "state")
        first = whole[part.start]
        if part.start % 2 == 0:  # a hand that was begun and is dealt again
            agent.act(first.seen_by(0).__class__(first.hand_id, first.betting.start(first.game), first.deal, 0))
            agent = adaptive(seed=1, select=select, bound=20.0)
            agent.keep(tmp_path / "state")
        found += play(agent, RuleAgent("always-raise", 2), part)
    assert [one.text() for one in found] == [one.text() for one in whole]
    assert (agent.hands, agent.safety.spent if agent.safety else None) == (
        through.hands, through.safety.spent if through.safety else None)  # fmt: skip
    assert agent.rule.state() == through.rule.state()


def test_a_hand_that_is_sent_twice_counts_once(tmp_path: Path) -> None:
    agent = adaptive()
    agent.keep(tmp_path / "state")
    (hand,) = play(agent, RuleAgent("always-raise", 2), range(1))
    again = adaptive()
    again.keep(tmp_path / "state")
    again.observe(hand.seen_by(0))
    assert again.rule.hands == 1


BLINDS = """GAMEDEF
limit
numPlayers = 2
numRounds = 1
blind = 2 1
raiseSize = 2
maxRaises = 1
numSuits = 2
numRanks = 4
numHoleCards = 1
numBoardCards = 0
firstPlayer = 2
END GAMEDEF
"""


@pytest.mark.parametrize(("first", "left"), [(6, 7), (6, 8), (8, 9), (8, 10)])
def test_hands_that_a_dealer_shows_again_count_once(first: int, left: int, tmp_path: Path) -> None:
    """Those since its last answer, of which some were counted before the kill; blinds let it win without acting."""
    path = tmp_path / "blinds.game"
    path.write_text(BLINDS)
    rules, tree = open_match_game(str(path)).definition(), open_game(str(path), "history")
    members = tuple(Member(name[:2], TRIVIAL[name].tabular(tree)) for name in ("50/50", "uniform"))

    def agent(state: Path) -> AdaptiveAgent:
        made = AdaptiveAgent(Portfolio(str(path), members), rules, 2)
        made.keep(state)
        return made

    through, seen = agent(tmp_path / "whole"), []
    for number, deal in zip(range(10), deal_stream(rules, 1), strict=False):
        other = RuleAgent("always-fold" if number in (7, 9) else "always-raise", 2)
        hand = dealt_hand(rules, deal, number, [through, other] if number % 2 else [other, through])
        seen.append(hand.seen_by(0 if number % 2 else 1))
        assert number not in (7, 9) or hand.betting.text() == "f"
    before = agent(tmp_path / "killed")
    for state in seen[:left]:
        before.observe(state)
    again = agent(tmp_path / "killed")
    for state in seen[first:]:
        again.observe(state)
    assert again.rule.hands == 10
    assert (tmp_path / "killed").read_bytes() == (tmp_path / "whole").read_bytes()


def test_the_log_after_a_kill(tmp_path: Path) -> None:
    """The last line is written after the state: a kill in between loses nothing, nor one within the line."""
    log = tmp_path / "log"
    agent = adaptive(log=log)
    agent.keep(tmp_path / "state")
    play(agent, RuleAgent("always-call", 2), range(4))
    whole = log.read_text()
    shorter = "".join(whole.splitlines(keepends=True)[:-1])
    for left in (whole, shorter, whole[: len(shorter) + 7], whole[:-1]):
        log.write_text(left)
        adaptive(log=log).keep(tmp_path / "state")
        assert log.read_text() == whole


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"members": ["a"]}, "another agent"),
        ({"bound": 5.0}, "another agent"),
        ({"game": "kuhn"}, "another agent"),
        ({"adaptive": 1}, "another agent"),
        ({"shares": [0.5, 0.5]}, "damaged"),
        ({"shares": [0.5, 0.5, 0.5, -0.5]}, "damaged"),
        ({"shares": [0.0, 0.0, 0.0, 0.0]}, "damaged"),
        ({"shares": [0.0, 0.0, 0.5, 0.5], "playing": 0}, "damaged"),
        ({"playing": 4}, "damaged"),
        ({"hands": [1, 2]}, "damaged"),
        ({"hands": [9, 0, 0, 0]}, "damaged"),
        ({"rule": {}}, "is missing"),
        ({"recent": None}, "a list"),
        ({"line": None}, "a text"),
        ({"spent": -1.0}, "damaged"),
        ({"spent": 21.0}, "damaged"),
    ],
)
def test_damaged_states(change: dict[str, Any], words: str, tmp_path: Path) -> None:
    path = tmp_path / "state"
    agent = adaptive(bound=20.0)
    agent.keep(path)
    play(agent, RuleAgent("always-raise", 2), range(3))
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(StrategyError, match=words):
        adaptive(bound=20.0).keep(path)
    path.write_text("{")
    with pytest.raises(StrategyError, match="cannot be read"):
        adaptive(bound=20.0).keep(path)


def test_remarks_and_the_log(tmp_path: Path) -> None:
    agent = adaptive(select="greedy", window=0, bound=0.4, log=tmp_path / "log")
    play(agent, RuleAgent("always-call", 2), range(25))
    lines = (tmp_path / "log").read_text().splitlines()
    assert len(lines) == 25
    for number, line in enumerate(lines):
        assert re.match(rf"hand {number}: \S+ played \(greedy: equilibrium .*; risked .* of 0.4 chips.*\); would", line)
    assert any("instead of" in line for line in lines)
    assert agent.remarks()[0].startswith("greedy played equilibrium")
    assert "now the equilibrium alone" in agent.remarks()[1]


def test_what_is_no_hand_of_a_definition() -> None:
    with pytest.raises(GameError, match="poker from a definition"):
        adaptive().act(Decision(0, 0, "J", ("c", "r")))
    with pytest.raises(GameError, match="two players"):
        three_players(bound=1.0)


# Three players ----------------------------------------------------------------------------------------------------


@functools.cache
def three_player_portfolio() -> Portfolio:
    tree = open_game("kuhn_limit_3p", "history")
    near = cp.solve("kuhn_limit_3p", "cfr", iterations=300).profile
    bold = TRIVIAL["50/50"].tabular(tree)
    tables = {"base": near.for_tree(tree), "bold": 0.8 * bold.for_tree(tree) + 0.2 * near.for_tree(tree)}
    return Portfolio("kuhn_limit_3p", tuple(
        Member(name, TabularStrategy.from_tree(tree, table)) for name, table in tables.items()
    ))  # fmt: skip


def three_players(**settings: Any) -> AdaptiveAgent:
    return AdaptiveAgent(three_player_portfolio(), open_match_game("kuhn_limit_3p").definition(), **settings)


@pytest.mark.parametrize("opponent", ["always-call", "always-fold"])
def test_three_players_choose_by_importance_sampling(opponent: str) -> None:
    """The better member by exact values against two of the same opponents is played in the end."""
    tree = open_game("kuhn_limit_3p", "history")
    other = TRIVIAL[opponent].tabular(tree)
    exact = [exact_scores(tree, [member.strategy, other, other])[0] for member in three_player_portfolio().members]
    rules = open_match_game("kuhn_limit_3p").definition()
    agent = three_players(select="greedy", window=0)
    others = [RuleAgent(opponent, seed) for seed in (1, 2)]
    for number, deal in zip(range(400), deal_stream(rules, 3), strict=False):
        seated: list[Agent] = [*others]
        seated.insert(number % 3, agent)
        dealt_hand(rules, deal, number, seated)
    assert np.bincount(agent.choices().played[200:], minlength=2).argmax() == int(np.argmax(exact))
    np.testing.assert_allclose(agent.rule.means, exact, atol=0.35)


# Verbs ------------------------------------------------------------------------------------------------------------


def test_match_shows_who_was_chosen(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["match", f"{folder}?select=thompson", "always-raise", "--deals", "40", "--seed", "2"]
    assert main([*words, "--show"]) == 0
    out = capsys.readouterr().out
    assert out.count("share of the hands that each member played") == 2
    assert "beats-always-raise" in out
    assert main([*words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    result = match(LEDUC, [f"{folder}?select=thompson", "always-raise"], 40, 2)
    assert told["choices"] == json.loads(json.dumps(result.to_dict()["choices"]))
    for found in result.choices["mine"]:
        assert len(found.played) == 40
        end, shares, means = found.curve()[-1]
        assert end == 40
        assert math.fsum(shares) == pytest.approx(1.0)
        np.testing.assert_allclose(means, found.estimates.mean(axis=0))


def test_show_needs_a_portfolio(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", "50/50", "always-call", "--game", LEDUC, "--show"]) != 0
    assert "none of these agents is a portfolio" in capsys.readouterr().err


def test_an_agent_at_a_table(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Over the protocol; the state is that of the same hands in process, and a second match resumes it."""
    state, rules = tmp_path / "state", open_match_game(LEDUC).definition()
    for played in (30, 60):
        dealer = Dealer(DealerConfig("m", rules, 30, 1, ("a", "b"), host="127.0.0.1", log=None), lambda _: None)
        with ThreadPoolExecutor(3) as pool:
            outcome = pool.submit(dealer.play)
            other = pool.submit(main, ["agent", "always-call", LEDUC, "127.0.0.1", str(dealer.ports[1])])
            words = ["agent", str(folder), LEDUC, "127.0.0.1", str(dealer.ports[0]), "--select", "ucb1"]
            assert main([*words, "--state", str(state), "--json"]) == 0
            assert (other.result(60), outcome.result(60).hands) == (0, 30)
        assert json.loads(state.read_text())["rule"]["hands"] == played
        assert f"of {played} hands" in json.loads(capsys.readouterr().out.splitlines()[-1])["remarks"][0]
        agent = adaptive(select="ucb1")
        agent.keep(state)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["50/50", "--select", "ucb1"], "are for portfolios"),
        (["50/50", "--state", "x"], "are for portfolios"),
        (["{folder}?select=ucb1", "--select", "greedy"], "given twice"),
        (["{folder}", "--select", "best"], "there is no rule"),
    ],
)
def test_wrong_words(words: list[str], reason: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    agent = words[0].replace("{folder}", str(folder))
    assert main(["agent", agent, LEDUC, "127.0.0.1", "1", *words[1:]]) != 0
    assert reason in capsys.readouterr().err


@pytest.mark.parametrize("played", [[0] * 12, [1, 0] * 6, [3, 2, 1, 0] * 3])
def test_estimates_of_a_match_take_the_member_that_played_each_hand(played: list[int], folder: Path) -> None:
    """The same hands, recorded for a portfolio and for each member as an agent of its own."""
    game, other = open_match_game(LEDUC), make_entry(best_response("always-call"))
    rules, seatings = game.definition(), [(0, 1), (1, 0)]
    entries = [make_entry(str(folder)), *(make_entry(one.strategy, one.name) for one in portfolio().members)]
    recorders = [MatchRecorder(game, [entry, other], seatings, "aivat,ac+ef") for entry in entries]
    agents: list[Agent] = [StrategyAgent(portfolio().members[0].strategy, 5, rules), other.agent(game, 6)]
    for number, deal in zip(range(12), deal_stream(rules, 4), strict=False):
        finals = [dealt_hand(rules, deal, number, [agents[one] for one in seating]) for seating in seatings]
        for recorder in recorders:
            recorder.by_agents(finals)
    ends = np.concatenate(recorders[0]._ends)
    members = [np.array(played), np.array(played[::-1])]
    _, found = recorders[0]._scores(0, ends, None, members)
    parts = [recorder._scores(0, ends, None, None)[1] for recorder in recorders[1:]]
    if set(played) == {0}:
        np.testing.assert_array_equal(found, parts[0])
        summary = recorders[0].summaries(None, {0: members})["mine"]
        assert summary == next(iter(recorders[1].summaries().values()))
    # a deal that one member played in both seats is estimated as that member does
    for deal, (one, two) in enumerate(zip(*members, strict=True)):
        if one == two:
            np.testing.assert_array_equal(found[deal], parts[one][deal])


def test_estimates_agree_with_money(folder: Path) -> None:
    found = match(LEDUC, [f"{folder}?select=exponential", best_response("always-call")], 150, 3, estimators="aivat")
    money, aivat = found.estimates["mine"]
    assert len({int(one) for made in found.choices["mine"] for one in made.played}) > 1
    assert (money.mean, money.half) == pytest.approx(found.estimate(0))
    assert abs(aivat.mean - money.mean) < 1.5 * money.half
