"""All private hands of a game of poker as numbers: their cards, which of them a board leaves, and how they rank."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError
from counterplay.kernels.cards.evaluator import rank_boards
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.board_tree import Renamings, hole_hands
from counterplay.poker.three_cards import showdown_tables


class Runouts(NamedTuple):
    """All boards that can follow some cards on the table."""

    cards: NDArray[np.uint64]  # (B,) the cards that are added, as bits
    rank: NDArray[np.uint16]  # (B, H) the ranks of all hands


class GameHands:
    """The hands of a game with one or two hole cards; hands are the rows of ``holes``."""

    def __init__(self, rules: GameDefinition) -> None:
        if rules.hole_cards > 2:
            raise GameError("hands are estimated in games with one or two hole cards each")
        self.rules = rules
        self.holes = hole_hands(rules.deck, rules.hole_cards)
        self.names = Renamings(rules.suits, self.holes, (), isomorphic=True)
        one = np.uint64(1)
        self.bits = np.bitwise_or.reduce(one << self.holes[:, : rules.hole_cards].astype(np.uint64), axis=1)
        self.total = rules.board_ends[-1]
        self._tables = showdown_tables(rules)

    def number(self, cards: Sequence[int]) -> int:
        """The number of a hand."""
        low = cards[0] if len(cards) == 2 else self.holes[0, 1]
        return int(self.names.number[low, cards[-1]])

    def free(self, *cards: int) -> NDArray[np.bool_]:
        """Which hands have none of these cards."""
        used = np.uint64(sum(1 << card for card in cards))
        return np.asarray(self.bits & used == 0)

    def runouts(self, board: Sequence[int]) -> Runouts:
        """The ranks of all hands on all boards that can follow; of no use for impossible hands."""
        return self.ranked(board, np.ascontiguousarray(self.holes[:, : self.rules.hole_cards]))

    def ranked(self, board: Sequence[int], holes: NDArray[np.uint8], dead: Sequence[int] = ()) -> Runouts:
        """The ranks of some hands on all boards that can follow and have none of some dead cards."""
        left = [card for card in self.rules.deck if card not in board and card not in dead]
        added = np.array(left, np.uint8)[_choices(len(left), self.total - len(board))]
        boards = np.hstack([np.tile(np.array(board, np.uint8), (len(added), 1)), added])
        rank = np.empty((len(added), len(holes)), np.uint16)
        rank_boards(self._tables, boards, holes, rank)
        return Runouts(np.bitwise_or.reduce(np.uint64(1) << added.astype(np.uint64), axis=1, initial=0), rank)


@functools.lru_cache(maxsize=8)
def _choices(size: int, count: int) -> NDArray[np.int64]:
    """All choices of some of a number of places: (choices, count)."""
    return np.array(list(itertools.combinations(range(size), count)), np.int64).reshape(math.comb(size, count), count)
