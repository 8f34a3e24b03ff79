"""The derived normal form, in full and reduced, and the way between mixed and behavioural strategies."""

from __future__ import annotations

import io

import numpy as np
import pygambit
import pytest

import counterplay as cp
from counterplay.game.efg import format_efg
from counterplay.tree.sequence.normal_form import (
    behavioural_strategy,
    count_strategies,
    format_count,
    mixed_strategy,
    normal_form,
    pure_strategies,
)  # fmt: skip
from tests.reference.domination import strategy_table
from tests.reference.random_trees import random_tree_game

EXACT = 1e-12

SMALL = ["kuhn", "toy_queen", "toy_hidden_coin", "toy_dominated_plans", "toy_mismatching_pennies", "toy_deadlock",
         "toy_forgotten_choice", "toy_absent_minded_driver", "toy_a_loss", "toy_elimination_order"]  # fmt: skip

COUNTS = [  # pure strategies, full and reduced, by player
    pytest.param("kuhn", (64, 64), (27, 64), id="kuhn"),  # 2^6; three cards, each bet or check-fold or check-call
    pytest.param("kuhn(players=3)", (65536,) * 3, (9**4, 10**4, 16**4), id="kuhn 3"),
    pytest.param("toy_hidden_coin", (16, 4), (9, 4), id="figure 2.6b"),
    pytest.param("toy_forgotten_choice", (2, 4), (2, 4), id="figure 2.3"),
    pytest.param("toy_absent_minded_driver", (2,), (2,), id="driver"),
    pytest.param("matrix", (2, 2), (2, 2), id="matrix"),
]


@pytest.mark.parametrize(("name", "full", "reduced"), COUNTS)
def test_strategies_are_counted_without_listing(name: str, full: tuple[int, ...], reduced: tuple[int, ...]) -> None:
    tree = cp.compile_game(name)
    assert tuple(count_strategies(tree, player, reduced=False) for player in range(tree.players)) == full
    assert tuple(count_strategies(tree, player) for player in range(tree.players)) == reduced


@pytest.mark.parametrize("name", SMALL)
def test_counts_are_those_of_the_lists(name: str) -> None:
    tree = cp.compile_game(name)
    for player in range(tree.players):
        for reduced in (False, True):
            listed = pure_strategies(tree, player, reduced)
            assert len(listed) == count_strategies(tree, player, reduced)
            assert len(np.unique(listed, axis=0)) == len(listed)


@pytest.mark.parametrize("seed", range(12))
def test_forgetful_players_are_counted_too(seed: int) -> None:
    """The reduced strategies are the different plans among the full ones, with any recall."""
    tree = cp.compile_game(random_tree_game(seed, depth=3, absent_minded=seed % 2 == 0))
    if max(count_strategies(tree, player, reduced=False) for player in range(2)) > 5000:
        pytest.skip("large")
    full, reduced = normal_form(tree, reduced=False), normal_form(tree)
    for player in range(2):
        assert len(np.unique(full.plans[player], axis=0)) == reduced.shape[player]
        assert set(map(bytes, full.plans[player])) == set(map(bytes, reduced.plans[player]))


@pytest.mark.parametrize("name", ["kuhn", "toy_queen", "toy_dominated_plans", "toy_forgotten_choice", "toy_deadlock",
                                  "toy_mismatching_pennies", "toy_elimination_order"])  # fmt: skip
def test_payoffs_equal_walks(name: str) -> None:
    game = cp.make(name)
    tree = cp.compile_game(game)
    form = normal_form(tree, reduced=False)
    for player in range(tree.players):
        own, table = strategy_table(game, player)
        names = list(tree.infosets_of(player))
        order = [
            [tree.actions_of(i).index(str(mine[key])) for i, key in _keys(tree, names, mine)] for mine in own
        ]  # fmt: skip
        index = {tuple(row): number for number, row in enumerate(form.choices[player].tolist())}
        rows = [index[tuple(row)] for row in order]
        assert sorted(rows) == list(range(len(rows)))
        ours = form.table(player)[rows]
        assert np.sort(ours, axis=1) == pytest.approx(np.sort(table, axis=1), abs=EXACT)


@pytest.mark.parametrize("name", ["kuhn", "toy_queen", "toy_hidden_coin", "random_game(seed=3,depth=3)"])
def test_reduced_form_equals_gambit(name: str) -> None:
    """The same strategies, up to their order: equal rows as multisets, and as many of each."""
    game = pygambit.read_efg(io.BytesIO(format_efg(cp.make(name)).encode()))
    theirs = np.array(game.to_arrays()[0], float)
    ours = normal_form(cp.compile_game(name)).payoffs[0]
    assert ours.shape == theirs.shape
    for axis in (0, 1):
        rows = [np.sort(payoffs.round(9), axis=axis) for payoffs in (ours, theirs)]
        one, other = (sorted(map(tuple, (row if axis else row.T).tolist())) for row in rows)
        np.testing.assert_allclose(one, other, atol=1e-8)


