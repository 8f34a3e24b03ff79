"""Agents and matches in one process: what trivial agents do, duplicate scores, intervals, kernel and twin."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from counterplay.agents import Agent, Decision, Estimate, MatchGame, Tally, match, open_match_game
from counterplay.agents.agent import Seen, policy_profile
from counterplay.agents.entries import make_entries
from counterplay.agents.matches import Seeds, _by_agents, _on_tree, seatings_of
from counterplay.agents.rule_agent import RuleAgent
from counterplay.agents.strategy_agent import StrategyAgent
from counterplay.cli.main import main
from counterplay.errors import CounterplayError, GameError, StrategyError
from counterplay.game import make
from counterplay.poker.acpc.dealing import Deal, deals
from counterplay.poker.acpc.definition import GameDefinition, format_definition
from counterplay.poker.acpc.infoset_names import namer
from counterplay.poker.acpc.match_state import MatchState, hand_values
from counterplay.poker.acpc.standard import STANDARD
from counterplay.poker.evaluator import rank_hand, rank_hands
from counterplay.poker.isomorphism import HandIndexer
from counterplay.poker.poker_game import PokerGame
from counterplay.poker.rules import Betting
from counterplay.runs import solve
from counterplay.strategy import TabularStrategy
from counterplay.strategy.trivial import TRIVIAL
from counterplay.tree import compile_game
from tests.bridge import to_profile
from tests.crosstables import exact_scores
from tests.reference.matches import play_deal
from tests.reference.walks import random_profile

HOLDEM = "holdem.limit.2p.reverse_blinds"
NO_LIMIT = "holdem.nolimit.2p.reverse_blinds"


def state(game: str, betting: str, seed: int = 0) -> MatchState:
    after = Betting.after(STANDARD[game], betting)
    return MatchState(0, after, next(deals(STANDARD[game], seed))).seen_by(after.player)


class TestTrivialAgents:
    @pytest.mark.parametrize(
        ("agent", "betting", "answer"),
        [
            pytest.param("always-fold", "", "f", id="the small blind faces a bet"),
            pytest.param("always-fold", "c", "c", id="no fold when a check is free"),
            pytest.param("always-call", "r", "c", id="call"),
            pytest.param("always-raise", "", "r", id="raise"),
            pytest.param("always-raise", "rrr", "c", id="capped"),
            pytest.param("50/50", "rrr", "c", id="capped probe"),
        ],
    )
    def test_answers(self, agent: str, betting: str, answer: str) -> None:
        assert RuleAgent(agent, seed=3).act(state(HOLDEM, betting)) == answer

    def test_no_limit_raises_are_the_smallest(self) -> None:
        assert RuleAgent("always-raise").act(state(NO_LIMIT, "r300")) == "r500"

    def test_the_probe_never_folds(self) -> None:
        probe = RuleAgent("50/50", seed=1)
        drawn = [probe.act(dataclasses.replace(state(HOLDEM, "r"), hand_id=hand)) for hand in range(1000)]
        assert set(drawn) == {"c", "r"}
        assert abs(drawn.count("r") - 500) < 100  # six standard deviations

    def test_uniform_takes_every_size(self) -> None:
        agent = RuleAgent("uniform", seed=1)
        small = GameDefinition(limit=False, players=2, rounds=1, blinds=(1, 1), stacks=(4, 4), suits=1, ranks=3,
                               hole_cards=1, board_cards=(0,))  # fmt: skip
        start = MatchState(0, Betting.start(small), Deal(((51,), (47,)), ())).seen_by(0)
        drawn = [agent.act(dataclasses.replace(start, hand_id=hand)) for hand in range(400)]
        assert drawn == [agent.act(dataclasses.replace(start, hand_id=hand)) for hand in range(400)]  # asked again
        assert set(drawn) == {action for action, _ in agent.distribution(start)} == {"c", "r2", "r3", "r4"}
        assert all(drawn.count(action) > 50 for action in set(drawn))

    def test_words_of_other_games(self) -> None:
        answers = {name: RuleAgent(name).act(Decision(0, 0, "K:b", ("fold", "call", "raise"))) for name in TRIVIAL}
        assert [answers[f"always-{word}"] for word in ("fold", "call", "raise")] == ["fold", "call", "raise"]
        with pytest.raises(GameError, match="play fold, call and raise"):
            RuleAgent("always-call").act(Decision(0, 0, "x", ("left", "right")))
        with pytest.raises(GameError, match="check or call where they can"):
            RuleAgent("always-fold").act(Decision(0, 0, "x", ("fold",)))

    def test_a_policy_becomes_a_profile(self) -> None:
        tree = compile_game("leduc")
        profile = policy_profile(RuleAgent("50/50"), tree)
        assert profile.probabilities(0, "K:kb") == {"fold": 0.0, "call": 0.5, "raise": 0.5}
        assert policy_profile(RuleAgent("uniform"), tree).table == pytest.approx(TabularStrategy.uniform(tree).table)


def test_fold_loses_750_to_whoever_bets() -> None:
    """Johanson 2016, section 2.6: always-fold is exploitable for 750 mbb/g, and always-raise takes all of that."""
    result = match(HOLDEM, ["always-fold", "always-raise"], 50)
    assert result.mbb(0) == (-750.0, 0.0)
    assert result.mbb(1) == (750.0, 0.0)


class TestCallAgainstRaise:
    """Both go to the showdown with 70 chips each in heads-up limit: the expected value follows by enumeration."""

    def test_duplicate_is_exactly_even(self) -> None:
        result = match(HOLDEM, ["always-call", "always-raise"], 300)
        assert result.estimate(0) == (0.0, 0.0)
        assert result.hands == 600

    @pytest.mark.parametrize(("suits", "ranks"), [pytest.param(3, 4, marks=pytest.mark.slow), (2, 5)])
    def test_small_decks_by_enumeration(self, suits: int, ranks: int) -> None:
        """All deals of a small deck: mean and mean square of the caller's winnings in position 0."""
        played = open_match_game(f"holdem_limit_2p(suits={suits},ranks={ranks})")
        game = played.deal_rules
        assert game is not None
        counts = {-70: 0, 0: 0, 70: 0}
        for hole in itertools.combinations(game.deck, 2):
            left = [card for card in game.deck if card not in hole]
            for other in itertools.combinations(left, 2):
                rest = [card for card in left if card not in other]
                for board in itertools.combinations(rest, 5):
                    one, two = rank_hand((*hole, *board)), rank_hand((*other, *board))
                    counts[70 * ((one > two) - (one < two))] += 1
        total = sum(counts.values())
        mean, square = (counts[70] - counts[-70]) * 70 / total, (counts[70] + counts[-70]) * 4900 / total
        assert mean == 0.0
        plain = MatchGame(played.name, played.game)
        deals = 2000
        result = match(plain, ["always-call", "always-raise"], deals, seed=5, duplicate=False)
        assert abs(result.estimate(0).mean - mean) <= 4 * math.sqrt(square / deals)
        share = square / 4900
        seen = result.tally.products[0][0] / 4900 / deals
        assert abs(seen - share) <= 4 * math.sqrt(share * (1 - share) / deals) + 1e-12

    def test_leduc_by_the_tree(self) -> None:
        tree = compile_game("leduc")
        pair = [policy_profile(RuleAgent("always-call"), tree), policy_profile(RuleAgent("always-raise"), tree)]
        assert exact_scores(tree, pair) == pytest.approx([0.0, 0.0], abs=1e-12)
        assert match("leduc", ["always-call", "always-raise"], 1000).estimate(0) == (0.0, 0.0)


