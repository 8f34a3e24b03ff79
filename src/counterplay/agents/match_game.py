"""A game to play a match in: its rules, its competition definition if it is poker, its compiled tree if it is small.

Poker from a definition is played with the dealer's cards, everything else on the states of the game, postflop spots on
those of their public tree.  If the game is
small enough to be compiled, agents that are policies play on the tree.
"""

from __future__ import annotations

import dataclasses
import functools

from counterplay.errors import GameError, MemoryLimitError
from counterplay.forms import open_game
from counterplay.game.game import Game
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.poker_game import PokerGame, definition_for
from counterplay.poker.postflop import SUBGAME
from counterplay.poker.postflop.spot_game import SpotGame
from counterplay.poker.postflop.subgame import Subgame
from counterplay.tree.history.game_tree import GameTree

COMPILED_HISTORIES = 5_000_000
"""Games with more histories are not compiled to be played."""

COMPILED_BYTES = 1 << 30


@dataclasses.dataclass(frozen=True, eq=False)
class MatchGame:
    """A game to play a match in."""

    name: str
    game: Game

    @property
    def players(self) -> int:
        """Number of seats."""
        return self.game.players

    @property
    def big_blind(self) -> float | None:
        """Chips in one big blind; None outside poker."""
        return self.game.big_blind

    @property
    def deal_rules(self) -> GameDefinition | None:
        """The definition by which hands are dealt; None for games that are played on their states."""
        return self.game.definition if isinstance(self.game, PokerGame) else None

    def definition(self) -> GameDefinition:
        """The definition for the protocol; the hand-written poker games have one too."""
        found = definition_for(self.game)
        if found is None:
            raise GameError(f"{self.name} is not a poker game of the competition; the protocol cannot play it")
        return found

    @property
    def spot(self) -> Subgame | None:
        """The postflop spot, if it is one; else None."""
        return self.game.subgame if isinstance(self.game, SpotGame) else None

    @functools.cached_property
    def tree(self) -> GameTree | None:
        """The compiled game; None if it is too large for that."""
        size = self.game.num_histories()
        if (size is None and isinstance(self.game, PokerGame)) or (size or 0) > COMPILED_HISTORIES:
            return None
        try:
            return open_game(self.game, "history", memory_limit=COMPILED_BYTES)
        except MemoryLimitError:
            return None


@functools.lru_cache(maxsize=8)
def open_match_game(name: str) -> MatchGame:
    """A game to play a match in, by its name."""
    if name.startswith(SUBGAME):
        raise GameError(
            "a postflop spot starts in the middle of a hand; no match can be played in it, but counterplay play seats "
            "you against its strategy, and counterplay show shows what it plays"
        )
    return MatchGame(name, open_game(name, "states"))
