"""What every registered game must do, found through the registry."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest

import counterplay as cp
from counterplay.game.efg import format_efg, parse_efg
from tests.bridge import to_profile
from tests.reference.walks import expected_values, histories, infosets, random_profile, walk
from tests.registered import NAMES

FORGETFUL = {
    "toy_a_loss", "toy_absent_minded_driver", "toy_deadlock", "toy_failing_learners", "toy_forgotten_choice",
    "toy_forgotten_lever", "toy_ill_formed", "toy_irrational", "toy_never_best_response", "toy_no_equilibrium",
    "toy_refinement", "toy_sat_absent", "toy_sat_aloss", "toy_sat_aloss_ne", "toy_sat_ir", "toy_self_match",
    "toy_skew_well_formed", "toy_time_inconsistent", "toy_well_formed",
}  # fmt: skip
"""Games in which, by their defaults, some player forgets; that is what they are for."""

every_game = pytest.mark.parametrize("name", NAMES)


@functools.cache
def tree_of(name: str) -> cp.GameTree:
    return cp.compile_game(name)


@every_game
def test_the_tree_holds_what_the_rules_say(name: str) -> None:
    game, tree = cp.make(name), tree_of(name)
    counted = histories(game)
    assert tree.num_histories == counted["all"]
    assert tree.counts() == {kind: counted[kind] for kind in ("decision", "chance", "terminal")}
    sets = infosets(game)
    assert tree.num_infosets == len(sets)
    for (player, key), actions in sets.items():
        assert tree.actions_of(tree.find_infoset(player, str(key))) == tuple(str(action) for action in actions)


@every_game
def test_values_of_random_play(name: str) -> None:
    game, tree = cp.make(name), tree_of(name)
    table = random_profile(game, 5)
    assert cp.expected_values(to_profile(tree, table), tree) == pytest.approx(expected_values(game, table), abs=1e-11)


@every_game
def test_states_do_not_change(name: str) -> None:
    """Asking a state twice gives the same answers, also after its children were made."""
    for number, visit in enumerate(walk(cp.make(name))):
        state = visit.state
        if state.player == cp.TERMINAL:
            assert list(state.utilities()) == list(state.utilities())
        else:
            ask = state.chance if state.player == cp.CHANCE else state.actions
            before = list(ask())
            for move in before:
                state.child(move[0] if state.player == cp.CHANCE else move)
            assert list(ask()) == before
            if state.player == cp.CHANCE:
                assert math.fsum(p for _, p in before) == pytest.approx(1.0, abs=1e-12)
        if number > 500:
            break


@every_game
def test_facts_agree_with_declarations(name: str) -> None:
    game = cp.make(name)
    facts = tree_of(name).facts
    assert facts.players == game.players
    if game.zero_sum is not None and game.players == 2:
        assert facts.zero_sum == game.zero_sum
    assert facts.min_utility <= facts.max_utility


@every_game
def test_the_name_makes_the_game_again(name: str) -> None:
    game = cp.make(name)
    again = cp.make(game.spec())
    assert again == game
    assert cp.compile_game(again).digest == tree_of(name).digest


@every_game
def test_registered_players_remember_everything(name: str) -> None:
    """In all games but those that are about forgetting."""
    tree = tree_of(name)
    assert (set(tree.recall) == {"perfect"}) == (name not in FORGETFUL)
    assert (tree.sequences.num_decisions == tree.num_infosets) == (name not in FORGETFUL)


@every_game
def test_written_and_read_as_efg(name: str) -> None:
    tree = tree_of(name)
    again = cp.compile_game(parse_efg(format_efg(cp.make(name)), "again"))
    np.testing.assert_array_equal(tree.parent, again.parent)
    np.testing.assert_array_equal(tree.infoset, again.infoset)
    np.testing.assert_array_equal(tree.utility, again.utility)
    np.testing.assert_allclose(tree.chance_prob, again.chance_prob, rtol=1e-12)
