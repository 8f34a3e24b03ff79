"""Sampled and exact algorithms at the edge of what they take: payoffs of any size, odd settings, schemes that fail."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.analysis.action_domination import dominated_actions, dominated_gambit
from counterplay.analysis.domination import dominated_strategies, dominating_strategy
from counterplay.analysis.equilibrium_quality import purity
from counterplay.analysis.equilibrium_set import Equilibria
from counterplay.analysis.estimators import SampledEstimator, sample_estimator
from counterplay.analysis.minimax import iterated_regret, minimax_regret
from counterplay.cli.main import main
from counterplay.errors import GameError, SolverError
from counterplay.experiments.shared.comparison import Budget, compare
from counterplay.lp.zero_sum import maxmin_restricted
from counterplay.runtime.pacing import Until
from counterplay.solvers import make_solver, resume_solver
from counterplay.solvers.double_oracle import DoubleOracle
from counterplay.solvers.matrix_games import solve_matrix
from counterplay.solvers.restricted_game import RestrictedGame
from counterplay.tree import compile_game
from counterplay.tree.sequence.matrices import payoff_scale
from counterplay.tree.sequence.normal_form import normal_form

SCALES = (1e-300, 1e-18, 1e-9, 1e-6, 1.0, 1e12, 1e15, 1e25, 1e90)


def table(scale: float) -> np.ndarray:
    """A game that is worth a fifth of the scale: both players play 2/5, 3/5 (by hand)."""
    return np.array([[2.0, -1.0], [-1.0, 1.0]]) * scale


def named(scale: float) -> str:
    """The same as the name of a game."""
    return 'matrix(rows="' + ";".join(",".join(repr(float(x)) for x in row) for row in table(scale)) + '")'


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize(
    ("algorithm", "settings"),
    [("lp", {}), ("lp", {"method": "ipm"}), ("lp", {"exact": True}), ("double-oracle", {})],
)
def test_exact_algorithms_take_payoffs_of_any_size(scale: float, algorithm: str, settings: dict[str, Any]) -> None:
    # Without scaling, small payoffs vanish in the tolerance of HiGHS ("solved", a pure profile), large ones stop it.
    run = cp.solve(named(scale), algorithm, **settings)
    assert run.status == "solved"
    assert run.value[0] == pytest.approx(scale / 5, rel=1e-6)
    assert run.exploitability <= 1e-6 * scale
    if "exact" in settings and scale in (1e-6, 1.0, 1e12):
        assert Fraction(run.details["exact_value"]) == Fraction(str(scale)) / 5


@pytest.mark.parametrize("scale", SCALES)
def test_other_programs_take_payoffs_of_any_size(scale: float) -> None:
    solution = solve_matrix(table(scale))
    np.testing.assert_allclose(solution.row, [0.4, 0.6], rtol=1e-6)
    assert solution.value == pytest.approx(scale / 5, rel=1e-6)
    assert float(solve_matrix(table(scale), exact=True).exact_value or 0) == pytest.approx(scale / 5, rel=1e-12)
    tree = compile_game(named(scale))
    everything = np.ones(tree.sequences.num_sequences, bool)
    assert maxmin_restricted(tree, 1, everything).value == pytest.approx(-scale / 5, rel=1e-6)
    equilibria = Equilibria(tree)
    assert equilibria.value == pytest.approx(scale / 5, rel=1e-6)
    least, most = equilibria.reach_range(0, "player 1", "1")
    assert (least, most) == (pytest.approx(0.4, rel=1e-6), pytest.approx(0.4, rel=1e-6))
    uniform = cp.TabularStrategy.uniform(tree)
    assert equilibria.against(0, uniform).objective == pytest.approx(scale / 5, rel=1e-6)
    assert equilibria.domination_value(0, uniform) == pytest.approx(0.0, abs=1e-6 * scale)  # 2/5, 3/5 is indifferent


def test_scales_are_powers_of_two() -> None:
    assert payoff_scale(np.zeros(3)) == payoff_scale(np.zeros(0)) == payoff_scale(np.array([-1.0, 2.0**30])) == 1.0
    for largest in (5e-324, 1e-200, 0.999, 2.0**31, 1e100):
        scale = payoff_scale(np.array([0.0, -largest]))
        assert np.log2(scale) == round(np.log2(scale))
        assert 0.0 < scale * largest < 2.0


@pytest.mark.parametrize("scale", [1e-300, 1e-12, 1e-9])
def test_pure_cfr_does_not_round_small_utilities_to_nothing(scale: float) -> None:
    with pytest.raises(SolverError, match="needs integer utilities"):
        make_solver(named(scale), "pure-cfr")
    with pytest.raises(SolverError, match=r"round all utilities of .* to 0; give more units"):
        make_solver(named(scale), "pure-cfr", units=1000)


def test_pure_cfr_takes_the_units_that_it_suggests() -> None:
    with pytest.raises(SolverError, match="such as units=500000000000, to round"):
        make_solver(named(1e-9), "pure-cfr")
    run = cp.solve(named(1e-9), "pure-cfr", units=500_000_000_000, iterations=20_000)
    assert run.exploitability < 0.05e-9


def test_pure_cfr_says_what_to_do_about_large_utilities() -> None:
    with pytest.raises(SolverError, match=r"2\^30 or more; use external-sampling"):
        make_solver(named(1e12), "pure-cfr")
    with pytest.raises(SolverError, match=r"2\^30 or more; give fewer units, such as units=1"):
        make_solver("kuhn", "pure-cfr", units=10**12)


@pytest.mark.parametrize(
    ("algorithm", "setting", "value", "most"),
    [("probing", "probes", 10**20, 10**6), ("pure-cfr", "units", 10**400, 10**18)],
)
def test_huge_numbers_are_refused(algorithm: str, setting: str, value: int, most: int) -> None:
    with pytest.raises(SolverError, match=f"{setting} must be an integer, at least 1 and at most {most}; got 10000"):
        make_solver("kuhn", algorithm, **{setting: value})


def test_a_scheme_of_ones_own_must_be_handed_over() -> None:
    with pytest.raises(SolverError, match="scheme custom means a function"):
        make_solver("kuhn", "probing", scheme="custom")  # walked all actions


def fails(player: int, infoset: str, actions: tuple[str, ...]) -> Any:
    """A scheme with a mistake in it."""
    return {"J:": 0.5}[infoset + "?"]


def says_words(player: int, infoset: str, actions: tuple[str, ...]) -> Any:
    """A scheme that gives no numbers."""
    return ["often"] * len(actions)


@pytest.mark.parametrize("scheme", [fails, says_words, lambda player, infoset, actions: None])
def test_mistakes_in_a_scheme_are_told_in_one_line(scheme: Any) -> None:
    with pytest.raises(SolverError, match=r"the scheme fails at .*: (KeyError|ValueError|TypeError): "):
        make_solver("kuhn", "probing", scheme=scheme)
    sampler = make_solver("kuhn", "probing", form="states", scheme=scheme)
    with pytest.raises(SolverError, match="the scheme fails at "):
        sampler.step()


def test_a_scheme_file_serves_states_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.py"
    path.write_text("def halves(player, infoset, actions):\n    return [0.5] * len(actions)\n", encoding="utf-8")
    words = ["solve", "kuhn", "-a", "probing", "--set", f"scheme={path}:halves", "--iterations", "5", "--json"]
    assert main([*words, "--representation", "states"]) == 0
    assert '"representation": "states"' in capsys.readouterr().out


@pytest.mark.parametrize("scale", SCALES)
def test_domination_does_not_depend_on_the_size_of_payoffs(scale: float) -> None:
    # the third row is beaten by the even mixture of the others, by half a chip (by hand)
    rows = np.array([[3.0, 0.0], [0.0, 3.0], [1.0, 1.0]]) * scale
    tree = compile_game('matrix(rows="' + ";".join(",".join(repr(float(x)) for x in row) for row in rows) + '")')
    (strategy,) = dominated_strategies(tree).dominated
    assert (strategy.player, strategy.strategy, strategy.margin) == (0, 2, pytest.approx(scale / 2, rel=1e-9))
    (action,) = dominated_actions(tree).dominated
    assert (action.player, action.action, action.margin) == (0, 2, pytest.approx(scale / 2, rel=1e-6))
    third = cp.TabularStrategy.uniform(tree).table.copy()
    third[:3] = (0.0, 0.0, 1.0)
    better = dominating_strategy(tree, cp.TabularStrategy.from_tree(tree, third), 0)
    assert (better.kind, better.margin) == ("strict", pytest.approx(scale / 2, rel=1e-6))
    assert dominated_gambit(tree) == []
    worse = compile_game(f'matrix(rows="{scale!r},{2 * scale!r};{3 * scale!r},{4 * scale!r}")')
    assert [len(dominated_strategies(worse, kind).dominated) for kind in ("strict", "weak")] == [2, 2]
    assert len(dominated_gambit(worse)) == 2


def test_places_are_for_actions_only(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--what", "strategies"], ["--gambit"]):
        assert main(["dominated", "kuhn", "--at", "nosuch", *words]) == 2  # was not looked at
        assert "--at is for dominated actions" in capsys.readouterr().err


def count_calls(patch: pytest.MonkeyPatch, method: str, stop_at: int = 0) -> list[int]:
    """Count the calls of a method of restricted games, and press Ctrl-C just after one of them is done."""
    original, calls = getattr(RestrictedGame, method), [0]

    def counted(*arguments: Any) -> Any:
        result = original(*arguments)
        calls[0] += 1
        if calls[0] == stop_at:
            raise KeyboardInterrupt
        return result

    patch.setattr(RestrictedGame, method, counted)
    patch.setattr(DoubleOracle, "details", lambda self: {})  # reports ask for sizes, as often as the clock lets them
    return calls


@pytest.mark.parametrize("method", ["allow", "sizes", "solve"])
@pytest.mark.parametrize("call", ["first", "last"])
def test_double_oracle_interrupted_in_the_middle(
    method: str, call: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Ctrl-C just after a part of an iteration is done; half an iteration was kept and led elsewhere.

    How many iterations there are depends on the vertices that HiGHS finds, on this machine.
    """
    whole, cut = DoubleOracle("kuhn"), DoubleOracle("kuhn")
    with monkeypatch.context() as patch:
        calls = count_calls(patch, method)
        assert whole.run(Until(100)).status == "solved"
    assert calls[0] == whole.iterations
    with monkeypatch.context() as patch:
        count_calls(patch, method, 1 if call == "first" else calls[0])
        assert cut.run(Until(100)).status == "interrupted"
    assert cut.iterations == (0 if call == "first" else whole.iterations - 1)
    cut.save(tmp_path / "cut.checkpoint")
    resumed = resume_solver(tmp_path / "cut.checkpoint")
    assert resumed.run(Until(100)).iterations == whole.iterations
    for name, table in whole.tables().items():
        np.testing.assert_array_equal(resumed.tables()[name], table, name)


