"""Bluff, also Liar's Dice, Dudo or Perudo: private dice, rising public bids, a call (Lanctot et al. 2012, section 6;
Johanson 2016, section 3.2.3).

Rules: each player rolls dice unseen by the other.  A bid QxF says that at least Q of all dice in play show F or the
highest face, which is wild; a bid on the highest face counts that face alone.  Player 1 opens; in turn each player
makes a bid with more dice, or as many dice of a higher face, or calls ``bluff``.  The call ends the round: the caller
wins it when the last bid is wrong, the bidder when it is right.

* ``bluff(2,1)`` : one round, in which player 1 has two dice; the winner gets 1 (``lost`` and ``won`` change that).
* ``bluff(2,1,chain=true)`` : the whole game.  The dice are shown after a call, the loser gives one up, the winner
  opens the next round; a player without dice has lost.  Rounds are proper subgames, so their values can be the payoffs
  at the leaves of the previous round (Johanson 2016, section 3.2.3; ``experiments/bluff_chain.py``).
* ``recall=4`` : both players remember only the last four bids (Lanctot et al. 2012, section 6.1), and of earlier
  rounds only how many dice are left.

An information set is written ROLL:BIDS, as in ``36:1x2,2x2`` ; with ``chain`` it is preceded by the finished rounds and
the dice in play, as in ``(36|2:1x2,2x6)1v1/4:1x1``.  A roll is a multiset, its faces sorted.
Bids do not depend on the dice, so all deals share one bidding tree, which is built on demand.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import re
from collections.abc import Callable
from itertools import combinations_with_replacement
from typing import ClassVar

from counterplay.errors import GameError
from counterplay.game.game import CHANCE, TERMINAL, Game
from counterplay.game.public_play import PlayEnd, PlayPoint, PublicPlay
from counterplay.game.registry import parameter, register

CALL = "bluff"
MOST_ROLLS, MOST_BIDS = 20_000, 1_000
"""What can be listed before anything is estimated."""

NAME = re.compile(r"(?:.*\))?([^():]*:)([^():]*)")
"""The name of an information set: finished rounds, dice, bids."""


class Table:
    """What all deals of a round share: the bids, the rolls, how often each face counts in each deal.

    Attributes
    ----------
    bids : list of (int, int, str)
        Quantity, face and text of each bid, from the lowest.
    rolls : two lists of (str, float)
        What each player can roll, with its probability.
    counts : two dicts of str to list of int
        ``counts[player][roll][face]`` is the number of the player's dice that match a bid on ``face`` (from 0).
    """

    def __init__(self, dice: tuple[int, int], sides: int, recall: int, opener: int) -> None:
        self.dice = dice
        self.recall = recall
        faces = [str(face + 1) for face in range(sides)]
        self.bids = [(q, f, f"{q}x{faces[f]}") for q in range(1, sum(dice) + 1) for f in range(sides)]
        self.number = {text: number for number, (_, _, text) in enumerate(self.bids)}
        labels = [text for _, _, text in self.bids]
        self.actions = [(*labels[last + 1 :], CALL) for last in range(len(labels))]
        join = "".join if sides < 10 else ".".join
        rolls: list[list[tuple[str, float]]] = []
        self.counts: list[dict[str, list[int]]] = []
        for number in dice:
            rolled = [(roll, join(faces[face] for face in roll), chance) for roll, chance in _rolls(number, sides)]
            rolls.append([(name, chance) for _, name, chance in rolled])
            fits = {
                name: [sum(die in (face, sides - 1) for die in roll) for face in range(sides)]
                for roll, name, _ in rolled
            }
            self.counts.append(fits)
        self.rolls = rolls
        self.opening = Point(self, opener, (), tuple(labels))


class Point:
    """A node of the bidding tree: who acts, the bids that are remembered, the last bid."""

    __slots__ = ("actions", "bids", "children", "last", "player", "table", "text")

    def __init__(self, table: Table, player: int, bids: tuple[int, ...], actions: tuple[str, ...]) -> None:
        self.table = table
        self.player = player
        self.bids = bids
        self.last = bids[-1] if bids else -1
        self.text = ",".join([table.bids[bid][2] for bid in bids])
        self.actions = actions
        self.children: dict[str, Point] = {}

    def after(self, action: str) -> Point:
        """The node after a bid, created on first use."""
        table = self.table
        bid = table.number[action]
        bids = (*self.bids, bid)[-table.recall :]  # all of them when recall is 0
        point = self.children[action] = Point(table, 1 - self.player, bids, table.actions[bid])
        return point


@dataclasses.dataclass(slots=True, eq=False)
class BluffState:
    """The finished rounds (text), the rolls of the current one, and a node of its bidding tree."""

    game: Bluff
    past: str
    rolls: tuple[str, ...]
    point: Point
    player: int

    def chance(self) -> list[tuple[str, float]]:
        return self.point.table.rolls[len(self.rolls)]

    def actions(self) -> tuple[str, ...]:
        return self.point.actions

    def infoset(self) -> str:
        return f"{self.past}{self.rolls[self.player]}:{self.point.text}"

    def child(self, action: str) -> BluffState:
        point = self.point
        if self.player == CHANCE:
            rolls = (*self.rolls, action)
            return BluffState(self.game, self.past, rolls, point, point.player if len(rolls) == 2 else CHANCE)
        if action == CALL:
            return self._next_round() if self.game.chain else self._end()
        following = point.children.get(action) or point.after(action)
        return BluffState(self.game, self.past, self.rolls, following, following.player)

    def utilities(self) -> tuple[float, float]:
        won = self.game.lost if self._loser() == 0 else self.game.won
        return won, -won

    def _loser(self) -> int:
        """Who loses the round when the acting player calls."""
        table, caller = self.point.table, self.point.player
        quantity, face, _ = table.bids[self.point.last]
        one, two = self.rolls
        holds = table.counts[0][one][face] + table.counts[1][two][face] >= quantity
        return caller if holds else 1 - caller

    def _end(self) -> BluffState:
        return BluffState(self.game, self.past, self.rolls, self.point, TERMINAL)

    def _next_round(self) -> BluffState:
        """After a call in a chain of rounds: the loser gives up a die."""
        loser = self._loser()
        one, two = self.point.table.dice
        dice = (one - 1, two) if loser == 0 else (one, two - 1)
        if 0 in dice:
            return self._end()
        past = f"{dice[0]}v{dice[1]}/"
        if not self.game.recall:
            over = self.past[: self.past.rfind(")") + 1]
            past = f"{over}({'|'.join(self.rolls)}:{self.point.text}){past}"
        return BluffState(self.game, past, (), self.game.table(dice, 1 - loser).opening, CHANCE)


_ROLL = re.compile(r"(?:.*\))?(?:[^():/]*/)?([^():/]*):")
_BID = re.compile(r"(\d+)x(\d+)")


def bluff_scheme(player: int, infoset: str, actions: tuple[str, ...]) -> list[float]:
    """Always: the call, one or two of the two highest faces, one to four of each face in the player's hand.

    Gibson 2014, section 5.3.2, which gives no probability for the other bids; as in its other schemes it is 1/2.
    """
    match = _ROLL.match(infoset)
    if match is None:
        raise GameError(f"the scheme bluff is for the game bluff; it cannot read the information set {infoset!r}")
    roll = match.group(1)
    hand = set(roll.split(".") if "." in roll else roll)
    bids = [_BID.fullmatch(action) for action in actions]
    highest = max((int(bid.group(2)) for bid in bids if bid), default=0)
    chances = []
    for bid in bids:
        if bid is None:
            chances.append(1.0)
            continue
        quantity, face = int(bid.group(1)), bid.group(2)
        sure = (quantity <= 2 and int(face) >= highest - 1) or (quantity <= 4 and face in hand)
        chances.append(1.0 if sure else 0.5)
    return chances


@register("bluff")
class Bluff(Game):
    """Bluff (Liar's Dice): private dice, rising bids about all dice, a call of bluff."""

    d1: int = parameter(1, "dice of player 1, who opens", least=1, most=20)
    d2: int = parameter(1, "dice of player 2", least=1, most=20)
    sides: int = parameter(6, "faces of a die; the highest is wild", least=2, most=100)
    recall: int = parameter(0, "how many of the last bids are remembered; 0 for all", least=0, most=1_000_000)
    chain: bool = parameter(False, "the loser of a round gives up a die and the winner opens the next")
    lost: float = parameter(-1.0, "what player 1 gets when it loses")
    won: float = parameter(1.0, "what player 1 gets when it wins")
    zero_sum = True
    sampling_schemes: ClassVar = {"bluff": bluff_scheme}
    sampling_scheme: ClassVar = "bluff"
    forgets: ClassVar = {"last-bids": "remember only the last N bids, and of earlier rounds only the dice left"}

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (math.isfinite(self.lost) and math.isfinite(self.won)):
            raise GameError(f"bluff: lost and won must be finite numbers; got {self.lost} and {self.won}")
        rolls = max(math.comb(dice + self.sides - 1, dice) for dice in (self.d1, self.d2))
        if rolls > MOST_ROLLS or (self.d1 + self.d2) * self.sides > MOST_BIDS:
            raise GameError(
                f"bluff: a player has {rolls:,} rolls and there are {(self.d1 + self.d2) * self.sides:,} bids; at most "
                f"{MOST_ROLLS:,} and {MOST_BIDS:,} can be listed; use fewer dice or sides"
            )

    def root(self) -> BluffState:
        """Before the first roll."""
        past = f"{self.d1}v{self.d2}/" if self.chain else ""
        return BluffState(self, past, (), self.table((self.d1, self.d2), 0).opening, CHANCE)

    @functools.cached_property
    def _tables(self) -> dict[tuple[tuple[int, int], int], Table]:
        return {}

    def table(self, dice: tuple[int, int], opener: int) -> Table:
        """What the rounds with these dice and this opener share."""
        found = self._tables.get((dice, opener))
        if found is None:
            found = self._tables[dice, opener] = Table(dice, self.sides, self.recall, opener)
        return found

    def public_play(self) -> PublicPlay | None:
        """One round: a node is the last bid and who acts, a terminal node the last bid and who has called.

        Payoffs depend on how many dice of each player match the bid (Johanson 2016, section 3.3.2).  None if dice are
        shown during play (``chain``) or bids are forgotten.
        """
        if self.chain or self.recall:
            return None
        table = self.table((self.d1, self.d2), 0)
        bids = len(table.bids)
        points: list[PlayPoint | PlayEnd] = [
            PlayPoint(0, table.opening.actions, tuple(1 + 2 * b + 1 for b in range(bids)))
        ]
        for bid in range(bids):
            for player in (0, 1):  # the other one has made the bid
                higher = tuple(1 + 2 * b + 1 - player for b in range(bid + 1, bids))
                points.append(PlayPoint(player, table.actions[bid], (*higher, 1 + 2 * bids + 2 * bid + player)))
        points += [self._called(table, bid, caller) for bid in range(bids) for caller in (0, 1)]
        hands = (tuple(table.rolls[0]), tuple(table.rolls[1]))
        return PublicPlay(hands, tuple(points), lambda roll, bids: f"{roll}:{','.join(bids)}")

    def _called(self, table: Table, bid: int, caller: int) -> PlayEnd:
        """The terminal node after a bid is called."""
        quantity, face, _ = table.bids[bid]
        one, two = (tuple(table.counts[p][roll][face] for roll, _ in table.rolls[p]) for p in (0, 1))
        loser = [[caller if k + n >= quantity else 1 - caller for n in range(self.d2 + 1)] for k in range(self.d1 + 1)]
        return PlayEnd((one, two), tuple(tuple(self.lost if p == 0 else self.won for p in row) for row in loser))

    def forget(self, what: str, value: str) -> Callable[[str], str]:
        """``last-bids`` with a number N keeps the last N bids of the round."""
        if what not in self.forgets:
            return super().forget(what, value)
        if not value.strip().isdecimal() or int(value) < 1:
            raise GameError(f"bluff: last-bids takes an integer, at least 1; got {value!r}")
        kept = int(value)

        def remainder(name: str) -> str:
            match = NAME.fullmatch(name)
            if match is None:
                raise GameError(f"{name!r} is not an information set of {self.spec()}")
            return match.group(1) + ",".join(match.group(2).split(",")[-kept:])

        return remainder


def count_infosets(d1: int, d2: int, sides: int = 6, recall: int = 0) -> tuple[tuple[int, int], int]:
    """Count the information sets of one round without building its tree.

    A player's set is a roll and the bids remembered, the *window*.  A window shorter than ``recall`` is all that was
    bid, so its length determines who acts; one of length ``recall`` may follow an earlier bid or none, so both players
    can hold it unless it starts with the lowest bid (Lanctot et al. 2012, section 6 and table 1).

    Returns
    -------
    (int, int)
        Information sets of each player.
    int
        Pairs of an information set and an action, of both players together.
    """
    game = Bluff(d1, d2, sides, recall)
    bids = game.sides * (game.d1 + game.d2)
    longest = game.recall or bids
    rolls = [math.comb(dice + sides - 1, dice) for dice in (d1, d2)]
    windows, entries = [1, 0], [bids, 0]  # the opening is player 1's
    for length in range(1, min(longest, bids) + 1):
        for last in range(1, bids + 1):
            starts_low = math.comb(last - 2, length - 2) if length > 1 and last > 1 else int(length == last == 1)
            starts_higher = math.comb(last - 2, length - 1) if last > 1 else 0
            for player in (0, 1):
                certain = player == length % 2
                held = starts_low * certain + starts_higher * (certain or length == game.recall)
                windows[player] += held
                entries[player] += held * (bids - last + 1)
    sets = (windows[0] * rolls[0], windows[1] * rolls[1])
    return sets, entries[0] * rolls[0] + entries[1] * rolls[1]


def _rolls(dice: int, sides: int) -> list[tuple[tuple[int, ...], float]]:
    """The rolls of some dice as sorted faces from 0, with their multinomial probabilities."""
    rolls = []
    for roll in combinations_with_replacement(range(sides), dice):
        orders = math.factorial(dice)
        for face in set(roll):
            orders //= math.factorial(roll.count(face))
        rolls.append((roll, orders / sides**dice))
    return rolls
