"""The public partition of a compiled game, and what each player must distinguish in its cells.

The *public partition* (Johanson 2016, section 2.4) is the finest one in which no information set lies in two cells and
histories of one cell have their predecessors in one cell.  It is computed from the last decisions to the first: the
cells of the decisions after n moves are the connected components under "same information set" and "decisions of one
cell come after both".  The information sets do not show what a player knows who will not act again; we assume that such
a player has learned nothing since their last action, so that the other player's hand stays private.

What a player must distinguish at a cell without having acted before is found in the same way: histories that can be
followed by the same next information set of the player form one *block*.  Blocks become hands.

The source takes the partition as given; deriving it from the information sets alone is our addition.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.history.history_arrays import NULL

Int64 = NDArray[np.int64]

INSTEAD = "use the history representation"
"""Advice for a game that has no public tree."""


class Points:
    """For each history: the previous decision and the action taken there.

    * ``before`` (H,) int64: the last decision before ``h``, or NULL
    * ``move`` (H,) int64: the action that was taken there, as a number
    * ``moves`` (H,) int64: number of moves of players before ``h``
    * ``last`` (2, H) int64: the information set at which each player last acted before ``h``, or NULL
    * ``chance`` (H,) float64: the product of the chance probabilities before ``h``
    """

    def __init__(self, tree: GameTree) -> None:
        self.tree = tree
        size = tree.num_histories
        self.before = np.full(size, NULL, np.int64)
        self.move = np.full(size, NULL, np.int64)
        self.moves = np.zeros(size, np.int64)
        self.last = np.full((2, size), NULL, np.int64)
        self.chance = tree.chance_prob.astype(np.float64)
        for here in tree.levels()[1:]:
            above = tree.parent[here].astype(np.int64)
            acted = tree.player[above] >= 0
            self.before[here] = np.where(acted, above, self.before[above])
            self.move[here] = np.where(acted, here - tree.first_child[above], self.move[above])
            self.moves[here] = self.moves[above] + acted
            for player in (0, 1):
                his = tree.player[above] == player
                self.last[player, here] = np.where(his, tree.infoset[above], self.last[player, above])
            self.chance[here] *= self.chance[above]


class Cells:
    """The public partition of the decisions, and the blocks of each player.

    * ``cell`` (H,) int64: the first history of the cell in which decision ``h`` lies; NULL elsewhere
    * ``block`` (2, H) int64: the first history of the block of each player in which decision ``h`` lies; NULL for
      players who will not act
    """

    def __init__(self, points: Points) -> None:
        tree = points.tree
        self.points = points
        self.cell = np.full(tree.num_histories, NULL, np.int64)
        self.block = np.full((2, tree.num_histories), NULL, np.int64)
        decisions = np.flatnonzero(tree.player >= 0)
        self._check_moves(decisions)
        number = points.moves[decisions]
        levels = [decisions[number == moves] for moves in range(int(number.max(initial=-1)) + 1)]
        self._situations(levels)
        after: Int64 = np.zeros(0, np.int64)
        for here in reversed(levels):
            self._unite(here, after)
            after = here

    def _situations(self, levels: list[Int64]) -> None:
        """Number the public part of the actions: those taken, who acts now, and the legal actions."""
        tree, points = self.points.tree, self.points
        self.situation = np.full(tree.num_histories, NULL, np.int64)
        for here in levels:
            before = points.before[here]
            path = np.where(before != NULL, self.situation[before], NULL)
            labels = tree.infoset_labels[tree.infoset[here]]
            self.situation[here] = _number(path, points.move[here], tree.player[here], labels)

    def _unite(self, here: Int64, after: Int64) -> None:
        """Cells and blocks of the decisions ``here``, from those of the decisions that come next."""
        tree, points = self.points.tree, self.points
        infoset = tree.infoset[here].astype(np.int64)
        ways = [(here, infoset), (points.before[after], self.cell[after])]
        for player in (0, 1):
            mine = tree.player[here] == player
            own, others = here[mine], here[~mine]
            self.block[player, own] = own[_components(own, [(own, infoset[mine])])]
            coming = self.block[player, after]
            leads = (tree.player[points.before[after]] != player) & (coming != NULL)
            busy = np.unique(points.before[after][leads])
            self.block[player, busy] = busy[_components(busy, [(points.before[after][leads], coming[leads])])]
            idle = np.setdiff1d(others, busy, assume_unique=True)  # no information set of the player comes after them
            ways.append((idle, _number(self.situation[idle], points.last[player, idle])))
        self.cell[here] = here[_components(here, ways)]
        self._check_actions(here)

    def _check_moves(self, decisions: Int64) -> None:
        """Refuse an information set that hides the number of moves."""
        tree, moves = self.points.tree, self.points.moves
        infoset = tree.infoset[decisions]
        least = np.full(tree.num_infosets, np.iinfo(np.int64).max)
        np.minimum.at(least, infoset, moves[decisions])
        wrong = np.flatnonzero(moves[decisions] != least[infoset])
        if len(wrong):
            name = tree.infoset_names[infoset[wrong[0]]]
            raise GameError(
                f"{tree.name} has no public tree: information set {name!r} hides how many actions were taken; {INSTEAD}"
            )

    def _check_actions(self, here: Int64) -> None:
        """Refuse cells whose histories differ in the actions taken, in who acts, or in the legal actions."""
        tree, points = self.points.tree, self.points
        first = self.cell[here]
        wrong = np.flatnonzero(points.move[here] != points.move[first])
        if len(wrong):
            one, two = int(first[wrong[0]]), int(here[wrong[0]])
            shown = f"{self._name(one)} and {self._name(two)}"
            before = f"{self._name(int(points.before[one]))} and {self._name(int(points.before[two]))}"
            raise GameError(
                f"{tree.name} has no public tree: what was done at {before} is hidden, because {shown} cannot be "
                f"distinguished in public; {INSTEAD}"
            )
        labels = tree.infoset_labels[tree.infoset[here]]
        wrong = np.flatnonzero(
            (tree.player[here] != tree.player[first]) | (labels != tree.infoset_labels[tree.infoset[first]])
        )
        if len(wrong):
            one, two = int(first[wrong[0]]), int(here[wrong[0]])
            raise GameError(
                f"{tree.name} has no public tree: who acts, or what can be done, at {self._name(one)} and "
                f"{self._name(two)} reveals what is private; {INSTEAD}"
            )

    def _name(self, history: int) -> str:
        return repr(self.points.tree.infoset_names[self.points.tree.infoset[history]])


def _number(*columns: NDArray[Any]) -> Int64:
    """Number rows: equal ones get the same number."""
    if not len(columns[0]):
        return np.zeros(0, np.int64)
    return np.unique(np.stack(columns), axis=1, return_inverse=True)[1].reshape(-1)


def _components(items: Int64, ways: list[tuple[Int64, Int64]]) -> Int64:
    """For each item, the position of the first item connected to it: items with a common mark are connected.

    Each element of ``ways`` is a list of items with repetitions, and the mark of each.  Items are ascending.
    """
    from scipy.sparse import coo_array  # only here: games that describe their public play never need it
    from scipy.sparse.csgraph import connected_components

    if not len(items):
        return np.zeros(0, np.int64)
    rows, columns, size = [], [], len(items)
    for at, mark in ways:
        marks, number = np.unique(mark, return_inverse=True)
        rows.append(np.searchsorted(items, at))
        columns.append(number + size)
        size += len(marks)
    row, column = np.concatenate(rows), np.concatenate(columns)
    graph = coo_array((np.ones(len(row), np.int8), (row, column)), shape=(size, size))
    part = connected_components(graph, directed=False)[1][: len(items)]
    first = np.full(part.max() + 1, len(items), np.int64)
    np.minimum.at(first, part, np.arange(len(items)))
    return np.asarray(first[part], np.int64)
