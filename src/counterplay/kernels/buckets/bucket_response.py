"""Best responses inside a bucket game of two players: a walk over the betting tree with vectors over buckets.

A walk carries the reach of each of the opponent's buckets and returns the value of each bucket of the player
(Johanson 2016, section 3.4, with the vector form of the public tree).  The cards are two matrices for each round: how
likely each pair of buckets is, and how much more likely one of the pair wins at the showdown than loses.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from counterplay.kernels.jit import kernel
from counterplay.kernels.walks import MOVER_MASK, SLOT_BITS, f64, i64


class BucketMatrices(NamedTuple):
    """The joint distribution of buckets and results, seen by one player.  R rounds, at most B buckets."""

    likely: np.ndarray  # (R, B, B) float64: the probability of an opponent's bucket (the row) with an own one
    ahead: np.ndarray  # (R, B, B) float64: the same times the probability of a win minus that of a loss
    kinds: np.ndarray  # (R, 2) int64: how many buckets the player has, and the opponent
    before: np.ndarray  # (R, 2, B) int64: from which bucket of the round before one comes, by player and opponent


@kernel
def count_pairs(
    holes: np.ndarray,  # IN  (H,) uint64: sets of hole cards
    rank: np.ndarray,  # IN  (H,) int64: the ranks of the hands on this board; negative where a hand cannot be held
    one: np.ndarray,  # IN  (H,) int64: the buckets of the first player
    other: np.ndarray,  # IN  (H,) int64: the buckets of the second
    weight: float,  # IN  how many boards this one stands for
    likely: np.ndarray,  # IN OUT (B1, B2) float64
    ahead: np.ndarray,  # IN OUT (B1, B2) float64
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


@kernel
def respond(
    nodes: np.ndarray,  # IN  (4N,) uint32: see WalkArrays
    utility: np.ndarray,  # IN  (2Z,) float64
    slot_start: np.ndarray,  # IN  (S,) int64
    slot_width: np.ndarray,  # IN  (S,) int64
    cards: BucketMatrices,  # IN
    player: int,  # IN
    best: bool,  # IN  respond best, or play the profile
    strategy: np.ndarray,  # IN  (E,) float64, or (0,) for the uniform profile
    node: int,  # IN  where to start: 0
    turn: int,  # IN  its round
    depth: int,  # IN  actions before it
    reach: np.ndarray,  # scratch (D, B) float64: row ``depth`` has the opponent's reach
    value: np.ndarray,  # OUT (D, B) float64: row ``depth`` gets what each bucket is worth
) -> int:
    """What a player's buckets are worth against a profile; how many nodes were visited."""
    word = i64(nodes[4 * node])
    who, slot = word & MOVER_MASK, word >> SLOT_BITS
    first, count, index = i64(nodes[4 * node + 1]), i64(nodes[4 * node + 2]), i64(nodes[4 * node + 3])
    mine, theirs = cards.kinds[turn, 0], cards.kinds[turn, 1]
    if who > 2:
        showdown = slot == len(slot_start)
        # of the three orders of two hands the third, or the second, is the player's win; see weak_orders
        row = index + (2 - player if showdown else 0)
        stake = utility[2 * row + player]
        matrix = cards.ahead[turn] if showdown else cards.likely[turn]
        own = value[depth]
        own[:mine] = 0.0
        for other in range(theirs):
            weight = stake * reach[depth, other]
            if weight != 0.0:
                row = matrix[other]
                for bucket in range(mine):
                    own[bucket] += row[bucket] * weight
        return 1
    now = slot >> 1
    if now > turn:  # the board of the next round is dealt
        for other in range(cards.kinds[now, 1]):
            reach[depth + 1, other] = reach[depth, cards.before[now, 1, other]]
        seen = respond(
            nodes, utility, slot_start, slot_width, cards, player, best, strategy, node, now, depth + 1, reach, value
        )  # fmt: skip
        for bucket in range(mine):
            value[depth, bucket] = 0.0
        for bucket in range(cards.kinds[now, 0]):
            value[depth, cards.before[now, 0, bucket]] += value[depth + 1, bucket]
        return seen
    for bucket in range(mine):
        value[depth, bucket] = -np.inf if best and who == player else 0.0
    seen = i64(1)
    for action in range(count):
        base = slot_start[slot] + index + action
        for other in range(theirs):
            share = 1.0
            if who != player:
                share = strategy[base + other * slot_width[slot]] if len(strategy) > 0 else 1.0 / f64(count)
            reach[depth + 1, other] = reach[depth, other] * share
        seen += respond(
            nodes, utility, slot_start, slot_width, cards, player, best, strategy, first + action, turn, depth + 1,
            reach, value,
        )  # fmt: skip
        for bucket in range(mine):
            found = value[depth + 1, bucket]
            if who != player:
                value[depth, bucket] += found
            elif best:
                value[depth, bucket] = max(value[depth, bucket], found)
            else:
                share = strategy[base + bucket * slot_width[slot]] if len(strategy) > 0 else 1.0 / f64(count)
                value[depth, bucket] += share * found
    return seen
