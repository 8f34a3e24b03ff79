"""An agent that plays a solved strategy: it looks its information set up in a profile and draws an action."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from counterplay.agents.agent import Decision, Policy, Seen
from counterplay.agents.infoset_names import Namer, namer
from counterplay.errors import StrategyError
from counterplay.game.registry import make
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.strategy.tabular import TabularStrategy

__all__ = ["ProfileAgent"]

_PROTOCOL = {"fold": "f", "check": "c", "call": "c", "bet": "r", "raise": "r"}


class ProfileAgent(Policy):
    """Plays a profile, in whatever seat it is put.

    Parameters
    ----------
    profile : TabularStrategy
        The strategy.
    seed : int
        Of the random numbers with which actions are drawn.
    definition : GameDefinition, optional
        What is played, when match states will be seen; the profile must be of a game with these rules.
    """

    def __init__(self, profile: TabularStrategy, seed: int = 0, definition: GameDefinition | None = None) -> None:
        super().__init__(seed)
        self.profile = profile
        self._namer: Namer | None = None if definition is None else namer(make(profile.game), definition)
        owners = profile.infoset_player.tolist()
        self._place = {key: row for row, key in enumerate(zip(owners, profile.infoset_names, strict=True))}
        self._bounds = list(pairwise(profile.infoset_offset.tolist()))

    def distribution(self, seen: Seen) -> Sequence[tuple[str, float]]:
        """The probabilities of the profile."""
        if isinstance(seen, Decision):
            return self._row(seen.player, seen.infoset)
        if self._namer is None:
            raise StrategyError("this agent was not told which poker game is played; give it the definition")
        row = self._row(seen.betting.player, self._namer(seen))
        return [(_PROTOCOL.get(action, action), probability) for action, probability in row]

    def _row(self, player: int, name: str) -> list[tuple[str, float]]:
        row = self._place.get((player, name))
        if row is None:
            raise StrategyError(
                f"the strategy for {self.profile.game} does not know {name!r} of player {player + 1}; "
                "it was made for another game"
            )
        low, high = self._bounds[row]
        return list(zip(self.profile.actions[row], self.profile.table[low:high].tolist(), strict=True))
