"""The restricted game of the double oracle algorithm and its linear program (Čermák 2018, section 3.4.2, after
Bošanský, Kiekintveld, Lisý and Pěchouček 2014).

Each player has a set of allowed sequences.  The restricted game has the histories that both players' sequences lead to.
Where it stops and the game does not, because the acting player has no allowed action, is a *temporary leaf*: it pays
what the default strategy guarantees that player (``DecisionPairs.floor``), so the restricted game never overestimates.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from counterplay.lp.highs import Basis, LinearModel, solve_model
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.sequence.decision_points import DecisionPairs
from counterplay.tree.sequence.matrices import payoff_scale
from counterplay.tree.sequence.sequence_form import spans

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]
_Entries = tuple[NDArray[np.integer], NDArray[np.integer], Float64]
"""Rows, columns and values of a sparse matrix."""

LOWER, BASIC, ZERO = 0, 1, 3
"""Statuses in a basis, as HiGHS numbers them."""


@dataclasses.dataclass(frozen=True, eq=False)
class RestrictedSolution:
    """An equilibrium of the restricted game: its value to the first player in units, and the weights of sequences."""

    value: float
    plan: Float64


class RestrictedGame:
    """The part of a two-player zero-sum game that the allowed sequences span.

    * ``allowed`` (S,) bool: the sequences allowed so far, each with all its prefixes
    * ``active`` (D,) bool: the decision points with an allowed action
    * ``sequence_status``, ``decision_status`` (S,), (D + 2,) int8: the final basis of the last program by sequences and
      decision points, for the next one to start from: the first player's sequences and the second one's decision points
      are columns, the others rows.  The last places are for the two empty information sets
    * ``payoffs``: number of pairs of sequences with a payoff, temporary ones included, at the last solution
    """

    def __init__(self, tree: GameTree, pairs: DecisionPairs) -> None:
        self.tree, self.pairs = tree, pairs
        self._scale = payoff_scale(tree.sequences.leaf_payoff)
        form = tree.sequences
        self._origin = form.origins()[0]
        self.allowed = np.zeros(form.num_sequences, bool)
        self.allowed[form.sequence_start[:2]] = True
        self.active = np.zeros(form.num_decisions, bool)
        self.sequence_status = np.zeros(form.num_sequences, np.int8)
        self.decision_status = np.zeros(form.num_decisions + 2, np.int8)
        self.sequence_status[form.sequence_start[0]] = BASIC
        self.sequence_status[form.sequence_start[1]] = LOWER
        self.decision_status[-2:] = (LOWER, BASIC)
        self.payoffs = 0

    def allow(self, sequences: NDArray[np.bool_]) -> int:
        """Allow further sequences with all their prefixes; returns the number of new ones."""
        form = self.tree.sequences
        new = np.flatnonzero(sequences & ~self.allowed)
        self.allowed[new] = True
        points = self._origin[new]
        fresh, first = np.unique(points, return_index=True)
        first, fresh = first[~self.active[fresh]], fresh[~self.active[fresh]]
        self.active[fresh] = True
        # In the basis to start from, a new decision point takes its first new action; other new actions do not matter.
        maximiser = new < form.sequence_start[1]
        self.sequence_status[new] = np.where(maximiser, LOWER, BASIC)
        own = fresh < form.decision_start[1]
        self.sequence_status[new[first]] = np.where(own, BASIC, LOWER)
        self.decision_status[fresh] = np.where(own, LOWER, BASIC)
        return len(new)

    def sizes(self) -> tuple[list[int], list[int]]:
        """Information sets and sequences (the empty one included) of the restricted game, by player."""
        form = self.tree.sequences
        sets = [int(self.active[form.decision_start[p] : form.decision_start[p + 1]].sum()) for p in range(2)]
        sequences = [int(self.allowed[form.sequence_start[p] : form.sequence_start[p + 1]].sum()) for p in range(2)]
        return sets, sequences

    def solve(self, seconds: float | None = None) -> RestrictedSolution | None:
        """An equilibrium of the restricted game, or None if the time ran out."""
        form = self.tree.sequences
        sequences = [self._of(self.allowed, form.sequence_start, player) for player in range(2)]
        decisions = [self._of(self.active, form.decision_start, player) for player in range(2)]
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
        plan = np.zeros(form.num_sequences)
        plan[sequences[0]] = solution.primal[: len(sequences[0])]
        plan[sequences[1]] = -solution.dual[1 + len(decisions[0]) :]
        return RestrictedSolution(solution.value / self._scale, plan)

    def strategy(self, plan: Float64, default: Float64) -> Float64:
        """The probabilities of all entries: those of the plan where it reaches, else the default ones.

        As ``behavioural_strategy``, but only for the decision points with an allowed action.
        """
        form = self.tree.sequences
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

    @staticmethod
    def _of(mask: NDArray[np.bool_], start: NDArray[np.int32], player: int) -> Int64:
        return int(start[player]) + np.flatnonzero(mask[start[player] : start[player + 1]])

    def _program(self, sequences: list[Int64], decisions: list[Int64]) -> LinearModel:
        """The first player's program: rows for own decision points and the other's sequences (``linear_program``)."""
        form = self.tree.sequences
        place = np.zeros(form.num_sequences, np.int64)  # of a sequence among the allowed ones of its player
        for player in range(2):
            place[sequences[player]] = np.arange(len(sequences[player]))
        width, height = len(sequences[0]), 1 + len(decisions[0])
        columns, rows = width + 1 + len(decisions[1]), height + len(sequences[1])
        parts: list[_Entries] = [
            (np.array([0, height]), np.array([0, width]), np.array([1.0, -1.0])),  # the empty sequences
            *self._structure(decisions[0], place, 1, 0, transposed=False),
            *self._structure(decisions[1], place, width + 1, height, transposed=True),
        ]
        paid, plan, amounts = self._payoffs(sequences, place)
        parts.append((height + paid, plan, amounts))
        entries = [np.concatenate([part[which] for part in parts]) for which in range(3)]
        matrix: csr_array = coo_array((entries[2], (entries[0], entries[1])), shape=(rows, columns)).tocsr()
        self.payoffs = matrix.nnz - sum(len(part[2]) for part in parts[:-1])
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
        form = self.tree.sequences
        numbers = np.arange(len(decisions)) + shift
        counts = form.decision_actions[decisions]
        after = spans(form.decision_first[decisions], counts)
        taken = self.allowed[after]
        ends = base + place[after[taken]], np.repeat(numbers, counts)[taken]
        begins = base + place[form.decision_parent[decisions]], numbers
        if transposed:
            return [(*ends, np.full(len(ends[0]), -1.0)), (*begins, np.ones(len(decisions)))]
        return [(ends[1], ends[0], np.ones(len(ends[0]))), (begins[1], begins[0], np.full(len(decisions), -1.0))]

    def _payoffs(self, sequences: list[Int64], place: Int64) -> _Entries:
        """Scaled payoffs to the first player: places of the second one's sequence, of the first one's, amounts."""
        form, pairs = self.tree.sequences, self.pairs
        counts = np.diff(form.leaf_start)[sequences[1]]
        leaves = spans(form.leaf_start[:-1][sequences[1]], counts)
        first, second = form.leaf_others[leaves, 0], np.repeat(sequences[1], counts)
        amount = -form.leaf_payoff[leaves]
        columns: list[_Entries] = [(second, first, amount)]
        waiting = np.flatnonzero(~self.active & self.allowed[form.decision_parent])
        for player in range(2):
            stops = waiting[(waiting >= form.decision_start[player]) & (waiting < form.decision_start[player + 1])]
            counts = np.diff(pairs.start)[stops]
            met = spans(pairs.start[:-1][stops], counts)
            own, other = np.repeat(form.decision_parent[stops], counts), pairs.other[met]
            floor = pairs.floor[met]
            columns.append((other, own, floor) if player == 0 else (own, other, -floor))
        second, first, amount = (np.concatenate([part[which] for part in columns]) for which in range(3))
        keep = self.allowed[first] & self.allowed[second] & (amount != 0.0)
        return place[second[keep]], place[first[keep]], self._scale * amount[keep]
