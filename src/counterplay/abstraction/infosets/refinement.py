"""Refinement: an abstraction whose sets are split, and abstractions given by arrays alone.

Čermák 2018, section 5.2: the algorithms there only split merged sets, so the abstraction moves from the initial one
towards the game itself.  The actions of split sets keep their positions.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from counterplay.abstraction.infosets.abstraction import Abstraction
from counterplay.errors import AbstractionError
from counterplay.tree.history.game_tree import GameTree


def from_map(
    tree: GameTree, infoset_map: NDArray[np.integer], action_map: NDArray[np.integer], name: str
) -> Abstraction:
    """The abstraction that merges information sets with equal numbers in ``infoset_map`` (I,); any numbers.

    ``action_map`` (E,) is the position of each real entry among the actions of its abstract set.  The abstract sets
    are numbered player by player in the order of their first members, and named after them.
    """
    _, first, numbers, sizes = np.unique(infoset_map, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    leaders = first[order].tolist()
    names, labels = [], []
    for leader, size in zip(leaders, sizes[order].tolist(), strict=True):
        own = tree.infoset_names[leader]
        names.append(own if size == 1 else f"{own} and {size - 1} more")
        places = action_map[tree.infoset_offset[leader] : tree.infoset_offset[leader + 1]]
        row = tree.actions_of(leader)
        labels.append(tuple(row[move] for move in np.argsort(places, kind="stable")))
    return Abstraction(
        name, tree.name, tree.digest, rank[numbers].astype(np.int32), np.asarray(action_map, np.int32),
        tree.infoset_player[leaders].astype(np.int8), tuple(names), tuple(labels),
    )  # fmt: skip


def refine(
    abstraction: Abstraction, tree: GameTree, parts: NDArray[np.integer], name: str | None = None
) -> Abstraction:
    """Split merged sets: information sets stay merged if they have equal numbers in ``parts`` (I,)."""
    if len(parts) != len(abstraction.infoset_map):
        raise AbstractionError(f"{len(parts)} parts for the {len(abstraction.infoset_map)} sets of {abstraction.game}")
    _, numbers = np.unique(parts, return_inverse=True)
    pairs = abstraction.infoset_map.astype(np.int64) * (int(numbers.max(initial=0)) + 1) + numbers
    return from_map(tree, pairs, abstraction.action_map, name or f"{abstraction.name}, refined")


def split(
    abstraction: Abstraction, tree: GameTree, groups: Sequence[Sequence[int]], name: str | None = None
) -> Abstraction:
    """Split groups of information sets off their abstract sets, each group as a new set; the rest stays.

    Raises AbstractionError if a group is spread over several abstract sets, or an information set is in two groups.
    """
    parts = np.zeros(len(abstraction.infoset_map), np.int64)
    for number, group in enumerate(groups, start=1):
        merged = {int(abstraction.infoset_map[infoset]) for infoset in group}
        if len(merged) != 1 or np.any(parts[list(group)] != 0):
            raise AbstractionError(f"group {number} must lie in one abstract set, apart from the others; got {group}")
        parts[list(group)] = number
    return refine(abstraction, tree, parts, name)


def is_refinement(fine: Abstraction, coarse: Abstraction) -> bool:
    """Whether each set of ``fine`` lies in one set of ``coarse``, with the same actions in the same positions."""
    if fine.digest != coarse.digest or not np.array_equal(fine.action_map, coarse.action_map):
        return False
    owner = np.full(fine.num_sets, -1)
    owner[fine.infoset_map] = coarse.infoset_map
    return bool(np.array_equal(owner[fine.infoset_map], coarse.infoset_map))
