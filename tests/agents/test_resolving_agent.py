"""Two-phase agents: what they play is the blueprint with its subgames solved again, and nothing else."""

from __future__ import annotations

import dataclasses
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.agents.agent import Decision, policy_profile
from counterplay.agents.entries import make_entry
from counterplay.agents.match_game import MatchGame, open_match_game
from counterplay.agents.matches import match
from counterplay.agents.resolving_agent import ResolvingAgent
from counterplay.agents.strategy_agent import StrategyAgent
from counterplay.errors import CounterplayError, GameError, MemoryLimitError
from counterplay.evaluation.lifted_buckets import LiftedStrategy
from counterplay.forms import open_game
from counterplay.poker.acpc.dealing import Deal
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.acpc.match_state import MatchState
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.poker_game import PokerFile
from counterplay.poker.poker_public_tree import build_public_tree
from counterplay.poker.raise_sizes import bet_abstraction
from counterplay.poker.rules import Betting
from counterplay.runtime.pacing import Until
from counterplay.solvers.hand_resolving import HandResolver
from counterplay.solvers.resolving import after_deals, resolve_below
from counterplay.strategy.bucket_strategy import BucketStrategy
from counterplay.strategy.public_lookup import HandTables, PublicIndex
from counterplay.strategy.public_strategy import fill_table
from counterplay.tree.public.from_histories import split_public
from tests.agents.test_dealer import config, play
from tests.poker.test_bucket_game import NO_LIMIT, forgetting

EXACT: dict[str, Any] = {"iterations": 60, "seconds": 600, "within": 1e-12}
"""Settings with which the clock decides nothing."""

RULES = GameDefinition(
    limit=True, players=2, rounds=3, blinds=(2, 1), raise_sizes=(2, 2, 4), max_raises=(1, 1, 1), suits=3, ranks=4,
    hole_cards=2, board_cards=(0, 1, 1), first_players=(1, 0, 0),
)  # fmt: skip


@pytest.fixture(scope="module")
def blueprint() -> cp.TabularStrategy:
    found = cp.solve("leduc", iterations=40).profile
    assert isinstance(found, cp.TabularStrategy)
    return found


def leduc_agent(strategy: cp.TabularStrategy, **settings: Any) -> ResolvingAgent:
    return ResolvingAgent(strategy, 1, open_match_game("leduc").definition(), 2, **settings)


@pytest.mark.parametrize("safe", [True, False])
def test_at_the_table_it_plays_what_is_measured(blueprint: cp.TabularStrategy, safe: bool) -> None:
    """Leduc by the names of its information sets: the table of every infoset is that of ``resolve_below``."""
    split = split_public(open_game("leduc"))
    tables = split.tables(blueprint.for_tree(split.game))
    whole = resolve_below(split.public, tables, after_deals(1), Until(iterations=60), safe)
    agent = leduc_agent(blueprint, safe=safe, **EXACT)
    found = policy_profile(agent, split.game)
    measured = cp.evaluate(found, "leduc").exploitability
    expected = cp.TabularStrategy.from_tree(split.game, _shares(split, whole.tables))
    assert measured == pytest.approx(cp.evaluate(expected, "leduc").exploitability, abs=1e-5)
    before = cp.evaluate(blueprint, "leduc").exploitability
    if safe:
        assert measured <= before + sum(whole.errors) / 2 + 1e-5
    else:
        assert measured > before
    assert agent.kept_blueprint == 0


def _shares(split: Any, tables: Any) -> np.ndarray:
    played, found = HandTables(tables), [np.zeros(size) for size in split.public.num_entries]
    for player in (0, 1):
        for node, deal in split.public.states_of(player):
            rows = played.matrix(split.public, node, deal)
            found[player][split.public.entries(node, deal)] = rows.T.ravel()
    return np.asarray(split.values((found[0], found[1])))


@pytest.fixture(scope="module")
def twelve() -> BucketStrategy:
    """A random strategy by two buckets a round, of hold'em with 12 cards and three rounds."""
    game = BucketGame.build(RULES, forgetting(RULES), name="twelve.game")
    dice = np.random.default_rng(4)
    return BucketStrategy.of_game(game, dice.exponential(size=game.num_entries))


