"""Bounds of exploitability from boards that are drawn: against the twin, exact numbers, and what they must bound."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import counterplay as cp
from counterplay.abstraction.cards import build_cards, parse_recipe
from counterplay.cli.main import app
from counterplay.errors import GameError
from counterplay.evaluation import evaluate
from counterplay.evaluation.board_bounds import BoardWalker, bound_exploitability, bound_rows, drawn_round
from counterplay.evaluation.lifted_buckets import LiftedStrategy
from counterplay.evaluation.public_walker import PublicWalker
from counterplay.forms import open_game
from counterplay.poker.acpc.standard import STANDARD
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.poker_public_tree import build_public_tree
from counterplay.solvers import make_solver
from counterplay.solvers.bucket_mccfr import BucketSolver
from counterplay.strategy.bucket_strategy import BucketStrategy
from counterplay.strategy.public_strategy import fill_table
from tests.poker.test_bucket_game import (
    LEDUC,
    NO_LIMIT,
    THREE,
    THREE_CARDS,
    TWO_HOLES,
    forgetting,
    lossless,
    mixed,
    real_tree,
    remembering,
    twin_rules,
)
from tests.reference.board_bounds import BoardBounds
from tests.solvers.test_bucket_pcs import table_dict

RHODE = dataclasses.replace(STANDARD["rhode"], ranks=3, suits=2, max_raises=(1,) * 3, three_card_hands=True)
"""Three rounds."""

LIMIT = [LEDUC, TWO_HOLES, THREE_CARDS, RHODE]
names = ["leduc", "two hole cards", "hands of three cards", "three rounds"]
limit_games = pytest.mark.parametrize("game", LIMIT, ids=names)


def drawn_profile(game: Any, buckets: Any, seed: int = 2) -> BucketStrategy:
    abstract = BucketGame.build(game, buckets)
    weights = np.random.default_rng(seed).random(abstract.num_entries)
    weights[weights < 0.2] = 0.0  # some actions are never played
    return BucketStrategy.of_game(abstract, weights)


@pytest.mark.parametrize("game", [*LIMIT, NO_LIMIT], ids=[*names, "no limit"])
def test_boards_are_those_of_the_twin(game: Any) -> None:
    """Different buckets for the players: the first remembers, the second forgets."""
    profile = drawn_profile(game, mixed(game))
    rows = table_dict(profile.abstract, profile.strategy())
    draw = np.random.default_rng(3)
    for drawn in range(game.rounds - 1 if game is NO_LIMIT else 0, game.rounds):
        slow = BoardBounds(game, twin_rules(game), rows, drawn)
        walker = BoardWalker(profile, drawn)
        for _ in range(2 if drawn else 1):
            board = draw.choice(np.array(game.deck, np.uint8), game.board_ends[drawn], replace=False)
            assert walker.measure(board, profile.weights) == pytest.approx(slow.measure(board.tolist()), abs=1e-10)


@limit_games
@pytest.mark.parametrize("buckets", [lossless, forgetting], ids=["lossless", "imperfect recall"])
def test_all_boards_give_the_exact_number(game: Any, buckets: Any) -> None:
    """With nothing drawn both bounds are what the tree of histories says."""
    profile = drawn_profile(game, buckets(game))
    tree = real_tree(game)
    exact = cp.evaluate(profile.lifted(tree), tree).exploitability
    found = bound_exploitability(profile, drawn=0)
    assert found.exact
    for bound in (found.lower, found.upper):
        assert bound is not None
        assert bound.mean == pytest.approx(exact, abs=1e-10)
        assert bound.half == 0.0


@limit_games
def test_all_boards_of_a_later_round(game: Any) -> None:
    """The lower bound is a best response that plays earlier rounds as they are; bounds lie around the exact number."""
    profile = drawn_profile(game, forgetting(game))
    tree = build_public_tree(game)
    exact = evaluate(profile, tree).exploitability
    lifted = LiftedStrategy(profile)
    tables = fill_table(tree, 0, lifted), fill_table(tree, 1, lifted)
    before = [0.0, np.inf]
    for drawn in range(game.rounds - 1, -1, -1):
        locked = np.array([text.count("/") < drawn for text in tree.node_text])
        held = PublicWalker(tree).measure(tables, locked=locked).exploitability
        found = bound_exploitability(profile, drawn=drawn)
        assert found.lower.mean == pytest.approx(held, abs=1e-10)
        assert found.upper is not None
        assert before[0] - 1e-12 <= found.lower.mean <= exact + 1e-10 <= found.upper.mean + 2e-10
        assert found.upper.mean <= before[1] + 1e-12  # an earlier round is told less and may do more
        before = [found.lower.mean, found.upper.mean]


@limit_games
def test_drawn_boards_come_near_all_boards(game: Any) -> None:
    """Intervals of 95 % hold the mean over all boards; over many draws about as often as they should."""
    profile = drawn_profile(game, remembering(game))
    every = bound_exploitability(profile)
    assert every.upper is not None
    held, tries = np.zeros(2), 40
    for seed in range(tries):
        found = bound_exploitability(profile, 30, seed=seed)
        assert not found.exact
        assert found.upper is not None
        pairs = ((found.lower, every.lower), (found.upper, every.upper))
        held += [abs(one.mean - other.mean) <= one.half for one, other in pairs]
    assert (held >= 0.8 * tries).all()


@limit_games
@pytest.mark.parametrize("buckets", [remembering, forgetting])
def test_what_is_learned_on_other_boards_is_a_lower_bound(game: Any, buckets: Any) -> None:
    """It wins more than the strategy's own play and never more than a best response."""
    profile = drawn_profile(game, buckets(game))
    exact = evaluate(profile, build_public_tree(game)).exploitability
    plain = bound_exploitability(profile)
    found = bound_exploitability(profile, training=60, seed=1)
    assert found.exact
    assert plain.lower.mean < found.lower.mean <= exact + 1e-10
    assert found.upper == plain.upper


