"""The rank of a poker hand of any number of cards, as a number that is larger for better hands.

The order is that of the reference dealer: straight flush, quads, full house, flush, straight, trips, two pair, pair,
high cards; an ace plays low in A2345.  Hands of fewer than five cards know pairs, trips, quads and high cards only.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["rank_hand"]

_WHEEL = 0b1000000001111


def rank_hand(cards: Sequence[int]) -> int:
    """The rank of the best hand of at most five cards among ``cards``; equal numbers are ties."""
    suits = [0, 0, 0, 0]
    counts = [0] * 13
    for card in cards:
        suits[card & 3] |= 1 << (card >> 2)
        counts[card >> 2] += 1
    together = suits[0] | suits[1] | suits[2] | suits[3]
    flush = max((mask for mask in suits if mask.bit_count() >= 5), default=0)
    if flush and (top := _straight(flush)) >= 0:
        return _code(8, [top])
    order = sorted((rank for rank in range(13) if counts[rank]), key=lambda rank: (counts[rank], rank), reverse=True)
    first = counts[order[0]]
    second = counts[order[1]] if len(order) > 1 else 0
    if first >= 4:
        return _code(7, [order[0], *sorted(order[1:], reverse=True)[:1]])
    if first == 3 and second >= 2:
        pairs = [rank for rank in order[1:] if counts[rank] >= 2]
        return _code(6, [order[0], max(pairs)])
    if flush:
        return _code(5, [rank for rank in range(12, -1, -1) if flush >> rank & 1][:5])
    if (top := _straight(together)) >= 0:
        return _code(4, [top])
    if first == 3:
        return _code(3, [order[0], *order[1:3]])
    if first == 2 and second == 2:
        return _code(2, [*order[:2], *sorted(order[2:], reverse=True)[:1]])
    if first == 2:
        return _code(1, order[:4])
    return _code(0, order[:5])


def _straight(mask: int) -> int:
    """The highest rank of a straight in a set of ranks, 3 for A2345, -1 if there is none."""
    run = mask & mask >> 1 & mask >> 2 & mask >> 3 & mask >> 4
    if run:
        return run.bit_length() + 3
    return 3 if mask & _WHEEL == _WHEEL else -1


def _code(category: int, ranks: Sequence[int]) -> int:
    number = category
    for place in range(5):
        number = number * 14 + (ranks[place] + 1 if place < len(ranks) else 0)
    return number