def _keys(tree: cp.GameTree, sets: list[int], mine: dict) -> list:  # type: ignore[type-arg]
    by_name = {str(key): key for key in mine}
    return [(infoset, by_name[tree.infoset_names[infoset]]) for infoset in sets]


def test_known_payoffs() -> None:
    """Gibson 2014, figure 2.1; σ_1 = (3/4, 1/4, 0) earns 5/2 against a."""
    form = normal_form(cp.compile_game("toy_undominated"))
    np.testing.assert_array_equal(form.payoffs[0], [[3, -1, -3], [1, 0, 1], [-3, -1, 3]])
    np.testing.assert_array_equal(form.payoffs[1], -form.payoffs[0])
    assert np.array([0.75, 0.25, 0.0]) @ form.payoffs[0] == pytest.approx([2.5, -0.75, -2.0])
    assert form.strategy_name(0, 1) == "player 1 B"


@pytest.mark.parametrize("reduced", [False, True])
@pytest.mark.parametrize("name", ["kuhn", "toy_hidden_coin", "toy_mismatching_pennies", "toy_dominated_plans"])
def test_mixed_and_behavioural_strategies_do_the_same(name: str, reduced: bool) -> None:
    """Kuhn's theorem: utilities are equal both ways with perfect recall (Gibson 2014, section 2.1.1)."""
    tree = cp.compile_game(name)
    form = normal_form(tree, reduced)
    profile = cp.TabularStrategy.random(tree, 3)
    weights = [mixed_strategy(form, player, profile.table) for player in range(tree.players)]
    assert [float(w.sum()) for w in weights] == pytest.approx([1.0] * tree.players)
    assert _values(form, weights) == pytest.approx(cp.expected_values(profile, tree), abs=EXACT)

    generator = np.random.default_rng(1)
    mixed = [generator.dirichlet(np.ones(size) * 0.1) for size in form.shape]
    back = np.concatenate([behavioural_strategy(form, player, w) for player, w in enumerate(mixed)])
    assert cp.expected_values(cp.TabularStrategy.from_tree(tree, back), tree) == pytest.approx(
        _values(form, mixed), abs=EXACT
    )


def _values(form: object, weights: list[np.ndarray]) -> list[float]:
    values = []
    for payoff in form.payoffs:  # type: ignore[attr-defined]
        for weight in weights:
            payoff = np.tensordot(weight, payoff, axes=(0, 0))
        values.append(float(payoff))
    return values


def test_without_recall_only_one_way() -> None:
    """Gibson 2014, figure 2.3: ½ac + ½bd secures 2 for player 2, behavioural strategies at most 1."""
    tree = cp.compile_game("toy_forgotten_choice")
    form = normal_form(tree)
    names = [form.strategy_name(1, strategy) for strategy in range(4)]
    weights = np.array([0.5 * (name in ("I a, J c", "I b, J d")) for name in names])
    assert (form.table(1).T @ weights).min() == 2.0
    with pytest.raises(cp.GameError, match="player 2 of toy_forgotten_choice forgets"):
        behavioural_strategy(form, 1, weights)
    uniform = cp.TabularStrategy.uniform(tree)
    mixed = [mixed_strategy(form, player, uniform.table) for player in range(2)]
    assert _values(form, mixed) == pytest.approx(cp.expected_values(uniform, tree))  # this way it still works


def test_absent_minded_players_have_no_mixed_equivalent() -> None:
    form = normal_form(cp.compile_game("toy_absent_minded_driver"))
    with pytest.raises(cp.GameError, match="absent-minded"):
        mixed_strategy(form, 0, np.array([0.5, 0.5]))


def test_large_games_are_refused_with_their_size() -> None:
    """A player with ten sets of four actions has 4^10 = 1,048,576 strategies."""
    branches = {f"c{i}": (0.1, cp.decision(0, f"set {i}", {a: cp.terminal(1, -1) for a in "abcd"})) for i in range(10)}
    tree = cp.compile_game(cp.ExplicitGame(cp.chance(branches)))
    assert count_strategies(tree, 0) == 4**10
    with pytest.raises(cp.GameError, match="has 1,048,576 reduced pure strategies; at most 100,000"):
        pure_strategies(tree, 0)
    with pytest.raises(cp.GameError, match="has 1,048,576 x 1 pure strategies"):
        normal_form(tree)
    with pytest.raises(cp.GameError, match=r"normal form of leduc has about 10\^14.0 x about 10\^26.7 pure strategies"):
        normal_form(cp.compile_game("leduc"))


def test_sizes_for_people() -> None:
    assert format_count(27) == "27"
    assert format_count(10**6) == "1,000,000"
    assert format_count(3 * 10**5000) == "about 10^5000.5"
