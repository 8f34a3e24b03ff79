"""Solvers and measures at the edge of what they take: odd limits, extreme utilities, Ctrl-C at the worst moment."""

from __future__ import annotations

import dataclasses
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.analysis import RegretTracker
from counterplay.errors import CounterplayError, GameError, SolverError, StrategyError
from counterplay.evaluation import best_response, evaluate
from counterplay.game.builder import ExplicitGame, chance, decision, terminal
from counterplay.kernels.regret import match_regrets
from counterplay.runs import resume, solve
from counterplay.runtime.pacing import Until
from counterplay.solvers import CFR_PRESETS, CfrConfig, CfrSolver
from counterplay.solvers.cfr import config_with
from counterplay.strategy import Provenance, TabularStrategy
from counterplay.strategy.files import load_strategy
from counterplay.tree import compile_game
from tests.reference.cfr import ReferenceCfr, regret_matching

compiled = cache(compile_game)


def pennies(scale: float) -> ExplicitGame:
    """Matching pennies in which one side pays double."""
    win, lose = terminal(scale, -scale), terminal(-scale, scale)
    return ExplicitGame(
        decision(0, "hide", {
            "heads": decision(1, "guess", {"heads": terminal(-2 * scale, 2 * scale), "tails": win}),
            "tails": decision(1, "guess", {"heads": win, "tails": lose}),
        }),
        name=f"pennies{scale:g}",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"iterations": 2.5}, "iterations must be a positive integer; got 2.5"),  # ran for ever
        ({"iterations": "5"}, "iterations must be a positive integer; got '5'"),
        ({"iterations": True}, "iterations must be a positive integer; got True"),
        ({"seconds": "1"}, "seconds must be a positive number; got '1'"),
        ({"exploitability": 1j}, "exploitability must be a positive number; got 1j"),
    ],
)
def test_limits_of_wrong_types(limits: dict[str, Any], message: str) -> None:
    with pytest.raises(SolverError, match=re.escape(message)):
        Until(**limits)


def test_limits_may_be_numpy_numbers_and_large() -> None:
    assert solve("kuhn", iterations=np.int64(5)).iterations == 5
    assert solve("kuhn", iterations=10**400, exploitability=np.float32(0.5)).status == "exploitability"


@pytest.mark.parametrize("iterations", [-1, 1.5, "3", None])
def test_steps_are_whole_numbers(iterations: Any) -> None:
    with pytest.raises(SolverError, match="step takes an integer, at least 0"):
        CfrSolver("kuhn").step(iterations)
    with pytest.raises(SolverError, match="check_every must be an integer"):
        CfrSolver("kuhn").run(Until(iterations=3), check_every=0.5)  # type: ignore[arg-type]


def test_a_configuration_is_a_configuration() -> None:
    with pytest.raises(SolverError, match="config is a CfrConfig or the name of a preset"):
        CfrSolver("kuhn", {"alternating": True})  # type: ignore[arg-type]


@pytest.mark.parametrize("settings", [{"gamma": 21.0}, {"gamma": -21.0}, {"gamma": 5.0, "storage": "float32"}])
def test_weights_that_would_overflow_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(SolverError, match=r"gamma must lie in .* overflow"):
        config_with("dcfr", settings)


def test_a_delay_beyond_all_iterations_is_refused() -> None:
    with pytest.raises(SolverError, match="delay must be an integer, at least 0 and below"):
        CfrConfig(delay=2**63)


# ---------------------------------------------------------------------------------------------- prediction


@pytest.mark.parametrize(
    ("regret", "prediction"), [([-1.0, -2.0], [-5.0, -1.0]), ([-3.0, -3.0], [1.0, 2.0]), ([-1.0, -2.0], [0.0, 1.0])]
)
def test_the_largest_regret_counts_its_prediction(regret: list[float], prediction: list[float]) -> None:
    strategy = np.zeros(2)
    match_regrets(np.array([0, 2]), 0, 1, np.array(regret), np.array(prediction), True, 0.0, strategy)
    wish = {action: r + p for action, (r, p) in enumerate(zip(regret, prediction, strict=True))}
    assert strategy.tolist() == list(regret_matching(wish, "argmax-uniform").values())


