"""Profiles of abstract games: runs and their checkpoints, files, agents with real cards, translation, the command."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import counterplay as cp
from counterplay.abstraction.cards import CardAbstraction
from counterplay.agents import match
from counterplay.agents.entries import make_entry
from counterplay.agents.match_game import MatchGame, open_match_game
from counterplay.agents.strategy_agent import StrategyAgent, sharpened
from counterplay.cli.main import app, main
from counterplay.errors import AbstractionError, GameError, MemoryLimitError, SolverError, StrategyError
from counterplay.evaluation.bucket_pairs import count_bucket_pairs
from counterplay.forms import GameForms, open_game, poker_definition
from counterplay.poker.acpc.dealing import deals
from counterplay.poker.acpc.match_state import MatchState
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.raise_sizes import bet_abstraction
from counterplay.poker.rules import Betting
from counterplay.runtime.pacing import Until
from counterplay.solvers import MCCFR_PRESETS, make_solver, resume_solver
from counterplay.solvers.bucket_mccfr import BucketSolver, predicted_tables
from counterplay.solvers.mccfr import mccfr_config
from counterplay.storage import read_container, write_container
from counterplay.strategy.bucket_strategy import BucketStrategy, packed
from counterplay.strategy.files import load_strategy
from counterplay.strategy.translation import real_action, translate_size, translated_node
from tests.poker.test_bucket_game import LEDUC, NO_LIMIT, forgetting, lossless, mixed

LEDUC_DECK = ((3, 2), (1, 1))


@pytest.fixture
def cards(tmp_path: Path) -> Path:
    path = tmp_path / "leduc.cpa"
    CardAbstraction.lossless(*LEDUC_DECK).save(path)
    return path


# ---------------------------------------------------------------------------------------------- runs


@pytest.mark.parametrize("algorithm", MCCFR_PRESETS)
def test_a_run_cut_in_two_goes_on_to_the_same_bits(algorithm: str, cards: Path, tmp_path: Path) -> None:
    whole = make_solver(open_game("leduc_limit_2p", "buckets", cards=[cards]), algorithm, seed=3)
    whole.step(3000)
    part = make_solver(open_game("leduc_limit_2p", "buckets", cards=[cards]), algorithm, seed=3)
    part.step(1)
    part.step(1234)
    part.save(tmp_path / "half")
    resumed = resume_solver(tmp_path / "half")
    resumed.step(3000 - 1235)
    for name, table in whole.tables().items():
        assert np.array_equal(table, resumed.tables()[name]), name


def test_a_checkpoint_of_other_cards_is_refused(cards: Path, tmp_path: Path) -> None:
    solver = make_solver(open_game("leduc_limit_2p", "buckets", cards=[cards]))
    solver.save(tmp_path / "run")
    other = tmp_path / "other.cpa"
    CardAbstraction.single(*LEDUC_DECK).save(other)
    with pytest.raises(StrategyError, match="with other cards, bets"):
        resume_solver(tmp_path / "run", cards=[other])
    moved = cards.rename(tmp_path / "moved.cpa")
    with pytest.raises(StrategyError, match=r"leduc\.cpa"):
        resume_solver(tmp_path / "run")
    assert resume_solver(tmp_path / "run", cards=[moved]).game.num_infosets == solver.game.num_infosets
    unnamed = BucketSolver(BucketGame.build(LEDUC, forgetting(LEDUC)), "pure-cfr")
    unnamed.save(tmp_path / "unnamed")
    with pytest.raises(StrategyError, match="in no file"):
        resume_solver(tmp_path / "unnamed")


def test_several_threads_share_the_tables() -> None:
    abstract = BucketGame.build(LEDUC, lossless(LEDUC))
    solver = BucketSolver(abstract, mccfr_config("external-sampling", {"threads": 2}))
    solver.step(150_000)
    assert solver.iterations == 150_000
    real = cp.compile_game("leduc_limit_2p")
    assert cp.evaluate(solver.profile().lifted(real), real).exploitability < 0.08


def test_memory_is_known_beforehand(cards: Path) -> None:
    """Pure CFR without an average: four bytes an action (Gibson 2014), and scratch that does not grow with the game."""
    size = GameForms("leduc_limit_2p", cards=[cards]).bucket_counts()
    tree, tables = size.tree_bytes, predicted_tables(size, "pure-cfr", {"profile": "last"})
    solver = make_solver(open_game("leduc_limit_2p", "buckets", cards=[cards]), "pure-cfr", profile="last")
    assert solver.regret.nbytes == 4 * solver.game.num_entries
    assert len(solver.average) == 0
    assert tables >= solver.regret.nbytes
    assert tree >= solver.game.tree_bytes
    live = sum(array.nbytes for array in (solver.regret, solver.average, solver.scheme, *solver._scratch))
    assert live <= solver.table_bytes
    with pytest.raises(MemoryLimitError, match="needs"):
        make_solver(open_game("leduc_limit_2p", "buckets", cards=[cards]), "pure-cfr", memory_limit=1000)
    with pytest.raises(MemoryLimitError, match="needs"):
        BucketSolver(solver.game, "pure-cfr", memory_limit=1000)


def test_info_tells_what_buckets_take(cards: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Pure CFR without an average: four bytes for every action more (Gibson 2014, section 5.5), ES sixteen."""
    single = tmp_path / "single.cpa"
    CardAbstraction.single(*LEDUC_DECK).save(single)
    facts = []
    for path in (single, cards):
        assert main(["info", "leduc_limit_2p", "--cards", str(path), "--json"]) == 0
        facts.append(json.loads(capsys.readouterr().out))
    small, large = facts
    assert (large["information_sets"], large["entries"]) == (468, 1092)
    actions = large["entries"] - small["entries"]
    grown = {name: large["memory_bytes"][name] - small["memory_bytes"][name] for name in large["memory_bytes"]}
    assert grown["pure-cfr, last"] == 4 * actions
    assert grown["pure-cfr"] == grown["external-sampling, last"] == 8 * actions
    assert grown["external-sampling"] == grown["average-strategy-sampling, last"] == 16 * actions
    assert main(["info", "leduc_limit_2p", "--cards", str(cards)]) == 0
    assert "468, 1,092 actions in all" in capsys.readouterr().out
    for words, message in (
        (["leduc_limit_2p", "--cards", str(cards), "--recall"], "leave out --cards"),
        (["leduc_nolimit_2p", "--bets", "fcpa"], "name a card abstraction"),
        (["kuhn_limit_2p", "--cards", str(cards)], "is for 3 ranks, 2 suits"),
    ):
        assert main(["info", *words]) == 2
        assert message in capsys.readouterr().err


