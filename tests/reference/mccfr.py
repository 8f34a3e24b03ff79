"""Monte Carlo CFR in plain Python: recursion and dicts, as the algorithms are printed.

Gibson 2014, algorithms 2 to 5 and sections 2.2.3, 5.3, 5.4 and appendix C.4.  Every random choice goes through a
``Chooser``: with ``Stream`` a walk makes the same choices as the kernels do from the same seed, with ``Script`` all
samples are enumerated, each with its probability, and expectations are exact.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Protocol

import numpy as np

from counterplay.game.game import CHANCE, TERMINAL, Game, State
from tests.reference.walks import Action, InfosetId, Profile, Table, infosets

MASK = (1 << 64) - 1


class Chooser(Protocol):
    """Where random choices come from."""

    def among(self, count: int) -> int:
        """One of so many, all alike."""

    def weighted(self, weights: list[float]) -> int:
        """One in proportion to its weight; all alike where no weight is positive."""

    def mixed(self, chances: list[float]) -> int:
        """One by its probability."""

    def coin(self, chance: float) -> bool:
        """True with this probability."""

    def dice(self) -> Callable[[int, int], int]:
        """Outcomes of chance by (number of events before on the line, number of outcomes), fixed for a walk."""


class Stream:
    """SplitMix64 (Steele, Lea and Flood 2014), seeded as the solver seeds its first thread."""

    def __init__(self, seed: int) -> None:
        self.state = int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])

    def uniform(self) -> float:
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        word = self.state
        word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & MASK
        word ^= word >> 31
        return (word >> 11) * 2.0**-53

    def among(self, count: int) -> int:
        return int(self.uniform() * count)

    def weighted(self, weights: list[float]) -> int:
        total = sum(max(0.0, weight) for weight in weights)
        dart = self.uniform()
        if total <= 0.0:
            return int(dart * len(weights))
        left, pick = dart * total, 0
        for place, weight in enumerate(weights):
            if weight > 0.0 and left >= 0.0:
                pick, left = place, left - weight
        return pick

    def mixed(self, chances: list[float]) -> int:
        dart = self.uniform()
        for place, chance in enumerate(chances):
            dart -= chance
            if dart < 0.0:
                return place
        return len(chances) - 1

    def coin(self, chance: float) -> bool:
        return self.uniform() < chance

    def dice(self) -> Callable[[int, int], int]:
        rolled: list[float] = []

        def roll(level: int, count: int) -> int:
            if level == len(rolled):
                rolled.append(self.uniform())
            return int(rolled[level] * count)

        return roll


class Script:
    """Choices written down beforehand, and what else could have been chosen: for going through all samples."""

    def __init__(self, written: list[int]) -> None:
        self.written = written
        self.chances: list[list[float]] = []
        self.made: list[int] = []
        self.probability = 1.0

    def mixed(self, chances: list[float]) -> int:
        place = len(self.made)
        choice = self.written[place] if place < len(self.written) else next(k for k, c in enumerate(chances) if c > 0)
        self.chances.append(chances)
        self.made.append(choice)
        self.probability *= chances[choice]
        return choice

    def among(self, count: int) -> int:
        return self.mixed([1.0 / count] * count)

    def weighted(self, weights: list[float]) -> int:
        positive = [max(0.0, weight) for weight in weights]
        total = sum(positive)
        return self.mixed([weight / total for weight in positive]) if total > 0.0 else self.among(len(weights))

    def coin(self, chance: float) -> bool:
        return self.mixed([1.0 - chance, chance]) == 1

    def dice(self) -> Callable[[int, int], int]:
        rolled: dict[tuple[int, int], int] = {}

        def roll(level: int, count: int) -> int:
            if (level, count) not in rolled:
                rolled[level, count] = self.among(count)
            return rolled[level, count]

        return roll

    def following(self) -> list[int] | None:
        """The next script in the order of a dictionary; None after the last."""
        for place in reversed(range(len(self.made))):
            for choice in range(self.made[place] + 1, len(self.chances[place])):
                if self.chances[place][choice] > 0.0:
                    return [*self.made[:place], choice]
        return None


def all_samples(run: Callable[[Script], None]) -> Iterator[float]:
    """Run once for every possible sample; yields the probability of each after its run."""
    written: list[int] | None = []
    while written is not None:
        script = Script(written)
        run(script)
        yield script.probability
        written = script.following()


@dataclasses.dataclass
class Mccfr:
    """One solver of the family; the settings are those of ``MccfrConfig``.

    ``scheme`` gives the sampling probabilities of each information set.
    """

    game: Game
    sampling: str
    chooser: Chooser
    epsilon: float = 0.05
    tau: float = 1000.0
    beta: float = 1e6
    exploration: float = 0.5
    scheme: Callable[[int, str, tuple[str, ...]], list[float]] | None = None
    probes: int = 1
    probe_share: float = 1.0
    probe_exploration: float = 0.0
    prune: bool = True
    average_walks: float = 0.001
    regret_floor: bool = False
    linear_average: bool = False
    nodes: int = 0
    iteration: int = 0

    def __post_init__(self) -> None:
        zero: float = 0 if self.sampling == "pure" else 0.0
        self.sets = infosets(self.game)
        self.regret: Table = {name: dict.fromkeys(actions, zero) for name, actions in self.sets.items()}
        self.average: Table = {name: dict.fromkeys(actions, zero) for name, actions in self.sets.items()}
        self.learning = True
        self.gains: Table = {}
        self.values: Table = {}

    def iterate(self, iterations: int) -> None:
        """Do some iterations."""
        for _ in range(iterations):
            self.iteration += 1
            for player in range(self.game.players):
                self.traverse(player)
            extra = self.game.players != 2 and self.sampling != "chance"
            if extra and (self.average_walks >= 1.0 or self.chooser.coin(self.average_walks)):
                for player in range(self.game.players):
                    self._average_walk(self.game.root(), player)

    def estimate(self, player: int, profile: Profile) -> None:
        """One walk that only fills ``gains`` and ``values``, with strategies from a profile."""
        self.learning = False
        self.regret = profile
        self.gains = {name: dict.fromkeys(actions, 0.0) for name, actions in self.sets.items()}
        self.values = {name: dict.fromkeys(actions, 0.0) for name, actions in self.sets.items()}
        self.traverse(player)

    def traverse(self, player: int) -> None:
        """One walk."""
        root = self.game.root()
        if self.sampling == "chance":
            steps: Table = {}
            self._chance_walk(root, player, 1.0, 1.0, 0, self.chooser.dice(), steps)
            for name, step in steps.items():
                self._gain(name, step)
        elif self.sampling == "pure":
            self._pure_walk(root, player)
        else:
            self._walk(root, player, 1.0)

    def _weights(self, state: State) -> list[float]:
        row = self.regret[state.player, state.infoset()]
        return [row[action] for action in state.actions()]

    def _strategy(self, state: State, exact: bool = True) -> list[float]:
        """Regret matching; ``exact`` divides, otherwise 1/total is multiplied, as the kernels do to be fast."""
        positive = [max(0.0, float(weight)) for weight in self._weights(state)]
        total = sum(positive)
        if total <= 0.0:
            return [1.0 / len(positive)] * len(positive)
        return [weight / total if exact else weight * (1.0 / total) for weight in positive]

    def _time(self) -> float:
        return float(self.iteration) if self.linear_average else 1.0

    def _gain(self, name: InfosetId, step: dict[Action, float]) -> None:
        for action, gain in step.items():
            if self.learning:
                new = self.regret[name][action] + gain
                self.regret[name][action] = 0 * new if self.regret_floor and new < 0 else new
            else:
                self.gains[name][action] += gain

    def _note(self, name: InfosetId, values: dict[Action, float]) -> None:
        if not self.learning:
            for action, value in values.items():
                self.values[name][action] += value

    def _draw(self, state: State) -> State:
        """The state after a chance event; only events whose outcomes are all alike."""
        outcomes = state.chance()
        if max(p for _, p in outcomes) - min(p for _, p in outcomes) > 1e-12:
            raise ValueError("the twin draws outcomes that are all alike")
        return state.child(outcomes[self.chooser.among(len(outcomes))][0])

    def _walk(self, state: State, player: int, own: float) -> float:
        """External, outcome and average strategy sampling, schemes and probing; ``own`` is q_i(h)."""
        self.nodes += 1
        if state.player == TERMINAL:
            utility = state.utilities()[player]
            return utility if self.sampling == "probing" else utility / own
        if state.player == CHANCE:
            return self._walk(self._draw(state), player, own)
        name, actions = (state.player, state.infoset()), list(state.actions())
        strategy = self._strategy(state, exact=False)
        if state.player != player:
            if self.game.players == 2 and self.learning:
                for action, chance in zip(actions, strategy, strict=True):
                    self.average[name][action] += self._time() / own * chance
            return self._walk(state.child(actions[self.chooser.weighted(self._weights(state))]), player, own)
        chances = self._chances(name, actions, strategy)
        values: dict[Action, float] = {}
        for action, chance in zip(actions, chances, strict=True):
            if chance >= 1.0 or (chance > 0.0 and (self.sampling == "outcome" or self.chooser.coin(chance))):
                values[action] = self._walk(state.child(action), player, own * min(1.0, chance))
            else:
                values[action] = self._probes(state.child(action), player) if self.sampling == "probing" else 0.0
        value = 0.0
        for action, chance in zip(actions, strategy, strict=True):
            value += chance * values[action]
        divisor = own if self.sampling == "probing" else 1.0
        self._gain(name, {action: (values[action] - value) / divisor for action in actions})
        self._note(name, {action: values[action] / divisor for action in actions})
        return value

    def _chances(self, name: InfosetId, actions: list[Action], strategy: list[float]) -> list[float]:
        """With which probability each own action is walked; of outcome sampling, 0 for all but the one drawn."""
        if self.sampling == "external":
            return [1.0] * len(actions)
        if self.sampling == "outcome":
            mixed = [self.exploration / len(actions) + (1.0 - self.exploration) * chance for chance in strategy]
            drawn = self.chooser.mixed(mixed)
            return [chance if place == drawn else 0.0 for place, chance in enumerate(mixed)]
        if self.sampling == "average-strategy":
            sums = self.average[name]
            total = sum(sums.values())
            if self.beta + total == 0.0:
                return [1.0] * len(actions)
            return [max(self.epsilon, (self.beta + self.tau * sums[a]) / (self.beta + total)) for a in actions]
        assert self.scheme is not None
        return list(self.scheme(name[0], str(name[1]), tuple(str(action) for action in actions)))

    def _probes(self, state: State, player: int) -> float:
        """The mean of K roll-outs, each made with some probability (appendix C.4)."""
        total = 0.0
        for _ in range(self.probes):
            if self.probe_share >= 1.0 or self.chooser.coin(self.probe_share):
                total += self._probe(state, player)
        return total / (self.probes * self.probe_share)

    def _probe(self, state: State, player: int) -> float:
        ratio = 1.0
        while True:
            self.nodes += 1
            if state.player == TERMINAL:
                return ratio * state.utilities()[player]
            if state.player == CHANCE:
                state = self._draw(state)
                continue
            actions, explore = list(state.actions()), self.probe_exploration
            if state.player == player and explore > 0.0:
                any_action = self.chooser.coin(explore)
                pick = self.chooser.among(len(actions)) if any_action else self.chooser.weighted(self._weights(state))
                chance = self._strategy(state)[pick]
                ratio *= chance / (explore / len(actions) + (1.0 - explore) * chance)
            else:
                pick = self.chooser.weighted(self._weights(state))
            state = state.child(actions[pick])

    def _pure_walk(self, state: State, player: int) -> float:
        self.nodes += 1
        if state.player == TERMINAL:
            utility = state.utilities()[player]
            return int(utility) if utility == int(utility) else utility
        if state.player == CHANCE:
            return self._pure_walk(self._draw(state), player)
        name, actions = (state.player, state.infoset()), list(state.actions())
        drawn = actions[self.chooser.weighted(self._weights(state))]
        if state.player != player:
            if self.game.players == 2 and self.learning:
                self.average[name][drawn] += 1
            return self._pure_walk(state.child(drawn), player)
        values = {action: self._pure_walk(state.child(action), player) for action in actions}
        self._gain(name, {action: values[action] - values[drawn] for action in actions})
        self._note(name, values)
        return values[drawn]

    def _chance_walk(
        self,
        state: State,
        player: int,
        own: float,
        others: float,
        level: int,
        roll: Callable[[int, int], int],
        steps: Table,
    ) -> float:
        """Chance sampling; the level-th event of every line is drawn with the same number."""
        self.nodes += 1
        if state.player == TERMINAL:
            return state.utilities()[player]
        if state.player == CHANCE:
            outcomes = state.chance()
            outcome = outcomes[roll(level, len(outcomes))][0]
            return self._chance_walk(state.child(outcome), player, own, others, level + 1, roll, steps)
        name, actions = (state.player, state.infoset()), list(state.actions())
        strategy = self._strategy(state)
        mine = state.player == player
        values: dict[Action, float] = {}
        value = 0.0
        for action, chance in zip(actions, strategy, strict=True):
            own_after, others_after = (own * chance, others) if mine else (own, others * chance)
            values[action] = 0.0
            if not self.prune or others_after > 0.0 or (self.learning and own_after > 0.0):
                after = state.child(action)
                values[action] = self._chance_walk(after, player, own_after, others_after, level, roll, steps)
        for action, chance in zip(actions, strategy, strict=True):
            value += chance * values[action]
        if mine:
            step = steps.setdefault(name, dict.fromkeys(actions, 0.0))
            for action, chance in zip(actions, strategy, strict=True):
                step[action] += others * (values[action] - value)
                if self.learning:
                    self.average[name][action] += self._time() * (own * chance)
            self._note(name, {action: others * values[action] for action in actions})
        return value

    def _average_walk(self, state: State, player: int) -> None:
        """The walk for the average that more than two players need (algorithm 2)."""
        self.nodes += 1
        if state.player == TERMINAL:
            return
        if state.player == CHANCE:
            self._average_walk(self._draw(state), player)
            return
        name, actions = (state.player, state.infoset()), list(state.actions())
        if state.player != player:
            for action in actions:
                self._average_walk(state.child(action), player)
            return
        pick = actions[self.chooser.weighted(self._weights(state))]
        if self.sampling == "pure":
            self.average[name][pick] += 1
        else:
            for action, chance in zip(actions, self._strategy(state), strict=True):
                self.average[name][action] += self._time() * chance
        self._average_walk(state.child(pick), player)


def counterfactual_values(game: Game, profile: Profile, player: int) -> Table:
    """v_i(I, a): the sum over h in I of pi_{-i}(h) times the expected utility after a (Gibson 2014, section 2.2.2)."""
    found: Table = {}

    def below(state: State, others: float) -> float:
        if state.player == TERMINAL:
            return state.utilities()[player]
        if state.player == CHANCE:
            return sum(chance * below(state.child(outcome), others * chance) for outcome, chance in state.chance())
        name = (state.player, state.infoset())
        row = profile[name]
        if state.player != player:
            return sum(row[action] * below(state.child(action), others * row[action]) for action in state.actions())
        values = {action: below(state.child(action), others) for action in state.actions()}
        sums = found.setdefault(name, dict.fromkeys(values, 0.0))
        for action, value in values.items():
            sums[action] += others * value
        return sum(row[action] * value for action, value in values.items())

    below(game.root(), 1.0)
    return found
