"""Postflop spots as games of states: the same hands, cards, bets and payoffs as on the public tree."""

from __future__ import annotations

import collections
import itertools

import numpy as np
import pytest

from counterplay.evaluation import evaluate
from counterplay.game.game import CHANCE
from counterplay.poker.board_tree import compatible_mass
from counterplay.poker.cards import cards_text
from counterplay.poker.postflop.spot_game import SpotGame
from counterplay.poker.postflop.subgame import Subgame
from counterplay.poker.ranges import holdem_hands
from counterplay.strategy import TabularStrategy
from counterplay.tree import compile_game
from tests.poker.test_postflop import random_profile, shares_of_pot

RIVER = Subgame("QsJh2h3c8d", 50, (60, 100), "AA,KQs:0.5,AsQh,66", "JJ,AhQd,KcQc:0.25,AA,77", bets="50%,a",
                raises="60%,a", rake=0.05, rake_cap=4)  # fmt: skip
TURN = Subgame("QsJs2d3d", 20, 30, "AsAh,9c9d:0.5,KcKh", "KcQc,7c7d,AcAd", bets="50%", raises="100%", rake=0.1)
FLOP = Subgame("QsJh2h", 20, 30, "AsAh", "7c7d", bets="flop=50%", raises="none")


@pytest.mark.parametrize("game", [RIVER, TURN, FLOP], ids=["river", "turn", "flop"])
def test_random_play_is_worth_the_same_as_on_the_public_tree(game: Subgame) -> None:
    """Every hand, card, bet, showdown and rake: the values of a random strategy on all histories."""
    profile = random_profile(game.tree(), 5)
    spot = SpotGame(profile.tree)
    histories = compile_game(spot)
    assert histories.num_histories == spot.num_histories()
    rows = [
        list(profile.probabilities(int(histories.infoset_player[number]), name).values())
        for number, name in enumerate(histories.infoset_names)
    ]
    slow = evaluate(TabularStrategy.from_tree(histories, np.concatenate(rows)), histories)
    np.testing.assert_allclose(evaluate(profile).value, shares_of_pot(game, slow.value), atol=1e-10)


def test_hands_are_dealt_by_both_ranges_without_conflicts() -> None:
    """The probability of a pair of hands is the product of their weights, over all pairs that share no card."""
    spot = SpotGame(RIVER.tree())
    weights = [dict(zip(map(cards_text, holdem_hands()[:, ::-1]), row, strict=True)) for row in RIVER.ranges]
    expected = {
        (first, second): weights[0][first] * weights[1][second]
        for first, second in itertools.product(*weights)
        if weights[0][first] * weights[1][second] and not {first[:2], first[2:]} & {second[:2], second[2:]}
    }
    total, found = sum(expected.values()), collections.Counter[tuple[str, str]]()
    for first, share in spot.root().chance():
        for second, part in spot.root().child(first).chance():
            found[first, second] += share * part  # type: ignore[assignment]
    assert found == pytest.approx({pair: weight / total for pair, weight in expected.items()})


def test_an_all_in_deals_the_rest_of_the_board() -> None:
    state = SpotGame(Subgame("QsJh2h", 20, 30, "AsAh", "7c7d", bets="a", raises="none").tree()).root()
    for move in ("AhAs", "7d7c", "allin", "call"):
        state = state.child(move)
    assert state.player == CHANCE
    assert len(state.chance()) == 45
    last = state.child("7h").child("Ad")
    assert last.utilities() == (40.0, -40.0)
    assert state.child("7h").child("3c").utilities() == (-40.0, 40.0)


def test_hands_that_block_each_other_have_no_mass() -> None:
    holes = np.array([[0, 1], [0, 2], [3, 4]], np.uint8)
    np.testing.assert_array_equal(compatible_mass(holes, np.array([0.1, 0.2, 0.7])), [0.7, 0.7, 0.1 + 0.2])
    np.testing.assert_array_equal(compatible_mass(holes[:2], np.array([0.1, 0.2])), [0, 0])
