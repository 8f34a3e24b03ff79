"""The cards of a match, as the reference dealer of the poker competition deals them from a seed.

One MT19937 generator, seeded by the single-integer initialiser of Matsumoto and Nishimura (2002), serves a whole
match.  To deal a card: ``i = draw mod n``, take card ``i`` of the deck, move the last card to its place, decrement n.
Hole cards come first, by position, then the board of every round, even if it will not be seen.  Every hand has a new
deck; the generator continues.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError
from counterplay.poker.acpc.definition import GameDefinition

CHUNK = 512
"""Hands dealt at a time by ``deals``."""


@dataclasses.dataclass(frozen=True, slots=True)
class Deal:
    """The cards of one hand: the hole cards of each position (empty where unknown) and the board."""

    hole: tuple[tuple[int, ...], ...]
    board: tuple[int, ...]


class _Twister:
    """The raw 32-bit numbers of MT19937 after the single-integer initialiser."""

    def __init__(self, seed: int) -> None:
        if not 0 <= seed < 2**32:
            raise GameError(f"the seed of a deal must lie between 0 and {2**32 - 1}; got {seed}")
        key = [seed]
        for number in range(1, 624):
            key.append((1812433253 * (key[-1] ^ key[-1] >> 30) + number) & 0xFFFFFFFF)
        self.generator = np.random.MT19937()
        self.generator.state = {
            "bit_generator": "MT19937",
            "state": {"key": np.array(key, dtype=np.uint32), "pos": 624},
        }

    def deal(self, game: GameDefinition, hands: int) -> NDArray[np.int8]:
        count = game.cards_dealt
        draws = self.generator.random_raw(hands * count).reshape(hands, count)
        decks = np.tile(np.array(game.deck, dtype=np.int8), (hands, 1))
        dealt = np.empty((hands, count), dtype=np.int8)
        row = np.arange(hands)
        for number in range(count):
            left = len(game.deck) - number
            place = draws[:, number] % np.uint64(left)
            dealt[:, number] = decks[row, place]
            decks[row, place] = decks[:, left - 1]
        return dealt


def deal_array(game: GameDefinition, seed: int, hands: int) -> NDArray[np.int8]:
    """The cards of the first hands of a match, one row a hand: hole cards by position, then the board."""
    return _Twister(seed).deal(game, hands)


def deals(game: GameDefinition, seed: int) -> Iterator[Deal]:
    """The deals of a match, hand by hand; infinite."""
    twister = _Twister(seed)
    each, last = game.hole_cards, game.hole_cards * game.players
    while True:
        for cards in twister.deal(game, CHUNK).tolist():
            hole = tuple([tuple(cards[start : start + each]) for start in range(0, last, each)])
            yield Deal(hole, tuple(cards[last:]))
