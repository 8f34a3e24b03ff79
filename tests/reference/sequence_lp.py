"""The value and an equilibrium of a two-player zero-sum game with perfect recall by the sequence-form linear program.

Source: Gibson 2014, section 2.3; Koller, Megiddo and von Stengel 1996.  For the maximising player with plan x::

    max q_0   such that   E x = e,   F' q <= U x,   x >= 0

E x = e says that the weights of the actions at an information set add up to the weight of the sequence before it; q
holds one number for each of the other player's information sets (q_0 for the start): what that player cannot keep
the maximiser from getting there.  The program is solved once for each player.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array

from counterplay.game.game import TERMINAL, Game
from tests.reference.walks import Action, Profile, Sequence, has_perfect_recall, walk


def zero_sum_value(game: Game) -> float:
    """The value to the first player."""
    return _maximise(game, 0)[0]


def solve_zero_sum(game: Game) -> tuple[float, Profile]:
    """The value to the first player and an equilibrium; uniform at sets that its owner never lets happen."""
    value, first = _maximise(game, 0)
    _, second = _maximise(game, 1)
    return value, first | second


def _maximise(game: Game, player: int) -> tuple[float, Profile]:
    """What the player can be sure of, and how."""
    other = 1 - player
    _require(game)

    # The sequences of both players and, for every information set, the sequence before it and its actions.
    sequences: list[dict[Sequence, int]] = [{(): 0}, {(): 0}]
    sets: list[dict[Hashable, tuple[Sequence, tuple[Action, ...]]]] = [{}, {}]
    payoff: dict[tuple[Sequence, Sequence], float] = {}
    for visit in walk(game):
        if visit.state.player == TERMINAL:
            pair = (visit.past[player], visit.past[other])
            payoff[pair] = payoff.get(pair, 0.0) + visit.chance * visit.state.utilities()[player]
        elif visit.state.player >= 0:
            mover, key = visit.infoset
            before = visit.past[mover]
            if key not in sets[mover]:
                sets[mover][key] = (before, tuple(visit.state.actions()))
                for action in visit.state.actions():
                    sequences[mover][(*before, (key, action))] = len(sequences[mover])

    # Columns: the plan x, then q with q_0 first.
    plan = sequences[player]
    set_number = {key: len(plan) + 1 + number for number, key in enumerate(sets[other])}
    start = len(plan)
    columns = len(plan) + 1 + len(set_number)

    equal = _Rows(columns)
    equal.add({0: 1.0}, 1.0)
    for key, (before, actions) in sets[player].items():
        row = {plan[before]: -1.0}
        for action in actions:
            row[plan[(*before, (key, action))]] = 1.0
        equal.add(row, 0.0)

    # For a sequence of the other player: q of the set it ends in <= payoff reached by it + q of the sets after it.
    ends_in: dict[Sequence, int] = {(): start}
    after: dict[Sequence, list[int]] = {sequence: [] for sequence in sequences[other]}
    for key, (before, actions) in sets[other].items():
        after[before].append(set_number[key])
        for action in actions:
            ends_in[(*before, (key, action))] = set_number[key]
    below = _Rows(columns)
    rows: dict[Sequence, dict[int, float]] = {}
    for sequence in sequences[other]:
        rows[sequence] = {ends_in[sequence]: 1.0}
        for number in after[sequence]:
            rows[sequence][number] = -1.0
    for (own, others), amount in payoff.items():
        rows[others][plan[own]] = rows[others].get(plan[own], 0.0) - amount
    for row in rows.values():
        below.add(row, 0.0)

    objective = np.zeros(columns)
    objective[start] = -1.0
    bounds = [(0.0, None)] * len(plan) + [(None, None)] * (columns - len(plan))
    limits: dict[str, Any] = {"A_ub": below.matrix(), "b_ub": below.right, "A_eq": equal.matrix(), "b_eq": equal.right}
    solution = linprog(objective, **limits, bounds=bounds, method="highs")
    if not solution.success or solution.x is None:
        raise ArithmeticError(solution.message)

    strategy: Profile = {}
    for key, (before, actions) in sets[player].items():
        weights = {action: max(float(solution.x[plan[(*before, (key, action))]]), 0.0) for action in actions}
        total = sum(weights.values())
        strategy[player, key] = {a: w / total if total > 1e-12 else 1.0 / len(actions) for a, w in weights.items()}
    return float(solution.x[start]), strategy


class _Rows:
    """A sparse matrix by its rows, with the right-hand sides."""

    def __init__(self, columns: int) -> None:
        self.columns = columns
        self.right: list[float] = []
        self._entries: list[tuple[int, int, float]] = []

    def add(self, row: dict[int, float], right: float) -> None:
        self._entries += [(len(self.right), column, value) for column, value in row.items()]
        self.right.append(right)

    def matrix(self) -> coo_array:
        rows, columns, values = zip(*self._entries, strict=True)
        return coo_array((values, (rows, columns)), shape=(len(self.right), self.columns))


def _require(game: Game) -> None:
    if game.players != 2:
        raise ValueError(f"the program is for two players; this game has {game.players}")
    for player in (0, 1):
        if not has_perfect_recall(game, player):
            raise ValueError(f"player {player} forgets; the sequence form needs perfect recall")
    for visit in walk(game):
        if visit.state.player == TERMINAL and abs(sum(visit.state.utilities())) > 1e-12:
            raise ValueError(f"not zero-sum: utilities {visit.state.utilities()}")
