"""The subproblem of one information set: the owner's plans from there on, and the others' replies.

Whether an action a at I is dominated (Gibson 2014, definition 4.1) depends only on the values from I on:
V(x, y) = v_i(I, (x, y)) for a plan x of the owner from I on and pure strategies y of the others.  Only the parts of
y that lead through I matter, so the others' pure strategies are listed up to what they do elsewhere; this keeps
the problem small at information sets deep in a game, whatever the size of the game.

The owner needs perfect recall; the others may forget.  V is linear in the realisation plan of x, so a mixture of
plans is a plan, and the best plan that starts with a is found against every y by one backward pass.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from itertools import islice, product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from counterplay.errors import GameError
from counterplay.evaluation.history_values import infoset_members
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.history.history_arrays import NULL
from counterplay.tree.sequence.matrices import payoff_scale
from counterplay.tree.sequence.sequence_form import sequences_at

Float64 = NDArray[np.float64]
OTHER = -2
"""Represents all actions of an information set that do not lead through I."""


class TreeIndex:
    """Shared by all problems of one tree: the sequences at histories, and what follows each sequence."""

    def __init__(self, tree: GameTree) -> None:
        self.tree = tree
        form = tree.sequences
        self.following: list[list[int]] = [[] for _ in range(form.num_sequences)]
        self.decision_of = np.full(form.num_sequences, NULL, np.int64)
        self.decision_at: dict[int, int] = {}
        for decision in range(form.num_decisions):
            self.following[form.decision_parent[decision]].append(decision)
            first = int(form.decision_first[decision])
            self.decision_of[first : first + int(form.decision_actions[decision])] = decision
            self.decision_at.setdefault(int(form.decision_infoset[decision]), decision)
        self.remembers = [form.has_perfect_recall(player) for player in range(tree.players)]

    @functools.cached_property
    def members(self) -> list[NDArray[np.int64]]:
        """The histories of each information set."""
        return infoset_members(self.tree)

    @functools.cached_property
    def sequences(self) -> list[NDArray[np.int32]]:
        """The sequence of each player at each history."""
        return sequences_at(self.tree)

    def entry_of(self, sequence: int) -> int:
        """The entry of the last action of a sequence that is not empty."""
        form = self.tree.sequences
        decision = int(self.decision_of[sequence])
        return int(form.decision_entry[decision]) + sequence - int(form.decision_first[decision])

    def past(self, sequence: int) -> Iterator[int]:
        """A sequence and its prefixes, without the empty one."""
        while self.decision_of[sequence] != NULL:
            yield sequence
            sequence = int(self.tree.sequences.decision_parent[self.decision_of[sequence]])


class ActionProblem:
    """Values from one information set on.

    Parameters
    ----------
    index : TreeIndex
        The tree.
    infoset : int
        The information set I.
    removed : (E,) bool
        Entries that have been removed.

    Attributes
    ----------
    player : int
        Whose information set it is.
    sequences : list of int
        The owner's sequences from I on, those with removed actions left out; those of I itself first.
    decisions : list of (parent, children)
        The decision points below I, by positions in ``sequences``, in the order of play.
    leaves : tuple of arrays
        Of each leaf: position of the owner's sequence, the others' sequences, payoff.
    scale : float
        The factor of all payoffs and values (see ``payoff_scale``).
    """

    def __init__(self, index: TreeIndex, infoset: int, removed: NDArray[np.bool_]) -> None:
        tree = index.tree
        self.index, self.infoset, self.removed = index, infoset, removed
        self.player = int(tree.infoset_player[infoset])
        if not index.remembers[self.player]:
            raise GameError(
                f"player {self.player + 1} of {tree.name} has imperfect recall; dominated actions need perfect recall"
            )
        self.others = [player for player in range(tree.players) if player != self.player]
        self.sequences: list[int] = []
        self.decisions: list[tuple[int, list[int]]] = []
        top = index.decision_at[infoset]
        self.top = self._add_children(top)
        for position, sequence in enumerate(self.sequences):  # grows during the loop
            for decision in index.following[sequence]:
                self.decisions.append((position, self._add_children(decision)))
        self._collect_leaves()
        self.ways = self._ways_in()

    def _add_children(self, decision: int) -> list[int]:
        allowed = self.allowed(decision)
        positions = list(range(len(self.sequences), len(self.sequences) + len(allowed)))
        self.sequences += allowed
        return positions

    def allowed(self, decision: int) -> list[int]:
        """The sequences of a decision point whose last actions have not been removed."""
        form = self.index.tree.sequences
        first, entry = int(form.decision_first[decision]), int(form.decision_entry[decision])
        return [first + move for move in range(int(form.decision_actions[decision])) if not self.removed[entry + move]]

    def _collect_leaves(self) -> None:
        form = self.index.tree.sequences
        spans = [np.arange(form.leaf_start[sequence], form.leaf_start[sequence + 1]) for sequence in self.sequences]
        leaf = np.concatenate(spans) if spans else np.zeros(0, np.int64)
        self.leaf_own = np.repeat(np.arange(len(spans)), [len(span) for span in spans])
        self.leaf_others = form.leaf_others[leaf].astype(np.int64)
        payoff = form.leaf_payoff[leaf] * form.unit
        self.scale = payoff_scale(payoff)
        self.leaf_payoff = self.scale * payoff

    def _ways_in(self) -> list[tuple[int, ...]]:
        """The others' sequences that lead to I, one tuple for each path."""
        nodes = self.index.members[self.infoset]
        ways = {tuple(int(self.index.sequences[other][node]) for other in self.others) for node in nodes}
        usable = (way for way in ways if not any(self._is_removed(sequence) for sequence in way))
        return sorted(usable)

    def _is_removed(self, sequence: int) -> bool:
        return any(self.removed[self.index.entry_of(part)] for part in self.index.past(sequence))

    def actions(self) -> list[tuple[int, int]]:
        """For each remaining action at I: its number there, and its position in ``sequences``."""
        form = self.index.tree.sequences
        first = int(form.decision_first[self.index.decision_at[self.infoset]])
        return [(self.sequences[position] - first, position) for position in self.top]

    def under(self, position: int) -> list[int]:
        """Numbers of the decision points that follow an action at I, in the order of play."""
        inside = {position}
        found = []
        for number, (parent, children) in enumerate(self.decisions):
            if parent in inside:
                inside.update(children)
                found.append(number)
        return found

    def relevant(self, place: int) -> set[int]:
        """The sequences of one of the others (by its position among them) on the paths through I to a leaf."""
        found: set[int] = set()
        ends = {int(sequence) for sequence in np.unique(self.leaf_others[:, place])} | {way[place] for way in self.ways}
        for sequence in ends:
            found.update(self.index.past(sequence))
        return found

    def other_plans(self, place: int, limit: int) -> list[frozenset[int]] | None:
        """The pure strategies of one of the others, up to what they do off the paths through I: the sequences that each
        plays there.  None if there are more than ``limit``.
        """
        form = self.index.tree.sequences
        relevant = self.relevant(place)
        if self.index.remembers[self.others[place]] and self._count_other(place, relevant) > limit:
            return None

        def extend(known: dict[int, int], played: frozenset[int], waiting: tuple[int, ...]) -> Iterator[frozenset[int]]:
            if not waiting:
                yield played
                return
            decision, *rest = waiting
            infoset = int(form.decision_infoset[decision])
            first, entry = int(form.decision_first[decision]), int(form.decision_entry[decision])
            for action in self._options(decision, relevant, known.get(infoset)):
                if action == OTHER:
                    yield from extend({**known, infoset: OTHER}, played, tuple(rest))
                    continue
                sequence = first + action
                if sequence not in relevant or self.removed[entry + action]:
                    yield from extend({**known, infoset: action}, played, tuple(rest))
                    continue
                after = [d for d in self.index.following[sequence] if self._matters(d, relevant)]
                yield from extend({**known, infoset: action}, played | {sequence}, (*after, *rest))

        empty = int(form.sequence_start[self.others[place]])
        start = tuple(d for d in self.index.following[empty] if self._matters(d, relevant))
        plans = list(islice(extend({}, frozenset({empty}), start), limit + 1))
        return plans if len(plans) <= limit else None

    def _count_other(self, place: int, relevant: set[int]) -> int:
        """How many pure strategies ``other_plans`` would list for a player with perfect recall."""
        form = self.index.tree.sequences
        ways = dict.fromkeys(relevant, 1) | {int(form.sequence_start[self.others[place]]): 1}
        for decision in sorted({int(self.index.decision_of[sequence]) for sequence in relevant}, reverse=True):
            first = int(form.decision_first[decision])
            options = self._options(decision, relevant, None)
            count = sum(1 if action == OTHER else ways[first + action] for action in options)
            ways[int(form.decision_parent[decision])] *= count
        return ways[int(form.sequence_start[self.others[place]])]

    def _matters(self, decision: int, relevant: set[int]) -> bool:
        form = self.index.tree.sequences
        first = int(form.decision_first[decision])
        return any(sequence in relevant for sequence in range(first, first + int(form.decision_actions[decision])))

    def _options(self, decision: int, relevant: set[int], known: int | None) -> Sequence[int]:
        """What a strategy may do at a decision point: an action on the paths through I, or anything else."""
        if known is not None:
            return (known,)
        form = self.index.tree.sequences
        first = int(form.decision_first[decision])
        owner = int(self.index.tree.infoset_player[form.decision_infoset[decision]])
        allowed = [sequence - first for sequence in self.allowed(decision)]
        if not self.index.remembers[owner]:  # what is off the path here may be on it at another point of the same set
            return allowed
        through = [move for move in allowed if first + move in relevant]
        return through + ([OTHER] if len(through) < len(allowed) else [])

    def responses(self, limit: int) -> tuple[Float64, list[tuple[int, ...]]] | None:
        """L: what each own sequence's leaves pay against every joint pure strategy of the others that reaches I.

        Returns an array (joint strategies, own sequences) without repeated rows, and one joint strategy for each row
        as indices into ``other_plans``.  None if there are more than ``limit`` joint strategies.
        """
        plans = []
        for place in range(len(self.others)):
            listed = self.other_plans(place, limit)
            if listed is None:
                return None
            plans.append(listed)
        if prod(len(listed) for listed in plans) > limit:
            return None
        combinations, inverse = np.unique(self.leaf_others, axis=0, return_inverse=True)
        weights = np.zeros((len(combinations), len(self.sequences)))
        np.add.at(weights, (inverse.ravel(), self.leaf_own), self.leaf_payoff)
        reach = self._joint(plans, combinations)
        comes = self._joint(plans, np.array(self.ways, np.int64).reshape(len(self.ways), len(self.others)))
        joint = list(product(*(range(len(listed)) for listed in plans)))
        kept = np.flatnonzero(comes.any(axis=1))
        rows = reach[kept] @ weights
        unique, first = np.unique(rows, axis=0, return_index=True)
        return unique, [joint[kept[row]] for row in first]

    def _joint(self, plans: list[list[frozenset[int]]], combinations: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether each joint pure strategy plays each combination of the others' sequences."""
        result = np.ones((1, len(combinations)), bool)
        for place, listed in enumerate(plans):
            played = np.zeros((len(listed), len(combinations)), bool)
            for row, plan in enumerate(listed):
                played[row] = [sequence in plan for sequence in combinations[:, place].tolist()]
            size = len(result) * len(listed)
            result = (result[:, None, :] & played[None, :, :]).reshape(size, len(combinations))
        return result

    def best_plans(self, position: int, leaves: Float64) -> Float64:
        """m(y): the most that a plan which starts with the action at ``position`` gets against each row of values."""
        value = leaves.copy()
        for number in reversed(self.under(position)):
            parent, children = self.decisions[number]
            if children:
                value[:, parent] += value[:, children].max(axis=1)
        return np.asarray(value[:, position], dtype=np.float64)

    def plans_against(self, position: int, leaves: Float64) -> NDArray[np.bool_]:
        """The best pure plans that start with the action at ``position`` against each row of values."""
        value = leaves.copy()
        numbers = self.under(position)
        chosen: dict[int, NDArray[np.int64]] = {}
        for number in reversed(numbers):
            parent, children = self.decisions[number]
            chosen[number] = np.asarray(children)[value[:, children].argmax(axis=1)]
            value[:, parent] += value[:, children].max(axis=1)
        plays = np.zeros(leaves.shape, bool)
        plays[:, position] = True
        for number in numbers:
            parent, _ = self.decisions[number]
            rows = np.flatnonzero(plays[:, parent])
            plays[rows, chosen[number][rows]] = True
        return np.unique(plays, axis=0)

    def count_plans(self, position: int) -> int:
        """How many pure plans start with the action at ``position``."""
        ways = [1] * len(self.sequences)
        for number in reversed(self.under(position)):
            parent, children = self.decisions[number]
            ways[parent] *= sum(ways[child] for child in children)
        return ways[position]

    def list_plans(self, position: int) -> NDArray[np.bool_]:
        """The pure plans that start with the action at ``position``: which own sequences each plays."""
        following: dict[int, list[list[int]]] = {}
        for number in self.under(position):
            parent, children = self.decisions[number]
            following.setdefault(parent, []).append(children)
        rows: list[NDArray[np.bool_]] = []

        def extend(played: list[int], waiting: list[list[int]]) -> None:
            if not waiting:
                row = np.zeros(len(self.sequences), bool)
                row[played] = True
                rows.append(row)
                return
            children, *rest = waiting
            for child in children:
                extend([*played, child], [*following.get(child, []), *rest])

        extend([position], following.get(position, []))
        return np.array(rows)

    def other_columns(self, position: int) -> NDArray[np.int64]:
        """Positions of the own sequences that do not start with the action at ``position``."""
        inside = {position}
        for number in self.under(position):
            inside.update(self.decisions[number][1])
        return np.array([one for one in range(len(self.sequences)) if one not in inside], np.int64)

    def plan_rows(self, position: int, columns: NDArray[np.int64]) -> tuple[Any, Float64]:
        """The constraints of plans from I on that do not take the action at ``position``."""
        place = {int(one): number for number, one in enumerate(columns)}
        cells = [(0, place[one], 1.0) for one in self.top if one != position]
        row = 0
        for parent, children in self.decisions:
            if parent in place:
                row += 1
                cells.append((row, place[parent], -1.0))
                cells += [(row, place[child], 1.0) for child in children]
        rows, inside, values = zip(*cells, strict=True)
        right = np.zeros(row + 1)
        right[0] = 1.0
        return sparse.csr_array((values, (rows, inside)), shape=(row + 1, len(columns))), right

    def snapped(self, position: int, plan: Float64) -> Float64:
        """A solution of a program as an exact plan, rounded to nearby fractions with small denominators."""
        result = np.zeros_like(plan)
        for parent, children in [(None, [one for one in self.top if one != position]), *self.decisions]:
            before = 1.0 if parent is None else result[parent]
            if before <= 0.0 or not children:
                continue
            row = np.maximum(plan[children], 0.0)
            row = row / row.sum() if row.sum() > 1e-9 else np.eye(len(children))[0]
            rounded = np.rint(row * 5040) / 5040
            if np.abs(rounded - row).max() < 1e-7:
                row = rounded / rounded.sum()
            result[children] = before * row
        return result
