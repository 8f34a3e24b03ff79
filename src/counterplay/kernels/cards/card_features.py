"""How strong hands are at the showdown, by exact enumeration.

Opponents hold any hand that shares no card with ours and the board.  All hands of a board are ranked and sorted once; a
sweep from the weakest up counts how many are weaker, with inclusion and exclusion over our own cards (Johanson 2016,
sections 2.4 and 5.2), so that a board costs O(hands).  All sums are integers, so that equal hands are equal to the
last bit, in any order of the work.  Earlier rounds are in ``kernels.cards.continuations``;
``abstraction.cards.features`` explains the numbers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.kernels.cards.evaluator import HandTables, rank_holes
from counterplay.kernels.cards.isomorphism import RoundTables, index_hands
from counterplay.kernels.jit import kernel


@kernel
def choose_cards(
    deck: np.ndarray,  # IN  (D,) uint8
    gone: np.ndarray,  # IN  (g,) uint8: cards that are out
    size: int,  # IN  cards in a set, 0 or more
    sets: np.ndarray,  # OUT (any, size) uint8: every set of so many cards that are left, in the order of the deck
) -> int:
    """All sets of cards that are left; gives how many."""
    left = np.empty(len(deck), dtype=np.uint8)
    total = 0
    for card in deck:
        out = False
        for other in gone:
            out |= card == other
        if not out:
            left[total] = card
            total += 1
    chosen = np.arange(size)
    found = 0
    while size <= total:
        for place in range(size):
            sets[found, place] = left[chosen[place]]
        found += 1
        place = size - 1
        while place >= 0 and chosen[place] == total - size + place:
            place -= 1
        if place < 0:
            break
        chosen[place] += 1
        for after in range(place + 1, size):
            chosen[after] = chosen[after - 1] + 1
    return found


@kernel
def slot_of(holes: np.ndarray, hand: int) -> Any:
    """Hole cards as the digits of one number."""
    slot = np.int64(0)
    for card in holes[hand]:
        slot = 64 * slot + card
    return slot


@kernel
def sort_ranks(
    rank: np.ndarray,  # IN  (N,) uint16
    start: np.ndarray,  # TMP (ranks + 1,) int32
    order: np.ndarray,  # OUT (N,) int32: the hands from the weakest up, equal ones in their order
) -> None:
    """Sort by counting."""
    start[:] = 0
    for hand in range(len(rank)):
        start[np.int64(rank[hand]) + 1] += 1
    for value in range(1, len(start)):
        start[value] += start[value - 1]
    for hand in range(len(rank)):
        order[start[rank[hand]]] = hand
        start[rank[hand]] += 1


@kernel
def add_opponents(
    holes: np.ndarray,  # IN  (N, h) uint8
    hand: int,  # IN  ours
    mine: int,  # IN  our hand's own cluster if it is among those counted, -1 if not
    total: np.ndarray,  # IN  (K,) int32: hands counted, by cluster
    one: np.ndarray,  # IN  (64, K) int32: those with a card
    two: np.ndarray,  # IN  (64, 64, K) int32: those with two cards; read for three hole cards only
    count: np.ndarray,  # IN OUT (K,) int64: those that share no card with ours are added
) -> None:
    """Inclusion and exclusion over our one to three cards."""
    size = holes.shape[1]
    for cluster in range(len(total)):
        left = total[cluster]
        for place in range(size):
            left -= one[holes[hand, place], cluster]
        if size == 3:
            for place in range(3):
                left += two[holes[hand, place], holes[hand, (place + 1) % 3], cluster]
        count[cluster] += left
    if mine >= 0 and size > 1:  # our own hand has all our cards
        count[mine] += 1 if size == 2 else -1


@kernel
def count_weaker(
    holes: np.ndarray,  # IN  (N, h) uint8: all hands of a board
    rank: np.ndarray,  # IN  (N,) uint16
    order: np.ndarray,  # IN  (N,) int32: from the weakest up
    cluster: np.ndarray,  # IN  (N,) uint8: which cluster of opponents a hand belongs to, below K
    total: np.ndarray,  # TMP (K,) int32
    one: np.ndarray,  # TMP (64, K) int32
    two: np.ndarray,  # TMP (64, 64, K) int32
    wins: np.ndarray,  # OUT (N, K) int64: twice the weaker opponents of a cluster and once the equal ones
    mass: np.ndarray,  # OUT (N, K) int64: the opponents of a cluster
) -> None:
    """The showdown of every hand against every cluster of opponents."""
    size = holes.shape[1]
    total[:] = 0
    one[:] = 0
    if size == 3:
        two[:] = 0
    wins[: len(order)] = 0
    mass[: len(order)] = 0
    first = 0
    while first < len(order):
        last = first
        while last < len(order) and rank[order[last]] == rank[order[first]]:
            last += 1
        for place in range(first, last):
            add_opponents(holes, order[place], -1, total, one, two, wins[order[place]])
        for place in range(first, last):
            hand = order[place]
            mine = cluster[hand]
            total[mine] += 1
            for card in holes[hand]:
                one[card, mine] += 1
            if size == 3:
                for card in holes[hand]:
                    for other in holes[hand]:
                        two[card, other, mine] += 1
        for place in range(first, last):
            hand = order[place]
            add_opponents(holes, hand, cluster[hand], total, one, two, wins[hand])
        first = last
    for hand in range(len(order)):
        add_opponents(holes, hand, cluster[hand], total, one, two, mass[hand])


class Showdown(NamedTuple):
    """Memory for the showdown of one board.  N hands at most, h hole cards, K clusters of opponents."""

    holes: np.ndarray  # (N, h) uint8: all hands of the board
    rank: np.ndarray  # (N,) uint16
    order: np.ndarray  # (N,) int32: from the weakest up
    start: np.ndarray  # (ranks + 1,) int32
    cluster: np.ndarray  # (N,) uint8: the cluster of each hand
    total: np.ndarray  # (K,) int32: hands counted
    one: np.ndarray  # (64, K) int32: by a card
    two: np.ndarray  # (64, 64, K) int32: by two cards
    wins: np.ndarray  # (N, K) int64: twice the weaker opponents of a cluster and once the equal ones
    mass: np.ndarray  # (N, K) int64: the opponents of a cluster


@kernel
def showdown_memory(hole_size: int, most: int, ranks: int, clusters: int) -> Showdown:
    """Memory for boards with at most so many hands."""
    return Showdown(
        np.empty((most, hole_size), dtype=np.uint8),
        np.empty(most, dtype=np.uint16),
        np.empty(most, dtype=np.int32),
        np.empty(ranks + 1, dtype=np.int32),
        np.zeros(most, dtype=np.uint8),
        np.empty(clusters, dtype=np.int32),
        np.empty((64, clusters), dtype=np.int32),
        np.empty((64 if hole_size == 3 else 1, 64, clusters), dtype=np.int32),
        np.empty((most, clusters), dtype=np.int64),
        np.empty((most, clusters), dtype=np.int64),
    )


@kernel
def hold_showdown(
    hand_tables: HandTables,  # IN
    deck: np.ndarray,  # IN  (D,) uint8
    board: np.ndarray,  # IN  (b,) uint8: a whole board
    cluster_of: np.ndarray,  # IN  (64 ** h,) uint8: the cluster of hole cards, by their cards as digits; () for one
    memory: Showdown,  # OUT
) -> int:
    """All hands of a board against all clusters; gives how many hands there are."""
    held = choose_cards(deck, board, memory.holes.shape[1], memory.holes)
    holes, rank, order = memory.holes[:held], memory.rank[:held], memory.order[:held]
    rank_holes(hand_tables, board, holes, rank)
    sort_ranks(rank, memory.start, order)
    if len(cluster_of):
        for hand in range(held):
            memory.cluster[hand] = cluster_of[slot_of(holes, hand)]
    count_weaker(
        holes, rank, order, memory.cluster, memory.total, memory.one, memory.two, memory.wins, memory.mass
    )  # fmt: skip
    return held


@kernel
def number_holes(
    tables: RoundTables,  # IN  of hole cards and board
    holes: np.ndarray,  # IN  (N, h) uint8
    board: np.ndarray,  # IN  (b,) uint8
    cards: np.ndarray,  # TMP (N, h + b) uint8
    index: np.ndarray,  # OUT (N,) int64
) -> None:
    """The numbers of hands that share a board."""
    size = holes.shape[1]
    for hand in range(len(holes)):
        for place in range(size):
            cards[hand, place] = holes[hand, place]
        for place in range(len(board)):
            cards[hand, size + place] = board[place]
    index_hands(tables, cards, index)


@kernel
def showdown_strengths(
    hand_tables: HandTables,  # IN
    tables: RoundTables,  # IN  of hole cards and board
    deck: np.ndarray,  # IN  (D,) uint8
    boards: np.ndarray,  # IN  (M, b) uint8: boards that are compared as they are, one of each class
    orbit: np.ndarray,  # IN  (M,) int64: how many boards the class has
    sizes: np.ndarray,  # IN  (3,) int64: hole cards, hands of a board, hand ranks
    strength: np.ndarray,  # OUT uint16, by number: twice the weaker opponents and once the equal ones
    deals: np.ndarray,  # IN OUT (unit + 1,) int64: deals of each strength, added to
) -> None:
    """The strength of all hands on some boards."""
    memory = showdown_memory(sizes[0], sizes[1], sizes[2], 1)
    everybody = np.empty(0, dtype=np.uint8)
    cards = np.empty((sizes[1], sizes[0] + boards.shape[1]), dtype=np.uint8)
    index = np.empty(sizes[1], dtype=np.int64)
    for board in range(len(boards)):
        held = hold_showdown(hand_tables, deck, boards[board], everybody, memory)
        number_holes(tables, memory.holes[:held], boards[board], cards[:held], index[:held])
        for hand in range(held):
            strength[index[hand]] = memory.wins[hand, 0]
            deals[memory.wins[hand, 0]] += orbit[board]


@kernel
def cluster_strengths(
    hand_tables: HandTables,  # IN
    tables: RoundTables,  # IN  of hole cards and the board so far
    deck: np.ndarray,  # IN  (D,) uint8
    boards: np.ndarray,  # IN  (M, b) uint8: boards so far
    sizes: np.ndarray,  # IN  (5,) int64: hole cards, hands of a board, hand ranks, cards to come, continuations
    cluster_of: np.ndarray,  # IN  (64 ** h,) uint8: the cluster of hole cards, by their cards as digits
    levels: float,  # IN  what a sure win is written as
    half: float,  # IN  added before it is cut to the type of the output: 0.5 rounds
    value: np.ndarray,  # OUT (numbers, K): chance of winning against each cluster, ties half
) -> None:
    """The strength of all hands on some boards against each cluster, over all continuations of the board."""
    hole_size, clusters = sizes[0], value.shape[1]
    memory = showdown_memory(hole_size, sizes[1], sizes[2], clusters)
    cards = np.empty((sizes[1], hole_size + boards.shape[1]), dtype=np.uint8)
    index = np.empty(sizes[1], dtype=np.int64)
    wins = np.zeros((64**hole_size, clusters), dtype=np.int64)
    mass = np.zeros((64**hole_size, clusters), dtype=np.int64)
    rest = np.empty((sizes[4], sizes[3]), dtype=np.uint8)
    whole = np.empty(boards.shape[1] + sizes[3], dtype=np.uint8)
    for board in range(len(boards)):
        wins[:] = 0
        mass[:] = 0
        whole[: boards.shape[1]] = boards[board]
        for more in range(choose_cards(deck, boards[board], sizes[3], rest)):
            whole[boards.shape[1] :] = rest[more]
            for hand in range(hold_showdown(hand_tables, deck, whole, cluster_of, memory)):
                slot = slot_of(memory.holes, hand)
                for group in range(clusters):
                    wins[slot, group] += memory.wins[hand, group]
                    mass[slot, group] += memory.mass[hand, group]
        held = choose_cards(deck, boards[board], hole_size, memory.holes)
        number_holes(tables, memory.holes[:held], boards[board], cards[:held], index[:held])
        for hand in range(held):
            slot = slot_of(memory.holes, hand)
            for group in range(clusters):
                against = mass[slot, group]
                won = wins[slot, group] / (2.0 * against) if against else 0.5  # no such opponent: neither
                value[index[hand], group] = levels * won + half


@kernel
def start_strengths(
    hand_tables: HandTables,  # IN
    deck: np.ndarray,  # IN  (D,) uint8
    boards: np.ndarray,  # IN  (M, b) uint8: whole boards, one of each class
    orbit: np.ndarray,  # IN  (M,) int64: how many boards the class has
    sizes: np.ndarray,  # IN  (3,) int64: hole cards, hands of a board, hand ranks
    cluster_of: np.ndarray,  # IN  (64 ** h,) uint8: the cluster of hole cards, by their cards as digits
    unit: int,  # IN  the strength of a sure win
    wins: np.ndarray,  # IN OUT (64 ** h, K) int64: by hole cards, added to
    mass: np.ndarray,  # IN OUT (64 ** h, K) int64
    histogram: np.ndarray,  # IN OUT (64 ** h, bins) int64: boards by the bin of the strength
) -> None:
    """The strength of starting hands against each cluster and all, over all boards.

    Hands that differ in suits only are of one class; only their sums over the class are those of all boards.
    """
    memory = showdown_memory(sizes[0], sizes[1], sizes[2], wins.shape[1])
    bins = histogram.shape[1]
    for board in range(len(boards)):
        for hand in range(hold_showdown(hand_tables, deck, boards[board], cluster_of, memory)):
            slot = slot_of(memory.holes, hand)
            strength = np.int64(0)
            for group in range(wins.shape[1]):
                strength += memory.wins[hand, group]
                wins[slot, group] += orbit[board] * memory.wins[hand, group]
                mass[slot, group] += orbit[board] * memory.mass[hand, group]
            histogram[slot, min(bins - 1, strength * bins // unit)] += orbit[board]
