"""Subgames of hold'em: a board, a pot, the remaining stacks, a range for each player, and bet sizes.

This is the game of postflop solvers.  Player 0 is out of position (``oop``) and acts first on every street, player 1 is
in position (``ip``).  Each player has put in half of the pot: the winner gains the other half and what the opponent has
bet since.  A bet that was not called is returned.  Without rake the game is zero-sum.

With rake the house takes a fraction of the pot, at most the cap, from the winner, or in equal parts from both after a
tie.  It takes that from pots won by a fold as well, since the flop is dealt.

A bet is rounded to multiples of ``chip``.  The smallest bet is one chip, the smallest raise that of the last bet or
raise; a smaller size is raised to it, one above the stack is all in, and so is one of at least the all-in threshold.
Equal sizes are one action.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError, MemoryLimitError
from counterplay.poker.board_tree import DealTree, deal_cards, pair_mass
from counterplay.poker.cards import cards_text, deck, parse_cards
from counterplay.poker.poker_public_tree import add_links, assemble_nodes
from counterplay.poker.postflop.bet_sizes import (
    PLAYERS,
    STREETS,
    BetSize,
    StreetSizes,
    bet_amount,
    named_streets,
    parse_sizes,
)
from counterplay.poker.postflop.lines import LineEdits
from counterplay.poker.ranges import holdem_hands, parse_range
from counterplay.runtime.number_text import figure
from counterplay.runtime.suggestions import quoted
from counterplay.tree.public.public_tree import FOLD, SHOWDOWN, PublicNode, PublicTree

MAX_NODES = 1_000_000
"""Nodes of the betting after which a subgame is refused."""

MAX_CHIPS = 1e12
"""Chips above which a subgame is refused: amounts of bets would no longer be exact."""

MAX_ACTIONS = 200
"""Actions in a row after which a subgame is refused."""

LATER = ("rake", "rake_cap", "add_line", "remove_line")
"""Fields that are left out of names where they have their defaults: names without them are in older files."""

TOLERANCE = 1e-9
"""Fraction of a stack that counts as rounding error, not as a bet."""


class BettingPoint(NamedTuple):
    """A point of the betting: what each player has put in before this street and on it, and who acts next.

    ``closed`` if the last action ended the betting of a street.
    """

    before: float
    street: tuple[float, float]
    player: int
    closed: bool

    @property
    def spent(self) -> tuple[float, float]:
        """What each player has put in, the pot at the start not counted."""
        return self.before + self.street[0], self.before + self.street[1]


@dataclasses.dataclass(frozen=True)
class Subgame:
    """A subgame; the texts are parsed by ``parse_range`` and ``parse_sizes``.

    Attributes
    ----------
    board : str
        Three, four or five cards, ``QsJh2h``.
    pot : float
        Chips in the pot.
    stack : float or pair of float
        The remaining stack of each player, or those of ``oop`` and ``ip``; the smaller one limits the betting.
    oop, ip : str
        The ranges of the players who act first and last.
    bets, raises : str
        Sizes.
    donks : str or None
        Sizes of the first bet of a street by the player out of position after calling a bet on the previous street;
        None for those of ``bets``.
    allin_threshold : float
        A bet of at least this fraction of the player's remaining stack is all in.
    chip : float
        Bets are multiples of this.
    isomorphic : bool
        Merge hands and cards that differ only by a renaming of suits, where board and ranges allow.
    rake : float
        The fraction of the pot that the house takes.
    rake_cap : float or None
        The most chips that it takes.
    add_line, remove_line : tuple of str
        Lines of the betting that are added to the sizes, or removed: ``x b50 r200``, see ``poker.postflop.lines``.
    """

    board: str
    pot: float
    stack: float | tuple[float, float]
    oop: str
    ip: str
    bets: str = "50%,allin"
    raises: str = "60%,allin"
    donks: str | None = None
    allin_threshold: float = 0.67
    chip: float = 1.0
    isomorphic: bool = True
    rake: float = 0.0
    rake_cap: float | None = None
    add_line: tuple[str, ...] = ()
    remove_line: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.stack, list | tuple):
            stacks = tuple(self.stack)
            if len(stacks) != 2:
                raise GameError(f"there are two stacks, those of oop and ip; got {len(stacks)}")
            object.__setattr__(self, "stack", stacks[0] if stacks[0] == stacks[1] else stacks)
        for name in ("add_line", "remove_line"):
            lines = getattr(self, name)
            object.__setattr__(self, name, (lines,) if isinstance(lines, str) else tuple(lines))
        if len(self.cards) not in (3, 4, 5):
            raise GameError(f"a board has 3, 4 or 5 cards; got {len(self.cards)} in {quoted(self.board)}")
        for name, amount in (("pot", self.pot), *(("stack", stack) for stack in self.stacks), ("chip", self.chip)):
            if not isinstance(amount, int | float) or not 0 < amount < math.inf:
                raise GameError(f"the {name} must be a positive number of chips; got {amount!r}")
            if amount > MAX_CHIPS:
                raise GameError(f"the {name} must be at most {figure(MAX_CHIPS, 12)} chips; got {amount:g}")
        if not 0 < self.allin_threshold <= 1:
            limit = _percent(self.allin_threshold)
            raise GameError(f"the all-in threshold must be above 0 and at most 100% of the stack; got {limit}")
        self._check_rake()
        self.sizes  # noqa: B018  # raises here if they cannot be parsed
        if not self.pair_weight > 0:
            raise GameError(f"no hand of oop is compatible with a hand of ip on {self.board}: they share cards")

    def _check_rake(self) -> None:
        rake, cap = self.rake, self.rake_cap
        if not isinstance(rake, int | float) or not 0 <= rake < 1:
            raise GameError(f"the rake is a part of the pot below 100%, such as 5% or 0.05; got {_percent(rake)}")
        if cap is not None and (not isinstance(cap, int | float) or not 0 <= cap < math.inf):
            raise GameError(f"the rake cap is a number of chips, at least 0; got {cap!r}")
        if cap is not None and rake == 0:
            raise GameError(f"a rake cap of {cap:g} chips needs a rake, such as 5%")

    @functools.cached_property
    def cards(self) -> tuple[int, ...]:
        """The cards of the board."""
        return parse_cards(self.board)

    @functools.cached_property
    def ranges(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The weight of each hand for each player, 0 for hands that the board makes impossible."""
        live = ~np.isin(holdem_hands(), self.cards).any(axis=1)
        found = []
        for name, text in zip(PLAYERS, (self.oop, self.ip), strict=True):
            weights = parse_range(text, f"range of {name}") * live
            if not weights.any():
                raise GameError(f"the range of {name} has no hand left on {cards_text(self.cards)}; got {quoted(text)}")
            found.append(weights)
        return found[0], found[1]

    @functools.cached_property
    def pair_weight(self) -> float:
        """The total weight of pairs of hands that can be held together."""
        first, second = self.ranges
        weight = pair_mass(holdem_hands(), self.ranges, self.cards, 2)
        return weight if weight > 1e-12 * float(first.sum() * second.sum()) else 0.0

    @functools.cached_property
    def sizes(self) -> tuple[StreetSizes, StreetSizes, StreetSizes]:
        """Sizes of bets, raises and donk bets."""
        bets = parse_sizes(self.bets, "bets")
        donks = bets if self.donks is None else parse_sizes(self.donks, "donks")
        return bets, parse_sizes(self.raises, "raises", raises=True), donks

    def warnings(self) -> list[str]:
        """A line for each text of sizes that has no use on this board, and for a chip that is more than the pot."""
        lines = []
        for name, text in (("bets", self.bets), ("raises", self.raises), ("donks", self.donks or "")):
            over = [STREETS[street] for street in sorted(named_streets(text, name)) if street < self.first_street]
            if over:
                board, now = cards_text(self.cards), STREETS[self.first_street]
                lines.append(f"the {name} for the {' and '.join(over)} are not used: {board} is a {now}")
        if self.donks is not None and self.first_street == len(STREETS) - 1:
            lines.append("the donks are not used: nothing was called before the river, and no street follows")
        if self.chip > self.pot:
            chip, pot = figure(self.chip, 12), figure(self.pot, 12)
            lines.append(f"bets are multiples of the chip of {chip}, which is more than the pot of {pot}")
        return lines

    @property
    def stacks(self) -> tuple[float, float]:
        """The remaining stacks of ``oop`` and ``ip``."""
        return self.stack if isinstance(self.stack, tuple) else (self.stack, self.stack)

    @property
    def effective_stack(self) -> float:
        """The smaller stack: what a player bets beyond it cannot be called, and is returned."""
        return min(self.stacks)

    def house(self, pot: float) -> float:
        """What the house takes from a pot."""
        return self.rake * pot if self.rake_cap is None else min(self.rake * pot, self.rake_cap)

    @property
    def first_street(self) -> int:
        """0 on the flop, 1 on the turn, 2 on the river."""
        return len(self.cards) - 3

    @property
    def name(self) -> str:
        """The name that opens the subgame again: ``holdem`` and its fields as JSON."""
        fields = dataclasses.asdict(self)
        later = {
            field.name
            for field in dataclasses.fields(self)
            if field.name in LATER and fields[field.name] == field.default
        }
        return f"holdem{json.dumps({name: value for name, value in fields.items() if name not in later})}"

    @property
    def title(self) -> str:
        """The subgame in a few words."""
        amounts = self.stack if isinstance(self.stack, tuple) else (self.stack,)
        stacks = f"stack{'s' if len(amounts) > 1 else ''} {' and '.join(figure(amount, 12) for amount in amounts)}"
        cap = "" if self.rake_cap is None else f" up to {figure(self.rake_cap, 12)}"
        rake = f", rake {figure(100 * self.rake, 6)}%{cap}" if self.rake else ""
        for name, lines in (("with", self.add_line), ("without", self.remove_line)):
            rake += f", {name} {', '.join(map(repr, lines))}" if lines else ""
        return f"{cards_text(self.cards)}, pot {figure(self.pot, 12)}, {stacks}{rake}"

    def betting(self, spans: list[tuple[int, int]]) -> PublicNode:
        """The betting, over the numbered deals of each remaining street."""
        return _Betting(self, spans).root()

    def after(self, node: str) -> BettingPoint:
        """Where the betting is after the actions of a node's text."""
        street, before, player, checked, closed = [0.0, 0.0], 0.0, 0, False, False
        for word in node.split():
            amount = street[player]
            if word == "call":
                amount = max(street)
            elif word == "allin":
                amount = self.effective_stack - before
            elif word not in ("check", "fold"):
                amount = float(word.removeprefix("bet").removeprefix("raise"))
            street[player] = amount
            closed = word == "call" or (word == "check" and checked)
            if closed:
                street, before, player, checked = [0.0, 0.0], before + street[0], 0, False
            else:
                player, checked = 1 - player, True
        return BettingPoint(before, (street[0], street[1]), player, closed)

    def spent(self, node: str) -> tuple[float, float]:
        """What each player has put in after the actions of a node's text, the pot at the start not counted."""
        return self.after(node).spent

    def deals(self) -> DealTree:
        """The possible deals, and the possible hands at each."""
        rounds = [1] * (5 - len(self.cards))
        return deal_cards(deck(), 4, 2, self.cards, rounds, self.ranges, self.isomorphic)

    def tree(self) -> PublicTree:
        """The compiled subgame.  Raises MemoryLimitError if the betting has too many nodes."""
        deals = self.deals()
        spans = list(zip(deals.level_start, deals.level_start[1:], strict=False))
        largest = self.pot / 2 + self.effective_stack
        tree = assemble_nodes(self.betting(spans), deals, self.name, 2, largest, None)
        return dataclasses.replace(tree, half_pot=self.pot / 2)


