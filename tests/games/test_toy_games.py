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
