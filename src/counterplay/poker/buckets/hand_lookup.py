"""The buckets of many hands on one board at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from counterplay.kernels.cards.isomorphism import index_hands
from counterplay.poker.buckets.bucket_game import BucketGame, hand_indexer, look_up


def hand_buckets(
    game: BucketGame, player: int, holes: NDArray[np.uint8], board: NDArray[np.uint8]
) -> list[NDArray[np.int64]]:
    """The buckets of hands that share a board, in each round that the board reaches."""
    rules = game.definition
    found: list[NDArray[np.int64]] = []
    for table, end in zip(game.buckets[player], rules.board_ends, strict=True):
        if end > len(board):
            break
        hands = np.hstack([holes, np.broadcast_to(board[:end], (len(holes), end))]).astype(np.uint8, order="C")
        index = np.empty(len(hands), np.int64)
        index_hands(hand_indexer(tuple(table.shape), rules.ranks, rules.suits).tables(), hands, index)
        found.append(look_up(table, index, found[-1] if found else None).astype(np.int64))
    return found