def test_solve_tells_its_memory(cards: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["solve", "leduc_limit_2p", "--cards", str(cards), "--profile", "last", "--iterations", "10", "--json"]
    assert main(words) == 0
    told = json.loads(capsys.readouterr().out)
    solver = make_solver(open_game("leduc_limit_2p", "buckets", cards=[cards]), "pure-cfr", profile="last")
    assert told["memory_bytes"]["solver"] == solver.table_bytes
    assert solver.table_bytes - solver.regret.nbytes == BucketSolver.memory_bytes(solver.game, solver.config) - 4 * 1092


def test_nothing_is_measured(cards: Path) -> None:
    solver = make_solver(open_game("leduc_limit_2p", "buckets", cards=[cards]), "external-sampling")
    with pytest.raises(SolverError, match="cannot be measured"):
        solver.run(Until(exploitability=0.1))
    result = solver.run(Until(iterations=2000))
    assert np.isnan(result.exploitability)
    assert (result.information_sets, result.histories, result.iterations) == (468, None, 2000)
    assert result.form == "buckets"


def test_cards_of_other_games_are_refused(cards: Path) -> None:
    with pytest.raises(AbstractionError, match="card abstraction is for"):
        open_game("holdem_limit_2p", cards=[cards])
    with pytest.raises(AbstractionError, match="got 3"):
        open_game("leduc_limit_2p", cards=[cards] * 3)
    with pytest.raises(GameError, match="name a poker game"):
        open_game("goofspiel", cards=[cards])


# ---------------------------------------------------------------------------------------------- profiles


@pytest.mark.parametrize(("storage", "error"), [("uint8", 0.03), ("uint16", 1e-4), ("float32", 1e-6), ("float64", 0)])
def test_files_keep_probabilities(storage: Any, error: float, cards: Path, tmp_path: Path) -> None:
    """One byte each, the nearest 256th (Gibson 2014, section 8.2), or two."""
    solver = make_solver(open_game("leduc_limit_2p", "buckets", cards=[cards]), "external-sampling")
    solver.step(20_000)
    exact = solver.profile(storage="float64")
    exact.save(tmp_path / "out", storage)
    read = load_strategy(tmp_path / "out")
    assert read.weights.dtype == storage
    tree = solver.game.tree
    for node in np.flatnonzero(tree.num_children > 0).tolist():
        for bucket in range(solver.game.buckets[int(tree.player[node])][int(tree.round[node])].count):
            row = read.row(node, bucket)
            assert row.sum() == pytest.approx(1.0, abs=1e-12)
            assert np.abs(row - exact.row(node, bucket)).max() <= error
    assert read.provenance.iterations == 20_000


@settings(deadline=None)
@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=9))
def test_rounding_to_a_byte(values: list[float]) -> None:
    shares = np.array(values)
    for storage, top in (("uint8", 256), ("uint16", 65536)):
        kept = packed(shares, storage)  # type: ignore[arg-type]
        assert np.abs(kept / top - shares).max() <= 1.0 / top  # half of it, but for 1 itself


