"""The betting of a hand of poker, limit and no-limit, for 2 to 10 players, and what the players win.

Source: the reference dealer of the Annual Computer Poker Competition (``game.c``, protocol 2.0.0).  An action is
written as in the protocol: ``f`` fold, ``c`` check or call, ``r`` raise in limit games, ``r250`` raise in no-limit
games, where the number is the player's total in the whole hand.  Blinds are chips, not raises.  "Raise" includes the
first bet of a round.

``Betting`` has no cards.  It is immutable: ``act`` returns the betting after an action.  Winnings are exact: integers,
or fractions where a pot is split.

We depart in two cases that cannot occur in the games of the competition.  In limit games a player whose stack is not
larger than the bet to call cannot raise (the reference dealer lowers the bet to the stack).  A hand in which the blinds
leave nobody with chips is over at once (the reference dealer loops forever).
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TypeAlias

from counterplay.errors import GameError, MemoryLimitError
from counterplay.game.game import TERMINAL
from counterplay.poker.acpc.definition import GameDefinition

Chips: TypeAlias = int | Fraction
"""An amount of chips: an integer, or a fraction where a pot is split."""

MOST_RAISES = 1_000_000
"""Raises of a decision that are listed."""

MAX_ACTIONS = 64
"""Most actions in a round; a raise that could lead to more is refused."""

_SIZE = re.compile(r"\s*([+-]?[0-9]+)")
_ACTION = re.compile(r"([fF])|([cCkK])|([rRbB])([0-9]*)|(/)")


@dataclasses.dataclass(slots=True, eq=False)
class Betting:
    """The public part of a hand: who has put in how much, and who acts."""

    game: GameDefinition  # what is played
    round: int  # the betting round, from 0; the last one after an early all-in
    spent: tuple[int, ...]  # chips that each position has put in during the hand
    max_spent: int  # the most that anybody has put in: what it takes to call
    min_raise_to: int  # the least that a no-limit raise must reach (when the stack allows it)
    folded: int  # bit ``p`` is set when position ``p`` has folded
    actions: tuple[tuple[str, ...], ...]  # the actions of each round that was reached
    raises: int  # raises in this round
    called: int  # players with chips left that have called the last of them, including the raiser
    player: int  # the position that acts, or ``TERMINAL``

    @classmethod
    def start(cls, game: GameDefinition) -> Betting:
        """The betting of a new hand, blinds posted."""
        most = max(game.blinds)
        first = game.first_players[0]
        player = _first_able(game, game.blinds, 0, first)
        last = 0 if player != TERMINAL else game.rounds - 1
        return cls(game, last, game.blinds, most, 2 * most or 1, 0, ((),) * (last + 1), 0, 0, player)

    @classmethod
    def after(cls, game: GameDefinition, text: str) -> Betting:
        """The betting after the actions in ``text``, a betting string such as ``cr300c/``; slashes are ignored."""
        betting = cls.start(game)
        for action in parse_actions(text, game.limit):
            betting = betting.act(action)
        return betting

    # ------------------------------------------------------------------------------------------ properties

    @property
    def finished(self) -> bool:
        """Whether the hand is over."""
        return self.player == TERMINAL

    @property
    def pot(self) -> int:
        """All chips put in so far."""
        return sum(self.spent)

    @property
    def to_call(self) -> int:
        """Chips that the acting player must put in to call."""
        player = self.player
        return min(self.max_spent, self.game.stacks[player]) - self.spent[player]

    def live(self) -> list[int]:
        """The positions that have not folded."""
        return [position for position in range(self.game.players) if not self.folded >> position & 1]

    @property
    def showdown(self) -> bool:
        """Whether the hand is over with a showdown."""
        return self.player == TERMINAL and self.folded.bit_count() + 1 < self.game.players

    def can_fold(self) -> bool:
        """Whether folding is legal: not when a check is free."""
        return self.player != TERMINAL and self.spent[self.player] < self.max_spent

    def raise_range(self) -> tuple[int, int] | None:
        """The smallest and the largest total that a raise may reach; None if no raise is legal.

        In limit games both are equal.
        """
        game, player = self.game, self.player
        if player == TERMINAL or self.raises >= game.max_raises[self.round]:
            return None
        if len(self.actions[-1]) + game.players > MAX_ACTIONS or self._able() <= 1:
            return None
        stack = game.stacks[player]
        if stack <= self.max_spent:
            return None
        if game.limit:
            size = min(self.max_spent + game.raise_sizes[self.round], stack)
            return size, size
        return min(self.min_raise_to, stack), stack

    def legal(self, action: str) -> bool:
        """Whether an action is legal here; written as in the protocol, with the size of a no-limit raise."""
        if action == "c":
            return self.player != TERMINAL
        if action == "f":
            return self.can_fold()
        span = self.raise_range()
        if span is None or not action.startswith("r"):
            return False
        if self.game.limit:
            return action == "r"
        return _is_number(action[1:]) and span[0] <= int(action[1:]) <= span[1]

    def legal_actions(self) -> list[str]:
        """All legal actions: fold, call, raises from the smallest.  Long in no-limit games with large stacks."""
        if self.player == TERMINAL:
            return []
        actions = ["f", "c"] if self.can_fold() else ["c"]
        span = self.raise_range()
        if span is not None and not self.game.limit and span[1] - span[0] >= MOST_RAISES:
            raise MemoryLimitError(
                f"a player can raise to any of {span[1] - span[0] + 1:,} amounts; give the game stacks, or choose "
                "sizes with --bets"
            )
        if span is not None:
            actions += ["r"] if self.game.limit else [f"r{size}" for size in range(span[0], span[1] + 1)]
        return actions

    def nearest_legal(self, action: str) -> str:
        """The action that a dealer plays for a player's answer.

        A legal action is played unchanged.  A no-limit raise of an illegal size becomes the nearest legal size;
        everything else (a fold when checking is free, a raise when none is legal, unreadable text) becomes a call.
        The letters of other programs are accepted.
        """
        found = _ACTION.match(action[:20])  # what follows the action is ignored
        if found is None or found.group(5):
            return "c"
        if found.group(1):
            return "f" if self.can_fold() else "c"
        span = self.raise_range() if found.group(3) else None
        if span is None:
            return "c"
        if self.game.limit:
            return "r"
        size = _SIZE.match(action[1:20])
        return f"r{min(max(int(size.group(1)), span[0]), span[1])}" if size else "c"

    def text(self) -> str:
        """The betting string: the actions of each round reached, rounds separated by ``/``."""
        return "/".join(["".join(actions) for actions in self.actions])

    # ------------------------------------------------------------------------------------------ play

    def act(self, action: str) -> Betting:
        """The betting after an action.  Raises GameError if the action is not legal here."""
        if not self.legal(action):
            raise GameError(self._complaint(action))
        game, player = self.game, self.player
        spent, most, least, folded = self.spent, self.max_spent, self.min_raise_to, self.folded
        raises, called = self.raises, self.called
        stack = game.stacks[player]
        if action == "f":
            folded |= 1 << player
        elif action == "c":
            now = min(most, stack)
            spent = (*spent[:player], now, *spent[player + 1 :])
            called += now < stack
        else:
            now = min(most + game.raise_sizes[self.round], stack) if game.limit else int(action[1:])
            least = least if game.limit else max(least, 2 * now - most)
            most = now
            spent = (*spent[:player], now, *spent[player + 1 :])
            raises += 1
            called = int(now < stack)
        actions = (*self.actions[:-1], (*self.actions[-1], action))
        return self._next(spent, most, least, folded, actions, raises, called)

    def _next(
        self, spent: tuple[int, ...], most: int, least: int, folded: int, actions: tuple[tuple[str, ...], ...],
        raises: int, called: int,
    ) -> Betting:  # fmt: skip
        """Advance to the next player, to the next round, or to the end of the hand."""
        game, number = self.game, self.round
        if folded.bit_count() + 1 >= game.players:
            return Betting(game, number, spent, most, least, folded, actions, raises, called, TERMINAL)
        able = _count_able(game, spent, folded)
        if called < able:
            player = _first_able(game, spent, folded, self.player + 1)
            return Betting(game, number, spent, most, least, folded, actions, raises, called, player)
        last = game.rounds - 1
        if able > 1 and number < last:
            number += 1
            player = _first_able(game, spent, folded, game.first_players[number])
            return Betting(game, number, spent, most, most + game.big_blind, folded, (*actions, ()), 0, 0, player)
        actions += ((),) * (last - number)
        return Betting(game, last, spent, most, least, folded, actions, raises, called, TERMINAL)

    def _able(self) -> int:
        return _count_able(self.game, self.spent, self.folded)

    def _complaint(self, action: str) -> str:
        where = f"after {self.text()!r}"
        if self.player == TERMINAL:
            return f"the hand is over {where}; no action is possible, got {action!r}"
        choices = (["f", "c"] if self.can_fold() else ["c"]) + [f"r{size}" for size in self.raise_range() or ()]
        if self.game.limit:
            choices = self.legal_actions()
        elif len(choices) >= 4 - (choices[0] == "c"):
            choices[-2:] = [f"{choices[-2]} to {choices[-1]}"]
        return f"{action!r} is not legal {where}; choose one of {', '.join(choices)}"

    # ------------------------------------------------------------------------------------------ winnings

    def values(self, ranks: Sequence[int] | None = None) -> tuple[Chips, ...]:
        """What each position has won, less what it has put in.

        Parameters
        ----------
        ranks : sequence of int, optional
            The rank of each position's hand, larger is better; needed only at a showdown, and only for those who
            have not folded.
        """
        if self.player != TERMINAL:
            raise GameError(f"the hand is not over after {self.text()!r}; values exist at its end")
        players = range(self.game.players)
        if not self.showdown:
            pot = sum(self.spent)
            return tuple([-self.spent[p] if self.folded >> p & 1 else pot - self.spent[p] for p in players])
        if ranks is None:
            raise GameError(f"the hand ends in a showdown after {self.text()!r}; give the ranks of the hands")
        values: list[Chips] = [-amount for amount in self.spent]
        below = 0
        for level in sorted({amount for amount in self.spent if amount > 0}):
            left = [p for p in players if self.spent[p] >= level]
            fighters = [p for p in left if not self.folded >> p & 1]
            best = max([ranks[p] for p in fighters])
            winners = [p for p in fighters if ranks[p] == best]
            pot = (level - below) * len(left)
            share: Chips = pot // len(winners) if pot % len(winners) == 0 else Fraction(pot, len(winners))
            for p in winners:
                values[p] += share
            below = level
        return tuple([value if isinstance(value, int) or value.denominator > 1 else int(value) for value in values])


def parse_actions(text: str, limit: bool) -> Iterable[str]:
    """The actions of a betting string in standard letters; slashes are skipped.

    The letters of other programs are accepted: ``b`` for a raise, ``k`` for a call, capitals.
    """
    place = 0
    actions = []
    while place < len(text):
        found = _ACTION.match(text, place)
        if found is None or (found.group(3) and (not found.group(4)) != limit):
            kind = "f, c and r" if limit else "f, c and r with a size, like r250"
            raise GameError(f"cannot read {text[place:]!r} in the betting {text!r}; actions are {kind}")
        if found.group(1):
            actions.append("f")
        elif found.group(2):
            actions.append("c")
        elif found.group(3):
            actions.append(f"r{int(found.group(4))}" if found.group(4) else "r")
        place = found.end()
    return actions


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and (text == "0" or text[0] != "0")


def _count_able(game: GameDefinition, spent: tuple[int, ...], folded: int) -> int:
    """The number of players who have neither folded nor put in all their chips."""
    stacks = game.stacks
    return sum([not folded >> p & 1 and spent[p] < stacks[p] for p in range(game.players)])


def _first_able(game: GameDefinition, spent: tuple[int, ...], folded: int, start: int) -> int:
    """The first position from ``start`` on that can act, or ``TERMINAL``."""
    players = game.players
    for step in range(players):
        position = (start + step) % players
        if not folded >> position & 1 and spent[position] < game.stacks[position]:
            return position
    return TERMINAL
