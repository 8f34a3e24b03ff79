"""Numbering hands up to a permutation of suits, and hands from their numbers, in batches (Waugh 2013).

All cards of one suit, round by round, make a *suit index* in mixed radix: the first round's set of ranks is the lowest
digit, and each later round's set is numbered among the ranks that the suit has left.  How many cards of the suit came
in each round is the suit's *pattern*.  The suits are sorted by pattern, then by suit index, which forgets their names;
the sorted patterns are the *configuration*, numbered by walking down a table one suit at a time.  Within a
configuration, suits of the same pattern are a multiset of suit indices and numbered as such.  The tables are made in
``counterplay.poker.isomorphism``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from counterplay.kernels.bits import count_bits
from counterplay.kernels.jit import kernel


class RoundTables(NamedTuple):
    """What numbering the hands of one round looks up.  P patterns, C configurations, T rounds so far."""

    ranks: int
    """Ranks in the deck."""
    suits: int
    """Suits in the deck."""
    cards: np.ndarray
    """(T,) int64: the cards of each round."""
    choose: np.ndarray
    """(14, 14) int64: binomial coefficients."""
    set_place: np.ndarray
    """(2**13,) uint16: the place of a set of ranks among those of its size, in colexicographic order."""
    set_ranks: np.ndarray
    """(14, 1716) uint16: the set of so many ranks at a place."""
    pattern_counts: np.ndarray
    """(P, T) int64: how many cards of a suit came in each round."""
    pattern_size: np.ndarray
    """(P,) int64: how many suit indices there are for a pattern."""
    step: np.ndarray
    """(any, P) int32: where a configuration continues after the pattern of its next suit; after all but one of the
    suits, the configuration."""
    configuration: np.ndarray
    """(C, 4) int64: the patterns of the suits, falling; 0 beyond the deck's suits."""
    offset: np.ndarray
    """(C + 1,) int64: where the numbers of a configuration begin."""


@kernel
def multisets(kinds: int, size: int) -> int:
    """How many multisets of one to four things of so many kinds there are: C(kinds + size - 1, size)."""
    if size == 1:
        return kinds
    if size == 2:
        return kinds * (kinds + 1) // 2
    if size == 3:
        return kinds * (kinds + 1) * (kinds + 2) // 6
    return kinds * (kinds + 1) * (kinds + 2) * (kinds + 3) // 24


@kernel
def index_hands(
    tables: RoundTables,  # IN  of the last round
    hands: np.ndarray,  # IN  (N, n) uint8: the cards of each hand, round by round
    index: np.ndarray,  # OUT (N,) int64
) -> int:
    """Number hands; the row of the first hand with a card twice or outside the deck, or -1."""
    now = np.zeros(4, dtype=np.uint64)
    packed = np.zeros(4, dtype=np.uint64)
    used = np.zeros(4, dtype=np.uint64)
    suit_index = np.zeros(4, dtype=np.int64)
    radix = np.zeros(4, dtype=np.int64)
    pattern = np.zeros(4, dtype=np.int64)
    lowest = 13 - tables.ranks
    for hand in range(hands.shape[0]):
        for suit in range(4):
            used[suit], suit_index[suit], radix[suit], pattern[suit] = 0, 0, 1, 0
        place = 0
        fine = True
        for turn in range(len(tables.cards)):
            for suit in range(4):
                now[suit], packed[suit] = 0, 0
            for _ in range(tables.cards[turn]):
                card = np.int64(hands[hand, place])
                place += 1
                rank, suit = (card >> 2) - lowest, 3 - (card & 3)
                if rank < 0 or suit >= tables.suits:
                    fine = False
                    continue
                bit = np.uint64(1) << np.uint64(rank)
                fine &= ((used[suit] | now[suit]) & bit) == 0
                now[suit] |= bit
                below = used[suit] & (bit - np.uint64(1))
                packed[suit] |= bit >> np.uint64(count_bits(below))
            for suit in range(tables.suits):
                count = count_bits(now[suit])
                pattern[suit] = pattern[suit] * (tables.cards[turn] + 1) + count
                if count:
                    suit_index[suit] += radix[suit] * tables.set_place[packed[suit]]
                    radix[suit] *= tables.choose[tables.ranks - count_bits(used[suit]), count]
                    used[suit] |= now[suit]
        index[hand] = index_suits(tables, pattern, suit_index) if fine else -1
        if not fine:
            return hand
    return -1


