"""Walks inside a bucket game of two players with vectors over buckets, given how often pairs of buckets occur.

Johanson 2016, section 3.4, with the vector form of the public tree.  All that matters of the cards is three matrices
for each round, by pairs of buckets: how likely a pair is, how much more likely its first hand wins a showdown than
loses it, and how likely one of the two wins.

The betting tree is taken in *pieces*: the decisions of one round that follow one another.  Within a piece what a player
does is a sequence of his, and every entry of his row of a table is one: the place of a sequence is the place of its
last action in the row.  Behind the row there is a sequence for each piece: before he acts.  A round takes three steps:

1. ``descend`` multiplies the probabilities of the opponent's sequences, bucket by bucket, and leaves at each terminal,
   a *column*, what the player would win times the opponent's reach;
2. a product with a matrix turns columns into what the player's buckets win;
3. ``ascend`` adds these up from the last decision to the first: values, best responses, regrets.

The product is the only step that costs more than a pass over the tables, so that it is left to BLAS, many columns at a
time (``evaluation/pair_walks.py``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from counterplay.kernels.jit import kernel
from counterplay.kernels.walks import f64, u64

NO_CHOICE = 1e-12
"""Up to this probability a player has no choice: the rest of the least probabilities is a rounding error."""


class BettingSlot(NamedTuple):
    """The decisions of a player in a round, piece by piece.  D decisions, P pieces, L links to the next round."""

    start: int  # the first entry of the table
    width: int  # entries of a bucket
    first: np.ndarray  # (P+1,) int64: where the decisions of a piece begin, each after those that lead to it
    offset: np.ndarray  # (D,) int64: the sequence of a decision's first action
    actions: np.ndarray  # (D,) int64: how many actions there are
    above: np.ndarray  # (D,) int64: the sequence that leads to a decision
    first_link: np.ndarray  # (P+1,) int64: where the links of a piece begin
    link: np.ndarray  # (L,) int64: the sequence that leads to a piece of the next round
    before: np.ndarray  # (B,) int64: the bucket of the previous round for each bucket; 0 in the first round


@kernel
def count_pairs(
    holes: np.ndarray,  # IN  (H,) uint64: sets of hole cards
    rank: np.ndarray,  # IN  (H,) int64: the ranks of the hands on this board; negative where a hand cannot be held
    one: np.ndarray,  # IN  (H,) int64: the buckets of the first player
    other: np.ndarray,  # IN  (H,) int64: the buckets of the second
    weight: float,  # IN  how many boards this one stands for
    likely: np.ndarray,  # IN OUT (B1, B2) float64
    ahead: np.ndarray,  # IN OUT (B1, B2) float64
    tied: np.ndarray,  # IN OUT (B1, B2) float64
) -> None:
    """Add all pairs of hands on one board."""
    for first in range(len(holes)):
        if rank[first] < 0:
            continue
        row = one[first]
        for second in range(len(holes)):
            if rank[second] < 0 or holes[first] & holes[second]:
                continue
            column = other[second]
            likely[row, column] += weight
            if rank[first] > rank[second]:
                ahead[row, column] += weight
            elif rank[first] < rank[second]:
                ahead[row, column] -= weight
            else:
                tied[row, column] += weight


@kernel
def descend(
    slot: BettingSlot,  # IN
    low: int,  # IN  the first piece
    high: int,  # IN  the last piece + 1
    strategy: np.ndarray,  # IN  (E,) float64, or (0,) for the uniform profile
    came: np.ndarray,  # IN  (B of the previous round, P) float64: how likely a bucket comes to a piece
    led: np.ndarray,  # IN  (C,) int64: the sequence that leads to a column
    amount: np.ndarray,  # IN  (C,) float64: what is won there
    weight: float,  # IN  what the strategy weighs in the average
    sequence: np.ndarray,  # scratch (width + P,) float64
    columns: np.ndarray,  # IN OUT (B, C) float64: the reach times the amount is added
    gone: np.ndarray,  # OUT (B, L) float64: how likely a bucket comes to a piece of the next round, or (0, 0)
    average: np.ndarray,  # IN OUT (E,) float64: reaches are added, or (0,)
) -> None:
    """How likely a player's buckets play towards the terminals and the links of some pieces."""
    roots, uniform = u64(slot.width), len(strategy) == 0
    for bucket in range(len(slot.before)):
        row, before = u64(slot.start + bucket * slot.width), slot.before[bucket]
        for piece in range(low, high):
            sequence[roots + u64(piece)] = came[before, piece]
        for decision in range(slot.first[low], slot.first[high]):
            base, place = sequence[u64(slot.above[decision])], u64(slot.offset[decision])
            actions = slot.actions[decision]
            for action in range(u64(actions)):
                share = 1.0 / f64(actions) if uniform else strategy[row + place + action]
                sequence[place + action] = base * share
                if len(average) > 0:
                    average[row + place + action] += weight * (base * share)
        if len(gone) > 0:
            for link in range(slot.first_link[low], slot.first_link[high]):
                gone[bucket, link] = sequence[u64(slot.link[link])]
        for column in range(len(led)):
            columns[bucket, column] += amount[column] * sequence[u64(led[column])]


