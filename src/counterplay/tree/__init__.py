"""Compiled forms of games: flat arrays over histories, and over the players' own sequences."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from counterplay.tree.arrays import NULL, GameTree
from counterplay.tree.compile import compile_game
from counterplay.tree.memory import SizeEstimate, estimate_size, format_bytes

if TYPE_CHECKING:
    from counterplay.tree.recall import Recall, Verdict, Witness, classify_recall, split_to_a_loss
    from counterplay.tree.recall_classes import PlayerRecall, RecallReport, recall_report
    from counterplay.tree.sequences import SequenceForm, build_sequence_form

__all__ = [
    "NULL", "GameTree", "PlayerRecall", "Recall", "RecallReport", "SequenceForm", "SizeEstimate", "Verdict", "Witness",
    "build_sequence_form", "classify_recall", "compile_game", "estimate_size", "format_bytes", "recall_report",
    "split_to_a_loss",
]  # fmt: skip

# What many commands do without is imported when it is first named.
_HOME = {
    "Recall": "recall", "Verdict": "recall", "Witness": "recall", "classify_recall": "recall",
    "split_to_a_loss": "recall",
    "PlayerRecall": "recall_classes", "RecallReport": "recall_classes", "recall_report": "recall_classes",
    "SequenceForm": "sequences", "build_sequence_form": "sequences",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'counterplay.tree' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"counterplay.tree.{_HOME[name]}"), name)
    globals()[name] = value
    return value
