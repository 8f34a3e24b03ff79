"""Ranks of hands of three cards where straights and flushes of three count: the original Rhode Island hold'em.

Shi and Littman (2001) describe Rhode Island hold'em with hands of three cards in this order, from the highest: straight
flush, three of a kind, straight, flush, pair, high card.  A straight of three is rarer than a flush of three, so it is
worth more.  The ace is high, and low in A23.  The programs of the Annual Computer Poker Competition rank three cards
without straights and flushes instead (``counterplay.poker.evaluator``);  ``showdown_tables`` chooses between the two by
the definition of a game, for all kernels that rank hands.

Ranks are numbers from 1 to 741, one for each value of three cards; the higher one wins and equal ones tie.  They are
looked up by the three cards in a table that is built on first use.  Kernels rank by keys
(``counterplay.kernels.cards.evaluator``): a card adds two to the count of its suit, so that the third one makes a
flush.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from counterplay.errors import GameError
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.cards import CARDS, MAX_RANKS, MAX_SUITS, cards_text
from counterplay.poker.evaluator import CATEGORIES, HandMeaning, cards_array, hand_tables

if TYPE_CHECKING:
    from counterplay.kernels.cards.evaluator import HandTables

HAND = 3
ORDER = ("high card", "pair", "flush", "straight", "three of a kind", "straight flush")
"""The categories from the lowest."""

Worth = tuple[int, tuple[int, ...]]
"""A place in ``ORDER``, and the card ranks that decide between hands of that category."""


def rank_three_cards(cards: Iterable[int]) -> int:
    """The rank of one hand of three cards; the higher rank wins, equal ranks tie."""
    hand = tuple(map(int, cards))
    if len(hand) != HAND:
        raise GameError(f"a hand has {HAND} cards; got {len(hand)}")
    text = cards_text(hand)  # refuses numbers that are not cards
    rank = int(three_card_table()[hand])
    if not rank:
        raise GameError(f"a card is in the hand twice: {text}")
    return rank


def rank_three_cards_each(hands: npt.ArrayLike) -> npt.NDArray[np.uint16]:
    """The ranks of many hands: what ``rank_three_cards`` gives for each row of an array (N, 3)."""
    cards = cards_array(hands)
    if cards.shape[1] != HAND:
        raise GameError(f"hands have {HAND} cards; got {cards.shape[1]}")
    ranks = three_card_table()[cards[:, 0], cards[:, 1], cards[:, 2]]
    if not ranks.all():
        wrong = int(np.argmin(ranks))
        raise GameError(f"a card is in hand {wrong} twice: {cards_text(cards[wrong])}")
    return ranks


def three_card_meaning(rank: int) -> HandMeaning:
    """The category of a rank and the card ranks that count; a straight shows its highest card."""
    worths = _table_and_worths()[1]
    if not 1 <= rank <= len(worths):
        raise GameError(f"ranks of three cards are 1 to {len(worths)}; got {rank}")
    category, ranks = worths[rank - 1]
    return HandMeaning(CATEGORIES.index(ORDER[category]), ranks)


def three_card_table() -> npt.NDArray[np.uint16]:
    """The rank by the three cards in any order, (52, 52, 52); 0 where a card occurs twice."""
    return _table_and_worths()[0]


def showdown_tables(game: GameDefinition) -> HandTables:
    """The lookup tables of the kernels that rank the hands of a game."""
    return _three_card_tables() if game.three_card_hands else hand_tables()


@functools.cache
def _three_card_tables() -> HandTables:
    from counterplay.kernels.cards.evaluator import HIGH_MASK, LOW_BITS, LOW_MASK, SUIT_SHIFT

    usual, table = hand_tables(), three_card_table()
    key = usual.card_key.copy()
    key[:CARDS] += key[:CARDS] >> SUIT_SHIFT << SUIT_SHIFT
    hands = np.array(list(itertools.combinations(range(CARDS), HAND)))
    rank = table[hands[:, 0], hands[:, 1], hands[:, 2]]
    suited = (hands % MAX_SUITS == hands[:, :1] % MAX_SUITS).all(axis=1)
    sums = key[hands].sum(axis=1)
    ranks_rank, suited_rank = np.zeros_like(usual.ranks_rank), np.zeros_like(usual.suited_rank)
    place = usual.high_place[sums >> LOW_BITS & HIGH_MASK] + usual.low_place[sums & LOW_MASK]
    ranks_rank[place[~suited]] = rank[~suited]
    suited_rank[(1 << hands[suited] // MAX_SUITS).sum(axis=1)] = rank[suited]
    tables = usual._replace(card_key=key, ranks_rank=ranks_rank, suited_rank=suited_rank)
    for array in tables:
        array.flags.writeable = False
    return tables


@functools.cache
def _table_and_worths() -> tuple[npt.NDArray[np.uint16], list[Worth]]:
    triples = list(itertools.combinations_with_replacement(range(MAX_RANKS), HAND))
    worth = {(ranks, suited): _worth(ranks, suited) for ranks in triples for suited in (False, True)}
    impossible = [(ranks, True) for ranks in triples if len(set(ranks)) < HAND]
    for key in impossible:  # cards of one suit have different ranks
        del worth[key]
    worths = sorted(set(worth.values()))
    number = {found: place for place, found in enumerate(worths, 1)}
    table = np.zeros((CARDS,) * HAND, dtype=np.uint16)
    for hand in itertools.combinations(range(CARDS), HAND):
        suited = len({card % MAX_SUITS for card in hand}) == 1
        low, middle, high = (card // MAX_SUITS for card in hand)
        rank = number[worth[(low, middle, high), suited]]
        for order in itertools.permutations(hand):
            table[order] = rank
    table.flags.writeable = False
    return table, worths


def _worth(ranks: tuple[int, ...], suited: bool) -> Worth:
    """What three card ranks are worth, given in ascending order."""
    low, middle, high = ranks
    ace_low = ranks == (0, 1, MAX_RANKS - 1)
    if low == middle == high:
        return ORDER.index("three of a kind"), (high,)
    if low == middle or middle == high:
        return ORDER.index("pair"), (middle, high if low == middle else low)
    if ace_low or high - low == HAND - 1:
        return ORDER.index("straight flush" if suited else "straight"), (middle if ace_low else high,)
    return ORDER.index("flush" if suited else "high card"), (high, middle, low)
