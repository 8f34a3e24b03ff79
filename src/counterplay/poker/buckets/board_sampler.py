"""Boards for public chance sampling on a betting tree: cards from a seed, the hands they allow, their buckets.

All public cards of a hand are sampled at once, uniformly, before any walk (Johanson 2016, section 3.3; hands that share
a card with the board are excluded from the first round on, which gives all pairs of hands the same weight).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError
from counterplay.game.game import TERMINAL
from counterplay.kernels.buckets.board_response import ResponseScratch
from counterplay.kernels.buckets.bucket_pcs import (
    CARD_SLOTS,
    NO_CARD,
    Board,
    BoardScratch,
    Pieces,
    number_kinds,
    sort_hands,
)
from counterplay.kernels.buckets.deal_batches import deal_cards, gather_board, look_up
from counterplay.kernels.cards.isomorphism import index_hands
from counterplay.kernels.numba_internals import WIDE, row_space
from counterplay.poker.betting import BettingTree
from counterplay.poker.buckets.bucket_game import BucketGame, node_levels
from counterplay.poker.buckets.deal_sampler import plain_tables
from counterplay.poker.buckets.round_buckets import hand_indexer
from counterplay.poker.evaluator import hand_tables
from counterplay.poker.isomorphism import HandIndexer
from counterplay.poker.three_cards import showdown_tables
from counterplay.runtime.threads import spaced_zeros

MOST_BOARDS = 50_000
"""Most boards up to a permutation of suits that are enumerated; each costs a millisecond or more."""


def count_boards(game: BucketGame, last: int | None = None) -> int:
    """The number of boards of a round, by default the last, up to renaming suits."""
    indexer = _board_indexer(game, last)
    return 1 if indexer is None else int(indexer.size())


def _board_indexer(game: BucketGame, last: int | None) -> HandIndexer | None:
    """What numbers the boards of a round; None where no card is dealt."""
    rules = game.definition
    shape = tuple(count for count in rules.board_cards[: rules.rounds if last is None else last + 1] if count)
    return hand_indexer(shape, rules.ranks, rules.suits) if shape else None


def every_board(game: BucketGame, last: int | None = None) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    """All boards of a round, by default the last, up to renaming suits, and how many each represents.

    Raises GameError if there are more than ``MOST_BOARDS``.
    """
    boards = count_boards(game, last)
    if boards > MOST_BOARDS:
        raise GameError(f"{game.name} has {boards:,} different boards, too many for all; say how many to sample")
    indexer = _board_indexer(game, last)
    if indexer is None:
        return np.zeros((1, 0), np.uint8), np.ones(1)
    every = np.arange(boards)
    return indexer.hands(every), indexer.orbits(every).astype(np.float64)


def betting_pieces(game: BucketGame) -> Pieces:
    """The betting tree in pieces: connected decisions of one round."""
    tree = game.tree
    decision = tree.player != TERMINAL
    piece, root = np.full(len(tree), -1, np.int64), np.zeros(len(tree), bool)
    pieces = 0
    for level in node_levels(tree):
        nodes = np.arange(level.start, level.stop)[decision[level]]
        parent = tree.parent[nodes]
        fresh = (parent < 0) | (tree.round[nodes] != tree.round[parent])
        piece[nodes] = np.where(fresh, pieces + np.cumsum(fresh) - 1, piece[parent])
        root[nodes] = fresh
        pieces += int(fresh.sum())
    nodes = np.flatnonzero(decision)
    order = nodes[np.lexsort((piece[nodes], tree.player[nodes]))]
    owner = tree.player[order].astype(np.int64) * pieces + piece[order]  # by player, then by piece
    actions = tree.num_children[order].astype(np.int64)
    decisions = np.bincount(owner, minlength=2 * pieces)
    start = _starts(decisions)
    before = _starts(actions)
    first = np.zeros(len(tree), np.int64)  # of a decision: the sequence of its first action
    first[order] = 1 + before[:-1] - before[start[owner]]
    led = _sequences(tree, root, first)
    turn = np.zeros(pieces, np.int64)
    turn[piece[nodes]] = tree.round[nodes]
    exits = _exits(game, piece, led)
    return Pieces(
        turn, decisions.reshape(2, -1).sum(axis=0) + exits.kinds[:, :2].sum(axis=1),
        np.stack((start[: pieces + 1], start[pieces:])), 1 + (before[start[1:]] - before[start[:-1]]).reshape(2, -1),
        np.where(root[order], 0, led[tree.player[order], order]), actions, game.node_offset[order].astype(np.int64),
        exits.start, exits.size[:, 0].copy(), exits.size[:, :2].sum(axis=1), exits.led, exits.amount, exits.link,
    )  # fmt: skip


def piece_places(pieces: Pieces, members: Iterable[NDArray[np.int64]]) -> NDArray[np.int64]:
    """The place of each piece among the ``members`` of its round."""
    place = np.zeros(len(pieces.turn), np.int64)
    for some in members:
        place[some] = np.arange(len(some))
    return place


def _sequences(tree: BettingTree, root: NDArray[np.bool_], first: NDArray[np.int64]) -> NDArray[np.int64]:
    """The sequence of each player that leads to a node, (2, nodes), in the piece of its parent."""
    led = np.zeros((2, len(tree)), np.int64)
    for level in node_levels(tree)[1:]:
        nodes = np.arange(level.start, level.stop)
        parent = tree.parent[nodes]
        for player in range(2):
            before = np.where(root[parent], 0, led[player, parent])
            after = first[parent] + nodes - tree.first_child[parent]
            led[player, nodes] = np.where(tree.player[parent] == player, after, before)
    return led


class _Exits(NamedTuple):
    """The exits of all pieces; see ``Pieces``."""

    kinds: NDArray[np.int64]  # (P, 3): folds, showdowns, links
    size: NDArray[np.int64]  # the same with rows filled up
    start: NDArray[np.int64]
    led: NDArray[np.int64]
    amount: NDArray[np.float64]
    link: NDArray[np.int64]


def _exits(game: BucketGame, piece: NDArray[np.int64], led: NDArray[np.int64]) -> _Exits:
    tree = game.tree
    pieces = int(piece.max()) + 1
    nodes = 1 + np.flatnonzero(piece[1:] != piece[tree.parent[1:]])
    kind = np.where(piece[nodes] >= 0, 2, tree.showdowns()[nodes].astype(np.int64))
    owner = 3 * piece[tree.parent[nodes]] + kind
    order = np.argsort(owner, kind="stable")
    nodes, kind, owner = nodes[order], kind[order], owner[order]
    count = np.bincount(owner, minlength=3 * pieces)
    number = np.arange(len(nodes)) - _starts(count)[owner]
    count = count.reshape(pieces, 3)
    size = count.copy()
    size[:, :2] += -size[:, :2] % WIDE
    place = _starts(size.ravel())[owner] + number
    start = _starts(size.sum(axis=1))
    reached, amount, link = np.zeros((2, start[-1]), np.int64), np.zeros((2, start[-1])), np.full(start[-1], -1)
    link[place] = piece[nodes]
    row = np.where(kind < 2, game.node_offset[nodes].astype(np.int64), 0)
    for player in range(2):
        # of the three orders of two hands the third or the second is the player's win; see weak_orders
        won = game.utility[row + np.where(kind == 1, 2 - player, 0), player]
        amount[player, place] = np.where(kind < 2, won, 1.0)
        reached[player, place] = led[player, nodes]
    return _Exits(count, size, start, reached, amount, link)


def _starts(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate(([0], np.cumsum(counts))).astype(np.int64)


class HandRows(NamedTuple):
    """How the hands of a player in a round have rows in a table: the tables of ``plain_tables``, and the entries."""

    numbering: Any  # the tables that index hands
    table: NDArray[Any] | None
    cuts: NDArray[Any] | None
    start: int  # the first entry
    width: int  # entries of a bucket


def bucket_rows(game: BucketGame, last: int) -> list[list[HandRows]]:
    """By player and round, up to a last one: the rows of a bucket game."""
    return [
        [
            HandRows(*table, int(game.slot_start[2 * turn + player]), int(game.slot_width[2 * turn + player]))
            for turn, table in enumerate(tables[: last + 1])
        ]
        for player, tables in enumerate(plain_tables(game))
    ]


class BoardSampler:
    """Samples the boards of a bucket game of two players, and holds the work arrays of walks over them.

    Each thread needs its own.  ``pieces`` is the betting tree; ``last`` the round whose board this is, by default the
    last one; later rounds are unknown.
    """

    def __init__(self, game: BucketGame, pieces: Pieces, last: int | None = None) -> None:
        rules = game.definition
        check_hands(game)
        last = rules.rounds - 1 if last is None else last
        cards = rules.board_ends[last]
        self.game = game
        self.deck = np.array(rules.deck, np.uint8)
        self._stock = self.deck.copy()
        self._dealt = np.empty((1, cards), np.uint8)
        self._holes = np.array(list(itertools.combinations(sorted(rules.deck), rules.hole_cards)), np.uint8)
        left = len(self.deck) - cards
        self.hands = math.comb(left, rules.hole_cards)
        self.pairs = float(self.hands * math.comb(left - rules.hole_cards, rules.hole_cards))
        self._card = np.full((self.hands, 2), NO_CARD, np.uint8)
        self._group = np.zeros(self.hands + 1, np.int64)
        self._seen = [np.empty((self.hands, rules.hole_cards + end), np.uint8) for end in rules.board_ends[: last + 1]]
        self._bucket = np.empty(self.hands, np.int64)
        self._index: dict[tuple[int, int], NDArray[np.int64]] = {}
        self._rows = bucket_rows(game, last)
        self._ranking = showdown_tables(rules) if cards == rules.board_ends[-1] else hand_tables()  # only sorts then
        self._allocate(pieces, last)

    def _allocate(self, pieces: Pieces, last: int) -> None:
        """Make the arrays whose size depends on the buckets."""
        game, rounds = self.game, self.game.rounds
        most = most_kinds(game, self.hands)
        self._known = np.full(int(game.slot_buckets.max()), -1, np.int64)
        self._kind = np.zeros((2, rounds, self.hands), np.int64)
        self._row = np.zeros((2, rounds, max(most)), np.int64)
        self._kinds = np.zeros((2, rounds), np.int64)
        self.scratch = board_scratch(pieces, most, self.hands)

    @staticmethod
    def nbytes(game: BucketGame, pieces: Pieces) -> int:
        """Bytes that a sampler will allocate."""
        rules = game.definition
        hands = math.comb(len(rules.deck) - rules.board_ends[-1], rules.hole_cards)
        most = most_kinds(game, hands)
        by_hand = 8 * (3 * rules.rounds + 2) + sum(rules.hole_cards + end for end in rules.board_ends)
        fixed = 8 * (int(game.slot_buckets.max()) + 2 * rules.rounds * max(most))
        return hands * by_hand + fixed + scratch_bytes(pieces, most, hands) + 4096

    def draw(self, state: NDArray[np.uint64]) -> Board:
        """A board, sampled uniformly; overwritten by the next call.  The ``state`` of the random numbers advances."""
        return self.board(self.draw_cards(state))

    def draw_cards(self, state: NDArray[np.uint64]) -> NDArray[np.uint8]:
        """The cards of such a board."""
        deal_cards(self.deck, state, self._stock, self._dealt)
        return np.asarray(self._dealt[0])

    def board(self, cards: NDArray[np.uint8]) -> Board:
        """A given board, with all its cards in the order of the deal."""
        groups = self._sort(cards)
        for player in range(2):
            self._number(cards, self._rows[player], self._kind[player], self._row[player], self._kinds[player])
        return self._made(groups, self._kind, self._row, self._kinds)

    def _sort(self, cards: NDArray[np.uint8]) -> int:
        """Sort the hands that a board allows; how many ranks there are."""
        self._index.clear()
        return sort_hands(self._ranking, cards, self._holes, self._card, self._group)

    def _number(self, cards: NDArray[np.uint8], rows: list[HandRows], kind: Any, row: Any, kinds: Any) -> None:
        """Number the buckets of a player's hands, round by round."""
        for turn, one in enumerate(rows):
            key = turn, id(one.numbering)
            if key not in self._index:
                gather_board(self._card, cards, self.game.definition.hole_cards, self._seen[turn])
                self._index[key] = np.empty(self.hands, np.int64)
                index_hands(one.numbering, self._seen[turn], self._index[key])
            look_up(self._index[key], one.table, one.cuts, self._bucket)
            kinds[turn] = number_kinds(self._bucket, one.start, one.width, self._known, kind[turn], row[turn])

    def _made(self, groups: int, kind: Any, row: Any, kinds: Any) -> Board:
        twin = float(self.game.definition.hole_cards == 2)
        return Board(self._card, self._group[: groups + 1], kind, row, kinds, self.pairs, twin)


