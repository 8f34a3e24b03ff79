"""Compiled forms of games: flat arrays over histories, and over the players' own sequences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterplay.runtime.lazy import lazy_names
from counterplay.tree.history.compile import compile_game
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.history.history_arrays import NULL
from counterplay.tree.history.sizes import SizeEstimate, estimate_size
from counterplay.tree.recall.recall_kinds import Recall, classify_recall
from counterplay.tree.sequence.sequence_form import SequenceForm, build_sequence_form

if TYPE_CHECKING:
    from counterplay.tree.recall.recall_class import Verdict, Witness, split_to_a_loss
    from counterplay.tree.recall.recall_report import PlayerRecall, RecallReport, recall_report

__all__ = [
    "NULL", "GameTree", "PlayerRecall", "Recall", "RecallReport", "SequenceForm", "SizeEstimate", "Verdict", "Witness",
    "build_sequence_form", "classify_recall", "compile_game", "estimate_size", "recall_report",
    "split_to_a_loss",
]  # fmt: skip

# What many commands do without is imported when it is first named.
__getattr__ = lazy_names(__name__, {
    "recall.recall_class": ("Verdict", "Witness", "split_to_a_loss"),
    "recall.recall_report": ("PlayerRecall", "RecallReport", "recall_report"),
})  # fmt: skip