MATCH_GAMES = ["kuhn", "leduc", "kuhn(players=3)", "leduc_limit_2p", "kuhn_limit_3p", "toy_forgotten_lever(p=0.6)"]


@pytest.mark.parametrize("game", MATCH_GAMES)
def test_kernel_equals_twin(game: str) -> None:
    rules, tree = make(game), compile_game(game)
    tables = [random_profile(rules, seed) for seed in range(tree.players)]
    profiles = [to_profile(tree, table) for table in tables]
    seatings = seatings_of(tree.players)
    seeds = Seeds.of(7)
    (scores,) = _on_tree(tree, profiles, seatings, seeds, 3, 40)
    twin = [play_deal(rules, tables, seatings, (seeds.deal, seeds.play), index) for index in range(3, 43)]
    assert scores == pytest.approx(np.array(twin), abs=1e-12)


def test_deals_do_not_depend_on_their_company() -> None:
    tree = compile_game("leduc")
    pair = [TabularStrategy.random(tree, 1), TabularStrategy.random(tree, 2)]
    (together,) = _on_tree(tree, pair, seatings_of(2), Seeds.of(1), 0, 100)
    apart = [next(_on_tree(tree, pair, seatings_of(2), Seeds.of(1), first, 25)) for first in (0, 25, 50, 75)]
    assert np.array_equal(together, np.concatenate(apart))


