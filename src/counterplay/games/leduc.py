"""Leduc hold'em for any number of players, ranks and suits (Southey et al. 2005; Gibson 2014, section 3.3).

Rules: every player antes and gets one card; a first betting round; one community card is turned; a second round.
A bet or raise is 2 chips in the first round and 4 in the second, at most ``cap`` of them in a round.  A pair with
the board wins, otherwise the highest rank; equal hands split the pot.  In both rounds the first player who has not
folded acts first.

The parameters give the three versions of the literature for two players:

* ``leduc`` : cards are seen by rank, 288 information sets (Johanson 2016, section 1.1);
* ``leduc(suited=true)`` : cards are seen with their suits, 936 information sets (the form in OpenSpiel);
* ``leduc(physical_board=true)`` : the board is one of the cards that remain given the player's rank, 468
  information sets (Gibson 2014, table 7.1).

All have the same value.  ``forgetting ranks=JQ-K`` is an abstraction of Gibson 2014, section 7.3.1: before the board
the ranks of a group are one, and after it only whether the board pairs the private card is seen.

Betting does not depend on the cards, so its tree is built once and shared by all deals.
A betting string has one letter for each action: k check, c call, b bet, r raise, f fold; ``/`` separates rounds.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Self

from counterplay.errors import GameError
from counterplay.game.game import CHANCE, TERMINAL, Game
from counterplay.game.registry import parameter, register
from counterplay.games.one_card_poker import LETTER, betting_letters


@dataclasses.dataclass(frozen=True)
class Betting:
    """A node of the betting tree: what is public apart from the board card."""

    player: int  # who acts; CHANCE when the board card is due; TERMINAL when the hand is over
    text: str
    actions: tuple[str, ...]
    children: dict[str, Betting]
    paid: tuple[int, ...]
    live: tuple[int, ...]


class CommunityState:
    """One private card each and a community card: those dealt so far, the board or -1, a node of the betting tree."""

    __slots__ = ("betting", "board", "deal", "game", "player")

    def __init__(self, game: Any, deal: tuple[int, ...], board: int, betting: Any) -> None:
        self.game = game
        self.deal = deal
        self.board = board
        self.betting = betting
        self.player = betting.player

    def actions(self) -> tuple[str, ...]:
        actions: tuple[str, ...] = self.betting.actions
        return actions

    def child(self, action: Any) -> Self:
        if self.player >= 0:
            return type(self)(self.game, self.deal, self.board, self.betting.children[action])
        card = self.game.deck[action]
        if len(self.deal) == self.game.players:
            return type(self)(self.game, self.deal, card, self.betting.children[""])
        deal = (*self.deal, card)
        dealt = self.betting if len(deal) < self.game.players else self.betting.children[""]
        return type(self)(self.game, deal, -1, dealt)

    def infoset(self) -> str:
        return f"{self.game.seen[self.deal[self.player]][self.board]}:{self.betting.text}"


def rank_names(ranks: int) -> list[str]:
    """How ranks are written, from the lowest."""
    letters = "JQK" if ranks == 3 else "23456789TJQKA"[-ranks:]
    return [letters[rank] if ranks <= 13 else f"{rank + 1}." for rank in range(ranks)]


class LeducState(CommunityState):
    """A state whose cards are rank * suits + suit."""

    __slots__ = ()

    def chance(self) -> list[tuple[str, float]]:
        left = [name for name, card in self.game.deck.items() if card not in self.deal]
        return [(name, 1 / len(left)) for name in left]

    def utilities(self) -> list[float]:
        betting = self.betting
        paid = betting.paid
        winners = betting.live
        if len(winners) > 1:
            suits = self.game.suits
            board = self.board // suits
            ranks = [self.deal[player] // suits for player in winners]
            best = board if board in ranks else max(ranks)
            winners = tuple(player for player, rank in zip(winners, ranks, strict=True) if rank == best)
        share = sum(paid) / len(winners)
        return [share - amount if player in winners else -float(amount) for player, amount in enumerate(paid)]


@register("leduc")
class Leduc(Game):
    """Leduc hold'em: one private card, one community card, two rounds of limit betting."""

    players: int = parameter(2, "number of players", least=2, most=10)
    ranks: int = parameter(3, "number of ranks in the deck", least=1, most=1000)
    suits: int = parameter(2, "number of suits in the deck", least=1, most=100)
    cap: int = parameter(2, "most bets and raises in a round", least=1, most=20)
    ante: int = parameter(1, "chips each player pays before the deal", least=1, most=1_000_000_000)
    bet: int = parameter(2, "chips of a bet or raise in the first round", least=1, most=1_000_000_000)
    big_bet: int = parameter(4, "chips of a bet or raise in the second round", least=1, most=1_000_000_000)
    suited: bool = parameter(False, "information sets show suits")
    physical_board: bool = parameter(False, "information sets distinguish board cards of one rank, not private ones")
    zero_sum = True
    forgets: ClassVar[Mapping[str, str]] = {
        "ranks": "which rank of a group it is, as in ranks=JQ-K, and which board, but for a pair"
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.suited and self.physical_board:
            raise GameError("leduc: choose suited or physical_board, not both")
        if self.ranks * self.suits <= self.players:
            deck = self.ranks * self.suits
            raise GameError(f"leduc: {deck} cards are too few for {self.players} players and the board")

    @property
    def big_blind(self) -> float:
        """The ante."""
        return float(self.ante)

    def root(self) -> LeducState:
        """Before the deal."""
        return LeducState(self, (), -1, self._betting)

    @functools.cached_property
    def deck(self) -> dict[str, int]:
        """The cards by their names, from the lowest: ``Jc, Jd, Qc, ...``, or ``J, Q, K`` if there is one suit."""
        suits = self._suit_names if self.suits > 1 else [""]
        names = [rank + suit for rank in rank_names(self.ranks) for suit in suits]
        return {name: card for card, name in enumerate(names)}

    @property
    def _suit_names(self) -> Sequence[str]:
        return "cdhs"[: self.suits] if self.suits <= 4 else [f"_{suit + 1}" for suit in range(self.suits)]

    @functools.cached_property
    def seen(self) -> list[list[str]]:
        """What a player sees of the cards: ``seen[hole][board]``, and ``seen[hole][-1]`` before the board is dealt."""
        ranks, suits = rank_names(self.ranks), self._suit_names
        cards = [(rank, suit) for rank in range(self.ranks) for suit in range(self.suits)]
        table = []
        for rank, suit in cards:
            hole = ranks[rank] + (suits[suit] if self.suited else "")
            row = []
            for board_rank, board_suit in cards:
                if self.physical_board and board_rank == rank and board_suit > suit:
                    board_suit -= 1  # which of the remaining cards of this rank
                row.append(hole + ranks[board_rank] + (suits[board_suit] if self.suited or self.physical_board else ""))
            table.append([*row, hole])
        return table

    def forget(self, what: str, value: str) -> Callable[[str], str]:
        """As ``Game.forget``."""
        if what not in self.forgets:
            return super().forget(what, value)
        ranks, groups = rank_names(self.ranks), value.strip().split("-")
        if self.ranks > 13 or sorted("".join(groups)) != sorted(ranks) or "" in groups:
            raise GameError(f"{self.spec()}: ranks={'-'.join(ranks)} groups its ranks, each once; got {value!r}")
        group = {ranks.index(rank): one for one in groups for rank in one}
        shown: dict[str, str] = {}
        for card, row in enumerate(self.seen):
            own = card // self.suits
            shown[row[-1]] = group[own]
            for board, text in enumerate(row[:-1]):
                shown[text] = f"{group[own]} {'pair' if board // self.suits == own else 'other'}"

        def left(infoset: str) -> str:
            cards, colon, betting = infoset.partition(":")
            return shown.get(cards, cards) + colon + betting

        return left

    def acpc_rules(self) -> Mapping[str, Any] | None:
        """As ``Game.acpc_rules``; what ``physical_board`` shows no player of a match sees."""
        if self.ranks > 13 or self.suits > 4 or self.physical_board:
            return None
        return {
            "limit": True, "players": self.players, "rounds": 2, "blinds": (self.ante,) * self.players,
            "raise_sizes": (self.bet, self.big_bet), "max_raises": (self.cap,) * 2, "suits": self.suits,
            "ranks": self.ranks, "hole_cards": 1, "board_cards": (0, 1),
        }  # fmt: skip

    def acpc_infoset(
        self, hole: Sequence[int], boards: Sequence[Sequence[int]], actions: Sequence[Sequence[str]]
    ) -> str:
        """As ``Game.acpc_infoset``."""

        def number(card: int) -> int:
            return (card // 4 - (13 - self.ranks)) * self.suits + card % 4 - (4 - self.suits)

        board = number(boards[1][0]) if len(boards) > 1 else -1
        return f"{self.seen[number(hole[0])][board]}:{betting_letters(actions)}"

    @functools.cached_property
    def _betting(self) -> Betting:
        """The betting tree, below the node where cards are dealt."""
        everyone = tuple(range(self.players))
        first = self._point("", 0, (self.ante,) * self.players, everyone, everyone, 0)
        return Betting(CHANCE, "", (), {"": first}, first.paid, everyone)

    def _point(
        self, text: str, turn: int, paid: tuple[int, ...], live: tuple[int, ...], to_act: tuple[int, ...], bets: int
    ) -> Betting:
        """The betting tree from here: ``to_act`` must still answer, in order; ``bets`` were made this round."""
        if len(live) == 1 or (not to_act and turn == 1):
            return Betting(TERMINAL, text, (), {}, paid, live)
        if not to_act:
            following = self._point(text + "/", 1, paid, live, live, 0)
            return Betting(CHANCE, text, (), {"": following}, paid, live)
        player, *rest = to_act
        owes = max(paid) > paid[player]
        size = self.big_bet if turn else self.bet
        actions = (("fold", "call") if owes else ("check",)) + (
            (("raise",) if owes else ("bet",)) if bets < self.cap else ()
        )
        children = {}
        for action in actions:
            level = max(paid) + size * (action in ("bet", "raise"))
            now_paid = tuple(level if p == player and action != "fold" else amount for p, amount in enumerate(paid))
            now_live = tuple(p for p in live if p != player or action != "fold")
            answer = tuple(rest)
            if action in ("bet", "raise"):
                answer = tuple(p for p in (*range(player + 1, self.players), *range(player)) if p in live)
            raised = bets + (action in ("bet", "raise"))
            children[action] = self._point(text + LETTER[action], turn, now_paid, now_live, answer, raised)
        return Betting(player, text, actions, children, paid, live)
