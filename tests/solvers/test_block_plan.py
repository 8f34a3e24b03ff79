"""Blocks of subgames: every entry of the game is in one block or in the trunk, where the plan says."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from counterplay.errors import GameError
from counterplay.forms import open_game
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.poker_public_tree import build_public_tree
from counterplay.solvers.streamed.block_plan import BlockPlan
from counterplay.tree.public.public_tree import CUT, LINK, PublicTree

THREE_ROUNDS = GameDefinition(
    limit=True, players=2, rounds=3, blinds=(10, 5), raise_sizes=(10, 20, 20), max_raises=(1, 1, 1),
    first_players=(1, 0, 0), suits=2, ranks=4, hole_cards=1, board_cards=(0, 1, 1),
)  # fmt: skip


def trees() -> list[PublicTree]:
    """One in which links share the deals after them, over one level and two, and one in which each has its own."""
    return [
        open_game("leduc_limit_2p", "public"), build_public_tree(THREE_ROUNDS, name="three rounds"),
        open_game("leduc", "public"),
    ]  # fmt: skip


@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize("size", [1, 50, 200, 10**9])
def test_every_entry_is_in_one_part(number: int, size: int) -> None:
    tree = trees()[number]
    plan = BlockPlan(tree, size)
    for player in (0, 1):
        owner = np.full(tree.num_entries[player], -2)
        for block in [None, *range(plan.num_blocks)]:
            inside = 0
            for here, whole in plan.rows(block, player):
                assert np.all(owner[whole] == -2)
                owner[whole] = -1 if block is None else block
                assert here.stop - here.start == whole.stop - whole.start
                inside += here.stop - here.start
            places = plan.trunk if block is None else plan.places(block)
            assert inside == places.entries[player]
        assert np.all(owner > -2)
    assert np.array_equal(plan.entries.sum(axis=0) + plan.trunk.entries, tree.num_entries)
    assert np.array_equal(plan.states.sum(axis=0) + plan.trunk.blocks, tree.num_blocks)


@pytest.mark.parametrize("number", range(3))
def test_blocks_are_as_large_as_they_may_be(number: int) -> None:
    tree = trees()[number]
    single = BlockPlan(tree, 1)
    assert single.num_blocks == len(single.subgames)
    largest = int(single.entries.sum(axis=1).max())
    plan = BlockPlan(tree, 3 * largest)
    sizes = plan.entries.sum(axis=1)
    assert 1 < plan.num_blocks < single.num_blocks
    assert sizes.max() <= 3 * largest
    assert np.all(sizes[:-1] > 2 * largest)


@pytest.mark.parametrize("number", range(3))
def test_subgames_are_in_the_order_in_which_values_are_added(number: int) -> None:
    """The deals after each link grow, and every link has all of its own."""
    tree = trees()[number]
    plan = BlockPlan(tree, 60)
    for link, node in enumerate(plan.links.tolist()):
        deals = plan.subgames[plan.subgames[:, 0] == link, 1]
        first = int(tree.link_deal[node])
        low, count = (first, tree.num_children[node]) if first >= 0 else (tree.deal_first[0], tree.deal_count[0])
        assert deals.tolist() == list(range(low, low + count))


def test_games_that_cannot_be_divided_are_refused() -> None:
    with pytest.raises(GameError, match="nothing is dealt in kuhn after the start"):
        BlockPlan(open_game("kuhn", "public"))
    tree = open_game("leduc_limit_2p", "public")
    links = np.flatnonzero(tree.kind[: tree.piece_size[0]] == LINK)
    cut = tree.link_deal.copy()
    cut[links[0]] = CUT
    with pytest.raises(GameError, match="before its first deal is too long"):
        BlockPlan(dataclasses.replace(tree, link_deal=cut))
