"""What must hold on every public tree: threads, equilibria, best responses, regret matching, promises of CFR, Bluff."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import counterplay as cp
from counterplay.analysis import RegretTracker
from counterplay.analysis import regret_bounds as b
from counterplay.evaluation.public_walker import PublicWalker
from counterplay.kernels.regret import match_few, match_hands
from counterplay.solvers.cfr import config_with
from counterplay.solvers.public_cfr import PublicSolver
from counterplay.strategy.public_tables import SplitConverter, TableConverter, table_converter
from counterplay.tree.public.from_histories import split_public
from tests.kernel_entry import entry
from tests.reference.cfr import regret_matching

SUM = 1e-9
MATCH_HANDS, MATCH_FEW = entry(match_hands), entry(match_few)

TREES = ["leduc", "leduc_limit_2p", "die_roll_poker(sides=3)", "bluff(2,2,sides=2)", "holdem_2_4(ranks=4,suits=2)"]


@functools.cache
def form(name: str) -> TableConverter:
    return table_converter(name)


def random_tables(name: str, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    draw = np.random.default_rng(seed)
    first, second = form(name).tree.num_entries
    return draw.exponential(size=first), draw.exponential(size=second)


@pytest.mark.parametrize("name", TREES)
def test_any_number_of_threads_measures_the_same(name: str) -> None:
    """Subgames that are not below each other share nothing."""
    tables = random_tables(name, 1)
    one, *others = (PublicWalker(form(name).tree, threads).measure(tables) for threads in (1, 2, 3))
    for measured in others:
        assert measured.value == pytest.approx(one.value, abs=1e-12)
        assert measured.best_response == pytest.approx(one.best_response, abs=1e-12)


@pytest.mark.parametrize("algorithm", ["cfr", "cfr+"])
def test_any_number_of_threads_learns_the_same(algorithm: str) -> None:
    tree = form("leduc_limit_2p").tree
    solvers = [PublicSolver(tree, config_with(algorithm, {"threads": threads})) for threads in (1, 2, 3)]
    for solver in solvers:
        solver.step(20)
    for solver in solvers[1:]:
        for mine, first in zip(solver.player_tables, solvers[0].player_tables, strict=True):
            assert np.abs(mine.regret - first.regret).max() < 1e-10
            assert np.abs(mine.average - first.average).max() < 1e-10


@pytest.mark.parametrize("name", ["kuhn", "leduc"])
def test_equilibria_are_not_exploitable(name: str) -> None:
    """Solutions of the linear program; exploitability is the mean of what the seats lose."""
    solved = cp.solve(name, "lp")
    public = form(name)
    measured = PublicWalker(public.tree).measure(public.tables(solved.profile))
    assert measured.exploitability == pytest.approx(0.0, abs=1e-6)
    assert measured.value == pytest.approx(solved.value, abs=1e-9)
    tables = random_tables(name, 2)
    measured = PublicWalker(public.tree).measure(tables)
    game_value = solved.value[0]
    first = measured.best_response[1] + game_value  # what player 1's strategy gives away
    second = measured.best_response[0] - game_value
    assert min(first, second) >= 0.0
    assert measured.exploitability == pytest.approx((first + second) / 2, abs=1e-9)
    assert sum(measured.best_response) == pytest.approx(2 * measured.exploitability, abs=1e-12)


@pytest.mark.parametrize("name", TREES)
def test_nothing_beats_a_best_response(name: str) -> None:
    walker = PublicWalker(form(name).tree)
    tables = random_tables(name, 3)
    for player in (0, 1):
        best = walker.response(player, tables[1 - player])
        for seed in range(4, 10):
            other = random_tables(name, seed)[player]
            if seed % 2:
                other = other**20.0  # nearly pure
            assert walker.value(player, other, tables[1 - player]) <= best + 1e-12


@given(st.integers(1, 5), st.integers(1, 6), st.integers(0, 2**31))
@settings(max_examples=50, deadline=None)
def test_regret_matching(actions: int, hands: int, seed: int) -> None:
    """In proportion to positive regrets, uniform where there are none (Johanson 2016, section 3.2.1)."""
    draw = np.random.default_rng(seed)
    regrets = draw.normal(size=(actions, hands))
    regrets[draw.random((actions, hands)) < 0.2] = 0.0
    regrets[:, 0] = -np.abs(regrets[:, 0])
    flat, sums, u = np.zeros(actions * hands), np.zeros(hands), np.uint64
    MATCH_HANDS(regrets.ravel(), 1.0, np.zeros(0), u(0), u(hands), u(actions), 0.0, flat, u(0), u(hands), sums)
    few, reach = np.zeros(actions * hands), np.concatenate((np.arange(hands), np.zeros(actions * hands)))
    MATCH_FEW(
        regrets.ravel(), 1.0, u(0), u(hands), u(actions), 0.0, few, u(0), reach, u(0), u(hands), u(hands)
    )  # fmt: skip
    for sigma in (flat.reshape(actions, hands), few.reshape(actions, hands)):
        assert sigma.sum(axis=0) == pytest.approx(np.ones(hands), abs=1e-12)
        for hand in range(hands):
            wanted = regret_matching(dict(enumerate(regrets[:, hand].tolist())))
            assert sigma[:, hand] == pytest.approx(list(wanted.values()), abs=1e-12)
    assert np.array_equal(reach[hands:].reshape(actions, hands), np.arange(hands) * few.reshape(actions, hands))


@pytest.mark.parametrize("name", TREES)
def test_floored_regrets_are_never_negative(name: str) -> None:
    solver = PublicSolver(form(name).tree, "cfr+")
    for _ in range(10):
        solver.step(2)
        assert min(float(tables.regret.min()) for tables in solver.player_tables) >= 0.0


@pytest.mark.parametrize("name", ["kuhn", "leduc"])
def test_cfr_keeps_its_promises(name: str) -> None:
    """Johanson 2016, theorem 3, at every step, and the folk theorem: exploitability is the mean of the regrets."""
    both = split_public(cp.compile_game(name))
    histories = SplitConverter(both)
    solver, tracker = PublicSolver(both.public, "cfr"), RegretTracker(both.game)
    quantities = [b.player_quantities(both.game, player) for player in (0, 1)]
    walker = PublicWalker(both.public)
    for steps in range(1, 30):
        current = histories.profile(solver.strategy("last"))
        tracker.observe(current.table)
        solver.step()
        regrets = [tracker.external_regret(player) / steps for player in (0, 1)]
        for player in (0, 1):
            assert regrets[player] <= b.cfr_bound(quantities[player], steps) + SUM
        measured = walker.measure(solver.strategy("average"))
        assert measured.exploitability == pytest.approx(sum(regrets) / 2, abs=SUM)


def test_bluff_with_one_die_each() -> None:
    """The opener's value is -7/258."""
    solver = PublicSolver("bluff", "cfr+")
    solver.step(300)
    measured = solver.measure()
    assert -measured.best_response[1] <= -7 / 258 <= measured.best_response[0]
    assert measured.exploitability < 2e-3
    assert measured.value[0] == pytest.approx(-7 / 258, abs=1e-3)


@pytest.mark.slow
def test_bluff_with_two_dice_against_one() -> None:
    """The opener's value is 0.61652 (within 0.00008) when a lost round is worth 7/258 to him."""
    solver = PublicSolver(f"bluff(2,1,lost={7 / 258!r})", "cfr+")
    solver.step(250)
    measured = solver.measure()
    assert -measured.best_response[1] <= 0.61652 + 8e-5
    assert measured.best_response[0] >= 0.61652 - 8e-5
    assert measured.exploitability < 2e-3
    assert math.isclose(measured.value[0], 0.61652, abs_tol=1e-3)
