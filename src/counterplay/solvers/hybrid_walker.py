"""An iteration of CFR-BR with a trunk, on one board: the trunk, and all that follows the board.

Johanson 2016, section 4.3.  The cards up to the end of the trunk are given and rule hands out from the root on, so that
all pairs of hands have the same weight; all later cards are enumerated.  For each seat:

1. reaches of both players at the links that leave the trunk,
2. below each of these, the hybrid's best response to the player, the last round first, which is kept as a plan,
3. regrets of the player against that plan,
4. regrets of both in the trunk, from the values that 2 and 3 give.

Below the trunk only what follows some of the links is done at a time, so that a plan fits into memory.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from counterplay.kernels.buckets.board_response import reach_links, respond_round
from counterplay.kernels.buckets.bucket_pcs import Board, Pieces
from counterplay.kernels.buckets.hybrid_walks import answer_plan, follow_plan, give_hands, learn_trunk, take_hands
from counterplay.kernels.numba_internals import WIDE
from counterplay.poker.buckets.board_sampler import BoardSampler, response_scratch
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.buckets.trunk_sampler import TrunkSampler, continuations

Vectors = NDArray[np.float64]
Cards = NDArray[np.uint8]

PLAN_BYTES = 1 << 27
"""Bytes of a plan above which the links that leave the trunk are taken in several parts."""

_NONE = np.zeros(0)
_NO_VALUES = np.zeros((0, 0))


class HybridTables(NamedTuple):
    """What is played, and what regrets and averages are added to."""

    regret: NDArray[Any]  # of the players, by buckets
    learned: NDArray[Any]  # may be the same
    average: NDArray[Any]  # (0,) where none is kept
    trunk: tuple[NDArray[Any], NDArray[Any]]  # of the hybrid against the player of each seat
    trunk_learned: tuple[NDArray[Any], NDArray[Any]]  # may be the same


class Update(NamedTuple):
    """How a walk counts."""

    share: float  # in regrets
    weight: float  # in the average
    floor: bool  # regrets stay at 0 or above


class Part(NamedTuple):
    """Some of the pieces at which the trunk is left, and all that follow them."""

    first: int  # of the pieces at which the trunk is left
    last: int
    members: dict[int, NDArray[np.int64]]  # by round: the pieces
    place: NDArray[np.int64]  # of a piece among those of its round
    rows: dict[int, int]  # by round: rows of a plan


class _Seat(NamedTuple):
    """A walk for one seat."""

    seat: int
    part: Part
    tables: HybridTables
    update: Update


class HybridWalker:
    """Walks over boards for both seats; each thread needs its own.

    ``trunk`` is the number of rounds in which the hybrid learns.
    """

    def __init__(self, game: BucketGame, pieces: Pieces, trunk: int) -> None:
        self.game, self.pieces, self.trunk = game, pieces, trunk
        rounds = game.rounds
        self.sampler = TrunkSampler(game, pieces, trunk)
        self._samplers: dict[int, BoardSampler] = {trunk: self.sampler}
        self._samplers |= {turn: BoardSampler(game, pieces, turn) for turn in range(trunk + 1, rounds)}
        every = {turn: np.flatnonzero(pieces.turn == turn) for turn in range(rounds)}
        self._trunk = Part(0, 0, every, _places(pieces, every), {})
        self.parts = plan_parts(game, pieces, trunk)
        self._plan = np.zeros(max((plan_bytes(game, part, trunk) for part in self.parts), default=0), np.uint8)
        self._at = 0
        self._work = response_scratch(pieces, self.sampler.hands)
        self._bits = (np.arange(256)[:, None] >> np.arange(WIDE) & 1).astype(np.float64).ravel()
        self._number = np.zeros((64, 64), np.int64)  # of a hand among all
        deck, held = game.definition.deck, game.definition.hole_cards
        for number, hole in enumerate(itertools.combinations(sorted(deck), held)):
            cards = (*hole, 52)[:2]
            self._number[cards], self._number[cards[::-1]] = number, number
        self._where = np.zeros(math.comb(len(deck), held), np.int64)

    def walk(self, cards: Cards, tables: HybridTables, update: Update) -> int:
        """Learn on a board, for both seats; how many nodes of the betting were touched."""
        boards = self.sampler.seats(cards)
        for seat in range(2):
            self._walk_seat(seat, cards, boards[seat], tables, update)
        return self.touched

    @property
    def touched(self) -> int:
        """Nodes of the betting that a walk touches, each as often as it does."""
        boards, count = 1, 0
        for turn in range(self.game.rounds):
            if turn > self.trunk:
                boards *= continuations(self.game, turn)
            nodes = int(self.pieces.nodes[self._trunk.members[turn]].sum())
            count += 4 * boards * nodes
        return count

    def _walk_seat(self, seat: int, cards: Cards, board: Board, tables: HybridTables, update: Update) -> None:
        sampler, members, place = self.sampler, self._trunk.members, self._trunk.place
        trunk, learned = tables.trunk[seat], tables.trunk_learned[seat]
        reaches = [np.full((2, 1, sampler.hands), update.share / sampler.pairs)]
        for turn in range(min(self.trunk, self.game.rounds - 1)):
            after = np.empty((2, len(members[turn + 1]), sampler.hands))
            for player, table, into in ((1 - seat, tables.regret, 0), (seat, trunk, 1)):
                reach_links(
                    self.pieces, members[turn], place, board, player, table, reaches[turn][into], after[into],
                    sampler.scratch,
                )  # fmt: skip
            reaches.append(after)
        values = np.zeros((2, 0, 0))
        if self.trunk < self.game.rounds:
            values = self._below(seat, cards, board, reaches[self.trunk], tables, update)
        for turn in range(self.trunk - 1, -1, -1):
            found = np.empty_like(reaches[turn])
            learn_trunk(
                self.pieces, members[turn], place, board, seat, update.weight, update.floor, tables.regret,
                tables.learned, tables.average, trunk, learned, reaches[turn], values, found, sampler.scratch,
                sampler.hybrid_scratch,
            )  # fmt: skip
            values = found

    def _below(
        self, seat: int, cards: Cards, board: Board, reach: Vectors, tables: HybridTables, update: Update
    ) -> Vectors:
        """Values of both players where the trunk is left."""
        values = np.empty_like(reach)
        for part in self.parts:
            some = slice(part.first, part.last)
            walk = _Seat(seat, part, tables, update)
            self._at = 0
            values[1, some] = self._respond(walk, self.trunk, cards, board, reach[0, some])
            self._at = 0
            values[0, some] = self._answer(walk, self.trunk, cards, board, reach[:, some])
        return values

    def _respond(self, walk: _Seat, turn: int, cards: Cards, board: Board, reach: Vectors) -> Vectors:
        """The hybrid's best response to the player's reaches from a round on: its values, and the plan."""
        plan, part, scratch = self._plan_of(walk, turn), walk.part, self._samplers[turn].scratch
        regret, hybrid = walk.tables.regret, 1 - walk.seat
        below = _NO_VALUES
        if turn + 1 < self.game.rounds:
            after = np.empty((len(part.members[turn + 1]), reach.shape[1]))
            reach_links(self.pieces, part.members[turn], part.place, board, hybrid, regret, reach, after, scratch)
            below = np.zeros_like(after)
            for whole, child, spots, chance in self._continued(turn, cards, board):
                down = np.empty((len(after), len(spots)))
                take_hands(after, spots, chance, down)
                give_hands(self._respond(walk, turn + 1, whole, child, down), spots, below)
        values = np.empty_like(reach)
        respond_round(
            self.pieces, part.members[turn], part.place, board, hybrid, regret, _NONE, reach, below, values, _NONE,
            plan, scratch, self._work,
        )  # fmt: skip
        return values

    def _answer(self, walk: _Seat, turn: int, cards: Cards, board: Board, reach: Vectors) -> Vectors:
        """The player's regrets against the plan from a round on; its values."""
        plan, part, scratch = self._plan_of(walk, turn), walk.part, self._samplers[turn].scratch
        members, place, tables, update = part.members[turn], part.place, walk.tables, walk.update
        own, other = reach
        below = _NO_VALUES
        if turn + 1 < self.game.rounds:
            after = np.empty((2, len(part.members[turn + 1]), reach.shape[2]))
            reach_links(self.pieces, members, place, board, 1 - walk.seat, tables.regret, own, after[0], scratch)
            follow_plan(self.pieces, members, place, plan, other, after[1])
            below = np.zeros_like(after[0])
            for whole, child, spots, chance in self._continued(turn, cards, board):
                down = np.empty((2, after.shape[1], len(spots)))
                for source, into in zip(after, down, strict=True):
                    take_hands(source, spots, chance, into)
                give_hands(self._answer(walk, turn + 1, whole, child, down), spots, below)
        values: Vectors = np.empty_like(own)
        answer_plan(
            self.pieces, members, place, board, walk.seat, update.weight, update.floor, tables.regret, tables.learned,
            tables.average, own, other, plan, self._bits, below, values, scratch,
        )  # fmt: skip
        return values

    def _plan_of(self, walk: _Seat, turn: int) -> NDArray[np.uint8]:
        """The place of the plan for the next board, in the order in which boards are visited."""
        rows, hands = walk.part.rows[turn], self._samplers[turn].hands
        start, self._at = self._at, self._at + rows * hands
        return self._plan[start : self._at].reshape(rows, hands)

    def _continued(
        self, turn: int, cards: Cards, board: Board
    ) -> Iterator[tuple[Cards, Board, NDArray[np.int64], float]]:
        """The boards that follow: cards, hands, where these are among the hands before, and how likely they are."""
        rules, later = self.game.definition, self._samplers[turn + 1]
        places = np.full(len(self._where), -1)
        places[self._number[board.card[:, 0], board.card[:, 1]]] = np.arange(len(board.card))
        left = sorted(set(rules.deck) - set(cards.tolist()))
        chance = 1.0 / math.comb(len(left) - 2 * rules.hole_cards, rules.board_cards[turn + 1])
        for dealt in itertools.combinations(left, rules.board_cards[turn + 1]):
            whole = np.concatenate((cards, np.array(dealt, np.uint8)))
            child = later.board(whole)
            yield whole, child, places[self._number[child.card[:, 0], child.card[:, 1]]], chance


