"""Regrets of a sequence of profiles, measured from outside, and the M-values of the bounds on them.

Sources: Gibson 2014, sections 2.2 (external regret), 2.2.2 (counterfactual regret, M-values) and 5.1 (decomposition);
Gibson et al. 2012 (NIPS), sections 2 and 3.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable

from counterplay.game.game import CHANCE, TERMINAL, Game, State
from tests.reference.walks import Action, InfosetId, Profile, Table, expected_values, has_perfect_recall, infosets, walk


def external_regret(game: Game, profiles: list[Profile], player: int) -> float:
    """R_i^T = max over sigma'_i of sum over t of u_i(sigma'_i, sigma_{-i}^t) - u_i(sigma^t) (Gibson 2014, eq. 2.2).

    The sum, not divided by T.  With imperfect recall the maximum is over pure strategies, all of them tried.
    """
    best, _ = best_in_hindsight(game, profiles, player)
    return best - sum(expected_values(game, profile)[player] for profile in profiles)


def best_in_hindsight(game: Game, profiles: list[Profile], player: int) -> tuple[float, dict[Hashable, Action]]:
    """max over sigma'_i of sum over t of u_i(sigma'_i, sigma_{-i}^t), and the pure sigma*_i that attains it.

    Every history carries the vector of pi_{-i} at the T profiles, so this holds for any number of players: the
    product of the opponents' averages is never taken.
    """
    if not has_perfect_recall(game, player):
        return _best_of_all_pure(game, profiles, player)

    members: dict[Hashable, list[tuple[list[float], State]]] = {}

    def collect(state: State, weights: list[float]) -> None:
        if state.player == player:
            members.setdefault(state.infoset(), []).append((weights, state))
            for action in state.actions():
                collect(state.child(action), weights)
        else:
            for move, shares in _moves_of_others(state, profiles):
                collect(state.child(move), _product(weights, shares))

    chosen: dict[Hashable, Action] = {}

    def choose(key: Hashable) -> Action:
        if key not in chosen:
            totals = {
                action: sum(value(state.child(action), weights) for weights, state in members[key])
                for action in members[key][0][1].actions()
            }
            chosen[key] = max(totals, key=lambda action: totals[action])  # the first of equals
        return chosen[key]

    def value(state: State, weights: list[float]) -> float:
        """The sum over t, with the weights pi_{-i} of each t multiplied in."""
        if state.player == TERMINAL:
            return sum(weights) * state.utilities()[player]
        if state.player == player:
            return value(state.child(choose(state.infoset())), weights)
        return sum(
            value(state.child(move), _product(weights, shares)) for move, shares in _moves_of_others(state, profiles)
        )

    collect(game.root(), [1.0] * len(profiles))
    best = value(game.root(), [1.0] * len(profiles))
    for key in members:
        choose(key)
    return best, chosen


def _moves_of_others(state: State, profiles: list[Profile]) -> list[tuple[Action, list[float]]]:
    """The moves of chance or an opponent, each with its probability at every one of the T profiles."""
    if state.player == TERMINAL:
        return []
    if state.player == CHANCE:
        return [(outcome, [probability] * len(profiles)) for outcome, probability in state.chance()]
    infoset = (state.player, state.infoset())
    return [(action, [profile[infoset][action] for profile in profiles]) for action in state.actions()]


def _product(left: list[float], right: list[float]) -> list[float]:
    return [x * y for x, y in zip(left, right, strict=True)]


def _best_of_all_pure(game: Game, profiles: list[Profile], player: int) -> tuple[float, dict[Hashable, Action]]:
    sets = {key: actions for (owner, key), actions in infosets(game).items() if owner == player}
    best_value = float("-inf")
    best_strategy: dict[Hashable, Action] = {}
    for choices in itertools.product(*sets.values()):
        strategy = dict(zip(sets, choices, strict=True))
        pure = {(player, key): {a: float(a == strategy[key]) for a in actions} for key, actions in sets.items()}
        total = sum(expected_values(game, profile | pure)[player] for profile in profiles)
        if total > best_value:
            best_value, best_strategy = total, strategy
    return best_value, best_strategy


def counterfactual_regrets(game: Game, profiles: list[Profile]) -> Table:
    """R_i^T(I,a) = sum over t of v_i(I, sigma^t with I->a) - v_i(I, sigma^t) (Gibson 2014, section 2.2.2).

    Straight from the definition v_i(I, sigma) = sum over z in Z_I of u_i(z) pi_{-i}(z[I]) pi(z[I], z).  An information
    set that is met twice on one path counts at each meeting with the strategy unchanged at the other.
    """
    regrets: Table = {infoset: dict.fromkeys(actions, 0.0) for infoset, actions in infosets(game).items()}
    for profile in profiles:
        for visit in walk(game, profile):
            if visit.state.player >= 0:
                mover = visit.state.player
                weight = visit.reach_of_others(mover)
                strategy = profile[visit.infoset]
                values = {a: _utility_from(visit.state.child(a), profile, mover) for a in strategy}
                mean = sum(strategy[action] * values[action] for action in strategy)
                for action in strategy:
                    regrets[visit.infoset][action] += weight * (values[action] - mean)
    return regrets


def _utility_from(state: State, profile: Profile, player: int) -> float:
    """sum over z of pi(h, z) u_i(z)."""
    if state.player == TERMINAL:
        return state.utilities()[player]
    moves = state.chance() if state.player == CHANCE else profile[state.player, state.infoset()].items()
    return sum(probability * _utility_from(state.child(move), profile, player) for move, probability in moves)


def decomposed_regret(game: Game, profiles: list[Profile], player: int) -> float:
    """sum over I of pi_i^{sigma*}(I) R_i^T(I, sigma*_i): with perfect recall it is R_i^T (Gibson 2014, theorem 5.1)."""
    _, chosen = best_in_hindsight(game, profiles, player)
    regrets = counterfactual_regrets(game, profiles)
    reached: dict[InfosetId, None] = {}
    for visit in walk(game):
        if visit.state.player == player and all(chosen[key] == action for key, action in visit.past[player]):
            reached[visit.infoset] = None
    return sum(regrets[infoset][chosen[infoset[1]]] for infoset in reached)


def action_partition(
    game: Game, player: int, profile: Profile | None = None
) -> dict[tuple[Action, ...], dict[Hashable, float]]:
    """The partition B_i of the player's information sets by the actions taken before, with pi_i(I) of each set.

    Gibson et al. 2012 (NIPS), section 2.  Actions are told apart by their names only.
    """
    parts: dict[tuple[Action, ...], dict[Hashable, float]] = {}
    for visit in walk(game, profile):
        if visit.state.player == player:
            labels = tuple(action for _, action in visit.past[player])
            parts.setdefault(labels, {})[visit.state.infoset()] = visit.reach[player]
    return parts


def m_value(game: Game, player: int, profile: Profile | None = None) -> float:
    """M_i = sum over B of sqrt|B|; with a profile M_i(sigma_i) = sum over B of max over I in B of pi_i(I) sqrt|B|.

    Gibson et al. 2012 (NIPS), sections 2 and 3; Gibson 2014, sections 2.2.2 and 5.1.
    """
    parts = action_partition(game, player, profile).values()
    return sum(max(part.values()) * math.sqrt(len(part)) for part in parts)
