"""CS, OPCS, SPCS and PCS on the public trees of all kinds of games, beside the history tree; their experiments."""

from __future__ import annotations

import math

import numpy as np
import pytest

import counterplay as cp
from counterplay.analysis import RegretTracker
from counterplay.analysis.regret_bounds import player_quantities
from counterplay.errors import CounterplayError
from counterplay.experiments import run_experiment
from counterplay.experiments.trivial_agents import COMPUTED, PUBLISHED
from counterplay.solvers import make_solver
from counterplay.solvers.public_cfr import PublicSolver
from counterplay.solvers.public_sampling import PublicSamplingConfig, PublicSamplingSolver
from counterplay.strategy.public_tables import table_converter

VARIANTS = ("cs", "opcs", "spcs", "pcs")
P = 0.1


@pytest.mark.parametrize("name", ["kuhn", "one_card_poker(cards=5)"])
def test_without_public_events_pcs_is_cfr_on_histories(name: str) -> None:
    """Profiles after each of 100 iterations are those of CFR in which players take turns, to 1e-12 (D-10)."""
    form = table_converter(name)
    sampled = PublicSamplingSolver(form.tree, "pcs")
    plain = cp.CfrSolver(name, cp.CfrConfig(alternating=True))
    for _ in range(100):
        sampled.step()
        plain.step()
        for kind in ("last", "average"):
            ours = form.profile(sampled.strategy(kind)).table  # type: ignore[arg-type]
            assert np.allclose(ours, plain.strategy(kind), rtol=0, atol=1e-12)  # type: ignore[arg-type]


@pytest.mark.parametrize("variant", VARIANTS)
def test_regret_keeps_its_bound(variant: str) -> None:
    """Average regret is at most (1 + 2/√p) Δ M √|A| / √T, but for a share p of the runs (D-37)."""
    tree = cp.compile_game("kuhn")
    form = table_converter(tree)
    steps, seeds, broken = 40, 10, 0
    for seed in range(seeds):
        solver = PublicSamplingSolver(form.tree, PublicSamplingConfig(variant, seed=seed))  # type: ignore[arg-type]
        tracker = RegretTracker(tree)
        for _ in range(steps):
            tracker.observe(form.profile(solver.strategy("last")))
            solver.step()
        for player in (0, 1):
            q = player_quantities(tree, player)
            bound = (1 + 2 / math.sqrt(P)) * q.utility_range * q.m_value * math.sqrt(q.max_actions / steps)
            broken += tracker.external_regret(player) / steps > bound
    assert broken <= P * 2 * seeds


@pytest.mark.parametrize(
    ("name", "variant", "iterations", "reached"),
    [("leduc", "cs", 20_000, 0.5), ("leduc", "opcs", 20_000, 0.4), ("leduc", "spcs", 20_000, 0.4),
     ("leduc", "pcs", 5_000, 0.1), ("bluff", "cs", 2_000, 0.5), ("bluff", "pcs", 100, 0.1),
     ("die_roll_poker", "pcs", 1_000, 0.2)],
)  # fmt: skip
def test_hands_that_are_not_cards(name: str, variant: str, iterations: int, reached: float) -> None:
    """Averages approach equilibrium where chance is told by matrices, by factors, and where it tells more later."""
    solver = make_solver(name, variant, seed=4)
    uniform = solver.measure().exploitability
    solver.step(iterations)
    assert solver.measure().exploitability < min(reached, uniform / 2)


def test_experiments_race_the_samplers() -> None:
    found = run_experiment("public-sampling", game="leduc_limit_2p", seconds=0.2, seeds=2)
    assert [row[0] for row in found.rows] == ["pcs", "cs", "opcs", "spcs"]
    assert all(row[1] > row[3] > 0 for row in found.rows)  # type: ignore[operator]
    assert set(found.curves) == set(VARIANTS)
    assert "Ours, the best first" in found.notes[0]
    with pytest.raises(CounterplayError):
        run_experiment("public-sampling", seconds="long")


@pytest.mark.parametrize(
    ("game", "iterations"),
    [("kuhn", 400), ("leduc", 400), ("bluff", 100), ("holdem_2_1(ranks=4,suits=3)", 200),
     pytest.param("holdem_2_1", 40, marks=pytest.mark.slow)],
)  # fmt: skip
def test_the_floor_of_cfr_plus_helps(game: str, iterations: int) -> None:
    """Current and average strategies of CFR+ approach equilibrium, the average faster than that of CFR (D-34)."""
    floored, plain = PublicSolver(game, "cfr+"), PublicSolver(game, "cfr")
    early = {}
    for solver in (floored, plain):
        solver.step(iterations // 10)
        early[solver] = {kind: solver.measure(kind).exploitability for kind in ("average", "last")}  # type: ignore[arg-type]
        solver.step(iterations - iterations // 10)
    late = {kind: floored.measure(kind).exploitability for kind in ("average", "last")}  # type: ignore[arg-type]
    assert late["average"] < early[floored]["average"] / 3
    assert late["last"] < early[floored]["last"] / 2
    assert late["average"] < plain.measure().exploitability / 2


def test_the_floor_and_sampling_side_by_side() -> None:
    found = run_experiment("plus-sampling", games=("leduc_limit_2p",), share=0.05, seeds=2)
    by = {(row[1], row[3]): row for row in found.rows}
    assert len(found.rows) == 12
    assert {row[2] for row in found.rows} == {10, 1_000, 10_000}
    average, current = (found.columns.index(name) for name in ("average", "current"))
    assert by["full", "floor, weighted average"][average] < by["full", "as in CFR"][average]  # type: ignore[operator]
    for sampling in ("full", "pcs", "cs"):  # what is not in a rule makes no difference
        assert by[sampling, "as in CFR"][current] == by[sampling, "weighted average"][current]
    with pytest.raises(CounterplayError, match="share must be positive"):
        run_experiment("plus-sampling", share=0.0)


@pytest.mark.slow
@pytest.mark.parametrize("game", sorted(COMPUTED))
def test_best_responses_to_trivial_agents(game: str) -> None:
    """To four decimals (Johanson 2016, table 2.1, in games of two rounds)."""
    for row in run_experiment("trivial-agents", games=(game,)).rows:
        assert row[2:5] == pytest.approx(COMPUTED[game][str(row[1])], abs=6e-5)
        assert row[5] == PUBLISHED.get(game, {}).get(str(row[1]))