@pytest.mark.parametrize("floor", [True, False])
def test_predictive_runs_with_the_other_fallback_equal_the_twin(floor: bool) -> None:
    """Player 1 loses whatever it does after a bet, so that no regret is positive there for long."""
    tree, settings = compiled("kuhn"), {"predictive": True, "fallback": "argmax-uniform", "regret_floor": floor}
    kernel = CfrSolver(tree, CfrConfig(alternating=False, **settings))  # type: ignore[arg-type]
    twin = ReferenceCfr(cp.make("kuhn"), alternating=False, **settings)  # type: ignore[arg-type]
    for _ in range(12):
        kernel.step()
        twin.iterate(1)
        for (player, key), row in twin.current().items():
            first = int(tree.infoset_offset[tree.find_infoset(player, str(key))])
            played = kernel.strategy("last")[first : first + len(row)]
            np.testing.assert_allclose(played, list(row.values()), atol=1e-9)


# ---------------------------------------------------------------------------------------------- extreme utilities


@pytest.mark.parametrize("algorithm", CFR_PRESETS)
@pytest.mark.parametrize("scale", [1e99, 1e20, 1e-20, 1e-200])
def test_strategies_do_not_depend_on_the_unit_of_utility(algorithm: str, scale: float) -> None:
    one = solve(pennies(1.0), algorithm, iterations=50)
    scaled = solve(pennies(scale), algorithm, iterations=50)
    np.testing.assert_allclose(scaled.profile.table, one.profile.table, rtol=1e-9)
    assert scaled.exploitability / scale == pytest.approx(one.exploitability, rel=1e-6, abs=1e-12)


def test_utilities_that_would_overflow_are_refused() -> None:
    with pytest.raises(
        GameError, match=re.escape("utilities must be finite and at most 1e+100; got [-2e+300, 2e+300]")
    ):
        compile_game(pennies(1e300))


@pytest.mark.parametrize("scale", [1e30, 1e-45])
def test_utilities_that_single_precision_cannot_hold_are_refused(scale: float) -> None:
    """They became infinite, or vanished and left the strategy uniform for ever."""
    with pytest.raises(SolverError, match="float32 tables need a largest utility from 1e-25 to 1e"):
        solve(pennies(scale), iterations=5, storage="float32")


def test_small_games_are_not_taken_for_zero_sum() -> None:
    both_win = ExplicitGame(decision(0, "i", {"a": terminal(1e-10, 1e-10), "b": terminal(0.0, 0.0)}))
    assert not compile_game(both_win).facts.zero_sum
    assert compile_game(pennies(1e-10)).facts.zero_sum
    assert compile_game(ExplicitGame(terminal(0.0, 0.0))).facts.zero_sum


def test_a_small_gain_of_who_remembers_is_still_a_gain() -> None:
    """The forgetful player cannot follow the best response, however little it is worth."""
    unit = 1e-14
    left, right = (
        decision(0, side, {"go": decision(0, "later", {"x": terminal(unit * won), "y": terminal(unit * (1 - won))})})
        for side, won in (("l", 1), ("r", 0))
    )
    tree = compile_game(ExplicitGame(chance({"l": (0.5, left), "r": (0.5, right)})))
    profile = TabularStrategy.uniform(tree)
    found = best_response(profile, 0, tree)
    assert found.value == pytest.approx(unit, rel=1e-9, abs=0.0)
    assert found.exact is False
    assert evaluate(found.profile, tree).value[0] == pytest.approx(unit / 2, rel=1e-9, abs=0.0)


# ---------------------------------------------------------------------------------------------- Ctrl-C and resuming


@pytest.mark.parametrize("left", [0, 3])
@pytest.mark.parametrize("stop", range(1, 30))
def test_ctrl_c_during_the_iteration_of_a_check_loses_nothing(tmp_path: Path, stop: int, left: int) -> None:
    """A signal that comes during a kernel call is raised right after it, before the strategy is measured."""
    tree, config = compiled("kuhn"), config_with("cfr+", {"profile": "best"})
    straight = CfrSolver(tree, config)
    straight.run(Until(iterations=stop + left))
    cut = CfrSolver(tree, config)
    advance = cut.step

    def step(iterations: int = 1) -> None:
        advance(iterations)
        if cut.iterations >= stop:
            raise KeyboardInterrupt

    cut.step = step  # type: ignore[method-assign]
    assert cut.run(Until(iterations=stop + left)).status == "interrupted"
    cut.save(tmp_path / "x")
    resumed = CfrSolver.resume(tmp_path / "x", tree)
    resumed.run(Until(iterations=stop + left))
    assert resumed.best_exploitability == straight.best_exploitability
    np.testing.assert_array_equal(resumed.best, straight.best)
    assert [point.iterations for point in resumed.curve] == [point.iterations for point in straight.curve]