def test_a_profile_finds_its_cards(cards: Path, tmp_path: Path) -> None:
    solver = make_solver(open_game("leduc_limit_2p", "buckets", cards=[cards]))
    (tmp_path / "there").mkdir()
    path = tmp_path / "there" / "out"
    solver.profile().save(path)
    load_strategy(path)
    beside = cards.rename(tmp_path / "there" / "leduc.cpa")
    load_strategy(path)
    gone = beside.rename(tmp_path / "elsewhere.cpa")
    with pytest.raises(StrategyError, match="needs the card abstraction"):
        load_strategy(path)
    assert load_strategy(path, cards=[gone]).game == "leduc_limit_2p"
    header, arrays = read_container(path, "abstract-profile")
    write_container(tmp_path / "other", "abstract-profile", {**header, "cards": ["9" * 5000]}, arrays)
    with pytest.raises(StrategyError, match="needs the card abstraction 999"):
        load_strategy(tmp_path / "other")
    CardAbstraction.single(*LEDUC_DECK).save(gone)
    with pytest.raises(StrategyError, match="another card abstraction"):
        load_strategy(path, cards=[gone])


def test_an_agent_plays_what_the_lifted_profile_says() -> None:
    """Every state of a match, looked up by real cards, against the profile of the compiled real game."""
    abstract = BucketGame.build(LEDUC, mixed(LEDUC), name="leduc_limit_2p")
    solver = BucketSolver(abstract, "external-sampling")
    solver.step(5000)
    profile = solver.profile(storage="float64")
    real = cp.compile_game("leduc_limit_2p")
    slow = StrategyAgent(profile.lifted(real), definition=LEDUC)
    fast = StrategyAgent(profile, definition=LEDUC)
    for hand_id, deal in zip(range(40), deals(LEDUC, 1), strict=False):
        waiting = [Betting.start(LEDUC)]
        while waiting:
            betting = waiting.pop()
            if betting.finished:
                continue
            seen = MatchState(hand_id, betting, deal).seen_by(betting.player)
            one, other = dict(fast.distribution(seen)), dict(slow.distribution(seen))
            assert one == pytest.approx(other, abs=1e-12)
            waiting += [betting.act(action) for action in betting.legal_actions()]


