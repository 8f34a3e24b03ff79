"""What each hand wins at a terminal, against a vector of the opponent's reaches, without going through pairs.

Johanson 2016, section 2.4 and 3.3.2.  ``reach[o]`` is the opponent's reach with hand (class) ``o``; ``value[h]`` is
what our hand ``h`` wins against all of them.  Card removal: hands that share a card are not dealt together, which
takes sums by card.  Vectors lie in long arrays and are given by where they begin, as unsigned numbers: views of arrays
and tests for negative indices would cost more than the sums of small games.  Slots 52 and 53 of the sums by card are
for hands of one card: what is added goes to 52, what is read is 53, which stays 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from counterplay.kernels.cards.card_sums import add_hand, of_cards
from counterplay.kernels.jit import apart, inlined
from counterplay.kernels.numba_internals import WIDE, load_row, store_row

CARD_SLOTS = 54
NO_TWIN = 65535


@inlined
def _sum_by_card(
    real_class: np.ndarray, real_card: np.ndarray, low: Any, high: Any, reach: np.ndarray, r: Any, by_card: np.ndarray,
) -> float:  # fmt: skip
    """The opponent's reach with all hands, and in ``by_card`` with those that hold each card; see ``fold_values``."""
    by_card[:CARD_SLOTS] = 0.0
    total = 0.0
    for k in range(low, high):
        mass = reach[r + real_class[k]]
        total += mass
        by_card[real_card[k, 0]] += mass
        by_card[real_card[k, 1]] += mass
    return total


@inlined
def fold_values(
    amount: float,  # IN  what we win by the fold, or lose
    pair_hands: bool,  # IN  hands have two cards
    card: np.ndarray,  # IN  (K, 2) uint8: cards of our hands
    twin: np.ndarray,  # IN  (K,) uint16: the opponent's class with the same hand
    mine: Any,  # IN  where our hands begin in those two
    n: Any,  # IN  number of our hands
    real_class: np.ndarray,  # IN  (R,) uint16: the class of each real hand of the opponent
    real_card: np.ndarray,  # IN  (R, 2) uint8: its cards
    low: Any,  # IN  the opponent's real hands are low ..
    high: Any,  # IN  .. high - 1
    reach: np.ndarray,  # IN  float64
    r: Any,  # IN  where the opponent's reaches begin, by class
    by_card: np.ndarray,  # scratch, at least (54,) float64
    value: np.ndarray,  # OUT float64
    v: Any,  # IN  where our values begin
) -> None:
    """Everything the opponent can hold beside our cards, times an amount."""
    total = _sum_by_card(real_class, real_card, low, high, reach, r, by_card)
    if pair_hands:
        for h in range(n):
            k = mine + h
            mass = total - by_card[card[k, 0]] - by_card[card[k, 1]]
            if twin[k] != NO_TWIN:
                mass += reach[r + twin[k]]  # it was taken off twice
            value[v + h] = amount * mass
    else:
        for h in range(n):
            value[v + h] = amount * (total - by_card[card[mine + h, 0]])


@inlined
def showdown_values(
    stake: float,  # IN  what the winner gets
    card: np.ndarray,  # IN  (K, 2) uint8: cards of our hands
    rank: np.ndarray,  # IN  (K,) uint16: their ranks, ascending
    mine: Any,  # IN  where our hands begin in those two
    n: Any,  # IN  number of our hands
    real_class: np.ndarray,  # IN  (R,) uint16: the class of each real hand of the opponent
    real_rank: np.ndarray,  # IN  (R,) uint16: its rank, ascending
    real_card: np.ndarray,  # IN  (R, 2) uint8: its cards
    low: Any,  # IN  the opponent's real hands are low ..
    high: Any,  # IN  .. high - 1
    reach: np.ndarray,  # IN  float64
    r: Any,  # IN  where the opponent's reaches begin, by class
    by_card: np.ndarray,  # scratch, at least (54,) float64
    value: np.ndarray,  # OUT float64
    v: Any,  # IN  where our values begin
) -> None:
    """Weaker minus stronger hands of the opponent, card removal taken into account; ties win nothing.

    One pass in the order of ranks: what is weaker, plus what is not stronger, minus everything.  A hand that holds the
    same two cards is taken off twice from the second and the third, so that it drops out.
    """
    by_card[:CARD_SLOTS] = 0.0
    total = 0.0
    k = low
    h: Any = np.uint64(0)
    while h < n:
        own = rank[mine + h]
        while k < high and real_rank[k] < own:
            mass = reach[r + real_class[k]]
            total += mass
            by_card[real_card[k, 0]] += mass
            by_card[real_card[k, 1]] += mass
            k += np.uint64(1)
        end = h
        while end < n and rank[mine + end] == own:
            value[v + end] = total - by_card[card[mine + end, 0]] - by_card[card[mine + end, 1]]
            end += np.uint64(1)
        while k < high and real_rank[k] == own:
            mass = reach[r + real_class[k]]
            total += mass
            by_card[real_card[k, 0]] += mass
            by_card[real_card[k, 1]] += mass
            k += np.uint64(1)
        while h < end:
            value[v + h] += total - by_card[card[mine + h, 0]] - by_card[card[mine + h, 1]]
            h += np.uint64(1)
    while k < high:
        mass = reach[r + real_class[k]]
        total += mass
        by_card[real_card[k, 0]] += mass
        by_card[real_card[k, 1]] += mass
        k += np.uint64(1)
    for h in range(n):
        everything = total - by_card[card[mine + h, 0]] - by_card[card[mine + h, 1]]
        value[v + h] = stake * (value[v + h] - everything)


