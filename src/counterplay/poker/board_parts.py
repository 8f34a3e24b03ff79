"""The deals of a card game, one first deal at a time: for games whose deals do not fit into memory at once.

Johanson 2016, section 2.4: subgames below different deals share nothing.  ``FirstDeals`` lists the first deals of a
game up to renaming suits (1,755 flops in Texas hold'em), and builds the deals below each on demand.  The arrays are
those of ``deal_cards``, computed by one kernel for all boards.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.board_tree import TRASH, DealTree, PublicDeal, Renamings, deal_tree, deals_below, hole_hands
from counterplay.poker.cards import cards_text
from counterplay.poker.three_cards import showdown_tables
from counterplay.tree.public.public_tree import Hands

if TYPE_CHECKING:
    from counterplay.kernels.cards.hand_classes import HandSet


class FirstDeals:
    """The first public deals of a game of two players in which each can hold every hand.

    ``isomorphic`` merges deals and hands that differ only by a renaming of suits.  ``listed`` are the first deals.

    Raises GameError if the game deals no board cards, or some before the first action.
    """

    def __init__(self, game: GameDefinition, isomorphic: bool = True) -> None:
        self.rounds = [cards for cards in game.board_cards if cards]
        if game.players != 2 or game.board_cards[0] or not self.rounds:
            raise GameError(
                "splitting at the first deal needs two players, board cards, and none of them before the first action; "
                "measure other games as a whole"
            )
        self.deck, self.hole_cards = game.deck, game.hole_cards
        self._tables = showdown_tables(game)
        self.holes = hole_hands(game.deck, game.hole_cards)
        full = np.ones(len(self.holes))
        self._names = Renamings(game.suits, self.holes, (full, full), isomorphic)
        self._start = PublicDeal((), "", np.arange(len(self._names.card)), -1, 1.0, 1.0)
        first = deals_below(self.deck, self._names, [[self._start]], self.rounds[:1], 2 * self.hole_cards)
        self.listed = first[0][1:]
        self._mass = float(len(self.holes) * self.others(0))  # pairs of hands

    def __len__(self) -> int:
        return len(self.listed)

    @property
    def texts(self) -> list[str]:
        """The cards of each first deal."""
        return [deal.text for deal in self.listed]

    def classes(self) -> NDArray[np.float64]:
        """Classes of deals and hands below each first deal, by level from that deal on; hands of a later deal of
        several cards about.

        Counted by the lemma of Burnside: the mean over the renamings of what each preserves.
        """
        found = np.zeros((len(self.listed), len(self.rounds)))
        for row, deal in zip(found, self.listed, strict=True):
            left = np.setdiff1d(np.array(self.deck), deal.cards)
            renamed = self._names.card[deal.renamings]
            image = renamed[:, left]
            fixed = (image == left).sum(axis=1)
            swapped = ((np.take_along_axis(renamed, image, axis=1) == left).sum(axis=1) - fixed) // 2
            boards = np.ones(len(fixed))
            for level, cards in enumerate([0, *self.rounds[1:]]):
                boards *= [math.comb(max(free, 0), cards) for free in fixed.tolist()]
                fixed = fixed - cards
                hands = fixed * (fixed - 1) / 2 + swapped if self.hole_cards == 2 else fixed
                row[level] = float((boards * hands).mean())
        return found

    def others(self, level: int) -> int:
        """Number of hands that an opponent can hold besides ours at a level of deals."""
        return math.comb(len(self.deck) - sum(self.rounds[:level]) - self.hole_cards, self.hole_cards)

    def deals(self, number: int) -> DealTree:
        """The start, one first deal as deal 1, and all deals after it."""
        levels = [[self._start], [self.listed[number]]]
        deals, starts = deals_below(self.deck, self._names, levels, self.rounds[1:], 2 * self.hole_cards)
        hands = self._hands(deals, starts[-2])
        return deal_tree(deals, starts, (hands, hands))

    @functools.cached_property
    def _hand_set(self) -> HandSet:
        from counterplay.kernels.cards.hand_classes import HandSet

        held = self.holes[:, : self.hole_cards].astype(np.int64)
        real = self.holes.copy()
        if self.hole_cards == 1:
            real[:, 1] = TRASH
        cards = (np.uint64(1) << held.astype(np.uint64)).sum(axis=1, dtype=np.uint64)
        key = self._tables.card_key[held].sum(axis=1)
        return HandSet(key, cards, self._names.hand.astype(np.uint16), self.holes, real)

    @functools.cached_property
    def _labels(self) -> tuple[str, ...]:
        least = np.unique(self._names.hand.min(axis=0))
        return tuple(cards_text(hand[: self.hole_cards]) for hand in self.holes[least])

    def _hands(self, deals: list[PublicDeal], last: int) -> Hands:
        from counterplay.kernels.cards.hand_classes import ClassArrays, class_hands

        sizes = np.array([len(deal.cards) for deal in deals])
        board = np.zeros((len(deals), max(int(sizes.max()), 1)), np.uint8)
        for row, deal in zip(board, deals, strict=True):
            row[: len(deal.cards)] = deal.cards
        live = sum(math.comb(len(self.deck) - size, self.hole_cards) for size in sizes.tolist())
        short = [np.empty(live, np.uint16) for _ in range(5)]
        cards = [np.empty((live, 2), np.uint8) for _ in range(2)]
        start, real_start = (np.zeros(len(deals) + 1, np.int64) for _ in range(2))
        renaming_start = np.cumsum([0, *(len(deal.renamings) for deal in deals)])
        renaming = np.concatenate([deal.renamings for deal in deals])
        made = ClassArrays(start, short[0], short[1], cards[0], short[2], real_start, short[3], short[4], cards[1])
        parent = np.array([deal.parent for deal in deals], np.int32)
        classes = class_hands(self._tables, self._hand_set, board, sizes, parent, renaming_start, renaming, last, made)
        twin = np.arange(classes, dtype=np.int64) - np.repeat(start[:-1], np.diff(start))
        reach = np.ones(int(start[1]))
        return Hands(
            start, made.parent[:classes], made.multiplicity[:classes], reach,
            made.multiplicity[: len(reach)] / self._mass, made.card[:classes], made.rank[:classes],
            twin.astype(np.uint16), real_start, made.real_class, made.real_rank, made.real_card, self._labels,
        )  # fmt: skip