def _places(pieces: Pieces, members: dict[int, NDArray[np.int64]]) -> NDArray[np.int64]:
    place = np.zeros(len(pieces.turn), np.int64)
    for some in members.values():
        place[some] = np.arange(len(some))
    return place


def plan_parts(game: BucketGame, pieces: Pieces, trunk: int) -> list[Part]:
    """The pieces at which a trunk is left, in as few parts as plans of ``PLAN_BYTES`` allow; none if it is not left."""
    if trunk >= game.rounds:
        return []
    cut = np.flatnonzero(pieces.turn == trunk)
    whole = _part(game, pieces, trunk, 0, len(cut))
    parts = min(len(cut), -(-plan_bytes(game, whole, trunk) // PLAN_BYTES))
    edges = np.linspace(0, len(cut), parts + 1).astype(int).tolist()
    return [_part(game, pieces, trunk, first, last) for first, last in itertools.pairwise(edges)]


def _part(game: BucketGame, pieces: Pieces, trunk: int, first: int, last: int) -> Part:
    members = {trunk: np.flatnonzero(pieces.turn == trunk)[first:last]}
    for turn in range(trunk + 1, game.rounds):
        exits = [
            pieces.link[pieces.exit_start[piece] + pieces.terminals[piece] : pieces.exit_start[piece + 1]]
            for piece in members[turn - 1]
        ]
        members[turn] = np.concatenate([np.zeros(0, np.int64), *exits])
    rows = {turn: int((-(-np.diff(pieces.exit_start)[some] // WIDE)).sum()) for turn, some in members.items()}
    return Part(first, last, members, _places(pieces, members), rows)


def plan_bytes(game: BucketGame, part: Part, trunk: int) -> int:
    """Bytes of the plan of a part: all boards that follow one."""
    rules, boards, total = game.definition, 1, 0
    for turn in range(trunk, game.rounds):
        boards *= continuations(game, turn) if turn > trunk else 1
        hands = math.comb(len(rules.deck) - rules.board_ends[turn], rules.hole_cards)
        total += boards * part.rows[turn] * hands
    return total
