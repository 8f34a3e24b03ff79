"""Algorithms in buckets converge in the real game; what does not fit is refused."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import counterplay as cp
from counterplay.abstraction.cards.bucket_games import bucket_abstraction, infoset_places
from counterplay.errors import AbstractionError, GameError, SolverError
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.raise_sizes import bet_abstraction
from counterplay.solvers import MCCFR_PRESETS
from counterplay.solvers.bucket_mccfr import BucketSolver
from counterplay.solvers.mccfr import mccfr_config
from counterplay.strategy.bucket_strategy import BucketStrategy
from counterplay.strategy.strategy import Provenance
from counterplay.strategy.tabular import TabularStrategy
from tests.poker.test_bucket_game import (
    GAMES,
    LEDUC,
    NO_LIMIT,
    TWO_HOLES,
    compiled,
    entries_of,
    forgetting,
    lossless,
    real_tree,
    remembering,
)

LEDUC_VALUE = -0.085606424078
GOALS = {
    "chance-sampling": (60_000, 0.08),
    "external-sampling": (150_000, 0.05),
    "outcome-sampling": (600_000, 0.25),
    "average-strategy-sampling": (150_000, 0.05),
    "mccfr-scheme": (200_000, 0.12),
    "probing": (150_000, 0.06),
    "pure-cfr": (250_000, 0.05),
}


@pytest.mark.parametrize("algorithm", MCCFR_PRESETS)
def test_lossless_leduc_converges_in_the_real_game(algorithm: str) -> None:
    abstract = BucketGame.build(LEDUC, lossless(LEDUC))
    iterations, goal = GOALS[algorithm]
    solver = BucketSolver(abstract, mccfr_config(algorithm, {"seed": 1}), algorithm)
    solver.step(iterations)
    real = cp.compile_game("leduc_limit_2p")
    measured = cp.evaluate(solver.profile().lifted(real), real)
    assert measured.exploitability < goal
    assert measured.value[0] == pytest.approx(LEDUC_VALUE, abs=goal / 2)


@pytest.mark.parametrize("game", ["two hole cards", "no limit", "three players"])
def test_reduced_decks_converge_in_the_real_game(game: str) -> None:
    rules = GAMES[game]
    config = mccfr_config("external-sampling", {"average_walks": 0.1})
    solver = BucketSolver(BucketGame.build(rules, lossless(rules)), config)
    solver.step(100_000)
    real = real_tree(rules)
    start = cp.evaluate(TabularStrategy.uniform(real), real).exploitability
    assert cp.evaluate(solver.profile().lifted(real), real).exploitability < 0.06 * start


def test_a_coarser_abstraction_is_worse_in_the_real_game_only() -> None:
    """What is exploited in the real game is the loss of the abstraction; in the abstract game little is."""
    abstract = BucketGame.build(LEDUC, remembering(LEDUC))
    solver = BucketSolver(abstract, "external-sampling")
    solver.step(100_000)
    real, tree = compiled(abstract)
    probabilities = solver.strategy()[entries_of(abstract, tree)]
    inside = cp.evaluate(TabularStrategy.from_tree(tree, probabilities), tree).exploitability
    outside = cp.evaluate(solver.profile().lifted(real), real).exploitability
    assert inside < 0.06 < 0.5 < outside


def test_against_an_unabstracted_opponent_a_coarse_player_loses_less() -> None:
    """What the other player's best response wins in the real game (Johanson 2016, section 4.4, after Waugh)."""
    real = real_tree(LEDUC)
    loss = {}
    for name, other in (("A-vs-A", remembering(LEDUC)), ("A-vs-U", lossless(LEDUC))):
        solver = BucketSolver(BucketGame.build(LEDUC, [remembering(LEDUC), other]), "external-sampling")
        solver.step(100_000)
        loss[name] = cp.evaluate(solver.profile().lifted(real), real).best_response[1]
    assert loss["A-vs-U"] < loss["A-vs-A"] - 0.1


# ---------------------------------------------------------------------------------------------- misuse


def test_buckets_of_other_cards_are_refused() -> None:
    with pytest.raises(AbstractionError, match="rounds"):
        BucketGame.build(LEDUC, forgetting(LEDUC)[:1])
    with pytest.raises(AbstractionError, match="2 players; got the buckets of 3"):
        BucketGame.build(LEDUC, [forgetting(LEDUC)] * 3)
    with pytest.raises(AbstractionError, match="hands of the flop have 5 cards"):
        BucketGame.build(TWO_HOLES, [forgetting(TWO_HOLES)[0], forgetting(LEDUC)[1]])
    wide = dataclasses.replace(LEDUC, ranks=4)
    with pytest.raises(AbstractionError, match="4 ranks"):
        BucketGame.build(wide, forgetting(LEDUC))
    table = forgetting(LEDUC)
    with pytest.raises(AbstractionError, match="buckets of round 1 are 0 to 0; got 0 to 1"):
        BucketGame.build(LEDUC, [dataclasses.replace(table[0], count=1), table[1]])
    with pytest.raises(GameError, match="at most 6 players"):
        BucketGame.build(dataclasses.replace(LEDUC, players=7, blinds=(1,) * 7, stacks=(9,) * 7, ranks=8), table)


def test_trees_of_other_games_are_refused() -> None:
    abstract = BucketGame.build(LEDUC, forgetting(LEDUC))
    with pytest.raises(AbstractionError, match="is not"):
        infoset_places(cp.compile_game("kuhn"), abstract)
    some = BucketGame.build(NO_LIMIT, forgetting(NO_LIMIT), bet_abstraction("fcpa"))
    with pytest.raises(AbstractionError, match="with a betting abstraction"):
        bucket_abstraction(real_tree(NO_LIMIT), some)
    with pytest.raises(SolverError, match="bucket games"):
        BucketSolver("leduc", "pure-cfr")  # type: ignore[arg-type]


def test_profiles_of_hand() -> None:
    abstract = BucketGame.build(LEDUC, forgetting(LEDUC))
    uniform = BucketStrategy.of_game(abstract, np.ones(abstract.num_entries), Provenance("uniform"))
    assert uniform.with_cards(0, (51,), ()) == {"c": 0.5, "r": 0.5}
