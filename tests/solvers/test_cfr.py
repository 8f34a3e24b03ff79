"""The CFR family: against its plain-Python twin, against published trajectories, against OpenSpiel."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import counterplay as cp
from counterplay.analysis import RegretTracker
from counterplay.game.builder import Node
from counterplay.game.game import Game
from counterplay.solvers import CFR_PRESETS
from tests.bridge import to_entries
from tests.reference.cfr import ReferenceCfr
from tests.reference.sequence_lp import zero_sum_value

SAME = 1e-11
"""Twin and kernel add the same numbers in another order."""

DIGITS = 1e-12
"""Worked examples are dyadic fractions; nothing is lost in them."""

VARIANTS: dict[str, cp.CfrConfig] = {
    **CFR_PRESETS,
    "cfr alternating": cp.CfrConfig(),
    "cfr argmax": cp.CfrConfig(alternating=False, fallback="argmax-uniform"),
    "cfr+ simultaneous": cp.CfrConfig(alternating=False, regret_floor=True, gamma=1.0),
    "cfr+ from the first iteration": cp.CfrConfig(regret_floor=True, gamma=1.0),
    "cfr+ delayed": cp.CfrConfig(regret_floor=True, gamma=1.0, delay=5),
    "cfr+ delayed, from the start": cp.CfrConfig(regret_floor=True, gamma=1.0, delay=5, shifted=False),
    "cfr delayed": cp.CfrConfig(alternating=False, delay=7),
    "cfr+ from the last player": cp.CfrConfig(regret_floor=True, gamma=1.0, reverse=True),
    "cfr from the last player, simultaneous": cp.CfrConfig(alternating=False, reverse=True),
    "dcfr other powers": cp.CfrConfig(alpha=2.0, beta=-1.0, gamma=3.0),
}

GAMES: dict[str, Callable[[], Game]] = {
    "kuhn": lambda: cp.make("kuhn"),
    "kuhn, three players": lambda: cp.make("kuhn(players=3)"),
    "one card": lambda: cp.make("one_card_poker(cards=4)"),
    "perfect recall, figure 2.6b": lambda: cp.make("toy_hidden_coin"),
    "imperfect recall, figure 2.3": lambda: cp.make("toy_forgotten_choice"),
    "imperfect recall, figure 6.2a": lambda: cp.make("toy_deadlock"),
    "imperfect recall, figure 6.2b": lambda: cp.make("toy_forgotten_lever"),
    "general sum, figure 4.3": lambda: cp.make("toy_weakly_dominated"),
    "three players, figure 4.1": lambda: cp.make("toy_mismatching_pennies"),
}


def twin_of(game: Game, config: cp.CfrConfig, one: Any = 1.0) -> ReferenceCfr:
    names = ("alternating", "reverse", "regret_floor", "alpha", "beta", "gamma", "delay", "shifted", "predictive",
             "fallback")  # fmt: skip
    return ReferenceCfr(game, **{name: getattr(config, name) for name in names}, one=one)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", GAMES)
def test_kernel_equals_twin(name: str, variant: str) -> None:
    game, config = GAMES[name](), VARIANTS[variant]
    solver, twin = cp.CfrSolver(game, config), twin_of(game, config)
    for iterations in (1, 2, 9):  # more than every delay
        solver.step(iterations)
        twin.iterate(iterations)
        np.testing.assert_allclose(solver.regret, to_entries(solver.tree, twin.regret), rtol=0, atol=SAME)
        np.testing.assert_allclose(solver.average, to_entries(solver.tree, twin.average_sum), rtol=SAME, atol=SAME)
        np.testing.assert_allclose(solver.strategy("last"), to_entries(solver.tree, twin.current()), rtol=0, atol=SAME)
        if solver.iterations > config.delay:
            np.testing.assert_allclose(solver.strategy(), to_entries(solver.tree, twin.average()), rtol=0, atol=SAME)
        else:
            np.testing.assert_array_equal(solver.strategy(), solver.strategy("last"))


@pytest.mark.parametrize("variant", ["cfr", "cfr+", "cfr argmax", "pcfr+"])
@pytest.mark.parametrize("name", ["kuhn(players=3)", "one_card_poker(cards=5)", "one_card_poker(cards=7)"])
def test_kernel_keeps_ties_like_exact_arithmetic(name: str, variant: str) -> None:
    """The twin in fractions: where regrets are exactly equal the kernel must not tip over by a rounding error."""
    game = cp.make(name)
    solver, twin = cp.CfrSolver(game, VARIANTS[variant]), twin_of(in_fractions(game), VARIANTS[variant], Fraction(1))
    for _ in range(3):
        solver.step()
        twin.iterate(1)
        current = to_entries(solver.tree, twin.current())
        np.testing.assert_allclose(solver.strategy("last"), current, rtol=0, atol=SAME)
        np.testing.assert_allclose(solver.regret, to_entries(solver.tree, twin.regret), rtol=0, atol=SAME)


def in_fractions(game: Game) -> Game:
    """The same game with chance and utilities as exact fractions."""

    def copy(state: Any) -> Node:
        if state.player == cp.TERMINAL:
            node = cp.terminal()
            node._utilities = tuple(Fraction(value) for value in state.utilities())
            return node
        if state.player == cp.CHANCE:
            pairs = [(label, Fraction(p).limit_denominator(1000)) for label, p in state.chance()]
            return cp.chance({label: (p, copy(state.child(label))) for label, p in pairs})  # type: ignore[misc]
        return cp.decision(state.player, state.infoset(), {a: copy(state.child(a)) for a in state.actions()})

    return cp.ExplicitGame(copy(game.root()), name=f"{game.spec()} in fractions")


@pytest.mark.parametrize("variant", ["cfr", "cfr+", "pcfr+"])
@pytest.mark.parametrize("name", ["leduc", "leduc(suited=true)"])
def test_kernel_equals_twin_on_leduc(name: str, variant: str) -> None:
    solver, twin = cp.CfrSolver(name, variant), twin_of(cp.make(name), CFR_PRESETS[variant])
    solver.step(3)
    twin.iterate(3)
    np.testing.assert_allclose(solver.regret, to_entries(solver.tree, twin.regret), rtol=0, atol=SAME)
    np.testing.assert_allclose(solver.average, to_entries(solver.tree, twin.average_sum), rtol=0, atol=SAME)


class Kernel:
    """The kernel behind the twin's interface."""

    def __init__(self, game: Game, config: cp.CfrConfig) -> None:
        self.solver = cp.CfrSolver(game, config)

    def iterate(self, n: int) -> None:
        self.solver.step(n)

    def row(self, what: str, player: int, infoset: str) -> dict[str, float]:
        tree = self.solver.tree
        table = {"regret": self.solver.regret, "average_sum": self.solver.average}.get(what)
        if table is None:
            table = self.solver.strategy("last" if what == "current" else "average")
        return {
            action: float(table[tree.entry(player, infoset, action)])
            for action in tree.actions_of(tree.find_infoset(player, infoset))
        }


