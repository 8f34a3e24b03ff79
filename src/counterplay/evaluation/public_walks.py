"""Walks over a public tree: its arrays as kernels take them, the vectors of walks, and threads that share a walk.

A strategy of one player is a flat array over the entries of a ``PublicTree``; it need not be normalised: regrets,
averages and probabilities are all matched equally (in proportion to the positive part, uniform where nothing is).

With threads, each takes its share of the links of the first piece (Johanson 2016, section 2.4: subgames that are not
below each other share nothing); their values are added in a fixed order, so that a number of threads always gives the
same bits.

``PublicWalker`` measures strategies by such walks; ``solvers.public_cfr`` updates its tables by them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from counterplay.kernels.numba_internals import WIDE, hold, row_space
from counterplay.kernels.public.bucketed_hands import spread_strategy
from counterplay.kernels.public.piece_steps import HandArrays, NodeArrays, Rule, Scratch, Tables
from counterplay.kernels.public.public_cfr import LINKS, REST, WHOLE, walk_public
from counterplay.kernels.public.runouts import add_below, add_boards
from counterplay.kernels.public.terminal import CARD_SLOTS
from counterplay.runtime.threads import ThreadPool, spaced_zeros
from counterplay.tree.public.public_tree import FOLD, LINK, SHARED, SHOWDOWN, TILTED, Hands, PublicTree

FIXED = Rule(1.0, 1.0, False, 0.0, 0.0, True, False, 0)
"""The rule of walks that update nothing."""

Vector = NDArray[np.float64]

NO_RESPONSE = np.zeros(0, np.uint8)
"""Where nobody asks for a response."""

SHARES = 4
"""Shares of the links of the first piece for each thread, so that nobody waits long for the slowest."""

RUNOUT_SHARE = 8
"""Matrices of run-outs have at most this part of the entries of the tables."""


def plain_tables(table: NDArray[Any], scale: NDArray[np.float32] | None = None) -> Tables:
    """Tables of a player of whom only a strategy is known."""
    scales = np.ones(1, np.float32) if scale is None else scale
    kind = np.float32 if table.dtype == np.int16 else table.dtype
    empty, hint = np.zeros(0, table.dtype), np.zeros(0, kind)
    return hold(Tables(table, scales, empty, np.zeros(0, np.float32), hint))


def scratch_bytes(tree: PublicTree, threads: int = 1, kind: Any = np.float64) -> int:
    """Bytes of the vectors that walks hold, and of matrices of run-outs."""
    width = vector_length(tree)
    vectors = threads * tree.levels * (3 * int(tree.piece_size.max()) + 1) * width
    return int((vectors + runout_places(tree, width)[2]) * np.dtype(kind).itemsize)


def walk_scratch(tree: PublicTree, hands: int | None = None, kind: Any = np.float64) -> Scratch:
    """The vectors of a walk; ``hands`` is how long they are at least, by default as long as a deal has hands."""
    width = vector_length(tree, hands)
    piece, levels = int(tree.piece_size.max()), tree.levels
    size = levels * piece * width
    scratch = Scratch(
        np.zeros(size + levels * width, kind), np.zeros(size + width, kind), np.zeros(size, kind),
        spaced_zeros((levels, piece, 2), np.bool_), spaced_zeros((levels, 4), np.int64), spaced_zeros(max(width, 512)),
        spaced_zeros(width, kind), spaced_zeros(piece, np.int64),
        row_space(width + 1, kind), row_space(width, kind), row_space(CARD_SLOTS, kind), row_space(3, kind),
        spaced_zeros(WIDE, np.uint64), spaced_zeros(WIDE, np.uint64), width, piece,
    )  # fmt: skip
    return hold(scratch)


def vector_length(tree: PublicTree, hands: int | None = None) -> int:
    """How long the vectors over hands are that walks hold, for ``hands`` or what a deal has at most: whole rows."""
    most = max(tree.hands[0].most, tree.hands[1].most) if hands is None else hands
    return -(-most // WIDE) * WIDE


def _runouts(tree: PublicTree, hands: tuple[HandArrays, HandArrays], width: int, kind: Any) -> dict[str, NDArray[Any]]:
    """The fields of ``NodeArrays`` about fees and run-outs; no matrices where they would be large beside the tables."""
    stake, places, size = runout_places(tree, width)
    fee = np.zeros(tree.num_nodes) if tree.fee is None else tree.fee.copy()
    for link in np.flatnonzero(stake)[::-1].tolist() if tree.fee is not None else ():
        fee[link] = fee[tree.first_child[link]]
    matrix = np.zeros(size, kind)
    first, second = hands
    for deal in np.flatnonzero(places >= 0)[::-1].tolist():
        here = matrix[places[deal] :]
        for after in range(tree.deal_first[deal], tree.deal_first[deal] + tree.deal_count[deal]):
            weight = float(tree.deal_weight[after])
            if tree.deal_count[after] == 0:
                add_boards(first, second, after, weight, width, here)
            else:
                add_below(first, second, after, weight, width, matrix[places[after] :], here)
    return {"fee": fee, "runout": stake, "runout_at": places, "runout_matrix": matrix}


def runout_places(tree: PublicTree, width: int) -> tuple[Vector, NDArray[np.int64], int]:
    """Stakes of links after which there is nothing but a showdown; where the matrices of deals begin; their size."""
    stake, places = np.zeros(tree.num_nodes), np.full(tree.num_deals, -1, np.int64)
    wanted = np.zeros(tree.num_deals, np.bool_)
    for link in np.flatnonzero((tree.kind == LINK) & (tree.link_deal == SHARED))[::-1].tolist():
        below = int(tree.first_child[link])
        if tree.piece_size[below] == 1 and (tree.kind[below] == SHOWDOWN or stake[below] != 0.0):
            stake[link] = tree.payoff[below] if tree.kind[below] == SHOWDOWN else stake[below]
            wanted[tree.deal_low[link] : tree.deal_high[link]] = True
    size = tree.hands[0].counts[wanted] * width
    if size.sum() > sum(tree.num_entries) / RUNOUT_SHARE:
        return np.zeros(tree.num_nodes), places, 0
    places[wanted] = np.cumsum(size) - size
    return stake, places, int(size.sum())


class Opponent(NamedTuple):
    """What the opponent of a walk plays: matched from ``table``, whose blocks have the scales ``scale`` (1 if None),
    and from ``prediction`` where there is one.
    """

    table: NDArray[Any]
    scale: NDArray[np.float32] | None = None
    prediction: NDArray[Any] | None = None


class BucketRows(NamedTuple):
    """How a player plays by buckets, see ``kernels.public.bucketed_hands``.  K classes of hands, N nodes."""

    bucket: NDArray[np.int32]  # (K,) the bucket of each class of hands at every deal
    mass: Vector  # (K,) how likely the class and the deal are
    row: NDArray[np.int64]  # (N,) where the entries of a decision begin
    wide: NDArray[np.int64]  # (N,) entries from one bucket to the next
    buckets: NDArray[np.int64]  # (N,) number of buckets
    leaf: NDArray[np.int64]  # (N,) of a leaf: where its shares begin
    entered: NDArray[np.int64]  # (N,) of the root of a piece: where sums of reaches begin, after those of leaves
    response_at: NDArray[np.int64]  # (N,) of a decision: where responses begin, less those of earlier deals

    @property
    def num_shares(self) -> int:
        """Shares of leaves, and one more number for each node."""
        return int(self.entered[0]) + len(self.leaf)

    @property
    def num_sums(self) -> int:
        """Sums of an UPDATE: values of leaves, and reaches of the roots of pieces."""
        last = int(np.argmax(self.entered))
        return int(self.entered[last] + self.buckets[last])

    def shares(self, tree: PublicTree, player: int, strategy: NDArray[Any], kind: Any) -> NDArray[Any]:
        """The shares of all leaves, given the probabilities of a bucket game; walks take them as tables."""
        found: NDArray[Any] = row_space(-(-self.num_shares // WIDE), kind)[: self.num_shares]
        spread_strategy(
            tree.kind, tree.first_child, tree.num_children, tree.piece_size, player, self.row, self.wide, self.buckets,
            self.leaf, strategy, found,
        )  # fmt: skip
        return found


NO_ROWS = BucketRows(np.zeros(0, np.int32), np.zeros(0), *np.zeros((6, 0), np.int64))
"""Of a player who does not, in walks where the other does."""


def leaf_lanes(tree: PublicTree, root: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The leaves of a piece in the order of their lanes: those that walks evaluate in rows, and the others."""
    nodes = np.arange(root, root + int(tree.piece_size[root]))
    kind = tree.kind[nodes]
    shown, folded = kind == SHOWDOWN, kind == FOLD
    return np.concatenate((nodes[shown], nodes[folded])), nodes[(kind > 1) & ~shown & ~folded]


