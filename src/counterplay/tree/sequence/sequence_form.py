"""``SequenceForm``: the game by the players' own sequences of actions.

A player's *sequence* at a history is the list of their own actions before it.  The histories of one information set
that share the acting player's sequence form a *decision point*; with perfect recall it is the information set, and in
general the decision points are the information sets of the coarsest perfect-recall refinement (Čermák 2018, section
2.2.1).  Every terminal history is a *leaf*: one sequence for each player, and a payoff weighted by chance.  Leaves with
the same sequences are one leaf.

This is all that counterfactual regrets, expected values and best responses depend on (Koller, Megiddo and von
Stengel 1996), for any number of players and any recall: with x_j(s) the product of player j's probabilities along
sequence s, the counterfactual value of a sequence of player i is the sum over its leaves of payoff times the x_j of
the others, plus the values of the decision points that follow.  It is a small fraction of the history tree, and its
passes run along arrays, which is why the solvers use it.

Sequences are numbered globally, player by player, the empty one first and then in the order of decision points;
decision points are numbered by player in order of first occurrence.  Both orders are topological.
"""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from counterplay.game.game import TERMINAL
from counterplay.runtime.memory import format_bytes
from counterplay.runtime.notebook import Described
from counterplay.tree.history.history_arrays import NULL, HistoryArrays

