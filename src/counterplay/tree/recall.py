"""What a player remembers: perfect recall, A-loss recall, imperfect recall, absent-mindedness, each with a witness.

Definitions: Gibson 2014, definition 2.3 and section 6 (perfect recall, absent-mindedness; also Lanctot et al. 2012,
equation 1 and definition 1); Čermák 2018, definition 2.2.2 (A-loss recall).  All are read off the decision points of
the sequence form: an information set with more than one decision point forgets something of the player's own play, and
it has A-loss recall when any two of its sequences part at an information set by different actions, so that only the
player's own choice is forgotten.  A-loss recall is denied to an absent-minded player.

A sequence is a partial assignment of actions to information sets, and A-loss recall asks whether some two assignments
of a set agree wherever both are defined.  Comparing all pairs is the obvious way.  Here the sequences of a set are
first divided, again and again, by an information set that all of a group pass and where they differ: sequences in
different groups have parted.  All sets are divided at once with NumPy, and in the games that people write nothing
or a small rest is left.  The rest is compared with bit masks, a machine word of sequences at a time.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError
from counterplay.tree.arrays import NULL, GameTree
from counterplay.tree.partition import number_parts, repartition
from counterplay.tree.sequences import SequenceForm, decision_points

__all__ = [
    "Recall", "Verdict", "Witness", "classify_recall", "find_absent_mindedness", "has_a_loss_recall",
    "has_perfect_recall", "split_to_a_loss",
]  # fmt: skip

Recall: TypeAlias = Literal["perfect", "a-loss", "imperfect", "absent-minded"]
Int64: TypeAlias = NDArray[np.int64]


@dataclasses.dataclass(frozen=True)
class Witness:
    """Why a player does not belong to a class.

    Attributes
    ----------
    condition : str
        What is broken: ``perfect recall``, ``A-loss recall``, ``absent-mindedness``, or the numbers of the conditions
        of a definition, like ``(iii)``.
    infoset : str
        The name of the information set.
    first, second : tuple of str
        Two of its histories, as labels of moves; for an absent-minded player the second continues the first.
    leaf : tuple of str or None
        A terminal history that has no partner, where there is one to show.
    detail : str
        The same in a sentence.
    """

    condition: str
    infoset: str
    first: tuple[str, ...]
    second: tuple[str, ...]
    leaf: tuple[str, ...] | None = None
    detail: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The witness for JSON."""
        shown: dict[str, Any] = {
            "condition": self.condition,
            "infoset": self.infoset,
            "first": list(self.first),
            "second": list(self.second),
            "detail": self.detail,
        }
        if self.leaf is not None:
            shown["leaf"] = list(self.leaf)
        return shown


@dataclasses.dataclass(frozen=True)
class Verdict:
    """Whether a property holds, and a witness if it does not.

    ``conclusive`` is False when a search was given up before it found anything; ``holds`` is False then.
    """

    holds: bool
    witness: Witness | None = None
    conclusive: bool = True

    def as_dict(self) -> dict[str, Any]:
        """The verdict for JSON: constants as well, where a subclass has them."""
        shown: dict[str, Any] = {"holds": self.holds}
        if not self.conclusive:
            shown["conclusive"] = False
        if self.witness is not None:
            shown["witness"] = self.witness.as_dict()
        return shown


def classify_recall(tree: GameTree, player: int) -> Recall:
    """Classify what one player remembers."""
    if tree.sequences.has_perfect_recall(player):
        return "perfect"
    past = _Past.of(tree, player)
    if past.repeats().size:
        return "absent-minded"
    return "a-loss" if past.compatible_pair() is None else "imperfect"


def find_absent_mindedness(tree: GameTree, player: int) -> Witness | None:
    """A path that meets one of the player's information sets twice, if there is one."""
    past = _Past.of(tree, player)
    repeats = past.repeats()
    if not repeats.size:
        return None
    later = _first_histories(tree)[past.point[past.owner[repeats[0]]]]
    infoset = int(tree.infoset[later])
    earlier = int(tree.parent[later])
    while tree.infoset[earlier] != infoset:
        earlier = int(tree.parent[earlier])
    name = tree.infoset_names[infoset]
    return Witness(
        "absent-mindedness", name, tuple(tree.history(earlier)), tuple(tree.history(int(later))),
        detail=f"a path meets {name!r} twice",
    )  # fmt: skip


def has_perfect_recall(tree: GameTree, player: int) -> Verdict:
    """Whether the player's own play is the same at all histories of each information set."""
    form = tree.sequences
    if form.has_perfect_recall(player):
        return Verdict(True)
    low, high = int(form.decision_start[player]), int(form.decision_start[player + 1])
    infosets = form.decision_infoset[low:high]
    order = np.argsort(infosets, kind="stable")
    second = int(np.flatnonzero(infosets[order][1:] == infosets[order][:-1])[0])
    pair = low + int(order[second]), low + int(order[second + 1])
    return Verdict(False, _forgotten(tree, pair, "perfect recall", "the player's own play before it is not the same"))


