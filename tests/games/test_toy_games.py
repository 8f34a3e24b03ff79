"""Counterexamples and worked examples: what the sources state about each of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest

import counterplay as cp
from counterplay.analysis.regret_tracker import RegretTracker
from counterplay.games.toy_sat import read_formula
from counterplay.tree.history.repartition import perfect_recall_refinement
from tests.reference.best_response import brute_force_best_response
from tests.reference.regret import external_regret, m_value
from tests.reference.sequence_lp import zero_sum_value
from tests.reference.walks import (
    Action,
    InfosetId,
    Profile,
    expected_values,
    histories,
    infosets,
    pure_profile,
    random_profile,
    uniform_profile,
    walk,
)

EXACT = 1e-12

compiled = cache(cp.compile_game)


def pure_strategies(game: cp.Game, player: int) -> Iterator[dict[InfosetId, Action]]:
    """Every choice of one action at each information set of a player."""
    own = {infoset: actions for infoset, actions in infosets(game).items() if infoset[0] == player}
    for choices in itertools.product(*own.values()):
        yield dict(zip(own, choices, strict=True))


def matrix(game: cp.Game) -> list[list[float]]:
    """What player 1 gets for every pair of pure strategies."""
    return [
        [expected_values(game, pure_profile(game, {**one, **two}))[0] for two in pure_strategies(game, 1)]
        for one in pure_strategies(game, 0)
    ]


def worst_case(game: cp.Game, profile: Profile, player: int) -> float:
    """What a strategy secures against everything the other player can do."""
    return -brute_force_best_response(game, profile, 1 - player)[0]


def behave(game: cp.Game, **choices: dict[str, float]) -> Profile:
    """A profile from probabilities by information set, uniform elsewhere; no two players share a set name here."""
    profile = uniform_profile(game)
    known = {str(key): (player, key) for player, key in profile}
    for name, row in choices.items():
        infoset = known[name]
        profile[infoset] = {action: row.get(str(action), 0.0) for action in profile[infoset]}
    return profile


def with_pure(profile: Profile, choices: dict[InfosetId, Action]) -> Profile:
    """The profile with some choices made sure."""
    return {
        infoset: {action: float(action == choices[infoset]) for action in row} if infoset in choices else row
        for infoset, row in profile.items()
    }


RECALL = {
    "toy_small_tree": ("perfect", "perfect"),
    "toy_forgotten_choice": ("perfect", "a-loss"),  # Gibson 2014, figure 2.3
    "toy_chain": ("perfect", "perfect"),
    "toy_hidden_coin": ("perfect", "perfect"),
    "toy_dominated_plans": ("perfect", "perfect"),
    "toy_mismatching_pennies": ("perfect", "perfect", "perfect"),
    "toy_queen": ("perfect", "perfect"),
    "toy_deadlock": ("imperfect", "perfect"),  # Lanctot et al. 2012, section 7
    "toy_forgotten_lever": ("a-loss",),
    "toy_self_match": ("a-loss",),
    "toy_no_equilibrium": ("a-loss", "perfect"),  # Čermák 2018, figure 2.1
    "toy_refinement": ("imperfect", "perfect"),
    "toy_well_formed": ("imperfect", "perfect"),  # Čermák 2018, section 4.1
    "toy_skew_well_formed": ("imperfect", "perfect"),
    "toy_ill_formed": ("imperfect", "perfect"),
    "toy_a_loss": ("a-loss", "perfect"),
    "toy_irrational": ("perfect", "a-loss"),  # Čermák 2018, figure 3.3
    "toy_absent_minded_driver": ("absent-minded",),
    "toy_time_inconsistent": ("imperfect", "perfect"),  # Čermák 2018, section 3.3
    "toy_failing_learners": ("a-loss", "perfect"),  # Čermák 2018, section 3.6
    "toy_never_best_response": ("a-loss", "perfect"),
    "toy_missing_action": ("perfect", "perfect"),
    "toy_wrong_default": ("perfect", "perfect"),
    "toy_fpira": ("perfect", "perfect"),
    "toy_fpira(merged=true)": ("a-loss", "perfect"),
    "toy_heuristic_update": ("perfect", "perfect"),
    "toy_heuristic_update(merged=true)": ("perfect", "perfect"),  # no own action is forgotten
    "toy_sat_ir": ("perfect", "imperfect"),  # Čermák 2018, theorem 3.1.1
    "toy_sat_absent": ("absent-minded", "imperfect"),
    "toy_sat_aloss": ("perfect", "a-loss"),  # Čermák 2018, theorem 4.2.2
    "toy_sat_aloss_ne": ("perfect", "a-loss"),
    "toy_sat_ir(F8)": ("perfect", "a-loss"),  # all clauses have the same variables, so only own choices are forgotten
    "toy_sat_aloss(F8)": ("perfect", "a-loss"),
}


@pytest.mark.parametrize("name", RECALL)
def test_what_players_remember(name: str) -> None:
    assert compiled(name).recall == RECALL[name]


def test_every_toy_game_is_here() -> None:
    toys = {name for name in cp.game_names() if name.startswith("toy_")}
    matrices = {"toy_undominated", "toy_elimination_order", "toy_coarse_correlated", "toy_weakly_dominated",
                "toy_dominated_average"}  # fmt: skip
    assert toys == {name.split("(")[0] for name in RECALL} | matrices


STAYS_UNIFORM = {
    "toy_forgotten_choice": 1,  # Gibson 2014, section 2.2.2
    "toy_forgotten_lever": 0,  # Gibson 2014, section 6.2
    "toy_self_match": 0,
    "toy_failing_learners": 0,  # Čermák 2018, appendix A
}
"""Games in which CFR from the uniform profile does not change this player's strategy."""


