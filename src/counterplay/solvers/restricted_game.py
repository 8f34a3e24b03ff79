"""The restricted game of the double oracle algorithm and its linear program (Čermák 2018, section 3.4.2, after
Bošanský, Kiekintveld, Lisý and Pěchouček 2014).

Each player has a set of allowed sequences.  The restricted game has the histories that both players' sequences lead to.
Where it stops and the game does not, because the acting player has no allowed action, is a *temporary leaf*: it pays
what the default strategy guarantees that player (``DecisionPairs.floor``), so the restricted game never overestimates.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from counterplay.lp.highs import Basis, LinearModel, solve_model
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.sequence.decision_points import DecisionPairs, leaf_pairs
from counterplay.tree.sequence.matrices import payoff_scale
from counterplay.tree.sequence.sequence_form import SequenceForm, spans

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]
_Entries = tuple[NDArray[np.integer], NDArray[np.integer], Float64]
"""Rows, columns and values of a sparse matrix."""

LOWER, BASIC = 0, 1
"""Statuses in a basis, as HiGHS numbers them."""

STATUSES = (0, 4)
"""Their limits."""


class AllowedSequences:
    """The part of a two-player game that allowed sequences span, and the basis of its linear program.

    * ``allowed`` (S,) bool: the sequences allowed so far, each with all its prefixes
    * ``active`` (D,) bool: the decision points with an allowed action
    * ``sequence_status``, ``decision_status`` (S,), (D + 2,) int8: the final basis of the last program by sequences and
      decision points, for the next one to start from: the maximiser's sequences and the minimiser's decision points
      are columns, the others rows.  The last places are for the two empty information sets
    """

    def __init__(self, form: SequenceForm, maximiser: int, everything: bool = False) -> None:
        self.form, self.maximiser = form, maximiser
        self._origin = form.origins()[0]
        self.allowed = np.full(form.num_sequences, everything)
        self.allowed[form.sequence_start[:2]] = True
        self.active = np.full(form.num_decisions, everything)
        self.sequence_status = np.full(form.num_sequences, LOWER, np.int8)
        self.decision_status = np.full(form.num_decisions + 2, LOWER, np.int8)
        self.sequence_status[form.sequence_start[maximiser]] = BASIC
        self.decision_status[-1] = BASIC

    def _enter(self, new: Int64) -> None:
        """Allow further sequences, whose prefixes are allowed or among them."""
        form, player = self.form, self.maximiser
        self.allowed[new] = True
        own = (new >= form.sequence_start[player]) & (new < form.sequence_start[player + 1])
        self.sequence_status[new] = np.where(own, LOWER, BASIC)
        fresh, first = np.unique(self._origin[new], return_index=True)
        first, fresh = first[~self.active[fresh]], fresh[~self.active[fresh]]
        self.active[fresh] = True
        # In the basis to start from, a new decision point takes its first new action; other new actions do not matter.
        self.sequence_status[new[first]] = np.where(own[first], BASIC, LOWER)
        self.decision_status[fresh] = np.where(own[first], LOWER, BASIC)

    def check(self) -> None:
        """Refuse masks from a file that are no restricted game.  Raises ValueError."""
        form = self.form
        known = np.flatnonzero(self.allowed & (self._origin >= 0))
        if not (self.allowed[form.sequence_start[:2]].all()
                and self.allowed[form.decision_parent[self._origin[known]]].all()):  # fmt: skip
            raise ValueError("array 'allowed' lacks the beginnings of sequences that it holds")
        active = np.zeros(form.num_decisions, bool)
        active[self._origin[known]] = True
        if not np.array_equal(active, self.active):
            raise ValueError("array 'active' does not hold the decision points with an allowed action")

    def sequences_of(self, player: int) -> Int64:
        """The allowed sequences of a player."""
        return _of_player(self.allowed, self.form.sequence_start, player)

    def decisions_of(self, player: int) -> Int64:
        """The active decision points of a player."""
        return _of_player(self.active, self.form.decision_start, player)

    def temporary_leaves(self, pairs: DecisionPairs) -> tuple[NDArray[np.int32], NDArray[np.int32], Int64]:
        """Where the restricted game stops and the game does not: the sequences of the acting player and of the other
        one, and the numbers of these pairs in ``pairs``.
        """
        stops = np.flatnonzero(~self.active & self.allowed[self.form.decision_parent])
        counts = np.diff(pairs.start)[stops]
        numbers = spans(pairs.start[:-1][stops], counts)
        return np.repeat(self.form.decision_parent[stops], counts), pairs.other[numbers], numbers


def _of_player(mask: NDArray[np.bool_], start: NDArray[np.int32], player: int) -> Int64:
    return int(start[player]) + np.flatnonzero(mask[start[player] : start[player + 1]])


class RestrictedGame(AllowedSequences):
    """The part of a two-player zero-sum game that the allowed sequences span, the first player maximising.

    * ``payoffs``: number of pairs of sequences with a payoff, temporary ones included, at the last solution
    * ``ends``: number of pairs of sequences that lead to a leaf or a temporary leaf, also to those that pay nothing
    * ``visited`` (P,) bool: the pairs of sequences at leaves of the whole game that a best response has visited
    * ``stopped`` (M,) bool: the pairs of ``pairs`` that have been temporary leaves
    """

    def __init__(self, tree: GameTree, pairs: DecisionPairs) -> None:
        super().__init__(tree.sequences, 0)
        self.pairs = pairs
        self._scale = payoff_scale(tree.sequences.leaf_payoff)
        self.payoffs = self.ends = 0
        self._leaves, self._paying = leaf_pairs(tree)
        self.visited = np.zeros(len(self._leaves), bool)
        self.stopped = np.zeros(len(pairs.other), bool)

    def allow(self, sequences: NDArray[np.bool_]) -> int:
        """Allow further sequences with all their prefixes; returns the number of new ones."""
        new = np.flatnonzero(sequences & ~self.allowed)
        self._enter(new)
        return len(new)

    def sizes(self) -> tuple[list[int], list[int]]:
        """Information sets and sequences (the empty one included) of the restricted game, by player."""
        return [len(self.decisions_of(p)) for p in range(2)], [len(self.sequences_of(p)) for p in range(2)]

    def solve(self, seconds: float | None = None) -> Float64 | None:
        """An equilibrium of the restricted game as weights of sequences, or None if the time ran out."""
        sequences = [self.sequences_of(player) for player in range(2)]
        decisions = [self.decisions_of(player) for player in range(2)]
        model = self._program(sequences, decisions)
        start = Basis(
            columns=np.concatenate((
                self.sequence_status[sequences[0]], self.decision_status[-1:], self.decision_status[decisions[1]]
            )),
            rows=np.concatenate((
                self.decision_status[-2:-1], self.decision_status[decisions[0]], self.sequence_status[sequences[1]]
            )),
        )  # fmt: skip
        solution = solve_model(model, seconds=seconds, start=start)
        if solution is None:
            return None
        if solution.basis is not None:
            columns, rows = solution.basis.columns, solution.basis.rows
            width, height = len(sequences[0]), 1 + len(decisions[0])
            self.sequence_status[sequences[0]], self.decision_status[-1] = columns[:width], columns[width]
            self.decision_status[decisions[1]] = columns[width + 1 :]
            self.decision_status[-2], self.decision_status[decisions[0]] = rows[0], rows[1:height]
            self.sequence_status[sequences[1]] = rows[height:]
        plan = np.zeros(self.form.num_sequences)
        plan[sequences[0]] = solution.primal[: len(sequences[0])]
        plan[sequences[1]] = -solution.dual[1 + len(decisions[0]) :]
        return plan

    def strategy(self, plan: Float64, default: Float64) -> Float64:
        """The probabilities of all entries: those of the plan where it reaches, else the default ones.

        As ``behavioural_strategy``, but only for the decision points with an allowed action.
        """
        form = self.form
        points = np.flatnonzero(self.active)
        counts = form.decision_actions[points].astype(np.int64)
        weights = np.maximum(plan[spans(form.decision_first[points], counts)], 0.0)
        strategy = default.copy()
        if len(points):
            totals = np.repeat(np.add.reduceat(weights, np.cumsum(counts) - counts), counts)
            reached = totals > 0.0
            entries = spans(form.decision_entry[points], counts)
            strategy[entries[reached]] = weights[reached] / totals[reached]
        return strategy

    def _program(self, sequences: list[Int64], decisions: list[Int64]) -> LinearModel:
        """The first player's program: rows for own decision points and the other's sequences (``linear_program``)."""
        form = self.form
        place = np.zeros(form.num_sequences, np.int64)  # of a sequence among the allowed ones of its player
        for player in range(2):
            place[sequences[player]] = np.arange(len(sequences[player]))
        width, height = len(sequences[0]), 1 + len(decisions[0])
        columns, rows = width + 1 + len(decisions[1]), height + len(sequences[1])
        pieces: list[_Entries] = [
            (np.array([0, height]), np.array([0, width]), np.array([1.0, -1.0])),  # the empty sequences
            *self._structure(decisions[0], place, 1, 0, transposed=False),
            *self._structure(decisions[1], place, width + 1, height, transposed=True),
        ]
        paid, plan, amounts = self._payoffs(sequences, place)
        pieces.append((height + paid, plan, amounts))
        entries = [np.concatenate([piece[which] for piece in pieces]) for which in range(3)]
        matrix: csr_array = coo_array((entries[2], (entries[0], entries[1])), shape=(rows, columns)).tocsr()
        self.payoffs = matrix.nnz - sum(len(piece[2]) for piece in pieces[:-1])
        self.ends = self._count_ends()
        right = np.zeros(height)
        right[0] = 1.0
        cost = np.zeros(columns)
        cost[width] = 1.0
        return LinearModel(
            cost=cost,
            matrix=matrix,
            row_lower=np.concatenate((right, np.zeros(len(sequences[1])))),
            row_upper=np.concatenate((right, np.full(len(sequences[1]), np.inf))),
            lower=np.concatenate((np.zeros(width), np.full(columns - width, -np.inf))),
            upper=np.full(columns, np.inf),
            maximise=True,
        )

    def _structure(self, decisions: Int64, place: Int64, shift: int, base: int, transposed: bool) -> list[_Entries]:
        """The entries that tie actions to decision points: E for the first player, -F' for the second."""
        form = self.form
        numbers = np.arange(len(decisions)) + shift
        counts = form.decision_actions[decisions]
        after = spans(form.decision_first[decisions], counts)
        taken = self.allowed[after]
        actions = base + place[after[taken]], np.repeat(numbers, counts)[taken]
        parents = base + place[form.decision_parent[decisions]], numbers
        one_action, one_parent = np.ones(len(actions[0])), np.ones(len(decisions))
        if transposed:
            return [(*actions, -one_action), (*parents, one_parent)]
        return [(actions[1], actions[0], one_action), (parents[1], parents[0], -one_parent)]

    def visit(self, reach: Float64) -> None:
        """Keep in mind what responses to a profile visit: the leaves that one of its plans reaches."""
        first, second = self._leaves.T
        self.visited |= (reach[first] > 0.0) | (reach[second] > 0.0)

    def count_visited(self) -> int:
        """The pairs of sequences at leaves that pay something and were visited, or that have been temporary leaves."""
        stops = np.flatnonzero(self.stopped)
        before = np.repeat(self.form.decision_parent, np.diff(self.pairs.start))
        return self._count_pairs(self.visited & self._paying, before[stops], self.pairs.other[stops])

    def _count_ends(self) -> int:
        """The pairs of allowed sequences that lead to a leaf or a temporary leaf."""
        first, second = self._leaves.T
        own, other, numbers = self.temporary_leaves(self.pairs)
        reached = self.allowed[other]
        self.stopped[numbers[reached]] = True
        return self._count_pairs(self.allowed[first] & self.allowed[second], own[reached], other[reached])

    def _count_pairs(
        self, leaves: NDArray[np.bool_], own: NDArray[np.integer], other: NDArray[np.integer]
    ) -> int:  # fmt: skip
        """The different pairs of sequences among some leaves and temporary leaves."""
        width = np.int64(self.form.num_sequences)
        first, second = self._leaves[leaves].T
        low, high = np.minimum(own, other), np.maximum(own, other)
        return len(np.union1d(first * width + second, low * width + high))

    def _payoffs(self, sequences: list[Int64], place: Int64) -> _Entries:
        """Scaled payoffs to the first player: places of the second one's sequence, of the first one's, amounts."""
        form = self.form
        counts = np.diff(form.leaf_start)[sequences[1]]
        leaves = spans(form.leaf_start[:-1][sequences[1]], counts)
        first, second = form.leaf_others[leaves, 0], np.repeat(sequences[1], counts)
        amount = -form.leaf_payoff[leaves]
        own, other, numbers = self.temporary_leaves(self.pairs)
        floor, stop = self.pairs.floor[numbers], int(np.count_nonzero(own < form.sequence_start[1]))
        columns: list[_Entries] = [
            (second, first, amount),
            (other[:stop], own[:stop], floor[:stop]),  # where the first player acts
            (own[stop:], other[stop:], -floor[stop:]),
        ]
        second, first, amount = (np.concatenate([column[which] for column in columns]) for which in range(3))
        keep = self.allowed[first] & self.allowed[second] & (amount != 0.0)
        return place[second[keep]], place[first[keep]], self._scale * amount[keep]
