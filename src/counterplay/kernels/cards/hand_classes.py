"""The hands that can be held at many boards: ranked, put in the order of their ranks, and taken together in classes.

What ``counterplay.poker.board_tree`` does for one board after the other, for all boards of a part of the game in one
call; see there, and ``Hands``, for the meaning of the arrays.  Everybody can hold every hand here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.kernels.cards.evaluator import FLUSH, NO_CARDS, HandTables, rank_by_key, rank_flush
from counterplay.kernels.jit import kernel

_NONE = 65535
_DIGIT = 7  # bits; ranks have at most two digits


class HandSet(NamedTuple):
    """All hands of a deck.  H hands, G renamings of suits."""

    key: Any  # (H,) int64: the sum of the keys of a hand's cards, see ``counterplay.kernels.cards.evaluator``
    cards: Any  # (H,) uint64: the set of its cards
    image: Any  # (G, H) uint16: the hand that each renaming turns it into
    shown: Any  # (H, 2) uint8: its cards as ``Hands.card`` has them
    real: Any  # (H, 2) uint8: its cards as ``Hands.real_card`` has them


class ClassArrays(NamedTuple):
    """The arrays of ``Hands`` of the same names."""

    start: Any
    parent: Any
    multiplicity: Any
    card: Any
    rank: Any
    real_start: Any
    real_class: Any
    real_rank: Any
    real_card: Any


@kernel
def _sort(hands: np.ndarray, rank: np.ndarray, n: int, other: np.ndarray, count: np.ndarray) -> None:
    """Put the first n hands in the order of their ranks, equal ones as they are: two passes by digits."""
    for shift in (0, _DIGIT):
        count[:] = 0
        for i in range(n):
            count[(rank[hands[i]] >> shift) & ((1 << _DIGIT) - 1)] += 1
        total = 0
        for digit in range(len(count)):
            total, count[digit] = total + count[digit], total
        for i in range(n):
            digit = (rank[hands[i]] >> shift) & ((1 << _DIGIT) - 1)
            other[count[digit]] = hands[i]
            count[digit] += 1
        for i in range(n):  # a slice would bring the message of a wrong length, which takes seconds to compile
            hands[i] = other[i]


@kernel
def class_hands(
    tables: HandTables,  # IN
    hands: HandSet,  # IN
    board: np.ndarray,  # IN  (D, B) uint8: the cards of each board
    board_size: np.ndarray,  # IN  (D,) int64: how many of them
    before: np.ndarray,  # IN  (D,) int32: the board before, -1 for none
    renaming_start: np.ndarray,  # IN  (D+1,) int64
    renaming: np.ndarray,  # IN  int64: the renamings that leave each board as it is
    last: int,  # IN  the first board at which ranks count
    out: ClassArrays,  # OUT
) -> int:
    """The classes of hands at every board; how many there are in all."""
    size = len(hands.key)
    rank = np.zeros(size, np.uint16)
    order, other = np.zeros(size, np.uint16), np.zeros(size, np.uint16)
    count = np.zeros(1 << _DIGIT, np.int64)
    place = np.zeros(size, np.uint16)
    number = np.full((last, size), _NONE, np.uint16)  # the class of each hand at boards with boards after them
    classes, reals = 0, 0
    for deal in range(len(board)):
        key, cards = np.int64(NO_CARDS), np.uint64(0)
        for i in range(board_size[deal]):
            key += tables.card_key[board[deal, i]]
            cards |= np.uint64(1) << np.uint64(board[deal, i])
        n = 0
        for hand in range(size):
            if hands.cards[hand] & cards:
                continue
            order[n] = hand
            n += 1
            if deal >= last:
                whole = key + hands.key[hand]
                if whole & FLUSH:
                    rank[hand] = rank_flush(tables, whole, cards | hands.cards[hand])
                else:
                    rank[hand] = rank_by_key(tables, whole)
        if deal >= last:
            _sort(order, rank, n, other, count)
        first, low, high = classes, renaming_start[deal], renaming_start[deal + 1]
        place[:] = _NONE
        for i in range(n):
            hand = order[i]
            least = hand
            for g in range(low, high):
                least = min(least, hands.image[renaming[g], hand])
            if place[least] == _NONE:
                place[least] = classes - first
                out.parent[classes] = number[before[deal], hand] if before[deal] >= 0 else 0
                out.multiplicity[classes] = 0
                out.card[classes, 0], out.card[classes, 1] = hands.shown[hand, 0], hands.shown[hand, 1]
                out.rank[classes] = rank[hand] if deal >= last else 0
                classes += 1
            own = place[least]
            out.multiplicity[first + own] += 1
            out.real_class[reals] = own
            out.real_rank[reals] = rank[hand] if deal >= last else 0
            out.real_card[reals, 0], out.real_card[reals, 1] = hands.real[hand, 0], hands.real[hand, 1]
            reals += 1
            if deal < last:
                number[deal, hand] = own
        out.start[deal + 1], out.real_start[deal + 1] = classes, reals
    return classes
