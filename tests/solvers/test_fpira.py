"""FPIRA: its trace, its equality with fictitious play, its refinements (Čermák 2018, section 5.2.2)."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import counterplay as cp
from counterplay.abstraction import abstract_by_key, initial_abstraction, is_refinement, map_words, null_abstraction
from counterplay.errors import SolverError
from counterplay.solvers import make_solver, resume_solver
from counterplay.solvers.ira import Fpira, FpiraConfig
from tests.reference.refining import ReferenceFpira
from tests.registered import SMALL

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)


def lifted(solver: Fpira, twin: ReferenceFpira) -> dict[object, list[float]]:
    """The solver's average by the information sets of the twin."""
    tree, strategy = solver.tree, solver.strategy()
    return {
        (int(tree.infoset_player[i]), tree.infoset_names[i]): strategy[
            tree.infoset_offset[i] : tree.infoset_offset[i + 1]
        ].tolist()
        for i in range(tree.num_infosets)
    }


def test_the_worked_example() -> None:
    """Čermák 2018, example 5.2.1: 1/2, 1/3, 2/3, and Δ = 1/3 parts the merged set."""
    twin = ReferenceFpira(cp.make("toy_fpira"))
    later = [(0, "a"), (0, "b")]
    for infoset in [(0, "R"), *later]:
        twin.average[infoset] = [Fraction(0), Fraction(1)]  # the example starts from b, d
    assert later in twin.sets
    twin.update(0)
    assert later in twin.sets
    assert twin.average[0, "R"] == [0, 1]
    assert twin.average[0, "a"] == twin.average[0, "b"] == [HALF, HALF]
    twin.update(1)
    assert twin.average[1, "J"] == [HALF, HALF]
    twin.update(0)
    assert twin.deltas == [0, 0, THIRD]
    assert later not in twin.sets
    assert twin.average[0, "R"] == [THIRD, 2 * THIRD]
    assert twin.average[0, "a"] == [0, 1]
    assert twin.average[0, "b"] == [HALF, HALF]


def test_the_kernel_makes_the_worked_example() -> None:
    solver = Fpira("toy_fpira")
    merged = solver.sets.set_of[1]
    assert solver.sets.set_of[2] == merged
    low = int(solver.sets.entry[merged])
    solver.average[[0, 1]] = 0.0, 1.0
    solver.average[[low, low + 1]] = 0.0, 1.0
    solver.restore({})
    solver.step()
    named = cp.TabularStrategy.from_tree(solver.tree, solver.strategy())
    entry = solver.tree.entry
    assert named.table[entry(0, "a", "t")] == named.table[entry(0, "b", "v")] == 0.5
    assert named.table[entry(1, "J", "e")] == 0.5
    assert solver.splits == (0, 0)
    solver.step()
    assert solver.splits == (0, 1)
    found = solver.strategy()
    expected = {("R", "a"): 1 / 3, ("a", "u"): 1.0, ("b", "v"): 0.5, ("b", "w"): 0.5}
    for (infoset, action), probability in expected.items():
        assert found[entry(0, infoset, action)] == pytest.approx(probability, abs=1e-15)
    assert solver.abstraction().num_sets == solver.tree.num_infosets


@pytest.mark.parametrize(("name", "iterations"), [("toy_fpira", 40), ("kuhn", 30), ("ii_goofspiel(3)", 25)])
def test_kernel_equals_twin(name: str, iterations: int) -> None:
    """The same averages and the same sets as exact arithmetic."""
    solver, twin = Fpira(name), ReferenceFpira(cp.make(name))
    for _ in range(iterations):
        solver.step()
        for player in (0, 1):
            twin.update(player)
        ours = lifted(solver, twin)
        for infoset, row in twin.average.items():
            assert ours[infoset] == pytest.approx([float(share) for share in row], abs=1e-9)
        abstraction, tree = solver.abstraction(), solver.tree
        keys = [(int(tree.infoset_player[i]), tree.infoset_names[i]) for i in range(tree.num_infosets)]
        parts = {frozenset(keys[i] for i in abstraction.members(part)) for part in range(abstraction.num_sets)}
        assert parts == twin.partition()


