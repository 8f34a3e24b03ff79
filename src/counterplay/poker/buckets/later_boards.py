"""The boards that can follow a board, with all their hands.

Johanson 2016, section 2.4: given two hands, all boards that share no card with them are equally likely.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from counterplay.kernels.buckets.board_response import Hands
from counterplay.kernels.buckets.bucket_pcs import NO_CARD, Board
from counterplay.poker.buckets.board_sampler import BoardSampler
from counterplay.poker.buckets.bucket_game import BucketGame

Cards = NDArray[np.uint8]


class LaterBoards:
    """Continues boards by the cards of the next round; ``samplers`` make the boards of each round."""

    def __init__(self, game: BucketGame, samplers: Mapping[int, BoardSampler]) -> None:
        self._rules, self._samplers = game.definition, samplers
        self._number = np.zeros((64, 64), np.int64)  # of a hand among all of the deck
        deck, held = sorted(game.definition.deck), game.definition.hole_cards
        for number, hole in enumerate(itertools.combinations(deck, held)):
            cards = (*hole, NO_CARD)[:2]
            self._number[cards], self._number[cards[::-1]] = number, number
        self._holes = math.comb(len(deck), held)

    def after(self, turn: int, cards: Cards, board: Board) -> Iterator[tuple[Cards, Board, Hands]]:
        """The boards after one of round ``turn``: all their cards, the board, which the next one overwrites, and where
        its hands are among those before.
        """
        rules, later = self._rules, self._samplers[turn + 1]
        places = np.full(self._holes, -1)
        places[self._numbers(board)] = np.arange(len(board.card))
        left, count = sorted(set(rules.deck) - set(cards.tolist())), rules.board_cards[turn + 1]
        chance = 1.0 / math.comb(len(left) - 2 * rules.hole_cards, count)
        for dealt in itertools.combinations(left, count):
            whole = np.concatenate((cards, np.array(dealt, np.uint8)))
            child = later.board(whole)
            yield whole, child, Hands(places[self._numbers(child)], chance)

    def _numbers(self, board: Board) -> NDArray[np.int64]:
        return np.asarray(self._number[board.card[:, 0], board.card[:, 1]])