@pytest.mark.parametrize("safe", [True, False])
def test_suits_are_those_of_the_hand(twelve: BucketStrategy, safe: bool) -> None:
    """Match states of hands whose boards are other ones up to suits than those of the trees."""
    tree = build_public_tree(RULES, name="twelve")
    strategy = LiftedStrategy(twelve)
    tables = fill_table(tree, 0, strategy), fill_table(tree, 1, strategy)
    chosen = {"cc/", "rc/"}
    whole = resolve_below(
        tree, tables, lambda t, node, deal: deal > 0 and t.node_text[node] in chosen, Until(iterations=20), safe
    )
    index, played = PublicIndex(tree), HandTables(whole.tables)
    agent = ResolvingAgent(twelve, 1, RULES, "2", safe=safe, **(EXACT | {"iterations": 20}))
    dice = np.random.default_rng(6)
    for hand, text in itertools.product(range(4), ("cc/", "rc/r", "cc/cc/", "rc/crc/r", "cc/c")):
        cards = [int(card) for card in dice.permutation(RULES.deck)[:6]]
        betting = Betting.after(RULES, text)
        holes = (tuple(sorted(cards[:2])), tuple(sorted(cards[2:4])))
        board = tuple(cards[4 : 4 + RULES.board_ends[betting.round]])
        state = MatchState(hand, betting, Deal(holes, board)).seen_by(betting.player)
        name = f"{_text(holes[betting.player])}/{_text(board)}:{text}"
        node, deal, held = index.infoset(betting.player, name)
        exact = played.matrix(tree, node, deal)[held]
        assert [share for _, share in agent.distribution(state)] == pytest.approx(exact.tolist(), abs=1e-6)


