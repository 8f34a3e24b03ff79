"""How strong hands are against two opponents at once, by exact enumeration.

The two opponents hold any two hands that share no card with ours, the board or each other.  A pair counts 6 if both
hands are weaker than ours, 3 if we split with one of them and 2 if all three are equal: six times the share of the pot.
As in ``card_features`` the hands of a board are sorted once and swept from the weakest up; the pairs among the hands
seen so far are counted by the cards that they hold, with inclusion and exclusion over our own cards.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from counterplay.kernels.cards.card_features import choose_cards, number_holes, sort_ranks
from counterplay.kernels.cards.evaluator import HandTables, rank_holes
from counterplay.kernels.cards.isomorphism import RoundTables
from counterplay.kernels.jit import inlined, kernel


@inlined
def disjoint_pairs(hands: Any, squares: Any, size: Any) -> Any:
    """Pairs of hands without a common card, from their number and the sum of squares of the hands with each card.

    That sum counts a pair of hands once for each card that they share, in both orders, and a hand with itself once for
    each of its cards.
    """
    return (hands * hands - squares + (size - 1) * hands) // 2


@kernel
def count_pairs(
    holes: np.ndarray,  # IN  (N, h) uint8: all hands of a board, of one or two cards
    rank: np.ndarray,  # IN  (N,) uint16
    order: np.ndarray,  # IN  (N,) int32: from the weakest up
    weaker: np.ndarray,  # TMP (65, 64) int32: hands seen by their two cards, in both orders; row 64 by one card
    equal: np.ndarray,  # TMP (65, 64) int32: the same of the hands that are equal to the current one
    won: np.ndarray,  # OUT (N,) int64: six times the pots won from all pairs of opponents
) -> None:
    """The showdown of every hand against every pair of opponents."""
    size = holes.shape[1]
    weaker[:] = 0
    equal[:] = 0
    below = 0
    first = 0
    while first < len(order):
        last = first
        while last < len(order) and rank[order[last]] == rank[order[first]]:
            last += 1
        for place in range(first, last):
            one, two = holes[order[place], 0], holes[order[place], size - 1]
            equal[64, one] += 1
            if size == 2:
                equal[64, two] += 1
                equal[one, two] += 1
                equal[two, one] += 1
        for place in range(first, last):
            hand = order[place]
            one, two = np.int64(holes[hand, 0]), np.int64(holes[hand, size - 1])
            few, same = below - weaker[64, one], last - first - equal[64, one]
            if size == 2:
                few += weaker[one, two] - weaker[64, two]
                same += equal[one, two] - equal[64, two]
            lost, level, both = np.int64(0), np.int64(0), np.int64(0)
            for card in range(64):
                mine = (card == one) | (card == two)
                less = 0 if mine else weaker[64, card] - weaker[one, card] - weaker[two, card]
                tied = 0 if mine else equal[64, card] - equal[one, card] - equal[two, card]
                lost += less * less
                level += tied * tied
                both += (less + tied) * (less + tied)
            beaten = disjoint_pairs(few, lost, size)
            held = disjoint_pairs(few + same, both, size)
            won[hand] = 3 * beaten + 3 * held - disjoint_pairs(same, level, size)
        for place in range(first, last):
            one, two = holes[order[place], 0], holes[order[place], size - 1]
            equal[64, one] = 0
            weaker[64, one] += 1
            if size == 2:
                equal[64, two] = 0
                equal[one, two] = 0
                equal[two, one] = 0
                weaker[64, two] += 1
                weaker[one, two] += 1
                weaker[two, one] += 1
        below += last - first
        first = last


@kernel
def pair_strengths(
    hand_tables: HandTables,  # IN
    tables: RoundTables,  # IN  of hole cards and board
    deck: np.ndarray,  # IN  (D,) uint8
    boards: np.ndarray,  # IN  (M, b) uint8: boards that are compared as they are, one of each class
    orbit: np.ndarray,  # IN  (M,) int64: how many boards the class has
    sizes: np.ndarray,  # IN  (5,) int64: hole cards, hands of a board, hand ranks, pairs of opponents, levels
    strength: np.ndarray,  # OUT uint16, by number: six times the pots won, in steps of a sure win / levels
    deals: np.ndarray,  # IN OUT (levels + 1,) int64: deals of each strength, added to
) -> None:
    """The strength of all hands against two opponents on some boards."""
    sure, levels = 6 * sizes[3], sizes[4]
    holes = np.empty((sizes[1], sizes[0]), dtype=np.uint8)
    rank, order = np.empty(sizes[1], dtype=np.uint16), np.empty(sizes[1], dtype=np.int32)
    start = np.empty(sizes[2] + 1, dtype=np.int32)
    weaker, equal = np.empty((65, 64), dtype=np.int32), np.empty((65, 64), dtype=np.int32)
    won, index = np.empty(sizes[1], dtype=np.int64), np.empty(sizes[1], dtype=np.int64)
    cards = np.empty((sizes[1], sizes[0] + boards.shape[1]), dtype=np.uint8)
    for board in range(len(boards)):
        held = choose_cards(deck, boards[board], sizes[0], holes)
        rank_holes(hand_tables, boards[board], holes[:held], rank[:held])
        sort_ranks(rank[:held], start, order[:held])
        count_pairs(holes[:held], rank[:held], order[:held], weaker, equal, won[:held])
        number_holes(tables, holes[:held], boards[board], cards[:held], index[:held])
        for hand in range(held):
            level = (2 * won[hand] * levels + sure) // (2 * sure)
            strength[index[hand]] = level
            deals[level] += orbit[board]