class Twin:
    """The twin behind the same interface."""

    def __init__(self, game: Game, config: cp.CfrConfig) -> None:
        self.twin = twin_of(game, config)

    def iterate(self, n: int) -> None:
        self.twin.iterate(n)

    def row(self, what: str, player: int, infoset: str) -> dict[str, float]:
        table = getattr(self.twin, what)
        table = table() if callable(table) else table
        return {str(action): value for action, value in table[player, infoset].items()}


either = pytest.mark.parametrize("make", [Twin, Kernel], ids=["twin", "kernel"])


@either
def test_worked_example_of_the_thesis(make: type[Kernel] | type[Twin]) -> None:
    """Gibson 2014, appendix A, digit for digit: two iterations of vanilla CFR on a small Kuhn poker."""
    solver = make(cp.make("toy_queen"), CFR_PRESETS["cfr"])
    solver.iterate(1)
    expected = {
        ("regret", 0, "I"): {"k": -0.375, "b": 0.375},
        ("regret", 0, "I'"): {"f": -0.25, "c": 0.25},
        ("regret", 1, "Jk"): {"k": -0.0625, "b": 0.0625},
        ("regret", 1, "Jb"): {"f": 0.125, "c": -0.125},
        ("regret", 1, "Kk"): {"k": -0.0625, "b": 0.0625},
        ("regret", 1, "Kb"): {"f": -0.375, "c": 0.375},
        ("average_sum", 0, "I"): {"k": 0.5, "b": 0.5},
        ("average_sum", 0, "I'"): {"f": 0.25, "c": 0.25},
        ("current", 0, "I"): {"k": 0.0, "b": 1.0},
        ("current", 0, "I'"): {"f": 0.0, "c": 1.0},
    }
    for (what, player, infoset), row in expected.items():
        assert solver.row(what, player, infoset) == pytest.approx(row, abs=DIGITS), (what, infoset)
    solver.iterate(1)
    expected = {
        ("regret", 0, "I"): {"k": 0.125, "b": 0.375},
        ("regret", 0, "I'"): {"f": -1.25, "c": 0.25},
        ("regret", 1, "Jk"): {"k": -0.0625, "b": 0.0625},
        ("regret", 1, "Jb"): {"f": 0.125, "c": -0.625},
        ("regret", 1, "Kk"): {"k": -0.0625, "b": 0.0625},
        ("regret", 1, "Kb"): {"f": -1.875, "c": 0.375},
        ("average_sum", 0, "I"): {"k": 0.5, "b": 1.5},
        ("average_sum", 0, "I'"): {"f": 0.25, "c": 0.25},
        ("average", 0, "I"): {"k": 0.25, "b": 0.75},
        ("average", 0, "I'"): {"f": 0.5, "c": 0.5},
    }
    for (what, player, infoset), row in expected.items():
        assert solver.row(what, player, infoset) == pytest.approx(row, abs=DIGITS), (what, infoset)


