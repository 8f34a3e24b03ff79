"""Ranking hands of one to seven cards in batches, and counting all hands of a deck by their rank.

A hand's *key* is the sum of its cards' keys.  It holds the hand's ranks as two numbers in base 5, one for the lower
seven ranks and one for the higher six, and the number of cards of each suit.  Where no suit has five cards, the two
numbers select the place of the hand's ranks in a table; where one has, the set of its ranks selects the place in
another.  With at most seven cards nothing that a flush could be beaten by fits beside it.  The tables are made in
``counterplay.poker.evaluator``, which describes their layout.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.kernels.jit import kernel
from counterplay.kernels.numba_internals import count_bits, lowest_bit

LOW_BITS = 17
"""The lower ranks' number takes the bits 0 .. 16 of a key; seven deuces would still fit."""
HIGH_BITS = 14
"""The higher ranks' number takes the bits 17 .. 30."""
SUIT_SHIFT = 32
"""Each suit's count takes four bits from here."""
LOW_MASK = (1 << LOW_BITS) - 1
HIGH_MASK = (1 << HIGH_BITS) - 1
NO_CARDS = 0x3333 << SUIT_SHIFT
"""The key of no cards: counts start at 3, so that the fifth card of a suit sets the highest bit of its count."""
FLUSH = 0x8888 << SUIT_SHIFT


class HandTables(NamedTuple):
    """What ranking looks up."""

    card_key: np.ndarray  # (64,) int64: the key of each card; the rest is padding
    low_place: np.ndarray  # (2**17,) uint16: place of the lower ranks among those of as many or fewer cards
    high_place: np.ndarray  # (2**14,) int32: where the ranks begin that share the higher ones
    ranks_rank: np.ndarray  # uint16: the rank of a hand by its ranks alone
    suited_rank: np.ndarray  # (2**13,) uint16: the rank of five to seven cards of one suit, by the set of their ranks


@kernel
def rank_by_key(tables: HandTables, key: int) -> Any:
    """The rank of a hand without a flush, from its key."""
    low = tables.low_place[np.uint64(key & LOW_MASK)]
    high = tables.high_place[np.uint64((key >> LOW_BITS) & HIGH_MASK)]
    return tables.ranks_rank[np.uint64(high + low)]


@kernel
def rank_flush(tables: HandTables, key: int, cards: np.uint64) -> Any:
    """The rank of a hand with a flush, from its key and the set of its cards."""
    suit = (lowest_bit(np.uint64(key & FLUSH)) - SUIT_SHIFT) >> 2
    same = (cards >> np.uint64(suit)) & np.uint64(0x1111111111111)
    ranks = np.uint64(0)
    while same:
        ranks |= np.uint64(1) << np.uint64(lowest_bit(same) >> 2)
        same &= same - np.uint64(1)
    return tables.suited_rank[ranks]


@kernel
def rank_hands(
    tables: HandTables,  # IN
    hands: np.ndarray,  # IN  (N, n) uint8: n cards of each hand, all below 64
    rank: np.ndarray,  # OUT (N,) uint16
) -> int:
    """Rank hands of the same number of cards; the number of the first hand with a card twice, or -1."""
    size = hands.shape[1]
    wrong = -1
    for hand in range(hands.shape[0]):
        key = NO_CARDS
        cards = np.uint64(0)
        if size == 7:  # of a length known beforehand, the loop is unrolled
            for place in range(7):
                card = np.uint64(hands[hand, place])
                key += tables.card_key[card]
                cards |= np.uint64(1) << card
        else:
            for place in range(size):
                card = np.uint64(hands[hand, place])
                key += tables.card_key[card]
                cards |= np.uint64(1) << card
        if count_bits(cards) != size and wrong < 0:
            wrong = hand
        rank[hand] = rank_flush(tables, key, cards) if key & FLUSH else rank_by_key(tables, key)
    return wrong


@kernel
def rank_holes(
    tables: HandTables,  # IN
    board: np.ndarray,  # IN  (b,) uint8: cards that all hands have
    holes: np.ndarray,  # IN  (N, n) uint8: what else each hand has; b + n is at most 7
    rank: np.ndarray,  # OUT (N,) uint16: 0 where a card is there twice
) -> None:
    """Rank hands that share a board."""
    size = holes.shape[1]
    board_key = NO_CARDS
    board_cards = np.uint64(0)
    for place in range(len(board)):
        card = np.uint64(board[place])
        board_key += tables.card_key[card]
        board_cards |= np.uint64(1) << card
    for hand in range(holes.shape[0]):
        key, cards = board_key, board_cards
        for place in range(size):
            card = np.uint64(holes[hand, place])
            key += tables.card_key[card]
            cards |= np.uint64(1) << card
        if count_bits(cards) != len(board) + size:
            rank[hand] = 0
        else:
            rank[hand] = rank_flush(tables, key, cards) if key & FLUSH else rank_by_key(tables, key)


@kernel
def rank_boards(
    tables: HandTables,  # IN
    boards: np.ndarray,  # IN  (B, b) uint8: cards that all hands have
    holes: np.ndarray,  # IN  (N, n) uint8: what else each hand has; b + n is at most 7
    rank: np.ndarray,  # OUT (B, N) uint16: 0 where a card is there twice
) -> None:
    """Rank hands on each of several boards."""
    for board in range(len(boards)):
        rank_holes(tables, boards[board], holes, rank[board])


@kernel
def count_hands(
    tables: HandTables,  # IN
    deck: np.ndarray,  # IN  (D,) uint8: the cards, each once
    size: int,  # IN  cards in a hand, at most 7 and at most D
    counts: np.ndarray,  # IN OUT int64: hands of each rank, added to
) -> None:
    """Rank every hand of a deck once; keys and sets of the cards before the last one are kept."""
    chosen = np.zeros(8, dtype=np.int64)  # the last place is what depth -1 means
    keys = np.zeros(8, dtype=np.int64)
    sets = np.zeros(8, dtype=np.uint64)
    keys[0] = NO_CARDS
    depth = 0
    while depth >= 0:
        if chosen[depth] > len(deck) - (size - depth):  # too few cards are left
            depth -= 1
            chosen[depth] += 1
            continue
        if depth < size - 1:
            card = np.uint64(deck[chosen[depth]])
            keys[depth + 1] = keys[depth] + tables.card_key[card]
            sets[depth + 1] = sets[depth] | (np.uint64(1) << card)
            chosen[depth + 1] = chosen[depth] + 1
            depth += 1
            continue
        for last in range(chosen[depth], len(deck)):
            card = np.uint64(deck[last])
            key = keys[depth] + tables.card_key[card]
            if key & FLUSH:
                counts[rank_flush(tables, key, sets[depth] | (np.uint64(1) << card))] += 1
            else:
                counts[rank_by_key(tables, key)] += 1
        depth -= 1
        chosen[depth] += 1
