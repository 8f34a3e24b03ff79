"""The same tree with other information sets: merged, split, or both.

Histories, chance and utilities stay as they are.  ``repartition`` is what abstractions (coarser sets; Gibson 2014,
definition 2.6) and refinements (finer sets; Čermák 2018, definition 2.2.1) have in common.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError
from counterplay.tree.arrays import NULL, GameTree
from counterplay.tree.sequences import decision_points

__all__ = ["perfect_information", "perfect_recall_refinement", "repartition"]


def repartition(
    tree: GameTree, part: NDArray[np.integer], names: Sequence[str], name: str
) -> tuple[GameTree, NDArray[np.int32]]:
    """A tree whose information sets are given by a number for each decision.

    Parameters
    ----------
    tree : GameTree
        The histories.
    part : (H,) integers
        ``part[h]`` is the number of the set of decision ``h``; ignored elsewhere.
    names : sequence of str
        The name of each set, by its number.
    name : str
        The name of the new game.

    Returns
    -------
    GameTree
        The new tree; its sets are in the usual order, player by player as they are first met.
    (P,) int32
        The new information set of each number, NULL for numbers that were not used.

    Raises
    ------
    GameError
        If a set would join two players or histories with different numbers of actions; the set is named.
    """
    met = _preorder(tree)
    decisions = np.flatnonzero(tree.player >= 0)
    decisions = decisions[np.argsort(met[decisions])]
    numbers, first, inverse = np.unique(part[decisions], return_index=True, return_inverse=True)
    leaders = decisions[first]  # the history of each set that is met first
    for what, column in (("players", tree.player), ("numbers of actions", tree.num_children)):
        wrong = column[decisions] != column[leaders[inverse]]
        if wrong.any():
            node, leader = int(decisions[wrong][0]), int(leaders[inverse[wrong][0]])
            raise GameError(
                f"{name}: the set {names[part[node]]!r} would join different {what}: "
                f"{tree.infoset_names[tree.infoset[leader]]!r} and {tree.infoset_names[tree.infoset[node]]!r}"
            )
    order = np.lexsort((met[leaders], tree.player[leaders]))
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    infoset = np.full(tree.num_histories, NULL, np.int32)
    infoset[decisions] = rank[inverse]
    leaders = leaders[order]
    owners = tree.player[leaders]
    sizes = tree.num_children[leaders].astype(np.int64)
    counts = np.bincount(owners, minlength=tree.players) if len(owners) else np.zeros(tree.players, np.int64)
    new = dataclasses.replace(
        tree,
        name=name,
        infoset=infoset,
        infoset_player=owners.astype(np.int8),
        infoset_offset=np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
        infoset_labels=tree.infoset_labels[tree.infoset[leaders]].astype(np.int32),
        player_infosets=np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
        infoset_names=tuple(names[number] for number in numbers[order]),
    )
    placed = np.full(len(names), NULL, np.int32)
    placed[numbers] = rank
    return new, placed


def _preorder(tree: GameTree) -> NDArray[np.int64]:
    """The place of each history in the walk that compiles a game: depth first, actions in their order.

    Histories are numbered otherwise (siblings are neighbours), and the order of information sets follows the walk; so
    a tree that is divided into its own sets stays the same.
    """
    order = np.argsort(tree.depth, kind="stable")
    bounds = np.searchsorted(tree.depth[order], np.arange(int(tree.depth.max()) + 2))
    levels = [order[bounds[depth] : bounds[depth + 1]] for depth in range(1, len(bounds) - 1)]
    size = np.ones(tree.num_histories, np.int64)
    for level in reversed(levels):
        np.add.at(size, tree.parent[level], size[level])
    before = np.concatenate(([0], np.cumsum(size)[:-1]))  # siblings are neighbours
    place = np.zeros(tree.num_histories, np.int64)
    for level in levels:
        parent = tree.parent[level]
        place[level] = place[parent] + 1 + before[level] - before[tree.first_child[parent]]
    return place


def perfect_recall_refinement(tree: GameTree) -> GameTree:
    """The coarsest refinement in which everybody remembers: each decision point becomes an information set."""
    form = tree.sequences
    names = []
    seen: dict[int, int] = {}
    repeated = np.bincount(form.decision_infoset, minlength=tree.num_infosets) > 1
    for infoset in form.decision_infoset.tolist():
        seen[infoset] = seen.get(infoset, 0) + 1
        suffix = f" #{seen[infoset]}" if repeated[infoset] else ""
        names.append(tree.infoset_names[infoset] + suffix)
    return repartition(tree, decision_points(tree), names, f"{tree.name}, refined")[0]


def perfect_information(tree: GameTree) -> GameTree:
    """The refinement in which every decision is an information set of its own, named by its history."""
    decisions = np.flatnonzero(tree.player >= 0)
    part = np.full(tree.num_histories, NULL, np.int64)
    part[decisions] = np.arange(len(decisions))
    names = ["/".join(tree.history(int(node))) or "root" for node in decisions]
    return repartition(tree, part, names, f"{tree.name}, with perfect information")[0]
