"""Compiled forms of games: flat arrays over histories, and over the players' own sequences."""

from counterplay.tree.arrays import NULL, GameTree
from counterplay.tree.compile import compile_game
from counterplay.tree.memory import SizeEstimate, estimate_size, format_bytes
from counterplay.tree.recall import Recall, Verdict, Witness, classify_recall, split_to_a_loss
from counterplay.tree.recall_report import PlayerRecall, RecallReport, recall_report
from counterplay.tree.sequences import SequenceForm, build_sequence_form

__all__ = [
    "NULL", "GameTree", "PlayerRecall", "Recall", "RecallReport", "SequenceForm", "SizeEstimate", "Verdict", "Witness",
    "build_sequence_form", "classify_recall", "compile_game", "estimate_size", "format_bytes", "recall_report",
    "split_to_a_loss",
]  # fmt: skip