def check_hands(game: BucketGame) -> None:
    """Refuse games that ``pcs`` does not support."""
    if game.players != 2:
        raise GameError(f"pcs is for two players; {game.name} has {game.players}, use external-sampling or pure-cfr")
    if game.tilt is not None:
        raise GameError(f"pcs is for zero-sum games; {game.name} is tilted, use external-sampling or cfr+")
    if game.definition.hole_cards > 2:
        raise GameError(f"pcs is for hands of one or two cards; {game.name} deals {game.definition.hole_cards}")


def most_kinds(game: BucketGame, hands: int) -> list[int]:
    """Most buckets of a player that a board can have, by round."""
    return [min(hands, int(count)) for count in game.slot_buckets.reshape(-1, 2).max(axis=1)]


def _scratch_sizes(pieces: Pieces, most: list[int]) -> tuple[list[int], list[int], int]:
    """Numbers by bucket and exit, and by bucket and sequence, of each round; sequences of the largest piece."""
    exits, sequences = np.zeros((2, len(most)), np.int64)
    np.maximum.at(exits, pieces.turn, np.diff(pieces.exit_start))
    np.maximum.at(sequences, pieces.turn, pieces.sequences.max(axis=0))
    kinds = np.array(most)
    return (kinds * exits).tolist(), (kinds * sequences).tolist(), int(sequences.max())


