"""``GameTree``: a compiled game: its histories, and derived data computed on first use."""

from __future__ import annotations

import dataclasses
import functools
from typing import ClassVar

from counterplay.tree.history.history_arrays import HistoryArrays
from counterplay.tree.recall.recall_kinds import Recall, classify_recall
from counterplay.tree.sequence.sequence_form import SequenceForm, build_sequence_form


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class GameTree(HistoryArrays):
    """A compiled game: the arrays of its histories, its sequence form, and what each player remembers."""

    form_name: ClassVar[str] = "history"
    """The form of a game that this is."""

    @functools.cached_property
    def sequences(self) -> SequenceForm:
        """The game by the players' own sequences of moves."""
        return build_sequence_form(self)

    @functools.cached_property
    def recall(self) -> tuple[Recall, ...]:
        """What each player remembers: perfect, a-loss, imperfect or absent-minded."""
        return tuple(classify_recall(self.sequences, player) for player in range(self.players))
