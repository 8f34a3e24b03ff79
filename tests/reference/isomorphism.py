"""Twins of the hand numbering: classes of hands by trying all permutations, counted by Burnside's lemma, and sorted.

A hand is a tuple of rounds, each a set of cards.  The number of a class is its place in a sorted list of all classes
(Waugh 2013 tells the order by its arithmetic; here the classes are compared).
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from tests.reference.hands import deck

Hand = tuple[tuple[int, ...], ...]
"""The cards of each round, sorted."""


def in_rounds(cards: Sequence[int], shape: Sequence[int]) -> Hand:
    """A flat hand, cut into its rounds."""
    ends = list(itertools.accumulate(shape))
    return tuple(tuple(sorted(cards[end - count : end])) for end, count in zip(ends, shape, strict=True))


def all_hands(cards: Iterable[int], shape: Sequence[int]) -> Iterator[Hand]:
    """Every hand of a shape."""
    stock = sorted(cards)
    if not shape:
        yield ()
        return
    for first in itertools.combinations(stock, shape[0]):
        for rest in all_hands(set(stock) - set(first), shape[1:]):
            yield (first, *rest)


def canonical(hand: Hand, suits: int = 4) -> Hand:
    """The smallest hand that a permutation of the suits makes of this one."""
    lowest = 4 - suits
    images = []
    for names in itertools.permutations(range(lowest, 4)):
        images.append(tuple(tuple(sorted(card - card % 4 + names[card % 4 - lowest] for card in r)) for r in hand))
    return min(images)


def orbit(hand: Hand, suits: int = 4) -> int:
    """How many hands the permutations of the suits make of one."""
    lowest = 4 - suits
    return len({
        tuple(tuple(sorted(card - card % 4 + names[card % 4 - lowest] for card in r)) for r in hand)
        for names in itertools.permutations(range(lowest, 4))
    })  # fmt: skip


def count_classes(shape: Sequence[int], ranks: int, suits: int) -> int:
    """The number of classes: the mean over all permutations of how many hands each leaves as they are (Burnside).

    A hand stays as it is when, in each rank, the suits of each cycle of the permutation are in the same round or are
    all left out.
    """
    total = 0
    for names in itertools.permutations(range(suits)):
        found = {tuple(shape): 1}  # cards still to deal in each round, and in how many ways
        for length in cycle_lengths(names) * ranks:
            found = dealt_further(found, length)
        total += found.get((0,) * len(shape), 0)
    return total // math.factorial(suits)


def dealt_further(found: dict[tuple[int, ...], int], length: int) -> dict[tuple[int, ...], int]:
    """One cycle of suits in one rank goes into no round or into one."""
    after: Counter[tuple[int, ...]] = Counter(found)
    for left, ways in found.items():
        for turn, count in enumerate(left):
            if count >= length:
                after[(*left[:turn], count - length, *left[turn + 1 :])] += ways
    return dict(after)


def cycle_lengths(names: Sequence[int]) -> list[int]:
    """The lengths of the cycles of a permutation."""
    lengths, seen = [], set[int]()
    for start in range(len(names)):
        length, at = 0, start
        while at not in seen:
            seen.add(at)
            at, length = names[at], length + 1
        if length:
            lengths.append(length)
    return lengths


def numbered_classes(shape: Sequence[int], ranks: int, suits: int) -> dict[Hand, int]:
    """The number of each class, by its canonical hand."""
    classes = {canonical(hand, suits) for hand in all_hands(deck(ranks, suits), shape)}
    return {hand: number for number, hand in enumerate(sorted(classes, key=sorting_key))}


def sorting_key(hand: Hand) -> tuple[object, ...]:
    """Classes compare by the patterns of their suits, the largest first, then by what the suits hold.

    Of two suits with the same pattern, the one whose last round's ranks are higher is larger, ranks being counted among
    those that the suit has left; if they are equal, the round before decides.  The suits of the smallest pattern decide
    first between two classes, and among equal patterns the larger suits.
    """
    held: dict[tuple[int, ...], list[tuple[tuple[int, ...], ...]]] = {}
    for suit in range(4):
        by_round = [[card // 4 for card in cards if card % 4 == suit] for cards in hand]
        used: set[int] = set()
        counted = []
        for ranks in by_round:
            left = [rank for rank in range(13) if rank not in used]
            counted.append(tuple(sorted((left.index(rank) for rank in ranks), reverse=True)))
            used.update(ranks)
        held.setdefault(tuple(map(len, by_round)), []).append(tuple(reversed(counted)))
    patterns = sorted((pattern for pattern, suits in held.items() for _ in suits), reverse=True)
    return tuple(patterns), tuple(sorted(held[pattern], reverse=True) for pattern in sorted(held))


def suit_words(hands: npt.NDArray[np.uint8], shape: Sequence[int]) -> npt.NDArray[np.uint64]:
    """For many hands of at most four rounds: what each suit holds in each round as one word, the words sorted.

    Two hands are in the same class exactly when these are equal.
    """
    words = np.zeros((len(hands), 4), dtype=np.uint64)
    rows = np.arange(len(hands))
    turns = np.repeat(np.arange(len(shape)), shape)
    for place, turn in enumerate(turns):
        card = hands[:, place].astype(np.uint64)
        words[rows, card % 4] |= np.uint64(1) << (card // np.uint64(4) + np.uint64(13 * turn))
    return np.sort(words, axis=1)
