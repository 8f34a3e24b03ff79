"""CFR-BR with a trunk, one round on one board at a time: regrets of a player by buckets against a hybrid opponent.

Johanson 2016, section 4.3.  In the rounds of the *trunk* both players learn: the player by buckets, the hybrid by real
hands.  Below it the hybrid follows a plan, the best response that ``kernels.buckets.board_response`` has found, and the
player learns against that.  All is done with the pieces of ``kernels.buckets.bucket_pcs``: reaches at the roots of the
pieces come in, values go out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from counterplay.kernels.buckets.board_response import Hands, give_hands, plan_rows, take_hands
from counterplay.kernels.buckets.bucket_pcs import (
    Board,
    BoardScratch,
    Pieces,
    begin_piece,
    count_rows,
    enter_piece,
    learn_piece,
    row_size,
    win_rows,
)
from counterplay.kernels.jit import inlined, kernel
from counterplay.kernels.numba_internals import WIDE, borrow, load_row, spread_row, store_row


@kernel
def follow_plan(
    pieces: Pieces,  # IN
    members: np.ndarray,  # IN  (m,) int64: the pieces of a round
    place: np.ndarray,  # IN  (P,) int64: the place of a piece among those of its round
    plan: np.ndarray,  # IN  (rows, n) uint8: the exits to which the hybrid's actions lead
    hands: Hands,  # IN
    reach: np.ndarray,  # IN  (m, N) float64: of his hands at the roots of the pieces
    after: np.ndarray,  # OUT (later pieces, n) float64: at the roots of the pieces that follow
) -> None:
    """The hybrid's reaches where the cards of the next round are dealt."""
    pieces, plan, reach, after, hands = borrow(pieces), borrow(plan), borrow(reach), borrow(after), borrow(hands)
    row = 0
    for m in range(len(members)):
        piece = members[m]
        for e in range(pieces.terminals[piece], row_size(pieces.exit_start, piece)):
            to = place[pieces.link[pieces.exit_start[piece] + e]]
            bits, bit = plan[row + e // WIDE], np.uint8(1 << e % WIDE)
            for h in range(len(bits)):
                after[to, h] = hands.chance * reach[m, hands.above[h]] if bits[h] & bit else 0.0
        row += plan_rows(pieces, piece)


@inlined
def _evaluate_plan(
    pieces: Pieces, board: Board, scratch: BoardScratch, piece: int, me: int, plan: Any, first: int, bits: Any,
) -> None:  # fmt: skip
    """What the terminals of a piece are worth to hands against a plan, added up at its root and by bucket."""
    reach = scratch.reach[1 - me, pieces.turn[piece]]
    amount = pieces.amount[me]
    for lane in range(0, pieces.terminals[piece], WIDE):
        won, row = load_row(amount, pieces.exit_start[piece] + lane), plan[first + lane // WIDE]
        for h in range(len(row)):
            led = load_row(bits, np.int64(row[h]) * WIDE)
            store_row(scratch.theirs, h * WIDE, led * (won * spread_row(reach[h])))
        win_rows(pieces, board, scratch, piece, lane)
        count_rows(pieces, board, scratch, piece, me, lane)


@inlined
def _count_links(
    pieces: Pieces, board: Board, scratch: BoardScratch, piece: int, me: int, place: Any, below: Any,
) -> None:  # fmt: skip
    """Add what the links of a piece are worth to hands, at its root and by bucket."""
    turn, exits = pieces.turn[piece], row_size(pieces.exit_start, piece)
    kind, at, value = board.kind[me, turn], scratch.at[turn], scratch.value[turn]
    for e in range(pieces.terminals[piece], exits):
        row = below[place[pieces.link[pieces.exit_start[piece] + e]]]
        for h in range(len(row)):
            here = at + kind[h] * exits + e
            value[h] += scratch.own[here] * row[h]
            scratch.worth[here] += row[h]


@inlined
def _set_reach(scratch: BoardScratch, turn: Any, me: int, own: Any, other: Any) -> None:
    mine, theirs = scratch.reach[me, turn], scratch.reach[1 - me, turn]
    for h in range(len(own)):
        mine[h] = own[h]
        theirs[h] = other[h]


@kernel
def answer_plan(
    pieces: Pieces,  # IN
    members: np.ndarray,  # IN  (m,) int64: the pieces of a round
    place: np.ndarray,  # IN  (P,) int64: the place of a piece among those of its round
    board: Board,  # IN
    me: int,  # IN  the player who learns
    weight: float,  # IN  what the iteration weighs in the average
    floor: bool,  # IN  regrets stay at 0 or above
    regret: np.ndarray,  # IN  (E,) floats: what is played
    learned: np.ndarray,  # IN OUT (E,) floats: what regrets are added to, which may be the same
    average: np.ndarray,  # IN OUT (E,) floats, or (0,) where no average is kept
    hands: Hands,  # IN
    reach: np.ndarray,  # IN  (m, N) float64: of his hands at the roots of the pieces
    other: np.ndarray,  # IN  (m, N) float64: of the hybrid's
    plan: np.ndarray,  # IN  (rows, n) uint8: the exits to which the hybrid's actions lead
    bits: np.ndarray,  # IN  (256 * WIDE,) float64: the bits of each byte, as numbers
    below: np.ndarray,  # IN  (later pieces, n) float64: values of the player's hands at the pieces that follow
    values: np.ndarray,  # IN OUT (m, N) float64: at the roots of the pieces, added to
    scratch: BoardScratch,  # scratch
) -> None:
    """Regrets of the player against the hybrid's plan, and values of his hands, in all pieces of a round."""
    pieces, board, scratch, plan, bits = borrow(pieces), borrow(board), borrow(scratch), borrow(plan), borrow(bits)
    regret, learned, average = borrow(regret), borrow(learned), borrow(average)
    reach, other, below, values, hands = borrow(reach), borrow(other), borrow(below), borrow(values), borrow(hands)
    row = 0
    for m in range(len(members)):
        piece = members[m]
        turn = pieces.turn[piece]
        take_hands(hands, reach[m], scratch.reach[me, turn])
        take_hands(hands, other[m], scratch.reach[1 - me, turn])
        some = begin_piece(pieces, board, scratch, piece, me, regret, average, weight)
        if some == 2:
            _evaluate_plan(pieces, board, scratch, piece, me, plan, row, bits)
            _count_links(pieces, board, scratch, piece, me, place, below)
            learn_piece(pieces, board, scratch, piece, me, floor, learned)
            give_hands(hands, scratch.value[turn], values[m])
        row += plan_rows(pieces, piece)


@kernel
def learn_trunk(
    pieces: Pieces,  # IN
    members: np.ndarray,  # IN  (m,) int64: the pieces of a round of the trunk
    place: np.ndarray,  # IN  (P,) int64: the place of a piece among those of its round
    board: Board,  # IN
    me: int,  # IN  the player who plays by buckets
    weight: float,  # IN  what the iteration weighs in the average
    floor: bool,  # IN  regrets stay at 0 or above
    regret: np.ndarray,  # IN  (E,) floats: what the player plays
    learned: np.ndarray,  # IN OUT (E,) floats: what regrets are added to, which may be the same
    average: np.ndarray,  # IN OUT (E,) floats, or (0,) where no average is kept
    trunk: np.ndarray,  # IN  (T,) floats: what the hybrid plays
    trunk_learned: np.ndarray,  # IN OUT (T,) floats: what regrets are added to, which may be the same
    reach: np.ndarray,  # IN  (2, m, n) float64: of the player's hands at the roots of the pieces, and of the hybrid's
    below: np.ndarray,  # IN  (2, later pieces, n) float64: values of their hands at the pieces that follow
    values: np.ndarray,  # OUT (2, m, n) float64: at the roots of the pieces
    mine: BoardScratch,  # scratch
    theirs: BoardScratch,  # scratch
) -> None:
    """Regrets and values of both players in all pieces of a round; both play as before until both have learned."""
    pieces, board, mine, theirs = borrow(pieces), borrow(board), borrow(mine), borrow(theirs)
    regret, learned, average = borrow(regret), borrow(learned), borrow(average)
    trunk, trunk_learned = borrow(trunk), borrow(trunk_learned)
    reach, below, values = borrow(reach), borrow(below), borrow(values)
    for m in range(len(members)):
        piece = members[m]
        turn = pieces.turn[piece]
        _set_reach(mine, turn, me, reach[0, m], reach[1, m])
        _set_reach(theirs, turn, 1 - me, reach[1, m], reach[0, m])
        own = enter_piece(pieces, board, mine, piece, me, regret, trunk, average, weight)
        other = enter_piece(pieces, board, theirs, piece, 1 - me, trunk, regret, theirs.mass[:0], 0.0)
        if own:
            _count_links(pieces, board, mine, piece, me, place, below[0])
            learn_piece(pieces, board, mine, piece, me, floor, learned)
        if other:
            _count_links(pieces, board, theirs, piece, 1 - me, place, below[1])
            learn_piece(pieces, board, theirs, piece, 1 - me, floor, trunk_learned)
        values[0, m] = mine.value[turn]
        values[1, m] = theirs.value[turn]
