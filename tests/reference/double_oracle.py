"""The best response by branch and bound, plainly: on states, with one dictionary for each thing.

Source: Čermák 2018, section 3.3.  The responder's information sets are solved from the first one on; the histories of
a set are weighted by chance and the opponent, and each has a ceiling, what the responder gets when everybody, seeing
everything, helps.  An action is given up when what is known of it and the ceilings of the rest do not beat the best
action so far.
"""

from __future__ import annotations

from collections.abc import Hashable

from counterplay.game.game import CHANCE, TERMINAL, Game, State
from tests.reference.walks import Action, Profile

Weighted = list[tuple[float, State]]


def pruned_best_response(game: Game, profile: Profile, player: int) -> tuple[float, dict[Hashable, Action], int]:
    """The value, the action at each set that the response reaches, and how many sets were visited."""
    visited = 0

    def ceiling(state: State) -> float:
        if state.player == TERMINAL:
            return state.utilities()[player]
        if state.player == CHANCE:
            return sum(share * ceiling(state.child(outcome)) for outcome, share in state.chance())
        return max(ceiling(state.child(action)) for action in state.actions())

    def expand(states: Weighted) -> tuple[float, dict[Hashable, Weighted]]:
        """What ends before the player moves again, and the histories at which he does, by information set."""
        ended, sets = 0.0, {}
        for weight, state in states:
            if weight == 0.0:
                continue
            if state.player == TERMINAL:
                ended += weight * state.utilities()[player]
            elif state.player == player:
                sets.setdefault(state.infoset(), []).append((weight, state))
            else:
                moves = state.chance() if state.player == CHANCE else profile[state.player, state.infoset()].items()
                more, below = expand([(weight * share, state.child(move)) for move, share in moves])
                ended += more
                for key, members in below.items():
                    sets.setdefault(key, []).extend(members)
        return ended, sets

    def value(states: Weighted, to_beat: float) -> tuple[float, dict[Hashable, Action]] | None:
        """The value of a group of histories, or None if it cannot be more than ``to_beat``."""
        nonlocal visited
        known, sets = expand(states)
        bounds = {key: sum(weight * ceiling(state) for weight, state in members) for key, members in sets.items()}
        waiting = sum(bounds.values())
        answer: dict[Hashable, Action] = {}
        for key, members in sets.items():
            if known + waiting <= to_beat:
                return None
            visited += 1
            best, chosen, follow = float("-inf"), None, {}
            for action in members[0][1].actions():
                found = value([(weight, state.child(action)) for weight, state in members], best)
                if found is not None and found[0] > best:
                    best, chosen, follow = found[0], action, found[1]
            known += best
            waiting -= bounds[key]
            answer |= {key: chosen} | follow
        return known, answer

    found = value([(1.0, game.root())], float("-inf"))
    assert found is not None
    return found[0], found[1], visited
