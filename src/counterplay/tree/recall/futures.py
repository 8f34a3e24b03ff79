"""The leaves below the parts of an information set: the table on which the classes of imperfect recall are decided.

A *refinement* of a game has the same histories and smaller information sets, with perfect recall for every player
(Lanctot et al. 2012, section 5.1; Čermák 2018, section 2.2.1).  The sets of the refinement that lie in a set of the
game are its *parts*.  Well-formed games and their relatives compare the leaves below two parts of one set by what the
others did (X_{-i}), what the player did since the part (X_i), the chance probability and the utility.  ``Futures`` has
all of this, a row for each pair of a part and a leaf below it, with sequences as numbers that are equal exactly when
the sequences are.

For three and more players X_{-i} is in the order of play, as defined.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError
from counterplay.game.game import TERMINAL
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.history.history_arrays import NULL
from counterplay.tree.history.repartition import number_parts, repartition
from counterplay.tree.sequence.sequence_form import chance_reach, decision_points, sequences_at

Int32: TypeAlias = NDArray[np.int32]
Int64: TypeAlias = NDArray[np.int64]
Float64: TypeAlias = NDArray[np.float64]


@dataclasses.dataclass(frozen=True, eq=False)
class Refinement:
    """A game and a perfect-recall refinement of it.  H histories, P parts, I information sets."""

    tree: GameTree  # the game
    part: Int32  # (H,) the part of each decision, NULL elsewhere; numbered in the order of first occurrence
    infoset: Int32  # (P,) the information set of the game that each part lies in
    node: Int32  # (P,) the first history of each part
    chance: Float64  # (P,) the sum of chance's probabilities of the histories of each part, C(I) in Čermák 2018

    def merged(self) -> NDArray[np.bool_]:
        """Whether each information set has more than one part."""
        return np.bincount(self.infoset, minlength=self.tree.num_infosets) > 1

    def history(self, part: int) -> tuple[str, ...]:
        """The first history of a part, as labels of moves."""
        return tuple(self.tree.history(int(self.node[part])))


def refine(tree: GameTree, refinement: GameTree | NDArray[np.integer] | None = None) -> Refinement:
    """A game with a refinement of it, by default the coarsest one with perfect recall.

    A refinement is given as a tree over the same histories, or as the number of the part of each decision.  Raises
    GameError if the histories differ, a part lies in two information sets, or somebody forgets in the refinement.
    """
    numbers: NDArray[np.integer] = decision_points(tree) if refinement is None else _checked(tree, refinement)
    nodes = np.flatnonzero(tree.player >= 0)
    _, first, inverse = np.unique(numbers[nodes], return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    part = np.full(tree.num_histories, NULL, np.int32)
    part[nodes] = rank[inverse]
    leaders = nodes[first[order]].astype(np.int32)
    reach = np.zeros(len(leaders))
    np.add.at(reach, part[nodes], chance_reach(tree)[nodes])
    return Refinement(tree, part, tree.infoset[leaders], leaders, reach)


def _checked(tree: GameTree, refinement: GameTree | NDArray[np.integer]) -> NDArray[np.integer]:
    """The parts of a refinement that the user gave."""
    if isinstance(refinement, GameTree):
        if not (np.array_equal(tree.parent, refinement.parent) and np.array_equal(tree.player, refinement.player)):
            raise GameError(f"{refinement.name} does not refine {tree.name}: it has other histories")
        numbers: NDArray[np.integer] = refinement.infoset
    else:
        numbers = np.asarray(refinement)
        if numbers.shape != (tree.num_histories,) or numbers.dtype.kind not in "iu":
            raise GameError(
                f"a refinement of {tree.name} is an array of {tree.num_histories} integers, one for each history; "
                f"got {numbers.dtype} of shape {numbers.shape}"
            )
    nodes = np.flatnonzero(tree.player >= 0)
    _, first, inverse = np.unique(numbers[nodes], return_index=True, return_inverse=True)
    wrong = np.flatnonzero(tree.infoset[nodes] != tree.infoset[nodes[first[inverse]]])
    if len(wrong):
        one, other = nodes[first[inverse[wrong[0]]]], nodes[wrong[0]]
        raise GameError(
            f"the refinement of {tree.name} joins histories of {tree.infoset_names[tree.infoset[one]]!r} and "
            f"{tree.infoset_names[tree.infoset[other]]!r}; each part must lie in one information set"
        )
    part, old = number_parts(tree, numbers)
    finer = repartition(tree, part, [str(number) for number in old], f"{tree.name}, refined")
    for player in range(tree.players):
        if not finer.sequences.has_perfect_recall(player):
            raise GameError(
                f"player {player + 1} forgets in the refinement of {tree.name}; "
                "it must have perfect recall (leave it out for the coarsest one that has)"
            )
    return part


@dataclasses.dataclass(frozen=True, eq=False)
class Rows:
    """Pairs of a part of a merged set of one player and a leaf below it.  R pairs, S own sequences."""

    # part, leaf, at: (R,) the part, the terminal history z, and the history z[part] at which the path visits the part
    part: Int64
    leaf: Int64
    at: Int64
    others: Int64  # (R,) X_{-i}(z) as a number
    own: Int64  # (R,) X_i(z[part], z) as a number; ``entry`` and ``rest`` spell it out
    # chance, before, after: (R,) the probability of chance to z, to z[part], and from there to z
    chance: Float64
    before: Float64
    after: Float64
    utility: Float64  # (R,) what z pays the player
    # (S,) the first (information set, action) of sequence number s, as an entry of the tree; NULL for the empty one, 0
    entry: Int64
    rest: Int64  # (S,) the number of what follows it

    def __len__(self) -> int:
        return len(self.part)

    def take(self, rows: Int64) -> Rows:
        """Some of the pairs."""
        columns = ("part", "leaf", "at", "others", "own", "chance", "before", "after", "utility")
        return dataclasses.replace(self, **{name: getattr(self, name)[rows] for name in columns})

    def spelled(self, sequence: int) -> list[int]:
        """The entries of a sequence number, in order."""
        entries = []
        while sequence:
            entries.append(int(self.entry[sequence]))
            sequence = int(self.rest[sequence])
        return entries


@dataclasses.dataclass(frozen=True, eq=False)
class Futures:
    """All pairs of a part of a merged set of one player and a leaf below it, sorted by information set and part.

    Only the necessary columns are kept for every pair; ``rows`` gives some of them in full.
    """

    refinement: Refinement
    player: int
    leaf: Int32
    at: Int32
    own: Int32
    after: Float64
    others: Int64  # of every history
    reach: Float64  # of every history, by chance
    entry: Int64
    rest: Int64

    def __len__(self) -> int:
        return len(self.leaf)

    def rows(self, chosen: slice | Int64) -> Rows:
        """Some of the pairs in full."""
        tree = self.refinement.tree
        leaf, at = self.leaf[chosen].astype(np.int64), self.at[chosen].astype(np.int64)
        return Rows(
            part=self.refinement.part[at].astype(np.int64), leaf=leaf, at=at, others=self.others[leaf],
            own=self.own[chosen].astype(np.int64), chance=self.reach[leaf], before=self.reach[at],
            after=self.after[chosen], utility=tree.utility[tree.outcome[leaf], self.player],
            entry=self.entry, rest=self.rest,
        )  # fmt: skip

    def rows_of(self, parts: tuple[int, ...]) -> Rows:
        """The pairs of some parts."""
        return self.rows(np.flatnonzero(np.isin(self.refinement.part[self.at], parts)))

    def chunks(self, size: int) -> Iterator[Rows]:
        """Whole information sets, together about ``size`` pairs at a time, so that little memory is needed."""
        if not len(self):
            return
        infoset = self.refinement.tree.infoset[self.at]
        starts = np.append(np.flatnonzero(np.diff(infoset, prepend=-1)), len(self))
        begin = 0
        while begin < len(starts) - 1:
            end = max(begin + 1, int(np.searchsorted(starts, starts[begin] + size, side="right")) - 1)
            yield self.rows(slice(int(starts[begin]), int(starts[end])))
            begin = end


def build_futures(refinement: Refinement, player: int) -> Futures:
    """The table of one player; only sets with more than one part are in it.

    Leaves climb together from own decision to own decision.  After j steps all have j own moves behind them, so a
    sequence number is made from (entry, number of the rest) and one sort for each step.
    """
    tree = refinement.tree
    last, via, after = _own_steps(tree, player)
    entry_into = _entries(tree)
    merged = refinement.merged()
    leaf = np.flatnonzero(tree.player == TERMINAL)
    at, own, chance_after = leaf, np.zeros(len(leaf), np.int64), np.ones(len(leaf))
    entries, rests = [np.array([NULL])], [np.array([0])]
    numbered = 1
    rows: list[tuple[Int32, Int32, Int32, Float64]] = []
    while True:
        going = last[at] != NULL
        if not going.any():
            break
        leaf, at, own, chance_after = leaf[going], at[going], own[going], chance_after[going]
        entry = entry_into[via[at]]
        chance_after = chance_after * after[at]
        at = last[at]
        made, number = np.unique(entry * numbered + own, return_inverse=True)
        entries.append(made // numbered)
        rests.append(made % numbered)
        own = numbered + number
        numbered += len(made)
        kept = merged[tree.infoset[at]]
        short = (column[kept].astype(np.int32) for column in (leaf, at, own))
        rows.append((*short, chance_after[kept]))
    leaves, places, sequences, chances = (
        np.concatenate([row[column] for row in rows]) if rows else np.empty(0, np.int32) for column in range(4)
    )
    part = refinement.part[places]
    order = np.lexsort((part, refinement.infoset[part]))
    return Futures(
        refinement, player,
        leaf=leaves[order], at=places[order], own=sequences[order], after=chances[order].astype(np.float64),
        others=_others(tree, player, entry_into), reach=chance_reach(tree),
        entry=np.concatenate(entries), rest=np.concatenate(rests),
    )  # fmt: skip


def _entries(tree: GameTree) -> Int64:
    """The (information set, action) entry of the move into each history; NULL after chance and at the root."""
    entry = np.full(tree.num_histories, NULL, np.int64)
    nodes = np.arange(1, tree.num_histories)
    before = tree.parent[nodes]
    decided = tree.player[before] >= 0
    nodes, before = nodes[decided], before[decided]
    entry[nodes] = tree.infoset_offset[tree.infoset[before]] + nodes - tree.first_child[before]
    return entry


def _own_steps(tree: GameTree, player: int) -> tuple[Int64, Int64, Float64]:
    """For each history: the player's last decision before it, the move made there, and chance's part since."""
    last = np.full(tree.num_histories, NULL, np.int64)
    via = np.full(tree.num_histories, NULL, np.int64)
    after = np.ones(tree.num_histories)
    for level in tree.levels()[1:]:
        before = tree.parent[level]
        own = tree.player[before] == player
        last[level] = np.where(own, before, last[before])
        via[level] = np.where(own, level, via[before])
        after[level] = np.where(own, 1.0, after[before] * tree.chance_prob[level])
    return last, via, after


def _others(tree: GameTree, player: int, entry_into: Int64) -> Int64:
    """X_{-i}(h) of every history as a number."""
    if tree.players == 1:
        return np.zeros(tree.num_histories, np.int64)
    if tree.players == 2:
        return sequences_at(tree)[1 - player].astype(np.int64)
    anchor = np.zeros(tree.num_histories, np.int64)  # the history after the last move of another player
    moves = np.zeros(tree.num_histories, np.int64)  # how many of these there were
    for level in tree.levels()[1:]:
        before = tree.parent[level]
        moved = (tree.player[before] >= 0) & (tree.player[before] != player)
        anchor[level] = np.where(moved, level, anchor[before])
        moves[level] = moves[before] + moved
    number = np.zeros(tree.num_histories, np.int64)
    numbered = 1
    anchors = np.flatnonzero((anchor == np.arange(tree.num_histories)) & (moves > 0))
    for count in range(1, int(moves.max(initial=0)) + 1):
        nodes = anchors[moves[anchors] == count]
        key = entry_into[nodes] * numbered + number[anchor[tree.parent[nodes]]]
        made, inverse = np.unique(key, return_inverse=True)
        number[nodes] = numbered + inverse
        numbered += len(made)
    found: Int64 = number[anchor]
    return found
