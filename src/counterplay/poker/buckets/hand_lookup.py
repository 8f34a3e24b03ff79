"""The buckets of many hands at once, on one board or each on its own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from counterplay.kernels.cards.isomorphism import index_hands
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.buckets.round_buckets import RoundBuckets, hand_indexer, look_up


def hand_buckets(
    game: BucketGame, player: int, holes: NDArray[np.uint8], board: NDArray[np.uint8], zone: int = 0
) -> list[NDArray[np.int64]]:
    """The buckets of hands that share a board, in each round that the board reaches; -1 where a card is there twice."""
    rules, tables = game.definition, game.zone_buckets[zone][player]
    found: list[NDArray[np.int64]] = []
    for turn, end in enumerate(rules.board_ends):
        if end > len(board):
            break
        used = np.zeros(256, np.bool_)
        used[board[:end]] = True
        live = np.flatnonzero(~used[holes].any(axis=1))
        hands = np.empty((len(live), holes.shape[1] + end), np.uint8)
        hands[:, : holes.shape[1]], hands[:, holes.shape[1] :] = holes[live], board[:end]
        bucket = np.full(len(holes), -1, np.int64)
        bucket[live] = _buckets(game, tables[turn], hands, found[-1][live] if found else None)
        found.append(bucket)
    return found


def dealt_buckets(game: BucketGame, player: int, cards: NDArray[np.uint8], turn: int) -> NDArray[np.int64]:
    """The buckets of hands in a round, each with its own board: a row of hole cards, then of the board's."""
    rules, tables = game.definition, game.buckets[player]
    found = _buckets(game, tables[0], cards[:, : rules.hole_cards + rules.board_ends[0]], None)
    for number in range(1, turn + 1):
        found = _buckets(game, tables[number], cards[:, : rules.hole_cards + rules.board_ends[number]], found)
    return found


def _buckets(
    game: BucketGame, table: RoundBuckets, hands: NDArray[np.uint8], before: NDArray[np.int64] | None
) -> NDArray[np.int64]:
    """The buckets of hands in a round after those of the round before."""
    rules = game.definition
    index = np.empty(len(hands), np.int64)
    numbering = hand_indexer(tuple(table.shape), rules.ranks, rules.suits).tables()
    index_hands(numbering, np.ascontiguousarray(hands, np.uint8), index)
    return np.asarray(look_up(table, index, before), np.int64)
