"""Plain walks over a game: histories, information sets, reach probabilities and expected values.

Notation of Gibson 2014, chapter 2.  A profile is a dict from (player, information set key) to {action: probability};
players are numbered from 0.  Nothing here is fast and nothing is shared with the library.
"""

from __future__ import annotations

import dataclasses
import functools
import random
from collections.abc import Hashable, Iterator
from typing import TypeAlias

from counterplay.game.game import CHANCE, TERMINAL, Game, State

Action: TypeAlias = Hashable
InfosetId: TypeAlias = tuple[int, Hashable]
Table: TypeAlias = dict[InfosetId, dict[Action, float]]
Profile: TypeAlias = dict[InfosetId, dict[Action, float]]
Sequence: TypeAlias = tuple[tuple[Hashable, Action], ...]


@dataclasses.dataclass(frozen=True)
class Visit:
    """One history h with its reach probabilities, factored by player (Gibson 2014, section 2.1).

    ``reach[i]`` is pi_i(h), ``chance`` is pi_c(h) and ``past[i]`` is X_i(h), the pairs of an information set and the
    action taken there, in their order.
    """

    state: State
    chance: float
    reach: tuple[float, ...]
    past: tuple[Sequence, ...]

    @property
    def infoset(self) -> InfosetId:
        """(player, key) of a decision."""
        return self.state.player, self.state.infoset()

    def reach_of_others(self, player: int) -> float:
        """pi_{-i}(h): everybody's reach but the player's own, chance included."""
        product = self.chance
        for other, probability in enumerate(self.reach):
            if other != player:
                product *= probability
        return product


def walk(game: Game, profile: Profile | None = None) -> Iterator[Visit]:
    """Every history, depth first, a history before those that follow it; without a profile players' reaches are 1."""

    def below(visit: Visit) -> Iterator[Visit]:
        yield visit
        state = visit.state
        if state.player == CHANCE:
            for outcome, probability in state.chance():
                yield from below(Visit(state.child(outcome), visit.chance * probability, visit.reach, visit.past))
        elif state.player != TERMINAL:
            mover, key = visit.infoset
            for action in state.actions():
                probability = 1.0 if profile is None else profile[mover, key][action]
                reach = tuple(r * probability if i == mover else r for i, r in enumerate(visit.reach))
                past = tuple((*x, (key, action)) if i == mover else x for i, x in enumerate(visit.past))
                yield from below(Visit(state.child(action), visit.chance, reach, past))

    yield from below(Visit(game.root(), 1.0, (1.0,) * game.players, ((),) * game.players))


def histories(game: Game) -> dict[str, int]:
    """How many histories there are: all of them, and by kind."""
    counts = {"all": 0, "terminal": 0, "chance": 0, "decision": 0}
    for visit in walk(game):
        kind = {TERMINAL: "terminal", CHANCE: "chance"}.get(visit.state.player, "decision")
        counts[kind] += 1
        counts["all"] += 1
    return counts


def infosets(game: Game) -> dict[InfosetId, tuple[Action, ...]]:
    """The actions of every information set, in the order of the first visit.

    Games that are equal if their parameters are, as those of the registry, are walked once.
    """
    return dict((_known_infosets if "__eq__" in vars(type(game)) else _infosets)(game))


def _infosets(game: Game) -> dict[InfosetId, tuple[Action, ...]]:
    found: dict[InfosetId, tuple[Action, ...]] = {}
    for visit in walk(game):
        if visit.state.player >= 0:
            actions = tuple(visit.state.actions())
            if found.setdefault(visit.infoset, actions) != actions:
                raise ValueError(f"information set {visit.infoset} has actions {found[visit.infoset]} and {actions}")
    return found


_known_infosets = functools.lru_cache(100)(_infosets)


def has_perfect_recall(game: Game, player: int) -> bool:
    """Whether X_i(h) is the same at all histories of each information set (Gibson 2014, definition 2.3)."""
    pasts: dict[Hashable, Sequence] = {}
    for visit in walk(game):
        if visit.state.player == player and pasts.setdefault(visit.infoset, visit.past[player]) != visit.past[player]:
            return False
    return True


def uniform_profile(game: Game) -> Profile:
    """All actions of an information set alike."""
    return {infoset: {action: 1.0 / len(actions) for action in actions} for infoset, actions in infosets(game).items()}


def random_profile(game: Game, seed: int) -> Profile:
    """Independent draws, uniform over the distributions at each information set."""
    generator = random.Random(seed)
    profile: Profile = {}
    for infoset, actions in infosets(game).items():
        draws = [generator.expovariate(1.0) for _ in actions]
        profile[infoset] = {action: draw / sum(draws) for action, draw in zip(actions, draws, strict=True)}
    return profile


def pure_profile(game: Game, choices: dict[InfosetId, Action]) -> Profile:
    """The chosen action with probability 1; the first action where nothing is chosen."""
    profile: Profile = {}
    for infoset, actions in infosets(game).items():
        chosen = choices.get(infoset, actions[0])
        profile[infoset] = {action: float(action == chosen) for action in actions}
    return profile


def expected_values(game: Game, profile: Profile) -> list[float]:
    """u_i(sigma) = sum over terminal z of pi(z) u_i(z), for every player i (Gibson 2014, section 2.1)."""
    totals = [0.0] * game.players
    for visit in walk(game, profile):
        if visit.state.player == TERMINAL:
            probability = visit.reach_of_others(player=-1)
            for player, utility in enumerate(visit.state.utilities()):
                totals[player] += probability * utility
    return totals


def own_reaches(game: Game, profile: Profile) -> dict[InfosetId, float]:
    """pi_i(I), the mover's own reach; with imperfect recall its mean over the histories of I."""
    reaches: dict[InfosetId, list[float]] = {}
    for visit in walk(game, profile):
        if visit.state.player >= 0:
            reaches.setdefault(visit.infoset, []).append(visit.reach[visit.state.player])
    return {infoset: sum(values) / len(values) for infoset, values in reaches.items()}


def counterfactual_reaches(game: Game, profile: Profile) -> dict[InfosetId, float]:
    """pi_{-i}(I) = sum over h in I of pi_{-i}(h), maybe above 1 with imperfect recall (Gibson 2014, section 2.2.2)."""
    reaches: dict[InfosetId, float] = {}
    for visit in walk(game, profile):
        if visit.state.player >= 0:
            share = visit.reach_of_others(visit.state.player)
            reaches[visit.infoset] = reaches.get(visit.infoset, 0.0) + share
    return reaches


def utility_range(game: Game, player: int) -> float:
    """Delta_i = max u_i - min u_i over terminal histories (Gibson 2014, section 2.1)."""
    utilities = [visit.state.utilities()[player] for visit in walk(game) if visit.state.player == TERMINAL]
    return max(utilities) - min(utilities)
