"""From the states of a match to the information sets of a strategy.

A game defines which definition of the competition has its rules, and the names of its information sets in a match of
it (``Game.acpc_rules`` and ``Game.acpc_infoset``).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from counterplay.errors import GameError
from counterplay.game.game import Game
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.acpc.match_state import MatchState
from counterplay.poker.poker_game import definition_for

Namer = Callable[[MatchState], str]
"""From what the acting player sees to the key of the information set."""

LETTERS = {"fold": "f", "check": "c", "call": "c", "bet": "r", "raise": "r"}
"""The actions of the protocol by the words of games; those of poker from a definition are the same."""


def namer(game: Game, played: GameDefinition) -> Namer:
    """The names of the states of a match in a solved game; raises GameError if another game is played."""
    own = definition_for(game)
    if own is None or not same_rules(own, played):
        raise GameError(f"a strategy for {game.spec()} cannot play this match: its rules are those of another game")
    return lambda state: game.acpc_infoset(
        sorted(state.deal.hole[state.betting.player]), _boards(state), state.betting.actions
    )


def same_rules(own: GameDefinition, played: GameDefinition) -> bool:
    """Whether two definitions are the same game; stacks that nobody can lose count as unlimited."""
    if own == played:
        return True
    if not own.limit or dataclasses.replace(own, stacks=played.stacks) != played:
        return False
    raises = zip(own.max_raises, own.raise_sizes, strict=True)
    most = max(own.blinds) + sum(count * size for count, size in raises)
    return min(*own.stacks, *played.stacks) >= most


def _boards(state: MatchState) -> list[list[int]]:
    """The board cards of each round so far, as games list them: ascending."""
    game, turn = state.game, state.betting.round
    return [
        sorted(state.deal.board[end - count : end])
        for end, count in zip(game.board_ends[: turn + 1], game.board_cards, strict=False)
    ]