@apart
def pay_fee(
    fee: float, pair_hands: bool, card: np.ndarray, twin: np.ndarray, mine: Any, n: Any, real_class: np.ndarray,
    real_card: np.ndarray, low: Any, high: Any, reach: np.ndarray, r: Any, by_card: np.ndarray, value: np.ndarray,
    v: Any,
) -> None:  # fmt: skip
    """Take a fee from the values of our hands, whoever wins: times everything the opponent can hold beside our cards.

    The other parameters are those of ``fold_values``.  A call, as that of ``tilted_values``: most games have no fees.
    """
    total = _sum_by_card(real_class, real_card, low, high, reach, r, by_card)
    for h in range(n):
        k = mine + h
        mass = total - by_card[card[k, 0]] - by_card[card[k, 1]]
        if pair_hands and twin[k] != NO_TWIN:
            mass += reach[r + twin[k]]  # it was taken off twice
        value[v + h] -= fee * mass


@apart
def tilted_values(
    win: float, loss: float, card: np.ndarray, rank: np.ndarray, mine: Any, n: Any, real_class: np.ndarray,
    real_rank: np.ndarray, real_card: np.ndarray, low: Any, high: Any, reach: np.ndarray, r: Any, by_card: np.ndarray,
    value: np.ndarray, v: Any,
) -> None:  # fmt: skip
    """A showdown at which winner and loser are not paid alike: ``win`` x weaker less ``loss`` x stronger hands.

    The other parameters are those of ``showdown_values``.  A call: in line, it would slow down the usual showdowns.
    Two passes, so that neither has to take off what the same two cards hold: ranks ascending, then descending.
    """
    by_card[:CARD_SLOTS] = 0.0
    total = 0.0
    k = low
    for h in range(n):
        while k < high and real_rank[k] < rank[mine + h]:
            mass = reach[r + real_class[k]]
            total += mass
            by_card[real_card[k, 0]] += mass
            by_card[real_card[k, 1]] += mass
            k += np.uint64(1)
        value[v + h] = win * (total - by_card[card[mine + h, 0]] - by_card[card[mine + h, 1]])
    by_card[:CARD_SLOTS] = 0.0
    total = 0.0
    k = high
    for i in range(n):
        h = n - np.uint64(1) - i
        while k > low and real_rank[k - np.uint64(1)] > rank[mine + h]:
            k -= np.uint64(1)
            mass = reach[r + real_class[k]]
            total += mass
            by_card[real_card[k, 0]] += mass
            by_card[real_card[k, 1]] += mass
        value[v + h] -= loss * (total - by_card[card[mine + h, 0]] - by_card[card[mine + h, 1]])


