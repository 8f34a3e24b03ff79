"""Realisation plans, and the sequence form as sparse matrices (Koller, Megiddo and von Stengel 1996; Gibson 2014,
section 2.3; Čermák 2018, section 3.4.1; Johanson 2016, section 9.2).

A *realisation plan* gives each sequence of a player the product of the player's probabilities along it.  Plans are the
solutions of linear equations, ``E x = e`` and ``x >= 0``: the empty sequence weighs 1, and the sequences that continue
with an action at an information set together weigh what the sequence before it does.  Against a plan y of the other
player, x is worth ``x' A y``, where A holds the payoffs of pairs of sequences, weighted by chance.

All of it is read off the arrays of ``SequenceForm`` without a loop over sequences: the rows of A are the leaves
themselves.  A plan represents one behavioural strategy only with perfect recall, so other players are refused.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from counterplay.errors import GameError
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.history.history_arrays import NULL
from counterplay.tree.recall.recall_class import has_perfect_recall
from counterplay.tree.sequence.sequence_form import SequenceForm, spans

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]


@dataclasses.dataclass(frozen=True, eq=False)
class SequenceMatrices:
    """A two-player game as ``E x = e``, ``F y = f`` and payoffs ``x' A y`` and ``x' B y``, in chips."""

    E: csr_array  # (1 + D_1, S_1) row 0 is the empty sequence, then a row for each decision point of player 1
    F: csr_array  # (1 + D_2, S_2) the same for player 2
    # e, f: the right-hand sides: 1, then zeros
    e: Float64
    f: Float64
    # A, B: (S_1, S_2) payoffs of player 1 and player 2, times the probability of chance
    A: csr_array
    B: csr_array


def sequence_matrices(tree: GameTree) -> SequenceMatrices:
    """The sequence form of a two-player game with perfect recall as sparse matrices.

    Raises GameError if there are not two players, or one of them forgets; the message names the information set.
    """
    if tree.players != 2:
        raise GameError(f"sequence-form matrices are for two players; {tree.name} has {tree.players}")
    require_perfect_recall(tree, "the sequence form")
    form = tree.sequences
    (E, e), (F, f) = constraint_matrix(form, 0), constraint_matrix(form, 1)
    return SequenceMatrices(E, F, e, f, payoff_matrix(form, 0), payoff_matrix(form, 1).T.tocsr())


def require_perfect_recall(tree: GameTree, what: str) -> None:
    """Refuse a game in which a player forgets: names the player, the information set and what to use instead."""
    for player in range(tree.players):
        verdict = has_perfect_recall(tree, player)
        if not verdict.holds:
            detail = verdict.witness.detail if verdict.witness is not None else "own moves are forgotten"
            raise GameError(
                f"{what} needs perfect recall, but player {player + 1} of {tree.name} forgets: {detail}; "
                "use a maxmin algorithm for imperfect recall, or a CFR variant"
            )


def constraint_matrix(form: SequenceForm, player: int) -> tuple[csr_array, Float64]:
    """What makes weights of a player's sequences a realisation plan: the matrix and the right-hand side."""
    first_sequence = int(form.sequence_start[player])
    low, high = int(form.decision_start[player]), int(form.decision_start[player + 1])
    actions = form.decision_actions[low:high].astype(np.int64)
    rows = 1 + high - low
    # A row is the sequence before, then those of the actions, which have higher numbers: the columns are sorted.
    indptr = np.concatenate(([0, 1], 1 + np.cumsum(actions + 1)))
    columns = np.zeros(int(indptr[-1]), np.int64)
    values = np.ones(len(columns))
    before = indptr[1:-1]
    columns[before] = form.decision_parent[low:high] - first_sequence
    values[before] = -1.0
    columns[spans(before + 1, actions)] = spans(form.decision_first[low:high] - first_sequence, actions)
    right = np.zeros(rows)
    right[0] = 1.0
    return csr_array((values, columns, indptr), shape=(rows, form.sequences_of(player))), right


