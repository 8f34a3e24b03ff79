"""Hands between strategies that put hands into different buckets, on one betting tree, every deal in several seatings.

``kernels.history.matches`` plays strategies whose tables are laid out alike.  Here every agent has a layout of its own:
who acts and what follows is the same in all of them, the index of a decision is not.  Random numbers are drawn as
there, so strategies with the same layout play the same hands.
"""

from __future__ import annotations

import numpy as np

from counterplay.kernels.history.matches import keep, stream
from counterplay.kernels.jit import kernel
from counterplay.kernels.regret import matched_action
from counterplay.kernels.walks import draw, look


@kernel
def play_buckets(
    nodes: tuple[np.ndarray, ...],  # IN  of each agent (4H,) uint32: the betting tree with the agent's indices
    cards: tuple[np.ndarray, ...],  # IN  of each agent (deals, S) int64: the deals in its buckets
    strategies: tuple[np.ndarray, ...],  # IN  of each agent (E,) any numbers: in proportion to the probabilities
    utility: np.ndarray,  # IN  (Z*n,) float64: what each position wins, by the first agent's terminal indices
    seatings: np.ndarray,  # IN  (S, n) int64: which agent sits in each position
    seed: np.uint64,  # IN  of the actions
    first: int,  # IN  index of the first deal
    scores: np.ndarray,  # OUT (deals, n) float64: mean over seatings of what each agent has won
    ends: np.ndarray | None,  # OUT (deals, S) int32: the node where each hand ended; None to keep nothing
) -> None:
    """Play deals ``first``, ``first + 1``, ... in all seatings."""
    players = seatings.shape[1]
    state = np.zeros(1, np.uint64)
    for deal in range(len(scores)):
        state[0] = stream(seed, np.uint64(first + deal))
        for agent in range(players):
            scores[deal, agent] = 0.0
        for seating in range(len(seatings)):
            node = 0
            mover, child, count, place = look(nodes[0], node, cards[0][deal])
            while mover < players:
                agent = seatings[seating, mover]
                _, _, _, own = look(nodes[agent], node, cards[agent][deal])
                node = child + matched_action(strategies[agent], own, count, draw(state))
                mover, child, count, place = look(nodes[0], node, cards[0][deal])
            keep(ends, deal, seating, node)
            for position in range(players):
                scores[deal, seatings[seating, position]] += utility[place * players + position]
        for agent in range(players):
            scores[deal, agent] /= len(seatings)  # after the sum, which is exact for whole chips