@inlined
def row_values(
    showdowns: bool,  # IN  some of the terminals are showdowns
    card: np.ndarray,  # IN  (K, 2) uint8: cards of our hands
    rank: np.ndarray,  # IN  (K,) uint16: their ranks, ascending
    twin: np.ndarray,  # IN  (K,) uint16: the opponent's class with the same hand
    mine: Any,  # IN  where our hands begin in those three
    n: Any,  # IN  number of our hands
    real_class: np.ndarray,  # IN  (R,) uint16: the class of each real hand of the opponent
    real_rank: np.ndarray,  # IN  (R,) uint16: its rank, ascending
    real_card: np.ndarray,  # IN  (R, 2) uint8: its cards
    low: Any,  # IN  the opponent's real hands are low ..
    high: Any,  # IN  .. high - 1
    theirs: np.ndarray,  # IN  rows of the opponent's reaches, by class; the row ``none`` is 0
    none: Any,  # IN
    factor: np.ndarray,  # IN  three rows: of weaker less stronger hands, of all hands, of the same hand
    by_card: np.ndarray,  # scratch: a row for each card
    out: np.ndarray,  # OUT rows of values, by hand
) -> None:
    """``WIDE`` terminals of one deal at once, folds and showdowns, one in each lane."""
    wide, one = np.uint64(WIDE), np.uint64(1)
    by_card[:] = 0
    every = load_row(by_card, 0)
    k = low
    h: Any = np.uint64(0)
    while showdowns and h < n:
        own = rank[mine + h]
        while k < high and real_rank[k] < own:
            every = add_hand(load_row(theirs, real_class[k] * wide), real_card, k, by_card, every)
            k += one
        end = h
        while end < n and rank[mine + end] == own:
            store_row(out, end * wide, every - of_cards(card, mine + end, by_card))
            end += one
        while k < high and real_rank[k] == own:
            every = add_hand(load_row(theirs, real_class[k] * wide), real_card, k, by_card, every)
            k += one
        while h < end:
            store_row(out, h * wide, load_row(out, h * wide) + (every - of_cards(card, mine + h, by_card)))
            h += one
    while k < high:
        every = add_hand(load_row(theirs, real_class[k] * wide), real_card, k, by_card, every)
        k += one
    shown, allowed, doubled = load_row(factor, 0), load_row(factor, wide), load_row(factor, 2 * wide)
    for h in range(n):
        same = none if twin[mine + h] == NO_TWIN else np.uint64(twin[mine + h])
        rest = every - of_cards(card, mine + h, by_card)
        store_row(
            out, h * wide, shown * load_row(out, h * wide) + allowed * rest + doubled * load_row(theirs, same * wide)
        )


@inlined
def matrix_values(
    me: int,  # IN  0 or 1
    sign: float,  # IN  1 for player 0, -1 for player 1, times a factor
    matrix: np.ndarray,  # IN  float64: player 0's utility times chance, n0 x n1
    at: Any,  # IN  where it begins
    reach: np.ndarray,  # IN  float64
    r: Any,  # IN  where the opponent's reaches begin
    others: Any,  # IN  hands of the opponent
    value: np.ndarray,  # OUT float64
    v: Any,  # IN  where our values begin
    n: Any,  # IN  number of our hands
) -> None:
    """Every pair of hands: the fallback for any payoffs."""
    if me == 0:
        for h in range(n):
            total = 0.0
            row = at + h * others
            for o in range(others):
                total += matrix[row + o] * reach[r + o]
            value[v + h] = sign * total
    else:
        for h in range(n):
            value[v + h] = 0.0
        for o in range(others):
            mass = sign * reach[r + o]
            row = at + o * n
            for h in range(n):
                value[v + h] += matrix[row + h] * mass


@inlined
def factored_values(
    me: int,  # IN  0 or 1
    sign: float,  # IN
    matrix: np.ndarray,  # IN  float64: player 0's utility by classes of hands, f0 x f1
    at: Any,  # IN  where it begins
    classes: np.ndarray,  # IN  (2, F, H) uint8: what of each hand matters here
    row: int,  # IN  the row of those
    own_count: int,  # IN  how many classes we have
    other_count: int,  # IN  how many the opponent has
    reach: np.ndarray,  # IN  float64
    r: Any,  # IN  where the opponent's reaches begin
    others: Any,  # IN  hands of the opponent
    by_class: np.ndarray,  # scratch, at least f0 + f1 float64
    value: np.ndarray,  # OUT float64
    v: Any,  # IN  where our values begin
    n: Any,  # IN  number of our hands
) -> None:
    """Payoffs that depend on a factor of each hand, as in Bluff on the number of dice that match the bid."""
    for f in range(own_count + other_count):
        by_class[f] = 0.0
    for o in range(others):
        by_class[classes[1 - me, row, o]] += reach[r + o]
    for f in range(own_count):
        total = 0.0
        for g in range(other_count):
            place = f * other_count + g if me == 0 else g * own_count + f
            total += matrix[at + np.uint64(place)] * by_class[g]
        by_class[other_count + f] = sign * total
    for h in range(n):
        value[v + h] = by_class[other_count + classes[me, row, h]]


@inlined
def additive_values(
    sign: float,  # IN
    matrix: np.ndarray,  # IN  float64: what hands add to player 0's utility
    own_at: Any,  # IN  where the part of our hands begins
    other_at: Any,  # IN  where the part of the opponent's begins
    reach: np.ndarray,  # IN  float64
    r: Any,  # IN  where the opponent's reaches begin
    others: Any,  # IN  hands of the opponent
    value: np.ndarray,  # OUT float64
    v: Any,  # IN  where our values begin
    n: Any,  # IN  number of our hands
) -> None:
    """Payoffs that are the sum of a part for each hand."""
    total, mean = 0.0, 0.0
    for o in range(others):
        total += reach[r + o]
        mean += reach[r + o] * matrix[other_at + o]
    for h in range(n):
        value[v + h] = sign * (matrix[own_at + h] * total + mean)
