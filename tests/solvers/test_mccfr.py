"""Monte Carlo CFR: the kernels against the twin, unbiased estimates, identities, settings, convergence."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.analysis import RegretTracker
from counterplay.errors import SolverError
from counterplay.kernels.history.mccfr import AVERAGE_STRATEGY, Sampling, _chance
from counterplay.solvers import MCCFR_PRESETS, MccfrConfig, MccfrSolver, make_solver, resume_solver
from counterplay.solvers.sampling_schemes import SCHEMES
from tests.kernel_entry import entry
from tests.reference.mccfr import Mccfr, Script, Stream, all_samples, counterfactual_values
from tests.reference.walks import random_profile

VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "chance": ("chance-sampling", {}),
    "chance, all branches": ("chance-sampling", {"prune": False}),
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


@pytest.mark.parametrize(
    ("settings", "sums", "chances"),
    [
        ((0.05, 1000.0, 1e6), (0.0, 0.0), (1.0, 1.0)),
        ((0.05, 1000.0, 1e6), (1e7, 1e3), (1.0, 2e6 / 1.1001e7)),
        ((0.05, 1000.0, 1e6), (1e9, 0.0), (1.0, 0.05)),
        ((0.3, 1.0, 0.0), (3.0, 1.0), (0.75, 0.3)),
        ((0.3, 1.0, 0.0), (0.0, 0.0), (1.0, 1.0)),
    ],
)
def test_probabilities_of_average_strategy_sampling(
    settings: tuple[float, float, float], sums: tuple[float, float], chances: tuple[float, float]
) -> None:
    """Values of ρ (computed independently)."""
    epsilon, tau, beta = settings
    sampling = Sampling(AVERAGE_STRATEGY, epsilon, tau, beta, 0.5, 1, 1.0, 0.0, False, True, 3)
    weight = np.array([1.0, 0.0, sum(sums)])
    average, none = np.array(sums), np.zeros(0)
    chance_of = entry(_chance)
    found = [chance_of(sampling, weight, none, 0, 0, 2, action, 0, average, none) for action in range(2)]
    assert [min(1.0, chance) for chance in found] == pytest.approx(chances, rel=1e-12)


def test_pure_cfr_keeps_whole_numbers_in_half_the_memory() -> None:
    for game in ("kuhn", "leduc", "goofspiel(cards=4)", "bluff"):
        tree = cp.compile_game(game)
        pure, external = make_solver(tree, "pure-cfr"), make_solver(tree, "external-sampling")
        pure.step(500)
        assert (pure.regret.dtype, pure.average.dtype) == (np.int32, np.int32)
        assert 2 * pure.table_bytes <= external.table_bytes
        assert pure.average.sum() > 0
        last = make_solver(tree, "pure-cfr", profile="last")
        average = make_solver(tree, "average-strategy-sampling")
        assert last.regret.nbytes + last.average.nbytes == (average.regret.nbytes + average.average.nbytes) // 4


def test_regrets_stay_inside_the_integers() -> None:
    solver = make_solver("leduc", "pure-cfr")
    solver.regret[:] = 2**31 - 4
    solver.step(200)
    assert solver.cut_updates > 0
    assert solver.regret.min() > 0  # nothing has wrapped around
    strict = make_solver("leduc", "pure-cfr", overflow="error")
    strict.regret[:] = 2**31 - 4
    with pytest.raises(SolverError, match="regrets of pure-cfr left the type int32; use storage int64"):
        strict.step(200)
    wide = make_solver("leduc", "pure-cfr", storage="int64", overflow="error")
    wide.regret[:] = 2**31 - 4
    wide.step(200)
    assert wide.cut_updates == 0


def test_counts_of_the_average_are_halved_before_they_overflow() -> None:
    solver = make_solver("kuhn", "pure-cfr")
    solver.average[:] = 2**31 - 1
    solver.average[1::2] = 2**30
    solver.step(300)
    assert solver.average.min() > 0
    shares = solver.strategy("average").reshape(-1, 2)
    np.testing.assert_allclose(shares[:, 0], 2 / 3, atol=1e-5)


def test_utilities_in_whole_units() -> None:
    """Three equal hands share a pot in thirds (Gibson 2014, section 5.5, needs integers)."""
    game = 'matrix(rows="0.5,-0.25;-0.25,0.75")'
    solver = make_solver(game, "pure-cfr")
    assert sorted(set(solver.walks.utility.tolist())) == [-3, -2, -1, 1, 2, 3]
    assert make_solver(game, "pure-cfr", units=8).walks.utility.max() == 6
    odd = 'matrix(rows="0.123456789,-1;-1,3.14159265")'
    with pytest.raises(SolverError, match="pure-cfr needs integer utilities"):
        make_solver(odd, "pure-cfr")
    assert make_solver(odd, "pure-cfr", units=1000).walks.utility.max() == 3142
    with pytest.raises(SolverError, match="too large for pure-cfr"):
        make_solver(odd, "pure-cfr", units=10**9)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"epsilon": 0.0}, "epsilon must be a number, above 0 and at most 1; got 0.0"),
        ({"epsilon": 1.5}, "epsilon must be"),
        ({"tau": 0.5}, "tau must be a number, at least 1 and below inf; got 0.5"),
        ({"tau": float("inf")}, "tau must be"),
        ({"beta": -1.0}, "beta must be a number, at least 0; got -1.0"),
        ({"beta": float("nan")}, "beta must be"),
        ({"exploration": 0.0}, "exploration must be"),
        ({"probes": 0}, "probes must be an integer, at least 1 and at most 1000000; got 0"),
        ({"probe_share": 0}, "probe_share must be"),
        ({"probe_exploration": 2}, "probe_exploration must be"),
        ({"average_walks": 0}, "average_walks must be"),
        ({"seed": -1}, r"seed must be an integer, at least 0 and below 2\^63; got -1"),
        ({"seed": 1.5}, "seed must be"),
        ({"threads": 0}, "threads must be an integer, at least 1 and at most 1024; got 0"),
        ({"threads": 2000}, "threads must be an integer, at least 1 and at most 1024; got 2000"),
        ({"threads": True}, "threads must be"),
        ({"profile": "best"}, "profile must be one of average, last; got 'best'"),
        ({"storage": "int32"}, "storage must be one of float64, float32; got 'int32'"),
        ({"regret_floor": 1}, "regret_floor must be true or false; got 1"),
        ({"overflow": "wrap"}, "overflow must be one of cut, error; got 'wrap'"),
        ({"sampling": "some"}, "sampling must be one of chance, external"),
        ({"depth": 3}, "external-sampling has no setting 'depth'"),
    ],
)
def test_bad_settings(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(SolverError, match=message):
        make_solver("kuhn", "external-sampling", **settings)


def test_bad_settings_of_pure_cfr() -> None:
    with pytest.raises(SolverError, match="storage must be one of int32, int64; got 'float64'"):
        make_solver("kuhn", "pure-cfr", storage="float64")
    with pytest.raises(SolverError, match="pure-cfr counts actions"):
        make_solver("kuhn", "pure-cfr", linear_average=True)
    with pytest.raises(SolverError, match="unknown algorithm 'sampling'"):
        MccfrSolver("kuhn", "sampling")
    with pytest.raises(SolverError, match="scheme must be a name here"):
        MccfrConfig(scheme=3)  # type: ignore[arg-type]


def test_current_profile_mode_keeps_no_average() -> None:
    """Gibson 2014, section 4.3: half the memory, and no walks for the average."""
    tree = cp.compile_game("kuhn(players=3)")
    both = [make_solver(tree, "external-sampling", seed=3, **s) for s in ({"profile": "last"}, {"average_walks": 1.0})]
    for solver in both:
        solver.step(200)
    assert len(both[0].average) == 0
    assert 2 * both[0].regret.nbytes == both[1].regret.nbytes + both[1].average.nbytes
    assert both[0].nodes < both[1].nodes
    np.testing.assert_array_equal(both[0].strategy(), both[0].strategy("last"))
    with pytest.raises(SolverError, match="this solver keeps no average"):
        both[0].strategy("average")
    kept = make_solver(tree, "average-strategy-sampling", profile="last")
    assert len(kept.average) == tree.num_entries  # its probabilities come from there


def test_averages_gather_reach_times_strategy() -> None:
    """The mean of what one walk adds is π_j(I) σ_j(I,a) times the chance of the set's deals (Gibson et al. 2012,
    section 4), here of a fixed profile: regrets in the ratio of the strategy, restored after each iteration.
    """
    game = cp.make("kuhn")
    tree = cp.compile_game("kuhn")
    profile = random_profile(game, seed=6)
    strategy = rows(tree, profile)
    reach: dict[int, float] = {}
    for infoset in range(tree.num_infosets):
        key = tree.infoset_names[infoset]
        player = int(tree.infoset_player[infoset])
        own = 1.0
        if key.endswith(":kb"):
            own = profile[player, key[:-2]]["check"]
        reach[infoset] = own / 3  # each card has a third of the deals
    expected = np.repeat(list(reach.values()), 2) * strategy
    for algorithm in ("external-sampling", "outcome-sampling", "mccfr-scheme", "probing"):
        solver = make_solver(tree, algorithm, seed=1)
        for _ in range(20_000):
            solver.regret[:] = strategy
            solver.step()
        # A player's walk reads the changed regrets of the player before: only the second player's sets, which the
        # first walk visits, see the profile itself.
        own = slice(int(tree.infoset_offset[tree.player_infosets[1]]), None)
        np.testing.assert_allclose(solver.average[own] / 20_000, expected[own], rtol=0, atol=0.012)


def test_threads_share_the_tables() -> None:
    tree = cp.compile_game("leduc")
    for algorithm in MCCFR_PRESETS:
        solver = make_solver(tree, algorithm, threads=3, seed=4)
        solver.step(0)
        solver.step(10_000)
        solver.step(1)
        assert solver.iterations == 10_001
        assert (solver.counters[:, 0] > 0).any()
        assert len({int(state) for state in solver.random_state[:, 0]}) == 3
        assert solver.measure().exploitability < 1.5


@pytest.mark.parametrize("algorithm", ["chance-sampling", "external-sampling", "pure-cfr"])
def test_kernels_let_other_threads_run(algorithm: str) -> None:
    solver = make_solver("leduc", algorithm)
    solver.step(1)
    worker = threading.Thread(target=solver.step, args=(100_000,))
    turns = 0
    worker.start()
    while worker.is_alive():
        turns += 1
    assert turns > 100  # one call of the kernel: with the interpreter locked there would be hardly any


def test_checkpoints_with_threads_and_own_schemes(tmp_path: Path) -> None:
    path = tmp_path / "run.checkpoint"

    def scheme(player: int, infoset: str, actions: tuple[str, ...]) -> list[float]:
        return [1.0 if action != "fold" else 0.25 + 0.25 * player for action in actions]

    solver = make_solver("leduc", "probing", scheme=scheme, seed=5)
    solver.step(500)
    solver.save(path)
    resumed = resume_solver(path)
    np.testing.assert_array_equal(resumed.scheme, solver.scheme)
    for one in (solver, resumed):
        one.step(500)
    assert tables(solver) == tables(resumed)
    threaded = make_solver("kuhn", "external-sampling", threads=2)
    threaded.step(100)
    threaded.save(path)
    assert resume_solver(path).counters.tolist() == threaded.counters.tolist()


CONVERGED = {"kuhn": 0.006, "leduc": 0.06, "bluff(sides=4)": 0.05, "goofspiel(cards=4)": 0.02}
"""Exploitability after as many iterations as touch about 20 million histories; outcome sampling may have 6 times it."""


@pytest.mark.parametrize(
    "game", ["kuhn", "leduc", *(pytest.param(name, marks=pytest.mark.slow) for name in list(CONVERGED)[2:])]
)
@pytest.mark.parametrize("algorithm", MCCFR_PRESETS)
def test_every_variant_converges(game: str, algorithm: str) -> None:
    solver = make_solver(game, algorithm, seed=2)
    while solver.nodes < 2e7:
        solver.step(1000)
    assert solver.measure().exploitability <= CONVERGED[game] * (6 if algorithm == "outcome-sampling" else 1)


@pytest.mark.parametrize("algorithm", MCCFR_PRESETS)
def test_average_regret_vanishes_with_three_players(algorithm: str) -> None:
    """Kuhn with three players: average regrets of the profiles played, and the averages that walks gather."""
    tree = cp.compile_game("kuhn(players=3)")
    solver = make_solver(tree, algorithm, seed=1, average_walks=0.2)
    tracker = RegretTracker(tree)
    regrets = []
    for length in (300, 3000):
        while solver.iterations < length:
            tracker.observe(solver.strategy("last"))
            solver.step()
        regrets.append(max(tracker.external_regret(player) / length for player in range(3)))
    assert regrets[1] < 0.6 * regrets[0]
    assert regrets[1] < (0.15 if algorithm == "outcome-sampling" else 0.06)
    solver.step(200_000)
    assert solver.measure().exploitability < 0.03


def test_averages_go_on_beside_regrets_of_float32() -> None:
    """A float32 that has come to 2^24 does not change when 1 is added."""
    solver = MccfrSolver("kuhn", MccfrConfig(storage="float32"))
    solver.average[:] = 2.0**24
    solver.step(2000)
    assert solver.regret.dtype == np.float32
    assert (solver.average - 2.0**24).sum() > 1000
