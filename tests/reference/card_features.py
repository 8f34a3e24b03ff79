"""Twins of hand features and percentile buckets: every opponent, every board, every deal, one by one."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from tests.reference.hands import deck, hand_value

Cards = tuple[int, ...]


@functools.cache
def value(cards: frozenset[int]) -> tuple[int, ...]:
    return hand_value(sorted(cards))


@functools.cache
def strength(hole: Cards, board: Cards, ranks: int, suits: int) -> int:
    """Twice the weaker opponents plus the equal ones, on a whole board."""
    return sum(won for _, won in showdowns(hole, board, ranks, suits))


def showdowns(hole: Cards, board: Cards, ranks: int, suits: int) -> list[tuple[Cards, int]]:
    """Every opponent hand with 2 for a win against it and 1 for a tie."""
    left = set(deck(ranks, suits)) - set(hole) - set(board)
    mine = value(frozenset(hole + board))
    found = []
    for other in itertools.combinations(sorted(left), len(hole)):
        theirs = value(frozenset(other + board))
        found.append((other, 2 if mine > theirs else int(mine == theirs)))
    return found


@functools.cache
def share_of_two(hole: Cards, board: Cards, ranks: int, suits: int) -> Fraction:
    """The share of the pot against two random opponents, on a whole board."""
    left = set(deck(ranks, suits)) - set(hole) - set(board)
    mine = value(frozenset(hole + board))
    shares = []
    for one in itertools.combinations(sorted(left), len(hole)):
        for two in itertools.combinations(sorted(left - set(one)), len(hole)):
            hands = [mine, value(frozenset(one + board)), value(frozenset(two + board))]
            shares.append(Fraction(int(mine == max(hands)), hands.count(max(hands))))
    return sum(shares, Fraction(0)) / len(shares)


def shares_of_two(hole: Cards, board: Cards, cards: int, ranks: int, suits: int) -> list[Fraction]:
    """The same on all whole boards that may come."""
    hole = tuple(sorted(hole))
    return [share_of_two(hole, whole, ranks, suits) for whole in boards_after(hole, board, cards, ranks, suits)]


def boards_after(hole: Cards, board: Cards, cards: int, ranks: int, suits: int) -> Iterator[Cards]:
    """Every whole board of so many cards that may come."""
    left = set(deck(ranks, suits)) - set(hole) - set(board)
    for more in itertools.combinations(sorted(left), cards - len(board)):
        yield tuple(sorted(board + more))


def strengths(hole: Cards, board: Cards, cards: int, ranks: int, suits: int) -> list[int]:
    """The strengths on all whole boards that may come."""
    hole = tuple(sorted(hole))
    return [strength(hole, whole, ranks, suits) for whole in boards_after(hole, board, cards, ranks, suits)]


def against_clusters(
    hole: Cards, board: Cards, cards: int, ranks: int, suits: int, cluster: Callable[[Cards], int], clusters: int
) -> list[Fraction]:
    """The chance to win against each cluster, ties half; one half against nobody."""
    won, met = [0] * clusters, [0] * clusters
    for whole in boards_after(hole, board, cards, ranks, suits):
        for other, result in showdowns(hole, whole, ranks, suits):
            won[cluster(other)] += result
            met[cluster(other)] += 1
    return [Fraction(w, 2 * m) if m else Fraction(1, 2) for w, m in zip(won, met, strict=True)]


def all_deals(shape: Sequence[int], ranks: int, suits: int) -> Iterator[tuple[Cards, ...]]:
    """Every deal of a player's cards, round by round, each round's cards ascending."""

    def more(before: tuple[Cards, ...], rest: Sequence[int]) -> Iterator[tuple[Cards, ...]]:
        if not rest:
            yield before
            return
        left = sorted(set(deck(ranks, suits)) - {card for cards in before for card in cards})
        for cards in itertools.combinations(left, rest[0]):
            yield from more((*before, cards), rest[1:])

    yield from more((), shape)


def percentile_buckets(
    values: dict[tuple[Cards, ...], Fraction], count: int, before: dict[tuple[Cards, ...], int]
) -> dict[tuple[Cards, ...], int]:
    """Buckets of equal mass inside each earlier bucket: ⌊k F⌋, F the share of deals that are strictly worse."""
    groups: dict[int, list[tuple[Cards, ...]]] = {}
    for deal in values:
        groups.setdefault(before[deal[:-1]], []).append(deal)
    found = {}
    for bucket, members in groups.items():
        ordered = sorted(values[deal] for deal in members)
        for deal in members:
            below = _first(ordered, values[deal])
            found[deal] = bucket * count + min(count - 1, count * below // len(members))
    return found


def _first(ordered: list[Fraction], wanted: Fraction) -> int:
    low, high = 0, len(ordered)
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if ordered[middle] < wanted else (low, middle)
    return low