def _lanes(tree: PublicTree) -> dict[str, NDArray[np.int32]]:
    """The fields of ``NodeArrays`` about lanes."""
    group, group_end = np.zeros((2, tree.num_nodes), np.int32)
    lanes: list[int] = []
    for root in np.flatnonzero(tree.piece_size).tolist():
        leaves, _ = leaf_lanes(tree, root)
        group[root] = len(lanes) // WIDE
        lanes += leaves.tolist() + [-1] * (-len(leaves) % WIDE)
        group_end[root] = len(lanes) // WIDE
    return {"group": group, "group_end": group_end, "lane": np.array(lanes, np.int32)}


class Start(NamedTuple):
    """The start of a walk: root of a piece, deal there, reaches of both (own first; by default those of the deal), and
    the values of the own hands at the links of the first piece, by node, if they are already known.
    """

    root: int = 0
    deal: int = 0
    reaches: tuple[Vector, Vector] | None = None
    link_values: Vector | None = None


ROOT = Start()
"""The start of the game."""


class PublicWalks:
    """The arrays of a tree as kernels take them, and the vectors of its walks.

    Parameters
    ----------
    tree, threads : PublicTree, int
        The game, and the threads of a walk.
    hands : int, optional
        The most hands of a deal, if trees with larger deals are to be loaded.
    kind : type
        Of the vectors over hands: float64, or float32 where the tables hold no more than that.
    rows : pair of BucketRows, optional
        How players play who play by buckets; ``NO_ROWS`` for one who does not.
    """

    def __init__(
        self,
        tree: PublicTree,
        threads: int = 1,
        hands: int | None = None,
        kind: Any = np.float64,
        rows: tuple[BucketRows, BucketRows] | None = None,
    ) -> None:
        self.threads, self.kind = threads, np.dtype(kind)
        self.width = vector_length(tree, hands)
        self.load(tree, rows=rows)
        self.free = np.zeros(tree.num_nodes, np.bool_)
        self._scratch = [walk_scratch(tree, hands, kind) for _ in range(threads)]
        self._links = bool(np.any(tree.kind[: tree.piece_size[0]] == LINK))
        self._pool = ThreadPool(threads)
        self._ones: dict[int, NDArray[np.float32]] = {}

    def load(
        self,
        tree: PublicTree,
        base: NDArray[np.int64] | None = None,
        rows: tuple[BucketRows, BucketRows] | None = None,
        block: NDArray[np.int64] | None = None,
    ) -> None:
        """Take a tree of the same nodes with other deals.

        ``base`` and ``block`` say where the rows and the blocks of nodes begin in tables that have one row for all
        hands of a node, or that hold a part of the game; ``rows`` how players play who play by buckets.
        """
        self.tree, self._rows = tree, rows
        first, second = (None, None) if self._rows is None else self._rows
        above = tree.deal_parent
        self.hands = hand_arrays(tree.hands[0], above, first), hand_arrays(tree.hands[1], above, second)
        fields: dict[str, Any] = _runouts(tree, self.hands, self.width, self.kind)
        fields["tilted"] = True if np.any(tree.kind == TILTED) else None
        fields |= dict.fromkeys(("group", "group_end", "lane")) if rows is None else _lanes(tree)
        fields["state"] = tree.block
        fields |= {name: getattr(tree, name) for name in NodeArrays._fields if name not in fields}
        fields |= {name: where for name, where in (("base", base), ("block", block)) if where is not None}
        self.nodes = other = hold(NodeArrays(**fields))
        if not tree.zero_sum:
            fields |= {"payoff": tree.other_payoff, "matrix": tree.other_matrix}
            other = hold(NodeArrays(**fields))
        self._nodes = (self.nodes, other)

    @property
    def scratch(self) -> Scratch:
        """The vectors of walks in one thread."""
        return self._scratch[0]

    def ones(self, player: int) -> NDArray[np.float32]:
        """Scales of tables that need none."""
        blocks = self.tree.num_blocks[player]
        if blocks not in self._ones:
            self._ones[blocks] = np.ones(blocks, np.float32)
        return self._ones[blocks]

    def nodes_at(self, player: int, base: NDArray[np.int64], block: NDArray[np.int64]) -> NodeArrays:
        """The arrays of nodes in walks for a player, whose tables hold a part of the game; as for ``load``."""
        return hold(self._nodes[player]._replace(base=base, block=block))

    def walk(
        self,
        player: int,
        mode: int,
        tables: Tables,
        opponent: Opponent,
        start: Start = ROOT,
        locked: NDArray[np.bool_] | None = None,
        rule: Rule = FIXED,
    ) -> Vector:
        """Walk once for a player; the values of the player's hands where the walk starts.

        Parameters
        ----------
        player, tables : int, Tables
            The player who is evaluated, and the player's tables.
        mode : int
            What is done at the player's decisions: RESPONSE, VALUE or UPDATE of ``kernels.public.piece_steps``.
        locked : (N,) bool array, optional
            Decisions that do not change, whatever the mode.
        rule : Rule
            Of an UPDATE.
        """
        own, opp = self.hands[player], self.hands[1 - player]
        root, deal, reaches, link_values = start
        scale = self.ones(1 - player) if opponent.scale is None else opponent.scale
        if reaches is None:
            reaches = np.ones(self.tree.hands[player].count(deal)), self.tree.hands[1 - player].root_reach
        out = np.zeros(self.tree.hands[player].count(deal))
        none = np.zeros(0, tables.prediction.dtype) if opponent.prediction is None else opponent.prediction
        fixed = self.free if locked is None else locked

        if self._rows is not None and tables.learned is None:  # as answers have it, so that one kernel serves all
            tables = hold(tables._replace(learned=np.zeros(0), response=NO_RESPONSE))
        shares = SHARES * self.threads
        each = [tables] * shares
        if tables.learned is not None and self.threads > 1:  # the order of sums must not depend on who is first
            shares = self.threads
            each[1:] = [hold(tables._replace(learned=np.zeros_like(tables.learned))) for _ in range(shares - 1)]

        def run(phase: int, share: int, link_value: NDArray[np.float64], thread: int = 0) -> None:
            walk_public(
                self._nodes[player], own, opp, player, mode, self.tree.pair_hands, each[share], opponent.table, scale,
                none, rule, fixed, root, deal, *reaches, phase, share, shares, link_value, self._scratch[thread], out,
            )  # fmt: skip

        if link_values is not None:
            run(REST, 0, link_values)
        elif self.threads == 1 or not self._links:
            run(WHOLE, 0, np.zeros((0, 0)))
        else:
            parts = np.zeros((shares, int(self.tree.piece_size[root]), len(out)))
            self._take_turns(shares, lambda share, thread: run(LINKS, share, parts[share], thread))
            run(REST, 0, np.add.reduce(parts))
            for other in each[1:] if tables.learned is not None else ():
                tables.learned[:] += other.learned
        return out

    def _take_turns(self, shares: int, work: Callable[[int, int], None]) -> None:
        """Call ``work(share, thread)`` for all shares; a thread that is done takes the next share."""
        waiting = iter(range(shares))

        def each(thread: int) -> None:
            for share in waiting:
                work(share, thread)

        self._pool.each(each)


def hand_arrays(hands: Hands, deal_parent: NDArray[np.int32], rows: BucketRows | None = None) -> HandArrays:
    """The arrays of a player's hands as kernels take them; ``rows`` in walks where somebody plays by buckets."""
    fields: dict[str, Any] = {name: getattr(hands, name) for name in HandArrays._fields if name in vars(hands)}
    counts = np.diff(hands.start)
    above = np.repeat(hands.start[:-1][np.maximum(deal_parent, 0)], counts) + hands.parent
    same = hands.multiplicity == hands.multiplicity[above]
    plain = np.zeros(len(counts), np.bool_)
    filled = counts > 0
    plain[filled] = np.logical_and.reduceat(same, hands.start[:-1][filled]) if filled.any() else False
    fields |= {} if rows is None else rows._asdict()
    return hold(HandArrays(**fields, plain=plain))
