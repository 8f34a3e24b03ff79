"""Hands between strategies on a compiled tree, every deal in several seatings.

On a tree of histories the k-th chance event of a deal is drawn with the same random number in every seating, so that
positions hold the same cards as long as the events before were the same; on a betting tree the cards were dealt before
(``counterplay.kernels.buckets.deal_batches``).  Actions are drawn anew in each seating.  Every deal has random numbers
of its own that follow from its index: what a deal brings does not depend on which deals are played with it.  What one
of the agents does can be counted, and where hands ended can be kept.
"""

from __future__ import annotations

import numpy as np

from counterplay.kernels.jit import inlined, kernel
from counterplay.kernels.regret import matched_action
from counterplay.kernels.walks import (
    GOLDEN,
    MIX_1,
    MIX_2,
    U27,
    U30,
    U31,
    WalkArrays,
    chance_outcome,
    deal_of,
    draw,
    look,
)  # fmt: skip


@inlined
def stream(seed: np.uint64, index: np.uint64) -> np.uint64:
    """The state from which the random numbers of a deal start."""
    now = seed ^ ((index + np.uint64(1)) * MIX_2)
    now = (now ^ (now >> U30)) * MIX_1
    now = (now ^ (now >> U27)) * GOLDEN
    return now ^ (now >> U31)


@inlined
def note(counts: np.ndarray | None, entry: int) -> None:
    """Count a decision, if decisions are counted."""
    if counts is None:
        return
    counts[entry] += 1


@inlined
def keep(ends: np.ndarray | None, deal: int, seating: int, node: int) -> None:
    """Keep where a hand ended, if that is kept."""
    if ends is None:
        return
    ends[deal, seating] = node


@kernel
def play_deals(
    walk: WalkArrays,  # IN
    deals: np.ndarray | None,  # IN  (deals, S) int64: the cards as walks take them; None where the tree deals
    strategies: np.ndarray,  # IN  (n*E,) any numbers: of each agent, in proportion to the probabilities
    seatings: np.ndarray,  # IN  (S, n) int64: which agent sits in each position
    chance_seed: np.uint64,  # IN
    action_seed: np.uint64,  # IN
    first: int,  # IN  index of the first deal
    dice: np.ndarray,  # scratch (D,) float64: the random number of each chance event on a line
    scores: np.ndarray,  # OUT (deals, n) float64: mean over seatings of what each agent has won
    watched: int,  # IN  the agent whose decisions are counted
    counts: np.ndarray | None,  # IN OUT (E,) int64: how often it has chosen each action; None to count nothing
    ends: np.ndarray | None,  # OUT (deals, S) int32: the node where each hand ended; None to keep nothing
) -> None:
    """Play deals ``first``, ``first + 1``, ... in all seatings."""
    nodes, threshold, alias, utility, players = walk
    entries = len(strategies) // players
    chance_state = np.zeros(1, np.uint64)
    action_state = np.zeros(1, np.uint64)
    for deal in range(len(scores)):
        index = np.uint64(first + deal)
        chance_state[0] = stream(chance_seed, index)
        action_state[0] = stream(action_seed, index)
        shift = deal_of(deals, deal)
        thrown = 0
        for agent in range(players):
            scores[deal, agent] = 0.0
        for seating in range(len(seatings)):
            events = 0
            node = 0
            mover, child, count, place = look(nodes, node, shift)
            while mover <= players:
                if mover == players:
                    if events == thrown:
                        dice[thrown] = draw(chance_state)
                        thrown += 1
                    pick = chance_outcome(threshold, alias, place, count, dice[events])
                    events += 1
                else:
                    agent = seatings[seating, mover]
                    pick = matched_action(strategies, agent * entries + place, count, draw(action_state))
                    if agent == watched:
                        note(counts, place + pick)
                node = child + pick
                mover, child, count, place = look(nodes, node, shift)
            keep(ends, deal, seating, node)
            for position in range(players):
                scores[deal, seatings[seating, position]] += utility[place * players + position]
        for agent in range(players):
            scores[deal, agent] /= len(seatings)  # after the sum, which is exact for whole chips
