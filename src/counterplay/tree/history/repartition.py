"""The same histories with other information sets: merged, split, or both.

Chance and utilities do not change.  ``repartition`` is shared by abstractions (coarser sets; Gibson 2014, definition
2.6) and refinements (finer sets; Čermák 2018, definition 2.2.1).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.history.history_arrays import NULL, number_labels
from counterplay.tree.sequence.sequence_form import decision_points


def repartition(
    tree: GameTree,
    part: NDArray[np.integer],
    names: Sequence[str],
    name: str,
    labels: Sequence[tuple[str, ...]] | None = None,
) -> GameTree:
    """A tree over the same histories whose information sets are given by a number for each decision.

    Parameters
    ----------
    tree : GameTree
        The histories.
    part : (H,) integers
        ``part[h]`` is the new information set of decision ``h``; ignored elsewhere.  Sets are numbered from 0 without
        gaps, those of the first player first.
    names : sequence of str
        The name of each new set.
    name : str
        The name of the new game.
    labels : sequence of tuples of str, optional
        The action labels of each new set; by default those of its first history.

    A set that would join two players or histories with different numbers of actions is refused by its name.
    """
    decisions = np.flatnonzero(tree.player >= 0)
    numbers, first, inverse = np.unique(part[decisions], return_index=True, return_inverse=True)
    if not np.array_equal(numbers, np.arange(len(names))):
        raise GameError(f"{name}: {len(names)} sets are named, but {len(numbers)} numbers are used, not 0 and up")
    leaders = decisions[first]  # the first history of each set
    for what, column in (("players", tree.player), ("numbers of actions", tree.num_children)):
        wrong = np.flatnonzero(column[decisions] != column[leaders[inverse]])
        if len(wrong):
            node = decisions[wrong[0]]
            one, other = (tree.infoset_names[tree.infoset[at]] for at in (leaders[inverse[wrong[0]]], node))
            raise GameError(f"{name}: the set {names[part[node]]!r} would join different {what}: {one!r} and {other!r}")
    owners = tree.player[leaders]
    if np.any(np.diff(owners) < 0):
        raise GameError(f"{name}: the sets must be numbered player by player")
    infoset = np.full(tree.num_histories, NULL, np.int32)
    infoset[decisions] = inverse
    label_sets, infoset_labels = tree.label_sets, tree.infoset_labels[tree.infoset[leaders]]
    if labels is not None:
        label_sets, infoset_labels = number_labels(labels)
    return dataclasses.replace(
        tree,
        name=name,
        infoset=infoset,
        infoset_player=owners.astype(np.int8),
        infoset_offset=np.concatenate(([0], np.cumsum(tree.num_children[leaders], dtype=np.int64))),
        infoset_labels=infoset_labels.astype(np.int32),
        player_infosets=np.concatenate(([0], np.cumsum(np.bincount(owners, minlength=tree.players)))),
        infoset_names=tuple(names),
        label_sets=label_sets,
    )


def number_parts(tree: GameTree, part: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number parts as ``repartition`` requires: by player, in order of first occurrence.

    Returns the new number of the part of each decision, (H,) with NULL elsewhere, and the old numbers of the parts.
    """
    met = _preorder(tree)
    decisions = np.flatnonzero(tree.player >= 0)
    decisions = decisions[np.argsort(met[decisions])]
    numbers, first, inverse = np.unique(part[decisions], return_index=True, return_inverse=True)
    order = np.lexsort((first, tree.player[decisions[first]]))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    numbered = np.full(tree.num_histories, NULL, np.int64)
    numbered[decisions] = rank[inverse]
    return numbered, numbers[order].astype(np.int64)


def _preorder(tree: GameTree) -> NDArray[np.int64]:
    """The position of each history in the walk that compiles a game: depth first, actions in their order.

    Histories are numbered differently (siblings are adjacent), and the order of information sets follows the walk; so
    repartitioning a tree into its own sets does not change it.
    """
    levels = tree.levels()[1:]
    size = np.ones(tree.num_histories, np.int64)
    for level in reversed(levels):
        np.add.at(size, tree.parent[level], size[level])
    before = np.concatenate(([0], np.cumsum(size)[:-1]))  # siblings are neighbours
    place = np.zeros(tree.num_histories, np.int64)
    for level in levels:
        parent = tree.parent[level]
        place[level] = place[parent] + 1 + before[level] - before[tree.first_child[parent]]
    return place


def reorder_actions(tree: GameTree, position: NDArray[np.integer]) -> GameTree:
    """The same game with the actions of its information sets in another order.

    ``position`` (E,) is the new position of each entry among the actions of its information set.

    Children of one history are adjacent, so they are permuted within their block; their subtrees do not move, and a
    parent still comes before its children.
    """
    before = np.arange(tree.num_histories)
    after = before.copy()  # where each history goes
    moved = np.flatnonzero((before > 0) & (tree.player[np.maximum(tree.parent, 0)] >= 0))
    parents = tree.parent[moved]
    entries = tree.infoset_offset[tree.infoset[parents]] + (moved - tree.first_child[parents])
    after[moved] = tree.first_child[parents] + position[entries]
    source = np.empty_like(before)
    source[after] = before
    parent = tree.parent[source]
    parent[1:] = after[parent[1:]]
    labels = []
    for infoset in range(tree.num_infosets):
        row = tree.actions_of(infoset)
        places = position[tree.infoset_offset[infoset] : tree.infoset_offset[infoset + 1]]
        labels.append(tuple(row[move] for move in np.argsort(places, kind="stable")))
    label_sets, infoset_labels = number_labels(labels)
    columns = ("first_child", "num_children", "depth", "player", "infoset", "event", "outcome", "chance_prob")
    return dataclasses.replace(
        tree,
        parent=parent,
        infoset_labels=infoset_labels,
        label_sets=label_sets,
        **{column: getattr(tree, column)[source] for column in columns},
    )


def perfect_recall_refinement(tree: GameTree) -> GameTree:
    """The coarsest perfect-recall refinement: each decision point becomes an information set."""
    part, points = number_parts(tree, decision_points(tree))
    infosets = tree.sequences.decision_infoset
    names = []
    seen: dict[int, int] = {}
    repeated = np.bincount(infosets, minlength=tree.num_infosets) > 1
    for infoset in infosets[points].tolist():
        seen[infoset] = seen.get(infoset, 0) + 1
        suffix = f" #{seen[infoset]}" if repeated[infoset] else ""
        names.append(tree.infoset_names[infoset] + suffix)
    return repartition(tree, part, names, f"{tree.name}, remembered")


def perfect_information_refinement(tree: GameTree) -> GameTree:
    """The refinement in which every decision is a separate information set, named by its history."""
    part, nodes = number_parts(tree, np.arange(tree.num_histories))
    names = ["/".join(tree.history(int(node))) or "root" for node in nodes]
    return repartition(tree, part, names, f"{tree.name}, with perfect information")
