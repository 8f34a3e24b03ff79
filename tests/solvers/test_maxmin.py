"""Maxmin strategies of players who forget: programs, the three algorithms, bounds (Čermák 2018, chapter 4)."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import counterplay as cp
from counterplay.lp.highs import solve_integer, solve_model
from counterplay.solvers import make_solver
from counterplay.solvers.maxmin import MaxminConfig, MaxminProblem, MaxminSolver
from counterplay.solvers.maxmin.branching import BranchAndBound, Digits, intervals, iteration_bound
from counterplay.solvers.maxmin.maxmin_programs import bilinear_program, digit_program
from counterplay.solvers.maxmin.oracles import OracleBranchAndBound
from counterplay.solvers.maxmin.pending_states import PendingStates
from counterplay.solvers.maxmin.reconstruct import reconstruct
from counterplay.solvers.maxmin.relaxation import Relaxation
from counterplay.tree.recall.recall_class import split_to_a_loss
from counterplay.tree.sequence.matrices import realisation_plan
from tests.reference.maxmin import BruteForce
from tests.reference.random_trees import random_tree_game

METHODS = ("base", "irabnb", "doirabnb")

VALUES = {
    ("toy_no_equilibrium", 1): -1.0,  # Čermák 2018, proposition 2.3.1
    ("toy_no_equilibrium", 2): 0.0,
    ("toy_failing_learners", 1): -1.0,  # section 3.6.2
    ("toy_failing_learners", 2): 1.0,
    ("toy_irrational", 1): -0.6,
    ("toy_irrational", 2): 0.6,  # section 3.2
    ("toy_never_best_response", 1): -1.0,  # example 4.4.1
    ("toy_missing_action", 1): 1.0,  # example 4.4.2
    ("toy_wrong_default", 1): 0.0,  # example 4.4.3
    ("toy_refinement", 1): 1.0,  # computed independently
    ("toy_a_loss", 1): 1.0,  # computed independently
    ("toy_time_inconsistent", 1): 2.45,  # section 3.3: (5 - ε) / 2
    ("toy_heuristic_update(merged=true)", 1): 2.75,  # table 5.1
}


def problem_of(name: str, player: int = 1) -> MaxminProblem:
    return MaxminProblem(cp.compile_game(name), player - 1)


def default_of(tree: cp.GameTree) -> np.ndarray:
    first = np.zeros(tree.num_entries)
    first[tree.infoset_offset[:-1]] = 1.0
    return first


def search_of(problem: MaxminProblem, epsilon: float, kind: type[BranchAndBound] = BranchAndBound) -> BranchAndBound:
    return kind(problem, epsilon * problem.scale, default_of(problem.tree))


def random_game(seed: int, merge: float = 0.9, depth: int = 5) -> cp.GameTree:
    return split_to_a_loss(cp.compile_game(f"random_game(seed={seed},depth={depth},merge={merge})"), 1)


def random_strategy(tree: cp.GameTree, seed: int) -> np.ndarray:
    weights = np.random.default_rng(seed).exponential(size=tree.num_entries)
    return weights / np.repeat(np.add.reduceat(weights, tree.infoset_offset[:-1]), np.diff(tree.infoset_offset))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("name", "player"), VALUES, ids=lambda part: str(part))
def test_maxmin_values_of_the_examples(name: str, player: int, method: str) -> None:
    """All three algorithms close to 1e-6 chips on every example, with bounds that never get worse."""
    value = VALUES[name, player]
    solver = make_solver(name, "maxmin", player=player, method=method, epsilon=3e-7)
    last = (-math.inf, math.inf)
    while not solver.finished:
        solver.step()
        low, high = solver.value_bounds or last
        assert last[0] <= low <= value + 1e-9
        assert value - 1e-9 <= high <= last[1]
        last = low, high
    assert last == pytest.approx((value, value), abs=1e-6)
    value = cp.expected_values(solver.profile(), name)[player - 1]  # the opponent answers by a best response
    assert value == pytest.approx(last[0], abs=1e-12)


@pytest.mark.parametrize("method", [pytest.param("base", marks=pytest.mark.slow), "irabnb", "doirabnb"])
def test_the_irrational_strategy(method: str) -> None:
    """p = (5 ± √5) / 10 for both choices of player 2 (Čermák 2018, section 3.2, after Koller and Megiddo 1992)."""
    result = cp.solve("toy_irrational", "maxmin", player=2, method=method, epsilon=3e-8)
    first, second = (result.profile.table[start] for start in (3, 5))
    roots = [(5 - math.sqrt(5)) / 10, (5 + math.sqrt(5)) / 10]
    assert min(abs(first - root) for root in roots) <= 1e-6
    assert first + second == pytest.approx(1.0, abs=1e-6)
    assert result.iterations < 200


def scaled(tree: cp.GameTree, factor: float) -> cp.GameTree:
    """The same game with chips of another size."""
    sequences = dataclasses.replace(tree.sequences, leaf_payoff=factor * tree.sequences.leaf_payoff)
    other = dataclasses.replace(tree, utility=factor * tree.utility)
    vars(other)["sequences"] = sequences
    return other


@pytest.mark.parametrize(
    "factor", [1e-12, *(pytest.param(10.0**power, marks=pytest.mark.slow) for power in (-9, -3, 3, 9)), 1e12]
)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("name", "player"), VALUES, ids=lambda part: str(part))
def test_values_are_linear_in_the_size_of_chips(name: str, player: int, method: str, factor: float) -> None:
    value = VALUES[name, player]
    tree = scaled(cp.compile_game(name), factor)
    result = cp.solve(tree, "maxmin", player=player, method=method, epsilon=1e-3)
    low, high = result.details["lower_bound"] / factor, result.details["upper_bound"] / factor
    assert result.status == "solved"
    assert low - 1e-8 <= value <= high + 1e-8
    assert high - low <= 1e-3 * MaxminProblem(tree, player - 1).scale / factor * (1 + 1e-9) + 1e-8


@pytest.mark.parametrize("method", METHODS)
@given(seed=st.integers(0, 10**6), exponent=st.integers(-12, 12))
@example(seed=223, exponent=0)  # all products fit at once, and yet the strategy is worth less than the bound
@settings(max_examples=8, deadline=None)
def test_random_games_with_other_chips(method: str, seed: int, exponent: int) -> None:
    """Bounds on both sides of the value stay there whatever a chip is."""
    factor = 10.0**exponent
    tree = random_game(seed, merge=0.6, depth=4)
    bounds = []
    for game, chip in ((tree, 1.0), (scaled(tree, factor), factor)):
        solver = make_solver(game, "maxmin", method=method, epsilon=1e-2)
        solver.step(20)
        low, high = solver.value_bounds or (-math.inf, math.inf)
        bounds.append((low / chip, high / chip, solver.finished))
    slack = 1e-7 * MaxminProblem(tree, 0).scale
    assert max(low for low, _, _ in bounds) <= min(high for _, high, _ in bounds) + slack
    for low, high, finished in bounds:
        assert not finished or high - low <= 1e-2 * MaxminProblem(tree, 0).scale + slack


def test_nodes_of_the_examples() -> None:
    """Computed independently: few nodes for these; theorem 4.4.2 allows far more."""
    for name, player, most in (("toy_irrational", 2, 200), ("toy_never_best_response", 1, 3)):
        problem = problem_of(name, player)
        search = search_of(problem, 1e-3)
        while not search.finished:
            search.advance()
        assert search.expanded <= most
        assert search.expanded <= iteration_bound(problem, 1e-3 * problem.scale)
    assert iteration_bound(problem_of("kuhn"), 1e-3) == 1.0
    two = problem_of("toy_irrational", 2)  # S = 2, utilities range over 3
    expected = (3.0 ** (4 * math.log10(2) + 4) / (1e-3 / 3) ** 2) ** 2
    assert iteration_bound(two, 1e-3) == pytest.approx(expected, rel=1e-12)


def test_digits_that_are_enough() -> None:
    """Theorem 4.4.1 with the brackets that the proof needs: 4 digits for ε = 1e-3 (computed independently)."""
    problem = problem_of("toy_irrational", 2)
    assert problem.digits(1e-3).tolist() == [4, 4]
    assert [problem.error_bound(digits) for digits in range(3)] == pytest.approx([3.0, 0.3, 0.03])


@pytest.mark.parametrize("seed", range(5))
def test_plans_of_behavioural_strategies_solve_the_exact_program(seed: int) -> None:
    """Lemma 4.3.1: plans from behavioural strategies satisfy it; and lemma 4.3.2: its value is the worst case."""
    tree = random_game(seed)
    problem = MaxminProblem(tree, 0)
    strategy = random_strategy(tree, seed)
    plan = realisation_plan(tree, strategy)
    program = bilinear_program(problem)
    first = int(tree.sequences.sequence_start[0])
    width = program.width
    model = program.model
    pinned = dataclasses.replace(model, lower=model.lower.copy(), upper=model.upper.copy())
    pinned.lower[:width] = pinned.upper[:width] = plan[first : first + width]
    solution = solve_model(pinned)
    assert solution is not None
    assert solution.value * problem.unit == pytest.approx(problem.worst_case(strategy), abs=1e-7)
    point = solution.primal.copy()
    place = model.matrix.shape[1] - problem.places
    point[place:] = strategy[problem.place_entry]
    assert program.violation(point) <= 1e-9
    if problem.places:
        wrong = random_strategy(tree, seed + 100)
        point[place:] = wrong[problem.place_entry]
        assert program.violation(point) > 1e-6
    value = cp.best_response(cp.TabularStrategy.from_tree(tree, strategy), 1, tree, method="exact").value
    assert problem.worst_case(strategy) == pytest.approx(-value, abs=1e-9)


def test_the_program_by_pure_strategies() -> None:
    """(4.5) and (4.1) have the same relaxation against an A-loss opponent, for r that comes from a strategy."""
    for name in ("toy_no_equilibrium", "toy_never_best_response", "toy_failing_learners", "toy_a_loss"):
        problem = problem_of(name)
        values = []
        for responses in ("auto", "pure"):
            solution = solve_model(bilinear_program(problem, responses).model)
            assert solution is not None
            values.append(solution.value)
        assert values[0] == pytest.approx(values[1], abs=1e-9)


@pytest.mark.parametrize(("name", "player"), [
    ("toy_irrational", 2), ("toy_no_equilibrium", 1), ("toy_never_best_response", 1), ("toy_failing_learners", 1)
])  # fmt: skip
def test_digit_programs_bound_from_above(name: str, player: int) -> None:
    """Theorem 4.3.2 and proposition 4.3.1; values of the programs computed independently."""
    problem = problem_of(name, player)
    unit, value = problem.unit, VALUES[name, player]
    first = int(problem.form.sequence_start[problem.player])
    last = math.inf
    for digits in range(3):
        found = {}
        for relaxed in (True, False):
            program = digit_program(problem, np.full(problem.places, digits), relaxed)
            solution = solve_integer(program.model, program.integer)
            assert solution.optimal
            assert solution.primal is not None
            found[relaxed] = solution.value * unit
            plan = np.zeros(problem.form.num_sequences)
            plan[first : first + program.width] = np.clip(solution.primal[: program.width], 0.0, 1.0)
            strategy = reconstruct(problem, plan, default_of(problem.tree)).strategy
            worst = problem.worst_case(strategy)
            if relaxed:
                assert found[True] - worst <= problem.error_bound(digits) + 1e-6
                weight = plan[problem.term_before]
                played = weight > 1e-6
                share = plan[problem.term_after][played] / weight[played]
                for place in np.unique(problem.term_place[played]):
                    assert np.ptp(share[problem.term_place[played] == place]) <= 10.0**-digits + 1e-6
            else:
                assert worst == pytest.approx(found[False], abs=1e-6)
        assert found[False] - 1e-7 <= value <= found[True] + 1e-7
        assert found[True] <= last + 1e-7
        last = found[True]
        if name in ("toy_no_equilibrium", "toy_never_best_response"):
            assert found[True] == pytest.approx(0.0 if digits == 0 else -1.0, abs=1e-6)
        else:
            assert found[True] == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_fixed_digits_leave_the_envelope_of_an_interval(seed: int) -> None:
    """The relaxation of the digit program, leading digits fixed, is McCormick's on the interval (spec CER-21)."""
    draw = np.random.default_rng(seed)
    tree = random_game(seed)
    problem = MaxminProblem(tree, 0)
    program = digit_program(problem, np.full(problem.places, 1))
    model = program.model
    upper, known = model.upper.copy(), {}
    start = program.place_column + problem.places  # of the digits: two of position 0, ten of position 1
    for place in range(problem.places):
        low = int(draw.integers(0, 4))
        high = int(draw.integers(5, 10))
        known[place] = Digits(1, 0, low, high)
        column = start + 12 * place
        upper[column + 1] = 0.0
        for digit in range(10):
            if not low <= digit <= high:
                upper[column + 2 + digit] = 0.0
    limits = np.array([known[place].interval for place in range(problem.places)])
    relaxation = Relaxation(problem, capped=False)
    sums = [np.add.reduceat(limits[:, side], problem.place_start[:-1]) for side in range(2)]
    if np.any(sums[0] > 1.0) or np.any(sums[1] < 1.0):
        known = {}
        limits = np.tile([0.0, 1.0], (problem.places, 1))
        upper = model.upper.copy()
    solution = solve_model(dataclasses.replace(model, upper=upper))
    relaxation.set_intervals(limits[:, 0].copy(), limits[:, 1].copy())
    ours = relaxation.solve()
    assert solution is not None
    assert ours is not None
    assert ours.value == pytest.approx(solution.value * problem.unit, abs=1e-6)
    tighter = Relaxation(problem)
    tighter.set_intervals(limits[:, 0].copy(), limits[:, 1].copy())
    capped = tighter.solve()
    assert capped is not None
    assert capped.value <= ours.value + 1e-9