MAX_DISTINCT_CHANCES = 4096
MAX_CHANCE_DENOMINATOR = 10**9
"""How many different chance probabilities, and how large a denominator, are tried for whole weights."""


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class SequenceForm(Described):
    """The players' sequences, decision points and leaves.  S sequences, D decision points, L leaves, n players.

    * ``players``: number of players n
    * ``sequence_start`` (n+1,): the sequences of player ``p`` are ``sequence_start[p] .. sequence_start[p + 1] - 1``,
      the empty one first
    * ``decision_start`` (n+1,): the decision points of player ``p`` are
      ``decision_start[p] .. decision_start[p + 1] - 1``
    * ``decision_parent`` (D,): the sequence that leads to decision point ``d``
    * ``decision_first`` (D,): the sequences that continue with an action at ``d`` start at ``decision_first[d]``, in
      the order of actions
    * ``decision_actions`` (D,): how many actions ``d`` has
    * ``decision_infoset`` (D,): the information set that ``d`` belongs to
    * ``decision_entry`` (D,): the first entry (``HistoryArrays.infoset_offset``) of that information set
    * ``decision_weight`` (D,): the share of the information set's histories that lie in ``d``; 1 with perfect recall
    * ``leaf_start`` (S+1,): the leaves in which sequence ``s`` is its owner's whole play are
      ``leaf_start[s] .. leaf_start[s + 1] - 1``; each leaf with a payoff other than 0 for a player is listed once for
      that player
    * ``leaf_others`` (L, n-1): the sequences of the other players at the leaf, in the order of players
    * ``leaf_payoff`` (L,): the owner's utility times the weight of chance, summed over the histories of the leaf.  A
      weight is the probability of chance divided by ``unit``
    * ``unit``: what weights are counted in.  Where the probabilities of chance are fractions with a common denominator
      (deals of cards, dice), ``unit`` is one over it and weights are integers, so that values that are equal in theory
      are equal in floating point too; otherwise it is 1
    """

    players: int
    sequence_start: NDArray[np.int32]
    decision_start: NDArray[np.int32]
    decision_parent: NDArray[np.int32]
    decision_first: NDArray[np.int32]
    decision_actions: NDArray[np.int32]
    decision_infoset: NDArray[np.int32]
    decision_entry: NDArray[np.int32]
    decision_weight: NDArray[np.float64]
    leaf_start: NDArray[np.int64]
    leaf_others: NDArray[np.int32]
    leaf_payoff: NDArray[np.float64]
    unit: float

    def _title(self) -> str:
        return "SequenceForm"

    def _sizes(self) -> list[tuple[str, str]]:
        return [
            ("players", str(self.players)),
            ("sequences", f"{self.num_sequences:,}"),
            ("decision points", f"{self.num_decisions:,}"),
            ("leaves", f"{len(self.leaf_payoff):,}"),
            ("memory", format_bytes(self.nbytes)),
        ]

    @property
    def num_sequences(self) -> int:
        """Number of sequences of all players, the empty ones included."""
        return int(self.sequence_start[-1])

    @property
    def num_decisions(self) -> int:
        """Number of decision points of all players."""
        return len(self.decision_parent)

    @property
    def nbytes(self) -> int:
        """Bytes held by the arrays."""
        return sum(value.nbytes for value in vars(self).values() if isinstance(value, np.ndarray))

    def sequences_of(self, player: int) -> int:
        """Number of sequences of a player, the empty one included."""
        return int(self.sequence_start[player + 1] - self.sequence_start[player])

    def origins(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The decision point at which each sequence ends and the action taken there; NULL for empty sequences."""
        decision_of, action_of = np.full((2, self.num_sequences), NULL, np.int32)
        sequences = spans(self.decision_first, self.decision_actions)
        decision_of[sequences] = np.repeat(np.arange(self.num_decisions), self.decision_actions)
        action_of[sequences] = spans(np.zeros(self.num_decisions, np.int64), self.decision_actions)
        return decision_of, action_of

    def has_perfect_recall(self, player: int) -> bool:
        """Whether each information set of the player is one decision point."""
        low, high = self.decision_start[player], self.decision_start[player + 1]
        infosets = self.decision_infoset[low:high]
        return len(np.unique(infosets)) == len(infosets)


def build_sequence_form(tree: HistoryArrays) -> SequenceForm:
    """Derive the sequence form of a compiled tree.

    Histories are taken depth by depth.  At each depth the movers' decision points are looked up by (information set,
    own sequence), new ones are numbered provisionally, and the sequences of the next depth follow.
    """
    own, renumbered = _number_sequences(tree)
    weight, unit = _chance_weights(chance_reach(tree)[tree.player == TERMINAL])
    start, others, payoff = _leaves(tree, own, weight, renumbered.sequence_start)
    infosets = renumbered.infoset
    sizes = np.bincount(tree.infoset[tree.infoset >= 0], minlength=tree.num_infosets)
    return SequenceForm(
        players=tree.players, sequence_start=renumbered.sequence_start, decision_start=renumbered.decision_start,
        decision_parent=renumbered.parent, decision_first=renumbered.first,
        decision_actions=np.diff(tree.infoset_offset)[infosets].astype(np.int32), decision_infoset=infosets,
        decision_entry=tree.infoset_offset[infosets].astype(np.int32),
        decision_weight=renumbered.count / sizes[infosets],
        leaf_start=start, leaf_others=others, leaf_payoff=payoff, unit=unit,
    )  # fmt: skip


def sequences_at(tree: HistoryArrays) -> list[NDArray[np.int32]]:
    """The sequence of each player at every history: ``sequences_at(tree)[player][h]``.  Computed anew at each call."""
    return _number_sequences(tree)[0]


def decision_points(tree: HistoryArrays) -> NDArray[np.int32]:
    """The decision point of every decision; NULL elsewhere.  Computed anew at each call."""
    own, numbered = _number_sequences(tree)
    actions = np.diff(tree.infoset_offset)[numbered.infoset]
    decision_of = np.full(int(numbered.sequence_start[-1]), NULL, np.int32)
    decision_of[spans(numbered.first, actions)] = np.repeat(np.arange(len(actions), dtype=np.int32), actions)
    points = np.full(tree.num_histories, NULL, np.int32)
    for player in range(tree.players):
        nodes = np.flatnonzero(tree.player == player)
        points[nodes] = decision_of[own[player][tree.first_child[nodes]]]
    return points


def _number_sequences(tree: HistoryArrays) -> tuple[list[NDArray[np.int32]], _Renumbered]:
    """The final sequence of each player at each history, and the final decision points."""
    own, decisions = _assign_sequences(tree)
    renumbered = _renumber(tree, decisions)
    return [renumbered.sequence_number[player][own[player]] for player in range(tree.players)], renumbered


@dataclasses.dataclass
class _Decisions:
    """Decision points of one player, provisionally numbered; sequences are numbered from 1 after the empty one."""

    index: dict[int, int]  # infoset << 32 | sequence -> decision point
    infoset: list[int]
    parent: list[int]
    first: list[int]
    node: list[int]
    count: list[int]
    num_sequences: int = 1

    def look_up(
        self,
        infosets: NDArray[np.int64],
        parents: NDArray[np.int32],
        nodes: NDArray[np.int64],
        sizes: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """The decision points of histories, new ones made; ``sizes`` are numbers of actions by information set."""
        keys, position, inverse, counts = np.unique(
            (infosets << 32) | parents, return_index=True, return_inverse=True, return_counts=True
        )
        numbers = np.empty(len(keys), np.int64)
        for slot, (key, where, count) in enumerate(zip(keys.tolist(), position.tolist(), counts.tolist(), strict=True)):
            number = self.index.get(key)
            if number is None:
                number = self.index[key] = len(self.infoset)
                self.infoset.append(key >> 32)
                self.parent.append(key & 0xFFFFFFFF)
                self.first.append(self.num_sequences)
                self.node.append(int(nodes[where]))
                self.count.append(0)
                self.num_sequences += int(sizes[key >> 32])
            self.node[number] = min(self.node[number], int(nodes[where]))
            self.count[number] += count
            numbers[slot] = number
        return numbers[inverse]


def _assign_sequences(tree: HistoryArrays) -> tuple[list[NDArray[np.int32]], list[_Decisions]]:
    """The provisional sequence of each player at each history, and the decision points."""
    own = [np.zeros(tree.num_histories, np.int32) for _ in range(tree.players)]
    decisions = [_Decisions({}, [], [], [], [], []) for _ in range(tree.players)]
    sizes = np.diff(tree.infoset_offset)
    for whole in tree.levels():
        level = whole[tree.player[whole] != TERMINAL]
        children = spans(tree.first_child[level], tree.num_children[level])
        parents = np.repeat(level, tree.num_children[level])
        for player in range(tree.players):
            own[player][children] = own[player][parents]
            nodes = level[tree.player[level] == player]
            if not len(nodes):
                continue
            # Histories ascend within a level, so the first of equal keys is the least.
            found = decisions[player].look_up(tree.infoset[nodes].astype(np.int64), own[player][nodes], nodes, sizes)
            firsts = np.asarray(decisions[player].first, np.int64)[found]
            counts = tree.num_children[nodes]
            own[player][spans(tree.first_child[nodes], counts)] = spans(firsts, counts)
    return own, decisions


def spans(starts: NDArray[np.integer], counts: NDArray[np.integer]) -> NDArray[np.int64]:
    """Concatenate ``range(start, start + count)`` over pairs."""
    ends = np.cumsum(counts, dtype=np.int64)
    total = int(ends[-1]) if len(ends) else 0
    spans: NDArray[np.int64] = np.arange(total) + np.repeat(starts.astype(np.int64) - (ends - counts), counts)
    return spans


@dataclasses.dataclass
class _Renumbered:
    sequence_start: NDArray[np.int32]
    decision_start: NDArray[np.int32]
    infoset: NDArray[np.int32]
    parent: NDArray[np.int32]
    first: NDArray[np.int32]
    count: NDArray[np.int64]
    sequence_number: list[NDArray[np.int32]]  # per player: provisional sequence -> final


def _renumber(tree: HistoryArrays, decisions: list[_Decisions]) -> _Renumbered:
    """Final global numbers: player by player, decision points by their first history."""
    sizes = np.diff(tree.infoset_offset)
    sequence_start, decision_start = [0], [0]
    infosets, parents, firsts, counts, numbers = [], [], [], [], []
    for found in decisions:
        order = np.argsort(np.asarray(found.node, np.int64), kind="stable")
        infoset = np.asarray(found.infoset, np.int64)[order]
        actions = sizes[infoset]
        first = sequence_start[-1] + 1 + np.cumsum(actions) - actions
        number = np.empty(found.num_sequences, np.int32)
        number[0] = sequence_start[-1]
        number[spans(np.asarray(found.first, np.int64)[order], actions)] = spans(first, actions)
        infosets.append(infoset)
        parents.append(number[np.asarray(found.parent, np.int64)[order]])
        firsts.append(first)
        counts.append(np.asarray(found.count, np.int64)[order])
        numbers.append(number)
        sequence_start.append(sequence_start[-1] + found.num_sequences)
        decision_start.append(decision_start[-1] + len(infoset))
    starts = np.array(sequence_start, np.int32), np.array(decision_start, np.int32)
    own, before, after = (np.concatenate(column).astype(np.int32) for column in (infosets, parents, firsts))
    return _Renumbered(*starts, own, before, after, np.concatenate(counts), numbers)


def chance_reach(tree: HistoryArrays) -> NDArray[np.float64]:
    """The product of the chance probabilities before each history."""
    reach = tree.chance_prob.copy()
    for level in tree.levels()[1:]:
        reach[level] *= reach[tree.parent[level]]
    return reach


def _chance_weights(probabilities: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Probabilities as integer multiples of a unit, if they have a common denominator; otherwise unchanged.

    Regret matching turns a rounding error at a tie into a pure strategy, so ties are worth keeping exact.
    """
    distinct = np.unique(probabilities)
    if len(distinct) <= MAX_DISTINCT_CHANCES:
        fractions = [Fraction(value).limit_denominator(MAX_CHANCE_DENOMINATOR) for value in distinct.tolist()]
        common = math.lcm(*(fraction.denominator for fraction in fractions))
        exact = all(abs(float(f) - p) <= 1e-12 * p for f, p in zip(fractions, distinct.tolist(), strict=True))
        if exact and common <= MAX_CHANCE_DENOMINATOR:
            return np.rint(probabilities * common), 1.0 / common
    return probabilities, 1.0


