"""Whether a player has a kind of recall, with a witness where not; and a refinement to A-loss recall.

The definitions and the method are those of ``tree/recall/recall_kinds.py``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.history.history_arrays import NULL
from counterplay.tree.history.repartition import number_parts, repartition
from counterplay.tree.recall.recall_kinds import Paths
from counterplay.tree.sequence.sequence_form import decision_points

Int64: TypeAlias = NDArray[np.int64]


@dataclasses.dataclass(frozen=True)
class Witness:
    """Why a player does not belong to a class.

    * ``condition``: what is violated: ``perfect recall``, ``A-loss recall``, ``absent-mindedness``, or the numbers of
      the conditions of a definition, like ``(iii)``
    * ``infoset``: the name of the information set
    * ``first``, ``second``: two of its histories, as labels of moves; for an absent-minded player the second continues
      the first
    * ``leaf``: a terminal history without a partner, if there is one
    * ``detail``: the same in a sentence
    """

    condition: str
    infoset: str
    first: tuple[str, ...]
    second: tuple[str, ...]
    leaf: tuple[str, ...] | None = None
    detail: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The witness for JSON."""
        shown = {name: value for name, value in vars(self).items() if value is not None}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in shown.items()}


@dataclasses.dataclass(frozen=True)
class Verdict:
    """Whether a property holds, and a witness if it does not.

    ``conclusive`` is False if a search was stopped without a result; ``holds`` is then False.
    """

    holds: bool
    witness: Witness | None = None
    conclusive: bool = True

    def to_dict(self) -> dict[str, Any]:
        """The verdict for JSON: constants as well, where a subclass has them."""
        shown: dict[str, Any] = {"holds": self.holds}
        if not self.conclusive:
            shown["conclusive"] = False
        if self.witness is not None:
            shown["witness"] = self.witness.to_dict()
        return shown


def find_absent_mindedness(tree: GameTree, player: int) -> Witness | None:
    """A path that reaches one of the player's information sets twice, if there is one."""
    point = Paths.to_sets_of(tree.sequences, player).repeat()
    if point is None:
        return None
    later = int(_first_histories(tree)[point])
    infoset = int(tree.infoset[later])
    earlier = int(tree.parent[later])
    while tree.infoset[earlier] != infoset:
        earlier = int(tree.parent[earlier])
    name = tree.infoset_names[infoset]
    return Witness(
        "absent-mindedness", name, tuple(tree.history(earlier)), tuple(tree.history(later)),
        detail=f"a path reaches {name!r} twice",
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
    """Whether the player forgets only own choices (Čermák 2018, definition 2.2.2)."""
    if tree.sequences.has_perfect_recall(player):
        return Verdict(True)
    absent = find_absent_mindedness(tree, player)
    if absent is not None:
        return Verdict(False, absent)
    fork = Paths.to_sets_of(tree.sequences, player).fork()
    if fork is None:
        return Verdict(True)
    pair = _unseparated(tree, *fork)
    return Verdict(False, _forgotten(tree, pair, "A-loss recall", "no choice of the player separates the two"))


def split_to_a_loss(tree: GameTree, player: int) -> GameTree:
    """A refinement in which the player has A-loss recall, by first fit.

    The random games of Čermák 2018, section 4.5, need it for the minimiser.  Decision points are processed in the order
    in which they are reached; each joins the first part of its information set in which it is separated from all
    members, or starts a new one.  Earlier decision points are split first, so parts are compared as in the result.
    Other players keep their information sets.
    """
    if not 0 <= player < tree.players:
        raise GameError(f"{tree.name}: player must be 0 .. {tree.players - 1}; got {player}")
    form, earlier = tree.sequences, _earlier_choices(tree)
    parts: dict[int, list[_Part]] = {}
    numbers: dict[int, int] = {}  # decision point -> part, numbered over all sets
    members: list[tuple[int, int]] = []  # part -> (information set, which of its parts)
    for point in range(int(form.decision_start[player]), int(form.decision_start[player + 1])):
        choices = [(numbers[before], action) for before, action in earlier(point)]
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


class _Part:
    """Sequences of one set, as masks: who passes an information set, and who takes an action there."""

    __slots__ = ("number", "passing", "size", "taking")

    def __init__(self, number: int = 0) -> None:
        self.number = number
        self.size = 0
        self.passing: dict[int, int] = {}
        self.taking: dict[tuple[int, int], int] = {}

    def first_compatible(self, choices: list[tuple[int, int]]) -> int | None:
        """The first member that the sequence is not separated from."""
        separated = 0
        for choice in choices:
            separated |= self.passing.get(choice[0], 0) & ~self.taking.get(choice, 0)
        together = ~separated & ((1 << self.size) - 1)
        return (together & -together).bit_length() - 1 if together else None

    def add(self, choices: list[tuple[int, int]]) -> None:
        mark = 1 << self.size
        for choice in choices:
            self.passing[choice[0]] = self.passing.get(choice[0], 0) | mark
            self.taking[choice] = self.taking.get(choice, 0) | mark
        self.size += 1


def _earlier_choices(tree: GameTree) -> Callable[[int], Iterator[tuple[int, int]]]:
    """From a decision point to the decision points and actions on the way to it, the last one first."""
    form = tree.sequences
    decision_of, action_of = form.origins()

    def choices(point: int) -> Iterator[tuple[int, int]]:
        sequence = int(form.decision_parent[point])
        while decision_of[sequence] != NULL:
            point = int(decision_of[sequence])
            yield point, int(action_of[sequence])
            sequence = int(form.decision_parent[point])

    return choices


def _unseparated(tree: GameTree, one: int, other: int) -> tuple[int, int]:
    """Trace a fork back to two decision points of one set that no choice of the player separates."""
    infoset, earlier = tree.sequences.decision_infoset, _earlier_choices(tree)
    while True:
        first, second = ({int(infoset[at]): (action, at) for at, action in earlier(point)} for point in (one, other))
        diverging = next((key for key in first if key in second and first[key][0] != second[key][0]), None)
        if diverging is None:
            return one, other
        one, other = first[diverging][1], second[diverging][1]