@kernel
def index_suits(
    tables: RoundTables,  # IN
    pattern: np.ndarray,  # IN OUT (4,) int64: sorted here
    suit_index: np.ndarray,  # IN OUT (4,) int64: sorted along
) -> int:
    """The number of a hand from the patterns and indices of its suits."""
    for last in range(1, tables.suits):  # insertion sort, falling
        one, other = pattern[last], suit_index[last]
        place = last
        while place > 0 and (pattern[place - 1] < one or (pattern[place - 1] == one and suit_index[place - 1] < other)):
            pattern[place], suit_index[place] = pattern[place - 1], suit_index[place - 1]
            place -= 1
        pattern[place], suit_index[place] = one, other
    configuration = 0
    for suit in range(tables.suits - 1):
        configuration = tables.step[configuration, pattern[suit]]
    number = tables.offset[configuration]
    radix = 1
    first = 0
    while first < tables.suits:
        end = first + 1
        while end < tables.suits and pattern[end] == pattern[first]:
            end += 1
        for suit in range(first, end):
            number += radix * multisets(suit_index[suit], end - suit)
        radix *= multisets(tables.pattern_size[pattern[first]], end - first)
        first = end
    return number


@kernel
def unindex_suits(
    tables: RoundTables,  # IN
    number: int,  # IN
    pattern: np.ndarray,  # OUT (4,) int64, falling
    suit_index: np.ndarray,  # OUT (4,) int64, falling where patterns are equal
) -> None:
    """The patterns and indices of a hand's suits from its number."""
    configuration = np.searchsorted(tables.offset, number, side="right") - 1
    left = number - tables.offset[configuration]
    for suit in range(tables.suits):
        pattern[suit] = tables.configuration[configuration, suit]
    first = 0
    while first < tables.suits:
        end = first + 1
        while end < tables.suits and pattern[end] == pattern[first]:
            end += 1
        kinds = tables.pattern_size[pattern[first]]
        size = multisets(kinds, end - first)
        part = left % size
        left //= size
        for suit in range(first, end):  # the largest index whose multisets of smaller ones are not more than the part
            low, high = 0, kinds - 1
            while low < high:
                middle = (low + high + 1) // 2
                if multisets(middle, end - suit) <= part:
                    low = middle
                else:
                    high = middle - 1
            suit_index[suit] = low
            part -= multisets(low, end - suit)
        first = end


@kernel
def unindex_hands(
    tables: RoundTables,  # IN  of the last round
    index: np.ndarray,  # IN  (N,) int64, each below the number of hands
    hands: np.ndarray,  # OUT (N, n) uint8: one hand of each class, round by round
) -> None:
    """The hands that have given numbers: the suits are named from spades down as the sorting has put them."""
    pattern = np.zeros(4, dtype=np.int64)
    suit_index = np.zeros(4, dtype=np.int64)
    rounds = len(tables.cards)
    place = np.zeros(rounds, dtype=np.int64)
    for hand in range(len(index)):
        unindex_suits(tables, index[hand], pattern, suit_index)
        start = 0
        for turn in range(rounds):
            place[turn] = start
            start += tables.cards[turn]
        for suit in range(tables.suits):
            left = suit_index[suit]
            free = (np.int64(1) << tables.ranks) - 1
            free_count = tables.ranks
            for turn in range(rounds):
                count = tables.pattern_counts[pattern[suit], turn]
                size = tables.choose[free_count, count]
                packed = np.int64(tables.set_ranks[count, left % size])
                left //= size
                free_count -= count
                for rank in range(tables.ranks):  # the ranks that are free take the bits of the packed set in turn
                    bit = np.int64(1) << rank
                    if free & bit:
                        if packed & 1:
                            free ^= bit
                            hands[hand, place[turn]] = 4 * (rank + 13 - tables.ranks) + 3 - suit
                            place[turn] += 1
                        packed >>= 1


@kernel
def orbit_sizes(
    tables: RoundTables,  # IN
    index: np.ndarray,  # IN  (N,) int64
    size: np.ndarray,  # OUT (N,) int64
) -> None:
    """How many hands share each number: permutations of the suits over those that change nothing."""
    pattern = np.zeros(4, dtype=np.int64)
    suit_index = np.zeros(4, dtype=np.int64)
    for hand in range(len(index)):
        unindex_suits(tables, index[hand], pattern, suit_index)
        ways = 1
        run = 0
        for suit in range(tables.suits):
            equal = suit > 0 and pattern[suit] == pattern[suit - 1] and suit_index[suit] == suit_index[suit - 1]
            run = run + 1 if equal else 1
            ways = ways * (suit + 1) // run
        size[hand] = ways