def scratch_bytes(pieces: Pieces, most: list[int], hands: int) -> int:
    """Bytes of ``board_scratch``."""
    entries, chances, longest = _scratch_sizes(pieces, most)
    by_hand = hands * (3 * len(most) + 2 * WIDE)
    return 8 * (3 * sum(entries) + sum(chances) + longest + max(most) + by_hand + CARD_SLOTS * WIDE)


def board_scratch(pieces: Pieces, most: list[int], hands: int) -> BoardScratch:
    """The work arrays of walks over boards with so many hands, and at most so many buckets in each round."""
    entries, chances, longest = _scratch_sizes(pieces, most)
    rounds = len(most)
    own, opp, worth = np.zeros((3, sum(entries)))
    mine, theirs = row_space(_filled(hands)), row_space(hands)
    return BoardScratch(
        np.zeros((2, rounds, hands)), np.zeros((rounds, hands)), _starts(np.array(entries))[:-1], own, opp, worth,
        _starts(np.array(chances))[:-1], np.zeros(sum(chances)), spaced_zeros(max(most)), spaced_zeros(longest),
        mine, theirs, row_space(CARD_SLOTS), spaced_zeros((rounds, 2), np.int64),
    )  # fmt: skip


def response_scratch(pieces: Pieces, hands: int) -> ResponseScratch:
    """The work arrays of best responses on boards with so many hands."""
    span, exits = _filled(hands), int(np.diff(pieces.exit_start).max())
    sequences, decisions = int(pieces.sequences.max()), int(np.diff(pieces.decision_start, axis=1).max())
    return ResponseScratch(
        np.zeros(exits * span), np.zeros(sequences * span), np.zeros(span), np.zeros(decisions * span, np.uint8),
        np.zeros(sequences * span, np.uint8), np.zeros(WIDE, np.int64),
    )  # fmt: skip


def _filled(hands: int) -> int:
    """Hands, filled up to rows."""
    return -(-hands // WIDE) * WIDE
