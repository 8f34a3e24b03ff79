"""Plain computations on compiled trees, for games that are too large to walk state by state.

The value is that of the linear program in ``sequence_lp``, written over the arrays of ``GameTree.sequences``.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import coo_array

if TYPE_CHECKING:
    from counterplay.tree import GameTree


def tree_value(tree: GameTree) -> float:
    """The value of a two-player zero-sum tree with perfect recall to the first player, by the sequence form."""
    form = tree.sequences
    start, middle, end = form.sequence_start.tolist()
    _, split, last = form.decision_start.tolist()
    plan = middle - start
    columns = plan + 1 + last - split  # the plan x, q of the start, q of the second player's decision points

    equal = _Entries([0], [0], [1.0])  # x of the empty sequence is 1
    for decision in range(split):
        equal.add(decision + 1, int(form.decision_parent[decision]), -1.0)
        for action in range(int(form.decision_actions[decision])):
            equal.add(decision + 1, int(form.decision_first[decision]) + action, 1.0)

    below = _Entries([0], [plan], [1.0])  # a row for each sequence of the second player
    for column, decision in enumerate(range(split, last), plan + 1):
        for action in range(int(form.decision_actions[decision])):
            below.add(int(form.decision_first[decision]) + action - middle, column, 1.0)
        below.add(int(form.decision_parent[decision]) - middle, column, -1.0)
    leaves = slice(int(form.leaf_start[start]), int(form.leaf_start[middle]))
    below.rows += (form.leaf_others[leaves, 0] - middle).tolist()
    below.columns += np.repeat(np.arange(plan), np.diff(form.leaf_start[start : middle + 1])).tolist()
    below.values += (-form.leaf_payoff[leaves]).tolist()

    objective = np.zeros(columns)
    objective[plan] = -1.0
    solution = linprog(
        objective,
        A_ub=below.matrix(end - middle, columns),
        b_ub=np.zeros(end - middle),
        A_eq=equal.matrix(split + 1, columns),
        b_eq=np.eye(1, split + 1)[0],
        bounds=[(0.0, None)] * plan + [(None, None)] * (columns - plan),
        method="highs",
    )
    if not solution.success:
        raise ArithmeticError(solution.message)
    return float(-solution.fun * form.unit)


class _Entries:
    """The entries of a sparse matrix."""

    def __init__(self, rows: list[int], columns: list[int], values: list[float]) -> None:
        self.rows, self.columns, self.values = rows, columns, values

    def add(self, row: int, column: int, value: float) -> None:
        self.rows.append(row)
        self.columns.append(column)
        self.values.append(value)

    def matrix(self, rows: int, columns: int) -> coo_array:
        return coo_array((self.values, (self.rows, self.columns)), shape=(rows, columns))


def moves_before(tree: GameTree) -> NDArray[np.int64]:
    """How many moves the owner has made before each decision point."""
    form = tree.sequences
    length = np.zeros(form.num_sequences, np.int64)
    for decision in range(form.num_decisions):
        first, actions = int(form.decision_first[decision]), int(form.decision_actions[decision])
        length[first : first + actions] = length[form.decision_parent[decision]] + 1
    return length[form.decision_parent]


def class_sizes(tree: GameTree, player: int) -> dict[tuple[int, int], int]:
    """How many decision points a player has by (number of own earlier moves, number of actions).

    These are the classes of the initial abstraction of Čermák 2018, section 5.2.1.1.
    """
    form = tree.sequences
    own = slice(int(form.decision_start[player]), int(form.decision_start[player + 1]))
    return dict(Counter(zip(moves_before(tree)[own].tolist(), form.decision_actions[own].tolist(), strict=True)))


def sizes(tree: GameTree) -> dict[str, tuple[int, int]]:
    """Information sets and sequences (the empty one included) of both players."""
    return {
        "infosets": (len(tree.infosets_of(0)), len(tree.infosets_of(1))),
        "sequences": (tree.sequences.sequences_of(0), tree.sequences.sequences_of(1)),
    }
