"""What each hand wins at an end of a game, against a vector of the opponent's reaches, without going through pairs.

Johanson 2016, section 2.4 and 3.3.2.  ``reach[o]`` is the opponent's reach with hand (class) ``o``; ``value[h]`` is
what our hand ``h`` wins against all of them.  Card removal: hands that share a card are not dealt together, which
takes sums by card.  Slots 52 and 53 of those sums are for hands of one card: what is added goes to 52, what is read is
53, which stays 0.
"""

from __future__ import annotations

import numpy as np

from counterplay.kernels.jit import inlined

CARD_SLOTS = 54
NO_TWIN = 65535


@inlined
def fold_values(
    amount: float,  # IN  what we win by the fold, or lose
    pair_hands: bool,  # IN  hands have two cards
    card: np.ndarray,  # IN  (n, 2) uint8: cards of our hands
    twin: np.ndarray,  # IN  (n,) uint16: the opponent's class with the same hand
    real_class: np.ndarray,  # IN  (m,) uint16: the class of each real hand of the opponent
    real_card: np.ndarray,  # IN  (m, 2) uint8: its cards
    reach: np.ndarray,  # IN  float64: by class of the opponent
    by_card: np.ndarray,  # scratch (54,) float64
    value: np.ndarray,  # OUT (n,) float64
) -> None:
    """Everything the opponent can hold beside our cards, times an amount."""
    by_card[:] = 0.0
    total = 0.0
    for k in range(len(real_class)):
        r = reach[real_class[k]]
        total += r
        by_card[real_card[k, 0]] += r
        by_card[real_card[k, 1]] += r
    by_card[53] = 0.0
    for h in range(len(value)):
        mass = total - by_card[card[h, 0]] - by_card[card[h, 1]]
        if pair_hands and twin[h] != NO_TWIN:
            mass += reach[twin[h]]  # it was taken off twice
        value[h] = amount * mass


@inlined
def showdown_values(
    stake: float,  # IN  what the winner gets
    card: np.ndarray,  # IN  (n, 2) uint8: cards of our hands
    rank: np.ndarray,  # IN  (n,) uint16: their ranks, ascending
    real_class: np.ndarray,  # IN  (m,) uint16: the class of each real hand of the opponent
    real_rank: np.ndarray,  # IN  (m,) uint16: its rank, ascending
    real_card: np.ndarray,  # IN  (m, 2) uint8: its cards
    reach: np.ndarray,  # IN  float64: by class of the opponent
    by_card: np.ndarray,  # scratch (54,) float64
    value: np.ndarray,  # OUT (n,) float64
) -> None:
    """Weaker minus stronger hands of the opponent, card removal taken into account; ties win nothing.

    The same hand is always a tie, so that nothing is taken off twice.
    """
    hands, others = len(value), len(real_class)
    by_card[:] = 0.0
    total = 0.0
    k = 0
    for h in range(hands):
        own = rank[h]
        while k < others and real_rank[k] < own:
            r = reach[real_class[k]]
            total += r
            by_card[real_card[k, 0]] += r
            by_card[real_card[k, 1]] += r
            k += 1
        value[h] = total - by_card[card[h, 0]] - by_card[card[h, 1]]
    by_card[:] = 0.0
    total = 0.0
    k = others - 1
    for h in range(hands - 1, -1, -1):
        own = rank[h]
        while k >= 0 and real_rank[k] > own:
            r = reach[real_class[k]]
            total += r
            by_card[real_card[k, 0]] += r
            by_card[real_card[k, 1]] += r
            k -= 1
        value[h] = stake * (value[h] - (total - by_card[card[h, 0]] - by_card[card[h, 1]]))


@inlined
def matrix_values(
    me: int,  # IN  0 or 1
    sign: float,  # IN  1 for player 0, -1 for player 1, times a factor
    matrix: np.ndarray,  # IN  (n0 * n1,) float64: player 0's utility times chance
    reach: np.ndarray,  # IN  (others,) float64
    others: int,  # IN  hands of the opponent
    value: np.ndarray,  # OUT (n,) float64
) -> None:
    """Every pair of hands: the fallback for any payoffs."""
    hands = len(value)
    if me == 0:
        for h in range(hands):
            total = 0.0
            for o in range(others):
                total += matrix[h * others + o] * reach[o]
            value[h] = sign * total
    else:
        value[:] = 0.0
        for o in range(others):
            r = sign * reach[o]
            if r != 0.0:
                for h in range(hands):
                    value[h] += matrix[o * hands + h] * r


@inlined
def factored_values(
    me: int,  # IN  0 or 1
    sign: float,  # IN
    matrix: np.ndarray,  # IN  (f0 * f1,) float64: player 0's utility by classes of hands
    own_class: np.ndarray,  # IN  (n,) uint8: what of our hands matters here
    other_class: np.ndarray,  # IN  (m,) uint8
    own_count: int,  # IN  how many classes we have
    other_count: int,  # IN  how many the opponent has
    reach: np.ndarray,  # IN  float64
    others: int,  # IN  hands of the opponent
    by_class: np.ndarray,  # scratch, at least f0 + f1 float64
    value: np.ndarray,  # OUT (n,) float64
) -> None:
    """Payoffs that depend on a factor of each hand, as in Bluff on the number of dice that match the bid."""
    by_class[: own_count + other_count] = 0.0
    for o in range(others):
        by_class[other_class[o]] += reach[o]
    for f in range(own_count):
        total = 0.0
        for g in range(other_count):
            at = f * other_count + g if me == 0 else g * own_count + f
            total += matrix[at] * by_class[g]
        by_class[other_count + f] = sign * total
    for h in range(len(value)):
        value[h] = by_class[other_count + own_class[h]]


@inlined
def additive_values(
    sign: float,  # IN
    own_part: np.ndarray,  # IN  (n,) float64: what our hand adds to player 0's utility
    other_part: np.ndarray,  # IN  (m,) float64: what the opponent's adds
    reach: np.ndarray,  # IN  float64
    value: np.ndarray,  # OUT (n,) float64
) -> None:
    """Payoffs that are the sum of a part for each hand."""
    total, mean = 0.0, 0.0
    for o in range(len(other_part)):
        total += reach[o]
        mean += reach[o] * other_part[o]
    for h in range(len(value)):
        value[h] = sign * (own_part[h] * total + mean)