def payoff_matrix(form: SequenceForm, player: int, unit: float | None = None) -> csr_array:
    """Payoffs of one of two players, rows for that player's sequences, columns for the other's.

    ``unit`` is what weights of chance are multiplied with: by default ``form.unit``, which gives chips.
    """
    low, high = int(form.sequence_start[player]), int(form.sequence_start[player + 1])
    other = 1 - player
    first, last = int(form.leaf_start[low]), int(form.leaf_start[high])
    columns = form.leaf_others[first:last, 0].astype(np.int64) - int(form.sequence_start[other])
    values = form.leaf_payoff[first:last] * (form.unit if unit is None else unit)
    indptr = form.leaf_start[low : high + 1] - first
    return csr_array((values, columns, indptr), shape=(high - low, form.sequences_of(other)))


def payoff_scale(payoffs: Float64, most: float = 2.0**30) -> float:
    """A power of two that brings payoffs to where the tolerances of a linear program, about 1e-9, mean little.

    It is 1 where the largest payoff is from 1 to ``most``; programs with much smaller ones are "optimal" at any point,
    and HiGHS takes no much larger ones.
    """
    largest = float(np.abs(payoffs).max(initial=0.0))
    if largest == 0.0 or 1.0 <= largest <= most:
        return 1.0
    return math.ldexp(1.0, min(1 - math.frexp(largest)[1], 1000))


def realisation_plan(tree: GameTree, strategy: Float64) -> Float64:
    """The weight of every sequence of all players under the probabilities of a profile's entries.

    With imperfect recall these are the weights in the coarsest perfect-recall refinement, which still determine all
    expected values.
    """
    form = tree.sequences
    plan = np.ones(form.num_sequences)
    for decisions in decision_levels(form):
        sequences = spans(form.decision_first[decisions], form.decision_actions[decisions])
        entries = spans(form.decision_entry[decisions], form.decision_actions[decisions])
        before = np.repeat(form.decision_parent[decisions], form.decision_actions[decisions])
        plan[sequences] = plan[before] * strategy[entries]
    return plan


def behavioural_strategy(tree: GameTree, plan: Float64, unreached: Float64 | None = None) -> Float64:
    """The probabilities of all entries from the weights of all sequences; raises GameError if a player forgets.

    Small negative weights, as solvers of linear programs leave them, count as 0.  ``unreached`` (E,) is the strategy
    where the plan does not reach; uniform by default.
    """
    require_perfect_recall(tree, "a strategy made of a realisation plan")
    form = tree.sequences
    weights = np.zeros(tree.num_entries)
    sequences = spans(form.decision_first, form.decision_actions)
    weights[spans(form.decision_entry, form.decision_actions)] = np.maximum(plan[sequences], 0.0)
    sizes = np.diff(tree.infoset_offset)
    if not len(sizes):
        return weights
    totals = np.add.reduceat(weights, tree.infoset_offset[:-1])
    idle = np.repeat(totals <= 0.0, sizes)
    spread = np.repeat(np.where(totals > 0.0, totals, 1.0), sizes)
    fallback = np.repeat(1.0 / sizes, sizes) if unreached is None else unreached
    return np.asarray(np.where(idle, fallback, weights / spread), dtype=np.float64)


def decision_levels(form: SequenceForm) -> list[Int64]:
    """The decision points by how many decisions of their owner precede them."""
    origin = form.origins()[0]
    depth = np.zeros(form.num_decisions, np.int64)
    going = np.arange(form.num_decisions)
    before = origin[form.decision_parent]
    while len(going):
        going = going[before != NULL]
        before = before[before != NULL]
        depth[going] += 1
        before = origin[form.decision_parent[before]]
    order = np.argsort(depth, kind="stable")
    bounds = np.searchsorted(depth[order], np.arange(int(depth.max(initial=-1)) + 2))
    return [order[bounds[level] : bounds[level + 1]] for level in range(len(bounds) - 1)]
