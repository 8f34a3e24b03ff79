"""Boards at the end of a trunk, for CFR-BR with a hybrid opponent (Johanson 2016, section 4.3).

In the rounds of the trunk the hybrid has a table with a row for each of its real hands, up to renaming suits; the
player has rows by buckets.  Each of the two seats has a hybrid of its own, in the other seat.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError
from counterplay.kernels.buckets.bucket_pcs import Board, Pieces
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.buckets.board_sampler import BoardSampler, HandRows, board_scratch, most_kinds, scratch_bytes
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.buckets.round_buckets import hand_indexer
from counterplay.poker.isomorphism import HandIndexer


def check_trunk(game: BucketGame, trunk: int, pieces: Pieces | None = None) -> None:
    """Refuse a trunk that a game does not have; with its ``pieces`` also one that ends before hands can be compared."""
    if trunk > game.rounds:
        raise GameError(f"{game.name} has {game.rounds} rounds; a trunk cannot have {trunk}")
    if pieces is None or trunk >= game.rounds - 1:
        return
    early = (pieces.terminals > pieces.folds) & (pieces.turn < game.rounds - 1)
    if early.any():  # a showdown needs all cards
        raise GameError(
            f"players of {game.name} can be all in before the last cards; "
            f"use a trunk of {game.rounds - 1} or {game.rounds} rounds"
        )


def round_indexer(rules: GameDefinition, turn: int) -> HandIndexer:
    """The numbers of hands of a round, up to renaming suits."""
    dealt = (rules.hole_cards, *(count for count in rules.board_cards[: turn + 1] if count))
    return hand_indexer(dealt, rules.ranks, rules.suits)


def trunk_entries(game: BucketGame, trunk: int, player: int) -> int:
    """Pairs of an information set and an action of a player's trunk, all real hands up to renaming suits."""
    rules = game.definition
    return sum(round_indexer(rules, turn).size() * int(game.slot_width[2 * turn + player]) for turn in range(trunk))


def trunk_rows(game: BucketGame, trunk: int, player: int) -> list[HandRows]:
    """The rows of a hybrid's trunk, by round."""
    found, start = [], 0
    for turn in range(trunk):
        indexer, width = round_indexer(game.definition, turn), int(game.slot_width[2 * turn + player])
        found.append(HandRows(indexer.tables(), None, None, start, width))
        start += indexer.size() * width
    return found


def continuations(game: BucketGame, turn: int) -> int:
    """How many boards of a round follow one of the round before."""
    rules = game.definition
    return math.comb(len(rules.deck) - rules.board_ends[turn - 1], rules.board_cards[turn])


class TrunkSampler(BoardSampler):
    """Samples boards of the round at which a trunk is left; of the last round where the trunk has all rounds."""

    def __init__(self, game: BucketGame, pieces: Pieces, trunk: int) -> None:
        self.trunk = trunk
        super().__init__(game, pieces, min(trunk, game.rounds - 1))

    def _allocate(self, pieces: Pieces, last: int) -> None:
        game, rounds, trunk = self.game, self.game.rounds, self.trunk
        self._trunk_rows = [trunk_rows(game, trunk, player) for player in range(2)]
        most = _most_rows(game, trunk, self.hands)
        self._known = np.full(_most_known(game, trunk), -1, np.int64)
        self._kind = np.zeros((2, 2, rounds, self.hands), np.int64)  # by seat of the player, then as in Board
        self._row = np.zeros((2, 2, rounds, max(most)), np.int64)
        self._kinds = np.zeros((2, 2, rounds), np.int64)
        self.scratch = board_scratch(pieces, most, self.hands)
        self.hybrid_scratch = board_scratch(pieces, most, self.hands)

    @staticmethod
    def trunk_bytes(game: BucketGame, pieces: Pieces, trunk: int) -> int:
        """Bytes that a sampler will allocate."""
        rules = game.definition
        hands = math.comb(len(rules.deck) - rules.board_ends[min(trunk, rules.rounds - 1)], rules.hole_cards)
        most = _most_rows(game, trunk, hands)
        by_hand = 8 * (4 * rules.rounds + 2 + rules.rounds) + sum(rules.hole_cards + end for end in rules.board_ends)
        fixed = 8 * (_most_known(game, trunk) + 4 * rules.rounds * max(most))
        return hands * by_hand + fixed + 2 * scratch_bytes(pieces, most, hands) + 4096

    def seats(self, cards: NDArray[np.uint8]) -> tuple[Board, Board]:
        """A given board for the player of each seat; the opponent's hands are those of the hybrid."""
        groups = self._sort(cards)
        for seat in range(2):
            for player in range(2):
                rows = self._rows[player] if player == seat else self._trunk_rows[player]
                self._number(cards, rows, self._kind[seat, player], self._row[seat, player], self._kinds[seat, player])
        first, second = (self._made(groups, self._kind[s], self._row[s], self._kinds[s]) for s in range(2))
        return first, second


def _most_rows(game: BucketGame, trunk: int, hands: int) -> list[int]:
    """Most rows of a player that a board can have, by round."""
    found = most_kinds(game, hands)
    for turn in range(trunk):
        found[turn] = max(found[turn], min(hands, round_indexer(game.definition, turn).size()))
    return found


def _most_known(game: BucketGame, trunk: int) -> int:
    """Most rows of a player in a round."""
    sizes = [round_indexer(game.definition, turn).size() for turn in range(trunk)]
    return max(int(game.slot_buckets.max()), *sizes)
