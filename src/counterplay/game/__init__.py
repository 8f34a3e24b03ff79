"""What a game is: protocols, registry, hand-written trees and file formats."""

from counterplay.game.builder import ExplicitGame, chance, decision, terminal
from counterplay.game.game import CHANCE, TERMINAL, Game, GameFacts, State
from counterplay.game.registry import GameEntry, Parameter, game_names, games, make, parameter, register

__all__ = [
    "CHANCE", "TERMINAL", "ExplicitGame", "Game", "GameEntry", "GameFacts", "Parameter", "State",
    "chance", "decision", "game_names", "games", "make", "parameter", "register", "terminal",
]  # fmt: skip