def test_agents_play_matches(cards: Path, tmp_path: Path) -> None:
    solver = make_solver(open_game("leduc_limit_2p", "buckets", cards=[cards]), "external-sampling")
    solver.step(50_000)
    path = tmp_path / "leduc.strategy"
    solver.profile().save(path)
    result = match(open_match_game("leduc_limit_2p"), [str(path), "uniform"], deals=1500, seed=1)
    assert result.estimate(0).mean > result.estimate(0).half > 0  # it wins, by more than the interval
    entry = make_entry(f"mine={path}?purify=true,translation=nearest")
    assert entry.name == "mine"
    agent = entry.agent(MatchGame("leduc", open_match_game("leduc_limit_2p").game), 0)
    assert isinstance(agent, StrategyAgent)
    assert agent.purify
    with pytest.raises(GameError, match="settings of a strategy"):
        make_entry(f"{path}?nothing=1").agent(open_match_game("leduc_limit_2p"), 0)
    with pytest.raises(GameError, match="another game"):
        make_entry(str(path)).agent(open_match_game("leduc_nolimit_2p"), 0)
    with pytest.raises(StrategyError, match="threshold"):
        StrategyAgent(solver.profile(), threshold=1.5)


def test_three_players(tmp_path: Path) -> None:
    kuhn, path = tmp_path / "kuhn.cpa", tmp_path / "kuhn.strategy"
    CardAbstraction.lossless((4, 1), (1,)).save(kuhn)
    solver = make_solver(open_game("kuhn_limit_3p", "buckets", cards=[kuhn]), "pure-cfr", average_walks=0.5)
    solver.step(100_000)
    real = cp.compile_game("kuhn_limit_3p")
    assert cp.evaluate(solver.profile().lifted(real), real).epsilon < 0.06
    solver.profile().save(path, "uint8")
    result = match(open_match_game("kuhn_limit_3p"), [str(path), "uniform", "uniform"], deals=300, seed=2)
    assert result.estimate(0).mean > 0.0


def test_thresholds_and_purification() -> None:
    row = np.array([0.05, 0.35, 0.6])
    assert sharpened(row, 0.0, False).tolist() == row.tolist()
    assert sharpened(row, 0.1, False) == pytest.approx([0.0, 0.35 / 0.95, 0.6 / 0.95])
    assert sharpened(row, 0.7, False).tolist() == row.tolist()  # nothing would be left
    assert sharpened(row, 0.1, True).tolist() == [0.0, 0.0, 1.0]


# ---------------------------------------------------------------------------------------------- translation


def test_geometric_similarity() -> None:
    """S_L = (L/x - L/U)/(1 - L/U) and S_U = (x/U - L/U)/(1 - L/U), by hand for L=1, x=2, U=4."""
    assert translate_size(2.0, [1.0, 4.0], "probabilistic") == [(0, 0.5), (1, 0.5)]
    assert translate_size(2.0, [1.0, 4.0], "nearest") == [(0, 1.0)]
    assert translate_size(2.1, [1.0, 4.0], "nearest") == [(1, 1.0)]
    for rule in ("nearest", "probabilistic"):
        assert translate_size(4.0, [1.0, 4.0], rule) == [(1, 1.0)]  # type: ignore[arg-type]
        assert translate_size(9.0, [1.0, 4.0], rule) == [(1, 1.0)]  # type: ignore[arg-type]
        assert translate_size(0.1, [1.0, 4.0], rule) == [(0, 1.0)]  # type: ignore[arg-type]
    with pytest.raises(StrategyError, match="rule"):
        translate_size(1.0, [1.0], "random")  # type: ignore[arg-type]


