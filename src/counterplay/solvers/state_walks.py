"""The walks of Monte Carlo CFR over ``State`` objects: what ``kernels/history/mccfr.py`` and
``kernels/history/pure_cfr.py`` do on arrays, with the same random numbers in the same order and the same sums.

Gibson 2014, algorithms 2 to 5, section 5.4.2 for outcome sampling, appendix C.4 for probes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from counterplay.errors import GameError, SolverError
from counterplay.game.game import CHANCE, TERMINAL

if TYPE_CHECKING:
    from counterplay.solvers.state_mccfr import StateSampler

TYPECODES = {"float64": "d", "float32": "f", "int32": "i", "int64": "q"}
"""Types of tables as the module ``array`` calls them."""

MASK = (1 << 64) - 1
GOLDEN, MIX_1, MIX_2 = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
UNIT = 1.0 / 9007199254740992.0

MAX_DEPTH = 10_000
"""Longest history allowed; a longer one means a game that never ends."""

MAX_UTILITY = 1e100


def positive_total(regrets: Sequence[float]) -> float:
    """The sum of positive regrets, as ``kernels.regret`` adds them up; tables are Python's own arrays here."""
    total = 0.0
    for regret in regrets:
        if regret > 0:
            total += regret
    return total


class Walker:
    """Walks that update the tables of a ``StateSampler``."""

    def __init__(self, solver: StateSampler) -> None:
        config = solver.config
        self.solver = solver
        self.config = config
        self.players = solver.game.players
        self.pure = config.sampling == "pure"
        self.averaging = config.keeps_average and self.players == 2
        self.extra = config.average_walks if self.players != 2 and config.keeps_average else 0.0
        self.limit = 2**31 - 1 if config.storage == "int32" else 2**63 - 1
        self.units = config.units or 1
        self.largest = 0.0  # utility so far, without its sign
        self.time = 1.0
        self.touched = 0

    def iterate(self) -> None:
        """One iteration: a walk for each player in turn, and now and then walks for the average alone."""
        solver, config = self.solver, self.config
        self.time = float(solver.counters[0] + 1) if config.linear_average else 1.0
        self.touched = 0
        for player in range(self.players):
            if self.pure:
                self.walk_pure(solver.game.root(), player, 0)
            else:
                self.walk(solver.game.root(), player, 1.0, 0)
        if self.extra > 0.0 and (self.extra >= 1.0 or self.draw() < self.extra):
            for player in range(self.players):
                self.walk_average(player)
        solver.counters[0] += 1
        solver.counters[1] += self.touched
        if config.overflow == "error" and solver.counters[2]:
            raise SolverError(f"regrets of {solver.algorithm} left the type {config.storage}; use storage int64")

    def draw(self) -> float:
        """A random number, uniform on [0, 1): SplitMix64 (Steele, Lea and Flood 2014)."""
        word = self.solver.random = (self.solver.random + GOLDEN) & MASK
        word = ((word ^ (word >> 30)) * MIX_1) & MASK
        word = ((word ^ (word >> 27)) * MIX_2) & MASK
        return ((word ^ (word >> 31)) >> 11) * UNIT

    def after_chance(self, state: Any) -> Any:
        """The state after an outcome of chance, drawn by the alias method."""
        pairs = state.chance()
        threshold, alias = self.solver.event(tuple([float(chance) for _, chance in pairs]))
        place = self.draw() * len(pairs)
        column = int(place)
        if place - column >= threshold[column]:
            column = alias[column]
        return state.child(pairs[column][0])

    def matched(self, index: int, count: int) -> int:
        """An action drawn in proportion to positive regret."""
        regrets = self.solver.regret[index : index + count]
        total = positive_total(regrets)
        uniform = self.draw()
        if total <= 0.0:
            return int(uniform * count)
        left = uniform * total
        pick = 0
        for action, regret in enumerate(regrets):
            if regret > 0 and left >= 0.0:
                pick = action
                left -= regret
        return pick

    def utility(self, state: Any, player: int) -> float:
        """What a player has won."""
        won = float(state.utilities()[player])
        if not -MAX_UTILITY <= won <= MAX_UTILITY:
            raise GameError(f"{self.solver.name}: utilities must be finite and at most {MAX_UTILITY:g}; got {won}")
        return won

    def deeper(self, depth: int) -> int:
        """One move more, if the game still seems to end."""
        if depth >= MAX_DEPTH:
            raise GameError(f"{self.solver.name}: a history has more than {MAX_DEPTH:,} moves; look for a cycle")
        return depth + 1

    def walk(self, state: Any, player: int, own: float, depth: int) -> float:
        """One walk from a state on: learns at the traverser's information sets and returns the sampled value."""
        solver = self.solver
        while True:
            self.touched += 1
            depth = self.deeper(depth)
            who = state.player
            if who == TERMINAL:
                value = self.utility(state, player)
                return value / own if own != 1.0 and self.config.sampling != "probing" else value
            if who == CHANCE:
                state = self.after_chance(state)
                continue
            actions = state.actions()
            index = solver.row(who, state.infoset(), actions)
            if who == player:
                return self.decide(state, actions, index, player, own, depth)
            state = state.child(actions[self.others_move(index, len(actions), own)])

    def others_move(self, index: int, count: int, own: float) -> int:
        """The action of another player, and that player's strategy added to the average."""
        regrets = self.solver.regret[index : index + count]
        average = self.solver.average
        total = positive_total(regrets)
        share = self.time if own == 1.0 else self.time / own
        uniform = self.draw()
        if total > 0.0:
            scale = 1.0 / total
            left = uniform * total
            pick = 0
            for action, positive in enumerate(regrets):
                if positive > 0.0:
                    if self.averaging:
                        average[index + action] += share * (positive * scale)
                    if left >= 0.0:
                        pick = action
                        left -= positive
            return pick
        if self.averaging:
            for action in range(count):
                average[index + action] += share * (1.0 / count)
        return int(uniform * count)

    def decide(self, state: Any, actions: Any, index: int, player: int, own: float, depth: int) -> float:
        """Walk some of the traverser's actions and add their regrets."""
        config, regret = self.config, self.solver.regret
        kind = config.sampling
        count = len(actions)
        total = positive_total(regret[index : index + count])
        scale = 1.0 / total if total > 0.0 else 0.0
        strategy = [max(0.0, old) * scale if total > 0.0 else 1.0 / count for old in regret[index : index + count]]
        if kind == "external":
            values = [self.walk(state.child(action), player, own, depth) for action in actions]
        else:
            values = self.some_actions(state, actions, index, player, own, depth, strategy)
        value = 0.0
        for action in range(count):
            value += strategy[action] * values[action]
        divisor = own if kind == "probing" else 1.0
        for action in range(count):
            gain = values[action] - value
            if divisor != 1.0:
                gain /= divisor
            new = regret[index + action] + gain
            regret[index + action] = 0.0 if config.regret_floor and new < 0.0 else new
        return value

    def some_actions(
        self, state: Any, actions: Any, index: int, player: int, own: float, depth: int, strategy: list[float]
    ) -> list[float]:
        """Values of the traverser's actions where not all are walked."""
        kind, count = self.config.sampling, len(actions)
        values = [0.0] * count
        if kind == "outcome":
            ratio = self.config.exploration
            pick = self.explore(strategy, ratio)
            chance = ratio / count + (1.0 - ratio) * strategy[pick]
            values[pick] = self.walk(state.child(actions[pick]), player, own * min(1.0, chance), depth)
            return values
        known = 0.0
        if kind == "average-strategy":
            for share in self.solver.average[index : index + count]:
                known += share
        for action in range(count):
            entry = index + action
            chance = self.walk_chance(entry, known) if kind == "average-strategy" else self.solver.chances[entry]
            if chance >= 1.0 or self.draw() < chance:
                values[action] = self.walk(state.child(actions[action]), player, own * min(1.0, chance), depth)
            elif kind == "probing":
                values[action] = self.probe(state.child(actions[action]), player, depth)
        return values

    def explore(self, strategy: list[float], ratio: float) -> int:
        """The action that outcome sampling takes: any with probability ε', else one of the strategy."""
        uniform = self.draw()
        for action, chance in enumerate(strategy):
            uniform -= ratio / len(strategy) + (1.0 - ratio) * chance
            if uniform < 0.0:
                return action
        return len(strategy) - 1

    def walk_chance(self, entry: int, known: float) -> float:
        """With which probability average strategy sampling walks an action."""
        config = self.config
        if config.beta + known == 0.0 or config.beta == float("inf"):
            return 1.0
        share = float(self.solver.average[entry])
        return max(config.epsilon, (config.beta + config.tau * share) / (config.beta + known))

    def probe(self, start: Any, player: int, depth: int) -> float:
        """An estimate of the value after an action from roll-outs."""
        config = self.config
        total = 0.0
        for _ in range(config.probes):
            if config.probe_share < 1.0 and self.draw() >= config.probe_share:
                continue
            state, ratio, down = start, 1.0, depth
            while True:
                self.touched += 1
                down = self.deeper(down)
                who = state.player
                if who == TERMINAL:
                    total += ratio * self.utility(state, player)
                    break
                if who == CHANCE:
                    state = self.after_chance(state)
                    continue
                actions = state.actions()
                index = self.solver.row(who, state.infoset(), actions)
                if who == player and config.probe_exploration > 0.0:
                    action, other = self.exploring_move(index, len(actions))
                    ratio *= other
                else:
                    action = self.matched(index, len(actions))
                state = state.child(actions[action])
        return total / (config.probes * config.probe_share)

    def exploring_move(self, index: int, count: int) -> tuple[int, float]:
        """An action of an exploring probe, and the strategy's probability of it over that of drawing it."""
        share = self.config.probe_exploration
        action = int(self.draw() * count) if self.draw() < share else self.matched(index, count)
        total = 0.0
        for old in self.solver.regret[index : index + count]:
            total += max(0.0, old)
        chance = max(0.0, self.solver.regret[index + action]) / total if total > 0.0 else 1.0 / count
        return action, chance / (share / count + (1.0 - share) * chance)

    def walk_average(self, player: int) -> None:
        """Add a player's strategy to the average in a walk of its own, which more than two players need."""
        solver = self.solver
        waiting = [(solver.game.root(), 0)]
        while waiting:
            state, depth = waiting.pop()
            self.touched += 1
            depth = self.deeper(depth)
            who = state.player
            if who == TERMINAL:
                continue
            if who == CHANCE:
                waiting.append((self.after_chance(state), depth))
                continue
            actions = state.actions()
            if who != player:
                waiting.extend((state.child(action), depth) for action in reversed(actions))
                continue
            count = len(actions)
            index = solver.row(who, state.infoset(), actions)
            pick = self.matched(index, count)
            if self.pure:
                self.count_action(index, count, pick)
            else:
                total = positive_total(solver.regret[index : index + count])
                for action in range(count):
                    positive = max(0.0, solver.regret[index + action])
                    solver.average[index + action] += self.time * (positive / total if total > 0.0 else 1.0 / count)
            waiting.append((state.child(actions[pick]), depth))

    def count_action(self, index: int, count: int, pick: int) -> None:
        """Count an action that was drawn; at the end of the integers all counts of the information set are halved."""
        average = self.solver.average
        if average[index + pick] >= self.limit:
            for action in range(count):
                average[index + action] //= 2
        average[index + pick] += 1

    def walk_pure(self, state: Any, player: int, depth: int) -> int:
        """One walk of Pure CFR from a state on, in units."""
        solver = self.solver
        while True:
            self.touched += 1
            depth = self.deeper(depth)
            who = state.player
            if who == TERMINAL:
                return self.in_units(self.utility(state, player))
            if who == CHANCE:
                state = self.after_chance(state)
                continue
            actions = state.actions()
            count = len(actions)
            index = solver.row(who, state.infoset(), actions)
            pick = self.matched(index, count)
            if who != player:
                if self.averaging:
                    self.count_action(index, count, pick)
                state = state.child(actions[pick])
                continue
            values = [self.walk_pure(state.child(action), player, depth) for action in actions]
            value = values[pick]
            for action in range(count):
                new = solver.regret[index + action] + values[action] - value
                if self.config.regret_floor and new < 0:
                    new = 0
                if abs(new) > self.limit:
                    new = self.limit if new > 0 else -self.limit
                    solver.counters[2] += 1
                solver.regret[index + action] = new
            return value

    def in_units(self, won: float) -> int:
        """A utility as an integer number of units; rounding is judged by the largest so far, as in a compiled game."""
        self.largest = max(self.largest, abs(won))
        units = won * self.units
        nearest = round(units)
        if self.config.units is None and abs(units - nearest) > 1e-9 * min(1.0, self.largest):
            some = max(1000, math.ceil(min(1e18, 1000 / self.largest)))
            raise SolverError(
                f"pure-cfr needs integer utilities, {self.solver.name} has {won:g}; "
                f"give units, such as units={some}, to round"
            )
        return nearest
