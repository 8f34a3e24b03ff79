"""Equilibrium polytopes, correlated gaps, minimax regret, supports, trembles and unexploitable errors."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import counterplay as cp
from counterplay.analysis.domination import dominating_strategy
from counterplay.analysis.equilibrium_quality import (
    coarse_correlated_gap,
    correlated_gap,
    purity,
    support_sizes,
    undominated_equilibrium,
)  # fmt: skip
from counterplay.analysis.equilibrium_set import Equilibria
from counterplay.analysis.minimax import iterated_regret, minimax_regret, minimax_regret_gap, worst_regret
from counterplay.analysis.regret_tracker import RegretTracker
from counterplay.analysis.trembles import tremble, unexploitable_errors
from counterplay.experiments.kuhn_tournament import kuhn_agent
from counterplay.lp.treeplex import plan_of, strategy_of
from counterplay.tree.sequence.matrices import constraint_matrix
from counterplay.tree.sequence.normal_form import normal_form

EXACT = 1e-9


def pure(tree: cp.GameTree, *actions: str) -> cp.TabularStrategy:
    """A pure profile of a game with one information set for each player."""
    return cp.TabularStrategy.from_table(
        tree, {(p, tree.infoset_names[tree.infosets_of(p)[0]]): {a: 1.0} for p, a in enumerate(actions)}
    )


# ------------------------------------------------------------------------------------------------ zero-sum polytopes


def test_plans_and_strategies() -> None:
    tree = cp.compile_game("leduc")
    profile = cp.TabularStrategy.random(tree, 2)
    for player in (0, 1):
        matrix, right = constraint_matrix(tree.sequences, player)
        plan = plan_of(tree, player, profile.table)
        assert matrix @ plan == pytest.approx(right, abs=1e-12)
        uniform = cp.TabularStrategy.uniform(tree).table
        low, high = tree.infoset_offset[tree.player_infosets[[player, player + 1]]]
        back = strategy_of(tree, player, plan, uniform)
        assert back[low:high] == pytest.approx(profile.table[low:high], abs=1e-12)


def test_domination_value_of_an_undominated_strategy() -> None:
    """Gibson 2014, figure 2.1: Dom_1(A) = 1 although A is not even weakly dominated."""
    tree = cp.compile_game("toy_undominated")
    assert Equilibria(tree).domination_value(0, pure(tree, "A", "b")) == pytest.approx(1.0, abs=EXACT)
    assert Equilibria(tree).domination_value(0, pure(tree, "B", "b")) == pytest.approx(0.0, abs=EXACT)


@pytest.mark.parametrize("gamma", [0, 0.5, 1])
def test_equilibria_of_kuhn_have_no_domination_value(gamma: float) -> None:
    tree = cp.compile_game("kuhn")
    for player in (0, 1):
        assert Equilibria(tree).domination_value(player, kuhn_agent(tree, f"Nash-{gamma}")) == pytest.approx(
            0.0, abs=1e-8
        )


def test_domination_value_in_kuhn_by_its_vertices() -> None:
    """The first player's equilibria are those from γ = 0 to 1 (Kuhn 1950), so the worst for uniform play is an end."""
    tree = cp.compile_game("kuhn")
    uniform = cp.TabularStrategy.uniform(tree)
    split = int(tree.infoset_offset[tree.player_infosets[1]])
    taken = []
    for gamma in (0, 1):
        strategy = uniform.table.copy()
        strategy[:split] = kuhn_agent(tree, f"Nash-{gamma}").table[:split]
        taken.append(cp.expected_values(cp.TabularStrategy.from_tree(tree, strategy), tree)[0])
    assert Equilibria(tree).domination_value(1, uniform) == pytest.approx(max(taken) + 1 / 18, abs=1e-8)


@pytest.mark.parametrize("name", ["kuhn", "leduc", "toy_hidden_coin", "one_card_poker(cards=4)"])
def test_undominated_equilibria(name: str) -> None:
    tree = cp.compile_game(name)
    profile = undominated_equilibrium(tree)
    assert cp.exploitability(profile, tree) == pytest.approx(0.0, abs=1e-7)
    for player in (0, 1):
        assert dominating_strategy(tree, profile, player).kind is None


def test_some_equilibria_are_dominated() -> None:
    """Row 2 never earns more than row 1 and both secure 0; only row 1 is undominated."""
    tree = cp.compile_game('matrix(rows="1,0;0,0")')
    second = cp.TabularStrategy.from_table(tree, {(0, "player 1"): {"2": 1.0}, (1, "player 2"): {"2": 1.0}})
    assert cp.exploitability(second, tree) == 0.0
    assert dominating_strategy(tree, second, 0).kind == "weak"
    assert undominated_equilibrium(tree).probabilities(0, "player 1")["1"] == pytest.approx(1.0)


@pytest.mark.parametrize("name", ["kuhn(players=3)", "toy_weakly_dominated", "toy_forgotten_choice"])
def test_games_without_such_a_polytope(name: str) -> None:
    """Three players, not zero-sum, a player who forgets."""
    with pytest.raises(cp.CounterplayError, match=name.split("(")[0]):
        undominated_equilibrium(name)