@kernel
def ascend(
    slot: BettingSlot,  # IN
    low: int,  # IN  the first piece
    high: int,  # IN  the last piece + 1
    strategy: np.ndarray,  # IN  (E,) float64, or (0,) for the uniform profile
    best: bool,  # IN  respond best, or play the strategy
    least: np.ndarray,  # IN  (E,) float64: the least probability of each action, or (0,)
    led: np.ndarray,  # IN  (C,) int64: the sequence that leads to a column
    columns: np.ndarray,  # IN  (B, C) float64: what the columns are worth to a bucket
    below: np.ndarray,  # IN  (B, L) float64: what the pieces of the next round are worth
    sequence: np.ndarray,  # scratch (width + P,) float64
    worth: np.ndarray,  # IN OUT (B of the previous round, P) float64: what each piece is worth is added
    learned: np.ndarray,  # IN OUT (E,) float64: regrets are added, or (0,)
    response: np.ndarray,  # OUT (E,) float64: the best response, the first best action of each decision, or (0,)
) -> None:
    """What some pieces are worth to a player's buckets, and what is regretted there.

    With least probabilities only the rest of the strategy is the player's choice: a best response makes the best of
    that rest, and an action is regretted against it.
    """
    roots, uniform, bound = u64(slot.width), len(strategy) == 0, len(least) > 0
    for bucket in range(len(slot.before)):
        row, before = u64(slot.start + bucket * slot.width), slot.before[bucket]
        for piece in range(low, high):
            sequence[roots + u64(piece)] = 0.0
        for decision in range(slot.first[low], slot.first[high]):
            place = u64(slot.offset[decision])
            for action in range(u64(slot.actions[decision])):
                sequence[place + action] = 0.0
        for column in range(len(led)):
            sequence[u64(led[column])] += columns[bucket, column]
        for link in range(slot.first_link[low], slot.first_link[high]):
            sequence[u64(slot.link[link])] += below[bucket, link]
        for decision in range(slot.first[high] - 1, slot.first[low] - 1, -1):
            place, actions = u64(slot.offset[decision]), u64(slot.actions[decision])
            forced = rest = 0.0
            if bound:
                for action in range(actions):
                    forced += least[row + place + action] * sequence[place + action]
                    rest += least[row + place + action]
            rest = 1.0 - rest
            if best:
                total = sequence[place]
                pick = u64(0)
                for action in range(u64(1), actions):
                    if sequence[place + action] > total:
                        total = sequence[place + action]
                        pick = u64(action)
                if len(response) > 0:
                    for action in range(actions):
                        response[row + place + action] = least[row + place + action] if bound else 0.0
                    response[row + place + pick] += rest if bound else 1.0
                total = forced + rest * total if bound else total
            else:
                total = 0.0
                for action in range(actions):
                    share = 1.0 / f64(actions) if uniform else strategy[row + place + action]
                    total += share * sequence[place + action]
            if len(learned) > 0:
                chosen = (total - forced) / rest if bound and rest > NO_CHOICE else total
                for action in range(actions if rest > NO_CHOICE else u64(0)):
                    learned[row + place + action] += sequence[place + action] - chosen
            sequence[u64(slot.above[decision])] += total
        for piece in range(low, high):
            worth[before, piece] += sequence[roots + u64(piece)]


@kernel
def add_regrets(
    learned: np.ndarray,  # IN  (E,) float64: what an iteration adds
    tie: float,  # IN  regrets up to this are rounding errors of 0
    floor: bool,  # IN  regrets stay at 0 or above
    regret: np.ndarray,  # IN OUT (E,) float64
) -> None:
    """Add the regrets of an iteration."""
    for entry in range(len(regret)):
        new = regret[entry] + learned[entry]
        regret[entry] = 0.0 if abs(new) <= tie or (floor and new < 0.0) else new