def test_numbers_of_numpy_are_numbers() -> None:
    plain = cp.solve("kuhn", "average-strategy-sampling", iterations=50, seed=3, beta=10.0)
    same = cp.solve("kuhn", "average-strategy-sampling", iterations=50, seed=np.int64(3), beta=np.float32(10))
    np.testing.assert_array_equal(same.profile.table, plain.profile.table)
    runs = compare("kuhn", "external-sampling", Budget(iterations=np.int64(3)), np.arange(2)).runs
    assert [run.seed for run in runs] == [0, 1]


@pytest.mark.parametrize(
    ("seeds", "message"),
    [(2.0, "number of seeds"), ("ab", "number of seeds"), (True, "number of seeds"), ([], "at least 1"),
     ([1, 1], "seeds must differ")],
)  # fmt: skip
def test_odd_seeds_of_a_comparison(seeds: Any, message: str) -> None:
    with pytest.raises(SolverError, match=message):
        compare("kuhn", "external-sampling", Budget(iterations=3), seeds)


def test_a_comparison_tells_wrong_settings_before_its_first_run() -> None:
    seen: list[str] = []
    with pytest.raises(SolverError, match="probes must be an integer, at least 1 and at most 1000000; got 0"):
        compare("kuhn", "cfr+,probing(probes=0)", Budget(iterations=3), 1, callback=lambda name, *_: seen.append(name))
    assert seen == []