def test_digits() -> None:
    whole = Digits()
    assert whole.interval == (0.0, 1.0)
    low, high = whole.halves()
    assert (low.interval, high.interval) == ((0.0, 0.5), (0.5, 1.0))
    one = Digits(2, 3, 7, 7)
    assert one.interval == (0.37, 0.38)
    assert one.open(2) is None
    assert one.open(3) == Digits(3, 37, 0, 9)
    assert one.open(3).interval == one.interval
    assert whole.open(1) is whole


def test_digits_around_a_probability() -> None:
    """The digit of the solution with another decimal, within the digits that are left (algorithm 1, third child)."""
    assert Digits().around(0.724, 3) == Digits(2, 7)
    assert Digits(1, 0, 0, 4).around(0.724, 3) == Digits(2, 4)
    assert Digits(2, 7, 3, 9).around(0.724, 3) == Digits(3, 73)
    assert Digits(2, 7).around(0.724, 3) == Digits(3, 72)
    assert Digits(2, 9).around(1.0, 3) == Digits(3, 99)  # one is 0.99 and the rest
    assert Digits(3, 72).around(0.724, 3) is None


@pytest.mark.parametrize(("method", "oracle"), [
    ("irabnb", "multipliers"), ("doirabnb", "multipliers"), ("doirabnb", "pending")
])  # fmt: skip
@pytest.mark.parametrize(("name", "player"), VALUES, ids=lambda part: str(part))
def test_the_thesis_children_and_oracle_lead_to_the_same_values(
    name: str, player: int, method: str, oracle: str
) -> None:  # fmt: skip
    """Algorithms 1 and 2 as printed: with the third child, and with pending states."""
    if name == "toy_refinement" and method == "doirabnb":
        player = 1
    result = cp.solve(name, "maxmin", player=player, method=method, oracle=oracle, third_child=True, epsilon=1e-4)
    assert result.status == "solved"
    gap = 1e-4 * MaxminProblem(cp.compile_game(name), player - 1).scale
    assert result.details["lower_bound"] == pytest.approx(VALUES[name, player], abs=gap)