@settings(deadline=None)
@given(st.floats(0.01, 50.0), st.lists(st.floats(0.05, 20.0), min_size=1, max_size=5, unique=True))
def test_a_size_stands_for_its_neighbours(size: float, sizes: list[float]) -> None:
    rising = sorted(sizes)
    options = translate_size(size, rising, "probabilistic")
    assert sum(chance for _, chance in options) == pytest.approx(1.0)
    assert all(0.0 <= chance <= 1.0 for _, chance in options)
    if len(options) == 2:
        assert rising[options[0][0]] < size < rising[options[1][0]]
        assert options[1][0] == options[0][0] + 1


NO_LIMIT_HOLDEM = cp.make("holdem_nolimit_2p").definition  # type: ignore[attr-defined]


def coarse_no_limit(bets: str) -> BucketGame:
    single = CardAbstraction.single((3, 2), (1, 1))
    return BucketGame.build(NO_LIMIT, single.rounds, bet_abstraction(bets))


def test_raises_off_the_tree() -> None:
    abstract = coarse_no_limit("allin")  # raises go to 7 chips at once
    betting = Betting.after(NO_LIMIT, "r4")
    node = translated_node(abstract.tree, betting, "nearest")
    assert node is not None
    assert abstract.tree.text(node) == "r7"
    assert translated_node(abstract.tree, betting.act("c"), "nearest") is None  # the abstract hand is over
    choice = {abstract.tree.text(child): real_action(abstract.tree, node, child, betting)
              for child in abstract.tree.children(node)}  # fmt: skip
    assert set(choice.values()) == {"f", "c"}


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(0, 30), max_size=12), st.sampled_from(["nearest", "probabilistic"]), st.integers(0, 9))
def test_whatever_is_bet_the_agent_has_a_legal_answer(choices: list[int], rule: Any, seed: int) -> None:
    abstract = coarse_no_limit("1,allin")
    weights = np.random.default_rng(seed).random(abstract.num_entries)
    agent = StrategyAgent(BucketStrategy.of_game(abstract, weights), seed, NO_LIMIT, translation=rule)
    deal = next(iter(deals(NO_LIMIT, seed)))
    betting = Betting.start(NO_LIMIT)
    for choice in choices:
        if betting.finished:
            break
        seen = MatchState(0, betting, deal).seen_by(betting.player)
        options = agent.distribution(seen)
        assert options == agent.distribution(seen)  # the same throughout a hand
        assert sum(chance for _, chance in options) == pytest.approx(1.0)
        assert all(betting.legal(action) for action, _ in options)
        legal = betting.legal_actions()
        betting = betting.act(legal[choice % len(legal)])


def test_a_bet_between_two_is_taken_for_each_as_often_as_the_rule_says() -> None:
    abstract = coarse_no_limit("0.5,2")
    start = Betting.start(NO_LIMIT)
    sizes = sorted(int(abstract.tree.action[child]) for child in abstract.tree.children(0))[-2:]
    between = next(size for size in range(sizes[0] + 1, sizes[1]) if start.legal(f"r{size}"))
    pot = start.pot + start.max_spent - start.spent[start.player]
    share = dict(translate_size(
        (between - start.max_spent) / pot, [(size - start.max_spent) / pot for size in sizes], "probabilistic"
    ))[0]  # fmt: skip
    agent = StrategyAgent(BucketStrategy.of_game(abstract, np.ones(abstract.num_entries)), 1)
    betting = start.act(f"r{between}")
    taken = 0
    for hand_id in range(4000):
        node = translated_node(
            abstract.tree, betting, "probabilistic", lambda text, hand=hand_id: agent.number_of(hand, text)  # type: ignore[misc]
        )  # fmt: skip
        assert node is not None
        taken += int(abstract.tree.action[node]) == sizes[0]
    assert 0.0 < share < 1.0
    assert taken / 4000 == pytest.approx(share, abs=5 * np.sqrt(share * (1 - share) / 4000))


# ---------------------------------------------------------------------------------------------- the command


