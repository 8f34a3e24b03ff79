"""Die-roll poker, DRP: a private die in each round instead of cards (Lanctot et al. 2012, sections 3 and 5.2 and
appendix B; Gibson 2014, sections 6.1 and 6.2.2 and appendix D).

Rules: both players ante 1.  In each round both roll a private die, then bet; player 1 acts first.  A raise is 2 chips
in the first round and 4 later, at most two raises in a round.  If nobody folds, the larger sum of dice wins the pot;
equal sums split it.

The parameters give the family of the literature:

* ``die_roll_poker`` : DRP, players remember each of their dice.
* ``die_roll_poker(IR)`` : DRP-IR, in the second round players know only the sum of their two dice.
* ``skew=0.2`` : Skew-DRP(δ); at a showdown player 2 pays player 1 the fraction δ of the pot if player 1's second die
  is even.
* ``rounds=3`` : DRP-3 and DRP-IR-3; in the third round players know each of their dice again.

Where the sources are silent: ties split, player 1 opens every round, the third raise size is 4.  The published sizes
(2,610 and 860 pairs of an information set and an action) need one more action in the first round than the rules
allow; ``opening_fold`` lets player 1 fold at once, which explains them and changes no value.

An information set is written DICE:BETTING, ``3-5:rc/c`` or, where only the sum is known, ``sum8:rc/c``.  A betting
string has a letter for each action: f fold, c call or check, r raise; ``/`` separates rounds.  Betting does not depend
on the dice, so its tree is built once and shared by all rolls.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable
from typing import Any, ClassVar

from counterplay.errors import GameError
from counterplay.game.game import CHANCE, TERMINAL, Game
from counterplay.game.registry import parameter, register

VARIANTS = ("DRP", "IR")
FORGETFUL_ROUND = 2
"""The round in which DRP-IR knows only the sum."""


@dataclasses.dataclass(frozen=True)
class Betting:
    """A node of the betting tree: what is public."""

    player: int  # who acts; CHANCE when dice are due; TERMINAL when the game is over
    text: str
    actions: tuple[str, ...]
    children: dict[str, Betting]
    paid: tuple[int, int]
    folded: int  # who has folded, or -1


class DieRollState:
    """The dice so far, alternating between player 1's and player 2's, and a node of the betting tree."""

    __slots__ = ("betting", "dice", "game", "player")

    def __init__(self, game: DieRollPoker, dice: tuple[int, ...], betting: Betting) -> None:
        self.game = game
        self.dice = dice
        self.betting = betting
        self.player = betting.player

    def chance(self) -> list[tuple[int, float]]:
        return self.game.rolls

    def actions(self) -> tuple[str, ...]:
        return self.betting.actions

    def child(self, action: Any) -> DieRollState:
        if self.player >= 0:
            return DieRollState(self.game, self.dice, self.betting.children[action])
        dice = (*self.dice, action)
        following = self.betting if len(dice) % 2 else self.betting.children[""]
        return DieRollState(self.game, dice, following)

    def infoset(self) -> str:
        own = self.dice[self.player :: 2]
        if len(own) == self.game.sum_round:
            return f"sum{sum(own)}:{self.betting.text}"
        return f"{'-'.join(map(str, own))}:{self.betting.text}"

    def utilities(self) -> tuple[float, float]:
        one, two = self.betting.paid
        folded = self.betting.folded
        if folded >= 0:
            won = float(two if folded == 1 else -one)
        else:
            difference = sum(self.dice[0::2]) - sum(self.dice[1::2])
            won = float(two if difference > 0 else -one if difference < 0 else 0)
            if self.game.skew and self.dice[2] % 2 == 0:
                won += self.game.skew * (one + two)
        return won, -won


MOST_LINES = 100_000
"""Lines of betting that are listed."""


@register("die_roll_poker")
class DieRollPoker(Game):
    """Die-roll poker: a private die and a round of limit betting, twice; the larger sum wins."""

    variant: str = parameter("DRP", "DRP: players remember their dice; IR: only their sum is known in the second round",
                             choices=VARIANTS)  # fmt: skip
    skew: float = parameter(0.0, "fraction of the pot paid to player 1 at a showdown if its second die is even",
                            check=(lambda skew: math.isfinite(skew) and skew >= 0, "a number, at least 0"))  # fmt: skip
    rounds: int = parameter(2, "number of rounds, 2 or more", least=2, most=20)
    sides: int = parameter(6, "faces of a die", least=2, most=100)
    raises: int = parameter(2, "most raises in a round", least=0, most=20)
    ante: int = parameter(1, "chips each player pays before the first roll", least=1, most=1_000_000_000)
    bets: str = parameter("2,4", "chips of a raise in each round; the last number holds for all later rounds")
    opening_fold: bool = parameter(True, "player 1 may fold as the very first action")
    zero_sum = True
    forgets: ClassVar = {"dice": "in round N (or rounds N,M,...) know only the sum of the own dice"}

    def __post_init__(self) -> None:
        super().__post_init__()
        if min(self.sizes, default=0) < 1:
            raise GameError(f'die_roll_poker: bets must be positive integers like "2,4"; got {self.bets[:60]!r}')
        if (2 * self.raises + 1) ** self.rounds > MOST_LINES:
            raise GameError(
                f"die_roll_poker: {self.rounds} rounds of {self.raises} raises have more than {MOST_LINES:,} lines of "
                "betting; use fewer rounds or raises"
            )

    @property
    def big_blind(self) -> float:
        """The ante."""
        return float(self.ante)

    @functools.cached_property
    def sizes(self) -> list[int]:
        """Chips of a raise in each round; empty if they cannot be parsed."""
        words = [word.strip() for word in self.bets.split(",")]
        return [int(word) for word in words] if all(word.isdecimal() and len(word) < 16 for word in words) else []

    @functools.cached_property
    def rolls(self) -> list[tuple[int, float]]:
        """The faces of a die with their probabilities."""
        return [(face, 1 / self.sides) for face in range(1, self.sides + 1)]

    @property
    def sum_round(self) -> int:
        """The round in which only the sum is known, or 0."""
        return FORGETFUL_ROUND if self.variant == "IR" else 0

    def root(self) -> DieRollState:
        """Before the first roll."""
        return DieRollState(self, (), self._betting)

    def forget(self, what: str, value: str) -> Callable[[str], str]:
        """``dice`` with the numbers of rounds keeps only the sum of the own dice in those rounds."""
        if what not in self.forgets:
            return super().forget(what, value)
        words = [word.strip() for word in value.split(",")]
        if not all(word.isdecimal() and 1 <= int(word) <= self.rounds for word in words):
            raise GameError(f"die_roll_poker: dice takes numbers of rounds from 1 to {self.rounds}; got {value!r}")
        rounds = {int(word) for word in words}

        def remainder(name: str) -> str:
            dice, _, betting = name.partition(":")
            if betting.count("/") + 1 not in rounds or dice.startswith("sum"):
                return name
            return f"sum{sum(map(int, dice.split('-')))}:{betting}"

        return remainder

    @functools.cached_property
    def _betting(self) -> Betting:
        """The betting tree, below the node where the first dice are rolled."""
        paid = (self.ante, self.ante)
        return Betting(CHANCE, "", (), {"": self._point("", 0, 0, paid, 0, False)}, paid, -1)

    def _point(self, text: str, turn: int, player: int, paid: tuple[int, int], raised: int, checked: bool) -> Betting:
        """The betting tree from here: ``raised`` raises were made this round; ``checked``: a call now ends it."""
        owes = paid[player] < paid[1 - player]
        opening = self.opening_fold and not text
        actions = (("fold",) if owes or opening else ()) + ("call",) + (("raise",) if raised < self.raises else ())
        children = {}
        for action in actions:
            after = text + action[0]
            if action == "fold":
                children[action] = Betting(TERMINAL, after, (), {}, paid, player)
                continue
            level = max(paid) + (self.sizes[min(turn, len(self.sizes) - 1)] if action == "raise" else 0)
            now = (level, paid[1]) if player == 0 else (paid[0], level)
            if action == "call" and (owes or checked):
                children[action] = self._next_round(after, turn, now)
            else:
                children[action] = self._point(after, turn, 1 - player, now, raised + (action == "raise"), True)
        return Betting(player, text, actions, children, paid, -1)

    def _next_round(self, text: str, turn: int, paid: tuple[int, int]) -> Betting:
        if turn + 1 == self.rounds:
            return Betting(TERMINAL, text, (), {}, paid, -1)
        following = self._point(text + "/", turn + 1, 0, paid, 0, False)
        return Betting(CHANCE, text, (), {"": following}, paid, -1)
