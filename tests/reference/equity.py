"""Twin of the equity of ranges: every deal and every board, one by one."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from tests.reference.hands import Value, hand_value

Hand = tuple[int, int]


def equities(
    ranges: Sequence[dict[Hand, float]], board: Sequence[int], dead: Sequence[int] = ()
) -> tuple[list[dict[Hand, list[float]]], float]:
    """By player and hand: the weight of deals won, of deals tied, of shares of the pot, of all; and the weight of all.

    A range is the weight of each hand, two ascending cards.
    """
    found: list[dict[Hand, list[float]]] = [{hand: [0.0] * 4 for hand in one} for one in ranges]
    left = [card for card in range(52) if card not in {*board, *dead}]
    total = 0.0
    for more in itertools.combinations(left, 5 - len(board)):
        shown = {*board, *more}
        value: dict[Hand, Value] = {
            hand: hand_value([*hand, *board, *more])
            for hand in {hand for one in ranges for hand in one}
            if not shown & set(hand) and not set(dead) & set(hand)
        }
        for deal in itertools.product(*ranges):
            cards = [card for hand in deal for card in hand]
            if len(set(cards)) < len(cards) or any(hand not in value for hand in deal):
                continue
            weight = 1.0
            for one, hand in zip(ranges, deal, strict=True):
                weight *= one[hand]
            best = max(value[hand] for hand in deal)
            winners = sum(value[hand] == best for hand in deal)
            total += weight
            for player, hand in enumerate(deal):
                sums = found[player][hand]
                sums[3] += weight
                if value[hand] == best:
                    sums[0 if winners == 1 else 1] += weight
                    sums[2] += weight / winners
    return found, total
