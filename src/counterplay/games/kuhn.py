"""Kuhn poker for two and more players (Kuhn 1950; Gibson 2014, section 3.2): one-card poker with players + 1 cards.

For two players the cards are J < Q < K, as in the thesis; the value to the first player is -1/18.
"""

from __future__ import annotations

import dataclasses

from counterplay.game.registry import parameter, register
from counterplay.games.one_card_poker import OneCardPoker


@register("kuhn")
class Kuhn(OneCardPoker):
    """Kuhn poker: one card each from a deck of players + 1, one round, one bet."""

    cards: int = dataclasses.field(init=False, default=0)
    players: int = parameter(2, "number of players", least=2, most=10)

    def __post_init__(self) -> None:
        object.__setattr__(self, "cards", self.players + 1)
        super().__post_init__()

    def card_name(self, card: int) -> str:
        """J, Q, K for two players; numbers from the lowest otherwise."""
        return "JQK"[card] if self.players == 2 else super().card_name(card)
