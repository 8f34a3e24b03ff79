"""Textures of the board: public classes within which hands are put into buckets (Gibson 2014, sections 8.1 to 8.3).

The published classes are not specified.  Ours are what players look at: how many cards share a suit, which ranks occur
more than once, and how many ranks fit into one straight.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from counterplay.poker.isomorphism import HandIndexer


def texture_of(board: Sequence[int]) -> tuple[int, tuple[int, ...], int]:
    """Cards of the most frequent suit; numbers of equal ranks, descending; most ranks within one straight."""
    suits = Counter(card % 4 for card in board)
    ranks = Counter(card // 4 for card in board)
    held = set(ranks) | ({-1} if 12 in ranks else set())
    near = max((len(held & set(range(low, low + 5))) for low in range(-1, 9)), default=0)
    return max(suits.values(), default=0), tuple(sorted((n for n in ranks.values() if n > 1), reverse=True)), near


@functools.cache
def board_textures(deck: tuple[int, int], cards: int) -> tuple[npt.NDArray[np.uint8], tuple[object, ...]]:
    """The texture of every board up to suits, as an index into the list of all textures, and that list."""
    indexer = HandIndexer((cards,), *deck)
    found = [texture_of(board) for board in indexer.hands(np.arange(indexer.size())).tolist()]
    known = sorted(set(found))
    place = {texture: number for number, texture in enumerate(known)}
    return np.array([place[texture] for texture in found], dtype=np.uint8), tuple(known)


def texture_count(deck: tuple[int, int], cards: int) -> int:
    """Number of textures of boards with a number of cards."""
    return len(board_textures(deck, cards)[1])
