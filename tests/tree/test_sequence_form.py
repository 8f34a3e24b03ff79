"""Sequence form, recall and sizes of compiled games."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterplay.game import Game, make
from counterplay.game.builder import ExplicitGame, Node, chance, decision, terminal
from counterplay.tree import compile_game, estimate_size
from counterplay.tree.history.sizes import tree_bytes
from tests.bridge import to_entries
from tests.reference.walks import expected_values, infosets, random_profile, walk
from tests.tree.test_compile import (
    EXACT,
    MAX_BYTES_PER_HISTORY,
    WITHIN_STANDARD_ERRORS,
    compiled,
    leaf_values,
    random_games,
)


@settings(max_examples=200, deadline=None)
@given(random_games(), st.integers(0, 10**6))
def test_leaves_reproduce_expected_values(game: ExplicitGame, seed: int) -> None:
    tree = compile_game(game)
    table = random_profile(game, seed)
    entries = to_entries(tree, table)
    assert leaf_values(tree, entries) == pytest.approx(expected_values(game, table), abs=EXACT)


@pytest.mark.parametrize("spec", ["kuhn", "kuhn(players=3)", "leduc", "one_card_poker"])
def test_leaves_reproduce_expected_values_of_poker(spec: str) -> None:
    game = make(spec)
    table = random_profile(game, seed=3)
    assert leaf_values(compiled(spec), to_entries(compiled(spec), table)) == pytest.approx(
        expected_values(game, table), abs=EXACT
    )


@settings(max_examples=200, deadline=None)
@given(random_games())
def test_decision_points_are_information_sets_by_own_sequence(game: ExplicitGame) -> None:
    tree = compile_game(game)
    form = tree.sequences
    points: dict[int, dict[Hashable, int]] = {player: defaultdict(int) for player in range(tree.players)}
    for visit in walk(game):
        player = visit.state.player
        if player >= 0:
            points[player][visit.infoset[1], visit.past[player]] += 1
    for player, mine in points.items():
        low, high = form.decision_start[player], form.decision_start[player + 1]
        assert high - low == len(mine)
        actions = form.decision_actions[low:high]
        assert form.sequences_of(player) == 1 + actions.sum()
        parents = form.decision_parent[low:high]
        assert (parents < form.decision_first[low:high]).all()  # topological
        assert (parents >= form.sequence_start[player]).all()
    for infoset in range(tree.num_infosets):
        here = form.decision_infoset == infoset
        assert form.decision_weight[here].sum() == pytest.approx(1.0, abs=EXACT)
        assert (form.decision_entry[here] == tree.infoset_offset[infoset]).all()


def test_weights_of_deals_are_whole_numbers() -> None:
    form = compiled("leduc").sequences
    assert form.unit == 1 / (6 * 5 * 4)
    np.testing.assert_array_equal(form.leaf_payoff, np.rint(form.leaf_payoff))
    odd = compile_game(
        ExplicitGame(chance({"a": (math.sqrt(0.5), terminal(1)), "b": (1 - math.sqrt(0.5), terminal(2))}))
    )
    assert leaf_values(odd, np.zeros(0)) == pytest.approx([2 - math.sqrt(0.5)], abs=EXACT)


# ---------------------------------------------------------------------------------------------- recall


def forgets_own_choice() -> Game:
    """The second decision follows both choices of the first and cannot tell them apart: A-loss recall."""
    last: dict[Hashable, Node] = {
        side: decision(0, "second", {"l": terminal(1), "r": terminal(0)}) for side in ("l", "r")
    }
    return ExplicitGame(decision(0, "first", last), name="forgets own choice")


def forgets_what_was_seen() -> Game:
    """Chance is seen at first and forgotten later: the two sequences part at no information set of the player."""

    def seen(side: str) -> Node:
        last = decision(0, "later", {"l": terminal(1), "r": terminal(0)})
        return decision(0, f"saw {side}", {"on": last, "stop": terminal(0)})

    return ExplicitGame(chance({side: (0.5, seen(side)) for side in ("l", "r")}), name="forgets what was seen")


def forgets_having_moved() -> Game:
    """Sometimes the player has moved before and sometimes not, and cannot tell: neither A-loss nor absent-minded."""
    late = decision(0, "late", {"l": terminal(1), "r": terminal(0)})
    early = decision(0, "early", {"on": decision(0, "late", {"l": terminal(0), "r": terminal(1)})})
    return ExplicitGame(chance({"a": (0.5, late), "b": (0.5, early)}), name="forgets having moved")


@pytest.mark.parametrize(
    ("game", "recall"),
    [
        pytest.param(make("kuhn"), ("perfect", "perfect"), id="kuhn"),
        pytest.param(make("toy_mismatching_pennies"), ("perfect",) * 3, id="mismatching pennies"),
        pytest.param(make("toy_forgotten_choice"), ("perfect", "a-loss"), id="figure 2.3"),
        pytest.param(make("toy_hidden_coin"), ("perfect", "perfect"), id="figure 2.6b"),
        pytest.param(make("toy_deadlock"), ("imperfect", "perfect"), id="figure 6.2a"),
        pytest.param(make("toy_forgotten_lever"), ("a-loss",), id="figure 6.2b"),
        pytest.param(make("toy_queen"), ("perfect", "perfect"), id="figure A.1"),
        pytest.param(make("toy_absent_minded_driver"), ("absent-minded",), id="absent-minded driver"),
        pytest.param(forgets_own_choice(), ("a-loss",), id="forgets own choice"),
        pytest.param(forgets_what_was_seen(), ("imperfect",), id="forgets what was seen"),
        pytest.param(forgets_having_moved(), ("imperfect",), id="forgets having moved"),
    ],
)
def test_recall_of_examples(game: Game, recall: tuple[str, ...]) -> None:
    assert compile_game(game).recall == recall


def recall_by_definition(game: Game, player: int) -> str:
    """Čermák 2018, definition 2.2.2, on the own sequences of all histories."""
    pasts: dict[Hashable, set[Any]] = {infoset[1]: set() for infoset in infosets(game) if infoset[0] == player}
    for visit in walk(game):
        if visit.state.player == player:
            pasts[visit.infoset[1]].add(visit.past[player])
    if all(len(own) == 1 for own in pasts.values()):
        return "perfect"
    if any(key in dict(past) for key, own in pasts.items() for past in own):
        return "absent-minded"
    for own in pasts.values():
        for one, other in combinations(own, 2):
            if not any(key in dict(other) and dict(other)[key] != action for key, action in one):
                return "imperfect"
    return "a-loss"


@settings(max_examples=300, deadline=None)
@given(random_games())
def test_recall_of_random_trees(game: ExplicitGame) -> None:
    assert compile_game(game).recall == tuple(recall_by_definition(game, player) for player in range(game.players))


# ---------------------------------------------------------------------------------------------- sizes


def test_bytes_per_history() -> None:
    tree = compile_game("leduc(ranks=12,suited=true)")
    assert tree.num_histories == 919_105
    assert tree_bytes(tree) / tree.num_histories <= MAX_BYTES_PER_HISTORY
    assert tree.nbytes == sum(value.nbytes for value in vars(tree).values() if isinstance(value, np.ndarray))


def test_estimates_by_random_descents_are_unbiased() -> None:
    estimate = estimate_size(make("leduc"), descents=200, seed=1)
    assert estimate.descents == 200
    assert estimate.ended
    assert abs(estimate.histories - 9457) <= WITHIN_STANDARD_ERRORS * estimate.standard_error
    assert estimate.standard_error <= 0.02 * 9457
    assert estimate == estimate_size(make("leduc"), descents=200, seed=1)
    assert estimate != estimate_size(make("leduc"), descents=200, seed=2)


def test_estimates_are_exact_where_all_paths_branch_alike() -> None:
    estimate = estimate_size(make("rock_paper_scissors"), descents=5)
    assert (estimate.histories, estimate.standard_error) == (13.0, 0.0)
