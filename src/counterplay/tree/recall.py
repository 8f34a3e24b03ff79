"""What a player remembers: perfect recall, A-loss recall, imperfect recall, absent-mindedness.

Definitions: Gibson 2014, definition 2.3 and section 6 (perfect recall, absent-mindedness); Čermák 2018, definition
2.2.2 (A-loss recall).  All are read off the decision points of the sequence form: an information set with more than
one decision point forgets something of the player's own play, and it has A-loss recall when any two of its sequences
part at an information set by different actions, so that only the player's own choice is forgotten.
"""

from __future__ import annotations

from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np

from counterplay.tree.arrays import GameTree

__all__ = ["Recall", "classify_recall"]

Recall: TypeAlias = Literal["perfect", "a-loss", "imperfect", "absent-minded"]


def classify_recall(tree: GameTree, player: int) -> Recall:
    """Classify what one player remembers."""
    form = tree.sequences
    if form.has_perfect_recall(player):
        return "perfect"
    low, high = int(form.decision_start[player]), int(form.decision_start[player + 1])
    origin = _origins(tree, player)
    choices: dict[int, dict[int, int]] = {}
    by_infoset: dict[int, list[dict[int, int]]] = {}
    for decision in range(low, high):
        infoset = int(form.decision_infoset[decision])
        parent = int(form.decision_parent[decision])
        made: dict[int, int] = {}
        if parent in origin:
            before, action = origin[parent]
            made = {**choices[before], int(form.decision_infoset[before]): action}
        if infoset in made:
            return "absent-minded"
        choices[decision] = made
        by_infoset.setdefault(infoset, []).append(made)
    for sequences in by_infoset.values():
        for one, other in combinations(sequences, 2):
            if not any(key in other and other[key] != action for key, action in one.items()):
                return "imperfect"
    return "a-loss"


def _origins(tree: GameTree, player: int) -> dict[int, tuple[int, int]]:
    """For each sequence but the empty one: its last decision point and the action taken there."""
    form = tree.sequences
    origin = {}
    for decision in range(int(form.decision_start[player]), int(form.decision_start[player + 1])):
        first = int(form.decision_first[decision])
        for action in range(int(np.int64(form.decision_actions[decision]))):
            origin[first + action] = (decision, action)
    return origin
