"""Examples of imperfect recall: what Čermák 2018 states about each of them."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import counterplay as cp
from counterplay.games.toy_sat import read_formula
from counterplay.tree.history.repartition import perfect_recall_refinement
from tests.games.test_toy_games import EXACT, behave, compiled, matrix, pure_strategies, with_pure, worst_case
from tests.reference.best_response import brute_force_best_response
from tests.reference.sequence_lp import zero_sum_value
from tests.reference.walks import (
    Action,
    InfosetId,
    Profile,
    expected_values,
    infosets,
    pure_profile,
    random_profile,
    uniform_profile,
)


def test_no_equilibrium() -> None:
    """Figure 2.1, proposition 2.3.1: mixing secures 0, behaving -1, and player 2 can hold player 1 to 0."""
    game = cp.make("toy_no_equilibrium")
    assert len(list(pure_strategies(game, 0))) == 4
    rows = dict(zip(["ac", "ad", "bc", "bd"], matrix(game), strict=True))
    assert np.mean([rows["ac"], rows["bd"]], axis=0).tolist() == [0.0, 0.0]
    secured = {}
    for first, second in itertools.product(np.linspace(0, 1, 21), repeat=2):
        plays = behave(game, I1={"a": first, "b": 1 - first}, I2={"c": second, "d": 1 - second})
        secured[float(first), float(second)] = worst_case(game, plays, 0)
    assert max(secured.values()) == pytest.approx(-1.0, abs=EXACT)
    assert {corner for corner, value in secured.items() if value > -1.0 - EXACT} == {(1.0, 1.0), (0.0, 0.0)}
    assert worst_case(game, uniform_profile(game), 1) == 0.0
    assert refined_value(game) == pytest.approx(0.0, abs=1e-5)


def refined_value(game: cp.Game) -> float:
    """The value of the coarsest perfect-recall refinement."""
    return cp.solve(perfect_recall_refinement(cp.compile_game(game)), "cfr+", exploitability=1e-6).value[0]


def test_refinement() -> None:
    """Corollary 4.2.1 has no converse: here an equilibrium of value 1, in the refinement one of value 2."""
    game = cp.make("toy_refinement")
    plays = behave(game, I1={"d": 1.0}, I2={"e": 1.0})
    assert expected_values(game, plays)[0] == 1.0
    for player in (0, 1):
        assert brute_force_best_response(game, plays, player)[0] <= expected_values(game, plays)[player] + EXACT
    refined = perfect_recall_refinement(compiled("toy_refinement"))
    assert refined.num_infosets == compiled("toy_refinement").num_infosets + 1
    assert refined_value(game) == pytest.approx(2.0, abs=1e-5)


def test_games_on_the_way_to_well_formed_ones() -> None:
    """Leaves below the set that is reached in two ways, by side."""

    def leaves(name: str) -> list[float]:
        return compiled(name).utility[:, 0].tolist()

    assert sorted(leaves("toy_well_formed")) == [0, 1, 1, 2, 2]
    assert sorted(leaves("toy_skew_well_formed")) == [0, 1, 1, 2, 3]
    assert min(max(abs(1 - k), abs(2 - 3 * k)) for k in np.linspace(0, 2, 2001)) == pytest.approx(0.25, abs=EXACT)
    assert len(leaves("toy_ill_formed")) == 6


def test_a_loss() -> None:
    """Forgetting does no harm here: both the game and its refinement are worth 1."""
    game = cp.make("toy_a_loss")
    assert max(min(row) for row in matrix(game)) == 1.0
    assert refined_value(game) == pytest.approx(1.0, abs=1e-5)


def test_irrational() -> None:
    """Figure 3.3: player 2 secures 0.6 by (5 ± √5)/10 and no more; player 1 holds it to that by (0.2, 0.2, 0.6)."""
    game = cp.make("toy_irrational")
    for sign in (1, -1):
        p = (5 + sign * math.sqrt(5)) / 10
        plays = behave(game, R={"a": 0.2, "b": 0.2, "c": 0.6}, I1={"d": p, "e": 1 - p}, I2={"f": 1 - p, "g": p})
        assert worst_case(game, plays, 1) == pytest.approx(0.6, abs=EXACT)
        assert brute_force_best_response(game, plays, 1)[0] == pytest.approx(0.6, abs=EXACT)
    grid = np.linspace(0, 1, 401)
    p, q = np.meshgrid(grid, grid)
    secured = np.minimum(np.minimum(3 * p * q, 3 * (1 - p) * (1 - q)), p * (1 - q) + (1 - p) * q)
    assert 0.59 < secured.max() <= 0.6 + EXACT
    plays = behave(game, I1={"d": 0.3, "e": 0.7}, I2={"f": 0.6, "g": 0.4})
    assert worst_case(game, plays, 1) == pytest.approx(min(3 * 0.18, 3 * 0.28, 0.12 + 0.42), abs=EXACT)


def test_absent_minded_driver() -> None:
    """Figure 3.4 left: going on with probability 2/3 earns 4/3, the best pure strategy 1."""
    game = cp.make("toy_absent_minded_driver")

    def earned(on: float) -> float:
        profile: Profile = {(0, "exit?"): {"straight": on, "exit": 1 - on}}
        tree = compiled("toy_absent_minded_driver")
        found = cp.expected_values(
            cp.TabularStrategy.from_table(tree, {(0, "exit?"): {"straight": on, "exit": 1 - on}}), tree
        )
        assert found == pytest.approx(expected_values(game, profile), abs=EXACT)
        return found[0]

    assert earned(2 / 3) == pytest.approx(4 / 3, abs=EXACT)
    assert max(earned(on) for on in np.linspace(0, 1, 101)) <= 4 / 3
    assert max(earned(1.0), earned(0.0)) == 1.0


@pytest.mark.parametrize("epsilon", [0.1, 0.5])
def test_time_inconsistent(epsilon: float) -> None:
    """Figure 3.4 right: (B, D, F) is best with (5 - ε)/2; (B, C, E) is worth 2, and no single change betters it."""
    game = cp.make("toy_time_inconsistent", epsilon=epsilon)
    best, choices = brute_force_best_response(game, uniform_profile(game), 0)
    assert best == pytest.approx((5 - epsilon) / 2, abs=EXACT)
    assert choices == {"I1": "B", "I2": "D", "I3": "F"}
    stays: dict[InfosetId, Action] = {(0, "I1"): "B", (0, "I2"): "C", (0, "I3"): "E"}
    assert expected_values(game, pure_profile(game, stays))[0] == 2.0
    for infoset, actions in infosets(game).items():
        for action in actions:
            assert expected_values(game, pure_profile(game, {**stays, infoset: action}))[0] <= 2.0


@pytest.mark.parametrize("x", [4.0, 10.0])
def test_failing_learners(x: float) -> None:
    """Figure 3.5 and appendix A: -1 can be secured; CFR's average secures -x/2."""
    game = cp.make("toy_failing_learners", x=x)
    assert max(min(row) for row in matrix(game)) == -1.0
    solver = cp.CfrSolver(game, "cfr")
    solver.step(30)
    assert cp.best_response(solver.profile("average"), 1, solver.tree).value == x / 2
    parts: list[dict[InfosetId, Action]] = [{(0, "I1"): "a", (0, "I2"): "g"}, {(0, "I1"): "b", (0, "I2"): "h"}]
    goes_on: dict[InfosetId, Action] = {(1, "a"): "d", (1, "b"): "e"}
    assert [expected_values(game, pure_profile(game, {**part, **goes_on}))[0] for part in parts] == [0.0, 0.0]
    assert expected_values(game, with_pure(uniform_profile(game), goes_on))[0] == -x / 2
    ends: dict[InfosetId, Action] = {(1, "a"): "c", (1, "b"): "f"}
    for part in parts:  # an equilibrium
        plays = pure_profile(game, {**part, **ends})
        assert expected_values(game, plays) == [-1.0, 1.0]
        assert brute_force_best_response(game, plays, 0)[0] == -1.0
        assert brute_force_best_response(game, plays, 1)[0] == 1.0