@pytest.mark.parametrize(
    ("game", "count"), [("kuhn", 200_000), ("leduc", 200_000), ("kuhn(players=3)", 100_000), ("kuhn_limit_2p", 100_000)]
)
def test_matches_come_close_to_expected_values(game: str, count: int) -> None:
    tree = compile_game(game)
    profiles = [TabularStrategy.random(tree, seed + 10) for seed in range(tree.players)]
    result = match(game, profiles, count, seed=4)
    for agent, exact in enumerate(exact_scores(tree, profiles)):
        estimate = result.estimate(agent)
        assert abs(estimate.mean - exact) <= 2 * estimate.half  # four standard errors
        assert 0 < estimate.half < 0.1


def test_duplicate_lowers_the_variance() -> None:
    tree = compile_game("leduc")
    pair = [TabularStrategy.random(tree, 1), TabularStrategy.uniform(tree)]
    twice = match("leduc", pair, 20_000).tally
    once = match("leduc", pair, 40_000, duplicate=False).tally
    assert twice.estimate(0).half < 0.95 * once.estimate(0).half


class TestPathsAgree:
    """The kernel, the states of a game and the dealer's deals are three ways to play the same hands."""

    @pytest.mark.parametrize("game", ["kuhn", "leduc(ranks=2)", "kuhn_limit_2p"])
    def test_states_and_dealer(self, game: str) -> None:
        tree = compile_game(game)
        profiles = [TabularStrategy.random(tree, seed) for seed in range(2)]

        def slow(profile: TabularStrategy) -> Callable[[int], Agent]:
            played = open_match_game(game)
            return lambda seed: _Hidden(StrategyAgent(profile, seed, played.deal_rules))

        result = match(game, [slow(profile) for profile in profiles], 4000, seed=2)
        exact = exact_scores(tree, profiles)
        for agent in range(2):
            assert abs(result.estimate(agent).mean - exact[agent]) <= 2 * result.estimate(agent).half

    def test_positions_hold_the_same_cards_in_each_seating(self) -> None:
        """Same seed, seats swapped: identical cards in each position."""
        seen: list[list[tuple[int, MatchState]]] = [[], []]

        class Watcher(RuleAgent):
            def __init__(self, number: int) -> None:
                super().__init__("always-call")
                self.number = number

            def observe(self, state: MatchState) -> None:
                seen[self.number].append((state.position or 0, state))

        copies = [[Watcher(0), Watcher(0)], [Watcher(1), Watcher(1)]]
        assert len(list(_by_agents(open_match_game(HOLDEM), copies, seatings_of(2), Seeds.of(1), 0, 20))) == 20
        assert len(seen[0]) == 40
        for (one, first), (two, second) in zip(seen[0], seen[1], strict=True):
            assert one == two
            assert first.deal == second.deal


class _Hidden(Agent):
    """An agent that does not show that it is a policy."""

    def __init__(self, inner: Agent) -> None:
        self.inner = inner

    def act(self, seen: Seen) -> str:
        return self.inner.act(seen)


class TestNames:
    @pytest.mark.parametrize(
        ("solved", "played"),
        [
            ("kuhn", "kuhn.limit.2p"),
            ("kuhn(players=3)", "kuhn.limit.3p"),
            ("leduc", "leduc.limit.2p"),
            ("leduc(suited=true)", "leduc.limit.2p"),
            ("leduc_limit_2p", "leduc.limit.2p"),
            ("leduc_limit_2p(isomorphic=true)", "leduc.limit.2p"),
            ("leduc_nolimit_2p(stack=300)", ""),
            ("holdem_2_1(ranks=4,suits=2,isomorphic=true)", ""),
        ],
    )
    def test_every_state_has_the_name_of_its_information_set(self, solved: str, played: str) -> None:
        """Random hands: each decision is known to a profile, with the actions that are legal there."""
        made = make(solved)
        game = STANDARD[played] if played else made.definition if isinstance(made, PokerGame) else None
        assert game is not None
        agent = StrategyAgent(TabularStrategy.uniform(compile_game(solved)), 1, game)
        stream = deals(game, 3)
        for hand in range(60):
            full = MatchState(hand, Betting.start(game), next(stream))
            while not full.betting.finished:
                seen = full.seen_by(full.betting.player)
                assert {action for action, _ in agent.distribution(seen)} == set(seen.betting.legal_actions())
                full = full.act(agent.act(seen))

    def test_values_agree(self) -> None:
        """A match of hand-written Leduc strategies under the dealer's rules is worth what the tree says."""
        tree = compile_game("leduc")
        profiles = [TabularStrategy.random(tree, 1), TabularStrategy.random(tree, 2)]
        result = match("leduc.limit.2p", profiles, 3000, seed=1)
        exact = exact_scores(tree, profiles)
        assert abs(result.estimate(0).mean - exact[0]) <= 2 * result.estimate(0).half

    def test_other_games_are_refused(self) -> None:
        with pytest.raises(GameError, match="another game"):
            namer(make("leduc"), STANDARD["kuhn.limit.2p"])
        with pytest.raises(GameError, match="another game"):
            namer(make("goofspiel"), STANDARD["kuhn.limit.2p"])
        with pytest.raises(StrategyError, match="cannot play kuhn"):
            match("kuhn", [TabularStrategy.uniform(compile_game("leduc")), "always-call"], 5)

    def test_unknown_situations_are_told(self) -> None:
        agent = StrategyAgent(TabularStrategy.uniform(compile_game("kuhn")))
        with pytest.raises(StrategyError, match="does not know 'Z:'"):
            agent.act(Decision(0, 0, "Z:", ("check", "bet")))
        with pytest.raises(StrategyError, match="give it the definition"):
            agent.act(state("kuhn.limit.2p", ""))


