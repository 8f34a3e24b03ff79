"""Oshi-Zumo, the pushing game (Kotani 1994; Buro 2004; Čermák 2018, section 4.5), also with a forgetful player.

Rules: a wrestler stands in the middle of a board with ``2 * size + 1`` positions; both players have ``coins``.  They
bid simultaneously, at least ``min_bid`` as long as they can and 0 afterwards; both pay, and the higher bid pushes the
wrestler one step towards the other side.  The game ends when the wrestler is off the board or nobody can bid.  The
player in whose half the wrestler is loses the distance from the middle (off the board counts ``size + 1``); with
``payoff=win`` it is 1, as in OpenSpiel.

Čermák's text hides the opponent's bids, but the published sizes (3,485,066 histories and the fractions of table 4.2
for 11 coins) are those of a game in which both see all bids.  That is the default; ``opponent_bids_observed=false``
follows the text.  ``remembered=k`` is the thesis' abstraction for the first player, the maximiser, who then knows the
coins left, who won each round (so where the wrestler is) and the player's own last k bids.

An information set lists the rounds, own bid first: ``5-3 1-1``, or ``5w 1t`` where bids are hidden (w won, t tied, l
lost).  A forgetful player's is ``wt coins 5 last 1``.

Legal bids depend only on the coins, so sizes need no tree: ``count_histories`` and ``count_sets`` count games of
millions of histories by (coins, coins, position) and by what the first player knows.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from counterplay.game.game import TERMINAL, Game
from counterplay.game.registry import parameter, register
from counterplay.games.goofspiel import outcome_of

ALL = -1
"""The value of ``remembered`` that means everything."""


class OshiZumoState:
    """Coins of both, the wrestler's position (towards the second player is positive), and the rounds so far."""

    __slots__ = ("bid", "coins", "game", "player", "position", "rounds", "seen")

    def __init__(
        self, game: OshiZumo, coins: tuple[int, int], position: int, rounds: tuple[tuple[int, int], ...],
        seen: tuple[str, str], bid: int | None,
    ) -> None:  # fmt: skip
        self.game = game
        self.coins = coins
        self.position = position
        self.rounds = rounds
        self.seen = seen
        self.bid = bid
        self.player = 1 if bid is not None else TERMINAL if game.is_over(*coins, position) else 0

    def actions(self) -> tuple[int, ...]:
        return self.game.bids[self.coins[self.player]]

    def child(self, action: int) -> OshiZumoState:
        game, bid = self.game, self.bid
        if bid is None:
            return OshiZumoState(game, self.coins, self.position, self.rounds, self.seen, action)
        coins = (self.coins[0] - bid, self.coins[1] - action)
        rounds = (*self.rounds, (bid, action))
        position = self.position + (bid > action) - (bid < action)
        return OshiZumoState(game, coins, position, rounds, game.observe(self.seen, rounds, coins[0]), None)

    def infoset(self) -> str:
        return self.seen[self.player] or "start"

    def utilities(self) -> tuple[float, float]:
        won = float(self.position)
        if self.game.payoff == "win":
            won = float((won > 0) - (won < 0))
        return (won, -won)