@pytest.mark.parametrize("name", STAYS_UNIFORM)
def test_cfr_stays_uniform(name: str) -> None:
    solver = cp.CfrSolver(compiled(name), "cfr")
    low, high = solver.tree.infoset_offset[solver.tree.player_infosets[[STAYS_UNIFORM[name], STAYS_UNIFORM[name] + 1]]]
    for _ in range(60):
        assert solver.strategy("last")[low:high].tolist() == [0.5] * int(high - low)
        solver.step()
    assert np.abs(solver.regret[low:high]).max() == 0.0


# ---------------------------------------------------------------------------------- Gibson 2014, normal form


def test_undominated() -> None:
    """Figure 2.1: the value is 0, by (B, b)."""
    assert matrix(cp.make("toy_undominated")) == [[3, -1, -3], [1, 0, 1], [-3, -1, 3]]
    assert zero_sum_value(cp.make("toy_undominated")) == pytest.approx(0.0, abs=EXACT)


def payoffs(name: str) -> dict[str, tuple[float, float]]:
    """Both payoffs by the names of the two choices."""
    game = cp.make(name)
    return {
        "".join(action for past in visit.past for _, action in past): tuple(visit.state.utilities())  # type: ignore[misc]
        for visit in walk(game)
        if visit.state.player == cp.TERMINAL
    }


def test_elimination_order() -> None:
    """Figure 2.4: b and c are both weakly dominated by a; without b B is weakly dominated, without c A is."""
    table = payoffs("toy_elimination_order")
    for column in "bc":
        gains = [table[row + "a"][1] - table[row + column][1] for row in "AB"]
        assert min(gains) >= 0 < max(gains)
    without_b = [table["A" + column][0] - table["B" + column][0] for column in "ac"]
    without_c = [table["B" + column][0] - table["A" + column][0] for column in "ab"]
    assert min(without_b) >= 0 < max(without_b)
    assert min(without_c) >= 0 < max(without_c)


def test_coarse_correlated() -> None:
    """Figure 2.5: C is strictly dominated by B."""
    table = payoffs("toy_coarse_correlated")
    assert all(table["B" + column][0] > table["C" + column][0] for column in "ab")
    correlated = {"Aa": 0.5, "Bb": 0.25, "Cb": 0.25}
    earned = sum(share * table[cell][0] for cell, share in correlated.items())
    assert earned == 5 / 4
    for row in "ABC":
        assert sum(share * table[row + cell[1]][0] for cell, share in correlated.items()) <= earned


def test_weakly_dominated() -> None:
    """Figure 4.3: W is weakly dominated by A and S strictly; CFR's own run is in test_cfr.py."""
    table = payoffs("toy_weakly_dominated")
    assert [table["A" + column][0] - table["W" + column][0] for column in "BI"] == [0, 1]
    assert [table["A" + column][0] - table["S" + column][0] for column in "BI"] == [2, 1]


