"""Goofspiel, the bidding game, for two players (Ross 1971; Gibson 2014, section 5.3.2; Čermák 2018, section 5.3.2.2).

Rules: three suits of cards 1 .. n.  One suit is the prizes, turned up one by one; each player holds another and bids
one card for each prize, simultaneously.  The higher bid takes the prize; after equal bids nobody gets it.  Bids are
spent.  Simultaneous bids are modelled as bids in turn: the second player's information set does not contain the first
bid, which is face down.

The parameters give the versions of the literature:

* ``goofspiel`` : prizes from n down to 1, a player learns only who won each bid, the higher score wins 1 (Gibson);
* ``ii_goofspiel`` : the same, where the payoff is the difference of the scores (Čermák's GSx);
* ``goofspiel(order=random,observe=bids)`` : the usual game, with shuffled prizes and bids turned face up.

The last bid is forced and still a move, as in both theses, so information sets with a single action count;
``last_bid=false`` plays it automatically, as OpenSpiel does.  The last prize is never a chance event.

An information set lists the player's own rounds: ``6w 4l`` is a win with 6 and a loss with 4 (``t`` is a tie); with
``observe=bids`` it is ``6-2 4-5``, own bid first; with a random order ``3:6w 5:`` has the prizes as well.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from typing import ClassVar

from counterplay.game.game import CHANCE, TERMINAL, Game, Scheme
from counterplay.game.registry import parameter, register

ORDERS = ("descending", "ascending", "random")
PAYOFFS = ("win", "points")
VIEWS = ("outcome", "bids")


def outcome_of(own: int, other: int) -> str:
    """How a round went for the player who bid ``own``: w won, t tied, l lost."""
    return "t" if own == other else "w" if own > other else "l"


class GoofspielState:
    """The hands, what each player has seen, the bid that is face down (0 if none) and the first player's lead."""

    __slots__ = ("bid", "game", "hands", "lead", "player", "prize", "prizes", "seen")

    def __init__(
        self, game: Goofspiel, hands: tuple[tuple[int, ...], tuple[int, ...]], prizes: tuple[int, ...], prize: int,
        seen: tuple[str, str], lead: int, bid: int,
    ) -> None:  # fmt: skip
        self.game = game
        self.hands = hands
        self.prizes = prizes  # those not turned up yet
        self.prize = prize  # the one being played for; 0 while chance chooses it
        self.seen = seen
        self.lead = lead
        self.bid = bid
        self.player = CHANCE if not prize else 1 if bid else 0 if hands[0] else TERMINAL

    def chance(self) -> list[tuple[int, float]]:
        return [(prize, 1 / len(self.prizes)) for prize in self.prizes]

    def actions(self) -> tuple[int, ...]:
        return self.hands[self.player]

    def child(self, action: int) -> GoofspielState:
        if self.player == CHANCE:
            left = tuple(prize for prize in self.prizes if prize != action)
            turned = (f"{self.seen[0]}{action}:", f"{self.seen[1]}{action}:")
            return GoofspielState(self.game, self.hands, left, action, turned, self.lead, 0)
        if self.player == 0:
            return GoofspielState(self.game, self.hands, self.prizes, self.prize, self.seen, self.lead, action)
        first, second = self.hands
        bid = self.bid
        hands = (tuple([c for c in first if c != bid]), tuple([c for c in second if c != action]))
        lead = self.lead
        if bid != action:
            lead += self.prize if bid > action else -self.prize
        return self.game.next_round(hands, self.prizes, self.game.remember(self.seen, bid, action), lead)

    def infoset(self) -> str:
        return self.seen[self.player].rstrip() or "start"

    def utilities(self) -> tuple[float, float]:
        lead = float(self.lead)
        if self.game.payoff == "win":
            lead = float((lead > 0) - (lead < 0))
        return (lead, -lead)


def lowest_and_highest(player: int, infoset: str, actions: tuple[str, ...]) -> list[float]:
    """The first and the last action always, the others with probability 1/2 (Gibson 2014, section 5.3.2)."""
    return [1.0 if place in (0, len(actions) - 1) else 0.5 for place in range(len(actions))]


