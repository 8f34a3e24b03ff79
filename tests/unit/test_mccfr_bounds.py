"""The theorems about Monte Carlo CFR hold at least as often as they say; published and computed curves come again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.evaluation import RegretTracker
from counterplay.evaluation.bounds import player_quantities, pure_cfr_bound, sampling_bound, sampling_bound_2012
from counterplay.solvers import MCCFR_PRESETS, make_solver

SEEDS = 40
STEPS = 60
P = 0.1


def smallest_chance(algorithm: str, depth: int) -> float:
    """δ: the smallest probability with which a walk takes a player's own actions up to an end."""
    one = {"outcome-sampling": 0.5 / 2, "average-strategy-sampling": 0.05, "mccfr-scheme": 0.5, "probing": 0.5}
    return float(one.get(algorithm, 1.0) ** depth)


@pytest.mark.parametrize("algorithm", MCCFR_PRESETS)
def test_bounds_hold_as_often_as_they_say(algorithm: str) -> None:
    """Average regret against Gibson 2014, theorems 2.5, 5.3, 5.5 and 5.6, over 40 seeds."""
    tree = cp.compile_game("kuhn")
    delta = smallest_chance(algorithm, depth=2)
    broken = {"2012": 0, "2014": 0}
    for seed in range(SEEDS):
        solver = make_solver(tree, algorithm, seed=seed)
        tracker = RegretTracker(tree)
        for _ in range(STEPS):
            tracker.observe(solver.strategy("last"))
            solver.step()
        for player in range(2):
            quantities = player_quantities(tree, player)
            regret = tracker.external_regret(player) / STEPS
            if algorithm == "pure-cfr":
                bound = pure_cfr_bound(quantities, STEPS, P)
            else:
                bound = sampling_bound(quantities, STEPS, delta, P)
            broken["2014"] += regret > bound
            broken["2012"] += regret > sampling_bound_2012(quantities, STEPS, delta, P)
    assert max(broken.values()) <= P * SEEDS * 2


ORIENTATION: list[tuple[str, dict[str, Any], float, float]] = [
    ("chance-sampling", {"prune": False}, 0.0633, 0.0034),
    ("outcome-sampling", {}, 0.0567, 0.0044),
    ("external-sampling", {}, 0.0102, 0.0009),
    ("average-strategy-sampling", {}, 0.0106, 0.0014),
    ("average-strategy-sampling", {"beta": 1e3}, 0.0075, 0.0007),
    ("average-strategy-sampling", {"beta": 1e3, "tau": 100.0}, 0.0060, 0.0009),
    ("average-strategy-sampling", {"beta": 10.0, "tau": 100.0}, 0.0061, 0.0004),
]
"""Bluff(1,1) after 10^8 histories, means of five seeds with 95 % intervals (computed independently).

Those of chance sampling come from walks of the whole bidding: with ``prune`` the same histories bring 0.018.
"""


@pytest.mark.slow
@pytest.mark.parametrize(("algorithm", "settings", "mean", "spread"), ORIENTATION)
def test_bluff_after_a_hundred_million_histories(
    algorithm: str, settings: dict[str, Any], mean: float, spread: float
) -> None:
    tree = cp.compile_game("bluff")
    found = []
    for seed in range(5):
        solver = make_solver(tree, algorithm, seed=seed, **settings)
        while solver.nodes < 1e8:
            solver.step(200)
        found.append(solver.measure().exploitability)
    own = 2.776 * float(np.std(found, ddof=1)) / 5**0.5
    assert np.mean(found) == pytest.approx(mean, abs=1.5 * (own + spread))