class TestTally:
    def test_intervals(self) -> None:
        rng = np.random.default_rng(1)
        scores = rng.normal(2.0, 3.0, (500, 2))
        tally = Tally.of(scores[:200]) + Tally.of(scores[200:])
        for agent in range(2):
            half = 1.96 * scores[:, agent].std(ddof=1) / math.sqrt(500)
            assert tally.estimate(agent) == pytest.approx((scores[:, agent].mean(), half))
        apart = scores[:, 0] - scores[:, 1]
        assert tally.difference(0, 1) == pytest.approx((apart.mean(), 1.96 * apart.std(ddof=1) / math.sqrt(500)))
        assert Tally.from_dict(json.loads(json.dumps(tally.to_dict()))) == tally

    def test_too_few_deals(self) -> None:
        assert Tally.of(np.ones((1, 2))).estimate(0) == (1.0, math.inf)
        with pytest.raises(GameError, match="no deal"):
            Tally.empty(2).estimate(0)

    def test_coverage_of_the_interval(self) -> None:
        """Of 300 small matches about 95 % hold the exact value: at least 90 %, which is four deviations below."""
        tree = compile_game("leduc")
        pair = [TabularStrategy.random(tree, 1), TabularStrategy.random(tree, 2)]
        exact = exact_scores(tree, pair)[0]
        held = sum(match("leduc", pair, 400, seed=seed).estimate(0).holds(exact) for seed in range(300))
        assert held >= 270

    def test_units(self) -> None:
        assert Estimate(1.0, 0.5).scaled(2.0) == (2.0, 1.0)
        result = match("matrix", ["uniform", "uniform"], 10)
        with pytest.raises(GameError, match="no big blind"):
            result.mbb(0)
        assert "mbb" not in result.to_dict()["agents"][0]


def test_seatings() -> None:
    assert seatings_of(2) == [(0, 1), (1, 0)]
    assert len(seatings_of(3)) == 6
    assert len(seatings_of(5)) == 5
    for players in range(2, 7):
        for agent in range(players):
            positions = [seating.index(agent) for seating in seatings_of(players)]
            assert {positions.count(position) for position in range(players)} == {len(positions) // players}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: match("leduc", ["always-call"], 5), "is played by 2; got 1"),
        (lambda: match("leduc", ["always-call", "always-call"], 0), "at least 1 deal; got 0"),
        (lambda: match("leduc", ["always-call", "always-cal"], 1), "did you mean 'always-call'"),
        (lambda: match("leduc", ["always-call", "call"], 1), "there is no agent 'call'; did you mean 'always-call'"),
        (lambda: match("leduc", ["always-call", "probe"], 1), "there is no agent 'probe'; did you mean '50/50'"),
        (lambda: match("leduc", ["a b=always-call", "always-call"], 1), "no blanks"),
        (lambda: match("leduc", ["always-call", "program:/nowhere"], 1), "cannot be started"),
        (lambda: match("goofspiel(cards=3)", ["always-call", "uniform"], 1), "play fold, call and raise"),
    ],
)
def test_misuse(call: Callable[[], object], message: str) -> None:
    with pytest.raises(CounterplayError, match=message):
        call()


def test_agents_of_builds_are_called_by_their_folder() -> None:
    sources = ["leduc-tiny/agent.strategy", "leduc-laptop/agent.strategy?purify=true", "x/leduc.strategy"]
    names = [entry.name for entry in make_entries([*sources, "mine=leduc-tiny/agent.strategy"])]
    assert names == ["leduc-tiny", "leduc-laptop", "leduc", "mine"]


