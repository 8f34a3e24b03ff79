"""What a player remembers: perfect recall, A-loss recall, imperfect recall or absent-mindedness.

Definitions: Gibson 2014, definition 2.3 and section 6 (perfect recall, absent-mindedness; also Lanctot et al. 2012,
equation 1 and definition 1); Čermák 2018, definition 2.2.2 (A-loss recall).  All follow from the decision points of
the sequence form: at an information set with more than one decision point the player forgets some of their own play,
and it has A-loss recall if any two of its sequences diverge at an information set by different actions, so that only
the player's own choice is forgotten.  An absent-minded player does not have A-loss recall.

Comparing all pairs of sequences of a set decides A-loss recall, but is slow.  It is enough to examine where two
sequences of a set first diverge.  Let the player have A-loss recall, and let two sequences of a set take different
actions at an information set J.  The prefixes before J are sequences of J: they are the same, or take different actions
at an earlier set, and so on.  So there is a decision point that both pass and leave by different actions.  Conversely,
that is A-loss recall.  Hence the player has it if and only if, for each information set, the decision points on the
paths to it follow different sequences.  Two that follow the same sequence lead to a witness by the same argument.
"""

from __future__ import annotations

import dataclasses
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from counterplay.tree.history.history_arrays import NULL
from counterplay.tree.sequence.sequence_form import SequenceForm

Recall: TypeAlias = Literal["perfect", "a-loss", "imperfect", "absent-minded"]
Int64: TypeAlias = NDArray[np.int64]


def classify_recall(form: SequenceForm, player: int) -> Recall:
    """Classify what one player remembers."""
    if form.has_perfect_recall(player):
        return "perfect"
    paths = Paths.to_sets_of(form, player)
    if paths.repeat() is not None:
        return "absent-minded"
    return "a-loss" if paths.fork() is None else "imperfect"


@dataclasses.dataclass(frozen=True, eq=False)
class Paths:
    """The decision points on the paths to sets with several: row r means that one precedes ``point[r]``."""

    form: SequenceForm
    infoset: Int64  # (R,) the set that the path leads to
    passed: Int64  # (R,) a decision point on it, the last one included
    point: Int64  # (R,) a decision point of the set that it leads to

    @classmethod
    def to_sets_of(cls, form: SequenceForm, player: int) -> Paths:
        """The paths to the information sets of a player."""
        decision_of = form.origins()[0].astype(np.int64)
        low, high = int(form.decision_start[player]), int(form.decision_start[player + 1])
        several = np.bincount(form.decision_infoset[low:high]) > 1
        point = low + np.flatnonzero(several[form.decision_infoset[low:high]])
        passed, infoset = point, form.decision_infoset[point].astype(np.int64)
        columns = [(infoset, passed, point)]
        while len(passed):
            passed = decision_of[form.decision_parent[passed]]
            going = passed != NULL
            passed, infoset, point = passed[going], infoset[going], point[going]
            _, first = np.unique(infoset * form.num_decisions + passed, return_index=True)
            passed, infoset, point = passed[first], infoset[first], point[first]
            columns.append((infoset, passed, point))
        return cls(form, *(np.concatenate([column[place] for column in columns]) for place in range(3)))

    def repeat(self) -> int | None:
        """A decision point whose information set was passed before."""
        rows = np.flatnonzero((self.form.decision_infoset[self.passed] == self.infoset) & (self.passed != self.point))
        return int(self.point[rows].min()) if len(rows) else None

    def fork(self) -> tuple[int, int] | None:
        """Two decision points of one set, the paths to which diverge without a choice of the player."""
        after = self.form.decision_parent[self.passed]
        order = np.lexsort((self.passed, after, self.infoset))
        infoset, after, passed = self.infoset[order], after[order], self.passed[order]
        apart = (infoset[1:] == infoset[:-1]) & (after[1:] == after[:-1]) & (passed[1:] != passed[:-1])
        rows = np.flatnonzero(apart)
        return (int(self.point[order[rows[0]]]), int(self.point[order[rows[0] + 1]])) if len(rows) else None
