"""Reaches and expected values of all histories, and of information sets, under a profile; for small games."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.history.history_arrays import NULL

Float64 = NDArray[np.float64]


class HistoryValues(NamedTuple):
    """For each history: the entry of the move into it (NULL after chance and at the root), the reach of each player
    and, last, of chance, and what each player expects from there on.
    """

    entry: NDArray[np.int64]
    reach: Float64
    value: Float64


def history_values(tree: GameTree, strategy: Float64) -> HistoryValues:
    """One pass from the root to the leaves and one back."""
    size = tree.num_histories
    entry = np.full(size, NULL, np.int64)
    after = np.flatnonzero((tree.parent >= 0) & (tree.player[tree.parent] >= 0))
    before = tree.parent[after]
    entry[after] = tree.infoset_offset[tree.infoset[before]] + after - tree.first_child[before]
    move = tree.chance_prob.copy()
    move[after] = strategy[entry[after]]
    value = np.zeros((size, tree.players))
    terminal = tree.outcome >= 0
    value[terminal] = tree.utility[tree.outcome[terminal]]
    reach = np.ones((size, tree.players + 1))
    levels = [np.flatnonzero(tree.depth == depth) for depth in range(1, int(tree.depth.max(initial=0)) + 1)]
    for level in levels:
        reach[level] = reach[tree.parent[level]]
        reach[level, tree.player[tree.parent[level]]] *= move[level]  # chance is -1, the last column
    for level in reversed(levels):
        np.add.at(value, tree.parent[level], move[level, None] * value[level])
    return HistoryValues(entry, reach, value)


def others_reach(reach: Float64, player: int) -> Float64:
    """The product of the reaches of all but one player, chance included."""
    return np.asarray(np.delete(reach, player, axis=1).prod(axis=1), dtype=np.float64)


def infoset_members(tree: GameTree) -> list[NDArray[np.int64]]:
    """The histories of each information set."""
    decisions = np.flatnonzero(tree.player >= 0)
    sets = tree.infoset[decisions]
    order = np.argsort(sets, kind="stable")
    return np.split(decisions[order], np.searchsorted(sets[order], np.arange(1, tree.num_infosets)))[
        : tree.num_infosets
    ]


def infoset_values(tree: GameTree, strategy: Float64) -> tuple[Float64, Float64]:
    """The reach of each information set under a profile, and its value for the player who acts there.

    The reach is the probability that play gets there.  The value is what the player expects to win once play is there;
    where the player's own earlier choices exclude that, the histories have the weights of chance and the other players
    alone; where these exclude it as well, the value is NaN.  With absent-minded players, who can be in one information
    set twice in a play, the first time counts.
    """
    _, reaches, values = history_values(tree, strategy)
    decisions = _first_visits(tree)
    sets, mover, reaches = tree.infoset[decisions], tree.player[decisions], reaches[decisions]
    others = np.stack([others_reach(reaches, player) for player in range(tree.players)])
    won = values[decisions, mover]

    def total(weights: Float64) -> Float64:
        return np.asarray(np.bincount(sets, weights, tree.num_infosets), np.float64)

    played, expected = reaches.prod(axis=1), others[mover, np.arange(len(mover))]
    reach = total(played)
    with np.errstate(invalid="ignore", divide="ignore"):
        value = np.where(reach > 0, total(played * won) / reach, total(expected * won) / total(expected))
    return reach, value


def _first_visits(tree: GameTree) -> NDArray[np.int64]:
    """The decisions at which no earlier history of the same play is in the same information set."""
    decisions = np.flatnonzero(tree.player >= 0)
    first = np.ones(len(decisions), np.bool_)
    above = tree.parent[decisions]
    while np.any(below := above >= 0):
        first &= ~(below & (tree.infoset[above] == tree.infoset[decisions]))
        above = np.where(below, tree.parent[above], NULL)
    return decisions[first]