def _leaves(
    tree: HistoryArrays, own: list[NDArray[np.int32]], weight: NDArray[np.float64], sequence_start: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    """Leaves listed by their owner's sequence, histories with equal sequences merged."""
    terminals = np.flatnonzero(tree.player == TERMINAL)
    utilities = tree.utility[tree.outcome[terminals]] * weight[:, None]
    columns = np.stack([own[player][terminals] for player in range(tree.players)], axis=1)
    order = np.lexsort(columns.T[::-1])
    columns, utilities = columns[order], utilities[order]
    fresh = np.ones(len(columns), bool)
    fresh[1:] = (columns[1:] != columns[:-1]).any(axis=1)
    begins = np.flatnonzero(fresh)
    columns = columns[begins]
    payoffs = np.add.reduceat(utilities, begins, axis=0) if len(begins) else utilities
    others, payoff, owners = [], [], []
    for player in range(tree.players):
        rows = np.flatnonzero(payoffs[:, player] != 0.0)
        rows = rows[np.argsort(columns[rows, player], kind="stable")]
        owners.append(columns[rows, player])
        others.append(np.delete(columns[rows], player, axis=1))
        payoff.append(payoffs[rows, player])
    counts = np.bincount(np.concatenate(owners), minlength=int(sequence_start[-1]))
    start = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    return start, np.ascontiguousarray(np.concatenate(others)), np.concatenate(payoff)