@either
def test_regret_matching_keeps_a_weakly_dominated_action(make: type[Kernel] | type[Twin]) -> None:
    """Gibson 2014, figure 4.3: from the second iteration on W keeps probability 1/5."""
    solver = make(cp.make("toy_weakly_dominated"), cp.CfrConfig(alternating=False, fallback="argmax-uniform"))
    solver.iterate(1)
    assert solver.row("regret", 0, "player 1") == pytest.approx({"A": 2 / 3, "W": 1 / 6, "S": -5 / 6}, abs=DIGITS)
    assert solver.row("regret", 1, "player 2") == pytest.approx({"B": 1 / 6, "I": -1 / 6}, abs=DIGITS)
    for _ in range(5):
        assert solver.row("current", 0, "player 1") == pytest.approx({"A": 0.8, "W": 0.2, "S": 0.0}, abs=DIGITS)
        assert solver.row("current", 1, "player 2") == pytest.approx({"B": 1.0, "I": 0.0}, abs=DIGITS)
        solver.iterate(1)


KUHN_REGRETS = [  # T, R(J facing a bet, call), R(Q, bet), exploitability; Gibson 2014, section 4.4.1, recomputed
    pytest.param(10, -2.129, 0.028, 0.0962, id="10"),
    pytest.param(100, -17.129, -5.054, 0.0257, id="100"),
    pytest.param(1000, -167.129, -54.17, 0.00727, id="1000"),
    pytest.param(10000, -1667.129, -548.8, 0.00232, id="10000"),
]


@pytest.mark.parametrize(("steps", "call_jack", "bet_queen", "exploitability"), KUHN_REGRETS)
def test_regrets_of_kuhn(steps: int, call_jack: float, bet_queen: float, exploitability: float) -> None:
    solver = cp.CfrSolver("kuhn", "cfr")
    solver.step(steps)
    assert solver.regret[solver.tree.entry(0, "J:kb", "call")] == pytest.approx(call_jack, abs=5e-4)
    assert solver.regret[solver.tree.entry(0, "Q:", "bet")] == pytest.approx(
        bet_queen, abs=5e-2 if steps > 100 else 5e-4
    )
    assert solver.measure().exploitability == pytest.approx(exploitability, rel=5e-3)