def run(*words: str) -> Any:
    result = CliRunner().invoke(app, list(words))
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_solve_in_a_card_abstraction(cards: Path, tmp_path: Path) -> None:
    out, checkpoint = tmp_path / "out", tmp_path / "run"
    told = run(
        "solve", "leduc_limit_2p", "--cards", str(cards), "--iterations", "20000", "--out", str(out), "--checkpoint",
        str(checkpoint), "--json",
    )  # fmt: skip
    assert (told["algorithm"], told["representation"], told["information_sets"]) == ("pure-cfr", "buckets", 468)
    assert told["memory_bytes"]["solver"] > 0
    more = run("solve", "--resume", str(checkpoint), "--iterations", "40000", "--json")
    assert more["iterations"] == 40_000
    match = run("match", str(out), "uniform", "--deals", "200", "--json")
    assert match["agents"][0]["chips"] > 0
    measured = run("evaluate", str(out), "--json")
    assert 0.0 < measured["exploitability"] < 0.5
    assert measured["abstract"]["exploitability"] == pytest.approx(measured["exploitability"], abs=1e-9)  # lossless
    assert measured["abstract"]["exact"]


def test_solve_that_is_measured_in_the_abstract_game(cards: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    told = run(
        "solve", "leduc_limit_2p", "--cards", str(cards), "-a", "external-sampling", "--boards", "all", "--until",
        "0.2", "--out", str(out), "--json",
    )  # fmt: skip
    assert (told["status"], told["exact"], told["exploitability"]) == ("exploitability", True, None)
    assert told["abstract"]["exploitability"] <= 0.2
    again = run("evaluate", str(out), "--json")
    assert again["abstract"]["exploitability"] == pytest.approx(told["abstract"]["exploitability"], abs=1e-3)


def test_solve_with_bets_and_two_abstractions(cards: Path, tmp_path: Path) -> None:
    single = tmp_path / "single.cpa"
    CardAbstraction.single(*LEDUC_DECK).save(single)
    told = run(
        "solve", "leduc_nolimit_2p", "--cards", str(cards), "--cards", str(single), "--bets", "fcpa", "-a",
        "external-sampling", "--iterations", "2000", "--json",
    )  # fmt: skip
    abstract = open_game("leduc_nolimit_2p", cards=[cards, single], bets="fcpa")
    assert told["information_sets"] == abstract.num_infosets
    assert abstract.slot_buckets.tolist() == [3, 1, 15, 1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["solve", "leduc_limit_2p", "--bets", "fcpa"], "--bets is for .*with --cards for card abstractions"),
        (["solve", "leduc_limit_2p", "--cards", "CARDS", "--until", "0.1"], "until needs the compiled game"),
        (["solve", "leduc_limit_2p", "--cards", "CARDS", "--boards", "some"], "boards is all or a number"),
        (["solve", "leduc_limit_2p", "--cards", "CARDS", "-a", "lp"], "lp does not run in card abstractions"),
        (["solve", "kuhn_limit_2p", "--cards", "CARDS"], "card abstraction is for"),
        (["solve", "leduc_limit_2p", "--cards", "nowhere.cpa"], "no file"),
    ],
)
def test_what_solve_refuses(words: list[str], message: str, cards: Path) -> None:
    result = CliRunner().invoke(app, [str(cards) if word == "CARDS" else word for word in words])
    assert result.exit_code != 0
    text = result.output + str(result.exception)
    assert re.search(message, " ".join(text.split())), text


@pytest.mark.parametrize("suits", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_straights_and_flushes_of_three_cards_count(suits: int) -> None:
    """Where nothing is lost the abstract game is the real one."""
    name = f"rhode_island(ranks=3,suits={suits},three_card_hands=true)"
    rules = poker_definition(name)
    game = BucketGame.build(rules, lossless(rules), name=name)
    solver = BucketSolver(game, "external-sampling", pairs=count_bucket_pairs(game))
    solver.step(2000)
    real = cp.compile_game(name)
    told = cp.evaluate(solver.profile(storage="float64").lifted(real), real)
    assert solver.measure().exploitability == pytest.approx(told.exploitability)
    assert solver.measure().value == pytest.approx(told.value)