# ------------------------------------------------------------------------------------------------ correlated gaps


def test_a_coarse_correlated_equilibrium_with_a_dominated_strategy() -> None:
    """Gibson 2014, figure 2.5: ½ (A,a), ¼ (B,b), ¼ (C,b); whoever is told C should not play it."""
    tree = cp.compile_game("toy_coarse_correlated")
    profiles = [pure(tree, "A", "a"), pure(tree, "B", "b"), pure(tree, "C", "b")]
    weights = [0.5, 0.25, 0.25]
    assert sum(w * cp.expected_values(p, tree)[0] for w, p in zip(weights, profiles, strict=True)) == 1.25
    assert coarse_correlated_gap(tree, profiles, weights) == pytest.approx(-0.25 + 0.25, abs=EXACT)
    assert correlated_gap(tree, profiles, weights) == pytest.approx(0.25, abs=EXACT)  # B instead of C earns 1 more


def test_a_correlated_equilibrium_that_is_no_mixture_of_products() -> None:
    """Chicken with payoffs (6,6), (2,7), (7,2), (0,0): a third on each but the last (Aumann 1987)."""
    tree = cp.compile_game('matrix(rows="6,2;7,0",columns="6,7;2,0")')
    told = [pure(tree, *cells) for cells in (("1", "1"), ("1", "2"), ("2", "1"))]
    assert correlated_gap(tree, told) == pytest.approx(0.0, abs=EXACT)
    assert correlated_gap(tree, told[:1]) == pytest.approx(1.0)
    assert coarse_correlated_gap(tree, told) <= EXACT


@pytest.mark.parametrize("name", ["kuhn", "kuhn(players=3)", "toy_mismatching_pennies"])
def test_gaps_of_one_profile_are_its_epsilon(name: str) -> None:
    tree = cp.compile_game(name)
    profile = cp.TabularStrategy.random(tree, 1)
    epsilon = cp.evaluate(profile, tree).epsilon
    assert correlated_gap(tree, [profile]) == pytest.approx(epsilon, abs=EXACT)
    assert coarse_correlated_gap(tree, [profile]) == pytest.approx(epsilon, abs=EXACT)


@pytest.mark.parametrize("name", ["kuhn", "kuhn(players=3)"])
def test_the_gap_of_play_is_its_regret(name: str) -> None:
    """The uniform distribution over T profiles of CFR has the gap max R_i^T / T (Gibson 2014, section 4.1)."""
    solver = cp.CfrSolver(name, "cfr")
    tracker = RegretTracker(solver.tree)
    played = []
    for _ in range(20):
        played.append(cp.TabularStrategy.from_tree(solver.tree, solver.strategy("last")))
        tracker.observe(played[-1])
        solver.step()
    assert coarse_correlated_gap(solver.tree, played) == pytest.approx(tracker.coarse_correlated_gap(), abs=EXACT)
    assert correlated_gap(solver.tree, played) >= coarse_correlated_gap(solver.tree, played) - EXACT


def test_gaps_against_the_definition() -> None:
    """Swap and fixed deviations in a random three-player normal form, over all pure profiles."""
    generator = np.random.default_rng(5)
    from counterplay.games.matrix import TensorGame

    payoffs = generator.integers(-3, 4, (3, 2, 3, 2)).astype(float)
    tree = cp.compile_game(TensorGame(list(payoffs)))
    share = generator.dirichlet(np.ones(12)).reshape(2, 3, 2)
    names = [tree.actions_of(tree.infosets_of(player)[0]) for player in range(3)]
    cells = list(itertools.product(range(2), range(3), range(2)))
    profiles = [pure(tree, *(names[p][cell[p]] for p in range(3))) for cell in cells]
    swap, fixed = [], []
    for player in range(3):
        weight = np.moveaxis(share, player, 0).reshape(share.shape[player], -1)
        payoff = np.moveaxis(payoffs[player], player, 0).reshape(share.shape[player], -1)
        earned = float((weight * payoff).sum())
        swap.append(sum(max(float(row @ other) for other in payoff) for row in weight) - earned)
        fixed.append(max(float(weight.sum(axis=0) @ other) for other in payoff) - earned)
    weights = [float(share[cell]) for cell in cells]
    assert correlated_gap(tree, profiles, weights) == pytest.approx(max(swap), abs=EXACT)
    assert coarse_correlated_gap(tree, profiles, weights) == pytest.approx(max(fixed), abs=EXACT)


def test_weights_make_sense() -> None:
    tree = cp.compile_game("kuhn")
    with pytest.raises(cp.GameError, match="1 profiles need as many weights that sum to 1; got"):
        correlated_gap(tree, [cp.TabularStrategy.uniform(tree)], [0.5])
    with pytest.raises(cp.GameError, match="0 profiles"):
        coarse_correlated_gap(tree, [], [])


# ------------------------------------------------------------------------------------------------ minimax regret


