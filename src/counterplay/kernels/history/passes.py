"""Passes over the sequence form: reach forward, counterfactual values backward, best responses.

Notation in all of them: ``form`` are the arrays of the game (``FormArrays``), ``strategy`` (E,) the probability of
each entry, ``reach`` (S,) the product of the owner's probabilities along each sequence (1 for the empty one), and
``value`` (S,) the owner's counterfactual value of each sequence: what the leaves below it pay, weighted by chance and
by the reach of everybody else (Gibson 2014, section 2.2.2).  Values and the regrets made of them are in multiples of
``form.unit``.  Decision points are numbered so that a forward loop visits a decision before what follows from it.
"""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from counterplay.kernels.jit import kernel
from counterplay.tree.sequence.sequence_form import SequenceForm


class FormArrays(NamedTuple):
    """The fields of a ``SequenceForm`` that kernels read; it documents each."""

    sequence_start: np.ndarray
    decision_start: np.ndarray
    decision_parent: np.ndarray
    decision_first: np.ndarray
    decision_actions: np.ndarray
    decision_entry: np.ndarray
    decision_weight: np.ndarray
    leaf_start: np.ndarray
    leaf_others: np.ndarray
    leaf_payoff: np.ndarray
    unit: float


_ARRAYS: WeakKeyDictionary[SequenceForm, FormArrays] = WeakKeyDictionary()


def form_arrays(form: SequenceForm) -> FormArrays:
    """The arrays of a sequence form, for kernels; made once for each form.

    Ids are passed as unsigned numbers: numba then leaves out its test for negative indices, which is half as
    fast again on small games.  None of these arrays holds NULL.
    """
    found = _ARRAYS.get(form)
    if found is None:
        fields = (getattr(form, name) for name in FormArrays._fields)
        ids = (field.view(np.uint32) if getattr(field, "dtype", None) == np.int32 else field for field in fields)
        found = _ARRAYS[form] = FormArrays(*ids)
    return found


@kernel
def forward_reach(
    form: FormArrays,  # IN
    player: int,  # IN
    strategy: np.ndarray,  # IN  (E,) float64
    reach: np.ndarray,  # OUT (S,) float64, the player's sequences
) -> None:
    """Own reach of every sequence of a player."""
    reach[form.sequence_start[player]] = 1.0
    for decision in range(form.decision_start[player], form.decision_start[player + 1]):
        before = reach[form.decision_parent[decision]]
        first = form.decision_first[decision]
        entry = form.decision_entry[decision]
        for action in range(form.decision_actions[decision]):
            reach[first + action] = before * strategy[entry + action]


@kernel
def leaf_values(
    form: FormArrays,  # IN
    player: int,  # IN
    reach: np.ndarray,  # IN  (S,) float64, the other players' sequences
    value: np.ndarray,  # OUT (S,) float64, the player's sequences
) -> None:
    """What the leaves of each sequence itself pay its owner against the others' reach."""
    others = form.leaf_others.shape[1]
    for sequence in range(form.sequence_start[player], form.sequence_start[player + 1]):
        total = 0.0
        if others == 1:
            for leaf in range(form.leaf_start[sequence], form.leaf_start[sequence + 1]):
                total += form.leaf_payoff[leaf] * reach[form.leaf_others[leaf, 0]]
        else:
            for leaf in range(form.leaf_start[sequence], form.leaf_start[sequence + 1]):
                weight = form.leaf_payoff[leaf]
                for other in range(others):
                    weight *= reach[form.leaf_others[leaf, other]]
                total += weight
        value[sequence] = total


@kernel
def backward_values(
    form: FormArrays,  # IN
    player: int,  # IN
    strategy: np.ndarray,  # IN  (E,) float64
    value: np.ndarray,  # IN OUT (S,) float64: leaf values in, counterfactual values out
    regret: np.ndarray,  # OUT (E,) float64, the player's entries, added to: regrets in units
) -> None:
    """Counterfactual values of all sequences of a player, and the regret of each entry."""
    for decision in range(form.decision_start[player + 1] - 1, form.decision_start[player] - 1, -1):
        first = form.decision_first[decision]
        entry = form.decision_entry[decision]
        actions = form.decision_actions[decision]
        mean = 0.0
        for action in range(actions):
            mean += strategy[entry + action] * value[first + action]
        for action in range(actions):
            regret[entry + action] += value[first + action] - mean
        value[form.decision_parent[decision]] += mean


@kernel
def backward_best(
    form: FormArrays,  # IN
    player: int,  # IN
    value: np.ndarray,  # IN OUT (S,) float64: leaf values in, values under best play out
    choice: np.ndarray,  # OUT (D,) int32, the player's decision points: the first best action
) -> None:
    """Best response of a player: the best action at every decision point, the first one among equals."""
    for decision in range(form.decision_start[player + 1] - 1, form.decision_start[player] - 1, -1):
        first = form.decision_first[decision]
        best = 0
        for action in range(1, form.decision_actions[decision]):
            if value[first + action] > value[first + best]:
                best = action
        choice[decision] = best
        value[form.decision_parent[decision]] += value[first + best]


@kernel
def measure(
    form: FormArrays,  # IN
    strategy: np.ndarray,  # IN  (E,) float64
    found: np.ndarray,  # OUT (2,n) float64: expected value of each player, and value of the best response to the others
) -> None:
    """Expected values and best responses of all players."""
    players = found.shape[1]
    sequences = form.sequence_start[players]
    choice = np.empty(form.decision_start[players], np.int32)
    reach = np.empty(sequences)
    value = np.empty(sequences)
    regret = np.zeros(len(strategy))
    leaves = np.empty(sequences)
    for player in range(players):
        forward_reach(form, player, strategy, reach)
    for player in range(players):
        root = form.sequence_start[player]
        leaf_values(form, player, reach, leaves)
        for sequence in range(root, form.sequence_start[player + 1]):
            value[sequence] = leaves[sequence]
        backward_values(form, player, strategy, value, regret)
        found[0, player] = value[root] * form.unit
        backward_best(form, player, leaves, choice)
        found[1, player] = leaves[root] * form.unit
