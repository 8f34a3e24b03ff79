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
from numpy.typing import NDArray
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
    program = SequenceProgram(game, player)
    value, strategy = program.maximise({program.start: 1.0})
    return value, strategy


class SequenceProgram:
    """The rows of a player's program: what makes x a plan, and what the other player's replies make of it.

    * ``plan``: the column of each of the player's sequences
    * ``start``: the column of q_0, the least that x gets
    * ``other_sets``: for each of the other player's information sets the sequence before it and its actions
    * ``payoff``: what the player wins by pairs of an own sequence and the other's, weighted by chance
    * ``replies``: for each of the other player's sequences a row that is at most 0
    """

    def __init__(self, game: Game, player: int) -> None:
        _require(game)
        self.player, other = player, 1 - player

        # The sequences of both players and, for every information set, the sequence before it and its actions.
        sequences: list[dict[Sequence, int]] = [{(): 0}, {(): 0}]
        sets: list[dict[Hashable, tuple[Sequence, tuple[Action, ...]]]] = [{}, {}]
        self.payoff: dict[tuple[Sequence, Sequence], float] = {}
        for visit in walk(game):
            if visit.state.player == TERMINAL:
                pair = (visit.past[player], visit.past[other])
                self.payoff[pair] = self.payoff.get(pair, 0.0) + visit.chance * visit.state.utilities()[player]
            elif visit.state.player >= 0:
                mover, key = visit.infoset
                before = visit.past[mover]
                if key not in sets[mover]:
                    sets[mover][key] = (before, tuple(visit.state.actions()))
                    for action in visit.state.actions():
                        sequences[mover][(*before, (key, action))] = len(sequences[mover])

        # Columns: the plan x, then q with q_0 first; ``column`` adds others.
        self.plan, self.own_sets, self.other_sets = sequences[player], sets[player], sets[other]
        set_number = {key: len(self.plan) + 1 + number for number, key in enumerate(self.other_sets)}
        self.start = len(self.plan)
        self.bounds: list[tuple[float | None, None]] = [(0.0, None)] * len(self.plan)
        self.bounds += [(None, None)] * (1 + len(set_number))

        # For a sequence of the other player: q of the set it ends in <= payoff reached by it + q of the sets after it.
        self.replies: dict[Sequence, dict[int, float]] = {(): {self.start: 1.0}}
        for key, (before, actions) in self.other_sets.items():
            for action in actions:
                self.replies[(*before, (key, action))] = {set_number[key]: 1.0}
        for key, (before, _) in self.other_sets.items():
            self.replies[before][set_number[key]] = -1.0
        for (own, others), amount in self.payoff.items():
            row = self.replies[others]
            row[self.plan[own]] = row.get(self.plan[own], 0.0) - amount

    def column(self) -> int:
        """The number of a further column, which is at least 0."""
        self.bounds.append((0.0, None))
        return len(self.bounds) - 1

    def maximise(self, objective: dict[int, float], least: float | None = None) -> tuple[float, Profile]:
        """The largest objective, and the player's strategy; with ``least``, of plans that are sure of that much."""
        equal, below = _Rows(len(self.bounds)), _Rows(len(self.bounds))
        equal.add({0: 1.0}, 1.0)
        for key, (before, actions) in self.own_sets.items():
            row = {self.plan[before]: -1.0}
            for action in actions:
                row[self.plan[(*before, (key, action))]] = 1.0
            equal.add(row, 0.0)
        for row in self.replies.values():
            below.add(row, 0.0)
        if least is not None:
            below.add({self.start: -1.0}, -least)
        cost = np.zeros(len(self.bounds))
        for number, weight in objective.items():
            cost[number] = -weight
        limits: dict[str, Any] = {
            "A_ub": below.matrix(), "b_ub": below.right, "A_eq": equal.matrix(), "b_eq": equal.right,
        }  # fmt: skip
        tight = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
        solution = linprog(cost, **limits, bounds=self.bounds, method="highs", options=tight)
        if not solution.success or solution.x is None:
            raise ArithmeticError(solution.message)
        return -float(solution.fun), self._strategy(solution.x)

    def _strategy(self, found: NDArray[np.float64]) -> Profile:
        strategy: Profile = {}
        for key, (before, actions) in self.own_sets.items():
            weights = {action: max(float(found[self.plan[(*before, (key, action))]]), 0.0) for action in actions}
            total = sum(weights.values())
            strategy[self.player, key] = {
                action: weight / total if total > 1e-12 else 1.0 / len(actions) for action, weight in weights.items()
            }
        return strategy


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