def test_dominated_average() -> None:
    """Figure 4.4: (A, a), (B, b), (A, a), ... leaves nobody with regret; the average of A and B is dominated by C."""
    tracker = RegretTracker("toy_dominated_average")
    for row, column in (("A", "a"), ("B", "b")) * 5:
        table = {(0, "player 1"): {row: 1.0}, (1, "player 2"): {column: 1.0}}
        tracker.observe(cp.TabularStrategy.from_table(tracker.tree, table))
    assert max(tracker.external_regret(player) for player in (0, 1)) <= 0.0
    won = payoffs("toy_dominated_average")
    assert all((won["A" + column][0] + won["B" + column][0]) / 2 < won["C" + column][0] for column in "ab")


# ---------------------------------------------------------------------------------- Gibson 2014, trees


def test_small_tree() -> None:
    """Figure 2.2: 22 histories, 12 of them terminal, and the reach probabilities of section 2.1."""
    game = cp.make("toy_small_tree")
    counted = histories(game)
    assert (counted["all"], counted["terminal"]) == (22, 12)
    profile = behave(game, a={"l": 1.0})
    reached = [visit.reach_of_others(-1) for visit in walk(game, profile) if visit.state.player == cp.TERMINAL]
    assert reached == pytest.approx([1 / 6, 1 / 6, 0, 0, *[1 / 12] * 8], abs=EXACT)
    assert [m_value(game, player) for player in (0, 1)] == pytest.approx([math.sqrt(2), math.sqrt(6)], abs=EXACT)


@pytest.mark.parametrize("sets", [1, 2, 5])
def test_chain(sets: int) -> None:
    """Figure 2.6a: M_i = |I_i|, the largest it can be; less for a strategy that stops."""
    game = cp.make("toy_chain", sets=sets)
    assert [m_value(game, player) for player in (0, 1)] == [sets, sets]
    stops = pure_profile(game, {(0, "turn 1"): "l"})
    assert m_value(game, 0, stops) == 1.0
    goes_on = pure_profile(game, dict.fromkeys(infosets(game), "r"))
    assert m_value(game, 0, goes_on) == sets
    with pytest.raises(cp.GameError, match="toy_chain: sets must be from 1 to 400; got 0"):
        cp.make("toy_chain(0)")


def test_hidden_coin() -> None:
    """Figure 2.6b: value 1/3 (computed independently); M_1 = 2 + √2, and 2√2 when c is called a."""
    game = cp.make("toy_hidden_coin")
    assert zero_sum_value(game) == pytest.approx(1 / 3, abs=EXACT)
    assert m_value(game, 0) == pytest.approx(2 + math.sqrt(2), abs=EXACT)
    assert m_value(cp.make("toy_hidden_coin(true)"), 0) == pytest.approx(2 * math.sqrt(2), abs=EXACT)


def test_dominated_plans() -> None:
    """Figure 4.2: be is strictly dominated by ae, af by bf, each by 1."""
    game = cp.make("toy_dominated_plans")

    def plan(first: str, second: str) -> list[float]:
        choices: dict[InfosetId, Action] = {(0, "first"): first, (0, "a"): second, (0, "b"): second}
        return [
            expected_values(game, pure_profile(game, {**choices, **two}))[0]
            for two in pure_strategies(game, 1)
        ]  # fmt: skip

    assert np.subtract(plan("a", "e"), plan("b", "e")).tolist() == [1.0] * 8
    assert np.subtract(plan("b", "f"), plan("a", "f")).tolist() == [1.0] * 8
    # Each action is in a plan that is best against something, so none is dominated on its own.
    best = [max(["ae", "af", "be", "bf"], key=lambda p: plan(*p)[column]) for column in range(8)]
    assert set(best) == {"ae", "bf"}


def test_mismatching_pennies() -> None:
    """Figure 4.1: an equilibrium in which one player may harm another at no cost."""
    game = cp.make("toy_mismatching_pennies")
    uniform = uniform_profile(game)
    assert expected_values(game, uniform) == [0.0, 0.0, 0.0]
    plays = pure_profile(game, {(0, "choice"): "h", (1, "choice"): "t", (2, "choice"): "t"})
    assert expected_values(game, plays) == [2.0, -1.0, -1.0]
    switched = with_pure(plays, {(1, "choice"): "h"})
    assert expected_values(game, switched) == [-1.0, -1.0, 2.0]
    for profile in (uniform, plays):
        values = expected_values(game, profile)
        for player in range(3):
            assert brute_force_best_response(game, profile, player)[0] <= values[player] + EXACT