@register("goofspiel")
class Goofspiel(Game):
    """Goofspiel: bid cards for prizes; by default bids stay hidden and the higher score wins."""

    cards: int = parameter(5, "cards in each suit", least=1, most=100)
    order: str = parameter("descending", "order of the prizes: descending, ascending or random", choices=ORDERS)
    payoff: str = parameter("win", "win: 1 to the higher score; points: the difference of the scores", choices=PAYOFFS)
    observe: str = parameter("outcome", "what is seen of a round: outcome (won, lost, tied) or bids", choices=VIEWS)
    last_bid: bool = parameter(True, "the last, forced bid is a move")
    zero_sum = True
    sampling_schemes: ClassVar[Mapping[str, Scheme]] = {"goofspiel": lowest_and_highest}
    sampling_scheme: ClassVar[str | None] = "goofspiel"
    forgets: ClassVar[Mapping[str, str]] = {
        "last-bids": "remember the cards left, the outcomes and the last N own bids"
    }

    def root(self) -> GoofspielState:
        """Before the first prize."""
        suit = tuple(range(1, self.cards + 1))
        return self.next_round((suit, suit), suit[::-1] if self.order == "descending" else suit, ("", ""), 0)

    def next_round(
        self, hands: tuple[tuple[int, ...], tuple[int, ...]], prizes: tuple[int, ...], seen: tuple[str, str], lead: int
    ) -> GoofspielState:
        """The state in which the next prize is turned up, or the end of the game."""
        if not prizes:
            return GoofspielState(self, hands, (), 1, seen, lead, 0)
        if len(prizes) == 1 and not self.last_bid:
            (first,), (second,) = hands
            lead += prizes[0] * ((first > second) - (first < second))
            return GoofspielState(self, ((), ()), (), 1, seen, lead, 0)
        if self.order == "random":
            if len(prizes) > 1:
                return GoofspielState(self, hands, prizes, 0, seen, lead, 0)
            first_seen, second_seen = seen
            seen = (f"{first_seen}{prizes[0]}:", f"{second_seen}{prizes[0]}:")
        return GoofspielState(self, hands, prizes[1:], prizes[0], seen, lead, 0)

    def remember(self, seen: tuple[str, str], bid: int, answer: int) -> tuple[str, str]:
        """What the players have seen after a round in which the first bid ``bid`` and the second ``answer``."""
        first, second = seen
        if self.observe == "bids":
            return (f"{first}{bid}-{answer} ", f"{second}{answer}-{bid} ")
        if bid == answer:
            return (f"{first}{bid}t ", f"{second}{answer}t ")
        return (
            (f"{first}{bid}w ", f"{second}{answer}l ") if bid > answer else (f"{first}{bid}l ", f"{second}{answer}w ")
        )

    def forget(self, what: str, value: str) -> Callable[[str], str]:
        """``last-bids``: of the rounds before the last N, only the outcomes and which cards are gone."""
        keep = self.kept_count(what, value)
        round_seen = re.compile(r"(?:(\d+):)?(?:(\d+)(?:([wlt])|-(\d+)))?")

        def left(name: str) -> str:
            rounds = [match.groups() for match in map(round_seen.fullmatch, name.split()) if match]
            bids = [int(bid) for _, bid, _, _ in rounds if bid]
            kept = [""] * max(0, len(bids) - keep) + [str(bid) for bid in bids[max(0, len(bids) - keep) :]]
            parts = []
            for number, (prize, bid, outcome, answer) in enumerate(rounds):
                if bid and not outcome:
                    outcome = f"-{answer}" if kept[number] else outcome_of(int(bid), int(answer))
                parts.append((f"{prize}:" if prize else "") + (f"{kept[number]}{outcome}" if bid else ""))
            return " ".join(parts) + " spent " + " ".join(str(bid) for bid in sorted(bids))

        return left


@register("ii_goofspiel")
class ImperfectInformationGoofspiel(Goofspiel):
    """Goofspiel with hidden bids, descending prizes and points as payoff (GSx)."""

    order: str = dataclasses.field(init=False, default="descending")
    payoff: str = dataclasses.field(init=False, default="points")
    observe: str = dataclasses.field(init=False, default="outcome")
    last_bid: bool = dataclasses.field(init=False, default=True)
