"""Rhode Island hold'em written out by hand, for any small deck.

Source: Shi and Littman 2001.  Both players pay an ante of 5 and get one card.  There are three rounds of betting;
before the second and the third a card is laid open.  A bet or raise is 10 chips in the first round and 20 in the
others, at most ``cap`` of them in a round; the first player begins each round.  The better hand of three cards takes
the pot.

``straights`` says whether straights and flushes of three count, as in that paper, or only equal ranks and high
cards, as in games of the computer poker competition.
"""

from __future__ import annotations

import dataclasses

from counterplay.game.game import CHANCE, TERMINAL, Game

ANTE = 5
BETS = (10, 20, 20)
ORDER = "23456789TJQKA"


def straight_top(ranks: list[int]) -> int:
    """The highest card of a straight of three ranks in descending order, -1 if it is none; the ace is low in A23."""
    if ranks == [12, 1, 0]:
        return 1
    return ranks[0] if ranks[0] - 1 == ranks[1] == ranks[2] + 1 else -1


def hand_value(cards: tuple[str, ...], straights: bool) -> tuple[int, ...]:
    """What three cards are worth: tuples compare as hands do."""
    ranks = sorted((ORDER.index(card[0]) for card in cards), reverse=True)
    flush = len({card[1] for card in cards}) == 1
    top = straight_top(ranks)
    if straights and flush and top >= 0:
        return (5, top)
    if ranks[0] == ranks[2]:
        return (4, ranks[0])
    if straights and top >= 0:
        return (3, top)
    if straights and flush:
        return (2, *ranks)
    if len(set(ranks)) == 2:
        pair = ranks[1]
        return (1, pair, sum(ranks) - 2 * pair)
    return (0, *ranks)


@dataclasses.dataclass(frozen=True)
class RhodeIslandState:
    """Cards as dealt (the first player's, the second's, two open ones), and the betting of each round reached."""

    game: RhodeIsland
    dealt: tuple[str, ...] = ()
    betting: tuple[str, ...] = ("",)

    @property
    def over(self) -> bool:
        last = self.betting[-1]
        return last.endswith("f") or (len(self.betting) == 3 and round_over(last))

    @property
    def player(self) -> int:
        if self.over:
            return TERMINAL
        return CHANCE if len(self.dealt) < len(self.betting) + 1 else len(self.betting[-1]) % 2

    def chance(self) -> list[tuple[str, float]]:
        left = [card for card in self.game.deck if card not in self.dealt]
        return [(card, 1 / len(left)) for card in left]

    def actions(self) -> tuple[str, ...]:
        raises = self.betting[-1].count("r")
        return (("f",) if self.betting[-1].endswith("r") else ()) + ("c",) + (("r",) if raises < self.game.cap else ())

    def child(self, action: str) -> RhodeIslandState:
        if self.player == CHANCE:
            return dataclasses.replace(self, dealt=(*self.dealt, action))
        betting = (*self.betting[:-1], self.betting[-1] + action)
        if len(betting) < 3 and action == "c" and round_over(betting[-1]):
            betting = (*betting, "")
        return dataclasses.replace(self, betting=betting)

    def infoset(self) -> str:
        return f"{' '.join((self.dealt[self.player], *self.dealt[2:]))}; {', '.join(self.betting)}"

    def utilities(self) -> tuple[float, float]:
        paid = [ANTE, ANTE]
        for bet, actions in zip(BETS, self.betting, strict=False):
            level = max(paid)
            for number, action in enumerate(actions):
                level += bet if action == "r" else 0
                paid[number % 2] = level if action != "f" else paid[number % 2]
        if self.betting[-1].endswith("f"):
            folded = (len(self.betting[-1]) - 1) % 2
            lost = float(paid[folded])
            return (-lost, lost) if folded == 0 else (lost, -lost)
        first, second = (hand_value((own, *self.dealt[2:]), self.game.straights) for own in self.dealt[:2])
        won = float(paid[0]) * ((first > second) - (first < second))
        return (won, -won)


def round_over(actions: str) -> bool:
    """Whether a call ends the round: not the first action of all, which only passes."""
    return len(actions) > 1 and actions.endswith("c")


@dataclasses.dataclass(frozen=True)
class RhodeIsland(Game):
    """The game with a deck of cards such as ``Ks``."""

    deck: tuple[str, ...]
    cap: int = 3
    straights: bool = False
    players = 2
    zero_sum = True

    def spec(self) -> str:
        return "rhode island by hand"

    def root(self) -> RhodeIslandState:
        return RhodeIslandState(self)
