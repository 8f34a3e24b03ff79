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

import functools
import itertools
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from counterplay.kernels.buckets.board_response import Hands, reach_links, respond_round
from counterplay.kernels.buckets.bucket_pcs import Board, Pieces
from counterplay.kernels.buckets.hybrid_walks import answer_plan, follow_plan, learn_trunk
from counterplay.kernels.numba_internals import WIDE
from counterplay.poker.buckets.board_sampler import BoardSampler, piece_places, response_scratch
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.buckets.later_boards import LaterBoards
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


class _Place(NamedTuple):
    """A board: its round, its cards, its hands, and where these are among those of the board before."""

    turn: int
    cards: Cards
    board: Board
    hands: Hands


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
        self._trunk = Part(0, 0, every, piece_places(pieces, every.values()), {})
        self.parts = plan_parts(game, pieces, trunk)
        self._plan = np.zeros(max((plan_bytes(game, part, trunk) for part in self.parts), default=0), np.uint8)
        self._at = 0
        self._work = response_scratch(pieces, self.sampler.hands)
        self._bits = (np.arange(256)[:, None] >> np.arange(WIDE) & 1).astype(np.float64).ravel()
        self._later = LaterBoards(game, self._samplers)
        self._same = Hands(np.arange(self.sampler.hands), 1.0)
        self._kept: tuple[Any, list[_Place]] = None, []

    def walk(self, cards: Cards, tables: HybridTables, update: Update) -> float:
        """Learn on a board, for both seats; what the hybrids win from the players, the mean over both seats."""
        boards = self.sampler.seats(cards)
        return sum(self.walk_seat(seat, cards, boards[seat], tables, update) for seat in range(2)) / 2.0

    @functools.cached_property
    def touched(self) -> int:
        """Nodes of the betting that a walk touches, each as often as it does."""
        boards, count = 1, 0
        for turn in range(self.game.rounds):
            if turn > self.trunk:
                boards *= continuations(self.game, turn)
            nodes = int(self.pieces.nodes[self._trunk.members[turn]].sum())
            count += 4 * boards * nodes
        return count

    def walk_seat(self, seat: int, cards: Cards, board: Board, tables: HybridTables, update: Update) -> float:
        """Learn on a board, as one seat; what the hybrid wins from it, times the share of the board."""
        sampler, members, place = self.sampler, self._trunk.members, self._trunk.place
        trunk, learned = tables.trunk[seat], tables.trunk_learned[seat]
        reaches = [np.full((2, 1, sampler.hands), update.share / sampler.pairs)]
        for turn in range(min(self.trunk, self.game.rounds - 1)):
            after = np.empty((2, len(members[turn + 1]), sampler.hands))
            for player, table, into in ((1 - seat, tables.regret, 0), (seat, trunk, 1)):
                reach_links(
                    self.pieces, members[turn], place, board, player, table, self._same, reaches[turn][into],
                    after[into], sampler.scratch,
                )  # fmt: skip
            reaches.append(after)
        values = np.zeros((2, 0, 0))
        if self.trunk < self.game.rounds:
            values = np.zeros_like(reaches[-1])
            for part in self.parts:
                some, walk = slice(part.first, part.last), _Seat(seat, part, tables, update)
                here = _Place(self.trunk, cards, board, self._same)
                self._at = 0
                self._respond(walk, here, reaches[-1][0, some], values[1, some])
                self._at = 0
                self._answer(walk, here, reaches[-1][:, some], values[0, some])
        for turn in range(self.trunk - 1, -1, -1):
            found = np.empty_like(reaches[turn])
            learn_trunk(
                self.pieces, members[turn], place, board, seat, update.weight, update.floor, tables.regret,
                tables.learned, tables.average, trunk, learned, reaches[turn], values, found, sampler.scratch,
                sampler.hybrid_scratch,
            )  # fmt: skip
            values = found
        return float(values[1].sum())

    def _respond(self, walk: _Seat, here: _Place, reach: Vectors, values: Vectors) -> None:
        """The hybrid's best response to the player's reaches from a round on: adds its values, and makes the plan."""
        turn, _, board, hands = here
        plan, part, scratch = self._plan_of(walk, turn), walk.part, self._samplers[turn].scratch
        regret, hybrid = walk.tables.regret, 1 - walk.seat
        below = _NO_VALUES
        if turn + 1 < self.game.rounds:
            after = np.empty((len(part.members[turn + 1]), len(board.card)))
            reach_links(
                self.pieces, part.members[turn], part.place, board, hybrid, regret, hands, reach, after, scratch
            )  # fmt: skip
            below = np.zeros_like(after)
            for later in self._continued(here):
                self._respond(walk, later, after, below)
        respond_round(
            self.pieces, part.members[turn], part.place, board, hybrid, regret, _NONE, hands, reach, below, values,
            _NONE, plan, scratch, self._work,
        )  # fmt: skip

    def _answer(self, walk: _Seat, here: _Place, reach: Vectors, values: Vectors) -> None:
        """The player's regrets against the plan from a round on; adds its values."""
        turn, _, board, hands = here
        plan, part, scratch = self._plan_of(walk, turn), walk.part, self._samplers[turn].scratch
        members, place, tables, update = part.members[turn], part.place, walk.tables, walk.update
        own, other = reach
        below = _NO_VALUES
        if turn + 1 < self.game.rounds:
            after = np.empty((2, len(part.members[turn + 1]), len(board.card)))
            reach_links(
                self.pieces, members, place, board, 1 - walk.seat, tables.regret, hands, own, after[0], scratch
            )  # fmt: skip
            follow_plan(self.pieces, members, place, plan, hands, other, after[1])
            below = np.zeros_like(after[0])
            for later in self._continued(here):
                self._answer(walk, later, after, below)
        answer_plan(
            self.pieces, members, place, board, walk.seat, update.weight, update.floor, tables.regret, tables.learned,
            tables.average, hands, own, other, plan, self._bits, below, values, scratch,
        )  # fmt: skip

    def _plan_of(self, walk: _Seat, turn: int) -> NDArray[np.uint8]:
        """The place of the plan for the next board, in the order in which boards are visited."""
        rows, hands = walk.part.rows[turn], self._samplers[turn].hands
        start, self._at = self._at, self._at + rows * hands
        return self._plan[start : self._at].reshape(rows, hands)

    def _continued(self, here: _Place) -> Iterator[_Place]:
        """The boards that follow one; those of the last round are made once for both seats and both passes."""
        key = here.turn, here.cards.tobytes()
        if here.turn + 2 < self.game.rounds:
            yield from self._make_boards(here)
            return
        if self._kept[0] != key:
            self._kept = key, [_copied(later) for later in self._make_boards(here)]
        yield from self._kept[1]

    def _make_boards(self, here: _Place) -> Iterator[_Place]:
        for cards, board, hands in self._later.after(here.turn, here.cards, here.board):
            yield _Place(here.turn + 1, cards, board, hands)