def test_learning_from_all_boards_with_real_hands_is_a_best_response() -> None:
    """Leduc: before the flop a hand is a card, and every flop was seen."""
    profile = drawn_profile(LEDUC, lossless(LEDUC))
    tree = real_tree(LEDUC)
    exact = cp.evaluate(profile.lifted(tree), tree).exploitability
    found = bound_exploitability(profile, training=4000)
    assert found.lower.mean == pytest.approx(exact, rel=0.02)


def test_an_equilibrium_is_bounded_by_nothing() -> None:
    abstract = BucketGame.build(LEDUC, lossless(LEDUC))
    solver = BucketSolver(abstract, "pcs-boards")
    solver.step(1500)
    found = bound_exploitability(solver.profile())
    assert 0.0 <= found.lower.mean < 0.1
    assert found.upper is not None
    assert found.upper.mean > 0.2  # who knows the flop wins from an equilibrium, too


def test_seeds() -> None:
    profile = drawn_profile(TWO_HOLES, forgetting(TWO_HOLES))
    one, again, other = (bound_exploitability(profile, 20, seed=seed) for seed in (1, 1, 2))
    assert one == again
    assert one.lower != other.lower


def test_abstract_bets_have_no_upper_bound() -> None:
    """Who bets as the strategy knows plays in the real game; what others would win is not known."""
    from counterplay.poker.raise_sizes import bet_abstraction

    abstract = BucketGame.build(NO_LIMIT, lossless(NO_LIMIT), bet_abstraction("fcpa"))
    profile = BucketStrategy.of_game(abstract, np.ones(abstract.num_entries))
    found = bound_exploitability(profile)
    assert found.upper is None
    assert found.lower.mean > 0.0


def test_what_cannot_be_bounded_is_refused() -> None:
    profile = drawn_profile(NO_LIMIT, forgetting(NO_LIMIT))
    with pytest.raises(GameError, match="all in before the last cards"):
        bound_exploitability(profile, drawn=0)
    with pytest.raises(GameError, match="two boards or more; got 1"):
        bound_exploitability(profile, 1)
    with pytest.raises(GameError, match="two players"):
        bound_exploitability(drawn_profile(THREE, forgetting(THREE)), 2)
    with pytest.raises(GameError, match="has the rounds 0, 1, preflop, flop; got 'river'"):
        drawn_round(profile.abstract, "river")
    assert drawn_round(profile.abstract, "flop") == drawn_round(profile.abstract, "1") == 1


def leduc_file(folder: Path) -> str:
    """A strategy in coarse buckets of a game that is measured exactly, too."""
    cards, out = folder / "leduc.cpa", folder / "leduc.strategy"
    build_cards((3, 2), (1, 1), parse_recipe("2,PE3", (3, 2), (1, 1), "imperfect")).save(cards)
    solver = make_solver(open_game("leduc_limit_2p", "buckets", cards=[cards]), "cfr+")
    solver.step(100)
    solver.profile().save(out)
    return str(out)


def test_the_command(tmp_path: Path) -> None:
    file = leduc_file(tmp_path)

    def run(*arguments: str) -> dict[str, Any]:
        found = CliRunner().invoke(app, ["evaluate", file, *arguments, "--json"])
        assert found.exit_code == 0, found.output
        told: dict[str, Any] = json.loads(found.stdout)
        return told

    plain = run()
    assert "lower_bound" not in plain
    exact = plain["exploitability_mbb"]
    told = run("--bounds", "50", "--training", "50", "--seed", "3")
    assert told["boards"] == 50
    assert told["lower_bound_mbb"] - told["lower_bound_mbb_95"] <= exact
    assert told["upper_bound_mbb"] + told["upper_bound_mbb_95"] >= exact
    assert told["lower_bound_mbb"] == pytest.approx(1000 * told["lower_bound"])
    whole = run("--bounds", "2", "--drawn-round", "preflop")
    assert whole["exact"]
    assert whole["lower_bound_mbb"] == pytest.approx(exact, rel=1e-9)
    text = CliRunner().invoke(app, ["evaluate", file, "--bounds", "50"]).output
    assert "exploitable at least" in text
    assert "50 sampled boards of round 2" in text
    assert (told["drawn_round"], told["round_name"]) == (1, "round 2")
    river = told | {"round_name": "river", "drawn_round": 3}
    assert bound_rows(river)[-1] == ("bounded over", "50 sampled boards of the river")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--training", "5"], "say how many boards to sample"),
        (["--bounds", "1"], "two boards or more; got 1"),
        (["--bounds", "5", "--training", "-1"], "a number of boards; got -1"),
        (["--bounds", "5", "--drawn-round", "river"], "has the rounds 0, 1, preflop, flop; got 'river'"),
    ],
)
def test_misuse_of_the_command(arguments: list[str], message: str, tmp_path: Path) -> None:
    found = CliRunner().invoke(app, ["evaluate", leduc_file(tmp_path), *arguments])
    assert found.exit_code != 0
    assert message in str(found.exception)


def test_other_strategies_have_no_bounds(tmp_path: Path) -> None:
    out = tmp_path / "kuhn.strategy"
    cp.solve("kuhn", "cfr+", iterations=5).profile.save(out)
    found = CliRunner().invoke(app, ["evaluate", str(out), "--bounds", "5"])
    assert found.exit_code != 0
    assert "are for strategies by buckets" in str(found.exception)
