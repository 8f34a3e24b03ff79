"""Matrices of run-outs: walks with and without them are the same."""

from __future__ import annotations

import numpy as np
import pytest

from counterplay.evaluation import public_walks
from counterplay.evaluation.public_walks import Opponent, PublicWalks, plain_tables, runout_places, vector_length
from counterplay.kernels.public.piece_steps import RESPONSE, VALUE
from counterplay.poker.postflop.subgame import Subgame
from counterplay.tree.public.public_tree import PublicTree

SPOTS = {
    "flop, suits can be renamed": Subgame("Qs7s7d", 10, 20, "99-88,A9s", "A8s,K9s,66", "allin", "allin"),
    "flop, suits matter": Subgame("QsJh2d", 10, 20, "9s9h,AsKs,AhQh", "Td9d,2c2h,AcAd:0.5", "allin", "allin"),
    "turn": Subgame("QsJh2h3c", 50, 200, "66+,A8s+,KQo", "22+,ATo+,T7s+", "50%,allin", "60%,allin"),
}


def tables_of(tree: PublicTree, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two random strategies in which some actions are never taken."""
    draw = np.random.default_rng(seed)
    first, second = (np.maximum(draw.normal(size=size), 0.0) for size in tree.num_entries)
    return first, second


@pytest.mark.parametrize("spot", SPOTS)
def test_walks_with_and_without_matrices_are_the_same(spot: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = SPOTS[spot].tree()
    monkeypatch.setattr(public_walks, "RUNOUT_SHARE", 1e-9)
    with_matrices = PublicWalks(tree)
    assert runout_places(tree, vector_length(tree))[2] > 0
    monkeypatch.setattr(public_walks, "RUNOUT_SHARE", 1e9)
    without = PublicWalks(tree)
    assert runout_places(tree, vector_length(tree))[2] == 0
    for seed in range(3):
        tables = tables_of(tree, seed)
        for player in (0, 1):
            for mode in (RESPONSE, VALUE):
                own = plain_tables(tables[player])
                own = own._replace(regret_scale=without.ones(player))
                seen, expected = (
                    walker.walk(player, mode, own, Opponent(tables[1 - player])) for walker in (with_matrices, without)
                )
                assert seen == pytest.approx(expected, abs=1e-10 * tree.scale)


def test_matrices_stay_small_beside_the_tables() -> None:
    """Nothing but all-in: there the tables are smaller than the matrices would be."""
    tree = SPOTS["flop, suits matter"].tree()
    assert runout_places(tree, vector_length(tree))[2] <= sum(tree.num_entries) // public_walks.RUNOUT_SHARE
