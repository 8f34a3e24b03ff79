"""Deals of poker in batches, for walks over a betting tree: cards, buckets of hands, and the order at a showdown.

A deal becomes a row of numbers, one for each slot of the betting tree (``counterplay.kernels.walks``): for the
decisions of a player in a round, where the table rows of his bucket begin; for showdowns, the order of the hands.
"""

from __future__ import annotations

import numpy as np

from counterplay.kernels.jit import kernel
from counterplay.kernels.walks import draw, i64


@kernel
def deal_cards(
    deck: np.ndarray,  # IN  (D,) uint8: the cards, each once
    state: np.ndarray,  # IN OUT (1,) uint64: of the random numbers
    stock: np.ndarray,  # scratch (D,) uint8
    dealt: np.ndarray,  # OUT (N, K) uint8
) -> None:
    """Deal K cards N times, each time from the whole deck."""
    size = len(deck)
    local = state.copy()  # a cache line of its own
    for hand in range(dealt.shape[0]):
        for place in range(size):
            stock[place] = deck[place]
        for place in range(dealt.shape[1]):
            pick = place + i64(draw(local) * (size - place))
            card = stock[pick]
            stock[pick] = stock[place]
            dealt[hand, place] = card
    state[0] = local[0]


@kernel
def gather_hands(
    dealt: np.ndarray,  # IN  (N, K) uint8: the hole cards of all players, then the board
    own: int,  # IN  where a player's hole cards begin
    hole: int,  # IN  how many there are
    board: int,  # IN  where the board begins
    hands: np.ndarray,  # OUT (N, n) uint8: the hole cards, then as much of the board as there is place for
) -> None:
    """What one player sees of each deal."""
    for hand in range(hands.shape[0]):
        for place in range(hole):
            hands[hand, place] = dealt[hand, own + place]
        for place in range(hole, hands.shape[1]):
            hands[hand, place] = dealt[hand, board + place - hole]


@kernel
def gather_board(
    card: np.ndarray,  # IN  (N, 2) uint8: hole cards
    board: np.ndarray,  # IN  (b,) uint8: the whole board
    hole: int,  # IN  how many hole cards there are
    hands: np.ndarray,  # OUT (N, n) uint8: the hole cards, then as much of the board as there is place for
) -> None:
    """What players with different hole cards see of one board."""
    for hand in range(hands.shape[0]):
        for place in range(hole):
            hands[hand, place] = card[hand, place]
        for place in range(hole, hands.shape[1]):
            hands[hand, place] = board[place - hole]


@kernel
def look_up(
    index: np.ndarray,  # IN  (N,) int64: the number of each hand
    table: np.ndarray | None,  # IN  the class of each number; None where each is a class of its own
    cuts: np.ndarray | None,  # IN  the bucket by the bucket before and the class; None where classes are buckets
    bucket: np.ndarray,  # IN OUT (N,) int64: the buckets of the round before, then of this one
) -> None:
    """The buckets of hands."""
    for hand in range(len(index)):
        found = index[hand]
        if table is not None:
            found = i64(table[found])
        if cuts is not None:
            found = i64(cuts[bucket[hand], found])
        bucket[hand] = found


@kernel
def shift_buckets(
    index: np.ndarray,  # IN  (N,) int64: the number of each hand
    table: np.ndarray | None,  # IN  the class of each number; None where each is a class of its own
    cuts: np.ndarray | None,  # IN  the bucket by the bucket before and the class; None where classes are buckets
    start: int,  # IN  the first entry of the slot
    width: int,  # IN  entries of a bucket
    slot: int,  # IN
    bucket: np.ndarray,  # IN OUT (N,) int64: the buckets of the round before, then of this one
    shift: np.ndarray,  # OUT (N, S) int64: of which one column is filled
) -> None:
    """The buckets of hands, and where their entries begin."""
    look_up(index, table, cuts, bucket)
    for hand in range(len(index)):
        shift[hand, slot] = start + bucket[hand] * width


@kernel
def shift_showdowns(
    rank: np.ndarray,  # IN  (n, N) uint16: the ranks of the players' hands
    codes: np.ndarray,  # IN  (n**n,) int16: the number of an order, see below
    slot: int,  # IN
    shift: np.ndarray,  # OUT (N, S) int64: of which one column is filled
) -> None:
    """The order of the hands of each deal; it is looked up by how many hands each of them beats."""
    players = rank.shape[0]
    for hand in range(rank.shape[1]):
        key = i64(0)
        for one in range(players - 1, -1, -1):
            beaten = i64(0)
            for other in range(players):
                beaten += rank[other, hand] < rank[one, hand]
            key = key * players + beaten
        shift[hand, slot] = i64(codes[key])