def _percent(share: object) -> str:
    """A share as it is written, for errors."""
    return f"{100 * share:.6g}%" if isinstance(share, int | float) else repr(share)


def parse_subgame(name: str) -> Subgame:
    """The subgame of a ``Subgame.name``.  Raises GameError if it is not the name of a subgame."""
    try:
        return Subgame(**json.loads(name.removeprefix("holdem")))
    except (ValueError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
        raise GameError(f"a subgame is named holdem{{...}} with its fields as JSON; got {name!r} ({error})") from None


def unlike(name: str, other: str) -> str:
    """How the game of a file differs from another one, for errors; of spots the fields that differ."""
    if not (name.startswith("holdem{") and other.startswith("holdem{")):
        if name == other:
            return f"{name} with other cards, bets, fixed strategy or abstraction than those given here"
        return f"{name}; it does not fit {other}"
    kept, given = (dataclasses.asdict(parse_subgame(one)) for one in (name, other))
    fields = [f"{field} is {kept[field]} there, {given[field]} here" for field in kept if kept[field] != given[field]]
    return f"another spot: {'; '.join(fields)}"


@dataclasses.dataclass(frozen=True)
class _Spot:
    """A state of the betting: the street, who acts, what each has put in on it and before it, the actions.

    ``raises`` counts bets and raises on the street, ``step`` is the last of them, ``bettor`` who made the last bet of
    the previous street (-1: nobody), ``passed`` whether the first player has checked.
    """

    street: int
    player: int
    put: tuple[float, float]
    before: float
    raises: int
    step: float
    bettor: int
    passed: bool
    text: str


class _Betting:
    """Builds the nodes of a subgame's betting."""

    def __init__(self, game: Subgame, spans: list[tuple[int, int]]) -> None:
        self.game = game
        self.stack = game.effective_stack
        self.first = game.first_street
        self.spans = spans
        self.nodes = 0
        self.lines = LineEdits(game.add_line, game.remove_line)

    def root(self) -> PublicNode:
        root = self._street(self.first, 0.0, -1, "")
        self.lines.check()
        return root

    def _street(self, street: int, spent: float, bettor: int, text: str) -> PublicNode:
        """The start of a street; each player has put ``spent`` in before it."""
        return self._decision(_Spot(street, 0, (0.0, 0.0), spent, 0, self.game.chip, bettor, False, text))

    def _decision(self, spot: _Spot) -> PublicNode:
        self.nodes += 1
        if self.nodes > MAX_NODES:
            raise MemoryLimitError(
                f"the betting has more than {MAX_NODES:,} nodes; give fewer sizes, larger ones or a smaller stack"
            )
        if spot.text.count(" ") >= MAX_ACTIONS:
            raise GameError(
                f"the betting has more than {MAX_ACTIONS} actions in a row; give larger sizes, a smaller stack, or a "
                "limit on the raises of a street, such as 20c3r"
            )
        choices = self._choices(spot)
        actions = self.lines.kept(spot.text, choices)
        children = [self._after(spot, action, choices[action]) for action in actions]
        return PublicNode(spot.player, self._span(spot.street), children, tuple(actions), spot.text)

    def _choices(self, spot: _Spot) -> dict[str, float]:
        """The actions, each with what the player has put in on this street after it."""
        own, most = spot.put[spot.player], max(spot.put)
        choices = {"fold": own, "call": most} if own < most else {"check": own}
        amounts = self._amounts(spot) if self._spent(spot, most) < self.stack else []  # else the opponent is all in
        named = choices | {self._word(spot, amount): amount for amount in amounts}
        added = [self._legal(spot, *line) for line in self.lines.sizes(spot.text, named)]
        return choices | {self._word(spot, amount): amount for amount in sorted({*amounts, *added})}

    def _word(self, spot: _Spot, amount: float) -> str:
        """The name of a bet or raise."""
        if self._spent(spot, amount) == self.stack:
            return "allin"
        return f"{'raise' if spot.raises else 'bet'}{amount:.12g}"

    def _legal(self, spot: _Spot, line: str, amount: float) -> float:
        """The size of a line, exactly the rest of the stack if all in.  Raises GameError if it is not legal."""
        limit = self.stack - spot.before
        least, after = min(max(spot.put) + spot.step, limit), f" after {spot.text!r}" if spot.text else ""
        if self._spent(spot, max(spot.put)) == self.stack:
            raise GameError(f"the line {line!r} raises a player who is all in{after}")
        if amount < least * (1 - TOLERANCE) or limit * (1 + TOLERANCE) < amount < math.inf:
            span = f"{'raises are to' if spot.raises else 'bets are'} {least:.12g} to {limit:.12g} chips{after}"
            raise GameError(f"the line {line!r} has the illegal size {amount:.12g}: {span}")
        return limit if amount >= limit * (1 - TOLERANCE) else amount

    def _after(self, spot: _Spot, action: str, amount: float) -> PublicNode:
        """The node after an action."""
        player, other, text = spot.player, 1 - spot.player, f"{spot.text} {action}".strip()
        if action == "fold":
            return self._fold(spot, text)
        if action == "call":
            return self._closed(spot, self._spent(spot, amount), other, text)
        if action == "check" and spot.passed:
            return self._closed(spot, spot.before, -1, text)
        changes: dict[str, Any] = {"player": other, "passed": True, "text": text}
        if action != "check":
            changes["put"] = (amount, spot.put[1]) if player == 0 else (spot.put[0], amount)
            changes |= {"raises": spot.raises + 1, "step": amount - max(spot.put)}
        return self._decision(dataclasses.replace(spot, **changes))

    def _amounts(self, spot: _Spot) -> list[float]:
        """The chips on this street that the player may bet or raise to, ascending and distinct."""
        game, before = self.game, max(spot.put)
        limit = self.stack - spot.before
        pot = game.pot + 2 * (spot.before + before)
        found = set()
        for size in self._sizes(spot):
            left = limit - before
            wanted = bet_amount(size, pot, before, left, len(STREETS) - spot.street, spot.raises)
            if wanted is None:
                continue
            amount = max(game.chip * math.floor(wanted / game.chip + 0.5), before + spot.step)
            mine = limit - spot.put[spot.player]
            large = amount - spot.put[spot.player] >= game.allin_threshold * mine
            if large or self._spent(spot, amount) == self.stack:
                amount = limit
            found.add(min(amount, limit))
        return sorted(found)

    def _spent(self, spot: _Spot, amount: float) -> float:
        """The total that a player has put in after an amount on this street; exactly the stack if all in."""
        spent, stack = spot.before + amount, self.stack
        return stack if spent >= stack * (1 - TOLERANCE) else spent

    def _sizes(self, spot: _Spot) -> tuple[BetSize, ...]:
        bets, raises, donks = self.game.sizes
        kind = raises if spot.raises else bets
        if spot.raises == 0 and spot.player == 0 and spot.bettor == 1:
            kind = donks
        return kind[spot.player][spot.street]

    def _fold(self, spot: _Spot, text: str) -> PublicNode:
        lost = self.game.pot / 2 + spot.before + spot.put[spot.player]
        payoff = -lost if spot.player == 0 else lost
        return PublicNode(FOLD, self._span(spot.street), text=text, payoff=payoff, fee=self.game.house(2 * lost))

    def _closed(self, spot: _Spot, spent: float, bettor: int, text: str) -> PublicNode:
        """The betting of a street is over; each player has put ``spent`` in so far."""
        if spent >= self.stack or spot.street + 1 == len(STREETS):
            last = len(STREETS) - 1
            half, fee = self.game.pot / 2 + spent, self.game.house(self.game.pot + 2 * spent) / 2
            node = PublicNode(SHOWDOWN, self._span(last), text=text, payoff=half - fee, fee=fee)
            return self._dealt(node, spot.street, last)
        return self._dealt(self._street(spot.street + 1, spent, bettor, text), spot.street, spot.street + 1)

    def _dealt(self, node: PublicNode, before: int, after: int) -> PublicNode:
        return add_links(node, before - self.first, after - self.first, self.spans)

    def _span(self, street: int) -> tuple[int, int]:
        return self.spans[street - self.first]