@register("oshi_zumo")
class OshiZumo(Game):
    """Oshi-Zumo: bid coins to push a wrestler off the other side of a board; the first player may be forgetful."""

    coins: int = parameter(5, "coins of each player", least=1, most=1000)
    size: int = parameter(3, "positions on each side of the middle", least=0, most=1000)
    min_bid: int = parameter(1, "least bid of a player who can afford it", least=1, most=1000)
    payoff: str = parameter("distance", "distance: the wrestler's distance from the middle; win: 1",
                            check=(("distance", "win").__contains__, "distance or win"))  # fmt: skip
    opponent_bids_observed: bool = parameter(True, "bids are shown after the round, not only who won it")
    remembered: int = parameter(ALL, "own bids that the first player remembers besides coins and outcomes; -1 for all",
                                least=ALL)  # fmt: skip
    zero_sum = True
    forgets: ClassVar[Mapping[str, str]] = {
        "last-moves": "remember the coins left, the outcomes and the last N own bids"
    }

    def root(self) -> Any:
        """Before the first bid."""
        start = self.observe(("", ""), (), self.coins)
        return OshiZumoState(self, (self.coins, self.coins), 0, (), start, None)

    @functools.cached_property
    def bids(self) -> list[tuple[int, ...]]:
        """The bids open to a player, by coins."""
        return [tuple(range(self.min_bid, coins + 1)) or (0,) for coins in range(self.coins + 1)]

    def is_over(self, first: int, second: int, position: int) -> bool:
        """Whether the game ends with these coins and this position."""
        return abs(position) > self.size or max(first, second) < self.min_bid

    def observe(self, seen: tuple[str, str], rounds: tuple[tuple[int, int], ...], coins: int) -> tuple[str, str]:
        """What both have seen after the rounds, the first player being left with ``coins``."""
        both = list(seen)
        if rounds:
            bid, answer = rounds[-1]
            for player, (own, other) in enumerate(((bid, answer), (answer, bid))):
                shown = f"{own}-{other}" if self.opponent_bids_observed else f"{own}{outcome_of(own, other)}"
                both[player] = f"{seen[player]} {shown}" if seen[player] else shown
        if self.remembered != ALL:
            outcomes = "".join(outcome_of(*bids) for bids in rounds)
            both[0] = _what_is_left(outcomes, coins, [bid for bid, _ in rounds], self.remembered)
        return both[0], both[1]

    def forget(self, what: str, value: str) -> Callable[[str], str]:
        """``last-moves``: the coins left, the outcomes and the last N own bids; the same names as ``remembered=N``."""
        if self.remembered != ALL:
            return super().forget(what, value)
        keep = self.kept_count(what, value)

        def left(name: str) -> str:
            bids, outcomes = [], ""
            for text in name.split() if name != "start" else []:
                own, _, other = text.partition("-")
                bids.append(int(own if other else own[:-1]))
                outcomes += outcome_of(bids[-1], int(other)) if other else own[-1]
            return _what_is_left(outcomes, self.coins - sum(bids), bids, keep)

        return left

    def count_histories(self) -> dict[str, int]:
        """Numbers of histories, of the first and the second player's decisions, and of terminal histories."""

        @functools.cache
        def below(first: int, second: int, position: int) -> tuple[int, int, int]:
            if self.is_over(first, second, position):
                return 0, 0, 1
            ours, theirs, ends = 1, len(self.bids[first]), 0
            for bid in self.bids[first]:
                for answer in self.bids[second]:
                    more = below(first - bid, second - answer, position + (bid > answer) - (bid < answer))
                    ours, theirs, ends = ours + more[0], theirs + more[1], ends + more[2]
            return ours, theirs, ends

        ours, theirs, ends = below(self.coins, self.coins, 0)
        return {"all": ours + theirs + ends, "first": ours, "second": theirs, "terminal": ends}

    def count_sets(self, remembered: int) -> dict[str, int]:
        """Sizes by what the first player knows from own bids and outcomes when ``remembered`` bids are kept (-1: all).

        ``decision`` is the number of information sets, ``terminal`` of what the player may know when the game ends,
        ``entries`` of the pairs of an information set and an action.  The count proceeds by rounds and keeps, for
        everything that the player may know, the coins that the opponent may have.
        """
        counts = {"decision": 0, "terminal": 0, "entries": 0}
        level: dict[tuple[str, int, tuple[int, ...]], set[int]] = {("", self.coins, ()): {self.coins}}
        while level:
            following: dict[tuple[str, int, tuple[int, ...]], set[int]] = {}
            for (outcomes, first, kept), seconds in level.items():
                position = outcomes.count("w") - outcomes.count("l")
                playing = {second for second in seconds if not self.is_over(first, second, position)}
                counts["terminal"] += len(playing) < len(seconds)
                if not playing:
                    continue
                counts["decision"] += 1
                counts["entries"] += len(self.bids[first])
                for bid in self.bids[first]:
                    last = (*kept, bid)
                    last = last if remembered == ALL else last[max(0, len(last) - remembered) :]
                    for second in playing:
                        for answer in self.bids[second]:
                            known = (outcomes + outcome_of(bid, answer), first - bid, last)
                            following.setdefault(known, set()).add(second - answer)
            level = following
        return counts


def relative_sets(coins: int, remembered: int) -> float:
    """The size of the first player's abstraction relative to the original game (Čermák 2018, table 4.2, left).

    Terminal histories count as information sets of the first player.  In the original game, where all bids are seen,
    each history before a round and each terminal history is one.
    """
    game = OshiZumo(coins=coins)
    sets, histories = game.count_sets(remembered), game.count_histories()
    return (sets["decision"] + sets["terminal"]) / (histories["first"] + histories["terminal"])


def _what_is_left(outcomes: str, coins: int, bids: list[int], remembered: int) -> str:
    text = f"{outcomes or 'start'} coins {coins}"
    last = bids[max(0, len(bids) - remembered) :]
    return f"{text} last {','.join(map(str, last))}" if last else text