def test_dominated_actions_get_negative_regret_for_good() -> None:
    """Gibson 2014, theorem 4.2 on Kuhn poker: betting a queen is iteratively dominated, after some early doubt."""
    solver = cp.CfrSolver("kuhn", "cfr")
    queen = solver.tree.entry(0, "Q:", "bet")
    signs = []
    for _ in range(500):
        solver.step()
        signs.append(solver.regret[queen] > 0)
    assert signs[0]
    assert not any(signs[10:])


@pytest.mark.parametrize(("steps", "epsilon"), [(100, 0.0372), (1000, 0.0061)])
def test_three_player_kuhn_epsilon(steps: int, epsilon: float) -> None:
    solver = cp.CfrSolver("kuhn(players=3)", "cfr")
    solver.step(steps)
    assert solver.measure("average").epsilon == pytest.approx(epsilon, abs=5e-5)
    assert 0.14 <= solver.measure("last").epsilon <= 0.30


@pytest.mark.parametrize(
    ("name", "value", "algorithm"),
    [
        pytest.param("kuhn", -1 / 18, "pcfr+", id="kuhn"),
        pytest.param("leduc", -0.0856064240780, "cfr+", id="leduc"),
        pytest.param("leduc(suited=true)", -0.0856064240780, "cfr+", id="leduc suited"),
        pytest.param("leduc(physical_board=true)", -0.0856064240780, "cfr+", id="leduc physical board"),
        pytest.param("matching_pennies", 0.0, "cfr", id="pennies"),
        pytest.param("rock_paper_scissors", 0.0, "cfr", id="rps"),
    ],
)
def test_values_of_games(name: str, value: float, algorithm: str) -> None:
    result = cp.solve(name, algorithm, exploitability=9e-6, seconds=60)
    assert result.status == "exploitability"
    assert result.value[0] == pytest.approx(value, abs=1e-5)
    assert result.value[1] == pytest.approx(-value, abs=1e-5)


@pytest.mark.parametrize("name", ["kuhn", "leduc", "one_card_poker(cards=4)", "leduc(ranks=4,cap=1)"])
def test_values_by_linear_program(name: str) -> None:
    assert cp.solve(name, "cfr+", exploitability=9e-6, seconds=60).value[0] == pytest.approx(
        zero_sum_value(cp.make(name)), abs=1e-5
    )


def test_one_card_poker_with_three_cards_is_kuhn() -> None:
    kuhn, three = cp.CfrSolver("kuhn", "cfr+"), cp.CfrSolver("one_card_poker(cards=3)", "cfr+")
    kuhn.step(50)
    three.step(50)
    assert kuhn.regret.tolist() == three.regret.tolist()


@pytest.mark.parametrize("name", ["kuhn", "leduc"])
def test_exploitability_is_half_the_sum_of_average_regrets(name: str) -> None:
    """Simultaneous updates: b_1(σ̄_2) + b_2(σ̄_1) = (R_1 + R_2)/T (Johanson 2016, section 4.2)."""
    solver = cp.CfrSolver(name, "cfr")
    tracker = RegretTracker(solver.tree)
    for _ in range(60):
        tracker.observe(solver.strategy("last"))
        solver.step()
    regrets = sum(tracker.external_regret(player) for player in range(2)) / tracker.steps
    assert solver.measure().exploitability == pytest.approx(regrets / 2, abs=1e-9)
    np.testing.assert_allclose(tracker.regret, solver.regret, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["kuhn", "kuhn(players=3)", "leduc"])
def test_average_reach_is_the_average_of_reaches(name: str) -> None:
    """Gibson 2014, section 2.2: own reach under the average profile is the mean own reach over the iterations."""
    solver = cp.CfrSolver(name, "cfr")
    form = solver.tree.sequences
    mean = np.zeros(form.num_sequences)
    for _ in range(20):
        mean += own_reach(solver.tree, solver.strategy("last")) / 20
        solver.step()
    np.testing.assert_allclose(own_reach(solver.tree, solver.strategy("average")), mean, rtol=0, atol=1e-12)


def own_reach(tree: cp.GameTree, strategy: NDArray[np.float64]) -> NDArray[np.float64]:
    form = tree.sequences
    reach = np.ones(form.num_sequences)
    for d in range(form.num_decisions):
        for a in range(int(form.decision_actions[d])):
            before = reach[form.decision_parent[d]]
            reach[form.decision_first[d] + a] = before * strategy[form.decision_entry[d] + a]
    return reach


