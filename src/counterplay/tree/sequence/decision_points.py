"""Decision points of a two-player game, each with the sequences that the other player may have played there.

A *pair* is a decision point of one player together with a sequence that the other player may have played there; all
histories of the two are taken together.  Best responses and restricted games depend on histories only through their
pairs.  For each there are bounds on what the mover gets from there on, without knowing how the other player plays:

* ``floor``: the mover plays a given pure strategy, and the other player, who sees everything, does the worst;
* ``ceiling``: both players, seeing everything, do their best for the mover.

Čermák 2018, section 3.4.2, gives temporary leaves of the double oracle algorithm the value of the default strategy
against a best response in the subtree; ``floor`` lets the respondent see everything below the history, which is at most
that and needs one pass over the tree.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from counterplay.game.game import CHANCE, TERMINAL
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.sequence.sequence_form import chance_reach, decision_points, sequences_at, spans

Float64 = NDArray[np.float64]


@dataclasses.dataclass(frozen=True, eq=False)
class DecisionPairs:
    """The pairs of a two-player game, M of them, and the order of its decision points."""

    start: NDArray[np.int64]  # (D+1,) the pairs of decision point ``d`` are ``start[d] .. start[d + 1] - 1``.
    other: NDArray[np.int32]  # (M,) the sequence of the other player
    histories: NDArray[np.int32]  # (M,) how many histories it has
    # floor, ceiling: (M,) least and most that the mover gets, summed over the histories, weighted by chance in
    # ``SequenceForm.unit``
    floor: Float64
    ceiling: Float64
    after_start: NDArray[np.int64]  # (S+1,) where the decision points that follow each sequence start in ``after``
    after: NDArray[np.int32]  # (D,) decision points, by the sequence before them

    @property
    def nbytes(self) -> int:
        """Bytes held by the arrays."""
        return sum(value.nbytes for value in vars(self).values() if isinstance(value, np.ndarray))


def build_decision_pairs(tree: GameTree, chosen: NDArray[np.integer] | None = None) -> DecisionPairs:
    """Gather the histories of a two-player game by pair.

    ``chosen`` (I,) is the action at each information set by which ``floor`` is played; the first one by default.
    """
    if chosen is None:
        chosen = np.zeros(tree.num_infosets, np.int64)
    form = tree.sequences
    nodes, other, weight, begins = _gather(tree)
    movers, point = tree.player[nodes], decision_points(tree)[nodes]
    floors, ceilings = (np.empty(len(nodes)) for _ in range(2))
    for player in range(2):
        own = movers == player
        floors[own] = _backward(tree, player, chosen, np.minimum.reduceat)[nodes[own]]
        ceilings[own] = _backward(tree, player, np.maximum.reduceat, np.maximum.reduceat)[nodes[own]]
    counts = np.bincount(point[begins], minlength=form.num_decisions)
    after_counts = np.bincount(form.decision_parent, minlength=form.num_sequences)
    return DecisionPairs(
        start=np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
        other=other[begins].astype(np.int32),
        histories=np.diff(np.append(begins, len(nodes))).astype(np.int32),
        floor=_sums(floors * weight, begins),
        ceiling=_sums(ceilings * weight, begins),
        after_start=np.concatenate(([0], np.cumsum(after_counts))).astype(np.int64),
        after=np.argsort(form.decision_parent, kind="stable").astype(np.int32),
    )


def leaf_pairs(tree: GameTree) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """The pairs of sequences of both players that lead to a leaf: (P, 2), in increasing order; and which of them pay
    something at one of their leaves (P,).
    """
    ends = np.flatnonzero(tree.player == TERMINAL)
    found = np.stack([own[ends] for own in sequences_at(tree)], axis=1)
    pairs, which = np.unique(found, axis=0, return_inverse=True)
    paying = np.zeros(len(pairs), bool)
    paying[which.ravel()[tree.utility[tree.outcome[ends]].any(axis=1)]] = True
    return pairs, paying


def optimistic_values(tree: GameTree, player: int) -> Float64:
    """The most that a player gets from each pair on when the other one takes first actions everywhere.

    Whoever moves there; summed over the histories and weighted as ``DecisionPairs.floor`` is.
    """
    nodes, _, weight, begins = _gather(tree)
    first = np.zeros(tree.num_infosets, np.int64)
    return _sums(_backward(tree, player, np.maximum.reduceat, first)[nodes] * weight, begins)


def _gather(tree: GameTree) -> tuple[NDArray[np.int64], NDArray[np.int32], Float64, NDArray[np.int64]]:
    """Decisions sorted by pair, the other player's sequence at each, its weight, and where pairs begin."""
    points, sequences = decision_points(tree), sequences_at(tree)
    nodes = np.flatnonzero(points >= 0)
    other = np.where(tree.player[nodes] == 0, sequences[1][nodes], sequences[0][nodes])
    weight = chance_reach(tree)[nodes] / tree.sequences.unit
    order = np.lexsort((other, points[nodes]))
    nodes, other, weight = nodes[order], other[order], weight[order]
    point = points[nodes]
    fresh = np.ones(len(nodes), bool)
    fresh[1:] = (point[1:] != point[:-1]) | (other[1:] != other[:-1])
    return nodes, other, weight, np.flatnonzero(fresh)


_Choose = Callable[[Float64, NDArray[np.int64]], Float64] | NDArray[np.integer]
"""How a player chooses: a rule for the values of the actions, or the number of the action at each information set."""


def _sums(values: Float64, begins: NDArray[np.int64]) -> Float64:
    return np.add.reduceat(values, begins) if len(begins) else values


def _backward(tree: GameTree, player: int, own: _Choose, others: _Choose) -> Float64:
    """The value of every history to a player when both choose among the children's values by the given rules."""
    value = np.zeros(tree.num_histories)
    ends = np.flatnonzero(tree.player == TERMINAL)
    value[ends] = tree.utility[tree.outcome[ends], player]
    rules: list[tuple[int, _Choose]] = [(player, own), (1 - player, others), (CHANCE, np.add.reduceat)]
    for level in reversed(tree.levels()):
        for mover, choose in rules:
            nodes = level[tree.player[level] == mover]
            if not len(nodes):
                continue
            counts = tree.num_children[nodes].astype(np.int64)
            starts = np.cumsum(counts) - counts
            children = spans(tree.first_child[nodes], counts)
            below = value[children] * tree.chance_prob[children]  # which is 1 after a player's move
            if isinstance(choose, np.ndarray):
                starts += choose[tree.infoset[nodes]]
                value[nodes] = below[starts]
            else:
                value[nodes] = choose(below, starts)
    return value
