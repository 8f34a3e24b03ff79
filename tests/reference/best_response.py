"""Best responses: the recursion over information sets, and all pure strategies one after the other.

Sources: Gibson 2014, section 2.1.2; Johanson 2016, section 2.3; Cermak 2018, section 3.3 (recall and best response).
"""

from __future__ import annotations

from collections.abc import Hashable

from counterplay.game.game import CHANCE, TERMINAL, Game, State
from tests.reference.walks import Action, Profile, expected_values, has_perfect_recall, infosets, walk


def best_response(game: Game, profile: Profile, player: int) -> tuple[float, dict[Hashable, Action]]:
    """The best reply's value and its action at every information set of the player, who must have perfect recall.

    Of equally good actions the first wins.  Where the others never let the player go, that is the first action.
    """
    if not has_perfect_recall(game, player):
        raise ValueError(f"player {player} forgets; use brute_force_best_response")

    members: dict[Hashable, list[tuple[float, State]]] = {}
    for visit in walk(game, profile):
        if visit.state.player == player:
            members.setdefault(visit.state.infoset(), []).append((visit.reach_of_others(player), visit.state))

    chosen: dict[Hashable, Action] = {}

    def choose(key: Hashable) -> Action:
        """argmax over a of the sum over h in I of pi_{-i}(h) value(ha)."""
        if key not in chosen:
            best_action: Action = None
            best_value = float("-inf")
            for action in members[key][0][1].actions():
                total = sum(weight * value(state.child(action)) for weight, state in members[key] if weight > 0.0)
                if total > best_value:
                    best_action, best_value = action, total
            chosen[key] = best_action
        return chosen[key]

    def value(state: State) -> float:
        if state.player == TERMINAL:
            return state.utilities()[player]
        if state.player == player:
            return value(state.child(choose(state.infoset())))
        moves = state.chance() if state.player == CHANCE else profile[state.player, state.infoset()].items()
        return sum(probability * value(state.child(move)) for move, probability in moves if probability > 0.0)

    best = value(game.root())
    for key in members:
        choose(key)
    return best, chosen


def brute_force_best_response(game: Game, profile: Profile, player: int) -> tuple[float, dict[Hashable, Action]]:
    """The best pure strategy by trying all of them; any kind of recall, tiny games only.

    Only choices at sets that the player's own choices and the others allow are tried; the answer names just those.
    """
    actions = {key: choices for (owner, key), choices in infosets(game).items() if owner == player}

    def open_sets(state: State, chosen: dict[Hashable, Action]) -> list[Hashable]:
        """The sets that can be reached next and have no choice yet."""
        if state.player == TERMINAL:
            return []
        if state.player == player:
            key = state.infoset()
            return open_sets(state.child(chosen[key]), chosen) if key in chosen else [key]
        moves = state.chance() if state.player == CHANCE else profile[state.player, state.infoset()].items()
        return [key for move, share in moves if share > 0.0 for key in open_sets(state.child(move), chosen)]

    def strategies(chosen: dict[Hashable, Action]) -> list[dict[Hashable, Action]]:
        """All ways to complete these choices."""
        undecided = open_sets(game.root(), chosen)
        if not undecided:
            return [chosen]
        key = undecided[0]
        return [strategy for action in actions[key] for strategy in strategies({**chosen, key: action})]

    best_value = float("-inf")
    best_strategy: dict[Hashable, Action] = {}
    for strategy in strategies({}):
        deviation = dict(profile)
        for key, choices in actions.items():
            deviation[player, key] = {action: float(action == strategy.get(key, choices[0])) for action in choices}
        value = expected_values(game, deviation)[player]
        if value > best_value:
            best_value, best_strategy = value, strategy
    return best_value, best_strategy


def nash_gap(game: Game, profile: Profile) -> float:
    """The epsilon of the profile as an epsilon-equilibrium: max over i of br_i - u_i (Gibson 2014, section 2.1.2)."""
    values = expected_values(game, profile)
    return max(best_response(game, profile, player)[0] - values[player] for player in range(game.players))


def exploitability(game: Game, profile: Profile) -> float:
    """(br_1 + br_2) / 2 in a two-player zero-sum game (Gibson 2014, section 2.1.2)."""
    return (best_response(game, profile, 0)[0] + best_response(game, profile, 1)[0]) / 2.0
