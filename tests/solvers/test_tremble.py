"""CFR with a hand that trembles: the kernel against its twin, and equilibria among strategies that go everywhere."""

from __future__ import annotations

import numpy as np
import pytest

import counterplay as cp
from counterplay.analysis.trembles import tremble, unexploitable_errors
from counterplay.tree.sequence.matrices import payoff_matrix, realisation_plan
from tests.bridge import to_entries
from tests.reference.cfr import ReferenceCfr


@pytest.mark.parametrize("alternating", [False, True])
@pytest.mark.parametrize("name", ["kuhn", "kuhn(players=3)", "toy_undominated", "toy_hidden_coin"])
def test_kernel_equals_twin(name: str, alternating: bool) -> None:
    solver = cp.CfrSolver(name, cp.CfrConfig(alternating=alternating, tremble=0.03))
    twin = ReferenceCfr(cp.make(name), alternating=alternating, regret_floor=False, tremble=0.03)
    for steps in (1, 2, 5):
        solver.step(steps)
        twin.iterate(steps)
        np.testing.assert_allclose(solver.regret, to_entries(solver.tree, twin.regret), atol=1e-12)
        np.testing.assert_allclose(solver.strategy("last"), to_entries(solver.tree, twin.current()), atol=1e-12)
        np.testing.assert_allclose(solver.strategy("average"), to_entries(solver.tree, twin.average()), atol=1e-12)


def shaken_response(tree: cp.GameTree, profile: cp.TabularStrategy, player: int, least: float) -> float:
    """The most that a player can get whose every action keeps the least probability."""
    form = tree.sequences
    low, high = (int(form.sequence_start[player + i]) for i in (0, 1))
    other = slice(int(form.sequence_start[1 - player]), int(form.sequence_start[2 - player]))
    value = payoff_matrix(form, player) @ realisation_plan(tree, profile.table)[other]
    assert len(value) == high - low
    for decision in range(int(form.decision_start[player + 1]) - 1, int(form.decision_start[player]) - 1, -1):
        first, span = int(form.decision_first[decision]) - low, int(form.decision_actions[decision])
        row = value[first : first + span]
        worth = (1 - span * least) * row.max() + least * row.sum()
        value[int(form.decision_parent[decision]) - low] += worth
    return float(value[0])


@pytest.mark.parametrize(("name", "limit"), [("kuhn", 2e-3), ("leduc", 2e-2)])
def test_the_average_is_an_equilibrium_among_trembling_strategies(name: str, limit: float) -> None:
    least = 0.02
    solver = cp.CfrSolver(name, cp.CfrConfig(regret_floor=True, gamma=1.0, tremble=least))
    solver.step(2000)
    profile = solver.profile()
    assert profile.table.min() >= least - 1e-12
    value = cp.expected_values(profile, solver.tree)
    gains = [shaken_response(solver.tree, profile, player, least) - value[player] for player in (0, 1)]
    assert min(gains) >= -1e-12
    assert max(gains) <= limit
    assert cp.exploitability(profile, solver.tree) > max(gains)  # hands that do not shake can do better


def test_errors_off_the_path_are_mended() -> None:
    """Player 2 should never bet, so nothing tells player 1 to take more rather than less; a tremble does."""
    answer = cp.decision(0, "answer", {"less": cp.terminal(1, -1), "more": cp.terminal(2, -2)})
    game = cp.ExplicitGame(cp.decision(1, "bet?", {"no": cp.terminal(0, 0), "yes": answer}))
    steady = cp.TabularStrategy.from_table(
        cp.compile_game(game), {(1, "bet?"): {"no": 1.0}, (0, "answer"): {"less": 1.0}}
    )
    tree = cp.compile_game(game)
    assert cp.exploitability(steady, tree) == 0.0
    assert [error.loss for error in unexploitable_errors(tree, steady, 0.1)] == [1.0]
    shaken = tremble(tree, steady, 0.01)
    assert cp.evaluate(shaken, tree).best_response[0] > cp.expected_values(shaken, tree)[0] + 0.005  # now it costs
    solver = cp.CfrSolver(tree, cp.CfrConfig(tremble=0.01))
    solver.step(200)
    assert unexploitable_errors(tree, solver.profile(), 0.1) == []


def test_a_run_can_be_resumed(tmp_path: object) -> None:
    path = f"{tmp_path}/run"
    solver = cp.CfrSolver("kuhn", cp.CfrConfig(tremble=0.05))
    solver.step(10)
    solver.save(path)
    again = cp.CfrSolver.resume(path)
    for one in (solver, again):
        one.step(10)
    np.testing.assert_array_equal(solver.strategy("average"), again.strategy("average"))


@pytest.mark.parametrize(
    ("least", "message"),
    [(0.5, "has sets with 2 actions, so tremble must be below 0.5; got 0.5"),
     (-0.1, "tremble must be a number, at least 0 and below 1"),
     (float("nan"), "tremble must be a number, at least 0 and below 1")],
)  # fmt: skip
def test_trembles_make_sense(least: float, message: str) -> None:
    with pytest.raises(cp.SolverError, match=message):
        cp.CfrSolver("kuhn", cp.CfrConfig(tremble=least))
