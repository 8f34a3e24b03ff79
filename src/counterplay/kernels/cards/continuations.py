"""What hands are expected to become: sums over the cards to come, by exact enumeration.

Each hand is numbered with each continuation, and what is known of that number is added (Johanson 2016, section 5.2).
All sums are integers, so that equal hands are equal to the last bit, in any order of the work.
"""

from __future__ import annotations

import numpy as np

from counterplay.kernels.cards.card_features import choose_cards
from counterplay.kernels.cards.isomorphism import RoundTables, index_hands, unindex_hands
from counterplay.kernels.jit import kernel


@kernel
def number_continuations(
    tables: RoundTables,  # IN  of the next round
    deck: np.ndarray,  # IN  (D,) uint8
    hand: np.ndarray,  # IN  (n,) uint8: cards so far
    more: int,  # IN  cards of the next round
    sets: np.ndarray,  # TMP (C, more) uint8
    cards: np.ndarray,  # TMP (C, n + more) uint8
    index: np.ndarray,  # OUT (C,) int64
) -> int:
    """The numbers of a hand with each set of cards that may come next; gives how many."""
    found = choose_cards(deck, hand, more, sets)
    for row in range(found):
        for place in range(len(hand)):
            cards[row, place] = hand[place]
        for place in range(more):
            cards[row, len(hand) + place] = sets[row, place]
    index_hands(tables, cards[:found], index[:found])
    return found


