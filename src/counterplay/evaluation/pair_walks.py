"""Walks over a bucket game of two players from its bucket pairs: values, best responses and regrets at full width.

``kernels/buckets/bucket_response.py`` says how; this module lays the betting tree out for it, and multiplies.  The
terminals of a round are taken in chunks of pieces, so that what is multiplied stays in the cache and the memory does
not grow with the game: a walk visits the rounds from the last to the first, and finds what reaches a chunk from the
links of the round before, which alone are kept.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import StrategyError
from counterplay.evaluation.measurement import Measurement
from counterplay.game.game import TERMINAL
from counterplay.kernels.buckets.bucket_response import BettingSlot, ascend, descend
from counterplay.poker.buckets.bucket_game import BucketGame, node_levels, walk_order
from counterplay.runtime.blas_threads import single_blas_thread

Float64 = NDArray[np.float64]

CHUNK = 1 << 22
"""Bytes of the columns that are multiplied at a time."""

NONE = np.zeros(0)
NO_ROWS = np.zeros((0, 0))
NO_LINKS = np.zeros(0, np.int64)


class PairMatrices(NamedTuple):
    """The cards of a round as a player sees them: matrices with a row for each of his buckets, a column for each of the
    opponent's.
    """

    likely: Float64  # the probability of the pair
    ahead: Float64  # that of a win at the showdown minus that of a loss
    decided: Float64  # that of a win or a loss


class Chunk(NamedTuple):
    """Some pieces of a round with their terminals: columns, by the matrix of ``PairMatrices`` that they are for."""

    low: int  # the first piece
    high: int  # the last piece + 1
    ends: tuple[int, ...]  # where the columns of each matrix end
    own: NDArray[np.int64]  # (C,) the player's sequence that leads to a column
    opp: NDArray[np.int64]  # (C,) the opponent's
    amount: Float64  # (C,) what the player wins


class Part(NamedTuple):
    """How the opponent of a walk plays with some probability."""

    strategy: Float64
    share: float = 1.0


class Goal(NamedTuple):
    """What a walk computes for its player."""

    strategy: Float64 = NONE  # what he plays; empty for the uniform profile
    best: bool = False  # whether he responds best instead
    least: Float64 = NONE  # the least probability of each action; empty for none
    learned: Float64 = NONE  # regrets are added; empty for none
    response: Float64 = NONE  # OUT his best response; empty for none


class PairWalks:
    """Walks over a bucket game of two players with perfect recall.

    Parameters
    ----------
    game : BucketGame
        The game; tilted ones too.
    cards : by player, then by round, PairMatrices
        The cards as each player sees them.
    before : by round, then by player, (B,) int64
        The previous round's bucket for each bucket.
    """

    def __init__(
        self,
        game: BucketGame,
        cards: Sequence[Sequence[PairMatrices]],
        before: Sequence[Sequence[NDArray[np.int64]]],
    ) -> None:
        self.game, self.cards = game, cards
        betting = _Betting(game)
        self.pieces = betting.pieces
        self.slots = [
            [betting.slot(turn, player, before[turn][player]) for turn in range(game.rounds)] for player in range(2)
        ]
        self.chunks = [
            [betting.chunks(turn, player, _chunk_columns(game, turn)) for turn in range(game.rounds)]
            for player in range(2)
        ]
        every = [chunk for player in self.chunks for turn in player for chunk in turn]
        widest = max(len(slot.before) for player in self.slots for slot in player)
        most = max(len(chunk.own) for chunk in every)
        self._columns, self._worth = np.zeros((2, widest * most))
        self._sequence = np.zeros(max(slot.width + len(slot.first) - 1 for player in self.slots for slot in player))

    @property
    def nodes(self) -> int:
        """Nodes that a walk visits."""
        return len(self.game.tree)

    @staticmethod
    def nbytes(game: BucketGame) -> int:
        """Bytes that the walks of a game allocate, without its matrices: at most so many."""
        terminals = int((game.tree.player == TERMINAL).sum())
        decisions = len(game.tree) - terminals
        buckets = game.slot_buckets.reshape(-1, 2).max(axis=1)
        widest = int(game.slot_width.max(initial=0))
        roots = np.bincount(game.tree.round[_roots(game)], minlength=game.rounds)
        links = int((roots[1:] * buckets[:-1]).sum())  # of some round, of both players, of two goals
        layout = 8 * (4 * decisions + 2 * 3 * 3 * terminals)
        return layout + 2 * 2 * CHUNK + 8 * (5 * links + widest + int(roots.max())) + (1 << 20)

    def measure(self, strategy: Float64 | None = None) -> Measurement:
        """The value of a profile, by default the uniform one, and what best responses win from it."""
        game, table = self.game, NONE
        if strategy is not None:
            if strategy.shape != (game.num_entries,):
                raise StrategyError(f"{game.name} has {game.num_entries} entries; got an array of {strategy.shape}")
            table = np.ascontiguousarray(strategy, dtype=np.float64)
        found = [self.walk(player, [Part(table)], [Goal(table), Goal(best=True)]) for player in range(2)]
        return Measurement(tuple(one[0] for one in found), tuple(one[1] for one in found))

    def best_response(self, player: int, opponent: Float64, table: Float64) -> float:
        """Write a player's best response to a strategy into a table (E,); what it wins."""
        (won,) = self.walk(player, [Part(opponent)], [Goal(best=True, response=table)])
        return won

    def add_play(self, player: int, strategy: Float64, weight: float, average: Float64) -> None:
        """Add what a player plays, his own reach times the probability of each action, to an average (E,)."""
        self._reach(player, strategy, average=average, weight=weight)

    def walk(self, player: int, opponent: Sequence[Part], goals: Sequence[Goal]) -> list[float]:
        """Walk the game for a player, against an opponent who plays in one of some ways; the value of each goal."""
        reached = [self._reach(1 - player, part.strategy, part.share) for part in opponent]
        own, other = self.slots[player], self.slots[1 - player]
        below = [NO_ROWS] * len(goals)
        for turn in reversed(range(self.game.rounds)):
            kinds = len(own[turn - 1].before) if turn else 1
            above = [np.zeros((kinds, self.pieces[turn])) for _ in goals]
            for chunk in self.chunks[player][turn]:
                columns = self._room(self._columns, len(other[turn].before), chunk)
                columns[:] = 0.0
                for part, came in zip(opponent, reached, strict=True):
                    descend(
                        other[turn], chunk.low, chunk.high, part.strategy, came[turn], chunk.opp, chunk.amount, 0.0,
                        self._sequence, columns, NO_ROWS, NONE,
                    )  # fmt: skip
                worth = self._room(self._worth, len(own[turn].before), chunk)
                _multiply(self.cards[player][turn], chunk, columns, worth)
                for goal, later, here in zip(goals, below, above, strict=True):
                    ascend(
                        own[turn], chunk.low, chunk.high, goal.strategy, goal.best, goal.least, chunk.own, worth, later,
                        self._sequence, here, goal.learned, goal.response,
                    )  # fmt: skip
            below = above
        return [float(one[0, 0]) for one in below]

    def _reach(
        self, player: int, strategy: Float64, share: float = 1.0, average: Float64 = NONE, weight: float = 0.0
    ) -> list[Float64]:
        """How likely a player's buckets come to the pieces of each round, from ``share`` on; and into an average."""
        found = [np.full((1, 1), share)]
        last = self.game.rounds - (0 if len(average) else 1)
        for turn, slot in enumerate(self.slots[player][:last]):
            gone = np.zeros((len(slot.before), len(slot.link)))
            descend(
                slot, 0, self.pieces[turn], strategy, found[turn], NO_LINKS, NONE, weight, self._sequence, NO_ROWS,
                gone, average,
            )  # fmt: skip
            found.append(gone)
        return found

    @staticmethod
    def _room(space: Float64, rows: int, chunk: Chunk) -> Float64:
        return space[: rows * len(chunk.own)].reshape(rows, len(chunk.own))