def test_folders_of_builds_stand_for_their_agents(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In matches by the name of the folder; and measured and shown like the file."""
    folder = tmp_path / "kuhn-tiny"
    folder.mkdir()
    with pytest.raises(CounterplayError, match=r"folder without agent\.strategy"):
        match("kuhn", [str(folder), "uniform"], 1)
    solve("kuhn", iterations=50).profile.save(folder / "agent.strategy")
    found = match("kuhn", [str(folder), f"{folder}?purify=true"], 5)
    assert found.names == ("kuhn-tiny", "kuhn-tiny-2")
    printed = []
    for path in (folder, folder / "agent.strategy"):
        for words in (["show", str(path), "--json"], ["match", str(path), "always-call", "--deals", "9"]):
            assert main(words) == 0
            printed.append(capsys.readouterr().out)
        assert main(["evaluate", str(path), "--json"]) == 0
        printed.append(json.loads(capsys.readouterr().out)["exploitability"])
    assert printed[:3] == printed[3:]


def test_names_are_told_apart() -> None:
    result = match("kuhn", ["always-call", "always-call"], 5)
    assert result.names == ("always-call", "always-call-2")
    assert match("kuhn", ["me=always-call", "always-raise"], 5).names == ("me", "always-raise")


class TestVerb:
    def test_json(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        path = tmp_path / "kuhn.profile"
        solve("kuhn", algorithm="cfr+", iterations=200).profile.save(path)
        assert main(["match", f"eq={path}", "uniform", "--deals", "50000", "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert told["game"] == "kuhn"
        assert told["hands"] == 100_000
        best, worst = told["agents"]
        assert (best["name"], worst["name"]) == ("eq", "uniform")
        assert best["mbb"] > 50  # Gibson 2014, table 4.1: the equilibria win 111 to 167 from Uni
        assert told["differences"][0]["chips"] == pytest.approx(2 * best["chips"])

    def test_for_people(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        path = tmp_path / "three.game"
        path.write_text(format_definition(STANDARD["kuhn.limit.3p"]))
        assert main(["match", "always-call", "always-raise", "always-fold", "--game", str(path), "--deals", "20"]) == 0
        told = capsys.readouterr().out
        assert "20 deals in 6 seatings, 120 hands" in told
        assert "mbb/g" in told
        assert "always-call - always-raise" in told

    def test_one_deal_has_no_interval(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["match", "always-call", "always-raise", "--game", "kuhn", "--deals", "1", "--json"]) == 0
        told = json.loads(capsys.readouterr().out, parse_constant=lambda word: pytest.fail(word))
        assert told["agents"][0]["chips_95"] is None

    def test_misuse(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["match", "always-call", "always-raise"]) == 2
        assert "--game" in capsys.readouterr().err


@pytest.mark.slow
def test_call_against_raise_over_all_boards() -> None:
    """Heads-up limit by exact enumeration of all boards and all pairs of hands: the share of ties, and play."""
    boards = HandIndexer((5,))
    classes = np.arange(boards.size())
    ties = 0
    for board, weight in zip(boards.hands(classes), boards.orbits(classes).tolist(), strict=True):
        left = np.setdiff1d(np.arange(52, dtype=np.uint8), board)
        one, two = np.triu_indices(len(left), 1)
        hands = np.empty((len(one), 7), np.uint8)
        hands[:, 0], hands[:, 1], hands[:, 2:] = left[one], left[two], board
        group = np.unique(rank_hands(hands), return_inverse=True)[1]
        alike = np.bincount(group)
        sharing = np.bincount(np.concatenate((47 * group + one, 47 * group + two)))
        same = int((alike * (alike - 1) // 2).sum()) - int((sharing * (sharing - 1) // 2).sum())
        ties += weight * same  # of two hands with one rank, those that share a card cannot be dealt together
    total = math.comb(52, 5) * math.comb(47, 2) * math.comb(45, 2) // 2
    share = 1 - ties / total
    played = 20_000
    result = match(HOLDEM, ["always-call", "always-raise"], played, seed=9, duplicate=False)
    assert abs(result.estimate(0).mean) <= 4 * 70 * math.sqrt(share / played)
    seen = result.tally.products[0][0] / 4900 / played
    assert abs(seen - share) <= 4 * math.sqrt(share * (1 - share) / played)


def test_hand_values_are_those_of_the_state() -> None:
    full = MatchState(0, Betting.after(STANDARD[HOLDEM], "cc/cc/cc/cc"), next(deals(STANDARD[HOLDEM], 0)))
    assert sum(hand_values(full.betting, full.deal)) == 0
    assert list(TRIVIAL) == ["always-fold", "always-call", "always-raise", "50/50", "uniform"]