@kernel
def fold_strengths(
    now: RoundTables,  # IN  of this round, as hole cards and board
    then: RoundTables,  # IN  of the last round
    deck: np.ndarray,  # IN  (D,) uint8
    span: np.ndarray,  # IN  (4,) int64: first and last number, cards of the last round, continuations
    unit: int,  # IN  the strength of a sure win
    strength: np.ndarray,  # IN  uint16, by number of the last round
    mean: np.ndarray,  # OUT uint64, by number of this round: sum of strengths over the continuations
    square: np.ndarray,  # OUT uint64: sum of their squares
    histogram: np.ndarray,  # OUT (numbers, bins): how many of them fall into each bin
) -> None:
    """Sums over the last cards."""
    first, last, more = span[0], span[1], span[2]
    size = now.cards.sum()
    bins = histogram.shape[1]
    sets = np.empty((span[3], more), dtype=np.uint8)
    cards = np.empty((span[3], size + more), dtype=np.uint8)
    index = np.empty(span[3], dtype=np.int64)
    number = np.empty(1, dtype=np.int64)
    hand = np.empty((1, size), dtype=np.uint8)
    count = np.empty(bins, dtype=np.int64)
    for row in range(first, last):
        number[0] = row
        unindex_hands(now, number, hand)
        found = number_continuations(then, deck, hand[0], more, sets, cards, index)
        total, squares = np.int64(0), np.int64(0)
        count[:] = 0
        for place in range(found):
            value = np.int64(strength[index[place]])
            total += value
            squares += value * value
            count[min(bins - 1, value * bins // unit)] += 1
        mean[row] = total
        square[row] = squares
        for bin_ in range(bins):
            histogram[row, bin_] = count[bin_]


@kernel
def fold_sums(
    now: RoundTables,  # IN  of this round, as hole cards and board
    then: RoundTables,  # IN  of the next round
    deck: np.ndarray,  # IN  (D,) uint8
    span: np.ndarray,  # IN  (5,) int64: first and last number, cards of the next round, continuations, divisor
    mean_then: np.ndarray,  # IN  uint64, by number of the next round
    square_then: np.ndarray,  # IN  uint64
    histogram_then: np.ndarray,  # IN  (numbers, bins)
    mean: np.ndarray,  # OUT uint64, by number of this round
    square: np.ndarray,  # OUT uint64
    histogram: np.ndarray,  # OUT (numbers, bins)
) -> None:
    """Sums over the next cards of sums over all later ones, which meet each set of cards ``divisor`` times."""
    first, last, more, divisor = span[0], span[1], span[2], span[4]
    size = now.cards.sum()
    bins = histogram.shape[1]
    sets = np.empty((span[3], more), dtype=np.uint8)
    cards = np.empty((span[3], size + more), dtype=np.uint8)
    index = np.empty(span[3], dtype=np.int64)
    number = np.empty(1, dtype=np.int64)
    hand = np.empty((1, size), dtype=np.uint8)
    count = np.empty(bins, dtype=np.int64)
    for row in range(first, last):
        number[0] = row
        unindex_hands(now, number, hand)
        found = number_continuations(then, deck, hand[0], more, sets, cards, index)
        total, squares = np.int64(0), np.int64(0)
        count[:] = 0
        for place in range(found):
            at = index[place]
            total += np.int64(mean_then[at])
            squares += np.int64(square_then[at])
            for bin_ in range(bins):
                count[bin_] += np.int64(histogram_then[at, bin_])
        mean[row] = total // divisor
        square[row] = squares // divisor
        for bin_ in range(bins):
            histogram[row, bin_] = count[bin_] // divisor


@kernel
def fold_classes(
    now: RoundTables,  # IN  of this round
    then: RoundTables,  # IN  of the next round
    deck: np.ndarray,  # IN  (D,) uint8
    span: np.ndarray,  # IN  (4,) int64: first and last number, cards of the next round, continuations
    table: np.ndarray,  # IN  integers, by number of the next round: its class
    count: np.ndarray,  # OUT (numbers, classes), all 0: how many continuations lead into each class
) -> None:
    """Transition counts from each hand into the classes of the next round."""
    first, last, more = span[0], span[1], span[2]
    size = now.cards.sum()
    sets = np.empty((span[3], more), dtype=np.uint8)
    cards = np.empty((span[3], size + more), dtype=np.uint8)
    index = np.empty(span[3], dtype=np.int64)
    number = np.empty(1, dtype=np.int64)
    hand = np.empty((1, size), dtype=np.uint8)
    for row in range(first, last):
        number[0] = row
        unindex_hands(now, number, hand)
        found = number_continuations(then, deck, hand[0], more, sets, cards, index)
        for place in range(found):
            count[row, table[index[place]]] += 1


@kernel
def count_classes(
    now: RoundTables,  # IN  of this round, as hole cards and board
    ordered: RoundTables,  # IN  of this round, round by round
    then: RoundTables,  # IN  of the next round, as hole cards and board
    deck: np.ndarray,  # IN  (D,) uint8
    span: np.ndarray,  # IN  (4,) int64: first and last number, cards of the next round, continuations
    arrangement: np.ndarray,  # IN  (A, n) int64: the ways in which the board may have come, as places of its cards
    orbit: np.ndarray,  # IN  int64: how many hands share a number of this round
    bucket: np.ndarray,  # IN  integers, by ordered number: the bucket of this round
    table: np.ndarray,  # IN  integers, by number of the next round: its class
    count: np.ndarray,  # IN OUT (buckets, classes) int64: deals that fall into a bucket and then into a class
) -> None:
    """How the hands of each bucket spread over the classes of the next round."""
    first, last, more = span[0], span[1], span[2]
    size = now.cards.sum()
    sets = np.empty((span[3], more), dtype=np.uint8)
    cards = np.empty((span[3], size + more), dtype=np.uint8)
    index = np.empty(span[3], dtype=np.int64)
    number = np.empty(1, dtype=np.int64)
    hand = np.empty((1, size), dtype=np.uint8)
    ways = np.empty((len(arrangement), size), dtype=np.uint8)
    way_index = np.empty(len(arrangement), dtype=np.int64)
    for row in range(first, last):
        number[0] = row
        unindex_hands(now, number, hand)
        found = number_continuations(then, deck, hand[0], more, sets, cards, index)
        for way in range(len(arrangement)):
            for place in range(size):
                ways[way, place] = hand[0, arrangement[way, place]]
        index_hands(ordered, ways, way_index)
        for way in range(len(arrangement)):
            row_of = bucket[way_index[way]]
            for place in range(found):
                count[row_of, table[index[place]]] += orbit[row]


@kernel
def project_hands(
    now: RoundTables,  # IN  the numbers given
    then: RoundTables,  # IN  the numbers wanted, of the same cards or some that lie side by side
    skip: int,  # IN  how many cards come before them
    first: int,  # IN
    last: int,  # IN
    number: np.ndarray,  # OUT (N,) integers
) -> None:
    """The numbers of the same hands in another shape."""
    step = 4096
    size = now.cards.sum()
    wanted = then.cards.sum()
    hands = np.empty((step, size), dtype=np.uint8)
    cards = np.empty((step, wanted), dtype=np.uint8)
    start = first
    while start < last:
        end = min(last, start + step)
        count = end - start
        unindex_hands(now, np.arange(start, end), hands[:count])
        part = np.empty(count, dtype=np.int64)
        for place in range(count):
            for card in range(wanted):
                cards[place, card] = hands[place, skip + card]
        index_hands(then, cards[:count], part)
        for place in range(count):
            number[start + place] = part[place]
        start = end