def test_never_best_response() -> None:
    """Example 4.4.1: b, e secures -1; best responses to pure play earn 2, and without b at most -2 is secured."""
    game = cp.make("toy_never_best_response")
    rows = matrix(game)
    assert max(min(row) for row in rows) == -1.0
    assert [max(row[column] for row in rows) for column in (0, 1)] == [2.0, 2.0]
    secured = []
    for first, second in itertools.product(np.linspace(0, 1, 11), repeat=2):
        plays = behave(game, I1={"a1": first, "a2": 1 - first}, I2={"c1": second, "c2": 1 - second})
        secured.append(worst_case(game, plays, 0))
    assert max(secured) == pytest.approx(-2.0, abs=EXACT)


def test_missing_action_and_wrong_default() -> None:
    """Examples 4.4.2 and 4.4.3: worth 1, and 0 without x; worth 0."""
    assert zero_sum_value(cp.make("toy_missing_action")) == pytest.approx(1.0, abs=EXACT)
    assert matrix(cp.make("toy_missing_action"))[:2] == [[1, -1], [-1, 1]]
    assert zero_sum_value(cp.make("toy_wrong_default")) == pytest.approx(0.0, abs=EXACT)
    assert matrix(cp.make("toy_wrong_default")) == [[-2, 2], [2, -2]]


