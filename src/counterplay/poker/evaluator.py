"""Ranks of poker hands of one to seven cards, one hand at a time or in batches.

A hand is worth its best five cards, in the usual order of categories; the ace is also low in A2345.  A hand of fewer
than five cards has only pairs, threes and fours of a kind and high cards, no straights and flushes, as the dealer of
the Annual Computer Poker Competition ranks them, so that Kuhn poker and Leduc hold'em need no separate rules.

Ranks are numbers from 1 up; the higher one wins and equal ones tie.  They number without gaps all values of hands of
one to seven cards: 7,462 for five cards and more, and 2,379 for one to four; a missing card counts less than a deuce.
0 is the rank of no cards, below all others.

The tables are built on first use, in about a tenth of a second.  The ranks in a hand are a multiset of at most seven,
of which there are 76,155.  Its position in the table is found without a search: the multisets of the lower seven ranks
are sorted by their number of cards, so that those which are compatible with given higher ranks, with at most the
remaining number of cards, are a prefix.  The position is then the sum of two numbers, one looked up by the lower ranks
and one by the higher.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from counterplay.errors import GameError
from counterplay.poker.cards import CARDS, MAX_RANKS, MAX_SUITS, RANKS, cards_text

if TYPE_CHECKING:
    from counterplay.kernels.cards.evaluator import HandTables

CATEGORIES = (
    "high card", "pair", "two pair", "three of a kind", "straight", "flush", "full house", "four of a kind",
    "straight flush",
)  # fmt: skip
MAX_HAND = 7
_HIGH, _PAIR, _TWO_PAIR, _THREE, _STRAIGHT, _FLUSH, _FULL_HOUSE, _FOUR, _STRAIGHT_FLUSH = range(9)
_LOW_RANKS = 7
_PARTS = 16
"""Tables are built in this many parts, so that temporary arrays stay as small as the tables."""

Ints = npt.NDArray[np.int64]


class HandMeaning(NamedTuple):
    """The meaning of a hand rank."""

    category: int
    """0 .. 8, see ``CATEGORIES``."""
    ranks: tuple[int, ...]
    """The card ranks that decide between hands of the category, in that order: of the four, three or pairs first."""

    @property
    def text(self) -> str:
        """``two pair AK9``; a straight shows its highest card."""
        return f"{CATEGORIES[self.category]} {''.join(RANKS[rank] for rank in self.ranks)}"


def rank_hand(cards: Iterable[int]) -> int:
    """The rank of one hand of one to seven cards; the higher rank wins, equal ranks tie."""
    from counterplay.kernels.cards import evaluator as kernels

    hand, tables, keys = tuple(cards), hand_tables(), _keys_of_cards()
    if not 1 <= len(hand) <= MAX_HAND:
        raise GameError(f"a hand has 1 to {MAX_HAND} cards; got {len(hand)}")
    try:
        key = kernels.NO_CARDS + sum([keys[card] for card in hand])
    except KeyError:
        raise GameError(f"{cards_text(hand)} has a number that is no card") from None  # cards_text says which
    if len(set(hand)) < len(hand):
        raise GameError(f"a card is in the hand twice: {cards_text(hand)}")
    if key & kernels.FLUSH:
        suit = next(suit for suit in range(MAX_SUITS) if key & (8 << (kernels.SUIT_SHIFT + 4 * suit)))
        return int(tables.suited_rank[sum(1 << card // MAX_SUITS for card in hand if card % MAX_SUITS == suit)])
    high, low = key >> kernels.LOW_BITS & kernels.HIGH_MASK, key & kernels.LOW_MASK
    return int(tables.ranks_rank.item(tables.high_place.item(high) + tables.low_place.item(low)))


@functools.cache
def _keys_of_cards() -> dict[int, int]:
    return dict(enumerate(hand_tables().card_key.tolist()[:CARDS]))


def rank_hands(hands: npt.ArrayLike) -> npt.NDArray[np.uint16]:
    """The ``rank_hand`` of many hands with the same number of cards: (N, n) integers; ``uint8`` is not copied."""
    from counterplay.kernels.cards import evaluator as kernels

    cards = cards_array(hands)
    if not 1 <= cards.shape[1] <= MAX_HAND:
        raise GameError(f"hands have 1 to {MAX_HAND} cards; got {cards.shape[1]}")
    rank = np.empty(len(cards), dtype=np.uint16)
    wrong = kernels.rank_hands(hand_tables(), cards, rank)
    if wrong >= 0:
        raise GameError(f"a card is in hand {wrong} twice: {cards_text(cards[wrong])}")
    return rank


def rank_holes(board: Sequence[int], holes: npt.ArrayLike, tables: HandTables | None = None) -> npt.NDArray[np.uint16]:
    """The ranks of hands, (N, n) cards, that share a board, which may be empty.

    0 for impossible hands, with a card twice or one of the board.  ``tables`` gives another order of hands than the
    usual one (``counterplay.poker.three_cards``).
    """
    from counterplay.kernels.cards import evaluator as kernels

    cards = cards_array(holes)
    shared = cards_array(np.array(board, dtype=np.int64)[None])[0]
    if len(set(shared.tolist())) < len(shared):
        raise GameError(f"a card is on the board twice: {cards_text(shared)}")
    size = len(shared) + cards.shape[1]
    if cards.shape[1] < 1 or size > MAX_HAND:
        raise GameError(f"hands have 1 to {MAX_HAND} cards with the board, not all on it; got {size}")
    rank = np.empty(len(cards), dtype=np.uint16)
    kernels.rank_holes(tables or hand_tables(), shared, cards, rank)
    return rank


def count_hands(size: int, cards: Iterable[int] = range(CARDS)) -> Ints:
    """Numbers of hands of ``size`` cards from a deck with each rank: ``counts[rank]``."""
    from counterplay.kernels.cards import evaluator as kernels

    stock = np.array(sorted(set(cards)), dtype=np.uint8)
    if not 1 <= size <= min(MAX_HAND, len(stock)):
        raise GameError(f"hands have 1 to {MAX_HAND} of the deck's {len(stock)} cards; got {size}")
    cards_array(stock[None])
    counts = np.zeros(len(hand_codes()), dtype=np.int64)
    kernels.count_hands(hand_tables(), stock, size, counts)
    return counts


def hand_meaning(rank: int) -> HandMeaning:
    """The category of a hand rank and the card ranks that count."""
    codes = hand_codes()
    if not 1 <= rank < len(codes):
        raise GameError(f"hand ranks are 1 to {len(codes) - 1}; got {rank}")
    code = int(codes[rank])
    digits = [code >> shift & 15 for shift in (16, 12, 8, 4, 0)]
    return HandMeaning(code >> 20, tuple(digit - 1 for digit in digits if digit))


def cards_array(hands: npt.ArrayLike) -> npt.NDArray[np.uint8]:
    """Cards as kernels take them: (N, n) uint8, each a card."""
    given = np.asarray(hands)
    if given.ndim != 2 or given.dtype.kind not in "iu":
        raise GameError(f"hands are rows of card numbers; got an array of shape {given.shape} and type {given.dtype}")
    if given.size and (given.max() >= CARDS or given.min() < 0):
        bad = given[(given < 0) | (given >= CARDS)][0]
        raise GameError(f"cards are the numbers 0 to {CARDS - 1}; got {bad}")
    return np.ascontiguousarray(given, dtype=np.uint8)


def hand_tables() -> HandTables:
    """The lookup tables of the ranking kernels."""
    return _tables_and_codes()[0]


def hand_codes() -> Ints:
    """The code of each rank: its category, then up to five card ranks plus one, four bits each."""
    return _tables_and_codes()[1]


@functools.cache
def _tables_and_codes() -> tuple[HandTables, Ints]:
    from counterplay.kernels.cards.evaluator import HIGH_BITS, LOW_BITS, HandTables

    low, high = _digits(_LOW_RANKS), _digits(MAX_RANKS - _LOW_RANKS)
    low_size, high_size = low.sum(axis=1), high.sum(axis=1)
    by_size = np.argsort(low_size, kind="stable")
    fitting = np.searchsorted(low_size[by_size], MAX_HAND - high_size, side="right")
    low_place = np.zeros(1 << LOW_BITS, dtype=np.uint16)
    low_place[by_size[: fitting.max()]] = np.arange(fitting.max())
    high_place = np.zeros(1 << HIGH_BITS, dtype=np.int32)
    high_place[: len(high)] = np.cumsum(fitting) - fitting

    row = np.repeat(np.arange(len(high)), fitting)
    within = np.arange(len(row)) - high_place[row]
    parts = np.array_split(np.arange(len(row)), _PARTS)
    unsuited = np.concatenate([_unsuited_codes(np.hstack([low[by_size[within[p]]], high[row[p]]])) for p in parts])
    suited = _suited_codes()
    codes = np.unique(np.concatenate([unsuited, suited]))
    # The sum of keys with a card twice can lie outside; the padding keeps it from reading past the end.
    ranks_rank = np.zeros(int(high_place.max()) + int(low_place.max()) + 1, dtype=np.uint16)
    ranks_rank[: len(row)] = np.searchsorted(codes, unsuited)
    suited_rank = np.searchsorted(codes, suited).astype(np.uint16)
    tables = HandTables(_card_keys(), low_place, high_place, ranks_rank, suited_rank)
    for array in (*tables, codes):
        array.flags.writeable = False
    return tables, codes


def _card_keys() -> Ints:
    """The key of each card: its digit in the number of the lower or the higher ranks, and one card of its suit."""
    from counterplay.kernels.cards.evaluator import LOW_BITS, SUIT_SHIFT

    keys = np.zeros(64, dtype=np.int64)
    for card in range(CARDS):
        rank, suit = divmod(card, MAX_SUITS)
        digit = 5**rank if rank < _LOW_RANKS else 5 ** (rank - _LOW_RANKS) << LOW_BITS
        keys[card] = digit + (1 << SUIT_SHIFT + 4 * suit)
    return keys


def _digits(length: int) -> npt.NDArray[np.int8]:
    """All numbers with a number of digits in base 5, in order; column i has the digits of weight 5**i."""
    numbers = np.arange(5**length)
    return np.stack([(numbers // 5**place % 5).astype(np.int8) for place in range(length)], axis=1)


def _unsuited_codes(counts: npt.NDArray[np.int8]) -> Ints:
    """Values of hands whose suits do not matter, by their number of cards of each rank."""
    held = counts > 0
    straight = _straight_top(held)
    four, three = _highest(counts == 4), _highest(counts == 3)
    pair = _highest(_without(counts >= 2, three))
    second = _highest(_without(counts == 2, pair))
    five = [
        (four >= 0, _code(_FOUR, [four, *_kickers(_without(held, four), 1)])),
        ((three >= 0) & (pair >= 0), _code(_FULL_HOUSE, [three, pair])),
        (straight >= 0, _code(_STRAIGHT, [straight])),
        (three >= 0, _code(_THREE, [three, *_kickers(_without(held, three), 2)])),
        (second >= 0, _code(_TWO_PAIR, [pair, second, *_kickers(_without(held, pair, second), 1)])),
        (pair >= 0, _code(_PAIR, [pair, *_kickers(_without(held, pair), 3)])),
    ]
    return np.select([found for found, _ in five], [code for _, code in five], _code(_HIGH, _kickers(held, 5)))


def _suited_codes() -> Ints:
    """Values of five to seven cards of one suit, by the set of their ranks; 0 for smaller and larger sets."""
    held = (np.arange(1 << MAX_RANKS)[:, None] >> np.arange(MAX_RANKS) & 1).astype(bool)
    size = held.sum(axis=1)
    straight = _straight_top(held)
    code = np.where(straight >= 0, _code(_STRAIGHT_FLUSH, [straight]), _code(_FLUSH, _kickers(held, 5)))
    return np.where((size >= 5) & (size <= MAX_HAND), code, 0)


def _code(category: int, ranks: list[Ints]) -> Ints:
    """Category and card ranks as one number that compares as hands do; -1 is no card."""
    code = np.full(len(ranks[0]), category, dtype=np.int64)
    for rank in ranks:
        code = code << 4 | rank + 1
    return code << 4 * (5 - len(ranks))


def _highest(held: npt.NDArray[np.bool_]) -> Ints:
    """The highest rank in each row, -1 where there is none."""
    return np.where(held.any(axis=1), MAX_RANKS - 1 - np.argmax(held[:, ::-1], axis=1), -1)


def _without(held: npt.NDArray[np.bool_], *ranks: Ints) -> npt.NDArray[np.bool_]:
    """The rows without one rank each, or several; -1 removes nothing."""
    for rank in ranks:
        held = held & (np.arange(MAX_RANKS) != rank[:, None])
    return held


def _kickers(held: npt.NDArray[np.bool_], number: int) -> list[Ints]:
    """The ``count`` highest ranks of each row, descending."""
    ranks = []
    for _ in range(number):
        ranks.append(_highest(held))
        held = _without(held, ranks[-1])
    return ranks


def _straight_top(held: npt.NDArray[np.bool_]) -> Ints:
    """The highest rank of the best straight in each row, -1 where there is none."""
    ace_low = np.hstack([held[:, -1:], held])
    straights = np.zeros_like(held)
    straights[:, 3:] = np.lib.stride_tricks.sliding_window_view(ace_low, 5, axis=1).all(axis=-1)
    return _highest(straights)
