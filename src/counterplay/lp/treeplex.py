"""What the linear programs about domination share: one player's plans and the other's worst reply.

Plans and matrices are those of ``tree/sequence/matrices.py``; here for one player at a time.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError
from counterplay.tree.history.game_tree import GameTree

Float64 = NDArray[np.float64]


def require_plans(tree: GameTree) -> None:
    """Refuse games that these programs are not for: all but those of two players with perfect recall."""
    from counterplay.tree.sequence.matrices import require_perfect_recall

    if tree.players != 2:
        raise GameError(f"domination by plans needs two players; {tree.name} has {tree.players}")
    require_perfect_recall(tree, "domination by plans")


def plan_of(tree: GameTree, player: int, strategy: Float64) -> Float64:
    """The realisation plan of one player's strategy, given by the probabilities of all entries."""
    from counterplay.tree.sequence.matrices import realisation_plan  # not at the top: it costs the import of SciPy

    form = tree.sequences
    return realisation_plan(tree, strategy)[int(form.sequence_start[player]) : int(form.sequence_start[player + 1])]


def strategy_of(tree: GameTree, player: int, plan: Float64, strategy: Float64) -> Float64:
    """``strategy`` with one player's entries replaced by those of a plan; uniform where the plan does not reach."""
    from counterplay.tree.sequence.matrices import behavioural_strategy

    form = tree.sequences
    everybody = np.zeros(form.num_sequences)
    everybody[int(form.sequence_start[player]) : int(form.sequence_start[player + 1])] = np.where(
        plan > 1e-12, plan, 0.0
    )
    result = strategy.copy()
    low, high = tree.infoset_offset[tree.player_infosets[[player, player + 1]]]
    result[low:high] = behavioural_strategy(tree, everybody)[low:high]
    return result


def least_response(tree: GameTree, player: int, values: Float64) -> float:
    """The least that the plans of a player can make of values of the own sequences: min over y of values @ y."""
    form = tree.sequences
    low = int(form.sequence_start[player])
    total = values.copy()
    for decision in range(int(form.decision_start[player + 1]) - 1, int(form.decision_start[player]) - 1, -1):
        first, span = int(form.decision_first[decision]) - low, int(form.decision_actions[decision])
        total[int(form.decision_parent[decision]) - low] += total[first : first + span].min()
    return float(total[0])