def test_fpira() -> None:
    """Example 5.2.1: what the average in the abstraction and in the game lose to f is 2/3 and 1."""
    merged, full = cp.make("toy_fpira(true)"), cp.make("toy_fpira")
    abstract = behave(merged, R={"a": 1 / 3, "b": 2 / 3}, ab={"c": 1 / 3, "d": 2 / 3}, J={"f": 1.0})
    exact = behave(full, R={"a": 1 / 3, "b": 2 / 3}, a={"u": 1.0}, b={"v": 0.5, "w": 0.5}, J={"f": 1.0})
    assert expected_values(merged, abstract)[1] == pytest.approx(2 / 3, abs=EXACT)
    assert expected_values(full, exact)[1] == pytest.approx(1.0, abs=EXACT)
    start = pure_profile(full, {(0, "R"): "b", (0, "b"): "w", (1, "J"): "e"})
    assert brute_force_best_response(full, start, 0) == (2.0, {"R": "b", "b": "v"})


def test_heuristic_update() -> None:
    """Table 5.1: against both halves alike, uniform play earns 2.75 in each set, telling them apart 5."""
    game = cp.make("toy_heuristic_update")
    assert expected_values(game, uniform_profile(game))[0] == 2.75
    best, choices = brute_force_best_response(game, uniform_profile(game), 0)
    assert best == 5.0
    assert choices == {"I'": "x", "I''": "w"}
    merged = cp.make("toy_heuristic_update(true)")
    assert brute_force_best_response(merged, uniform_profile(merged), 0)[0] == 2.75
    for half, better in (("left", ("y", "w")), ("right", ("x", "v"))):
        sides = with_pure(uniform_profile(game), {(1, "table"): half})
        assert tuple(brute_force_best_response(game, sides, 0)[1].values()) == better


# ---------------------------------------------------------------------------------- satisfiability


def test_formulas() -> None:
    assert read_formula("example") == [{"x1": True, "x3": False, "x4": True}, {"x2": False, "x3": True, "x4": False}]
    assert len(read_formula("F8")) == len({tuple(clause.values()) for clause in read_formula("F8")}) == 8
    assert list(read_formula("x10|-x2|y1")[0]) == ["x2", "x10", "y1"]
    for text, message in {
        "x1||x2": "cannot read '' in the formula 'x1||x2'",
        "x1|2x": "cannot read '2x' in the formula",
        "x1|-x1|x2": "x1 is twice in one clause",
    }.items():
        with pytest.raises(cp.GameError) as caught:
            cp.make("toy_sat_ir", formula=text)
        assert message in str(caught.value)
    with pytest.raises(cp.GameError, match=r"toy_sat_aloss: reward must be a positive number; got 0\.0"):
        cp.make("toy_sat_aloss(reward=0)")


