"""Showdowns of ranges that are all in: what each hand wins over the boards to come, by enumeration or by sampling.

The hands of all ranges lie in one array, range by range.  Each has four sums: the weight of the deals that it wins
alone, of those that it ties, what it gets of the pots of both (a tie among k players is worth 1/k), and the weight of
all its deals.  With integer weights all sums of enumerations are integers or fractions of the number of players, so
that they are exact.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from counterplay.kernels.cards.card_features import sort_ranks
from counterplay.kernels.cards.evaluator import HandTables, rank_holes
from counterplay.kernels.jit import kernel
from counterplay.kernels.walks import chance_outcome, draw

u16: Any = np.uint16
WON, TIED, SHARE, MASS, SQUARE = 0, 1, 2, 3, 4
"""The columns of the sums; the last one, squares of shares, is for samples alone."""


@kernel
def count_orbits(
    renamed: np.ndarray,  # IN  (G, 64) uint64: the bit of each card under each renaming of suits, the first one none
    sets: np.ndarray,  # IN  (M, k) uint8: sets of cards
    orbit: np.ndarray,  # OUT (M,) int32: how many sets the renamings make of each; 0 where one of them comes before it
) -> None:
    """Which sets of cards stand for all that renamings of suits make of them."""
    size = sets.shape[1]
    for row in range(len(sets)):
        own = np.uint64(0)
        for place in range(size):
            own |= renamed[0, sets[row, place]]
        same = 0
        for renaming in range(len(renamed)):
            image = np.uint64(0)
            for place in range(size):
                image |= renamed[renaming, sets[row, place]]
            if image < own:
                same = 0
                break
            if image == own:
                same += 1
        orbit[row] = len(renamed) // same if same else 0


@kernel
def add_deals(
    tables: HandTables,  # IN
    boards: np.ndarray,  # IN  (M, 5) uint8: whole boards
    orbit: np.ndarray,  # IN  (M,) int32: how many boards each stands for
    holes: np.ndarray,  # IN  (N, 2) uint8: the hands of all ranges
    deals: np.ndarray,  # IN  (T, n) int32: a hand of each range, without common cards
    weight: np.ndarray,  # IN  (T,) float64: the weight of each of those
    sums: np.ndarray,  # IN OUT (N, 5) float64
) -> None:
    """Every deal of hands to the players on every board."""
    players = deals.shape[1]
    rank = np.empty(len(holes), dtype=np.uint16)
    for board in range(len(boards)):
        rank_holes(tables, boards[board], holes, rank)
        for deal in range(len(deals)):
            best, winners, held = u16(0), 0, 0
            for player in range(players):
                value = rank[deals[deal, player]]
                held += value > 0
                if value > best:
                    best, winners = value, 1
                elif value == best:
                    winners += 1
            if held < players:
                continue
            mass = weight[deal] * orbit[board]
            for player in range(players):
                hand = deals[deal, player]
                sums[hand, MASS] += mass
                if rank[hand] == best:
                    sums[hand, WON if winners == 1 else TIED] += mass
                    sums[hand, SHARE] += mass / winners


@kernel
def add_against(
    holes: np.ndarray,  # IN  (N, 2) uint8: our hands
    rank: np.ndarray,  # IN  (N,) uint16: 0 where one cannot be held on this board
    order: np.ndarray,  # IN  (N,) int32: from the weakest up
    weight: np.ndarray,  # IN  (N,) float64
    other_holes: np.ndarray,  # IN  (K, 2) uint8: the opponent's
    other_rank: np.ndarray,  # IN  (K,) uint16
    other_order: np.ndarray,  # IN  (K,) int32
    other_weight: np.ndarray,  # IN  (K,) float64
    twin: np.ndarray,  # IN  (N,) int32: the opponent's hand with the same cards, -1 for none
    orbit: float,  # IN  how many boards this one stands for
    below: np.ndarray,  # TMP (64,) float64: weight of the opponent's weaker hands, by card
    upto: np.ndarray,  # TMP (64,) float64: of those that are not stronger
    every: np.ndarray,  # TMP (64,) float64: of all
    sums: np.ndarray,  # IN OUT (N, 5) float64
) -> None:
    """All hands of one range against another on a board: a sweep from the weakest up, without going through pairs."""
    below[:], upto[:], every[:] = 0.0, 0.0, 0.0
    total = 0.0
    for hand in range(len(other_rank)):
        if other_rank[hand] > 0:
            total += other_weight[hand]
            every[other_holes[hand, 0]] += other_weight[hand]
            every[other_holes[hand, 1]] += other_weight[hand]
    weaker, not_stronger = 0.0, 0.0
    low, high = 0, 0
    for place in range(len(order)):
        hand = order[place]
        value = rank[hand]
        if value == 0:
            continue
        while low < len(other_order) and other_rank[other_order[low]] < value:
            other = other_order[low]
            low += 1
            if other_rank[other] > 0:
                weaker += other_weight[other]
                below[other_holes[other, 0]] += other_weight[other]
                below[other_holes[other, 1]] += other_weight[other]
        while high < len(other_order) and other_rank[other_order[high]] <= value:
            other = other_order[high]
            high += 1
            if other_rank[other] > 0:
                not_stronger += other_weight[other]
                upto[other_holes[other, 0]] += other_weight[other]
                upto[other_holes[other, 1]] += other_weight[other]
        first, second = holes[hand, 0], holes[hand, 1]
        same = other_weight[twin[hand]] if twin[hand] >= 0 else 0.0  # taken off twice
        won = weaker - below[first] - below[second]
        tied = not_stronger - upto[first] - upto[second] + same - won
        mass = weight[hand] * orbit
        sums[hand, WON] += mass * won
        sums[hand, TIED] += mass * tied
        sums[hand, SHARE] += mass * (won + 0.5 * tied)
        sums[hand, MASS] += mass * (total - every[first] - every[second] + same)


@kernel
def add_sweeps(
    tables: HandTables,  # IN
    boards: np.ndarray,  # IN  (M, 5) uint8: whole boards
    orbit: np.ndarray,  # IN  (M,) int32: how many boards each stands for
    holes: np.ndarray,  # IN  (N, 2) uint8: the hands of two ranges
    weight: np.ndarray,  # IN  (N,) float64
    middle: int,  # IN  where the second range begins
    twin: np.ndarray,  # IN  (N,) int32: the other range's hand with the same cards, counted from its first; -1: none
    ranks: int,  # IN  number of hand ranks
    sums: np.ndarray,  # IN OUT (N, 5) float64
) -> None:
    """Two ranges on every board, in time that grows with their hands and not with the pairs."""
    rank = np.empty(len(holes), dtype=np.uint16)
    order = np.empty(len(holes), dtype=np.int32)
    start = np.empty(ranks + 2, dtype=np.int32)
    below, upto, every = np.empty(64), np.empty(64), np.empty(64)
    for board in range(len(boards)):
        rank_holes(tables, boards[board], holes, rank)
        sort_ranks(rank[:middle], start, order[:middle])
        sort_ranks(rank[middle:], start, order[middle:])
        add_against(
            holes[:middle], rank[:middle], order[:middle], weight[:middle], holes[middle:], rank[middle:],
            order[middle:], weight[middle:], twin[:middle], orbit[board], below, upto, every, sums[:middle],
        )  # fmt: skip
        add_against(
            holes[middle:], rank[middle:], order[middle:], weight[middle:], holes[:middle], rank[:middle],
            order[:middle], weight[:middle], twin[middle:], orbit[board], below, upto, every, sums[middle:],
        )  # fmt: skip


@kernel
def add_samples(
    tables: HandTables,  # IN
    holes: np.ndarray,  # IN  (N, 2) uint8: the hands of all ranges
    start: np.ndarray,  # IN  (n + 1,) int64: where each range begins
    threshold: np.ndarray,  # IN  (N,) float64: the alias table of each range
    alias: np.ndarray,  # IN  (N,) uint32
    board: np.ndarray,  # IN  (b,) uint8: the board so far
    gone: np.uint64,  # IN  the cards that are out: board and dead cards
    counts: np.ndarray,  # IN  (2,) int64: deals wanted, and most tries
    state: np.ndarray,  # IN OUT (1,) uint64: of the random numbers
    sums: np.ndarray,  # IN OUT (N, 5) float64
) -> int:
    """Deal hands and boards at random; deals with a card twice are dealt anew.  Gives the number of deals."""
    players = len(start) - 1
    hands = np.empty((players, 2), dtype=np.uint8)
    chosen = np.empty(players, dtype=np.int64)
    rank = np.empty(players, dtype=np.uint16)
    whole = np.empty(5, dtype=np.uint8)
    whole[: len(board)] = board
    found = 0
    for _ in range(counts[1]):
        if found == counts[0]:
            break
        cards, possible = gone, True
        for player in range(players):
            low = start[player]
            hand = low + chance_outcome(threshold, alias, low, start[player + 1] - low, draw(state))
            both = (np.uint64(1) << np.uint64(holes[hand, 0])) | (np.uint64(1) << np.uint64(holes[hand, 1]))
            if cards & both:
                possible = False
                break
            cards |= both
            chosen[player] = hand
            hands[player, 0], hands[player, 1] = holes[hand, 0], holes[hand, 1]
        if not possible:
            continue
        place = len(board)
        while place < 5:
            card = np.uint64(52.0 * draw(state))
            if not (cards >> card) & np.uint64(1):
                cards |= np.uint64(1) << card
                whole[place] = card
                place += 1
        rank_holes(tables, whole, hands, rank)
        best = rank.max()
        winners = 0
        for player in range(players):
            winners += rank[player] == best
        for player in range(players):
            hand = chosen[player]
            sums[hand, MASS] += 1.0
            if rank[player] == best:
                sums[hand, WON if winners == 1 else TIED] += 1.0
                sums[hand, SHARE] += 1.0 / winners
                sums[hand, SQUARE] += 1.0 / (winners * winners)
        found += 1
    return found
