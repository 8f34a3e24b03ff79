"""Twin of cards and of the hand ranking: the best five cards of a hand by trying them all, compared as tuples.

The order is that of the Annual Computer Poker Competition's dealer: the usual categories for five cards; with fewer
cards only equal ranks and high cards count.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence

Value = tuple[int, ...]


def deck(ranks: int = 13, suits: int = 4) -> list[int]:
    """The cards 4 * rank + suit of the highest ranks and suits, suit by suit."""
    return [4 * rank + suit for suit in range(4 - suits, 4) for rank in range(13 - ranks, 13)]


def cards_text(cards: Sequence[int]) -> str:
    """``TdAs``."""
    return "".join("23456789TJQKA"[card // 4] + "cdhs"[card % 4] for card in cards)


PATTERNS = {(4,): 7, (3, 2): 6, (3,): 3, (2, 2): 2, (2,): 1, (): 0}
"""Category by the groups of two and more equal ranks."""


def value_of_five(cards: Sequence[int]) -> Value:
    """Category, then the card ranks from the largest group down; of at most five cards."""
    ranks = Counter(card // 4 for card in cards)
    groups = sorted(ranks, key=lambda rank: (ranks[rank], rank), reverse=True)
    category = PATTERNS[tuple(ranks[rank] for rank in groups if ranks[rank] > 1)]
    if len(groups) < 5:
        return (category, *groups)
    if groups == [12, 3, 2, 1, 0]:
        groups = [3, 2, 1, 0, -1]
    straight = groups[0] - groups[4] == 4
    flush = len({card % 4 for card in cards}) == 1
    category = {(True, True): 8, (False, True): 5, (True, False): 4, (False, False): 0}[straight, flush]
    return (category, groups[0]) if straight else (category, *groups)


def hand_value(cards: Sequence[int]) -> Value:
    """What one to seven cards are worth: tuples compare as hands do."""
    return max(value_of_five(five) for five in itertools.combinations(cards, min(5, len(cards))))
