"""Deals for walks over a betting tree, in batches: cards from a seed, buckets, the order of the hands.

All cards of a hand are dealt at once, which is equivalent to sampling every chance event during the walk.  The random
numbers of the deals are a separate stream, so that deals do not depend on the size of a batch.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from counterplay.kernels.buckets.deal_batches import deal_cards, gather_hands, shift_buckets, shift_showdowns
from counterplay.kernels.cards.evaluator import rank_hands
from counterplay.kernels.cards.isomorphism import index_hands
from counterplay.poker.buckets.bucket_game import BucketGame, weak_orders
from counterplay.poker.buckets.round_buckets import RoundBuckets, hand_indexer
from counterplay.poker.three_cards import showdown_tables


class DealSampler:
    """Samples the deals of a bucket game, at most ``size`` at a time; each thread needs its own."""

    def __init__(self, game: BucketGame, size: int) -> None:
        rules = game.definition
        self.game = game
        self.size = size
        self.deck = np.array(rules.deck, np.uint8)
        self._stock = self.deck.copy()
        self._dealt = np.empty((size, rules.cards_dealt), np.uint8)
        self._seen = [rules.hole_cards + end for end in rules.board_ends]
        self._hands = [np.empty((size, seen), np.uint8) for seen in self._seen]
        self._index = np.empty(size, np.int64)
        self._bucket = np.empty(size, np.int64)
        self._rank = np.empty((game.players, size), np.uint16)
        self._shift = np.zeros((size, game.num_slots), np.int64)
        self._codes = order_codes(game.players)
        self._tables = _slot_tables(game)
        self._ranking = showdown_tables(rules)

    @staticmethod
    def nbytes(game: BucketGame, size: int) -> int:
        """Bytes that a sampler will allocate."""
        rules = game.definition
        cards = rules.cards_dealt + sum(rules.hole_cards + end for end in rules.board_ends)
        return size * (cards + 16 + 2 * game.players + 8 * game.num_slots) + 104

    def deal(self, state: NDArray[np.uint64], count: int) -> NDArray[np.int64]:
        """Deals in the format of walks, (count, slots); overwritten by the next call.

        The ``state`` of the random numbers advances.
        """
        dealt = self._dealt[:count]
        deal_cards(self.deck, state, self._stock, dealt)
        return self.shifts(dealt)

    def shifts(self, dealt: NDArray[np.uint8], rounds: int | None = None) -> NDArray[np.int64]:
        """Given cards, hole cards by player and then the board, in the format of walks.

        With ``rounds`` only the buckets of so many rounds are looked up; the rest keeps what it was.
        """
        game, rules, count = self.game, self.game.definition, len(dealt)
        last = game.rounds if rounds is None else rounds
        index, bucket, shift = self._index[:count], self._bucket[:count], self._shift[:count]
        board = rules.hole_cards * game.players
        for player in range(game.players):
            own = rules.hole_cards * player
            for hands in self._hands[:last]:
                gather_hands(dealt, own, rules.hole_cards, board, hands[:count])
            for slot, turn, (numbering, table, cuts), start, width in self._tables[player]:
                if turn < last:
                    index_hands(numbering, self._hands[turn][:count], index)
                    shift_buckets(index, table, cuts, start, width, slot, bucket, shift)
            if rounds is not None:
                continue
            rank_hands(self._ranking, self._hands[-1][:count], self._rank[player, :count])
        if rounds is None:
            shift_showdowns(self._rank[:, :count], self._codes, game.showdown_slot, shift)
        return shift


PlainTable: TypeAlias = tuple[Any, NDArray[Any] | None, NDArray[Any] | None]
"""What indexes hands, the class of each index, and the cuts."""


def _slot_tables(game: BucketGame) -> list[list[tuple[int, int, PlainTable, int, int]]]:
    """By player: the slots whose buckets are looked up for a deal, with round, table, first entry and width.

    Those come first that the cuts of another one need; what no walk looks at is left out.
    """
    found: list[list[tuple[int, int, PlainTable, int, int]]] = [[] for _ in range(game.players)]
    games = [(game, 0)] if game.fixed is None else [(game, 0), (game.fixed.game, len(game.slot_start))]
    for one, first in games:
        for zone in range(len(one.zone_buckets)):
            for player, tables in enumerate(plain_tables(one, zone)):
                slots = [(zone * game.rounds + turn) * game.players + player for turn in range(game.rounds)]
                for turn, (slot, table) in enumerate(zip(slots, tables, strict=True)):
                    width = int(one.slot_width[slot])
                    if width or any(later[2] is not None for later in tables[turn + 1 :]):
                        found[player].append((first + slot, turn, table, int(one.slot_start[slot]), width))
    return found


def plain_tables(game: BucketGame, zone: int = 0) -> list[list[PlainTable]]:
    """By player and round: the tables that index hands, the class of each index, and the cuts, for kernels."""
    rules = game.definition

    def plain(table: RoundBuckets) -> PlainTable:
        indexer = hand_indexer(tuple(table.shape), rules.ranks, rules.suits)
        return indexer.tables(), _plain(table.table), _plain(table.cuts)

    return [[plain(table) for table in tables] for tables in game.zone_buckets[zone]]


def _plain(array: NDArray[Any] | None) -> NDArray[Any] | None:
    """The plain array of a memory map, which would slow down calls of kernels."""
    return None if array is None else np.asarray(array)


def order_codes(players: int) -> NDArray[np.int16]:
    """The number of each of ``weak_orders`` by how many hands each player's beats, read as digits."""
    codes = np.full(players**players, -1, np.int16)
    for number, order in enumerate(weak_orders(players)):
        codes[sum(beaten * players**player for player, beaten in enumerate(order))] = number
    return codes
