"""Strategies whose buckets depend on the betting, with one card abstraction for all betting.

A hand's *joint bucket* in a round is its bucket in every part where its player acts in that round: two hands share it
if no part distinguishes them.  A strategy by joint buckets plays to the bit what the strategy of the parts plays, and
whatever takes one bucket a round can measure it.  There may be as many joint buckets as hands.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from counterplay.abstraction.cards.card_abstraction import BucketTable, deck_shape
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.buckets.round_buckets import RoundBuckets, hand_indexer, look_up
from counterplay.runtime.memory import check_memory
from counterplay.strategy.bucket_strategy import BucketStrategy

Int64 = NDArray[np.int64]


def joint_buckets(strategy: BucketStrategy) -> BucketStrategy:
    """The strategy by joint buckets; itself if its buckets do not depend on the betting.

    Raises
    ------
    MemoryLimitError
        If there are too many hands.
    """
    game = strategy.abstract
    if not game.zones:
        return strategy
    tables, parts = [], {}
    for player in range(game.players):
        rows = []
        for turn in range(game.rounds):
            one, columns = _joint(game, player, turn)
            rows.append(one)
            parts[player, turn] = columns
        tables.append(rows)
    plain = BucketGame.build(game.definition, tables, game.bets, game.name, tilt=game.tilt)
    weights = np.zeros(plain.num_entries, strategy.weights.dtype)
    for node in np.flatnonzero(plain.free).tolist():
        player, turn = int(game.tree.player[node]), int(game.tree.round[node])
        zone = 0 if game.zone is None else int(game.zone[node])
        slot, own = plain.slot_of(node), game.slot_of(node)
        step = np.arange(int(game.tree.num_children[node]))
        bucket = parts[player, turn][zone]
        new = plain.slot_start[slot] + np.arange(len(bucket)) * plain.slot_width[slot] + int(plain.node_offset[node])
        old = game.slot_start[own] + bucket * game.slot_width[own] + int(game.node_offset[node])
        weights[new[:, None] + step] = strategy.weights[old[:, None] + step]
    return BucketStrategy.of_game(plain, weights, strategy.provenance)


def _joint(game: BucketGame, player: int, turn: int) -> tuple[BucketTable, dict[int, Int64]]:
    """The joint buckets of a player in a round, and in each part that matters the bucket of each of them."""
    slots = [(zone * game.rounds + turn) * game.players + player for zone in range(len(game.zone_buckets))]
    zones = [zone for zone, slot in enumerate(slots) if game.slot_width[slot]] or [0]
    each = [game.zone_buckets[zone][player] for zone in zones]
    same = {tuple(tables[turn].shape) for tables in each}
    shape = tuple(each[0][turn].shape)
    if len(same) > 1 or any(tables[turn].cuts is not None for tables in each):
        shape = deck_shape(game.definition)[1][: turn + 1]
    size = hand_indexer(shape, game.definition.ranks, game.definition.suits).size()
    check_memory(f"joint buckets of {size:,} hands", 8 * size * (len(zones) + 3), None, "play matches instead")
    columns = [_buckets(game, tables, turn, shape, size) for tables in each]
    joint = np.zeros(size, np.int64)
    for column in columns:
        _, joint = np.unique(joint * (int(column.max(initial=0)) + 1) + column, return_inverse=True)
    _, first = np.unique(joint, return_index=True)
    found = BucketTable(shape, len(first), joint.astype(np.int32))
    return found, {zone: column[first] for zone, column in zip(zones, columns, strict=True)}


def _buckets(
    game: BucketGame, tables: tuple[RoundBuckets, ...], turn: int, shape: tuple[int, ...], size: int
) -> Int64:  # fmt: skip
    """The bucket of every hand of a round, by its index in a shape."""
    table, rules = tables[turn], game.definition
    if tuple(table.shape) == shape and table.cuts is None:
        return np.asarray(look_up(table, np.arange(size), None), np.int64)
    hands = hand_indexer(shape, rules.ranks, rules.suits).hands(np.arange(size))
    found: Int64 = np.zeros(size, np.int64)
    for one, end in zip(tables[: turn + 1], rules.board_ends, strict=False):
        indexer = hand_indexer(tuple(one.shape), rules.ranks, rules.suits)
        found = np.asarray(look_up(one, indexer.indices(hands[:, : rules.hole_cards + end]), found), np.int64)
    return found
