"""Restrictions: what they refuse, and what they give to kernels."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import counterplay as cp
from counterplay.errors import SolverError
from counterplay.forms import open_game
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.solvers.restriction import Restriction, player_rows
from counterplay.strategy.tabular import TabularStrategy
from tests.poker.test_bucket_game import LEDUC, mixed


@pytest.fixture(scope="module")
def kuhn() -> cp.GameTree:
    return open_game("kuhn", "history")


def test_a_restriction_on_a_tree_has_zeros_for_others_and_rows_that_sum_to_one(kuhn: cp.GameTree) -> None:
    wild = np.full(kuhn.num_entries, 7.0)
    low, high = kuhn.infoset_offset[kuhn.player_infosets[1:]]
    wild[low:high] = np.tile([0.25, 0.7500003], 6)
    found = Restriction(1, wild, np.full(kuhn.num_entries, 0.5)).on(kuhn)
    assert found.kind == "dbr"
    assert_array_equal(found.strategy[:low], 0.0)
    assert_array_equal(found.least[:low], 0.0)
    np.testing.assert_allclose(found.strategy[low:high].reshape(-1, 2).sum(axis=1), 1.0, atol=1e-15)
    np.testing.assert_allclose(found.least[low], 0.125, atol=1e-6)
    assert Restriction(0, wild, 1).kind == "rnr"


@pytest.mark.parametrize(
    ("player", "strategy", "confidence", "words"),
    [
        (-1, [0.5], 0.5, "an integer, at least 0"),
        (True, [0.5], 0.5, "an integer, at least 0"),
        (0, "half", 0.5, "made of numbers"),
        (0, [[0.5, 0.5]], 0.5, "for each entry"),
        (0, [0.5, 0.5], 1.5, r"lies in \[0, 1\]; got 1.5"),
        (0, [0.5, 0.5], float("nan"), r"lies in \[0, 1\]; got nan"),
        (0, [0.5, 0.5], [0.5, -0.1], "got -0.1"),
        (0, [0.5, 0.5], [0.5], "one for each of 2 entries"),
        (0, [0.5, 0.5], None, "lies in|made of numbers"),
    ],
)
def test_bad_restrictions_are_refused(player: int, strategy: object, confidence: object, words: str) -> None:
    with pytest.raises(SolverError, match=words):
        Restriction(player, strategy, confidence)  # type: ignore[arg-type]


def test_restrictions_that_do_not_fit_a_game_are_refused(kuhn: cp.GameTree) -> None:
    uniform = TabularStrategy.uniform(kuhn).table
    with pytest.raises(SolverError, match="restricted 2"):
        Restriction(2, uniform, 0.5).on(kuhn)
    with pytest.raises(SolverError, match="has 24 entries"):
        Restriction(0, uniform[1:], 0.5).on(kuhn)
    with pytest.raises(SolverError, match=r"sum to 1 in each row; got \[0.5, 0.25\]"):
        Restriction(0, np.where(np.arange(24) == 3, 0.25, uniform), 0.5).on(kuhn)
    with pytest.raises(SolverError, match="at least 0"):
        Restriction(0, np.where(np.arange(24) == 2, -0.5, np.where(np.arange(24) == 3, 1.5, uniform)), 0.5).on(kuhn)
    with pytest.raises(SolverError, match="at least 0"):
        Restriction(0, np.full(24, np.nan), 0.5).on(kuhn)
    with pytest.raises(SolverError, match="the same for all actions"):
        Restriction(0, uniform, np.linspace(0, 1, 24)).on(kuhn)
    assert Restriction(1, uniform, np.repeat(np.linspace(0, 1, 12), 2)).on(kuhn).least[-1] == 0.5


def test_rows_of_a_player_in_a_bucket_game_are_those_of_its_blocks() -> None:
    game = BucketGame.build(LEDUC, mixed(LEDUC))
    for player in range(2):
        start, size = player_rows(game, player)
        wanted = [first + at for first, _, offset in game.blocks(player) for at in offset[:-1]]
        assert_array_equal(start, wanted)
        assert size.sum() == sum(last - first for first, last, _ in game.blocks(player))
