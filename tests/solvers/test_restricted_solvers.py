"""Solvers that take a restricted opponent, on trees and in buckets: the values of linear programs and of coin games."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.errors import GameError, SolverError
from counterplay.evaluation.bucket_pairs import count_bucket_pairs
from counterplay.evaluation.responses import best_response
from counterplay.lp.safe_response import restricted_response
from counterplay.solvers import CFR_PRESETS, resume_solver
from counterplay.solvers.bucket_mccfr import BUCKET_PRESETS, BucketSolver
from counterplay.solvers.cfr import CfrSolver, config_with
from counterplay.solvers.mccfr import MccfrSolver, mccfr_config
from counterplay.solvers.restricted_solver import RestrictedSolver
from counterplay.solvers.restriction import Restriction
from counterplay.tree.history.game_tree import GameTree
from tests.poker.test_bucket_game import both_forms, remembering
from tests.reference import coin_game
from tests.reference.walks import Profile, random_profile
from tests.solvers.test_restricted_pairs import random_rows


def on_tree(tree: GameTree, profile: Profile) -> np.ndarray:
    rows = {(player, str(key)): {str(a): x for a, x in row.items()} for (player, key), row in profile.items()}
    return cp.TabularStrategy.from_table(tree, rows).table


def confidences(tree: GameTree, seed: int = 1) -> np.ndarray:
    chosen = np.random.default_rng(seed).choice([0.0, 0.3, 0.9, 1.0], size=tree.num_infosets)
    return np.repeat(chosen, np.diff(tree.infoset_offset))


def restriction(tree: GameTree, kind: str, player: int, seed: int = 3) -> Restriction:
    table = cp.TabularStrategy.random(tree, seed).table
    return Restriction(player, table, 0.6 if kind == "rnr" else confidences(tree))


def check(solver: RestrictedSolver, tree: GameTree, near: float) -> None:
    """The value lies between what the player is sure of and what is best against the opponent, and is found."""
    held, found = solver.restriction, solver.measure()
    assert held is not None
    seat = 1 - held.player
    value, _ = restricted_response(tree, seat, held.strategy, held.confidence)
    assert -found.best_response[held.player] - 1e-9 <= value <= found.best_response[seat] + 1e-9
    assert 0.0 <= found.exploitability < near
    assert found.value[seat] == pytest.approx(value, abs=2 * near)


@pytest.mark.parametrize("kind", ["rnr", "dbr"])
@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize(("game", "iterations"), [("kuhn", 4000), ("leduc", 3000)])
def test_cfr_plus_comes_to_the_linear_program(game: str, iterations: int, player: int, kind: str) -> None:
    tree = cp.compile_game(game)
    solver = CfrSolver(tree, config_with("cfr+", {"gamma": 2.0}), restriction=restriction(tree, kind, player))
    solver.step(iterations)
    check(solver, tree, 1e-4)


@pytest.mark.parametrize("kind", ["rnr", "dbr"])
@pytest.mark.parametrize("algorithm", CFR_PRESETS)
def test_the_whole_family_converges(algorithm: str, kind: str) -> None:
    tree = cp.compile_game("kuhn")
    solver = CfrSolver(tree, algorithm, restriction=restriction(tree, kind, 1))
    solver.step(2000)
    check(solver, tree, 0.01 if algorithm == "cfr" else 2e-3)


@pytest.mark.parametrize("kind", ["rnr", "dbr"])
@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize(("algorithm", "iterations"), [("external-sampling", 400_000), ("chance-sampling", 150_000)])
@pytest.mark.parametrize(("game", "near"), [("kuhn", 0.004), ("leduc", 0.03)])
def test_sampled_walks_come_near(
    game: str, near: float, algorithm: str, iterations: int, player: int, kind: str
) -> None:
    tree = cp.compile_game(game)
    solver = MccfrSolver(tree, mccfr_config(algorithm, {"seed": 5}), restriction=restriction(tree, kind, player))
    solver.step(iterations)
    check(solver, tree, near)


@pytest.mark.parametrize("kind", ["rnr", "dbr"])
@pytest.mark.parametrize(
    ("algorithm", "iterations"), [("external-sampling", 200_000), ("chance-sampling", 80_000), ("pcs-boards", 20_000)]
)
@pytest.mark.parametrize("player", [0, 1])
def test_sampled_walks_in_buckets_come_near(algorithm: str, iterations: int, player: int, kind: str) -> None:
    abstract, tree, where = both_forms("leduc", remembering)
    fixed, seat = random_rows(abstract, 2), 1 - player
    confidence: Any = 0.7 if kind == "rnr" else random_rows(abstract, 3, (0.0, 0.3, 0.9, 1.0))
    held = Restriction(player, fixed, confidence)
    config = mccfr_config(algorithm, {"seed": 5}, BUCKET_PRESETS)
    solver = BucketSolver(abstract, config, pairs=count_bucket_pairs(abstract), restriction=held)
    solver.step(iterations)
    found = solver.measure()
    trusted = confidence if kind == "rnr" else confidence[where]
    value, _ = restricted_response(tree, seat, fixed[where], trusted)
    assert -found.best_response[player] - 1e-9 <= value <= found.best_response[seat] + 1e-9
    assert found.exploitability < 0.02


@pytest.mark.parametrize("game", ["kuhn", "leduc"])
def test_ends_are_an_equilibrium_and_a_best_response(game: str) -> None:
    tree = cp.compile_game(game)
    model = cp.TabularStrategy.random(tree, 4)
    value, best = restricted_response(tree, 0, model.table, 0.0)[0], best_response(model, 0, tree).value
    entries = tree.num_entries
    for never, always in ((0.0, 1.0), (np.zeros(entries), np.ones(entries))):
        free = CfrSolver(tree, "cfr+", restriction=Restriction(1, model.table, never))
        plain, bound = CfrSolver(tree, "cfr+"), CfrSolver(tree, "cfr+", restriction=Restriction(1, model.table, always))
        for solver in (free, plain, bound):
            solver.step(3000)
        np.testing.assert_allclose(free.strategy(), plain.strategy(), atol=1e-9)
        assert free.measure().value[0] == pytest.approx(value, abs=1e-3)
        assert bound.measure().best_response[0] == pytest.approx(best, abs=1e-12)
        assert bound.measure().value[0] == pytest.approx(best, abs=1e-3)


@pytest.mark.parametrize("player", [0, 1])
def test_values_are_those_of_the_game_with_coins(player: int) -> None:
    """The restricted games are built out, with a coin before the deal or before each decision, and walked."""
    game, tree = cp.make("kuhn"), cp.compile_game("kuhn")
    fixed, played = random_profile(game, 1), random_profile(game, 2)
    table, free = on_tree(tree, fixed), on_tree(tree, played)
    chosen = confidences(tree, 2)
    names = {str(name): float(chosen[tree.infoset_offset[number]]) for number, name in enumerate(tree.infoset_names)}
    for kind in ("rnr", "dbr"):
        held = Restriction(player, table, 0.6 if kind == "rnr" else chosen)
        solver = CfrSolver(tree, "cfr+", restriction=held)
        found = solver._measured_as(free if kind == "rnr" else solver.restriction.played(free))  # type: ignore[union-attr]
        if kind == "rnr":
            restricted: cp.Game = coin_game.CoinForGames(game, fixed, player, 0.6)
        else:
            restricted = coin_game.CoinForDecisions(game, fixed, player, names)
        expected = coin_game.measured(restricted, played, player)
        assert (found.value, found.best_response) == (
            pytest.approx(expected[0], abs=1e-12), pytest.approx(expected[1], abs=1e-12)
        )  # fmt: skip


def test_a_constant_confidence_is_no_coin_for_each_game() -> None:
    tree = cp.compile_game("leduc")
    model = cp.TabularStrategy.uniform(tree).table
    values = []
    for confidence in (0.5, np.full(tree.num_entries, 0.5)):
        solver = CfrSolver(tree, "cfr+", restriction=Restriction(1, model, confidence))
        solver.step(1000)
        values.append(solver.measure().value[0])
    assert values[1] > values[0] + 0.05


@pytest.mark.parametrize("kind", ["rnr", "dbr"])
@pytest.mark.parametrize("algorithm", ["cfr+", "pcfr+", "external-sampling", "chance-sampling"])
def test_a_run_cut_in_two_goes_on_to_the_same_bits(algorithm: str, kind: str, tmp_path: Path) -> None:
    tree = cp.compile_game("leduc")
    family: Any = CfrSolver if algorithm in CFR_PRESETS else MccfrSolver
    whole, part = (family(tree, algorithm, restriction=restriction(tree, kind, 0)) for _ in range(2))
    whole.step(200)
    part.step(70)
    part.save(tmp_path / "half")
    resumed = resume_solver(tmp_path / "half")
    resumed.step(130)
    assert resumed.tables().keys() == whole.tables().keys()
    for name, table in whole.tables().items():
        assert np.array_equal(table, resumed.tables()[name]), name
    assert resumed.measure() == whole.measure()


def test_what_is_refused() -> None:
    tree = cp.compile_game("kuhn")
    held = restriction(tree, "rnr", 0)
    with pytest.raises(SolverError, match="outcome-sampling takes no restricted opponent; use chance-sampling, ext"):
        MccfrSolver(tree, "outcome-sampling", restriction=held)
    with pytest.raises(SolverError, match="leave out tremble"):
        CfrSolver(tree, config_with("cfr+", {"tremble": 0.01}), restriction=held)
    three = cp.compile_game("kuhn(players=3)")
    with pytest.raises(GameError, match="responses are for two players"):
        CfrSolver(three, restriction=Restriction(0, cp.TabularStrategy.uniform(three).table, 0.5))
