"""Showdowns after which only cards come: one matrix for all boards that can follow a deal.

When both players are all in, what our hands win is linear in the opponent's reaches, whatever is dealt.  The matrix of
a deal has, for each pair of classes of hands, the sum over all boards that can follow and all real hands of our class:
the chance of the board for a win, less that for a loss, 0 where the hands share a card.  A walk that multiplies by it
does not see those boards at all.

Rows are as long as the vectors of walks, so that they are read in steps of ``WIDE``; what stands behind the last hand
is 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from counterplay.kernels.jit import inlined, kernel
from counterplay.kernels.numba_internals import WIDE, borrow, held, load_row, row_sum, spread_row, store_row, zero_row


@kernel
def add_boards(
    own: Any,  # IN  HandArrays of player 0
    opp: Any,  # IN  HandArrays of player 1
    deal: int,  # IN  a last deal
    weight: float,  # IN  what its values are multiplied by on the way up
    width: int,  # IN  length of the rows of the matrix
    matrix: np.ndarray,  # IN OUT (rows * width,) of the deal before
) -> None:
    """Add the showdowns of a last deal to the matrix of the deal before it."""
    own, opp, matrix = held(own), held(opp), borrow(matrix)
    for h in range(own.start[deal], own.start[deal + 1]):
        first, second, rank = own.card[h, 0], own.card[h, 1], own.rank[h]
        part = weight * own.multiplicity[h]
        row = np.int64(own.parent[h]) * width
        for k in range(opp.real_start[deal], opp.real_start[deal + 1]):
            one, other = opp.real_card[k, 0], opp.real_card[k, 1]
            if one != first and one != second and other != first and other != second:
                column = opp.parent[opp.start[deal] + opp.real_class[k]]
                if opp.real_rank[k] < rank:
                    matrix[row + column] += part
                elif opp.real_rank[k] > rank:
                    matrix[row + column] -= part


@kernel
def add_below(
    own: Any,  # IN  HandArrays of player 0
    opp: Any,  # IN  HandArrays of player 1
    deal: int,  # IN  a deal with a matrix
    weight: float,  # IN  what its values are multiplied by on the way up
    width: int,  # IN  length of the rows of both matrices
    below: np.ndarray,  # IN  the matrix of the deal
    matrix: np.ndarray,  # IN OUT that of the deal before
) -> None:
    """Add the matrix of a deal to that of the deal before it."""
    own, opp = held(own), held(opp)
    for h in range(own.start[deal + 1] - own.start[deal]):
        row = np.int64(own.parent[own.start[deal] + h]) * width
        for o in range(opp.start[deal + 1] - opp.start[deal]):
            matrix[row + opp.parent[opp.start[deal] + o]] += weight * below[h * width + o]


@inlined
def runout_values(
    me: int,  # IN  0 or 1
    stake: float,  # IN  what the winner gets
    matrix: np.ndarray,  # IN  player 0's hands x player 1's hands
    at: Any,  # IN  where it begins
    multiplicity: np.ndarray,  # IN  (K,) uint16: real hands in each of our classes
    mine: Any,  # IN  where our hands begin there
    n: Any,  # IN  number of our hands
    reach: np.ndarray,  # IN
    r: Any,  # IN  where the opponent's reaches begin
    others: Any,  # IN  hands of the opponent
    width: Any,  # IN  length of the rows of the matrix
    value: np.ndarray,  # OUT
    v: Any,  # IN  where our values begin
) -> None:
    """What our hands win on average over all boards that can follow."""
    wide, two = np.uint64(WIDE), np.uint64(2)
    if me == 0:
        for h in range(np.uint64(0), n, two):
            row = at + h * width
            next_row = row + width if h + np.uint64(1) < n else row
            first, second = zero_row(matrix), zero_row(matrix)
            for o in range(np.uint64(0), others, wide):
                part = load_row(reach, r + o)
                first = first + load_row(matrix, row + o) * part
                second = second + load_row(matrix, next_row + o) * part
            value[v + h] = row_sum(first)
            if h + np.uint64(1) < n:
                value[v + h + np.uint64(1)] = row_sum(second)
    else:
        for o in range(np.uint64(0), n, wide):
            total = zero_row(matrix)
            for h in range(others):
                total = total + load_row(matrix, at + h * width + o) * spread_row(reach[r + h])
            store_row(value, v + o, total)
    number = value.dtype.type
    gain = number(stake if me == 0 else -stake)
    for h in range(n):
        value[v + h] = value[v + h] * gain / number(multiplicity[mine + h])