@pytest.mark.parametrize("algorithm", ["cfr+", "pcfr+"])
def test_floored_regrets_are_never_negative(algorithm: str) -> None:
    solver = cp.CfrSolver("leduc", algorithm)
    for _ in range(20):
        solver.step()
        assert solver.regret.min() >= 0.0


def test_cfr_stays_uniform_where_recall_fails() -> None:
    """Gibson 2014, figure 2.3: no counterfactual regret ever, yet external regret 1 at every step."""
    solver = cp.CfrSolver(cp.make("toy_forgotten_choice"), "cfr")
    solver.step(50)
    assert np.abs(solver.regret).max() == 0.0
    assert solver.strategy().tolist() == [0.5] * solver.tree.num_entries


def test_forgetting_fools_cfr() -> None:
    """Gibson 2014, figure 6.2a: from the third iteration on player 1 passes and wins nothing, for ever."""
    solver = cp.CfrSolver(cp.make("toy_deadlock"), "cfr")
    solver.step(2)
    for _ in range(10):
        assert solver.measure("last").value[0] == pytest.approx(0.0, abs=DIGITS)
        solver.step()
    assert solver.profile("last").probabilities(0, "I3") == {"l": 0.5, "r": 0.5}


@pytest.mark.parametrize("algorithm", CFR_PRESETS)
def test_float32_tables_follow_float64(algorithm: str) -> None:
    wide = cp.solve("leduc", algorithm, iterations=200)
    narrow = cp.solve("leduc", algorithm, iterations=200, storage="float32")
    assert narrow.value[0] == pytest.approx(wide.value[0], abs=2e-3)
    assert narrow.exploitability == pytest.approx(wide.exploitability, rel=0.2)
    solver = cp.CfrSolver("leduc", dataclasses.replace(CFR_PRESETS[algorithm], storage="float32"))
    assert solver.regret.dtype == solver.average.dtype == np.float32


def test_last_profile_keeps_no_average() -> None:
    tree = cp.compile_game("kuhn(players=3)")
    solver = cp.CfrSolver(tree, cp.CfrConfig(profile="last"))
    assert len(solver.average) == 0
    assert solver.memory_bytes(tree, solver.config) < cp.CfrSolver.memory_bytes(tree, "cfr")
    solver.step(3)
    with pytest.raises(cp.SolverError, match="keeps no average"):
        solver.strategy("average")


@pytest.mark.parametrize("algorithm", ["cfr", "cfr+"])
def test_last_profile_is_the_same_without_an_average(algorithm: str) -> None:
    """Gibson 2014, section 4.3: the average is never used inside, so that leaving it out changes nothing but memory."""
    game = cp.make("kuhn(players=3)")
    config = CFR_PRESETS[algorithm]
    alone = cp.CfrSolver(game, dataclasses.replace(config, profile="last"))
    both, twin = cp.CfrSolver(game, config), twin_of(game, config)
    for iterations in (1, 10, 100):
        alone.step(iterations)
        both.step(iterations)
        np.testing.assert_array_equal(alone.strategy(), both.strategy("last"))
        assert alone.measure().nash_conv == both.measure("last").nash_conv
    assert both.measure().nash_conv != alone.measure().nash_conv
    twin.iterate(11)
    alone = cp.CfrSolver(game, dataclasses.replace(config, profile="last"))
    alone.step(11)
    np.testing.assert_allclose(alone.strategy(), to_entries(alone.tree, twin.current()), rtol=0, atol=SAME)
    assert both.table_bytes - alone.table_bytes == both.average.nbytes


def test_best_profile_is_the_least_exploitable_measured() -> None:
    solver = cp.CfrSolver("leduc", cp.CfrConfig(regret_floor=True, profile="best"))
    measured = []
    for _ in range(40):
        solver.step(5)
        measured.append(solver.measure("last").exploitability)
        assert solver.check().exploitability == min(measured)
    assert any(later > earlier for earlier, later in pairwise(measured)), (
        "the test needs a run that gets worse at times"
    )