def test_queen() -> None:
    """Figure A.1: value -1/3 (computed independently)."""
    assert zero_sum_value(cp.make("toy_queen")) == pytest.approx(-1 / 3, abs=EXACT)


def test_forgotten_choice() -> None:
    """Figure 2.3: ½ac + ½bd secures 2, no behavioural strategy more than 1."""
    game = cp.make("toy_forgotten_choice")
    secured = []
    for first, second in itertools.product(np.linspace(0, 1, 21), repeat=2):
        plays = behave(game, I={"a": first, "b": 1 - first}, J={"c": second, "d": 1 - second})
        secured.append(worst_case(game, plays, 1))
    assert max(secured) == pytest.approx(1.0, abs=EXACT)
    assert secured[len(secured) // 2] == 1.0  # at one half each
    plans: list[dict[InfosetId, Action]] = [{(1, "I"): "a", (1, "J"): "c"}, {(1, "I"): "b", (1, "J"): "d"}]
    for choice in "AB":
        mixed = [expected_values(game, pure_profile(game, {(0, "root"): choice, **plan}))[1] for plan in plans]
        assert sum(mixed) / 2 == 2.0


# ---------------------------------------------------------------------------------- Lanctot et al. 2012, section 7


@pytest.mark.parametrize("xi", [0.25, 0.5, 0.9])
def test_deadlock_settles_on_passing(xi: float) -> None:
    """u_1 is 0, then -ξ/4, then 0 for ever, though (p, c, r) earns (1 - ξ)/4."""
    game = cp.make("toy_deadlock", xi=xi)
    solver = cp.CfrSolver(game, "cfr")
    values = []
    for _ in range(12):
        values.append(solver.measure("last").value[0])
        solver.step()
    assert values == pytest.approx([0.0, -xi / 4, *[0.0] * 10], abs=EXACT)
    passes = behave(
        game, I1={"p": 1.0}, I2={"p": 1.0}, ac={"p": 1.0}, bc={"c": 1.0}, dc={"c": 1.0}, ec={"p": 1.0}
    )  # fmt: skip
    best, choices = brute_force_best_response(game, passes, 0)
    assert best == pytest.approx((1 - xi) / 4, abs=EXACT)
    assert choices == {"I1": "p", "I2": "c", "I3": "r"}


@pytest.mark.parametrize("xi", [0.25, 0.5, 0.75])
def test_regrets_of_the_deadlock(xi: float) -> None:
    """R_1 = ((T - 1)(1 - ξ) + ξ)/4 in the game and (T - 1)(1 - ξ)/2 + ξ/4 in its refinement; the numbers are dyadic."""
    game = cp.make("toy_deadlock", xi=xi)
    solver = cp.CfrSolver(game, "cfr")
    refined = RegretTracker(solver.tree)  # its best response in hindsight is the refinement's
    profiles: list[Profile] = []
    for step in range(1, 13):
        strategy = solver.strategy("last")
        profiles.append(
            {
                (player, key): {
                    action: float(strategy[solver.tree.entry(player, str(key), str(action))]) for action in actions
                }
                for (player, key), actions in infosets(game).items()
            }
        )
        refined.observe(strategy)
        solver.step()
        if step == 1:
            assert external_regret(game, profiles, 0) == refined.external_regret(0) == 0.0
        else:
            assert external_regret(game, profiles, 0) == ((step - 1) * (1 - xi) + xi) / 4
            assert refined.external_regret(0) == (step - 1) * (1 - xi) / 2 + xi / 4


@pytest.mark.parametrize("p", [0.6, 0.75, 0.9])
def test_forgotten_lever(p: float) -> None:
    """Always l earns 2p - 1; 1/2 in Gibson 2014, figure 6.2b."""
    game = cp.make("toy_forgotten_lever", p=p)
    assert expected_values(game, uniform_profile(game)) == pytest.approx([0.0], abs=EXACT)
    best, choices = brute_force_best_response(game, uniform_profile(game), 0)
    assert best == pytest.approx(2 * p - 1, abs=EXACT)
    assert choices == {"I1": "l", "I2": "l"}


def test_self_match() -> None:
    game = cp.make("toy_self_match")
    assert expected_values(game, uniform_profile(game)) == [0.0]
    assert brute_force_best_response(game, uniform_profile(game), 0) == (1.0, {"J1": "l", "J2": "l"})


# ---------------------------------------------------------------------------------- Čermák 2018


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