@pytest.mark.parametrize(("formula", "clauses"), [("example", 2), ("F8", 8)])
def test_leaves_of_satisfiability_games(formula: str, clauses: int) -> None:
    """8n, and n(n - 1) + 8n (Čermák 2018, sections 3.1 and 4.2.2)."""
    assert compiled(f"toy_sat_ir({formula})").counts()["terminal"] == 8 * clauses
    for name in ("toy_sat_absent", "toy_sat_aloss", "toy_sat_aloss_ne"):
        assert compiled(f"{name}({formula})").counts()["terminal"] == clauses * (clauses - 1) + 8 * clauses


FORMULAS = ["x1|x2|x3", "x1|-x3|x4 & -x2|x3|-x4", "F8", "x1 & -x1|x2 & -x2", "x1|x2 & -x1|x2 & x1|-x2"]


@pytest.mark.parametrize("formula", FORMULAS)
def test_pure_play_secures_the_reward_if_and_only_if_the_formula_can_be_satisfied(formula: str) -> None:
    """Theorems 3.1.1 and 4.2.2; in the latter the clause is drawn uniformly."""
    clauses = read_formula(formula)
    variables = sorted({name for clause in clauses for name in clause})
    worlds = [
        dict(zip(variables, truth, strict=True)) for truth in itertools.product((True, False), repeat=len(variables))
    ]
    satisfiable = any(all(any(world[x] == sign for x, sign in c.items()) for c in clauses) for world in worlds)
    for name in ("toy_sat_ir", "toy_sat_aloss"):
        game = cp.make(name, formula=formula, reward=2.0)
        secured = []
        for world in worlds:
            plays = with_pure(
                uniform_profile(game), {(1, name): str(truth).lower() for name, truth in world.items()}
            )  # fmt: skip
            secured.append(worst_case(game, plays, 1))
        assert (max(secured) == pytest.approx(2.0, abs=EXACT)) == satisfiable


@pytest.mark.parametrize("name", ["toy_sat_ir(F8)", "toy_sat_aloss(F8)"])
def test_unsatisfiable_formula_secures_less(name: str) -> None:
    """7/8 of the reward by uniform play (computed independently); no behaviour does better."""
    game = cp.make(name)
    assert worst_case(game, uniform_profile(game), 1) == pytest.approx(7 / 8, abs=EXACT)
    for seed in range(20):
        assert worst_case(game, random_profile(game, seed), 1) <= 7 / 8
    if name == "toy_sat_ir(F8)":
        plays = random_profile(game, 1)
        lost = [expected_values(game, with_pure(plays, {(0, "clause"): str(n)}))[1] for n in range(1, 9)]
        assert sum(lost) == pytest.approx(7.0, abs=EXACT)  # one clause is unsatisfied in every world


def test_equilibrium_from_a_satisfying_assignment() -> None:
    """Theorem 4.2.3: clauses uniform, a satisfying assignment; nobody gains by any pure deviation."""
    game = cp.make("toy_sat_aloss_ne")
    plays = with_pure(
        uniform_profile(game), {(1, "x1"): "true", (1, "x2"): "false", (1, "x3"): "true", (1, "x4"): "true"}
    )
    values = expected_values(game, plays)
    assert values == pytest.approx([-0.75, 0.75], abs=EXACT)
    for player in (0, 1):
        assert brute_force_best_response(game, plays, player)[0] <= values[player] + EXACT


def test_absent_minded_naming() -> None:
    """Theorem 3.1.2: -n³ for naming two clauses, 0 for a satisfied and 1 for an unsatisfied one."""
    game = cp.make("toy_sat_absent")
    assert tuple(game.play("1", "2").utilities()) == (-8.0, 8.0)
    assert tuple(game.play("2", "2", "true", "false", "true").utilities()) == (1.0, -1.0)
    assert tuple(game.play("2", "2", "false", "false", "true").utilities()) == (0.0, 0.0)
    assert game.play("1").infoset() == game.root().infoset()