def _text(cards: tuple[int, ...]) -> str:
    return "".join("23456789TJQKA"[card // 4] + "cdhs"[card % 4] for card in cards)


def test_a_hand_is_solved_once(twelve: BucketStrategy, tmp_path: Path) -> None:
    agent = ResolvingAgent(twelve, 1, RULES, 2, log=tmp_path / "log", **(EXACT | {"iterations": 3}))
    deal = Deal((tuple(RULES.deck[:2]), tuple(RULES.deck[2:4])), tuple(RULES.deck[4:6]))
    seen = [MatchState(7, Betting.after(RULES, text), deal).seen_by(0) for text in ("rc/", "rc/cr", "rc/crc/")]
    for state in seen:
        agent.act(state)
    assert (agent.solved, agent.kept_blueprint) == (1, 0)
    assert agent.remarks() == ["1 subgames solved, the blueprint played in 0"]
    (line,) = (tmp_path / "log").read_text().splitlines()
    assert line.startswith(f"hand 7, rc/ {_text(deal.board[:1])}, player 1: solved: 3 iterations, ")
    before = MatchState(8, Betting.after(RULES, ""), deal).seen_by(1)
    assert agent.distribution(before) == StrategyAgent(twelve, 1, RULES).distribution(before)
    assert agent.solved == 1


def test_out_of_time_it_plays_the_blueprint_and_tries_again(twelve: BucketStrategy, tmp_path: Path) -> None:
    agent = ResolvingAgent(twelve, 1, RULES, 2, log=tmp_path / "log", seconds=1e-6, within=1e-12)
    plain = StrategyAgent(twelve, 1, RULES)
    deal = Deal((tuple(RULES.deck[:2]), tuple(RULES.deck[2:4])), tuple(RULES.deck[4:6]))
    for text in ("rc/", "rc/cr", "rc/crc/"):
        state = MatchState(3, Betting.after(RULES, text), deal).seen_by(0)
        assert agent.distribution(state) == plain.distribution(state)
    lines = (tmp_path / "log").read_text().splitlines()
    assert [line.partition(", player")[0] for line in lines] == [
        f"hand 3, rc/ {_text(deal.board[:1])}", f"hand 3, rc/crc/ {_text(deal.board)}",
    ]  # fmt: skip
    assert all("time ran out after 0.0" in line for line in lines)
    assert all("s, before the first iteration; the blueprint is played" in line for line in lines)


def test_looking_up_the_blueprint_takes_its_time_too(
    twelve: BucketStrategy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A clock that advances by a second whenever it is read."""
    clock = itertools.count()
    monkeypatch.setattr("counterplay.solvers.hand_resolving.time.perf_counter", lambda: float(next(clock)))
    agent = ResolvingAgent(twelve, 1, RULES, 2, log=tmp_path / "log", seconds=4, safe=True)
    deal = Deal((tuple(RULES.deck[:2]), tuple(RULES.deck[2:4])), tuple(RULES.deck[4:6]))
    state = MatchState(3, Betting.after(RULES, "rc/"), deal).seen_by(0)
    assert agent.distribution(state) == StrategyAgent(twelve, 1, RULES).distribution(state)
    assert "time ran out after 4 s, while the blueprint was looked up" in (tmp_path / "log").read_text()


def test_a_hand_that_the_blueprint_never_has_there(tmp_path: Path) -> None:
    """One bucket of the two always folds before the flop; with the other one the hand was solved, and is kept."""
    game = BucketGame.build(RULES, forgetting(RULES), name="twelve.game")
    weights = np.ones(game.num_entries)
    start = game.tree.find(Betting.after(RULES, ""))
    for bucket in (0, 1):
        first = game.entry(start, bucket)
        fold = game.tree.actions(start).index("f")
        weights[first : first + len(game.tree.actions(start))] = 0.0
        weights[first + (fold if bucket == 0 else len(game.tree.actions(start)) - 1)] = 1.0
    agent = ResolvingAgent(BucketStrategy.of_game(game, weights), 1, RULES, 2, log=tmp_path / "log", **EXACT)
    holes = {game.bucket(start, hole, ()): hole for hole in itertools.combinations(RULES.deck[2:], 2)}
    board = tuple(card for card in RULES.deck if card not in {*holes[0], *holes[1]})[:1]
    for hand, bucket in enumerate((1, 0)):
        deal = Deal((tuple(RULES.deck[:0]), holes[bucket]), board)
        state = MatchState(hand, Betting.after(RULES, "rc/c"), deal, 1)
        agent.act(state)
        assert agent.distribution(state) is not None
    assert (agent.solved, agent.kept_blueprint) == (1, 1)
    assert "never has this hand there; the blueprint is played" in (tmp_path / "log").read_text().splitlines()[-1]


def test_too_large_a_hand_is_played_by_the_blueprint(
    twelve: BucketStrategy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise MemoryLimitError("the rest of the hand needs 39 GiB")

    monkeypatch.setattr("counterplay.solvers.hand_resolving.check_memory", refuse)
    agent = ResolvingAgent(twelve, 1, RULES, 2, log=tmp_path / "log")
    deal = Deal((tuple(RULES.deck[:2]), tuple(RULES.deck[2:4])), tuple(RULES.deck[4:6]))
    state = MatchState(3, Betting.after(RULES, "rc/"), deal).seen_by(0)
    assert agent.distribution(state) == StrategyAgent(twelve, 1, RULES).distribution(state)
    assert "needs 39 GiB; the blueprint is played" in (tmp_path / "log").read_text()


def test_where_the_blueprint_never_comes_it_is_played(blueprint: cp.TabularStrategy, tmp_path: Path) -> None:
    table = {(player, name): dict(row) for player, name, row in blueprint.infosets()}
    for (player, name), row in table.items():
        if player == 0 and name.endswith(":"):
            table[player, name] = {action: float(action == "check") for action in row}
    strategy = cp.TabularStrategy.from_table("leduc", table)
    agent = leduc_agent(strategy, log=tmp_path / "log", **EXACT)
    state = Decision(1, 1, "JQ:bc/k", ("check", "bet"))  # player 1 has bet all the same
    assert dict(agent.distribution(state)) == table[1, "JQ:bc/k"]
    assert "never comes there" in (tmp_path / "log").read_text()


def test_it_plays_matches_and_at_a_dealers_table(blueprint: cp.TabularStrategy, tmp_path: Path) -> None:
    blueprint.save(tmp_path / "leduc.strategy")
    entry = f"{tmp_path / 'leduc.strategy'}?resolve=2,safe=true,iterations=20"
    result = match("leduc", [f"one={entry}", "always-call"], 30, seed=5)
    assert result.estimate(0).mean == match("leduc", [f"one={entry}", "always-call"], 30, seed=5).estimate(0).mean
    wanted = config("leduc.limit.2p", hands=20)
    played = MatchGame("leduc", PokerFile(wanted.game, "leduc"))
    agents = [make_entry(source).agent(played, 3) for source in (entry, str(tmp_path / "leduc.strategy"))]
    _, reports, _ = play(wanted, *agents)
    assert [report.hands for report in reports] == [20, 20]
    assert isinstance(agents[0], ResolvingAgent)
    assert agents[0].solved > 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("resolve=2,safe=true,purify=true", "would undo what a safe solution guarantees"),
        ("resolve=2,safe=true,threshold=0.1", "would undo what a safe solution guarantees"),
        ("resolve=1", "resolve is a round after the first: round 2; got 1"),
        ("resolve=turn", "resolve is a round after the first: round 2; got 'turn'"),
        ("resolve=2,safe=yes", "safe is true or false; got 'yes'"),
        ("resolve=2,seconds=0", "seconds is a positive number; got 0"),
        ("resolve=2,within=-1", "within is a positive number; got -1"),
        ("resolve=2,iterations=0.5", "iterations must be a positive integer; got 0.5"),
        ("resolve=2,threads=0", "threads"),
        ("safe=true", "safe is for hands that are solved at the table; give the round too"),
        ("resolve=2,resolve=2", "resolve is given twice"),
        ("resolve=2,color=red", "settings of a strategy are translation, .*; got 'color=red'"),
    ],
)
def test_settings_that_make_no_sense_are_refused(
    settings: str, message: str, blueprint: cp.TabularStrategy, tmp_path: Path
) -> None:
    blueprint.save(tmp_path / "a.strategy")
    with pytest.raises(CounterplayError, match=message):
        make_entry(f"{tmp_path / 'a.strategy'}?{settings}").agent(open_match_game("leduc"), 1)
    with pytest.raises(GameError, match="settings are for strategy files; uniform takes none"):
        make_entry("uniform?resolve=2").agent(open_match_game("leduc"), 1)


def test_blanks_in_the_names_of_files() -> None:
    assert make_entry("two words/leduc 3 x.strategy?resolve=2").name == "leduc_3_x"
    assert make_entry("program:./start me.sh").name == "start"


def test_unsafe_solutions_may_be_purified(blueprint: cp.TabularStrategy) -> None:
    agent = leduc_agent(blueprint, purify=True, **EXACT)
    rows = [agent.distribution(Decision(1, 0, name, ("check", "bet"))) for name in ("JQ:kk/", "QK:kk/")]
    assert all(sorted(share for _, share in row) == [0.0, 1.0] for row in rows)


def test_games_that_it_cannot_play(blueprint: cp.TabularStrategy, twelve: BucketStrategy, tmp_path: Path) -> None:
    three = cp.TabularStrategy.uniform("leduc(players=3)")
    with pytest.raises(GameError, match="cannot be solved at the table: a public tree needs two players"):
        ResolvingAgent(three, 1, open_match_game("leduc(players=3)").definition(), 2)
    with pytest.raises(GameError, match="resolve is a round after the first: none: this game has one round"):
        ResolvingAgent(cp.TabularStrategy.uniform("kuhn"), 1, open_match_game("kuhn").definition(), 2)
    cp.TabularStrategy.uniform("goofspiel(3)").save(tmp_path / "other.strategy")
    with pytest.raises(GameError, match="not a poker game of the competition"):
        make_entry(f"{tmp_path / 'other.strategy'}?resolve=2").agent(open_match_game("goofspiel(3)"), 1)
    with pytest.raises(GameError, match="rules"):
        HandResolver(blueprint, dataclasses.replace(RULES, hole_cards=1), leduc_agent(blueprint)._resolver.settings)
    few = BucketGame.build(NO_LIMIT, forgetting(NO_LIMIT), bet_abstraction("fcpa"), name="no-limit.game")
    with pytest.raises(GameError, match=r"the strategy has some bets of no-limit.game only"):
        ResolvingAgent(BucketStrategy.of_game(few, np.ones(few.num_entries)), 1, NO_LIMIT, 2)
    agent = ResolvingAgent(twelve, 1, RULES, 2, log=tmp_path, **(EXACT | {"iterations": 1}))
    deal = Deal((tuple(RULES.deck[:2]), tuple(RULES.deck[2:4])), tuple(RULES.deck[4:6]))
    with pytest.raises(CounterplayError, match="cannot write the log"):
        agent.act(MatchState(3, Betting.after(RULES, "rc/"), deal).seen_by(0))