@pytest.mark.parametrize("name", ["kuhn", "ii_goofspiel(3)"])
def test_the_twin_equals_fictitious_play_in_fractions(name: str) -> None:
    """Theorem 5.2.1, exactly: the best responses are worth the same with and without an abstraction."""
    refining, whole = (ReferenceFpira(cp.make(name), merge) for merge in (True, False))
    for update in range(40):
        for run in (refining, whole):
            run.update(update % 2)
        for player in (0, 1):
            assert refining.respond(player)[0] == whole.respond(player)[0]
    assert len(refining.sets) <= len(whole.sets)


@pytest.mark.parametrize(
    "name", ["kuhn", "leduc", "ii_goofspiel(4)", "generic_poker(1,1,1)", "one_card_poker(cards=6)", "toy_fpira"]
)
def test_as_exploitable_as_fictitious_play(name: str) -> None:
    """Theorem 5.2.1 at every iteration (computed independently on II-Goofspiel(4) and P111 to 1e-7)."""
    tree = cp.compile_game(name)
    refining, whole = Fpira(tree), Fpira(tree, FpiraConfig(forget="nothing"))
    for _ in range(300):
        refining.step()
        whole.step()
        np.testing.assert_allclose(refining.measure().best_response, whole.measure().best_response, rtol=0, atol=1e-7)
    assert refining.abstraction().num_sets < tree.num_infosets or name in ("kuhn", "toy_fpira")
    assert whole.splits == (0, 0)


@pytest.mark.parametrize(("name", "iterations"), [("graph_pursuit(4)", 12), ("ii_goofspiel(4)", 25), ("leduc", 25)])
def test_no_opponent_tells_the_update_from_that_in_the_game(name: str, iterations: int) -> None:
    """Δ between what is stored and the update in the original game is 0 after every update (section 5.2.2)."""
    tree = cp.compile_game(name)
    solver = Fpira(tree)
    for iteration in range(1, iterations + 1):
        before = solver.strategy()
        solver.step()
        place = solver._scratch[7]  # what both players' responses prescribe, by place; -1 for nothing
        for player in (0, 1):
            exact = mixed_in_the_game(tree, player, before, place, 1.0 / (iteration + 1))
            gap = own_reach(tree, exact) - own_reach(tree, solver.strategy())
            assert difference(tree, 1 - player, gap) <= 1e-8


def mixed_in_the_game(tree: cp.GameTree, player: int, before: np.ndarray, place: np.ndarray, new: float) -> np.ndarray:
    """A response mixed into a player's average at every information set of the original game (lemma 3.4.1)."""
    form, reach = tree.sequences, own_reach(tree, before)
    after = before.copy()
    for decision in range(form.decision_start[player], form.decision_start[player + 1]):
        infoset = form.decision_infoset[decision]
        if place[infoset] >= 0:
            share = new / ((1.0 - new) * reach[form.decision_parent[decision]] + new)
            rows = slice(tree.infoset_offset[infoset], tree.infoset_offset[infoset + 1])
            pure = np.eye(rows.stop - rows.start)[place[infoset]]
            after[rows] = before[rows] + share * (pure - before[rows])
    return after


def own_reach(tree: cp.GameTree, strategy: np.ndarray) -> np.ndarray:
    """The owner's reach of every sequence."""
    form = tree.sequences
    reach = np.ones(form.num_sequences)
    for decision in range(form.num_decisions):
        first, entry, count = (
            int(column[decision]) for column in (form.decision_first, form.decision_entry, form.decision_actions)
        )
        reach[first : first + count] = reach[form.decision_parent[decision]] * strategy[entry : entry + count]
    return reach


def difference(tree: cp.GameTree, player: int, gap: np.ndarray) -> float:
    """The most that a player can make of a difference of the opponent's reaches, either way."""
    form = tree.sequences
    worst = 0.0
    for sign in (1.0, -1.0):
        value = np.zeros(form.num_sequences)
        for sequence in range(form.sequence_start[player], form.sequence_start[player + 1]):
            leaves = slice(form.leaf_start[sequence], form.leaf_start[sequence + 1])
            value[sequence] = sign * (form.leaf_payoff[leaves] * gap[form.leaf_others[leaves, 0]]).sum()
        for decision in range(form.decision_start[player + 1] - 1, form.decision_start[player] - 1, -1):
            first, count = int(form.decision_first[decision]), int(form.decision_actions[decision])
            value[form.decision_parent[decision]] += value[first : first + count].max()
        worst = max(worst, float(value[form.sequence_start[player]]) * form.unit)
    return worst


