"""Maxmin values of small games without any of the package's arrays: leaves, pure strategies, and climbing.

A leaf has the own actions before it, the opponent's, the probability of chance, and what it pays.  The worst case of a
behavioural strategy is the least over all pure strategies of the opponent, listed; the best worst case is looked for
from several starts, so what is found is a lower bound of the maxmin value, and as a rule the value.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from counterplay.game.game import CHANCE, TERMINAL, Game

Choice = tuple[str, str]


class BruteForce:
    """A two-player zero-sum game with few pure strategies of the opponent."""

    def __init__(self, game: Game, player: int) -> None:
        self.player = player
        self.actions: list[dict[str, tuple[str, ...]]] = [{}, {}]
        self.leaves: list[tuple[float, list[list[Choice]]]] = []
        self._walk(game.root(), 1.0, [[], []])
        self.own, self.others = self.actions[player], self.actions[1 - player]
        self.entries = [(name, action) for name, row in self.own.items() for action in row]

    def _walk(self, state: Any, weight: float, paths: list[list[Choice]]) -> None:
        if state.player == TERMINAL:
            self.leaves.append((weight * float(state.utilities()[self.player]), [list(path) for path in paths]))
            return
        if state.player == CHANCE:
            for action, probability in state.chance():
                self._walk(state.child(action), weight * probability, paths)
            return
        name, labels = str(state.infoset()), tuple(map(str, state.actions()))
        self.actions[state.player][name] = labels
        for action, label in zip(state.actions(), labels, strict=True):
            longer = list(paths)
            longer[state.player] = [*paths[state.player], (name, label)]
            self._walk(state.child(action), weight, longer)

    @property
    def pure_strategies(self) -> int:
        """How many pure strategies the opponent has."""
        return int(np.prod([len(row) for row in self.others.values()]))

    def table(self) -> tuple[NDArray[np.float64], list[list[int]]]:
        """What each leaf pays against each pure strategy, and the own entries before each leaf."""
        names = list(self.others)
        rows = []
        for pure in itertools.product(*self.others.values()):
            plan = dict(zip(names, pure, strict=True))
            rows.append([
                pay if all(plan[name] == action for name, action in paths[1 - self.player]) else 0.0
                for pay, paths in self.leaves
            ])  # fmt: skip
        index = {entry: number for number, entry in enumerate(self.entries)}
        return np.array(rows), [[index[choice] for choice in paths[self.player]] for _, paths in self.leaves]

    def worst_case(self, strategy: Mapping[Choice, float]) -> float:
        """The least that a strategy gets, by pure strategies of the opponent."""
        table, before = self.table()
        b = np.array([strategy[entry] for entry in self.entries])
        return float((table @ np.array([b[entries].prod() for entries in before])).min())

    def climb(self, starts: int, seed: int = 0) -> float:
        """The best worst case found from the best pure strategy and some random ones."""
        table, before = self.table()
        table = np.unique(table, axis=0)
        sizes = [len(row) for row in self.own.values()]
        offsets = np.concatenate(([0], np.cumsum(sizes))).astype(int)
        used = np.zeros((len(before), len(self.entries)), bool)
        for leaf, entries in enumerate(before):
            used[leaf, entries] = True

        def values(b: NDArray[np.float64]) -> NDArray[np.float64]:
            return np.asarray(table @ np.where(used, b, 1.0).prod(axis=1))

        def slopes(b: NDArray[np.float64]) -> NDArray[np.float64]:
            factors = np.where(used, b, 1.0)
            rates = np.zeros_like(factors)
            for entry in range(len(b)):
                rest = factors.copy()
                rest[:, entry] = 1.0
                rates[:, entry] = np.where(used[:, entry], rest.prod(axis=1), 0.0)
            return np.asarray(table @ rates)

        draw = np.random.default_rng(seed)
        best, first = -np.inf, np.zeros(len(self.entries))
        for pure in itertools.islice(itertools.product(*map(range, sizes)), 512):
            b = np.zeros(len(self.entries))
            b[offsets[:-1] + np.array(pure, int)] = 1.0
            if values(b).min() > best:
                best, first = float(values(b).min()), b
        sums = np.zeros((len(sizes), len(self.entries) + 1))
        for row, (low, high) in enumerate(itertools.pairwise(offsets)):
            sums[row, low:high] = 1.0
        cost = np.append(np.zeros(len(self.entries)), -1.0)
        for start in range(starts):
            b = draw.exponential(size=len(self.entries))
            b = first * 0.9 + 0.1 / np.repeat(sizes, sizes) if start == 0 else b / np.repeat(
                np.add.reduceat(b, offsets[:-1]), sizes
            )  # fmt: skip
            found = minimize(
                lambda point: -point[-1], np.append(b, values(b).min()), jac=lambda point: cost, method="SLSQP",
                bounds=[(0.0, 1.0)] * len(b) + [(None, None)], options={"maxiter": 200, "ftol": 1e-12},
                constraints=[
                    {"type": "eq", "fun": lambda point: sums @ point - 1.0, "jac": lambda point: sums},
                    {"type": "ineq", "fun": lambda point: values(point[:-1]) - point[-1],
                     "jac": lambda point: np.hstack((slopes(point[:-1]), -np.ones((len(table), 1))))},
                ],
            )  # fmt: skip
            b = np.clip(found.x[:-1], 0.0, None)
            b /= np.maximum(np.repeat(np.add.reduceat(b, offsets[:-1]), sizes), 1e-300)
            best = max(best, float(values(b).min()))
        return best
