"""Fictitious play with dicts (Čermák 2018, section 3.4.3), for players with perfect recall."""

from __future__ import annotations

from counterplay.game.game import Game
from tests.reference.best_response import best_response
from tests.reference.walks import Profile, infosets, walk


def own_reach(game: Game, profile: Profile, player: int) -> dict[object, float]:
    """The probability with which the player's own choices lead to each of the player's information sets."""
    reach = {}
    for visit in walk(game, profile):
        if visit.state.player == player:
            reach[visit.state.infoset()] = visit.reach[player]
    return reach


def mix(game: Game, old: Profile, new: Profile, player: int, share: float) -> Profile:
    """The behavioural strategy that plays ``new`` with probability ``share`` and ``old`` otherwise (lemma 3.4.1)."""
    before, after = own_reach(game, old, player), own_reach(game, new, player)
    mixed = dict(old)
    for (owner, key), actions in infosets(game).items():
        if owner != player:
            continue
        weights = (1.0 - share) * before[key], share * after[key]
        total = sum(weights)
        if total > 0.0:
            mixed[owner, key] = {
                action: (weights[0] * old[owner, key][action] + weights[1] * new[owner, key][action]) / total
                for action in actions
            }
    return mixed


def fictitious_play(game: Game, start: Profile, iterations: int, alternating: bool) -> Profile:
    """The average profile after some iterations."""
    average = start
    for time in range(1, iterations + 1):
        frozen = dict(average)
        for player in range(game.players):
            _, chosen = best_response(game, average if alternating else frozen, player)
            response = dict(average)
            for (owner, key), actions in infosets(game).items():
                if owner == player:
                    response[owner, key] = {action: float(action == chosen[key]) for action in actions}
            average = mix(game, average, response, player, 1.0 / (time + 1))
    return average
