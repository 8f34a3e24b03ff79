"""Twins of the public tree's ends: every pair of hands, one after the other.

Sources: Johanson 2016, section 2.4 (folds and showdowns with card removal; factored and additive payoffs; hands that
differ in the names of suits only), section 3.3.2 (Bluff).
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence

from tests.reference.hands import hand_value

Hand = tuple[int, ...]
Board = Sequence[Sequence[int]]

hand_worth = functools.lru_cache(maxsize=1 << 13)(hand_value)


def renamings(board: Board, suits: Sequence[int]) -> list[dict[int, int]]:
    """The renamings of some suits that leave the cards of each round of a board as they are."""
    found = []
    for order in itertools.permutations(suits):
        name = dict(zip(suits, order, strict=True))
        if all({card // 4 * 4 + name[card % 4] for card in cards} == set(cards) for cards in board):
            found.append(name)
    return found


def hand_class(hand: Hand, names: Sequence[dict[int, int]]) -> Hand:
    """One hand that stands for all that renaming turns into each other."""
    return min(tuple(sorted(card // 4 * 4 + name[card % 4] for card in hand)) for name in names)


def hands_beside(deck: Sequence[int], board: Board, size: int) -> list[Hand]:
    """All hands that can be held when a board lies on the table."""
    gone = {card for cards in board for card in cards}
    return list(itertools.combinations(sorted(set(deck) - gone), size))


def fold_value(hand: Hand, others: Sequence[tuple[Hand, float]], amount: float) -> float:
    """What a hand wins from a fold, against hands with their weights."""
    return sum(weight * amount for other, weight in others if not set(hand) & set(other))


def showdown_value(hand: Hand, others: Sequence[tuple[Hand, float]], board: Board, win: float, loss: float) -> float:
    """What a hand wins at a showdown, against hands with their weights."""
    table = [card for cards in board for card in cards]
    own, total = hand_worth((*hand, *table)), 0.0
    for other, weight in others:
        if not set(hand) & set(other):
            theirs = hand_worth((*other, *table))
            total += weight * (win * (own > theirs) - loss * (own < theirs))
    return total


def bluff_value(
    roll: Sequence[int],
    others: Sequence[tuple[Sequence[int], float]],
    quantity: int,
    face: int,
    sides: int,
    called: bool,
) -> float:
    """What a roll wins when the bid ``quantity`` x ``face`` is called, by us or by the other; 1 for the winner."""
    total = 0.0
    for other, weight in others:
        dice = [*roll, *other]
        right = sum(die in (face, sides) for die in dice) >= quantity
        total += weight * (1.0 if right != called else -1.0)
    return total
