"""A game tree laid out for sampled walks, and the random numbers of the walks.

A walk touches few histories and jumps between them, so everything about a history lies in one cache line: four
unsigned numbers side by side.  Chance events are drawn by Walker's alias method (Walker 1977; table by Vose 1991), one
random number whatever the number of outcomes.  Random numbers come from SplitMix64 (Steele, Lea and Flood 2014): the
whole state is one unsigned number, which lies in an array of the solver and so in its checkpoints.

Two forms of a game are walked by the same kernels.  A history tree deals by its chance events.  A betting tree has
none: the cards are dealt before the walk (``counterplay.kernels.buckets.deal_batches``), and a deal is a row of numbers
that are added to the indices of nodes, one for each *slot*: the decisions of a player in a round, whose table rows go
by the bucket of his hand, and the showdowns, whose payoffs go by the order of the hands.
"""

from __future__ import annotations

from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from counterplay.game.game import CHANCE, TERMINAL
from counterplay.kernels.jit import inlined, kernel
from counterplay.tree.history.game_tree import GameTree

FIELDS = 4
"""Numbers of a history in ``WalkArrays.nodes``: who moves, first child, number of children, index."""

SLOT_BITS = 8
MOVER_MASK = 255
"""On a betting tree the first number also holds a slot, above the bits of who moves."""

SHIFT_MASK = (1 << 48) - 1
"""Larger than any index; that indices are not negative then shows, and the compiler leaves out a test for it."""

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)
U30, U27, U31, U11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
UNIT = 1.0 / 9007199254740992.0

i64: Any = np.int64
f64: Any = np.float64
u64: Any = np.uint64
"""Conversions inside kernels, where numba infers what type checkers cannot."""


class WalkArrays(NamedTuple):
    """A game for sampled walks.

    * ``nodes`` (4H,) uint32: of each history: who moves (a player, n for chance, n + 1 at a terminal), the first child,
      the number of children, and an index: the first entry of a decision, the row of a chance event in the alias
      tables, or the row of a terminal in ``utility``
    * ``threshold`` (C,) float64: with which probability a column of an alias table stands for itself
    * ``alias`` (C,) uint32: the outcome it stands for otherwise
    * ``utility`` (Z*n,) float64: what each player wins, by terminal and player
    * ``players``: number of players n
    """

    nodes: np.ndarray
    threshold: np.ndarray
    alias: np.ndarray
    utility: np.ndarray
    players: int

    @property
    def nbytes(self) -> int:
        """Bytes of what is not shared with the tree."""
        return int(self.nodes.nbytes + self.threshold.nbytes + self.alias.nbytes)


def walk_bytes(tree: GameTree) -> int:
    """About how many bytes ``walk_arrays`` will allocate (the alias tables are shared by like chance events)."""
    return 4 * FIELDS * tree.num_histories


_LAID_OUT: WeakKeyDictionary[GameTree, WalkArrays] = WeakKeyDictionary()


def walk_arrays(tree: GameTree) -> WalkArrays:
    """A tree laid out for walks; made once for each tree."""
    if tree not in _LAID_OUT:
        _LAID_OUT[tree] = _lay_out(tree)
    return _LAID_OUT[tree]


def _lay_out(tree: GameTree) -> WalkArrays:
    nodes = np.zeros((tree.num_histories, FIELDS), np.uint32)
    decision, chance, terminal = tree.player >= 0, tree.player == CHANCE, tree.player == TERMINAL
    nodes[:, 0] = np.select([decision, chance], [tree.player, tree.players], tree.players + 1)
    nodes[:, 1] = np.where(terminal, 0, tree.first_child)
    nodes[:, 2] = tree.num_children
    nodes[decision, 3] = tree.infoset_offset[tree.infoset[decision]]
    nodes[terminal, 3] = tree.outcome[terminal]
    rows: dict[bytes, int] = {}
    threshold: list[NDArray[np.float64]] = []
    alias: list[NDArray[np.uint32]] = []
    size = 0
    for history in np.flatnonzero(chance).tolist():
        first = int(tree.first_child[history])
        chances = tree.chance_prob[first : first + int(tree.num_children[history])]
        key = chances.tobytes()
        if key not in rows:
            rows[key] = size
            one, other = alias_table(chances)
            threshold.append(one)
            alias.append(other)
            size += len(one)
        nodes[history, 3] = rows[key]
    return WalkArrays(
        nodes.ravel(),
        np.concatenate([np.zeros(0), *threshold]),
        np.concatenate([np.zeros(0, np.uint32), *alias]),
        np.ascontiguousarray(tree.utility, dtype=np.float64).ravel(),
        tree.players,
    )