def _multiply(matrices: PairMatrices, chunk: Chunk, columns: Float64, worth: Float64) -> None:
    """What the columns of a chunk are worth."""
    first = 0
    with single_blas_thread():
        for matrix, last in zip(matrices, chunk.ends, strict=True):
            if last > first:
                np.matmul(matrix, columns[:, first:last], out=worth[:, first:last])
            first = last


def _chunk_columns(game: BucketGame, turn: int) -> int:
    """About how many columns a chunk of a round has."""
    return max(8, CHUNK // (8 * int(game.slot_buckets[2 * turn : 2 * turn + 2].max())))


def _roots(game: BucketGame) -> NDArray[np.int64]:
    """The decisions with which pieces begin."""
    tree = game.tree
    return np.flatnonzero((tree.player != TERMINAL) & ((tree.parent < 0) | (tree.round != tree.round[tree.parent])))


class _Betting:
    """The betting tree in pieces, which are numbered in each round: those that follow one piece lie side by side."""

    def __init__(self, game: BucketGame) -> None:
        self.game, tree = game, game.tree
        nodes, order = len(tree), walk_order(tree)
        roots = _roots(game)
        self.root = np.zeros(nodes, bool)
        self.root[roots] = True
        self.piece = np.full(nodes, -1, np.int64)
        for turn in range(game.rounds):
            here = roots[tree.round[roots] == turn]
            above = self.piece[tree.parent[here]] if turn else here
            here = here[np.lexsort((order[here], above))]
            self.piece[here] = np.arange(len(here))
            self._spread(turn)
        self.pieces = [int((tree.round[roots] == turn).sum()) for turn in range(game.rounds)]
        self.led, self.here = self._sequences()

    def _spread(self, turn: int) -> None:
        """Give all decisions of a round the piece of their root."""
        tree = self.game.tree
        for level in node_levels(tree)[1:]:
            nodes = np.arange(level.start, level.stop)
            nodes = nodes[(tree.player[nodes] != TERMINAL) & (tree.round[nodes] == turn) & ~self.root[nodes]]
            self.piece[nodes] = self.piece[tree.parent[nodes]]

    def _sequences(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The sequence of each player that leads to a node, in the piece of its parent, and in its own: (2, nodes)."""
        game, tree = self.game, self.game.tree
        led, here = np.zeros((2, 2, len(tree)), np.int64)
        for level in node_levels(tree):
            nodes = np.arange(level.start, level.stop)
            parent, turn = tree.parent[nodes], tree.round[nodes].astype(np.int64)
            for player in range(2):
                if level.start:
                    after = game.node_offset[parent].astype(np.int64) + nodes - tree.first_child[parent]
                    led[player, nodes] = np.where(tree.player[parent] == player, after, here[player, parent])
                before = game.slot_width[2 * turn + player] + self.piece[nodes]
                here[player, nodes] = np.where(self.root[nodes], before, led[player, nodes])
        return led, here

    def slot(self, turn: int, player: int, before: NDArray[np.int64]) -> BettingSlot:
        """The decisions of a player in a round, and the links to the next."""
        game, tree = self.game, self.game.tree
        nodes = np.flatnonzero((tree.player == player) & (tree.round == turn))
        nodes = nodes[np.lexsort((game.node_offset[nodes], self.piece[nodes]))]
        links = np.flatnonzero(self.root & (tree.round == turn + 1))
        links = links[np.argsort(self.piece[links])]
        number = 2 * turn + player
        return BettingSlot(
            int(game.slot_start[number]), int(game.slot_width[number]), self._starts(turn, self.piece[nodes]),
            game.node_offset[nodes].astype(np.int64), tree.num_children[nodes].astype(np.int64),
            self.here[player, nodes], self._starts(turn, self.piece[tree.parent[links]]), self.led[player, links],
            np.ascontiguousarray(before, np.int64),
        )  # fmt: skip

    def _starts(self, turn: int, piece: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where those of each piece begin, sorted by pieces."""
        return np.searchsorted(piece, np.arange(self.pieces[turn] + 1)).astype(np.int64)

    def chunks(self, turn: int, player: int, size: int) -> list[Chunk]:
        """The terminals of a round as columns, in chunks of about so many."""
        game, tree = self.game, self.game.tree
        ends = np.flatnonzero(tree.player == TERMINAL)
        ends = ends[tree.round[tree.parent[ends]] == turn]
        paid = _columns(game, ends, player)
        matrix = np.repeat(np.arange(3), len(ends)).reshape(3, -1)
        used = paid != 0.0
        nodes, matrix, paid = np.broadcast_to(ends, used.shape)[used], matrix[used], paid[used]
        piece = self.piece[tree.parent[nodes]]
        count = np.cumsum(np.bincount(piece, minlength=self.pieces[turn]))
        group = (np.maximum(count - 1, 0) // size)[piece]
        order = np.lexsort((piece, matrix, group))
        nodes, matrix, paid, piece, group = (one[order] for one in (nodes, matrix, paid, piece, group))
        starts = np.append(np.flatnonzero(np.diff(group, prepend=-1)), len(group))
        found: list[Chunk] = []
        for low, high in itertools.pairwise(starts.tolist()):
            some = slice(low, high)
            cuts = tuple(np.searchsorted(matrix[some], np.arange(3), side="right").tolist())
            where = int(found[-1].high) if found else 0
            own, opp = self.led[player, nodes[some]], self.led[1 - player, nodes[some]]
            found.append(Chunk(where, int(piece[some].max()) + 1, cuts, own, opp, paid[some]))
        return _completed(found, self.pieces[turn])


def _columns(game: BucketGame, ends: NDArray[np.int64], player: int) -> Float64:
    """What a player wins at terminals, as coefficients of the three matrices: (3, terminals).

    With w, l and t for what a win, a loss and a tie pay, and W, L and T for their probabilities, which sum to P, a
    showdown pays  w W + l L + t T  =  t P  +  (w - l) / 2 (W - L)  +  ((w + l) / 2 - t) (W + L).
    """
    row, shown = game.node_offset[ends].astype(np.int64), game.tree.showdowns()[ends]
    found = np.zeros((3, len(ends)))
    found[0, ~shown] = game.utility[row[~shown], player]
    # of the three orders of two hands the first is a tie, and the third, or the second, the player's win
    tie, won, lost = (game.utility[row[shown] + order, player] for order in (0, 2 - player, 1 + player))
    found[:, shown] = tie, (won - lost) / 2, (won + lost) / 2 - tie
    return found


def _completed(chunks: list[Chunk], pieces: int) -> list[Chunk]:
    """The chunks of a round, with the pieces at its end that have no terminals."""
    if pieces and not chunks:
        return [Chunk(0, pieces, (0, 0, 0), NO_LINKS, NO_LINKS, NONE)]
    return [*chunks[:-1], chunks[-1]._replace(high=pieces)] if chunks else []


def transposed(matrices: PairMatrices) -> PairMatrices:
    """The cards of a round as the other player sees them."""
    return PairMatrices(matrices.likely.T, -matrices.ahead.T, matrices.decided.T)
