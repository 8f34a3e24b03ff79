"""Histories that the opponents of a player cannot tell apart: what the player might have held and done instead.

Johanson 2016, section 7.3, examples 3 and 4, imagines every private hand that a player could have held; Burch, Schmid,
Moravčík, Morrill and Bowling 2018 group histories in the same way.  Here the groups are found in any compiled game,
from the root down: after a move of an opponent the histories of a group share its infoset and the move, so that the
opponents reach all of them equally often; after a move of the player or of chance they share the move, where moves
that lead to the same later infoset of an opponent count as one.  So a private card splits nothing, a card on the table
or an opponent's card does.  Histories of a group also have the same player to act, or are all terminal.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from counterplay.game.game import CHANCE
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.history.history_arrays import NULL

Ints = NDArray[np.int64]


def imagined_groups(tree: GameTree, player: int) -> Ints:
    """The group of every history, from 0: (H,); a history comes after its parent's group."""
    group = np.zeros(tree.num_histories, np.int64)
    labels, count = _labels(tree), 1
    edges, sets = _next_infosets(tree, player)
    edge_depth = tree.depth[edges]
    for depth, level in enumerate(tree.levels()[1:], 1):
        parent = tree.parent[level]
        mover = tree.player[parent]
        opposed = (mover >= 0) & (mover != player)
        move = (level - tree.first_child[parent]).astype(np.int64)
        some = edge_depth == depth
        label = _merged(group[parent], labels[level], group[tree.parent[edges[some]]], labels[edges[some]], sets[some])
        first = np.where(opposed, tree.infoset[parent], NULL)
        second = np.where(opposed, move, label)
        keys = np.column_stack((group[parent], first, second, tree.player[level]))
        _, number = np.unique(keys, axis=0, return_inverse=True)
        group[level] = count + number.ravel()
        count += int(number.max()) + 1
    return group


def _labels(tree: GameTree) -> Ints:
    """A number for the label of the move into each history, equal where the labels are; NULL for the root."""
    numbers: dict[tuple[bool, str], int] = {}
    found = np.full(tree.num_histories, NULL, np.int64)
    for chance, kinds, rows in ((False, tree.infoset_labels, tree.label_sets), (True, tree.event, tree.event_labels)):
        for kind, words in enumerate(rows):
            if chance:
                parents = np.flatnonzero((tree.player == CHANCE) & (tree.event == kind))
            else:
                decisions = np.flatnonzero(tree.player >= 0)
                parents = decisions[kinds[tree.infoset[decisions]] == kind]
            for move, word in enumerate(words):
                found[tree.first_child[parents] + move] = numbers.setdefault((chance, word), len(numbers))
    return found


def _next_infosets(tree: GameTree, player: int) -> tuple[Ints, Ints]:
    """Pairs of a history and an infoset below it that is the next decision of some opponent."""
    edges, sets = [], []
    below = np.flatnonzero((tree.player >= 0) & (tree.player != player))
    owner, infoset = tree.player[below], tree.infoset[below].astype(np.int64)
    while len(below):
        above = tree.parent[below]
        going = (above != NULL) & (tree.player[above] != owner)
        below, above, owner, infoset = below[going], above[going], owner[going], infoset[going]
        edges.append(below)
        sets.append(infoset)
        below = above.astype(np.int64)
    return np.concatenate([np.zeros(0, np.int64), *edges]), np.concatenate([np.zeros(0, np.int64), *sets])


def _merged(group: Ints, label: Ints, edge_group: Ints, edge_label: Ints, infoset: Ints) -> Ints:
    """The labels of children, replaced by one for all labels of a group that lead to a common infoset."""
    pairs = np.column_stack((group, label))
    found, place = np.unique(pairs, axis=0, return_inverse=True)
    joined, where = np.unique(np.column_stack((edge_group, infoset)), axis=0, return_inverse=True)
    size = len(found) + len(joined)
    order = {tuple(row): number for number, row in enumerate(found.tolist())}
    ends = np.array([order[one, other] for one, other in zip(edge_group.tolist(), edge_label.tolist(), strict=True)],
                    np.int64)  # fmt: skip
    links = coo_array((np.ones(len(ends)), (ends, len(found) + where.ravel())), (size, size))
    _, component = connected_components(links, directed=False)
    return np.asarray(component[place.ravel()], np.int64)
