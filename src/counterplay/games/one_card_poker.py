"""One-card poker: one private card each, one betting round with one bet (Johanson 2016, section 2.3).

Rules (Gibson 2014, section 3.2, for any deck): every player antes 1 and is dealt one of ``cards`` distinct cards.
In turn each may check or bet 1; after a bet every other player, in turn, folds or calls.  The highest card among
those who have not folded wins the pot.  With ``cards = players + 1`` this is Kuhn poker.

A betting string has one letter for each action: k check, b bet, f fold, c call.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from counterplay.errors import GameError
from counterplay.game.game import CHANCE, TERMINAL, Game
from counterplay.game.registry import parameter, register

OPEN = ("check", "bet")
FACING_BET = ("fold", "call")
LETTER = {"check": "k", "call": "c", "bet": "b", "raise": "r", "fold": "f"}
"""The letter of each action in a betting string."""


def betting_letters(rounds: Sequence[Sequence[str]]) -> str:
    """The betting of a match (f, c, r) in the letters of these games: k check, c call, b bet, r raise, f fold."""
    texts = []
    for actions in rounds:
        text, bets = "", 0
        for action in actions:
            text += {"f": "f", "c": "c" if bets else "k", "r": "r" if bets else "b"}[action]
            bets += action == "r"
        texts.append(text)
    return "/".join(texts)


class OneCardState:
    """A deal so far (one card per player, lowest is 0) and a betting string."""

    __slots__ = ("betting", "deal", "game", "player")

    def __init__(self, game: OneCardPoker, deal: tuple[int, ...], betting: str) -> None:
        self.game = game
        self.deal = deal
        self.betting = betting
        self.player = self._mover()

    def _mover(self) -> int:
        players = self.game.players
        if len(self.deal) < players:
            return CHANCE
        first_bet = self.betting.find("b")
        length = players if first_bet < 0 else first_bet + players
        return TERMINAL if len(self.betting) == length else len(self.betting) % players

    def chance(self) -> list[tuple[str, float]]:
        left = [name for name, card in self.game.deck.items() if card not in self.deal]
        return [(name, 1 / len(left)) for name in left]

    def actions(self) -> tuple[str, str]:
        return FACING_BET if "b" in self.betting else OPEN

    def child(self, action: str) -> OneCardState:
        if self.player == CHANCE:
            return OneCardState(self.game, (*self.deal, self.game.deck[action]), "")
        return OneCardState(self.game, self.deal, self.betting + LETTER[action])

    def infoset(self) -> str:
        return f"{self.game.card_name(self.deal[self.player])}:{self.betting}"

    def utilities(self) -> list[float]:
        players = self.game.players
        paid = [1] * players
        live = [True] * players
        for turn, letter in enumerate(self.betting):
            paid[turn % players] += letter in "bc"
            live[turn % players] &= letter != "f"
        winner = max((self.deal[player], player) for player in range(players) if live[player])[1]
        return [float(sum(paid) * (player == winner) - paid[player]) for player in range(players)]


@register("one_card_poker")
class OneCardPoker(Game):
    """One-card poker: one private card each from a deck of any size, one round, one bet."""

    cards: int = parameter(13, "number of distinct cards", least=2, most=10_000)
    players: int = parameter(2, "number of players", least=2, most=10)
    zero_sum = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.cards < self.players:
            raise GameError(f"{self.spec()}: {self.cards} cards are too few for {self.players} players")

    @property
    def big_blind(self) -> float:
        """The ante."""
        return 1.0

    def root(self) -> OneCardState:
        """Before the deal."""
        return OneCardState(self, (), "")

    def card_name(self, card: int) -> str:
        """How a card is written: 1, 2, 3, ... from the lowest."""
        return str(card + 1)

    @functools.cached_property
    def deck(self) -> dict[str, int]:
        """The cards by their names, from the lowest."""
        return {self.card_name(card): card for card in range(self.cards)}

    def acpc_rules(self) -> Mapping[str, Any] | None:
        """As ``Game.acpc_rules``; a suit has 13 cards."""
        if self.cards > 13:
            return None
        return {
            "limit": True, "players": self.players, "rounds": 1, "blinds": (1,) * self.players, "raise_sizes": (1,),
            "max_raises": (1,), "suits": 1, "ranks": self.cards, "hole_cards": 1, "board_cards": (0,),
        }  # fmt: skip

    def acpc_infoset(
        self, hole: Sequence[int], boards: Sequence[Sequence[int]], actions: Sequence[Sequence[str]]
    ) -> str:
        """As ``Game.acpc_infoset``."""
        return f"{self.card_name(hole[0] // 4 - (13 - self.cards))}:{betting_letters(actions)}"
