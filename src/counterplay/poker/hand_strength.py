"""Hand strength: the share of the hands that an opponent can hold which a hand beats with the cards on the table now.

Ties count half.  An opponent holds any other hole cards of the deck with the same probability; cards that are still to
come do not count.  Hands are compared as at a showdown; before all cards of a game with three-card hands are dealt,
which has no order of smaller hands, by pairs and high cards.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from counterplay.errors import GameError
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.cards import CARDS
from counterplay.poker.evaluator import MAX_HAND, hand_tables, rank_holes
from counterplay.poker.three_cards import HAND as THREE
from counterplay.poker.three_cards import showdown_tables

_ROWS = 1 << 9
"""Hands that are compared with all others at a time."""


def hand_strengths(game: GameDefinition, board: Sequence[int], holes: ArrayLike) -> NDArray[np.float64]:
    """The strengths, from 0 to 1, of hole cards (N, n) on a board of any length; 0 for hands with a card of the board.

    >>> from counterplay.poker.acpc.standard import STANDARD
    >>> from counterplay.poker.cards import parse_card
    >>> hand_strengths(STANDARD["leduc.limit.2p"], (), [[parse_card(card)] for card in ("Qs", "Ks", "As")])
    array([0.1, 0.5, 0.9])
    """
    mine = np.asarray(holes, dtype=np.int64).reshape(-1, game.hole_cards)
    size = len(board) + game.hole_cards
    if size > MAX_HAND:
        raise GameError(f"hands of at most {MAX_HAND} cards can be compared; here are {size}")
    hands, bits = _hands(game.deck, game.hole_cards)
    left = bits & sum(1 << card for card in board) == 0
    others, other_cards = hands[left], bits[left]
    tables = hand_tables() if game.three_card_hands and size < THREE else showdown_tables(game)
    own_rank, other_rank = (rank_holes(board, some, tables).astype(np.int64) for some in (mine, others))
    own_cards = np.bitwise_or.reduce(np.int64(1) << mine, axis=1)
    found = np.zeros(len(mine))
    for start in range(0, len(mine), _ROWS):
        some = slice(start, start + _ROWS)
        free = (own_cards[some, None] & other_cards[None]) == 0
        points = 2 * (own_rank[some, None] > other_rank[None]) + (own_rank[some, None] == other_rank[None])
        found[some] = (points * free).sum(axis=1) / (2 * free.sum(axis=1))
    found[own_rank == 0] = 0.0
    return found


@functools.lru_cache(maxsize=8)
def _hands(deck: tuple[int, ...], size: int) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """All hands of a deck, and the cards of each as bits."""
    hands = np.array(list(itertools.combinations(deck, size)), dtype=np.int64)
    return hands.astype(np.uint8), np.bitwise_or.reduce(np.int64(1) << hands, axis=1)


@functools.lru_cache(maxsize=1 << 11)
def board_strengths(game: GameDefinition, board: tuple[int, ...]) -> NDArray[np.float64]:
    """The strengths of all hands on a board, by their cards in any order: ``strengths[first, second]``."""
    hands, bits = _hands(game.deck, game.hole_cards)
    possible = hands[bits & sum(1 << card for card in board) == 0].astype(np.int64)
    found = np.zeros((CARDS,) * game.hole_cards)
    strengths = hand_strengths(game, board, possible)
    for order in itertools.permutations(range(game.hole_cards)):
        found[tuple(possible[:, order].T)] = strengths
    return found


@functools.lru_cache(maxsize=1 << 16)
def hand_strength(game: GameDefinition, hole: tuple[int, ...], board: tuple[int, ...]) -> float:
    """The strength of one hand; see ``hand_strengths``."""
    return float(hand_strengths(game, board, [hole])[0])
