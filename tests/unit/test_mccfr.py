"""Monte Carlo CFR: the kernels against the twin, unbiased estimates, identities, settings, convergence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.errors import SolverError
from counterplay.solvers import MCCFR_PRESETS, MccfrConfig, MccfrSolver, make_solver, resume_solver
from counterplay.solvers.schemes import SCHEMES
from tests.reference.mccfr import Mccfr, Script, Stream, all_samples, counterfactual_values
from tests.reference.walks import random_profile

VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "chance": ("chance-sampling", {}),
    "external": ("external-sampling", {}),
    "outcome": ("outcome-sampling", {}),
    "outcome, little exploration": ("outcome-sampling", {"exploration": 0.1}),
    "average strategy": ("average-strategy-sampling", {"epsilon": 0.2, "tau": 2.0, "beta": 3.0}),
    "scheme": ("mccfr-scheme", {"scheme": "limit-poker"}),
    "probing": ("probing", {"scheme": "limit-poker"}),
    "probing, many probes": ("probing", {"scheme": "limit-poker", "probes": 2}),
    "probing, some probes": ("probing", {"scheme": "limit-poker", "probes": 2, "probe_share": 0.5}),
    "probing, exploring": ("probing", {"scheme": "limit-poker", "probe_exploration": 0.3}),
    "pure": ("pure-cfr", {}),
}
every_variant = pytest.mark.parametrize("variant", VARIANTS)


def twin(game: str, algorithm: str, settings: dict[str, Any], seed: int) -> Mccfr:
    config = {**settings}
    if "scheme" in config:
        config["scheme"] = SCHEMES[config["scheme"]]
    return Mccfr(cp.make(game), MCCFR_PRESETS[algorithm].sampling, Stream(seed), **config)


def rows(tree: cp.GameTree, table: Any) -> np.ndarray:
    """A twin's table in the order of the entries."""
    values = []
    for infoset in range(tree.num_infosets):
        row = table[int(tree.infoset_player[infoset]), tree.infoset_names[infoset]]
        values += list(row.values())
    return np.array(values)


def agrees(game: str, algorithm: str, settings: dict[str, Any], iterations: int, seed: int = 5) -> None:
    tree = cp.compile_game(game)
    solver = make_solver(tree, algorithm, seed=seed, **settings)
    solver.step(iterations)
    slow = twin(game, algorithm, settings, seed)
    slow.iterate(iterations)
    np.testing.assert_allclose(solver.regret, rows(tree, slow.regret), rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(solver.average, rows(tree, slow.average), rtol=1e-11, atol=1e-11)
    assert solver.nodes == slow.nodes
    assert int(solver.random_state[0, 0]) == slow.chooser.state


@every_variant
@pytest.mark.parametrize("game", ["kuhn", "leduc"])
def test_kernels_walk_as_the_twin_does(game: str, variant: str) -> None:
    algorithm, settings = VARIANTS[variant]
    agrees(game, algorithm, settings, 150 if game == "leduc" else 400)


@pytest.mark.parametrize("algorithm", MCCFR_PRESETS)
@pytest.mark.parametrize("game", ["goofspiel(cards=3)", "kuhn(players=3)"])
def test_hidden_moves_and_three_players(game: str, algorithm: str) -> None:
    scheme = {"scheme": "goofspiel"} if algorithm in ("probing", "mccfr-scheme") else {}
    agrees(game, algorithm, {**scheme, "average_walks": 0.3}, 100)


@pytest.mark.parametrize("algorithm", MCCFR_PRESETS)
def test_options_outside_the_thesis(algorithm: str) -> None:
    linear = {} if algorithm == "pure-cfr" else {"linear_average": True}
    scheme = {"scheme": "limit-poker"} if algorithm in ("probing", "mccfr-scheme") else {}
    agrees("kuhn", algorithm, {**scheme, **linear, "regret_floor": True}, 200)


@every_variant
@pytest.mark.parametrize("player", [0, 1])
def test_all_samples_of_kuhn_average_to_counterfactual_values(variant: str, player: int) -> None:
    """Every sample is walked, by the code that the kernels are held to (Gibson 2014, propositions 5.1 and 5.2)."""
    algorithm, settings = VARIANTS[variant]
    game = cp.make("kuhn")
    profile = random_profile(game, seed=3)
    solver = twin("kuhn", algorithm, settings, seed=0)
    if algorithm == "average-strategy-sampling":
        for place, row in enumerate(solver.average.values()):  # averages that make some actions rare
            row.update({action: float(5 * ((place + k) % 3)) for k, action in enumerate(row)})
    mean = {name: dict.fromkeys(actions, 0.0) for name, actions in solver.sets.items()}
    gain = {name: dict.fromkeys(actions, 0.0) for name, actions in solver.sets.items()}

    def run(script: Script) -> None:
        solver.chooser = script
        solver.estimate(player, profile)

    total, samples = 0.0, 0
    for probability in all_samples(run):
        total += probability
        samples += 1
        for name in mean:
            for action in mean[name]:
                mean[name][action] += probability * solver.values[name][action]
                gain[name][action] += probability * solver.gains[name][action]
    assert total == pytest.approx(1.0, abs=1e-12)
    assert samples >= 6
    for name, exact in counterfactual_values(game, profile, player).items():
        average = sum(profile[name][action] * value for action, value in exact.items())
        for action, value in exact.items():
            assert mean[name][action] == pytest.approx(value, abs=1e-12)
            assert gain[name][action] == pytest.approx(value - average, abs=1e-12)


def tables(solver: MccfrSolver) -> tuple[bytes, ...]:
    return solver.regret.tobytes(), solver.average.tobytes(), solver.random_state.tobytes(), bytes([solver.nodes % 251])


@pytest.mark.parametrize("game", ["kuhn", "leduc", "goofspiel(cards=4)", "bluff(sides=3)"])
@pytest.mark.parametrize(
    ("algorithm", "settings"),
    [
        ("probing", {"scheme": "all"}),
        ("mccfr-scheme", {"scheme": "all"}),
        ("average-strategy-sampling", {"beta": float("inf")}),
        ("average-strategy-sampling", {"epsilon": 1.0}),
    ],
)
def test_taking_all_actions_is_external_sampling(game: str, algorithm: str, settings: dict[str, Any]) -> None:
    """Bit for bit (Gibson 2014, sections 5.3 and 5.4; Gibson et al. 2012, section 4)."""
    tree = cp.compile_game(game)
    external = make_solver(tree, "external-sampling", seed=11)
    other = make_solver(tree, algorithm, seed=11, **settings)
    for solver in (external, other):
        solver.step(3000)
    assert tables(external) == tables(other)


@pytest.mark.parametrize("game", ["kuhn", "leduc", "bluff(sides=3)"])
@pytest.mark.parametrize("settings", [{}, {"beta": 0.0, "epsilon": 0.01, "tau": 1.0}])
def test_the_first_iteration_of_average_strategy_sampling_is_external(game: str, settings: dict[str, Any]) -> None:
    """The first walk meets no average; the second meets what the first has added, so a first walk is compared."""
    tree = cp.compile_game(game)
    for seed in range(20):
        external = make_solver(tree, "external-sampling", seed=seed)
        other = make_solver(tree, "average-strategy-sampling", seed=seed, **settings)
        for solver in (external, other):
            solver.step(1)
        own = slice(0, int(tree.infoset_offset[tree.player_infosets[1]]))
        assert external.regret[own].tobytes() == other.regret[own].tobytes()
        if not settings:  # with the bonus of the thesis nothing is left out for long
            assert tables(external)[:2] == tables(other)[:2]