@pytest.mark.parametrize("settings", [{"samples": 2.5}, {"seed": -1}, {"seed": 0.5}])
def test_odd_samples_of_an_estimator(settings: dict[str, Any]) -> None:
    tree = compile_game("kuhn")
    with pytest.raises(SolverError, match="got "):
        sample_estimator(SampledEstimator(tree, "external-sampling"), cp.TabularStrategy.uniform(tree), **settings)


@pytest.mark.parametrize("scale", SCALES)
def test_minimax_regret_does_not_depend_on_the_size_of_payoffs(scale: float) -> None:
    # regrets 0, 2 and 3, 0 of the rows: 3/5, 2/5 has 6/5 whatever happens; alone 2 and 3 (by hand)
    form = normal_form(compile_game(named(scale)))
    value, weights = minimax_regret(form, 0)
    assert value == pytest.approx(1.2 * scale, rel=1e-6)
    np.testing.assert_allclose(weights, [0.6, 0.4], rtol=1e-6)
    assert [left.tolist() for left in iterated_regret(form)] == [[0], [1]]


@pytest.mark.parametrize("player", [-1, 2])
def test_purity_of_nobody(player: int) -> None:
    tree = compile_game("kuhn")
    with pytest.raises(GameError, match=f"kuhn has players 0 to 1; got {player}"):
        purity(tree, cp.TabularStrategy.uniform(tree), player)
