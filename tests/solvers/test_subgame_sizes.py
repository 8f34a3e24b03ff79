"""Sizes of subgames by counting: those of public trees that are built, and of limit hold'em, whose tree cannot be."""

from __future__ import annotations

import collections
from typing import Any

import pytest

from counterplay.errors import GameError, MemoryLimitError
from counterplay.forms import poker_definition
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.poker_public_tree import build_public_tree
from counterplay.solvers.streamed.subgame_sizes import subgame_sizes

TWELVE: dict[str, Any] = {"limit": True, "players": 2, "blinds": (10, 5), "suits": 3, "ranks": 4, "hole_cards": 2}
GAMES = {
    "leduc_limit_2p": poker_definition("leduc_limit_2p"),
    "all in before the deal": GameDefinition(
        limit=False, players=2, rounds=2, stacks=(7, 7), blinds=(2, 1), suits=2, ranks=3, hole_cards=1,
        board_cards=(0, 1),
    ),
    "two rounds": GameDefinition(
        **TWELVE, rounds=2, raise_sizes=(10, 20), max_raises=(2, 1), first_players=(1, 0), board_cards=(0, 3)
    ),
    "three rounds": GameDefinition(
        **TWELVE, rounds=3, raise_sizes=(10, 20, 20), max_raises=(1, 1, 1), first_players=(1, 0, 0),
        board_cards=(0, 2, 1),
    ),
    "nothing dealt in the middle": GameDefinition(
        **{**TWELVE, "ranks": 3}, rounds=3, raise_sizes=(10, 20, 20), max_raises=(1, 1, 0), first_players=(1, 0, 0),
        board_cards=(0, 0, 2),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", GAMES)
def test_counts_are_those_of_the_tree(name: str) -> None:
    """A subgame is found in the tree by the betting before its first deal and by that deal."""
    game = GAMES[name]
    sizes, tree = subgame_sizes(game, name), build_public_tree(game)
    first = range(int(tree.deal_first[0]), int(tree.deal_first[0] + tree.deal_count[0]))
    deal_of = {deal: deal for deal in first}
    for deal in range(first.stop, len(tree.deal_parent)):
        deal_of[deal] = deal_of[int(tree.deal_parent[deal])]
    dealing = next(number for number, cards in enumerate(game.board_cards) if cards)
    subgames: dict[tuple[str, int], list[int]] = collections.defaultdict(lambda: [0, 0])
    trunk, states = [0, 0], [0, 0]
    for player in (0, 1):
        for node, deal in tree.states_of(player):
            part = tree.entries(node, deal)
            count = part.stop - part.start
            if deal == 0:
                trunk[player] += count
                continue
            states[player] += 1
            before = "/".join(tree.node_text[node].split("/")[:dealing])
            subgames[before, deal_of[deal]][player] += count
    assert sizes.entries == tree.num_entries
    assert sizes.infosets == tree.num_infosets
    assert sizes.trunk_entries == tuple(trunk)
    assert sizes.states == tuple(states)
    links = tree.kind[: tree.piece_size[0]] == 2
    assert (sizes.links, sizes.first_deals) == (links.sum(), len(first))
    assert sizes.start_hands == tree.hands[0].count(0)
    assert sizes.first_hands == sum(tree.hands[0].count(deal) for deal in first)
    assert sizes.cut.subgames == sizes.links * sizes.first_deals
    largest = max(subgames.values(), key=sum)
    assert sum(largest) <= sizes.cut.largest_entries
    if game.suits == 3:  # a deal of two ranks in two of three suits leaves no suits alike
        assert sizes.cut.largest == tuple(largest)


def test_limit_holdem() -> None:
    """Johanson 2016, table 3.1 and section 9.4.

    There are 110,565 subgames after the betting of the flop.  The source needs 262 TB for two tables of 4-byte floats;
    one takes 130.55 TiB, which it rounds up before it doubles.
    """
    sizes = subgame_sizes(poker_definition("holdem_limit_2p"), "holdem_limit_2p")
    assert sizes.infosets == 13_803_249_787_132
    assert sizes.total == 35_888_449_446_577
    assert (sizes.links, sizes.first_deals, sizes.cut.subgames) == (7, 1755, 12_285)
    assert sizes.later is not None
    assert sizes.later.subgames == 110_565 == 7 * 9 * 1755
    assert 2 * -(-sizes.float_bytes // 2**40) == 262
    flop, turn, river = 1176, 49 * 1128, 49 * 48 * 1081
    assert sizes.cut.largest_entries == 26 * (flop + 9 * turn + 81 * river)  # ten decisions with 26 actions a round
    assert sizes.later.largest_entries == 26 * (turn + 9 * river)


def test_what_cannot_be_counted() -> None:
    with pytest.raises(GameError, match="nothing is dealt in kuhn_limit_2p after the start"):
        subgame_sizes(poker_definition("kuhn_limit_2p"), "kuhn_limit_2p")
    with pytest.raises(GameError, match="holdem_limit_3p cannot be planned: a public tree needs two players"):
        subgame_sizes(poker_definition("holdem_limit_3p"), "holdem_limit_3p")
    with pytest.raises(GameError, match="the betting of leduc_nolimit_2p before its first deal is too long"):
        subgame_sizes(poker_definition("leduc_nolimit_2p(stack=400)"), "leduc_nolimit_2p")
    with pytest.raises(MemoryLimitError, match="the betting of holdem_nolimit_2p is too large to be planned"):
        subgame_sizes(poker_definition("holdem_nolimit_2p"), "holdem_nolimit_2p")
