"""Tilted bucket games: what is paid, their solvers, and the untilted game in which they are measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.abstraction.cards import build_cards, parse_recipe
from counterplay.abstraction.cards.bucket_games import bucket_abstraction
from counterplay.errors import CounterplayError
from counterplay.experiments import run_experiment
from counterplay.forms import open_game
from counterplay.game.transforms import Tilt, TiltedGame
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.poker_game import PokerFile
from counterplay.solvers import make_solver, resume_solver
from counterplay.solvers.bucket_cfr import BucketCfrSolver
from counterplay.solvers.cfr import CfrSolver
from counterplay.strategy.bucket_strategy import BucketStrategy
from counterplay.tree.history.game_tree import GameTree
from tests.poker.test_bucket_game import LEDUC, THREE, forgetting, remembering

TILT = Tilt(7.0, -5.0, 3.0, 10.0)


def tilted_tree(game: Any) -> GameTree:
    return open_game(TiltedGame(PokerFile(game, "game"), TILT), "history")


@pytest.mark.parametrize("game", [LEDUC, THREE], ids=["two", "three"])
def test_players_are_paid_what_they_are_in_the_tilted_game(game: Any) -> None:
    tree, abstract = tilted_tree(game), BucketGame.build(game, forgetting(game), tilt=TILT)
    paid = {tuple(row) for row in np.round(tree.utility[np.unique(tree.outcome[tree.outcome >= 0])], 9).tolist()}
    assert paid <= {tuple(row) for row in np.round(abstract.utility, 9).tolist()}
    assert abstract.fingerprint != BucketGame.build(game, forgetting(game)).fingerprint


@pytest.mark.parametrize("algorithm", ["cfr", "cfr+", "dcfr"])
@pytest.mark.parametrize("buckets", [forgetting, remembering])
def test_full_width_solvers_are_those_of_the_history_tree(buckets: Any, algorithm: str) -> None:
    tree, abstract = tilted_tree(LEDUC), BucketGame.build(LEDUC, buckets(LEDUC), tilt=TILT)
    merged = bucket_abstraction(tree, abstract)
    here, there = BucketCfrSolver(abstract, algorithm), CfrSolver(merged.apply(tree), algorithm)
    for solver in (here, there):
        solver.step(15)
    lifted = BucketStrategy.of_game(abstract, here.strategy()).lifted(tree)
    np.testing.assert_allclose(lifted.for_tree(tree), merged.lift(there.profile(), tree).for_tree(tree), atol=1e-10)


def test_sampling_pays_the_tilt() -> None:
    """Twice what is won and lost gives the same strategies, and twice the regrets."""
    plain = BucketGame.build(LEDUC, remembering(LEDUC))
    twice = BucketGame.build(LEDUC, remembering(LEDUC), tilt=Tilt(100.0, 100.0, 100.0, 100.0))
    one, two = (make_solver(game, "external-sampling") for game in (plain, twice))
    for solver in (one, two):
        solver.step(200)
    assert np.array_equal(two.strategy(), one.strategy())
    assert np.array_equal(two.tables()["regret"], 2.0 * one.tables()["regret"])


@pytest.fixture
def cards(tmp_path: Path) -> Path:
    path = tmp_path / "l.cpa"
    build_cards((3, 2), (1, 1), parse_recipe("2,3", (3, 2), (1, 1))).save(path)
    return path


def test_a_tilted_game_by_its_name(cards: Path, tmp_path: Path) -> None:
    """Checkpoints and strategies open it again, and the strategy is worth something in the untilted game too."""
    game, out, kept = "tilted(leduc_limit_2p,orange,7)", tmp_path / "t.strategy", tmp_path / "t.checkpoint"
    cp.solve(game, "cfr+", cards=cards, iterations=30, out=out, checkpoint=kept)
    resumed = resume_solver(kept)
    assert (resumed.game.tilt, resumed.iterations) == (Tilt(7.0, 0.0, 0.0, 7.0), 30)
    tilted, plain = cp.evaluate(out), cp.evaluate(out, "leduc_limit_2p")
    assert sum(tilted.value) > 0.1
    assert sum(plain.value) == pytest.approx(0.0, abs=1e-12)
    lifted = cp.load(out).lifted(open_game("leduc_limit_2p", "history"))
    assert plain.exploitability == pytest.approx(cp.evaluate(lifted, "leduc_limit_2p").exploitability, abs=1e-9)


def test_what_takes_no_tilt() -> None:
    abstract = BucketGame.build(LEDUC, remembering(LEDUC), tilt=TILT)
    for algorithm in ("pcs-boards", "cfr-br"):
        with pytest.raises(CounterplayError, match=r"for zero-sum games; .* is tilted"):
            make_solver(abstract, algorithm)


def test_the_experiment() -> None:
    options = {"game": "holdem_2_4(ranks=4,suits=2)", "family": "PS2/PS2", "iterations": 20}
    found = run_experiment("tilt-exploitability", "quick", tilts="orange 7,peach 0", **options)
    assert [row[0] for row in found.rows] == ["none", "orange 7", "peach 0"]
    assert found.rows[2][3] == pytest.approx(found.rows[0][3], rel=1e-9)  # by other walks
    assert found.rows[1][3] != pytest.approx(found.rows[0][3], rel=1e-3)
    assert found.rows[1][6:9:2] == (pytest.approx(-3.33, abs=0.01), pytest.approx(-2.17, abs=0.01))
    assert found.curves["orange"][0] == [0.0, 7.0]
    less = found.rows[1][3] < found.rows[0][3]
    assert found.notes[0].startswith(
        f"Less exploitable than without a tilt, of table 2.3: {'orange 7' if less else ''}"
    )
    assert f"is less exploitable than none: {less} (published: True)" in found.notes[1]
    with pytest.raises(CounterplayError, match=r"a colour .* and percents; got 'mauve 3'"):
        run_experiment("tilt-exploitability", tilts="mauve 3")
