"""Layout of a small tree, without overlaps.

Horizontally the tree is tidy in the sense of E. M. Reingold and J. S. Tilford, "Tidier drawings of trees" (1981): a
history is above the middle of its children, subtrees are as close as their outlines allow, and equal subtrees look
equal.  Departing from it, every history has its own extent to the left and to the right, because labels differ.

Vertically each depth is a level.  The members of an information set that are neighbours on a level can be drawn into
one envelope; other sets are joined above the level, in separate *lanes* where they would overlap.  Sets that have
histories on several levels, such as those of absent-minded players, are linked from level to level.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.history.history_arrays import NULL

Float64 = NDArray[np.float64]
Outline = list[tuple[float, float]]


@dataclasses.dataclass(frozen=True)
class Layout:
    """Positions of the histories; the root has depth 0, and larger ``x`` is further right.

    Attributes
    ----------
    x : (H,) float64
        Position of each history; the leftmost extent of the tree is at 0.
    width : float
        From the leftmost to the rightmost extent.
    """

    x: Float64
    width: float


@dataclasses.dataclass(frozen=True)
class Joint:
    """The histories of one information set on one level, from left to right.

    ``neighbours`` says whether no other history of the level is between them.
    """

    infoset: int
    depth: int
    members: tuple[int, ...]
    neighbours: bool


@dataclasses.dataclass(frozen=True)
class Link:
    """Two histories of one information set on different levels, the upper one first.

    ``absent_minded`` says whether a path contains both.
    """

    infoset: int
    ends: tuple[int, int]
    absent_minded: bool


def lay_out(tree: GameTree, left: Float64, right: Float64, gap: float, levels: int = 1) -> Layout:
    """A tidy layout of all histories.

    Parameters
    ----------
    tree : GameTree
        A small tree.
    left, right : (H,) float64
        How far each history and its labels extend to the left and right of its position.
    gap : float
        Least distance between the extents of two neighbours on a level.
    levels : int
        On how many levels a terminal history takes space; more than one if much is written below it.
    """
    size = tree.num_histories
    offset = np.zeros(size)  # from the parent
    outlines: dict[int, Outline] = {}  # of each finished subtree, level by level, relative to its root
    for node in reversed(range(size)):  # children come after their parents
        first, count = int(tree.first_child[node]), int(tree.num_children[node])
        children = range(first, first + count) if count else range(0)
        places, outline = _beside([outlines.pop(child) for child in children], gap)
        middle = (places[0] + places[-1]) / 2 if places else 0.0
        for child, place in zip(children, places, strict=True):
            offset[child] = place - middle
        below = [(low - middle, high - middle) for low, high in outline]
        own = (-float(left[node]), float(right[node]))
        outlines[node] = [own, *below] if count else [own] * levels
    least = min(low for low, _ in outlines[0])
    most = max(high for _, high in outlines[0])
    x = np.empty(size)
    x[0] = -least
    for node in range(1, size):
        x[node] = x[tree.parent[node]] + offset[node]
    return Layout(x, most - least)


def _beside(outlines: Sequence[Outline], gap: float) -> tuple[list[float], Outline]:
    """Put subtrees side by side as close as their outlines allow: the place of each, and the outline of all."""
    places: list[float] = []
    together: Outline = []
    for outline in outlines:
        shared = zip(together, outline, strict=False)
        place = max((high - low + gap for (_, high), (low, _) in shared), default=0.0)
        moved = [(low + place, high + place) for low, high in outline]
        together = [(one[0], other[1]) for one, other in zip(together, moved, strict=False)] + (
            together[len(moved) :] or moved[len(together) :]
        )
        places.append(place)
    return places, together


def find_joints(tree: GameTree, player: int | None = None) -> list[Joint]:
    """What has to be joined on each level: the information sets with more than one history there.

    Histories of a level are compared in their order from left to right, which does not depend on the layout.
    """
    joints = []
    for depth, level in enumerate(_levels(tree)):
        for infoset, positions in _by_infoset(tree, level, player).items():
            if len(positions) > 1:
                neighbours = positions[-1] - positions[0] == len(positions) - 1
                joints.append(Joint(infoset, depth, tuple(level[place] for place in positions), neighbours))
    return joints


def find_links(tree: GameTree, player: int | None = None) -> list[Link]:
    """What has to be joined across levels: each level of a set with the next below that has histories of it.

    The ends are a history and its own descendant where there is one (absent-mindedness), else the last and the first.
    """
    above: dict[int, list[int]] = {}
    links = []
    for level in _levels(tree):
        for infoset, positions in _by_infoset(tree, level, player).items():
            members = [level[place] for place in positions]
            upper = above.get(infoset)
            if upper is not None:
                ends = [(one, other) for other in members for one in upper if _precedes(tree, one, other)]
                links += [Link(infoset, pair, True) for pair in ends] or [Link(infoset, (upper[-1], members[0]), False)]
            above[infoset] = members
    return links


def _by_infoset(tree: GameTree, level: Sequence[int], player: int | None) -> dict[int, list[int]]:
    """Positions on a level by information set."""
    members: dict[int, list[int]] = {}
    for position, node in enumerate(level):
        infoset = int(tree.infoset[node])
        if infoset != NULL and player in (None, int(tree.player[node])):
            members.setdefault(infoset, []).append(position)
    return members


def _precedes(tree: GameTree, one: int, other: int) -> bool:
    """Whether ``one`` is an ancestor of ``other``."""
    while other != NULL and tree.depth[other] > tree.depth[one]:
        other = int(tree.parent[other])
    return other == one


def _levels(tree: GameTree) -> list[list[int]]:
    """The histories of each depth from left to right."""
    level = [0]
    levels = []
    while level:
        levels.append(level)
        level = [
            child
            for node in level
            for child in range(int(tree.first_child[node]), int(tree.first_child[node]) + int(tree.num_children[node]))
        ]
    return levels


def place_lanes(spans: Sequence[tuple[float, float]]) -> list[int]:
    """A lane for each span on a level, so that spans in one lane do not overlap; short spans get the low lanes."""
    lanes: list[list[tuple[float, float]]] = []
    placed = [0] * len(spans)
    for index in sorted(range(len(spans)), key=lambda i: (round(spans[i][1] - spans[i][0], 6), spans[i])):
        low, high = spans[index]
        free = (lane for lane, taken in enumerate(lanes) if all(high < a or b < low for a, b in taken))
        lane = next(free, len(lanes))
        if lane == len(lanes):
            lanes.append([])
        lanes[lane].append((low, high))
        placed[index] = lane
    return placed