def test_pending_states_add_more_than_multipliers() -> None:
    """Every sequence that might gain: in example 4.4.1 both of b's, which are never best responses; and in random
    games nearly always more of the maximiser's sequences, and as many of the minimiser's.
    """
    found = {}
    for oracle in ("multipliers", "pending"):
        shares = []
        for seed in range(6):
            tree = random_game(seed, merge=0.6)
            result = cp.solve(tree, "maxmin", method="doirabnb", oracle=oracle, epsilon=1e-3)
            allowed = result.details["restricted_sequences"]
            shares.append([allowed[player] / tree.sequences.sequences_of(player) for player in range(2)])
        found[oracle] = np.mean(shares, axis=0)
    assert found["pending"][0] > 1.2 * found["multipliers"][0]
    assert found["pending"][1] == pytest.approx(found["multipliers"][1], abs=0.05)


def test_pending_states_by_hand() -> None:
    """Example 4.4.1 with the restricted game of first actions: b and e, worth -1, enter against x, where c1 gets 2 and
    the other response, y, -2 (equation 4.19 and the inequality below it).
    """
    problem = problem_of("toy_never_best_response")
    tree, form = problem.tree, problem.form
    states = PendingStates(problem)
    allowed = np.zeros(form.num_sequences, bool)
    allowed[form.sequence_start[:2]] = True
    both = np.ones(form.num_sequences, bool)
    entered = states.gaining(both, allowed, default_of(tree))
    root = int(form.sequence_start[0])
    first = np.flatnonzero((form.decision_parent == root) & (np.arange(form.num_decisions) < form.decision_start[1]))
    after = [int(form.decision_first[point]) + a for point in first for a in range(int(form.decision_actions[point]))]
    at_root = int(tree.infoset[0])
    labels = dict(zip(tree.actions_of(at_root), after[: len(tree.actions_of(at_root))], strict=True))
    assert {label for label, sequence in labels.items() if entered[sequence]} == {"a1", "a2", "b"}
    everything = np.ones(form.num_sequences, bool)
    assert not states.gaining(both, everything, default_of(tree)).any()


