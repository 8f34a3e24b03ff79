"""The CFR family by buckets over all boards: the iterates of the public tree and of the tree of histories."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import counterplay as cp
from counterplay.abstraction.cards import CardAbstraction
from counterplay.cli.main import app
from counterplay.errors import CounterplayError, GameError, SolverError
from counterplay.evaluation.bucket_pairs import count_bucket_pairs
from counterplay.evaluation.lifted_buckets import LiftedStrategy
from counterplay.experiments import run_experiment
from counterplay.forms import open_game
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.poker_public_tree import build_public_tree
from counterplay.solvers import CFR_PRESETS, CfrSolver, make_solver, resume_solver
from counterplay.solvers.bucket_cfr import BucketCfrSolver
from counterplay.solvers.public_cfr import PublicSolver
from counterplay.strategy.bucket_strategy import BucketStrategy
from counterplay.strategy.public_strategy import fill_table
from tests.poker.test_bucket_game import (
    GAMES,
    LEDUC,
    THREE,
    both_forms,
    forgetting,
    lossless,
    mixed,
    real_tree,
    remembering,
)

TWO_PLAYERS = [name for name, game in GAMES.items() if game.players == 2]
every_game = pytest.mark.parametrize("game", TWO_PLAYERS)
every_member = pytest.mark.parametrize("algorithm", CFR_PRESETS)


@every_game
@every_member
@pytest.mark.parametrize("buckets", [forgetting, remembering, mixed, lossless])
def test_iterates_are_those_of_the_tree_of_histories(game: str, algorithm: str, buckets: Any) -> None:
    """Hands that share a bucket share an information set there, with imperfect recall too."""
    abstract, tree, where = both_forms(game, buckets)
    fast, slow = BucketCfrSolver(abstract, algorithm), CfrSolver(tree, algorithm)
    for _ in range(12):
        fast.step()
        slow.step()
        np.testing.assert_allclose(fast.regret[where], slow.regret, atol=1e-10)
        np.testing.assert_allclose(fast.strategy("last")[where], slow.strategy("last"), atol=1e-10)
    np.testing.assert_allclose(fast.strategy()[where], slow.strategy(), atol=1e-10)
    assert fast.iterations == 12


@every_member
@pytest.mark.parametrize("game", ["leduc", "two hole cards", "hands of three cards"])
def test_lossless_iterates_are_those_of_the_public_tree(game: str, algorithm: str) -> None:
    abstract = BucketGame.build(GAMES[game], lossless(GAMES[game]))
    tree = build_public_tree(GAMES[game])
    fast, slow = BucketCfrSolver(abstract, algorithm), PublicSolver(tree, algorithm)
    fast.step(30)
    slow.step(30)
    lifted = LiftedStrategy(BucketStrategy.of_game(abstract, fast.strategy()))
    for player in range(2):
        found = fill_table(tree, player, lifted)
        expected = fill_table(tree, player, slow.profile())
        np.testing.assert_allclose(found, expected, atol=1e-10)


def test_the_last_player_may_be_updated_first_on_every_form() -> None:
    config = dataclasses.replace(CFR_PRESETS["cfr+"], reverse=True)
    abstract, tree = BucketGame.build(LEDUC, lossless(LEDUC)), build_public_tree(LEDUC)
    by_buckets, forwards = BucketCfrSolver(abstract, config), PublicSolver(tree, "cfr+")
    small, large = PublicSolver(tree, config), PublicSolver(tree, config)
    for solver in (by_buckets, forwards, small):
        solver.step(20)
    for _ in range(20):
        large._step_by_walks()
    lifted = LiftedStrategy(BucketStrategy.of_game(abstract, by_buckets.strategy()))
    for player in range(2):
        averages = [solver.player_tables[player].average for solver in (small, large)]
        np.testing.assert_allclose(*averages, atol=1e-12)
        expected = fill_table(tree, player, small.profile())
        np.testing.assert_allclose(fill_table(tree, player, lifted), expected, atol=1e-10)
        assert np.abs(fill_table(tree, player, forwards.profile()) - expected).max() > 1e-3


def test_averages_of_cfr_plus_side_by_side() -> None:
    found = run_experiment("plus-averaging", games=("kuhn",), marks=(4, 9))
    for row, iterations in zip(found.rows, (4, 9), strict=False):
        expected = [
            cp.solve("kuhn", "cfr+", iterations=iterations, representation="history", **settings).exploitability
            for settings in ({"delay": 0}, {"delay": 1}, {"delay": 0, "reverse": True}, {"delay": 1, "reverse": True},
                             {"delay": 0, "gamma": 2.0}, {"delay": 1, "gamma": 2.0})
        ]  # fmt: skip
        assert row[2:] == pytest.approx(expected, abs=1e-12)
        plain = cp.solve("kuhn", "cfr+", iterations=iterations).exploitability
        assert plain == pytest.approx(expected[1], abs=1e-12)  # the default, which is better
        assert expected[1] < expected[0]
    with pytest.raises(CounterplayError, match="marks must be ascending"):
        run_experiment("plus-averaging", marks=(9, 4))


def test_it_converges() -> None:
    abstract = BucketGame.build(LEDUC, lossless(LEDUC))
    solver = BucketCfrSolver(abstract, "cfr+", pairs=count_bucket_pairs(abstract))
    solver.step(300)
    real = real_tree(LEDUC)
    exact = cp.evaluate(solver.profile(storage="float64").lifted(real), real).exploitability
    assert exact < 0.005
    assert solver.measure().exploitability == pytest.approx(exact, abs=1e-10)


def test_a_run_cut_in_two_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    cards = tmp_path / "leduc.cpa"
    CardAbstraction.lossless((3, 2), (1, 1)).save(cards)
    whole, part = (make_solver(open_game("leduc_limit_2p", "buckets", cards=[cards]), "cfr+") for _ in range(2))
    whole.step(20)
    part.step(7)
    part.save(tmp_path / "half")
    resumed = resume_solver(tmp_path / "half")
    resumed.step(13)
    assert np.array_equal(whole.regret, resumed.tables()["regret"])
    assert np.array_equal(whole.average, resumed.tables()["average"])


def test_the_command(tmp_path: Path) -> None:
    cards = tmp_path / "leduc.cpa"
    CardAbstraction.lossless((3, 2), (1, 1)).save(cards)
    line = ["solve", "leduc_limit_2p", "--cards", str(cards), "-a", "cfr+", "--boards", "all", "--until", "0.01"]
    found = CliRunner().invoke(app, [*line, "--iterations", "1000", "--json"])
    assert found.exit_code == 0, found.output
    told = json.loads(found.stdout)
    assert told["algorithm"] == "cfr+"
    assert told["abstract"]["exploitability"] <= 0.0101
    assert told["iterations"] < 1000


def test_memory_is_known_beforehand() -> None:
    solver = BucketCfrSolver(BucketGame.build(LEDUC, forgetting(LEDUC)), "cfr+")
    tables = solver.regret.nbytes + solver.average.nbytes + solver._learned.nbytes
    assert tables < solver.table_bytes < 100 * tables


def test_what_cannot_be_walked_is_refused() -> None:
    with pytest.raises(GameError, match=r"two players; .* has 3"):
        BucketCfrSolver(BucketGame.build(THREE, forgetting(THREE)), "cfr+")
    with pytest.raises(SolverError, match="threads on public trees only; got threads=2"):
        make_solver(BucketGame.build(LEDUC, forgetting(LEDUC)), "cfr+", threads=2)