def _copied(here: _Place) -> _Place:
    """A board of its own, which the sampler does not overwrite."""
    board = here.board
    arrays = (board.card.copy(), board.group.copy(), board.kind.copy(), board.row.copy(), board.kinds.copy())
    return here._replace(board=Board(*arrays, board.pairs, board.twin))


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
    return Part(first, last, members, piece_places(pieces, members.values()), rows)


def plan_bytes(game: BucketGame, part: Part, trunk: int) -> int:
    """Bytes of the plan of a part: all boards that follow one."""
    rules, boards, total = game.definition, 1, 0
    for turn in range(trunk, game.rounds):
        boards *= continuations(game, turn) if turn > trunk else 1
        hands = math.comb(len(rules.deck) - rules.board_ends[turn], rules.hole_cards)
        total += boards * part.rows[turn] * hands
    return total


def vector_bytes(game: BucketGame, pieces: Pieces, trunk: int) -> int:
    """About how many bytes a walk takes for reaches and values, and for the boards of the last round that it keeps."""
    rules, counts = game.definition, np.bincount(pieces.turn, minlength=game.rounds)
    hands = [math.comb(len(rules.deck) - end, rules.hole_cards) for end in rules.board_ends]
    vectors = sum(5 * 8 * int(counts[turn]) * hands[max(turn, trunk) - 1] for turn in range(1, game.rounds))
    kept = continuations(game, game.rounds - 1) * hands[-1] * 8 * (2 * game.rounds + 3)
    return vectors + (kept if trunk < game.rounds - 1 else 0)
