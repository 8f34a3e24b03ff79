"""The public tree of a game that describes its public play: the graph of its points is unfolded into nodes.

The nodes below a point are the same wherever the point occurs.  So each point that starts a piece gets a template,
and the pieces, millions of them if need be, are copies of templates: the arrays are written template by template, and
no node is an object.  A piece holds the children of its root with all that is below the smaller ones; the larger ones
are moved into new pieces, behind links that deal nothing.

Source: Johanson 2016, section 3.3.2 for the payoffs; the layout is our own.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError, MemoryLimitError
from counterplay.game.public_play import PlayEnd, PlayPoint, PublicPlay
from counterplay.runtime.memory import check_memory
from counterplay.tree.public.public_tree import CUT, FACTORED, LINK, MAX_PIECE, NO_HAND, SHARED, Hands, PublicTree

NODE_BYTES = 75
"""Bytes of the arrays of a ``PublicTree`` for each node."""

WORK_BYTES = 10
"""Additional bytes that unfolding needs for each node."""

MAX_NODES = 2**31 - 1


@dataclasses.dataclass(frozen=True, eq=False)
class _Template:
    """The nodes of a piece, by their place in it.

    ``point`` is the point of each node, ``cut`` says which are links to the piece of their point; ``child`` is the
    place of the first child, ``slot`` is ``reach_slot``.
    """

    point: NDArray[np.int64]
    cut: NDArray[np.bool_]
    child: NDArray[np.int64]
    slot: NDArray[np.int32]


def count_play(play: PublicPlay) -> tuple[int, int, int]:
    """Public states, information sets and entries of the unfolded play."""
    sizes, times = _sizes(play), [0] * len(play.points)
    times[0] = 1
    infosets = entries = 0
    reached = [number for number, size in enumerate(sizes) if size]
    for number in sorted(reached, key=lambda number: -sizes[number]):  # each after all that lead to it
        point = play.points[number]
        if isinstance(point, PlayPoint):
            here = times[number] * len(play.hands[point.player])
            infosets += here
            entries += here * len(point.actions)
            for after in point.after:
                times[after] += times[number]
    return sizes[0], infosets, entries


def unfolded_bytes(play: PublicPlay) -> int:
    """About how much memory the public tree of a play takes."""
    return _sizes(play)[0] * (NODE_BYTES + WORK_BYTES)


def unfold(play: PublicPlay, name: str, big_blind: float | None = None, memory_limit: int | None = None) -> PublicTree:
    """The public tree of a play; ``name`` opens the game again.

    ``memory_limit`` says how many bytes may be used; by default what the machine has free.  Raises GameError if the
    play contradicts itself, MemoryLimitError if its tree does not fit.
    """
    _check(play)
    sizes = _sizes(play)
    what = f"the public tree of {name} has {sizes[0]:,} nodes and"
    check_memory(what, unfolded_bytes(play), memory_limit, "use smaller parameters or a solver that samples")
    if sizes[0] > MAX_NODES:
        raise MemoryLimitError(f"{what} public trees hold at most {MAX_NODES:,}")
    pieces = _Pieces(play, sizes)
    ends = _ends(play)
    hands = tuple(_hands(row) for row in play.hands)
    one = np.ones(1)
    return PublicTree(
        name=name, **_node_arrays(play, pieces, ends["data"], ends["factor"]),
        deal_parent=np.full(1, -1, np.int32), deal_first=np.full(1, -1, np.int32), deal_count=np.zeros(1, np.int32),
        deal_root=np.full(1, -1, np.int32), deal_weight=one, deal_prob=one, hands=(hands[0], hands[1]),
        matrix=ends["matrix"], factor_class=ends["factor_class"], factor_count=ends["factor_count"], pair_hands=False,
        scale=float(np.abs(ends["matrix"]).max(initial=0.0)), big_blind=big_blind,
    )  # fmt: skip


def _hands(row: tuple[tuple[str, float], ...]) -> Hands:
    chance = np.array([probability for _, probability in row])
    start = np.array([0, len(row)], np.int64)
    return Hands.plain(start, np.zeros(len(row), np.uint16), chance, chance, tuple(label for label, _ in row))


def _check(play: PublicPlay) -> None:
    """Refuse hands, points and payoffs that do not fit together: kernels trust them."""
    for player, row in enumerate(play.hands):
        total = math.fsum(probability for _, probability in row)
        if not 0 < len(row) < NO_HAND or min(p for _, p in row) < 0 or not abs(total - 1) <= 1e-9:
            raise GameError(
                f"the hands of player {player + 1} need probabilities that sum to 1 and must be from 1 to "
                f"{NO_HAND - 1}; got {len(row)} hands, sum {total}"
            )
    for number, point in enumerate(play.points):
        if isinstance(point, PlayPoint):
            fits = point.player in (0, 1) and 0 < len(point.actions) == len(point.after)
            if not fits or not all(0 <= after < len(play.points) for after in point.after):
                raise GameError(
                    f"point {number} of the play needs a player 0 or 1, and what follows each action; got {point}"
                )
            continue
        shape = (len(point.utility), len(point.utility[0]))
        for classes, hands, size in zip(point.classes, play.hands, shape, strict=True):
            if len(classes) != len(hands) or not 0 <= min(classes) <= max(classes) < min(size, 256):
                raise GameError(f"end {number} of the play needs a class below {size} for each hand; got {classes}")
        if any(len(row) != shape[1] for row in point.utility) or not np.isfinite(point.utility).all():
            raise GameError(f"end {number} of the play needs a rectangle of finite utilities; got {point.utility}")


def _sizes(play: PublicPlay) -> list[int]:
    """How many nodes lie below each point, itself counted."""
    sizes: dict[int, int] = {}
    open_points: set[int] = set()
    stack = [0]
    while stack:
        number = stack[-1]
        point = play.points[number]
        after = point.after if isinstance(point, PlayPoint) else ()
        waiting = [next_number for next_number in after if next_number not in sizes]
        if number in sizes or not waiting:
            if number not in sizes:
                sizes[number] = 1 + sum(sizes[next_number] for next_number in after)
            open_points.discard(stack.pop())
            continue
        open_points.add(number)
        if any(next_number in open_points for next_number in waiting):
            raise GameError(f"point {number} of the play leads back to a point before it; a play must end")
        stack.extend(waiting)
    return [sizes.get(number, 0) for number in range(len(play.points))]


def _template(play: PublicPlay, sizes: list[int], root: int) -> _Template:
    """The piece that starts at a point."""
    kept = 1
    top = play.points[root]
    far: set[int] = set()  # places in the piece of children that are moved out of it
    if isinstance(top, PlayPoint):
        for place, after in sorted(enumerate(top.after, 1), key=lambda row: sizes[row[1]]):
            kept += sizes[after]
            if kept > MAX_PIECE and sizes[after] > 1:
                far.add(place)
                kept += 1 - sizes[after]
    points, child, parents = [root], [-1], [-1]
    for place, number in enumerate(points):  # grows while it is walked
        point = play.points[number]
        if isinstance(point, PlayPoint) and place not in far:
            child[place] = len(points)
            points.extend(point.after)
            child.extend([-1] * len(point.after))
            parents.extend([place] * len(point.after))
    slot = np.zeros((2, len(points)), np.int32)
    slot[1, 0] = len(points)
    for place, parent in enumerate(parents[1:], 1):
        slot[:, place] = slot[:, parent]
        above = play.points[points[parent]]
        if isinstance(above, PlayPoint):
            slot[above.player, place] = place
    cut = np.zeros(len(points), np.bool_)
    cut[list(far)] = True
    return _Template(np.array(points), cut, np.array(child), slot)


class _Pieces:
    """All pieces of a tree, those that links lead to after those with the links.

    * ``templates``: by the point with which a piece starts
    * ``point`` (P,) int64: with which point each piece starts
    * ``first`` (P+1,) int64: its first node
    * ``next`` (P,) int64: the piece to which its first link leads; the other links lead to the pieces after that one
    """

    def __init__(self, play: PublicPlay, sizes: list[int]) -> None:
        self.templates: dict[int, _Template] = {}
        waiting = [0]
        for number in waiting:  # grows while it is walked
            if number not in self.templates:
                template = self.templates[number] = _template(play, sizes, number)
                waiting.extend(template.point[template.cut].tolist())
        size = np.zeros(len(play.points), np.int64)
        cuts = np.zeros(len(play.points), np.int64)
        flat: list[int] = []
        flat_start = np.zeros(len(play.points), np.int64)
        for number, template in self.templates.items():
            size[number], cuts[number] = len(template.point), template.cut.sum()
            flat_start[number] = len(flat)
            flat += template.point[template.cut].tolist()
        after = np.array(flat, np.int64)
        levels, nexts, count = [np.zeros(1, np.int64)], [], 1
        while len(levels[-1]):
            here = cuts[levels[-1]]
            before = np.cumsum(here) - here
            nexts.append(count + before)
            step = np.arange(here.sum()) - np.repeat(before, here)
            levels.append(after[np.repeat(flat_start[levels[-1]], here) + step])
            count += len(levels[-1])
        self.point = np.concatenate(levels)
        self.next = np.concatenate(nexts)
        self.first = np.concatenate([[0], np.cumsum(size[self.point])])


def _node_arrays(
    play: PublicPlay, pieces: _Pieces, end_data: NDArray[np.int64], end_factor: NDArray[np.int32]
) -> dict[str, Any]:
    """The arrays of a ``PublicTree`` over its nodes."""
    points = play.points
    labels = {row: i for i, row in enumerate(dict.fromkeys(p.actions for p in points if isinstance(p, PlayPoint)))}
    kind = np.array([p.player if isinstance(p, PlayPoint) else FACTORED for p in points], np.int8)
    width = np.array([len(p.after) if isinstance(p, PlayPoint) else 0 for p in points], np.int32)
    label = np.array([labels[p.actions] if isinstance(p, PlayPoint) else -1 for p in points], np.int32)
    size = int(pieces.first[-1])
    arrays: dict[str, Any] = {
        "kind": np.empty(size, np.int8), "first_child": np.empty(size, np.int32),
        "num_children": np.empty(size, np.int32), "reach_slot": np.empty((2, size), np.int32),
        "link_deal": np.empty(size, np.int32), "payoff": np.empty(size), "data": np.empty(size, np.int64),
        "factor": np.empty(size, np.int32), "node_labels": np.empty(size, np.int32),
        "piece_size": np.zeros(size, np.int32), "deal_low": np.zeros(size, np.int32),
        "deal_high": np.ones(size, np.int32), "base": np.zeros(size, np.int64), "block": np.zeros(size, np.int64),
    }  # fmt: skip
    for number, template in pieces.templates.items():
        which = np.flatnonzero(pieces.point == number)
        first = pieces.first[which]
        place = first[:, None] + np.arange(len(template.point))
        cut, ends = template.cut, kind[template.point] == FACTORED
        arrays["kind"][place] = np.where(cut, LINK, kind[template.point])
        arrays["num_children"][place] = np.where(cut, 1, width[template.point])
        arrays["link_deal"][place] = np.where(cut, CUT, SHARED)
        arrays["payoff"][place] = np.where(ends, 1.0, 0.0)
        arrays["data"][place] = end_data[template.point]
        arrays["factor"][place] = end_factor[template.point]
        arrays["node_labels"][place] = np.where(cut, -1, label[template.point])
        for player in (0, 1):
            arrays["reach_slot"][player][place] = template.slot[player]
        arrays["piece_size"][first] = len(template.point)
        arrays["first_child"][place] = np.where(template.child >= 0, template.child + first[:, None], -1)
        lead = pieces.next[which][:, None] + np.arange(cut.sum())
        arrays["first_child"][place[:, cut]] = pieces.first[lead]
    for player in (0, 1):
        nodes = np.flatnonzero(arrays["kind"] == player)
        entries = arrays["num_children"][nodes].astype(np.int64) * len(play.hands[player])
        arrays["base"][nodes] = np.cumsum(entries) - entries
        arrays["block"][nodes] = np.arange(len(nodes))
    return {**arrays, "action_labels": tuple(labels)}


def _ends(play: PublicPlay) -> dict[str, Any]:
    """The payoffs: where those of each end lie, the classes of hands, each list of classes once."""
    data = np.zeros(len(play.points), np.int64)
    factor = np.zeros(len(play.points), np.int32)
    rows: dict[tuple[Any, ...], int] = {}
    matrix: list[float] = []
    for number, point in enumerate(play.points):
        if isinstance(point, PlayEnd):
            shape = (len(point.utility), len(point.utility[0]))
            factor[number] = rows.setdefault((*point.classes, shape), len(rows))
            data[number] = len(matrix)
            matrix += [value for row in point.utility for value in row]
    most = max(len(row) for row in play.hands)
    classes = np.zeros((2, len(rows), most), np.uint8)
    counts = np.zeros((2, len(rows)), np.int32)
    for (one, two, shape), row in rows.items():
        classes[0, row, : len(one)], classes[1, row, : len(two)] = one, two
        counts[:, row] = shape
    return {
        "data": data, "factor": factor, "matrix": np.array(matrix), "factor_class": classes, "factor_count": counts,
    }  # fmt: skip
