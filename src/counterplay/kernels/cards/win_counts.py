"""How often hands win if nothing more is bet: comparisons of ranks on all boards to come.

The ranks of all hands on a board are a row; a hand is compared with one other hand, or with all, row by row.
"""

from __future__ import annotations

import numpy as np

from counterplay.kernels.jit import kernel


@kernel
def add_wins(
    rank: np.ndarray,  # IN  (B, H) uint16: of all hands on each board; 0 where a card is there twice
    rows: np.ndarray,  # IN  (n,) int64: the boards that count
    other: int,  # IN  the opponent's hand
    count: np.ndarray,  # IN OUT (H,) uint16: 2 for each board on which a hand wins, 1 for a tie
) -> None:
    """Compare all hands with one on some boards; boards with a card of a hand add nothing."""
    for place in range(len(rows)):
        row = rows[place]
        bar = rank[row, other]
        if bar == 0:
            continue
        for hand in range(rank.shape[1]):
            count[hand] += np.uint16(rank[row, hand] > bar) + np.uint16(rank[row, hand] >= bar)


@kernel
def add_pairs(
    rank: np.ndarray,  # IN  (B, H) uint16, as above
    number: np.ndarray,  # IN  (H,) int64: where the counts of a hand stand
    weight: int,  # IN  what every board counts
    boards: int,  # IN  on how many of them two hands can meet
    count: np.ndarray,  # IN OUT (N, N) int64: of the second hand against the first; of no use if they share a card
    own: np.ndarray,  # scratch (H,) uint16
) -> None:
    """Compare all pairs of hands on all boards, each once."""
    size = rank.shape[1]
    for other in range(size):
        for hand in range(size):
            own[hand] = 0
        for row in range(rank.shape[0]):
            bar = rank[row, other]
            if bar == 0:
                continue
            for hand in range(size):  # from 0, so that the loop becomes vector code
                own[hand] += np.uint16(rank[row, hand] > bar) + np.uint16(rank[row, hand] >= bar)
        for hand in range(other + 1, size):
            won = np.int64(own[hand])
            count[number[other], number[hand]] += weight * won
            count[number[hand], number[other]] += weight * (2 * boards - won)
