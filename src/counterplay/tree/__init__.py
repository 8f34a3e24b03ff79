"""Compiled forms of games: flat arrays over histories, and over the players' own sequences."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

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
_HOME = {
    "Verdict": "recall_class", "Witness": "recall_class", "split_to_a_loss": "recall_class",
    "PlayerRecall": "recall_report", "RecallReport": "recall_report", "recall_report": "recall_report",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'counterplay.tree' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"counterplay.tree.recall.{_HOME[name]}"), name)
    globals()[name] = value
    return value