def alias_table(chances: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.uint32]]:
    """The alias table of a distribution: column k stands for k up to a threshold, for its alias above it."""
    count = len(chances)
    share = (chances * (count / chances.sum())).tolist()
    threshold = np.ones(count)
    alias = np.arange(count, dtype=np.uint32)
    small = [k for k in range(count) if share[k] < 1.0]
    large = [k for k in range(count) if share[k] >= 1.0]
    while small and large:
        low, high = small.pop(), large[-1]
        threshold[low], alias[low] = share[low], high
        share[high] -= 1.0 - share[low]
        if share[high] < 1.0:
            small.append(large.pop())
    never = int(np.argmax(chances))
    for k in np.flatnonzero(chances == 0.0):  # left over by rounding alone
        if threshold[k] == 1.0:
            threshold[k], alias[k] = 0.0, never
    return threshold, alias


def alias_rows(game: Any, strategy: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.uint32]]:
    """The alias tables of all rows of a strategy of a bucket game, each where its entries are."""
    threshold, alias = np.ones(len(strategy)), np.zeros(len(strategy), np.uint32)
    for first, _, offset in game.blocks():
        sizes = np.diff(offset)
        for size in np.unique(sizes).tolist():
            rows = first + offset[:-1][sizes == size, None] + np.arange(size)
            threshold[rows], alias[rows] = alias_columns(strategy[rows])
    return threshold, alias


def alias_columns(chances: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.uint32]]:
    """As ``alias_table``, for many distributions over as many outcomes: one in each row.

    In each step the outcome with the least is filled up by that with the most.
    """
    count = chances.shape[1]
    share = chances * (count / chances.sum(axis=1, keepdims=True))
    threshold, alias = np.ones_like(share), np.tile(np.arange(count, dtype=np.uint32), (len(share), 1))
    waiting, row = np.ones(share.shape, bool), np.arange(len(share))
    for _ in range(count - 1):
        low = np.where(waiting, share, np.inf).argmin(axis=1)
        waiting[row, low] = False
        high = np.where(waiting, share, -np.inf).argmax(axis=1)
        threshold[row, low], alias[row, low] = np.minimum(share[row, low], 1.0), high
        share[row, high] -= 1.0 - share[row, low]
    never = (chances == 0.0) & (threshold >= 1.0)  # left over by rounding alone
    threshold[never] = 0.0
    alias[never] = np.broadcast_to(chances.argmax(axis=1)[:, None], chances.shape)[never]
    return threshold, alias


def random_state(seed: int, streams: int) -> NDArray[np.uint64]:
    """States of independent streams, one in each row."""
    words = np.random.SeedSequence(seed).generate_state(streams, np.uint64)
    return np.asarray(words, dtype=np.uint64).reshape(streams, 1)


def mixed(states: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The random integers of states of SplitMix64, 53 bits each."""
    now = (states ^ (states >> U30)) * MIX_1
    now = (now ^ (now >> U27)) * MIX_2
    return np.asarray((now ^ (now >> U31)) >> U11)


@inlined
def look(nodes: np.ndarray, node: int, shift: np.ndarray | None) -> tuple[int, int, int, int]:
    """Who moves at a node, its first child, how many it has, and its index.

    Where the cards of a walk were dealt before it, the index depends on them: ``shift`` has, by the node's slot, what
    the deal adds.  Without a deal this costs nothing: numba leaves the rest out when it compiles.
    """
    base = node * 4
    if shift is None:
        return i64(nodes[base]), i64(nodes[base + 1]), i64(nodes[base + 2]), i64(nodes[base + 3])
    word = i64(nodes[base])
    index = i64(nodes[base + 3]) + (shift[word >> SLOT_BITS] & SHIFT_MASK)
    return word & MOVER_MASK, i64(nodes[base + 1]), i64(nodes[base + 2]), index


@kernel
def deal_of(deals: np.ndarray | None, row: int) -> Any:
    """The deal of a walk; None where the tree deals."""
    if deals is None:
        return None
    return deals[row]


@inlined
def draw(state: np.ndarray) -> float:  # IN OUT (1,) uint64
    """A random number, uniform on [0, 1)."""
    now = state[0] + GOLDEN
    state[0] = now
    now = (now ^ (now >> U30)) * MIX_1
    now = (now ^ (now >> U27)) * MIX_2
    now = now ^ (now >> U31)
    return f64(i64(now >> U11)) * UNIT


@inlined
def draw_at(key: int, index: int) -> float:
    """A random number, uniform on [0, 1), that depends on a key and an index alone: the same at every visit."""
    now = (key ^ (key >> U30)) * MIX_1
    now = (now ^ (now >> U27)) * MIX_2
    now = (now ^ (now >> U31)) + u64(index) * GOLDEN  # from here on as the stream that starts there
    now = (now ^ (now >> U30)) * MIX_1
    now = (now ^ (now >> U27)) * MIX_2
    now = now ^ (now >> U31)
    return f64(i64(now >> U11)) * UNIT


@inlined
def chance_outcome(
    threshold: np.ndarray,  # IN  (C,) float64
    alias: np.ndarray,  # IN  (C,) uint32
    row: int,  # IN  the event's row in the alias tables
    outcomes: int,  # IN  how many there are
    uniform: float,  # IN  uniform on [0, 1)
) -> int:
    """The outcome of a chance event that a random number selects."""
    place = uniform * outcomes
    column = i64(place)
    if place - column < threshold[row + column]:
        return column
    return i64(alias[row + column])
