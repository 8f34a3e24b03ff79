"""Sparse matrices of the sequence form of a two-player game, for the linear programs about domination.

A realisation plan x gives each own sequence the product of the probabilities along it; the plans of a player with
perfect recall are the x ≥ 0 with E x = e (Gibson 2014, section 2.3).  ``x @ A @ y`` is the utility of player i when A
is ``payoff_matrix(tree, i)``, x a plan of i and y one of the other.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError, SolverError
from counterplay.tree.arrays import GameTree

__all__ = [
    "least_response", "payoff_matrix", "plan_constraints", "plan_of", "require_plans", "solve_program", "strategy_of",
]  # fmt: skip

Float64 = NDArray[np.float64]


def require_plans(tree: GameTree, zero_sum: bool = False) -> None:
    """Refuse games that these programs are not for.

    Raises
    ------
    GameError
        Unless the game has two players with perfect recall (and is zero-sum, if that is asked for).
    """
    if tree.players != 2:
        raise GameError(f"this needs two players; {tree.name} has {tree.players}")
    for player in (0, 1):
        if not tree.sequences.has_perfect_recall(player):
            raise GameError(f"player {player + 1} of {tree.name} has imperfect recall; this needs perfect recall")
    if zero_sum and not tree.facts.zero_sum:
        raise GameError(f"{tree.name} is not zero-sum; this is defined for zero-sum games")


def plan_constraints(tree: GameTree, player: int) -> tuple[Any, Float64]:
    """E and e: the empty sequence has weight 1, and the actions at a set share the weight of the sequence before."""
    from scipy import sparse  # not at the top: measuring a profile must not cost this import

    form = tree.sequences
    low = int(form.sequence_start[player])
    decisions = np.arange(form.decision_start[player], form.decision_start[player + 1])
    spans = form.decision_actions[decisions]
    count = len(decisions)
    rows = np.concatenate(([0], 1 + np.arange(count), np.repeat(1 + np.arange(count), spans)))
    inside = np.concatenate([np.arange(span) for span in spans]) if count else np.zeros(0, np.int64)
    columns = np.concatenate(
        ([0], form.decision_parent[decisions] - low, np.repeat(form.decision_first[decisions] - low, spans) + inside)
    )
    values = np.concatenate(([1.0], -np.ones(count), np.ones(int(spans.sum()))))
    matrix = sparse.csr_array((values, (rows, columns)), shape=(count + 1, form.sequences_of(player)))
    right = np.zeros(count + 1)
    right[0] = 1.0
    return matrix, right


def payoff_matrix(tree: GameTree, player: int) -> Any:
    """Utility of the player by own sequence and the other's sequence, weighted by chance."""
    from scipy import sparse

    form = tree.sequences
    low, high = int(form.sequence_start[player]), int(form.sequence_start[player + 1])
    leaves = slice(int(form.leaf_start[low]), int(form.leaf_start[high]))
    own = np.repeat(np.arange(high - low), np.diff(form.leaf_start[low : high + 1]))
    other = form.leaf_others[leaves, 0] - form.sequence_start[1 - player]
    shape = (high - low, form.sequences_of(1 - player))
    return sparse.csr_array((form.leaf_payoff[leaves] * form.unit, (own, other)), shape=shape)


def plan_of(tree: GameTree, player: int, strategy: Float64) -> Float64:
    """The realisation plan of a behavioural strategy, given by the probabilities of all entries."""
    form = tree.sequences
    low = int(form.sequence_start[player])
    plan = np.ones(form.sequences_of(player))
    for decision in range(int(form.decision_start[player]), int(form.decision_start[player + 1])):
        first, span = int(form.decision_first[decision]) - low, int(form.decision_actions[decision])
        entry = int(form.decision_entry[decision])
        before = plan[int(form.decision_parent[decision]) - low]
        plan[first : first + span] = before * strategy[entry : entry + span]
    return plan


def strategy_of(tree: GameTree, player: int, plan: Float64, strategy: Float64) -> Float64:
    """``strategy`` with the player's entries replaced by those of a plan; uniform where the plan does not come."""
    form = tree.sequences
    low = int(form.sequence_start[player])
    result = strategy.copy()
    weights = np.maximum(plan, 0.0)
    for decision in range(int(form.decision_start[player]), int(form.decision_start[player + 1])):
        first, span = int(form.decision_first[decision]) - low, int(form.decision_actions[decision])
        entry = int(form.decision_entry[decision])
        row = weights[first : first + span]
        total = float(row.sum())
        result[entry : entry + span] = row / total if total > 1e-12 else 1.0 / span
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


def solve_program(objective: Float64, what: str, **constraints: Any) -> tuple[float, Float64]:
    """Maximise a linear objective with HiGHS: the optimum and where it is.

    Raises
    ------
    SolverError
        If the program is infeasible or unbounded, which the programs here never are in theory.
    """
    from scipy.optimize import linprog

    solution = linprog(-objective, method="highs", **constraints)
    if solution.status != 0:
        raise SolverError(f"the linear program for {what} was not solved: {solution.message}")
    return -float(solution.fun), np.asarray(solution.x, dtype=np.float64)