@pytest.mark.parametrize("name", ["leduc", "ii_goofspiel(4)", SMALL["random_game"], "kuhn(players=3)"])
def test_abstractions_only_get_finer(name: str) -> None:
    tree = cp.compile_game(name)
    solver = Fpira(tree)
    before = initial_abstraction(tree)
    words, first_case = map_words(before, tree), 0
    assert words == 0  # Čermák 2018, section 5.2.2.4
    for _ in range(40):
        solver.step()
        after = solver.abstraction()
        assert is_refinement(after, before)
        if solver.splits[0] == first_case:
            assert map_words(after, tree) <= words  # case 2 makes sets that stand alone
        before, words, first_case = after, map_words(after, tree), solver.splits[0]
    strategy = solver.strategy()
    np.testing.assert_allclose(np.add.reduceat(strategy, tree.infoset_offset[:-1]), 1.0, atol=1e-12)


def test_sizes_on_goofspiel() -> None:
    """Computed independently: 13.4 % of the sets at NashConv 0.33, 15.6 % at 0.187, 16.9 % at 0.128."""
    solver = Fpira("ii_goofspiel(5)")
    for percent, nash_conv in ((13.4, 0.33), (15.6, 0.187), (16.9, 0.128)):
        solver.step(1000)
        assert 100 * solver.sets.totals[0] / 9948 == pytest.approx(percent, abs=0.06)
        assert solver.measure().nash_conv == pytest.approx(nash_conv, abs=0.005)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "published"), [("graph_pursuit(5)", 19.6), ("ii_goofspiel(5)", 15.6), ("generic_poker(2,2,2)", 42.9)]
)
def test_published_sizes(name: str, published: float) -> None:
    """At NashConv 0.05 the thesis reports 19.6, 15.6 and 42.9 % (Čermák 2018, figure 5.5); ours are within 25 %."""
    solver = Fpira(name)
    solver.run(cp.Until(exploitability=0.025))
    assert 100 * solver.sets.totals[0] / solver.tree.num_infosets == pytest.approx(published, rel=0.25)


def test_starts_from_a_given_abstraction(tmp_path: Path) -> None:
    """By label, so that actions change places; saved runs bring the sets along."""
    tree = cp.compile_game("leduc")
    given = abstract_by_key(tree, lambda player, infoset: infoset[1:], "own card")
    solver = Fpira(tree, abstraction=given)
    assert solver.config.forget == "given"
    assert solver.abstraction().num_sets == given.num_sets
    solver.step(50)
    assert is_refinement(solver.abstraction(), given)
    whole = Fpira(tree, FpiraConfig(forget="nothing"))
    whole.step(50)
    assert solver.measure().nash_conv == pytest.approx(whole.measure().nash_conv, abs=1e-7)
    solver.save(tmp_path / "run")
    again = resume_solver(tmp_path / "run")
    for one in (solver, again):
        one.step(20)
    assert again.strategy().tobytes() == solver.strategy().tobytes()


def test_nothing_is_parted_without_an_abstraction() -> None:
    tree = cp.compile_game("kuhn")
    solver = Fpira(tree, abstraction=null_abstraction(tree))
    solver.step(100)
    assert solver.splits == (0, 0)
    assert 0 < solver.largest_response <= tree.num_infosets


def test_uniform_start() -> None:
    solver = Fpira("rock_paper_scissors", FpiraConfig(start="uniform"))
    assert solver.strategy() == pytest.approx(np.full(6, 1 / 3))
    assert solver.measure().nash_conv == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"forget": 3}, "forget must be the name of what to forget at first, such as initial; got 3"),
        ({"start": "last"}, "start must be one of first, uniform; got 'last'"),
        ({"tolerance": -1.0}, "tolerance must be a number, at least 0; got -1.0"),
        ({"tie": "no"}, "tie must be a number, at least 0; got 'no'"),
    ],
)
def test_wrong_settings(settings: dict[str, object], message: str) -> None:
    with pytest.raises(SolverError, match=message):
        FpiraConfig(**settings)  # type: ignore[arg-type]


def test_forgetful_games_are_refused() -> None:
    with pytest.raises(SolverError, match="player 1 forgets; give the game without it and what to forget at first"):
        make_solver("toy_fpira(merged=true)", "fpira")
