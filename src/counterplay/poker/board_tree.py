"""The public deals of a card game and the hands that can be held at each, up to renaming suits.

Johanson 2016, section 2.4.  The next deals that are mapped to each other by renamings of suits which preserve the cards
already dealt are merged into one representative deal; it keeps the renamings that preserve it as well.  Hands at a deal
are classes under those.  Renamings are used only if they preserve the given ranges.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError
from counterplay.poker.cards import CARDS, MAX_SUITS, cards_text
from counterplay.poker.evaluator import rank_holes
from counterplay.tree.public.public_tree import NO_HAND, Hands

if TYPE_CHECKING:
    from counterplay.kernels.cards.evaluator import HandTables

Ranges: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64]]
"""The weight of each hand for each player."""

TRASH, NOTHING = 52, 53
"""The second card of a hand of one card: a dummy whose sum is never read."""


@dataclasses.dataclass(frozen=True, eq=False)
class DealTree:
    """The deals of a game, by level (the number of deals so far)."""

    # parent, first, count: (D,) as ``deal_parent``, ``deal_first`` and ``deal_count`` of a ``PublicTree``
    parent: NDArray[np.int32]
    first: NDArray[np.int32]
    count: NDArray[np.int32]
    # weight, prob: (D,) as ``deal_weight`` and ``deal_prob`` there
    weight: NDArray[np.float64]
    prob: NDArray[np.float64]
    level_start: tuple[int, ...]  # the deals of level l are ``level_start[l] .. level_start[l + 1] - 1``.
    hands: tuple[Hands, Hands]  # of players 0 and 1
    text: tuple[str, ...]  # the board of each deal, ``QsJh2h 3c``


def hole_hands(deck: Sequence[int], hole_cards: int) -> NDArray[np.uint8]:
    """All hands of one or two hole cards, each row with ascending cards; a single card is followed by ``NOTHING``."""
    if hole_cards not in (1, 2):
        raise GameError(f"public trees are for one or two hole cards; got {hole_cards}")
    cards = sorted(deck)
    if hole_cards == 1:
        return np.array([(card, NOTHING) for card in cards], np.uint8)
    return np.array(list(itertools.combinations(cards, 2)), np.uint8)


@dataclasses.dataclass
class PublicDeal:
    """A deal and the renamings of suits that preserve it."""

    cards: tuple[int, ...]
    text: str
    renamings: NDArray[np.int64]  # rows of ``Renamings``
    parent: int
    weight: float
    prob: float


class Renamings:
    """All renamings of suits that preserve the ranges, applied to cards and to hands."""

    def __init__(
        self, suits: int, holes: NDArray[np.uint8], ranges: Sequence[NDArray[np.float64]], isomorphic: bool
    ) -> None:
        kept = list(range(MAX_SUITS - suits))
        orders = [(*kept, *order) for order in itertools.permutations(range(MAX_SUITS - suits, MAX_SUITS))]
        cards = np.arange(64, dtype=np.int64)
        self.card = np.stack(
            [np.where(cards < CARDS, cards & ~3 | np.array(order)[cards & 3], cards) for order in orders]
        )
        self.number = np.full((64, 64), NO_HAND, np.int64)
        self.number[holes[:, 0], holes[:, 1]] = np.arange(len(holes))
        self.number[holes[:, 1], holes[:, 0]] = np.arange(len(holes))
        self.hand = np.stack([self.number[row[holes[:, 0]], row[holes[:, 1]]] for row in self.card])
        same = [all(np.array_equal(given[row], given) for given in ranges) for row in self.hand]
        keep = np.flatnonzero(same) if isomorphic else np.array([0])
        self.card, self.hand = self.card[keep], self.hand[keep]


def deal_cards(
    deck: Sequence[int], suits: int, hole_cards: int, board: Sequence[int], rounds: Sequence[int], ranges: Ranges,
    isomorphic: bool = True, tables: HandTables | None = None,
) -> DealTree:  # fmt: skip
    """The deals after a board, which is that of deal 0.

    Parameters
    ----------
    deck, suits
        All cards of the game, and their number of suits.
    rounds : sequence of int
        Cards dealt at each level after the board.
    ranges : pair of float64 arrays
        The weight of each hand of ``hole_hands`` for each player; 0 leaves it out.
    isomorphic : bool
        Merge deals and hands that differ only by a renaming of suits.
    tables : HandTables, optional
        Another order of hands than the usual one (``counterplay.poker.three_cards``).
    """
    holes = hole_hands(deck, hole_cards)
    names = Renamings(suits, holes, ranges, isomorphic)
    start = stabiliser(names, np.arange(len(names.card)), tuple(board))
    levels = [[PublicDeal(tuple(board), cards_text(board), start, -1, 1.0, 1.0)]]
    deals, starts = deals_below(deck, names, levels, rounds, 2 * hole_cards)
    return deal_tree(deals, starts, _hands(holes, names, deals, starts[-2], ranges, hole_cards, tables))


def deals_below(
    deck: Sequence[int], names: Renamings, levels: list[list[PublicDeal]], rounds: Sequence[int], held: int
) -> tuple[list[PublicDeal], tuple[int, ...]]:
    """The deals of some levels and all deals after them, and where each level starts; ``held`` cards are in hands."""
    levels = list(levels)
    for cards in rounds:
        first = sum(map(len, levels[:-1]))
        levels.append([
            after for i, deal in enumerate(levels[-1])
            for after in _next_deals(deck, names, deal, first + i, cards, held)
        ])  # fmt: skip
    return list(itertools.chain(*levels)), (0, *itertools.accumulate(map(len, levels)))


def deal_tree(deals: list[PublicDeal], starts: tuple[int, ...], hands: tuple[Hands, Hands]) -> DealTree:
    """The arrays of deals that are in the order of their levels."""
    parent = np.array([deal.parent for deal in deals], np.int32)
    count = np.bincount(parent[1:], minlength=len(deals)).astype(np.int32)
    first = np.where(count > 0, 1 + np.cumsum(count) - count, -1).astype(np.int32)
    weight, prob = np.array([deal.weight for deal in deals]), np.array([deal.prob for deal in deals])
    return DealTree(parent, first, count, weight, prob, starts, hands, tuple(deal.text for deal in deals))


def stabiliser(names: Renamings, among: NDArray[np.int64], cards: tuple[int, ...]) -> NDArray[np.int64]:
    """Which renamings preserve a set of cards."""
    if len(among) == 1 or not cards:
        return among
    image = np.sort(names.card[among][:, list(cards)], axis=1)
    return np.asarray(among[(image == np.sort(cards)).all(axis=1)])


def _next_deals(
    deck: Sequence[int], names: Renamings, deal: PublicDeal, number: int, cards: int, held: int
) -> list[PublicDeal]:
    """The deals after one, each representing its images under renaming; ``held`` cards are in hands."""
    left = np.array(sorted(set(deck) - set(deal.cards)), np.int64)
    raw = left[:, None] if cards == 1 else np.array(list(itertools.combinations(left.tolist(), cards)), np.int64)
    place = 64 ** np.arange(cards - 1, -1, -1)
    image = np.sort(names.card[deal.renamings][:, raw], axis=2) @ place
    code, size = np.unique(image.min(axis=0), return_counts=True)
    chance = 1.0 / math.comb(len(left) - held, cards)
    after = []
    for value, orbit in zip(code.tolist(), size.tolist(), strict=True):
        dealt = tuple((value // 64 ** np.arange(cards - 1, -1, -1) % 64).tolist())
        keep = stabiliser(names, deal.renamings, dealt)
        text = f"{deal.text} {cards_text(dealt)}".strip()
        after.append(PublicDeal((*deal.cards, *dealt), text, keep, number, chance * orbit, orbit / len(raw)))
    return after


def _hands(
    holes: NDArray[np.uint8], names: Renamings, deals: list[PublicDeal], last: int, ranges: Ranges, hole_cards: int,
    tables: HandTables | None,
) -> tuple[Hands, Hands]:  # fmt: skip
    """The classes of hands at each deal, for both players; ``last`` is the first deal at which ranks count."""
    same = np.array_equal(ranges[0] > 0, ranges[1] > 0)
    made = [_Classes(holes, weights, hole_cards) for weights in ranges[: 1 if same else 2]]
    for number, deal in enumerate(deals):
        live = np.asarray(~np.isin(holes, deal.cards).any(axis=1))
        rank = np.zeros(len(holes), np.uint16)
        if number >= last:
            rank = rank_holes(deal.cards, holes[:, :hole_cards], tables)
        for classes in made:
            classes.add(deal, names, live, rank)
            if number < last:
                classes.numbers.append(classes.number.astype(np.uint16))
        pair = (made[0], made[-1])
        for mine, other in ((pair[0], pair[1]), (pair[1], pair[0])) if not same else ((pair[0], pair[0]),):
            mine.twins.add(other.number[mine.last])
    first, second = made[0], made[-1]
    disjoint = pair_mass(holes, ranges, deals[0].cards, hole_cards)
    return first.finish(ranges[0], ranges[1], disjoint), second.finish(ranges[1], ranges[0], disjoint)


def pair_mass(holes: NDArray[np.uint8], ranges: Ranges, board: tuple[int, ...], hole_cards: int) -> float:
    """The total weight of pairs of hands that can be dealt together with the board."""
    live = ~np.isin(holes, board).any(axis=1)
    by_card = np.zeros((2, 64))
    for player in (0, 1):
        for column in range(hole_cards):
            np.add.at(by_card[player], holes[live, column], ranges[player][live])
    weight = ranges[0][live] * ranges[1][live].sum()
    for column in range(hole_cards):
        weight = weight - ranges[0][live] * by_card[1, holes[live, column]]
    if hole_cards == 2:
        weight = weight + ranges[0][live] * ranges[1][live]
    return float(weight.sum())


def compatible_mass(holes: NDArray[np.uint8], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each hand of one or two cards, the weight of the hands that share no card with it."""
    by_card = np.zeros(64)
    for column in range(holes.shape[1]):
        np.add.at(by_card, holes[:, column], weights)
    shared = by_card[holes].sum(axis=1) - (weights if holes.shape[1] == 2 else 0.0)
    left, total = weights.sum() - shared, weights.sum()
    return np.where(left > 1e-12 * total, left, 0.0)  # what rounding errors leave is nothing


