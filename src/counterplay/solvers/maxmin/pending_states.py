"""Pending states: the maximiser's oracle of DOIRABnB as the thesis has it (Čermák 2018, section 4.4.3.2).

A state is pending if it is not in the restricted game, but its parent is, and the maximiser acts there.  It enters if
it can be reached against some response of a set B of the minimiser's, and what the maximiser can get from it against
one of them is at least what the present strategy gets from the parent against the worst of them:

    max over b in B of û(h, b)  >=  min over b in B of u(h', b_1, b).

A member of B is given by the minimiser's sequences with a tight row in a program; elsewhere first actions are played.

Departures.  Where several actions are tight, û takes the best of them and u the worst, instead of listing all pure
strategies.  û lets the maximiser see everything below h, where the thesis takes a best response of its refinement.
Both make û larger and u smaller, so that nothing is missed that the thesis adds.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from counterplay.game.game import CHANCE, TERMINAL
from counterplay.solvers.maxmin.maxmin_problem import MaxminProblem
from counterplay.tree.sequence.sequence_form import decision_points, sequences_at, spans

Float64 = NDArray[np.float64]
Bool = NDArray[np.bool_]


class PendingStates:
    """The states of a game, and the minimiser's responses of a node so far."""

    def __init__(self, problem: MaxminProblem) -> None:
        self.problem, self.tree = problem, problem.tree
        tree = self.tree
        self._levels = tree.levels()
        self._own, self._other = (sequences_at(tree)[player] for player in (problem.player, problem.other))
        self._point = decision_points(tree)
        ends = np.flatnonzero(tree.player == TERMINAL)
        self._paid = np.zeros(tree.num_histories)
        self._paid[ends] = tree.utility[tree.outcome[ends], problem.player]
        self._parent = np.zeros(tree.num_histories, np.int64)
        inner = np.flatnonzero(tree.num_children > 0)
        counts = tree.num_children[inner].astype(np.int64)
        self._parent[spans(tree.first_child[inner], counts)] = np.repeat(inner, counts)
        # The entry of the probability by which each history is entered after a decision.
        self._entry = np.full(tree.num_histories, -1, np.int64)
        deciding = inner[tree.player[inner] >= 0]
        counts = tree.num_children[deciding].astype(np.int64)
        self._entry[spans(tree.first_child[deciding], counts)] = spans(
            tree.infoset_offset[tree.infoset[deciding]], counts
        )
        self.start()

    def start(self) -> None:
        """Forget the responses, for a new node."""
        self._responses: list[Bool] = []
        self._best = np.full(self.tree.num_histories, -np.inf)
        self._reached = np.zeros(self.tree.num_histories, bool)

    def gaining(self, tight: Bool, allowed: Bool, strategy: Float64) -> Bool:
        """The sequences of pending states that might gain, after another response has come; (S,) bool."""
        tree = self.tree
        moves = self._moves(tight)
        if not any(np.array_equal(moves, known) for known in self._responses):
            self._responses.append(moves)
            np.maximum(self._best, self._backward(moves, None), out=self._best)
            self._reached |= self._reach(moves)
        worst = np.full(tree.num_histories, np.inf)
        for known in self._responses:
            np.minimum(worst, self._backward(known, strategy), out=worst)
        parent = self._parent
        pending = (tree.player[parent] == self.problem.player) & self._reached & ~allowed[self._own]
        pending &= allowed[self._own[parent]] & allowed[self._other[parent]]
        pending[0] = False
        gains = self._best >= worst[parent] - 1e-9 * self.problem.scale
        sequences = np.zeros(len(allowed), bool)
        sequences[self._own[pending & gains]] = True
        return sequences

    def _moves(self, tight: Bool) -> Bool:
        """The histories that the minimiser enters: by tight sequences, or by first actions where there are none."""
        tree, form = self.tree, self.problem.form
        moves = np.ones(tree.num_histories, bool)
        nodes = np.flatnonzero(tree.player == self.problem.other)
        counts = tree.num_children[nodes].astype(np.int64)
        children = spans(tree.first_child[nodes], counts)
        chosen = tight[self._other[children]]
        points = self._point[nodes]
        some = np.zeros(form.num_decisions, bool)
        np.logical_or.at(some, np.repeat(points, counts), chosen)
        first = np.zeros(len(children), bool)
        first[np.cumsum(counts) - counts] = True
        moves[children] = np.where(np.repeat(some[points], counts), chosen, first)
        return moves

    def _reach(self, moves: Bool) -> Bool:
        """The histories that are entered from the root on."""
        reached = moves.copy()
        for level in self._levels[1:]:
            reached[level] &= reached[self._parent[level]]
        return reached

    def _backward(self, moves: Bool, strategy: Float64 | None) -> Float64:
        """Values of all histories: of a strategy against the worst of some moves, or both players doing their best."""
        tree, value = self.tree, self._paid.copy()
        for level in reversed(self._levels):
            for mover in (CHANCE, self.problem.player, self.problem.other):
                nodes = level[tree.player[level] == mover]
                if not len(nodes):
                    continue
                counts = tree.num_children[nodes].astype(np.int64)
                children = spans(tree.first_child[nodes], counts)
                starts = np.cumsum(counts) - counts
                below = value[children]
                if mover == CHANCE:
                    value[nodes] = np.add.reduceat(below * tree.chance_prob[children], starts)
                elif mover == self.problem.other:
                    if strategy is None:
                        value[nodes] = np.maximum.reduceat(np.where(moves[children], below, -np.inf), starts)
                    else:
                        value[nodes] = np.minimum.reduceat(np.where(moves[children], below, np.inf), starts)
                elif strategy is None:
                    value[nodes] = np.maximum.reduceat(below, starts)
                else:
                    value[nodes] = np.add.reduceat(below * strategy[self._entry[children]], starts)
        return value
