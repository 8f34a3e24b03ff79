"""Numbering hands up to a permutation of suits, and hands from their numbers, in batches (Waugh 2013).

All cards of one suit, round by round, make a *suit index* in mixed radix: the first round's set of ranks is the lowest
digit, and each later round's set is numbered among the ranks that the suit has left.  How many cards of the suit came
in each round is the suit's *pattern*.  The suits are sorted by pattern, then by suit index, which forgets their names;
the sorted patterns are the *configuration*, numbered by walking down a table one suit at a time.  Within a
configuration, suits of the same pattern are a multiset of suit indices and numbered as such.  The tables are made in
``counterplay.poker.isomorphism``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.kernels.jit import inlined, kernel, shared
from counterplay.kernels.numba_internals import count_bits, held

INDEX_BITS = 33
"""A suit index needs no more: at most 13! ways to deal the ranks of a suit."""
INDEX_MASK = (1 << INDEX_BITS) - 1
SUIT_MASK = np.uint64((1 << 16) - 1)


class RoundTables(NamedTuple):
    """What numbering the hands of one round looks up.  P patterns, C configurations, T rounds so far."""

    ranks: int  # ranks in the deck
    suits: int  # suits in the deck
    cards: np.ndarray  # (T,) int64: the cards of each round
    choose: np.ndarray  # (14, 14) int64: binomial coefficients
    set_place: np.ndarray  # (2**13,) uint16: the colexicographic place of a set of ranks among those of its size
    set_ranks: np.ndarray  # (14, 1716) uint16: the set of so many ranks at a place
    pattern_counts: np.ndarray  # (P, T) int64: how many cards of a suit came in each round
    pattern_size: np.ndarray  # (P,) int64: how many suit indices there are for a pattern
    # (any, P) int32: the next row from a row with the pattern of the next suit; from the third suit's the configuration
    step: np.ndarray
    configuration: np.ndarray  # (C, 4) int64: the patterns of four suits, falling; empty for suits not in the deck
    alike: np.ndarray  # (C, 4) int64: how many suits have the pattern of a suit, counted from it on
    radix: np.ndarray  # (C, 4) int64: what a suit's part in the number of a hand is multiplied with
    offset: np.ndarray  # (C + 1,) int64: where the numbers of a configuration begin


@inlined
def multisets(kinds: Any, size: Any) -> Any:
    """How many multisets of one to four things of so many kinds there are: C(kinds + size - 1, size)."""
    number = kinds
    number = number * (kinds + 1) // 2 if size > 1 else number
    number = number * (kinds + 2) // 3 if size > 2 else number
    return number * (kinds + 3) // 4 if size > 3 else number


@shared
def index_hands(
    tables: RoundTables,  # IN  of the last round
    hands: np.ndarray,  # IN  (N, n) uint8: the cards of each hand, round by round
    index: np.ndarray,  # OUT (N,) int64
) -> int:
    """Number hands; the row of the first hand with a card twice or outside the deck, or -1.

    A word holds the ranks of all suits, 16 bits for each.
    """
    tables = held(tables)
    rounds = len(tables.cards)
    dealt = np.zeros(rounds, dtype=np.uint64)  # by round, the cards
    packed = np.zeros(rounds, dtype=np.uint64)  # the same with the ranks that the suit has used closed up
    lowest = 13 - tables.ranks
    for hand in range(hands.shape[0]):
        used = np.uint64(0)
        place = np.uint64(0)
        fine: Any = True
        for turn in range(rounds):
            now = np.uint64(0)
            closed = np.uint64(0)
            for _ in range(tables.cards[turn]):
                card = np.int64(hands[hand, place])
                place += np.uint64(1)
                rank, suit = (card >> 2) - lowest, 3 - (card & 3)
                fine &= rank >= 0 and suit < tables.suits
                first = np.uint64(1) << np.uint64(16 * suit)
                bit = first << np.uint64(rank & 15)
                fine &= ((used | now) & bit) == 0
                now |= bit
                closed |= bit >> np.uint64(count_bits(used & (bit - first)))
            used |= now
            dealt[turn], packed[turn] = now, closed
        if not fine:
            return hand
        index[hand] = index_suits(
            tables,
            suit_key(tables, dealt, packed, np.uint64(0)),  # other constants would be compiled for apart
            suit_key(tables, dealt, packed, np.uint64(16)),
            suit_key(tables, dealt, packed, np.uint64(32)),
            suit_key(tables, dealt, packed, np.uint64(48)),
        )
    return -1


@inlined
def suit_key(tables: RoundTables, dealt: np.ndarray, packed: np.ndarray, shift: np.uint64) -> np.uint64:
    """Pattern and index of a suit, from its first bit on, in one word: words compare as suits are sorted."""
    pattern, number, radix, free = np.int64(0), np.int64(0), np.int64(1), tables.ranks
    for turn in range(len(tables.cards)):
        count = count_bits((dealt[turn] >> shift) & SUIT_MASK)
        pattern = pattern * (tables.cards[turn] + 1) + count
        number += radix * tables.set_place[(packed[turn] >> shift) & SUIT_MASK]
        radix *= tables.choose[np.uint64(free), np.uint64(count)]
        free -= count
    return np.uint64((pattern << INDEX_BITS) | number)


@inlined
def index_suits(tables: RoundTables, a: np.uint64, b: np.uint64, c: np.uint64, d: np.uint64) -> Any:
    """The number of a hand from the keys of its suits."""
    a, b = max(a, b), min(a, b)
    c, d = max(c, d), min(c, d)
    a, c = max(a, c), min(a, c)
    b, d = max(b, d), min(b, d)
    b, c = max(b, c), min(b, c)
    shift, mask = np.uint64(INDEX_BITS), np.uint64(INDEX_MASK)
    row = np.uint64(tables.step[np.uint64(0), a >> shift])
    row = np.uint64(tables.step[row, b >> shift])
    row = np.uint64(tables.step[row, c >> shift])
    alike, radix = tables.alike, tables.radix
    number = tables.offset[row]
    number += radix[row, 0] * multisets(np.int64(a & mask), alike[row, 0])
    number += radix[row, 1] * multisets(np.int64(b & mask), alike[row, 1])
    number += radix[row, 2] * multisets(np.int64(c & mask), alike[row, 2])
    return number + radix[row, 3] * np.int64(d & mask)


@inlined
def unindex_suits(
    tables: RoundTables,  # IN
    number: int,  # IN
    suit_index: np.ndarray,  # OUT (4,) int64, falling where patterns are equal
) -> Any:
    """The configuration of a hand and the indices of its suits, from its number."""
    configuration = np.searchsorted(tables.offset, number, side="right") - 1
    left = number - tables.offset[configuration]
    part = left
    for suit in range(4):
        alike = tables.alike[configuration, suit]
        kinds = tables.pattern_size[tables.configuration[configuration, suit]]
        if suit == 0 or tables.alike[configuration, suit - 1] == 1:  # the first of its pattern
            size = multisets(kinds, alike)
            part = left % size
            left //= size
        low, high = 0, kinds - 1
        if alike == 1:
            low = high = part
        while low < high:  # the largest index such that multisets of smaller ones come before the part
            middle = (low + high + 1) // 2
            if multisets(middle, alike) <= part:
                low = middle
            else:
                high = middle - 1
        suit_index[suit] = low
        part -= multisets(low, alike)
    return configuration


@shared
def unindex_hands(
    tables: RoundTables,  # IN  of the last round
    index: np.ndarray,  # IN  (N,) int64, each below the number of hands
    hands: np.ndarray,  # OUT (N, n) uint8: one hand of each class, round by round
) -> None:
    """The hands that have given numbers: the suits are named from spades down as the sorting has put them."""
    tables = held(tables)
    suit_index = np.zeros(4, dtype=np.int64)
    rounds = len(tables.cards)
    place = np.zeros(rounds, dtype=np.int64)
    for hand in range(len(index)):
        configuration = unindex_suits(tables, index[hand], suit_index)
        start = 0
        for turn in range(rounds):
            place[turn] = start
            start += tables.cards[turn]
        for suit in range(tables.suits):
            pattern = tables.configuration[configuration, suit]
            left = suit_index[suit]
            free = (np.int64(1) << tables.ranks) - 1
            free_count = tables.ranks
            for turn in range(rounds):
                count = tables.pattern_counts[pattern, turn]
                if count == 0:
                    continue
                size = tables.choose[free_count, count]
                packed = np.int64(tables.set_ranks[count, left % size])
                left //= size
                free_count -= count
                rank = 13 - tables.ranks
                bit = np.int64(1)
                while packed:  # the ranks that are free take the bits of the packed set in turn
                    if free & bit:
                        if packed & 1:
                            free ^= bit
                            hands[hand, place[turn]] = 4 * rank + 3 - suit
                            place[turn] += 1
                        packed >>= 1
                    bit <<= 1
                    rank += 1


@kernel
def orbit_sizes(
    tables: RoundTables,  # IN
    index: np.ndarray,  # IN  (N,) int64
    size: np.ndarray,  # OUT (N,) int64
) -> None:
    """How many hands share each number: permutations of the suits over those that change nothing."""
    tables = held(tables)
    suit_index = np.zeros(4, dtype=np.int64)
    for hand in range(len(index)):
        configuration = unindex_suits(tables, index[hand], suit_index)
        ways = 1
        run = 0
        for suit in range(tables.suits):
            again = suit > 0 and tables.alike[configuration, suit - 1] > 1 and suit_index[suit] == suit_index[suit - 1]
            run = run + 1 if again else 1
            ways = ways * (suit + 1) // run
        size[hand] = ways