def test_settings_beside_a_checkpoint_are_refused(tmp_path: Path) -> None:
    CfrSolver("kuhn", "cfr").save(tmp_path / "x")
    with pytest.raises(SolverError, match="a checkpoint has its own settings; leave out gamma"):
        resume(tmp_path / "x", iterations=3, gamma=2.0)


def test_faults_of_the_game_are_not_blamed_on_the_checkpoint(tmp_path: Path) -> None:
    source = "from counterplay import *\nclass G(ExplicitGame):\n    def __init__(self): super().__init__(TREE)\n"
    good = "TREE = decision(0, 'i', {'a': terminal(1, -1)})\n" + source
    (tmp_path / "g.py").write_text("from counterplay import *\n" + good)
    path = tmp_path / "x"
    CfrSolver(f"{tmp_path / 'g.py'}:G").save(path)
    assert CfrSolver.resume(path, f"{tmp_path / 'g.py'}:G").iterations == 0
    (tmp_path / "g.py").write_text("from counterplay import *\n" + good.replace("TREE)", "int('x'))"))
    with pytest.raises(GameError, match=r"g\.py:G cannot be made: ValueError: invalid literal"):
        CfrSolver.resume(path, f"{tmp_path / 'g.py'}:G")


# ---------------------------------------------------------------------------------------------- arrays for kernels


def test_measures_check_the_arrays_that_kernels_trust() -> None:
    tree = compiled("kuhn")
    tracker = RegretTracker(tree)
    tracker.observe(TabularStrategy.uniform(tree))
    short, wrong = np.ones(2), np.full(tree.num_entries, np.nan)
    with pytest.raises(StrategyError, match=r"kuhn has 24 entries; got an array of shape \(2,\)"):
        tracker.observe(short)
    with pytest.raises(StrategyError, match="must be at least 0 and sum to 1"):
        tracker.observe(wrong)
    for measure in (tracker.full_regret, tracker.decomposed_full_regret):
        with pytest.raises(StrategyError, match="kuhn has 24 entries"):
            measure(0, short)
    with pytest.raises(StrategyError, match="a strategy is an array of probabilities; got str"):
        tracker.observe("uniform")  # type: ignore[arg-type]
    assert tracker.steps == 1


@pytest.mark.parametrize("player", [-1, 2, 0.0, "1"])
def test_measures_check_the_player(player: Any) -> None:
    tree = compiled("kuhn")
    tracker = RegretTracker(tree)
    uniform = TabularStrategy.uniform(tree)
    tracker.observe(uniform)
    for measure in (
        tracker.external_regret,
        tracker.decomposed_regret,
        lambda p: tracker.full_regret(p, uniform.table),
        lambda p: best_response(uniform, p, tree),
    ):
        with pytest.raises(GameError, match=r"kuhn has players 0 \.\. 1; got"):
            measure(player)


def test_what_is_measured_is_a_profile() -> None:
    with pytest.raises(StrategyError, match="got int"):
        evaluate(7, "kuhn")
    with pytest.raises(CounterplayError, match=r"there is no .*'?nowhere\.strategy"):
        evaluate("nowhere.strategy", "kuhn")


def test_a_profile_does_not_change_with_the_array_it_came_from() -> None:
    tree = compiled("kuhn")
    mine = TabularStrategy.uniform(tree).table.copy()
    profile = TabularStrategy.from_tree(tree, mine)
    mine[0] = 7.0
    assert profile.table[0] == 0.5


def test_provenance_may_hold_numpy_numbers(tmp_path: Path) -> None:
    tree = compiled("kuhn")
    origin = Provenance("mine", {"n": np.int32(2), "list": np.arange(3), "file": Path("x")}, seed=np.int64(7))  # type: ignore[arg-type]
    TabularStrategy.from_tree(tree, TabularStrategy.random(tree, 1).table, origin).save(tmp_path / "x")
    read = load_strategy(tmp_path / "x").provenance
    assert read == dataclasses.replace(origin, settings={"n": 2, "list": [0, 1, 2], "file": "x"}, seed=7)
    strange = dataclasses.replace(origin, settings={"f": print})
    with pytest.raises(StrategyError, match="settings in a file are numbers, text and lists of them; got <built-in"):
        TabularStrategy.from_tree(tree, TabularStrategy.uniform(tree).table, strange).save(tmp_path / "x")
