"""Plain estimators of match results in Kuhn poker and Leduc hold'em, hand by hand, as a poker player would write them.

Johanson 2016, section 7.4: loops over the points of a hand where we fold or call, and over the cards that we might have
held.  Burch, Schmid, Moravčík, Morrill and Bowling 2018 for AIVAT.  The rules of both games are written out here: an
ante of one chip, one private card each, one betting round in Kuhn poker and two with a board card between them in Leduc
hold'em.  A history is the tuple of everything that happened: ``("Jc", "Qd", "check", "check", "Kc", "bet", "fold")``.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Iterator, Mapping

History = tuple[str, ...]
Profile = Mapping[tuple[int, str], Mapping[str, float]]
Values = Mapping[History, float]

RANKS = "JQK"
LETTER = {"check": "k", "call": "c", "bet": "b", "raise": "r", "fold": "f"}
DEAL, OVER = "deal", "over"


@dataclasses.dataclass
class Table:
    """What lies on the table after a history."""

    board: str = ""
    betting: str = ""
    turn: int = 0
    round: int = 0
    bets: int = 0  # of this round
    acted: int = 0  # moves of this round
    folded: int | None = None
    phase: str = ""  # DEAL, OVER or nothing where a player acts
    paid: list[int] = dataclasses.field(default_factory=lambda: [1, 1])


@dataclasses.dataclass(frozen=True, eq=False)
class Rules:
    """One-card poker with a round for each size of a bet, and a board card before the second."""

    deck: tuple[str, ...]
    sizes: tuple[int, ...]
    cap: int
    suited: bool

    @functools.cache  # noqa: B019
    def table(self, history: History) -> Table:
        now = Table()
        if len(history) < 2:
            now.phase = DEAL
        for move in history[2:]:
            self._play(now, move)
        return now

    def _play(self, now: Table, move: str) -> None:
        if now.phase == DEAL:
            now.board, now.betting, now.phase = move, now.betting + "/", ""
            now.turn, now.round, now.bets, now.acted = 0, now.round + 1, 0, 0
            return
        now.betting += LETTER[move]
        now.acted += 1
        if move in ("bet", "raise"):
            now.paid[now.turn] = max(now.paid) + self.sizes[now.round]
            now.bets += 1
        elif move == "call":
            now.paid[now.turn] = max(now.paid)
        elif move == "fold":
            now.folded, now.phase = now.turn, OVER
        if move == "call" or (move == "check" and now.acted == 2):
            now.phase = OVER if now.round == len(self.sizes) - 1 else DEAL
        now.turn = 1 - now.turn

    def moves(self, history: History) -> list[str]:
        now = self.table(history)
        if now.phase == DEAL:
            return [card for card in self.deck if card not in history]
        if now.phase == OVER:
            return []
        facing = now.paid[now.turn] < max(now.paid)
        raising = ["raise" if facing else "bet"] if now.bets < self.cap else []
        return (["fold", "call"] if facing else ["check"]) + raising

    def seen(self, history: History, player: int) -> str:
        """What a player knows, as the library writes it."""
        now, letters = self.table(history), 2 if self.suited else 1
        return f"{history[player][:letters]}{now.board[:letters]}:{now.betting}"

    def money(self, history: History, player: int) -> float:
        now = self.table(history)
        if now.folded is not None:
            return float(-now.paid[player] if now.folded == player else now.paid[1 - player])
        mine, theirs = (self._strength(history[p], now.board) for p in (player, 1 - player))
        return float(now.paid[1 - player]) * ((mine > theirs) - (mine < theirs))

    def _strength(self, card: str, board: str) -> tuple[bool, int]:
        return card[0] == board[:1], RANKS.index(card[0])

    def histories(self, history: History = ()) -> Iterator[History]:
        yield history
        for move in self.moves(history):
            yield from self.histories((*history, move))

    def hands(self) -> Iterator[History]:
        return (history for history in self.histories() if self.table(history).phase == OVER)


KUHN = Rules(("J", "Q", "K"), (1,), 1, False)
SIX = ("Jc", "Jd", "Qc", "Qd", "Kc", "Kd")
LEDUC, SUITED_LEDUC = (Rules(SIX, (2, 4), 2, suited) for suited in (False, True))


@dataclasses.dataclass(frozen=True, eq=False)
class Match:
    """A player's hands of one strategy, what another one would have won, and a value of every history if luck counts.

    With ``partial`` information the other card is seen at showdowns only.
    """

    rules: Rules
    player: int
    played: Profile
    evaluated: Profile
    values: Values | None = None
    partial: bool = False

    # What a hand is worth -----------------------------------------------------------------------------------------

    @functools.cache  # noqa: B019
    def won(self, hand: History) -> float:
        """The winnings, without the luck of the cards if there are values."""
        money = self.rules.money(hand, self.player)
        if self.values is None or (self.partial and self.folded(hand)):
            return money
        return money - sum(self.luck(hand[: at + 1]) for at in range(len(hand)) if self.dealt(hand[:at]))

    def luck(self, after: History) -> float:
        """How much better the last card was than a card is on average."""
        before = after[:-1]
        values = [self.value((*before, card)) for card in self.rules.moves(before)]
        return self.value(after) - sum(values) / len(values)

    def value(self, history: History) -> float:
        over = self.rules.table(history).phase == OVER
        assert self.values is not None
        return self.rules.money(history, self.player) if over else self.values[history]

    def dealt(self, history: History) -> bool:
        return self.rules.table(history).phase == DEAL

    def folded(self, hand: History) -> bool:
        return self.rules.table(hand).folded is not None

    # How likely we made it so -------------------------------------------------------------------------------------

    def ours(self, history: History) -> bool:
        now = self.rules.table(history)
        return not now.phase and now.turn == self.player

    def sigma(self, history: History) -> float:
        """The reach of the player by the strategy in question."""
        return self.reach("evaluated", history)

    def sigma_hat(self, history: History) -> float:
        """The reach of the player by the strategy that was played."""
        return self.reach("played", history)

    @functools.cache  # noqa: B019
    def reach(self, which: str, history: History) -> float:
        if len(history) <= 2:
            return 1.0
        point = history[:-1]
        if not self.ours(point):
            return self.reach(which, point)
        profile = self.played if which == "played" else self.evaluated
        return self.reach(which, point) * profile[self.player, self.seen(point)][history[-1]]

    def seen(self, history: History) -> str:
        return self.rules.seen(history, self.player)

    def chance(self, history: History) -> float:
        return math.prod(
            1 / len(self.rules.moves(history[:at])) for at in range(len(history)) if self.dealt(history[:at])
        )

    # Estimates of a hand ------------------------------------------------------------------------------------------

    def basic(self, hand: History) -> float:
        return self.won(hand) * self.sigma(hand) / self.sigma_hat(hand)

    def early_folds(self, hand: History) -> float:
        total = 0.0
        for point in self.points(hand):
            for action in self.endings(point):
                end = (*point, action)
                total += self.won(end) * self.sigma(end) / self.sigma_hat(point)
        return total if self.imagined(hand) else total + self.basic(hand)

    def all_cards(self, hand: History) -> float:
        cards = self.cards(hand, self.partial and self.folded(hand))
        others = [self.holding(hand, card) for card in cards]
        top = sum(self.won(other) * self.sigma(other) for other in others)
        return top / sum(self.sigma_hat(other) for other in others)

    def all_cards_and_early_folds(self, hand: History) -> float:
        total = 0.0
        for point in self.points(hand):
            others = [self.holding(point, card) for card in self.cards(point, self.partial)]
            bottom = sum(self.sigma_hat(other) for other in others)
            for action in self.endings(point):
                ends = [(*other, action) for other in others]
                total += sum(self.won(end) * self.sigma(end) for end in ends) / bottom
        return total if self.imagined(hand) else total + self.all_cards(hand)

    def aivat(self, hand: History, other: Profile | None = None) -> float:
        """AIVAT of the strategy that was played; the strategy of the ``other`` player, if it is known."""
        total = self.mean(hand, lambda end: self.rules.money(end, self.player))
        for at in range(len(hand)):
            point, after = hand[:at], hand[: at + 1]
            if other is not None or self.ours(point) or self.dealt(point):
                total += self.mean(point, lambda now: self.ahead(now, other)) - self.mean(after, self.value)
        return total

    # Parts --------------------------------------------------------------------------------------------------------

    def points(self, hand: History) -> list[History]:
        """Where we acted."""
        return [hand[:at] for at in range(2, len(hand)) if self.ours(hand[:at])]

    def endings(self, point: History) -> list[str]:
        """Own actions that end the hand: folds, and with full information the last call or check."""
        ends = [action for action in self.rules.moves(point) if self.rules.table((*point, action)).phase == OVER]
        return [action for action in ends if action == "fold" or not self.partial]

    def imagined(self, hand: History) -> bool:
        """Whether the end of a hand is one of the endings that were summed."""
        return self.ours(hand[:-1]) and hand[-1] in self.endings(hand[:-1])

    def cards(self, history: History, hidden: bool) -> list[str]:
        """The cards that we might hold: none that lies on the table, and not the other's unless it is hidden."""
        gone = {self.rules.table(history).board} | (
            set() if hidden else set(history[1 - self.player : 2 - self.player])
        )
        return [card for card in self.rules.deck if card not in gone]

    def holding(self, history: History, card: str) -> History:
        return (*history[: self.player], card, *history[self.player + 1 :])

    def mean(self, history: History, of: Callable[[History], float]) -> float:
        """The mean of something over the cards that we might hold at a history."""
        others = [history]
        if len(history) > self.player:
            others = [self.holding(history, card) for card in self.cards(history, False)]
        weights = [self.chance(other) * self.sigma_hat(other) for other in others]
        return sum(weight * of(one) for weight, one in zip(weights, others, strict=True)) / sum(weights)

    def ahead(self, history: History, other: Profile | None) -> float:
        """The value one move later."""
        moves = self.rules.moves(history)
        if self.dealt(history):
            return sum(self.value((*history, card)) for card in moves) / len(moves)
        profile = self.played if self.ours(history) else other
        assert profile is not None
        turn = self.rules.table(history).turn
        row = profile[turn, self.rules.seen(history, turn)]
        return sum(row[action] * self.value((*history, action)) for action in moves)

    # Over all hands -----------------------------------------------------------------------------------------------

    def others_reach(self, other: Profile, hand: History) -> float:
        """The reach of chance and of the other player."""
        reach = self.chance(hand)
        for at in range(2, len(hand)):
            if not self.ours(hand[:at]) and not self.dealt(hand[:at]):
                reach *= other[1 - self.player, self.rules.seen(hand[:at], 1 - self.player)][hand[at]]
        return reach

    def truth(self, other: Profile) -> float:
        """What the strategy in question wins."""
        return sum(
            self.others_reach(other, hand) * self.sigma(hand) * self.rules.money(hand, self.player)
            for hand in self.rules.hands()
        )

    def expected(self, estimates: Mapping[History, float], other: Profile) -> float:
        """The mean of estimates over all hands."""
        return sum(self.others_reach(other, h) * self.sigma_hat(h) * value for h, value in estimates.items())


def exact_values(rules: Rules, player: int, profile: Profile) -> dict[History, float]:
    """What a player wins from every history on."""
    found: dict[History, float] = {}
    for history in sorted(rules.histories(), key=len, reverse=True):
        now, moves = rules.table(history), rules.moves(history)
        after = {move: found[*history, move] for move in moves}
        if now.phase == OVER:
            found[history] = rules.money(history, player)
        elif now.phase == DEAL:
            found[history] = sum(after.values()) / len(after)
        else:
            row = profile[now.turn, rules.seen(history, now.turn)]
            found[history] = sum(row[move] * value for move, value in after.items())
    return found
