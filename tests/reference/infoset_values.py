"""Reach and value of information sets by enumeration of all plays.

A play visits an information set if one of its histories is in it; the history of the first visit counts.  The reach is
the probability of the plays that visit it, the value the mean utility of the player who acts there over these plays.
"""

from __future__ import annotations

from counterplay.game.game import CHANCE, TERMINAL, Game, State
from tests.reference.walks import InfosetId, Profile


def infoset_values(game: Game, profile: Profile) -> dict[InfosetId, tuple[float, float | None]]:
    """Reach and value of every information set.

    Where the reach is 0, a play's weight lacks the player's own choices up to the visit; None if all weights are 0.
    """
    plays: dict[InfosetId, list[tuple[float, float, float]]] = {}  # probability, the same without own choices, utility

    def follow(state: State, path: list[tuple[InfosetId, int]], moves: list[tuple[int, float]]) -> None:
        if state.player == TERMINAL:
            for (player, key), time in dict(reversed(path)).items():  # the first visit stays
                played = without = 1.0
                for number, (mover, share) in enumerate(moves):
                    played *= share
                    without *= 1.0 if mover == player and number < time else share
                plays.setdefault((player, key), []).append((played, without, state.utilities()[player]))
        elif state.player == CHANCE:
            for outcome, share in state.chance():
                follow(state.child(outcome), path, [*moves, (CHANCE, share)])
        else:
            here = (state.player, state.infoset())
            for action in state.actions():
                move = (state.player, profile[here][action])
                follow(state.child(action), [*path, (here, len(moves))], [*moves, move])

    follow(game.root(), [], [])
    found: dict[InfosetId, tuple[float, float | None]] = {}
    for infoset, visits in plays.items():
        reach = sum(played for played, _, _ in visits)
        weights = [(played if reach > 0 else without, utility) for played, without, utility in visits]
        total = sum(weight for weight, _ in weights)
        found[infoset] = reach, sum(w * utility for w, utility in weights) / total if total > 0 else None
    return found