def has_a_loss_recall(tree: GameTree, player: int) -> Verdict:
    """Whether the player forgets nothing but choices of the own (Čermák 2018, definition 2.2.2)."""
    if tree.sequences.has_perfect_recall(player):
        return Verdict(True)
    absent = find_absent_mindedness(tree, player)
    if absent is not None:
        return Verdict(False, absent)
    pair = _Past.of(tree, player).compatible_pair()
    if pair is None:
        return Verdict(True)
    return Verdict(False, _forgotten(tree, pair, "A-loss recall", "no choice of the player parts the two"))


def split_to_a_loss(tree: GameTree, player: int) -> GameTree:
    """A refinement in which the player has A-loss recall, by first fit.

    It is what the random games of Čermák 2018, section 4.5, need for the player who minimises.
    Decision points are taken in the order in which they are met; each joins the first part of its information set in
    which it has parted from everybody, or starts a new one.  What precedes a decision point is divided before it, so
    the parts are compared as they are in the result.  Other players keep their information sets.
    """
    if not 0 <= player < tree.players:
        raise GameError(f"{tree.name}: player must be 0 .. {tree.players - 1}; got {player}")
    form = tree.sequences
    decision_of, action_of = _origins(form)
    parts: dict[int, list[_Part]] = {}
    numbers: dict[int, int] = {}  # decision point -> part, numbered over all sets
    members: list[tuple[int, int]] = []  # part -> (information set, which of its parts)
    for point in range(int(form.decision_start[player]), int(form.decision_start[player + 1])):
        choices = []
        sequence = int(form.decision_parent[point])
        while decision_of[sequence] != NULL:
            before = int(decision_of[sequence])
            choices.append((numbers[before], int(action_of[sequence])))
            sequence = int(form.decision_parent[before])
        infoset = int(form.decision_infoset[point])
        found = parts.setdefault(infoset, [])
        place = next((part for part in found if part.first_compatible(choices) is None), None)
        if place is None:
            place = _Part(number=len(members))
            members.append((infoset, len(found)))
            found.append(place)
        place.add(choices)
        numbers[point] = place.number
    names = list(tree.infoset_names)  # of the old sets, and then of the parts
    for infoset, place_in_set in members:
        suffix = f" #{place_in_set + 1}" if len(parts[infoset]) > 1 else ""
        names.append(tree.infoset_names[infoset] + suffix)
    part = tree.infoset.astype(np.int64)
    points = decision_points(tree)
    own = np.flatnonzero(tree.player == player)
    table = np.full(form.num_decisions, NULL, np.int64)
    table[list(numbers)] = list(numbers.values())
    part[own] = table[points[own]] + tree.num_infosets
    part, old = number_parts(tree, part)
    return repartition(tree, part, [names[number] for number in old], f"{tree.name}, split to A-loss recall")


def _forgotten(tree: GameTree, pair: tuple[int, int], condition: str, why: str) -> Witness:
    """The witness that two decision points are one information set."""
    nodes = _first_histories(tree)[list(pair)]
    first, second = (tuple(tree.history(int(node))) for node in nodes)
    name = tree.infoset_names[tree.infoset[nodes[0]]]
    detail = f"{name!r} holds {'/'.join(first) or 'root'} and {'/'.join(second) or 'root'}: {why}"
    return Witness(condition, name, first, second, detail=detail)


def _first_histories(tree: GameTree) -> Int64:
    """The first history of each decision point."""
    points = decision_points(tree)
    nodes = np.flatnonzero(points >= 0)
    first = np.full(tree.sequences.num_decisions, tree.num_histories, np.int64)
    np.minimum.at(first, points[nodes], nodes)
    return first


def _origins(form: SequenceForm) -> tuple[Int64, Int64]:
    """The decision point at which each sequence ends and the action taken there; NULL for empty sequences."""
    decision_of = np.full(form.num_sequences, NULL, np.int64)
    action_of = np.full(form.num_sequences, NULL, np.int64)
    points = np.repeat(np.arange(form.num_decisions), form.decision_actions)
    starts = np.cumsum(form.decision_actions) - form.decision_actions
    actions = np.arange(len(points)) - np.repeat(starts, form.decision_actions)
    sequences = form.decision_first[points] + actions
    decision_of[sequences] = points
    action_of[sequences] = actions
    return decision_of, action_of