def test_intervals_of_a_set_agree() -> None:
    problem = problem_of("toy_irrational", 2)
    limits = intervals(problem, {0: Digits(1, 0, 0, 2)})
    assert limits is not None
    np.testing.assert_allclose(limits[0], [0.0, 0.7])
    np.testing.assert_allclose(limits[1], [0.3, 1.0])
    assert intervals(problem, {0: Digits(1, 0, 0, 2), 1: Digits(1, 0, 0, 2)}) is None


@pytest.mark.parametrize("kind", [BranchAndBound, OracleBranchAndBound])
@pytest.mark.parametrize("seed", range(6))
def test_bounds_close_monotonically(seed: int, kind: type[BranchAndBound]) -> None:
    """Upper bounds fall, lower bounds rise, children lie below their parents (section 4.4.2)."""
    problem = MaxminProblem(random_game(seed), 0)
    search = search_of(problem, 1e-3, kind)
    last = (-math.inf, math.inf)
    for _ in range(60):
        if search.finished:
            break
        above = search.fringe[0][2].upper if search.fringe else math.inf
        before = search.counter
        search.advance()
        assert last[0] <= search.lower <= search.upper <= last[1]
        last = search.lower, search.upper
        for _, number, node in search.fringe:
            if number > before:
                assert node.upper <= above + 1e-12
    assert search.problem.worst_case(search.strategy) == search.lower