class _Numbers:
    """A growing array of uint16; concatenating at the end would need the memory twice."""

    def __init__(self) -> None:
        self._held = bytearray()

    def add(self, numbers: NDArray[Any]) -> None:
        self._held += numbers.astype(np.uint16).tobytes()

    def array(self) -> NDArray[np.uint16]:
        return np.frombuffer(self._held, np.uint16)


class _Classes:
    """The arrays of ``Hands`` of one player, deal by deal."""

    def __init__(self, holes: NDArray[np.uint8], weights: NDArray[np.float64], hole_cards: int) -> None:
        self.holes = holes
        self.held = weights > 0
        self.hole_cards = hole_cards
        self.number = np.full(len(holes), NO_HAND, np.int64)  # class of each hand at the last deal added
        self.last = np.zeros(0, np.int64)  # first members of those classes
        self.start, self.real_start = [0], [0]
        self.parents, self.multiplicities, self.shown = _Numbers(), _Numbers(), _Numbers()
        self.ranks, self.twins = _Numbers(), _Numbers()
        self.real_classes, self.real_ranks, self.real_hands = _Numbers(), _Numbers(), _Numbers()
        self.numbers: list[NDArray[np.uint16]] = []  # ``number`` of each deal that has deals after it

    def add(self, deal: PublicDeal, names: Renamings, live: NDArray[np.bool_], rank: NDArray[np.uint16]) -> None:
        """The classes at the next deal."""
        hands = np.flatnonzero(live & self.held)
        hands = hands[np.argsort(rank[hands], kind="stable")]
        if len(deal.renamings) == 1:
            shown, number, size = hands, np.arange(len(hands)), np.ones(len(hands), np.int64)
        else:
            least = names.hand[deal.renamings][:, hands].min(axis=0)
            shown, number, size = _grouped(hands, least)
        self.last = shown
        self.number[:] = NO_HAND
        self.number[hands] = number
        above = self.numbers[deal.parent] if deal.parent >= 0 else np.zeros(len(self.holes), np.uint16)
        self.parents.add(above[shown])
        self.multiplicities.add(size)
        self.shown.add(shown)
        self.ranks.add(rank[shown])
        self.real_classes.add(number)
        self.real_ranks.add(rank[hands])
        self.real_hands.add(hands)
        self.start.append(self.start[-1] + len(shown))
        self.real_start.append(self.real_start[-1] + len(hands))

    def finish(self, own: NDArray[np.float64], other: NDArray[np.float64], disjoint: float) -> Hands:
        """The arrays; ``disjoint`` is the weight of all pairs of hands, by which values are divided."""
        shown, real = self.shown.array(), self.real_hands.array()
        card, real_card = self.holes[shown], self.holes[real].copy()
        if self.hole_cards == 1:
            real_card[:, 1] = TRASH
        first = shown[: self.start[1]]
        weight = own[first] * self.multiplicities.array()[: len(first)]
        weight = weight / disjoint if disjoint > 0 else np.zeros(len(first))
        return Hands(
            np.array(self.start, np.int64), self.parents.array(), self.multiplicities.array(),
            own[first].astype(np.float64), weight, card, self.ranks.array(), self.twins.array(),
            np.array(self.real_start, np.int64), self.real_classes.array(), self.real_ranks.array(),
            real_card, tuple(cards_text(hand[: self.hole_cards]) for hand in self.holes[first]),
        )  # fmt: skip


def _grouped(
    hands: NDArray[np.int64], least: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Hands with the same ``least`` are one class, in the order of their first members: first member, number, size."""
    _, first, inverse, size = np.unique(least, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return hands[first[order]], place[inverse], size[order]
