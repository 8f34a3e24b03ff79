"""Textures of the board: public classes within which hands are put into buckets (Gibson 2014, sections 8.1 to 8.3).

The published classes are not specified: 20 of the flop and 60 of the later rounds in 2010 and 2011, made by a
technique of others, and 9, 51 and 280 chosen by hand in 2012.  Ours are of two kinds:

* *Named* textures, what players look at: how many cards share a suit, which ranks occur more than once, and how many
  ranks fit into one straight.
* A chosen number of classes, by k-means.  Two boards are near if they do the same to the starting hands: for each
  cluster of starting hands, the distribution of E[HS] of its hands on the board, in ten bins.  The distance is the sum
  over clusters of the earth mover's distances, each weighted by the hands of the cluster that the board leaves.
"""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from counterplay.abstraction.cards.clustering import Points, merge_points
from counterplay.abstraction.cards.features import CardFeatures
from counterplay.abstraction.cards.opponents import OpponentClusters
from counterplay.poker.isomorphism import HandIndexer

BOARD_BINS = 10
"""Bins of E[HS] in which boards are compared."""

BOARDS_AT_ONCE = 64


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


def board_points(features: CardFeatures, turn: int, clusters: OpponentClusters) -> tuple[Points, npt.NDArray[np.int32]]:
    """The boards of a round as points to be clustered, and which of them each board up to suits is.

    The row of a board: for each cluster of starting hands, how many of its hands have an E[HS] in the first bin, in
    the first two bins, and so on up to the last but one.
    """
    hole, size = features.shape[0], features.board(turn)
    boards = HandIndexer((size,), *features.deck)
    every = boards.hands(np.arange(boards.size()))
    chosen = np.array(list(itertools.combinations(range(len(features.cards) - size), hole)))
    value = features.values(turn, "ehs")
    sure = np.uint64(features.unit * (1 if turn == features.rounds - 1 else features.runouts(turn)))
    cells = clusters.count * BOARD_BINS
    rows = np.empty((len(every), clusters.count * (BOARD_BINS - 1)), np.min_scalar_type(len(chosen)))
    indexer, digits = features.indexer(turn), 64 ** np.arange(hole)[::-1]

    def work(first: int, last: int) -> None:
        some = every[first:last]
        left = np.array([np.setdiff1d(features.cards, board) for board in some])
        hands = left[:, chosen].reshape(-1, hole)
        dealt = np.hstack([hands, np.repeat(some, len(chosen), axis=0)])
        group = clusters.cluster_of[hands.astype(np.int64) @ digits].astype(np.int64)
        bins = np.minimum(BOARD_BINS - 1, value[indexer.indices(dealt)] * np.uint64(BOARD_BINS) // sure)
        board = np.repeat(np.arange(len(some)), len(chosen))
        place = board * cells + group * BOARD_BINS + bins.astype(np.int64)
        count = np.bincount(place, minlength=len(some) * cells).reshape(len(some), clusters.count, BOARD_BINS)
        rows[first:last] = np.cumsum(count[:, :, :-1], axis=2).reshape(len(some), -1)

    features.in_chunks(f"strengths on each board, {features.round_name(turn)}", len(every), BOARDS_AT_ONCE, work)
    distinct, weights, place = merge_points(rows, boards.orbits(np.arange(len(every))), features.threads)
    scale = np.full(rows.shape[1], 1 / len(chosen), np.float32)
    return Points(distinct, scale, weights, "absolute"), place
