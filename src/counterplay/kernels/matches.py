"""Hands between strategies on a compiled tree, every deal in several seatings.

The k-th chance event of a deal is drawn with the same random number in every seating, so that positions hold the same
cards as long as the events before were the same; actions are drawn anew in each.  Every deal has random numbers of its
own that follow from its index: what a deal brings does not depend on which deals are played with it.
"""

from __future__ import annotations

import numpy as np

from counterplay.kernels.jit import inlined, kernel
from counterplay.kernels.walks import GOLDEN, MIX_1, MIX_2, U27, U30, U31, WalkArrays, chance_outcome, draw, i64


@inlined
def stream(seed: np.uint64, index: np.uint64) -> np.uint64:
    """The state from which the random numbers of a deal start."""
    now = seed ^ ((index + np.uint64(1)) * MIX_2)
    now = (now ^ (now >> U30)) * MIX_1
    now = (now ^ (now >> U27)) * GOLDEN
    return now ^ (now >> U31)


@kernel
def play_deals(
    walk: WalkArrays,  # IN
    strategies: np.ndarray,  # IN  (n, E) float64: of each agent
    seatings: np.ndarray,  # IN  (S, n) int64: which agent sits in each position
    chance_seed: np.uint64,  # IN
    action_seed: np.uint64,  # IN
    first: int,  # IN  index of the first deal
    dice: np.ndarray,  # scratch (D,) float64: the random number of each chance event on a line
    scores: np.ndarray,  # OUT (deals, n) float64: mean over seatings of what each agent has won
) -> None:
    """Play deals ``first``, ``first + 1``, ... in all seatings."""
    players = walk.players
    chance_state = np.zeros(1, np.uint64)
    action_state = np.zeros(1, np.uint64)
    for deal in range(len(scores)):
        index = np.uint64(first + deal)
        chance_state[0] = stream(chance_seed, index)
        action_state[0] = stream(action_seed, index)
        thrown = 0
        for agent in range(players):
            scores[deal, agent] = 0.0
        for seating in range(len(seatings)):
            events = 0
            node = 0
            while walk.nodes[4 * node] <= players:
                mover = i64(walk.nodes[4 * node])
                children = i64(walk.nodes[4 * node + 2])
                place = i64(walk.nodes[4 * node + 3])
                pick = 0
                if mover == players:
                    if events == thrown:
                        dice[thrown] = draw(chance_state)
                        thrown += 1
                    pick = chance_outcome(walk.threshold, walk.alias, place, children, dice[events])
                    events += 1
                else:
                    agent = seatings[seating, mover]
                    left = draw(action_state)
                    for action in range(children):
                        probability = strategies[agent, place + action]
                        if probability > 0.0 and left >= 0.0:
                            pick = action
                            left -= probability
                node = i64(walk.nodes[4 * node + 1]) + pick
            row = i64(walk.nodes[4 * node + 3]) * players
            for position in range(players):
                scores[deal, seatings[seating, position]] += walk.utility[row + position]
        for agent in range(players):
            scores[deal, agent] /= len(seatings)  # after the sum, which is exact for whole chips
