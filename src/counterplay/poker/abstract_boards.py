"""Boards for public chance sampling on a betting tree: cards from a seed, the hands they allow, their buckets.

All public cards of a hand are drawn at once, uniformly, before any walk (Johanson 2016, section 3.3; hands that share
a card with the board are ruled out from the first round on, which gives all pairs of hands the same weight).
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError
from counterplay.game.base import TERMINAL
from counterplay.kernels.bucket_pcs import CARD_SLOTS, NO_CARD, Board, BoardScratch, Pieces, number_kinds, sort_hands
from counterplay.kernels.deals import deal_cards, gather_board, look_up
from counterplay.kernels.isomorphism import index_hands
from counterplay.kernels.lanes import LANES
from counterplay.poker.abstract_deals import plain_tables
from counterplay.poker.abstract_game import AbstractGame, node_levels
from counterplay.poker.hands import hand_tables

__all__ = ["BoardSampler", "betting_pieces"]


def betting_pieces(game: AbstractGame) -> Pieces:
    """The betting tree in pieces: decisions of one round that follow one another."""
    tree = game.tree
    decision = tree.player != TERMINAL
    piece = np.full(len(tree), -1, np.int64)
    pieces = 0
    for level in node_levels(tree):
        nodes = np.arange(level.start, level.stop)[decision[level]]
        parent = tree.parent[nodes]
        fresh = (parent < 0) | (tree.round[nodes] != tree.round[parent])
        piece[nodes] = np.where(fresh, pieces + np.cumsum(fresh) - 1, piece[parent])
        pieces += int(fresh.sum())
    order = np.flatnonzero(decision)
    order = order[np.argsort(piece[order], kind="stable")]
    node_start = _starts(np.bincount(piece[order], minlength=pieces))
    local = np.zeros(len(tree), np.int64)
    local[order] = np.arange(len(order)) - node_start[piece[order]]
    actions = tree.num_children[order].astype(np.int64)
    before = _starts(actions)
    child = np.repeat(tree.first_child[order] - before[:-1], actions) + np.arange(before[-1])
    above = np.repeat(piece[order], actions)
    kind = np.where(decision[child], 2, tree.showdowns()[child].astype(np.int64))
    leaves = np.flatnonzero(piece[child] != above)
    sort = leaves[np.lexsort((leaves, kind[leaves], above[leaves]))]
    count = np.bincount(3 * above[sort] + kind[sort], minlength=3 * pieces)
    number = np.arange(len(sort)) - _starts(count)[3 * above[sort] + kind[sort]]
    size = count.reshape(pieces, 3).copy()
    size[:, :2] += -size[:, :2] % LANES
    first = np.cumsum(size, axis=1) - size
    column = first[above[sort], kind[sort]] + number
    exit_start = _starts(size.sum(axis=1))
    to = local[child]
    to[sort] = -1 - column
    place = exit_start[above[sort]] + column
    amount, link = np.zeros((2, exit_start[-1])), np.full(exit_start[-1], -1, np.int64)
    ends = kind[sort] < 2
    row = game.node_offset[child[sort]].astype(np.int64)
    for player in range(2):
        # of the three orders of two hands the third, or the second, is the player's win; see weak_orders
        won = game.utility[np.where(ends, row + np.where(kind[sort] == 1, 2 - player, 0), 0), player]
        amount[player, place] = np.where(ends, won, 0.0)
    link[place] = np.where(ends, -1, piece[child[sort]])
    turn = tree.round[order[node_start[:-1]]].astype(np.int64)
    return Pieces(
        turn, node_start, before[node_start], exit_start, size[:, 0].copy(), size[:, 0] + size[:, 1],
        tree.player[order].astype(np.int64), actions, game.node_offset[order].astype(np.int64), to, amount, link,
    )  # fmt: skip


def _starts(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate(([0], np.cumsum(counts))).astype(np.int64)


class BoardSampler:
    """Makes the boards of an abstract game of two players, and holds what walks over them work in.

    Each thread needs its own.

    Parameters
    ----------
    game : AbstractGame
        A game of two players with hands of one or two cards.
    pieces : Pieces
        Its betting tree.
    """

    def __init__(self, game: AbstractGame, pieces: Pieces) -> None:
        rules = game.definition
        check_hands(game)
        self.game = game
        self.deck = np.array(rules.deck, np.uint8)
        self._stock = self.deck.copy()
        self._dealt = np.empty((1, rules.board_ends[-1]), np.uint8)
        self._holes = np.array(list(itertools.combinations(sorted(rules.deck), rules.hole_cards)), np.uint8)
        left = len(self.deck) - rules.board_ends[-1]
        self.hands = math.comb(left, rules.hole_cards)
        self.pairs = float(self.hands * math.comb(left - rules.hole_cards, rules.hole_cards))
        self._card = np.full((self.hands, 2), NO_CARD, np.uint8)
        self._group = np.zeros(self.hands + 1, np.int64)
        self._seen = [np.empty((self.hands, rules.hole_cards + end), np.uint8) for end in rules.board_ends]
        self._index, self._bucket = np.empty((2, self.hands), np.int64)
        self._known = np.full(int(game.slot_buckets.max()), -1, np.int64)
        most = _most_kinds(game, self.hands)
        self._kind = np.zeros((2, rules.rounds, self.hands), np.int64)
        self._row = np.zeros((2, rules.rounds, max(most)), np.int64)
        self._kinds = np.zeros((2, rules.rounds), np.int64)
        self._tables = plain_tables(game)
        self.scratch = _scratch(pieces, most, self.hands)

    @staticmethod
    def nbytes(game: AbstractGame, pieces: Pieces) -> int:
        """Bytes that a sampler will allocate."""
        rules = game.definition
        hands = math.comb(len(rules.deck) - rules.board_ends[-1], rules.hole_cards)
        most = _most_kinds(game, hands)
        entries, chances, nodes = _scratch_sizes(pieces, most)
        by_hand = 8 * (5 * rules.rounds + 2 * LANES + 4) + sum(rules.hole_cards + end for end in rules.board_ends)
        fixed = 8 * (int(game.slot_buckets.max()) + (2 * rules.rounds + 1) * max(most) + CARD_SLOTS * LANES + LANES)
        return hands * by_hand + fixed + 8 * (3 * sum(entries) + sum(chances) + nodes) + 4096

    def draw(self, state: NDArray[np.uint64]) -> Board:
        """A board, drawn uniformly; overwritten by the next call.

        Parameters
        ----------
        state : (1,) uint64
            Of the random numbers; it moves on.
        """
        deal_cards(self.deck, state, self._stock, self._dealt)
        return self.board(self._dealt[0])

    def board(self, cards: NDArray[np.uint8]) -> Board:
        """A given board, with all its cards in the order in which they are dealt."""
        game = self.game
        width = game.definition.hole_cards
        groups = sort_hands(hand_tables(), cards, self._holes, self._card, self._group)
        for player in range(2):
            for turn, (numbering, table, cuts) in enumerate(self._tables[player]):
                slot = 2 * turn + player
                start, size = int(game.slot_start[slot]), int(game.slot_width[slot])
                gather_board(self._card, cards, width, self._seen[turn])
                index_hands(numbering, self._seen[turn], self._index)
                look_up(self._index, table, cuts, self._bucket)
                self._kinds[player, turn] = number_kinds(
                    self._bucket, start, size, self._known, self._kind[player, turn], self._row[player, turn]
                )
        return Board(
            self._card, self._group[: groups + 1], self._kind, self._row, self._kinds, self.pairs, float(width == 2)
        )


def check_hands(game: AbstractGame) -> None:
    """Refuse games whose hands are not walked all at once."""
    if game.players != 2:
        raise GameError(f"pcs is for two players; {game.name} has {game.players}, use external-sampling or pure-cfr")
    if game.definition.hole_cards > 2:
        raise GameError(f"pcs is for hands of one or two cards; {game.name} deals {game.definition.hole_cards}")


def _most_kinds(game: AbstractGame, hands: int) -> list[int]:
    """Most buckets of a player that a board can have, by round."""
    return [min(hands, int(count)) for count in game.slot_buckets.reshape(-1, 2).max(axis=1)]


def _scratch_sizes(pieces: Pieces, most: list[int]) -> tuple[list[int], list[int], int]:
    """Numbers by bucket and exit, and by bucket and edge, of each round; decisions of the largest piece."""
    exits, edges = np.zeros((2, len(most)), np.int64)
    np.maximum.at(exits, pieces.turn, np.diff(pieces.exit_start))
    np.maximum.at(edges, pieces.turn, np.diff(pieces.edge_start))
    kinds = np.array(most)
    return (kinds * exits).tolist(), (kinds * edges).tolist(), int(np.diff(pieces.node_start).max())


def _scratch(pieces: Pieces, most: list[int], hands: int) -> BoardScratch:
    entries, chances, nodes = _scratch_sizes(pieces, most)
    rounds = len(most)
    own, opp, worth = np.zeros((3, sum(entries)))
    mine, theirs = np.zeros((2, hands * LANES))
    return BoardScratch(
        np.zeros((2, rounds, hands)), np.zeros((rounds, hands)), _starts(np.array(entries))[:-1], own, opp, worth,
        _starts(np.array(chances))[:-1], np.zeros(sum(chances)), np.zeros(max(most)), np.zeros(nodes), mine, theirs,
        np.zeros((CARD_SLOTS + 1) * LANES), np.zeros((rounds, 2), np.int64),
    )  # fmt: skip