@pytest.mark.parametrize("games", [60, pytest.param(200, marks=pytest.mark.slow)])
def test_random_games_against_brute_force(games: int) -> None:
    """Listed pure strategies of the opponent, climbing from several starts: nobody finds more than the upper bound."""
    kinds = {"perfect": 0, "a-loss": 0, "imperfect": 0}
    close = done = 0
    for seed in range(1400):
        game = random_tree_game(seed, depth=3 + seed % 2, chance_share=0.15, sets=2)
        tree = cp.compile_game(game)
        player = seed % 2
        brute = BruteForce(game, player)
        if tree.recall[player] == "perfect" or brute.pure_strategies > 64 or len(brute.entries) > 14:
            continue
        kinds[tree.recall[1 - player]] += 1
        epsilon = 1e-4
        solver = MaxminSolver(tree, MaxminConfig(player=player + 1, epsilon=epsilon))
        solver.step(150)
        low, high = solver.search.lower, solver.search.upper
        strategy = {
            (name, action): float(probability)
            for infoset in tree.infosets_of(player)
            for name in (tree.infoset_names[infoset],)
            for action, probability in zip(
                tree.actions_of(infoset),
                solver.search.strategy[tree.infoset_offset[infoset] : tree.infoset_offset[infoset + 1]],
                strict=True,
            )
        }
        assert brute.worst_case(strategy) == pytest.approx(low, abs=1e-8), seed
        found = brute.climb(2, seed)
        assert found <= high + 1e-6, seed
        assert solver.finished or solver.iterations >= 150
        close += found >= low - 1e-3
        done += solver.finished
        if sum(kinds.values()) == games:
            break
    assert sum(kinds.values()) == games
    assert all(count >= games // 40 for count in kinds.values()), kinds
    assert done >= 0.95 * games
    assert close >= 0.9 * games  # climbing may stop at a lower peak
