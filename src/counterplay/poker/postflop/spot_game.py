"""A postflop spot as a game of states, to be played hand by hand: chance deals the hands and the cards to come.

The hands are dealt together, by the product of their weights in the ranges, no card twice; then the cards of the later
streets, each that is left with the same probability.  The betting is that of the public tree, so that the keys of
infosets, ``AsKd/QsJh2h/4c:check bet25``, are those of its strategies.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from counterplay.game.game import CHANCE, TERMINAL, Game
from counterplay.poker.board_tree import compatible_mass
from counterplay.poker.cards import CARDS, card_text, cards_text, deck, parse_card, parse_cards
from counterplay.poker.evaluator import rank_hand
from counterplay.poker.postflop.subgame import Subgame, parse_subgame
from counterplay.poker.ranges import holdem_hands
from counterplay.tree.public.public_tree import CUT, FOLD, LINK, PublicTree

Outcomes = list[tuple[str, float]]


@dataclasses.dataclass(frozen=True, eq=False)
class SpotGame(Game):
    """The spot of a public tree; player 0 is out of position.

    Utilities count from the half of the pot that each player has put in: the winner of a hand without bets gains the
    other half.
    """

    tree: PublicTree

    def __post_init__(self) -> None:
        """There are no parameters to check."""

    def spec(self) -> str:
        """The name of the subgame."""
        return self.tree.name

    @functools.cached_property
    def subgame(self) -> Subgame:
        """The board, the ranges and the sizes."""
        return parse_subgame(self.tree.name)

    def root(self) -> SpotState:
        """Before the hands are dealt."""
        return SpotState(self, 0, (), self.subgame.cards)

    def num_histories(self) -> int:
        """Counted from the ranges and the nodes of the tree."""
        holes, (first, second) = holdem_hands(), self.subgame.ranges
        pairs = round(float(compatible_mass(holes, (second > 0).astype(np.float64))[first > 0].sum()))
        left = CARDS - 4 - len(self.subgame.cards)
        cuts = (self.tree.kind == LINK) & (self.tree.link_deal == CUT)
        deals, nodes = np.unique(self.tree.deal_low[~cuts], return_counts=True)
        dealt = [len(parse_cards(self.tree.deal_text[deal])) - len(self.subgame.cards) for deal in deals.tolist()]
        runs: int = sum(count * math.perm(left, cards) for cards, count in zip(dealt, nodes.tolist(), strict=True))
        return 1 + int(np.count_nonzero(self._first_hands)) + pairs * runs

    @functools.cached_property
    def _first_hands(self) -> NDArray[np.float64]:
        """The weight of each hand of player 0, beside all that player 1 can hold."""
        first, second = self.subgame.ranges
        return first * compatible_mass(holdem_hands(), second)

    def hands_beside(self, hole: Sequence[int]) -> Outcomes:
        """The hands that can be dealt with their probabilities: to player 0, or to player 1 beside player 0's."""
        weights = self._first_hands
        if hole:
            weights = self.subgame.ranges[1] * ~np.isin(holdem_hands(), hole).any(axis=1)
        held = np.flatnonzero(weights)
        names = [cards_text(cards[::-1]) for cards in holdem_hands()[held].tolist()]
        return list(zip(names, (weights[held] / weights[held].sum()).tolist(), strict=True))


@dataclasses.dataclass(frozen=True, eq=False)
class SpotState:
    """A history of a spot: the node of the tree, the hands dealt so far, the board."""

    game: SpotGame
    node: int
    hands: tuple[tuple[int, ...], ...]
    board: tuple[int, ...]

    @property
    def player(self) -> int:
        """Who acts."""
        kind = int(self.game.tree.kind[self.node])
        if len(self.hands) < 2 or kind == LINK:
            return CHANCE
        return kind if kind < LINK else TERMINAL

    def actions(self) -> tuple[str, ...]:
        """The actions of the tree."""
        return self.game.tree.actions_of(self.node)

    def chance(self) -> Outcomes:
        """The hands of a player, or the next card."""
        gone = [card for cards in (*self.hands, self.board) for card in cards]
        if len(self.hands) < 2:
            return self.game.hands_beside(gone if self.hands else ())
        left = [card for card in deck() if card not in gone]
        return [(card_text(card), 1 / len(left)) for card in left]

    def child(self, action: str) -> SpotState:
        """The state after an action, a hand or a card."""
        tree = self.game.tree
        if len(self.hands) < 2:
            return dataclasses.replace(self, hands=(*self.hands, parse_cards(action)))
        first = int(tree.first_child[self.node])
        if tree.kind[self.node] == LINK:
            return self._at(first, (*self.board, parse_card(action)))
        return self._at(first + self.actions().index(action), self.board)

    def _at(self, node: int, board: tuple[int, ...]) -> SpotState:
        tree = self.game.tree
        while tree.kind[node] == LINK and tree.link_deal[node] == CUT:
            node = int(tree.first_child[node])
        return SpotState(self.game, node, self.hands, board)

    def infoset(self) -> str:
        """The key of the acting player's infoset."""
        flop, later = self.board[: len(self.game.subgame.cards)], self.board[len(self.game.subgame.cards) :]
        cards = (self.hands[self.player], flop, *((card,) for card in later))
        return f"{'/'.join(map(cards_text, cards))}:{self.game.tree.node_text[self.node]}"

    def utilities(self) -> tuple[float, float]:
        """What each player has won, less what the house takes."""
        tree, node = self.game.tree, self.node
        payoff = float(tree.payoff[node])
        if tree.kind[node] == FOLD:
            return payoff, -payoff if tree.other_payoff is None else -float(tree.other_payoff[node])
        first, second = (rank_hand((*hand, *self.board)) for hand in self.hands)
        won = payoff * ((first > second) - (first < second))
        fee = 0.0 if tree.fee is None else float(tree.fee[node])
        return won - fee, -won - fee