class _Part:
    """Sequences of one set, as masks: who passes an information set, and who takes an action there."""

    __slots__ = ("number", "passing", "size", "taking")

    def __init__(self, number: int = 0) -> None:
        self.number = number
        self.size = 0
        self.passing: dict[int, int] = {}
        self.taking: dict[tuple[int, int], int] = {}

    def first_compatible(self, choices: list[tuple[int, int]]) -> int | None:
        """The first member that the sequence has not parted from."""
        parted = 0
        for choice in choices:
            parted |= self.passing.get(choice[0], 0) & ~self.taking.get(choice, 0)
        together = ~parted & ((1 << self.size) - 1)
        return (together & -together).bit_length() - 1 if together else None

    def add(self, choices: list[tuple[int, int]]) -> None:
        mark = 1 << self.size
        for choice in choices:
            self.passing[choice[0]] = self.passing.get(choice[0], 0) | mark
            self.taking[choice] = self.taking.get(choice, 0) | mark
        self.size += 1


@dataclasses.dataclass
class _Past:
    """The choices before the decision points of the sets that have several: row r is one choice before ``owner[r]``."""

    point: Int64  # (N,) the decision points, by information set
    infoset: Int64  # (N,) their information sets
    owner: Int64  # (R,) index into point
    passed: Int64  # (R,) the information set at which the choice was made
    action: Int64  # (R,)

    @classmethod
    def of(cls, tree: GameTree, player: int) -> _Past:
        form = tree.sequences
        decision_of, action_of = _origins(form)
        low, high = int(form.decision_start[player]), int(form.decision_start[player + 1])
        infosets = form.decision_infoset[low:high].astype(np.int64)
        several = np.bincount(infosets, minlength=tree.num_infosets) > 1
        point = low + np.flatnonzero(several[infosets])
        point = point[np.argsort(form.decision_infoset[point], kind="stable")]
        owner = np.arange(len(point))
        sequence = form.decision_parent[point].astype(np.int64)
        owners, passed, actions = [], [], []
        while True:
            before = decision_of[sequence]
            going = before != NULL
            if not going.any():
                break
            owner, sequence, before = owner[going], sequence[going], before[going]
            owners.append(owner)
            passed.append(form.decision_infoset[before].astype(np.int64))
            actions.append(action_of[sequence])
            sequence = form.decision_parent[before].astype(np.int64)
        empty = [np.empty(0, np.int64)]
        return cls(
            point, form.decision_infoset[point].astype(np.int64),
            np.concatenate(owners or empty), np.concatenate(passed or empty), np.concatenate(actions or empty),
        )  # fmt: skip

    def repeats(self) -> Int64:
        """Rows in which a decision point has passed its own information set before; the first set's come first."""
        rows = np.flatnonzero(self.passed == self.infoset[self.owner])
        return rows[np.argsort(self.owner[rows], kind="stable")]

    def compatible_pair(self) -> tuple[int, int] | None:
        """Two decision points of one information set that no choice of the player has parted."""
        group = self._divide()
        order = np.argsort(group, kind="stable")
        _, starts, sizes = np.unique(group[order], return_index=True, return_counts=True)
        rest = np.flatnonzero(sizes > 1)
        if not len(rest):
            return None
        by_owner = np.argsort(self.owner, kind="stable")
        bounds = np.searchsorted(self.owner[by_owner], np.arange(len(self.point) + 1))
        for number in rest.tolist():
            part = _Part()
            members = order[starts[number] : starts[number] + sizes[number]].tolist()
            for member in members:
                rows = by_owner[bounds[member] : bounds[member + 1]]
                choices = list(zip(self.passed[rows].tolist(), self.action[rows].tolist(), strict=True))
                other = part.first_compatible(choices)
                if other is not None:
                    return int(self.point[members[other]]), int(self.point[member])
                part.add(choices)
        return None

    def _divide(self) -> Int64:
        """Groups of decision points: those in different groups of one set have parted."""
        group = np.unique(self.infoset, return_inverse=True)[1].astype(np.int64)
        owner, passed, action = self.owner, self.passed, self.action
        width = int(self.passed.max(initial=0)) + 1
        while len(owner):
            sizes = np.bincount(group)
            live = sizes[group[owner]] > 1
            owner, passed, action = owner[live], passed[live], action[live]
            key = group[owner] * width + passed
            order = np.argsort(key, kind="stable")
            starts = np.flatnonzero(np.diff(key[order], prepend=-1))
            if not len(starts):
                break
            counts = np.diff(np.append(starts, len(order)))
            least = np.minimum.reduceat(action[order], starts)
            most = np.maximum.reduceat(action[order], starts)
            heads = key[order][starts]
            useful = np.flatnonzero((counts == sizes[heads // width]) & (least < most))
            if not len(useful):
                break
            groups, first = np.unique(heads[useful] // width, return_index=True)
            divider = np.full(len(sizes), -1, np.int64)
            divider[groups] = heads[useful[first]] % width
            rows = np.flatnonzero(passed == divider[group[owner]])
            taken = np.zeros(len(group), np.int64)
            taken[owner[rows]] = action[rows]
            group = np.unique(group * (int(action.max()) + 1) + taken, return_inverse=True)[1].astype(np.int64)
        return group