def test_minimax_regret_by_hand() -> None:
    """Rows (3, 0), (0, 1), regrets (0, 1) and (3, 0): ¼ of each other's makes both ¾."""
    form = normal_form(cp.compile_game('matrix(rows="3,0;0,1")'))
    assert worst_regret(form, 0, np.array([1.0, 0.0])) == 1.0
    assert worst_regret(form, 0, np.array([0.0, 1.0])) == 3.0
    value, weights = minimax_regret(form, 0)
    assert value == pytest.approx(0.75)
    assert weights == pytest.approx([0.75, 0.25])
    column = minimax_regret(form, 1)[1]
    assert minimax_regret_gap(form, [weights, column]) == pytest.approx(0.0, abs=EXACT)
    assert minimax_regret_gap(form, [np.array([0.0, 1.0]), column]) == pytest.approx(2.25)


@pytest.mark.parametrize("seed", range(5))
def test_nothing_has_less_regret(seed: int) -> None:
    generator = np.random.default_rng(seed)
    from counterplay.games.matrix import TensorGame

    form = normal_form(cp.compile_game(TensorGame(list(generator.normal(size=(2, 4, 3))))))
    for player in range(2):
        value, weights = minimax_regret(form, player)
        assert worst_regret(form, player, weights) == pytest.approx(value, abs=EXACT)
        for _ in range(50):
            other = generator.dirichlet(np.ones(form.shape[player]))
            assert worst_regret(form, player, other) >= value - EXACT


def test_iterated_regret_in_the_travellers_dilemma() -> None:
    """Claims 2 .. 100, bonus 2: iterated regret minimisation leaves 97 (Halpern and Pass 2012)."""
    claims = np.arange(2, 101)
    low = np.minimum.outer(claims, claims)
    first = low + 2 * np.sign(claims[None, :] - claims[:, None])
    from counterplay.games.matrix import TensorGame

    form = normal_form(cp.compile_game(TensorGame([first, first.T])))
    assert [claims[left].tolist() for left in iterated_regret(form)] == [[97], [97]]


# ------------------------------------------------------------------------------------------------ supports, refinements


def test_supports_and_purity() -> None:
    tree = cp.compile_game("kuhn")
    uniform = cp.TabularStrategy.uniform(tree)
    assert support_sizes(tree, uniform).tolist() == [2] * 12
    assert purity(tree, uniform, 0).support == 27  # all reduced strategies
    assert purity(tree, uniform, 1).support == 64
    assert purity(tree, uniform, 0).share == 0.0
    nash = kuhn_agent(tree, "Nash-1")  # K always bets, so K facing a bet is not reached
    first, second = purity(tree, nash, 0), purity(tree, nash, 1)
    assert (first.infosets, first.reached, first.pure, first.support) == (6, 5, 3, 4)
    assert (second.infosets, second.reached, second.pure, second.support) == (6, 6, 4, 4)
    assert first.share == 0.6


def test_trembling() -> None:
    """σ' = (1 - |A| e) σ + e (Johanson 2016, section 10.3.1.2)."""
    tree = cp.compile_game("kuhn")
    shaken = tremble(tree, kuhn_agent(tree, "Nash-0"), 0.01)
    assert shaken.probabilities(0, "J:kb") == pytest.approx({"fold": 0.99, "call": 0.01})
    assert shaken.table.min() == pytest.approx(0.01)
    with pytest.raises(cp.StrategyError, match=r"give a least probability up to 0\.5"):
        tremble(tree, shaken, 0.6)


def test_folding_the_best_card_to_a_bet_that_never_comes() -> None:
    """Player 2 never bets after a check, so folding K then costs nothing; it is found all the same."""
    tree = cp.compile_game("kuhn")
    table = {(1, f"{card}:k"): {"check": 1.0} for card in "JQK"} | {
        (0, "K:kb"): {"fold": 1.0},
        (0, "J:kb"): {"fold": 1.0},
    }
    profile = cp.TabularStrategy.from_table(tree, table)
    errors = unexploitable_errors(tree, profile, 0.5, only_unreached=True)
    assert [(e.player, tree.infoset_names[e.infoset], tree.actions_of(e.infoset)[e.best]) for e in errors] == [
        (0, "K:kb", "call")
    ]
    assert errors[0].loss == pytest.approx(3.0)  # -1 instead of 2
    assert errors[0].reach == 0.0
    assert unexploitable_errors(tree, profile, 3.1) == []
    assert len(unexploitable_errors(tree, profile, 0.0)) > 1


def test_losses_are_differences_of_values() -> None:
    """Where one player moves once and chance is all there is, the loss is what another action earns more."""
    game = cp.ExplicitGame(
        cp.chance({
            "low": (0.25, cp.decision(0, "I", {"a": cp.terminal(4.0), "b": cp.terminal(0.0)})),
            "high": (0.75, cp.decision(0, "I", {"a": cp.terminal(0.0), "b": cp.terminal(2.0)})),
        })
    )  # fmt: skip
    tree = cp.compile_game(game)
    errors = unexploitable_errors(tree, cp.TabularStrategy.uniform(tree), 0.0)
    assert [(error.best, error.loss, error.reach) for error in errors] == [(1, 0.25, 1.0)]
