"""Generic poker Pbrc (Čermák 2018, section 5.3.2.1): Leduc hold'em with several bet and raise sizes.

Rules: every player antes 1 and gets one card from a deck of ``types`` ranks with ``copies`` cards each; a betting
round; one card is turned; a second round.  The first player opens both rounds.  Without a bet the player to act checks
or bets one of ``bets`` sizes; facing a bet the player calls, folds or, after fewer than ``consecutive`` raises,
raises by one of ``raises`` sizes over the call.  Sizes are 2, 4, 6, ... in the first round and twice that in the
second.  At a showdown equal cards split; otherwise a pair with the board wins, or the higher rank.

The thesis gives the deck and the numbers of sizes but not the sizes, nor how raises add up, nor the order of actions.
Those follow the author's public program: bets ascending and then check; call, raises ascending and then fold.  P111
with 3 ranks of 2 cards is Leduc hold'em, which confirms the rules by its value.  ``P222`` in the thesis is
``generic_poker(bets=2,raises=2,consecutive=2)``.

Chance deals ranks, not cards, so that equal cards are one outcome.  Betting does not depend on the cards: its tree is
built once and shared by all deals, as are the payoffs of its terminal nodes.  A betting string has a letter for each
action, with the size where there is one: k check, c call, b bet, r raise, f fold; ``/`` separates rounds.
"""

from __future__ import annotations

import dataclasses
import functools

from counterplay.errors import GameError
from counterplay.game.game import CHANCE, TERMINAL, Game
from counterplay.game.registry import parameter, register
from counterplay.games.leduc import CommunityState, rank_names
from counterplay.games.one_card_poker import LETTER

MOST_LINES = 100_000
"""Lines of betting that are listed."""


@dataclasses.dataclass(frozen=True, slots=True)
class Betting:
    """A node of the betting tree: what is public apart from the board card."""

    player: int  # who acts; CHANCE when a card is due; TERMINAL when the hand is over
    text: str
    actions: tuple[str, ...]
    children: dict[str, Betting]
    won: tuple[tuple[float, float], ...]  # utilities at a terminal node, by result: tie, first player wins, second wins


class GenericPokerState(CommunityState):
    """A state whose cards are ranks."""

    __slots__ = ()

    def chance(self) -> list[tuple[str, float]]:
        game = self.game
        total = game.types * game.copies - len(self.deal)
        left = [(name, game.copies - self.deal.count(rank)) for name, rank in game.deck.items()]
        return [(name, count / total) for name, count in left if count]

    def utilities(self) -> tuple[float, float]:
        first, second = self.deal
        won: tuple[float, float] = self.betting.won[self.game.results[first][second][self.board]]
        return won


@register("generic_poker")
class GenericPoker(Game):
    """Generic poker: one private card, one community card, two rounds with several bet and raise sizes."""

    bets: int = parameter(2, "number of bet sizes", least=0, most=100)
    raises: int = parameter(2, "number of raise sizes", least=0, most=100)
    consecutive: int = parameter(2, "most raises in a row; the bet is not one", least=0, most=20)
    types: int = parameter(4, "number of ranks in the deck", least=1, most=100)
    copies: int = parameter(3, "cards of each rank", least=1, most=50)
    ante: int = parameter(1, "chips each player pays before the deal", least=0, most=1_000_000_000)
    step: int = parameter(
        2,
        "smallest bet of the first round; sizes are its multiples, doubled in the second",
        least=1,
        most=1_000_000_000,
    )
    zero_sum = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.types * self.copies < 3:
            raise GameError(
                f"generic_poker: {self.types * self.copies} cards are too few for two players and the board; "
                "raise types or copies"
            )
        lines = 1 + 2 * self.bets * sum(self.raises**count for count in range(self.consecutive + 1))
        if lines**2 > MOST_LINES:
            raise GameError(
                f"generic_poker: two rounds have more than {MOST_LINES:,} lines of betting; use fewer bets or raises"
            )

    @property
    def big_blind(self) -> float | None:
        """The ante."""
        return float(self.ante) if self.ante else None

    def root(self) -> GenericPokerState:
        """Before the deal."""
        return GenericPokerState(self, (), -1, self._betting)

    @functools.cached_property
    def deck(self) -> dict[str, int]:
        """The ranks by their names, from the lowest."""
        return {name: rank for rank, name in enumerate(rank_names(self.types))}

    @functools.cached_property
    def seen(self) -> list[list[str]]:
        """What a player sees of the cards: ``seen[own][board]``, and ``seen[own][-1]`` before the board is dealt."""
        ranks = rank_names(self.types)
        return [[*(own + board for board in ranks), own] for own in ranks]

    @functools.cached_property
    def results(self) -> list[list[list[int]]]:
        """Who wins a showdown, ``results[first][second][board]``: 0 tie, 1 the first player, 2 the second.

        The last column, without a board, is for folds in the first round, where the cards do not matter.
        """
        ranks = range(self.types)

        def result(first: int, second: int, board: int) -> int:
            if first == second:
                return 0
            return 1 if first == board or (second != board and first > second) else 2

        return [[[*(result(first, second, board) for board in ranks), 0] for second in ranks] for first in ranks]

    @functools.cached_property
    def _betting(self) -> Betting:
        """The betting tree, below the node where cards are dealt."""
        return Betting(CHANCE, "", (), {"": self._point("", 0, (self.ante, self.ante), 0, 0)}, ())

    def _point(self, text: str, turn: int, paid: tuple[int, int], moves: int, raised: int) -> Betting:
        """The betting tree from a decision: ``moves`` were made and ``raised`` raises in a row in this round."""
        player = moves % 2
        owes = paid[1 - player] - paid[player]
        unit = self.step * (turn + 1)
        options = [("call", 0)] if owes else [("bet", unit * (size + 1)) for size in range(self.bets)]
        if owes and raised < self.consecutive:
            options += [("raise", unit * (size + 1)) for size in range(self.raises)]
        options += [("fold", 0)] if owes else [("check", 0)]
        children = {}
        for kind, size in options:
            name = f"{kind}{size}" if size else kind
            written = text + LETTER[kind] + (str(size) if size else "")
            level = paid[player] if kind == "fold" else paid[1 - player] + size
            now = (level, paid[1]) if player == 0 else (paid[0], level)
            if kind == "fold":
                won = -float(paid[0]) if player == 0 else float(paid[1])
                children[name] = Betting(TERMINAL, written, (), {}, ((won, -won),) * 3)
            elif size or (kind == "check" and moves == 0):
                children[name] = self._point(written, turn, now, moves + 1, raised + (kind == "raise"))
            else:
                children[name] = self._round_over(written, turn, now)
        return Betting(player, text, tuple(children), children, ())

    def _round_over(self, text: str, turn: int, paid: tuple[int, int]) -> Betting:
        if turn == 0:
            return Betting(CHANCE, text, (), {"": self._point(text + "/", 1, paid, 0, 0)}, ())
        stake = float(paid[0])
        return Betting(TERMINAL, text, (), {}, ((0.0, 0.0), (stake, -stake), (-stake, stake)))
