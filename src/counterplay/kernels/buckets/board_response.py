"""Best responses to a strategy by buckets, one round on one board at a time, hand by hand.

Johanson 2016, section 2.4, with the pieces of ``kernels.buckets.bucket_pcs``.  The opponent plays by the buckets of his
hands; the player responds to him with real hands, or plays by buckets, too.  All pieces of a round are walked on a
board together: reaches of the opponent's hands at the roots of the pieces come in, values of the player's hands go out,
and between them the boards of the next round, if there is one, are somebody else's business.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from counterplay.kernels.buckets.bucket_pcs import (
    ONE,
    Board,
    BoardScratch,
    Pieces,
    _play_against,
    _size,
    terminal_rows,
)
from counterplay.kernels.jit import inlined, kernel
from counterplay.kernels.numba_internals import WIDE, borrow, load_row, store_row
from counterplay.kernels.regret import matched_scale, positive_total, scaled_share
from counterplay.kernels.walks import u64


@kernel
def reach_links(
    pieces: Pieces,  # IN
    members: np.ndarray,  # IN  (m,) int64: the pieces of a round
    place: np.ndarray,  # IN  (P,) int64: the place of a piece among those of its round
    board: Board,  # IN
    me: int,  # IN  the player
    weights: np.ndarray,  # IN  (E,) numbers: the opponent plays in proportion to these
    reach: np.ndarray,  # IN  (m, n) float64: of his hands at the roots of the pieces
    after: np.ndarray,  # OUT (later pieces, n) float64: at the roots of the pieces that follow
    scratch: BoardScratch,  # scratch
) -> None:
    """The opponent's reaches where the cards of the next round are dealt."""
    pieces, board, scratch = borrow(pieces), borrow(board), borrow(scratch)
    weights, reach, after = borrow(weights), borrow(reach), borrow(after)
    for m in range(len(members)):
        piece = members[m]
        turn, exits = pieces.turn[piece], _size(pieces.exit_start, piece)
        kind, at = board.kind[1 - me, turn], scratch.at[turn]
        _play_against(pieces, board, scratch, piece, me, weights)
        for e in range(pieces.terminals[piece], exits):
            row = place[pieces.link[pieces.exit_start[piece] + e]]
            for h in range(len(kind)):
                after[row, h] = reach[m, h] * scratch.opp[at + kind[h] * exits + e]


@kernel
def respond_round(
    pieces: Pieces,  # IN
    members: np.ndarray,  # IN  (m,) int64: the pieces of a round
    place: np.ndarray,  # IN  (P,) int64: the place of a piece among those of its round
    board: Board,  # IN
    me: int,  # IN  the player
    weights: np.ndarray,  # IN  (E,) numbers: the opponent plays in proportion to these
    own: np.ndarray,  # IN  (E,) numbers: so does the player; (0,) where he responds best
    reach: np.ndarray,  # IN  (m, n) float64: of the opponent's hands at the roots of the pieces
    below: np.ndarray,  # IN  (later pieces, n) float64: values of the player's hands at the pieces that follow
    worth: np.ndarray,  # scratch (n * most exits,) float64: of a hand, what each exit is worth to it
    values: np.ndarray,  # OUT (m, n) float64: of the player's hands at the roots of the pieces
    learned: np.ndarray,  # IN OUT (E,) float64: by bucket and action, what exits with no action of the player between
    # are worth, added to; (0,) for nothing
    scratch: BoardScratch,  # scratch
) -> None:
    """Values of the player's hands in all pieces of a round."""
    pieces, board, scratch = borrow(pieces), borrow(board), borrow(scratch)
    weights, own, learned = borrow(weights), borrow(own), borrow(learned)
    reach, below, worth, values = borrow(reach), borrow(below), borrow(worth), borrow(values)
    n = len(board.card)
    for m in range(len(members)):
        piece = members[m]
        some = False
        for h in range(n):
            values[m, h] = 0.0
            some |= reach[m, h] != 0.0
        if not some:
            continue
        exits = _size(pieces.exit_start, piece)
        _play_against(pieces, board, scratch, piece, me, weights)
        _evaluate(pieces, board, scratch, piece, me, reach[m], worth)
        for e in range(pieces.terminals[piece], exits):
            row = below[place[pieces.link[pieces.exit_start[piece] + e]]]
            for h in range(n):
                worth[h * exits + e] = row[h]
        if len(own) > 0:
            _play_back(pieces, board, scratch, piece, me, own, worth, values[m])
            if len(learned) > 0:
                _note(pieces, board, piece, me, worth, learned)
        else:
            _respond_back(pieces, scratch, piece, me, worth, values[m])


@inlined
def _evaluate(
    pieces: Pieces, board: Board, scratch: BoardScratch, piece: int, me: int, reach: Any, worth: Any,
) -> None:  # fmt: skip
    """What the terminals of a piece are worth to each hand."""
    exits = _size(pieces.exit_start, piece)
    for lane in range(0, pieces.terminals[piece], WIDE):
        terminal_rows(pieces, board, scratch, piece, me, reach, lane)
        for h in range(len(reach)):
            store_row(worth, h * exits + lane, load_row(scratch.mine, h * WIDE))


@inlined
def _respond_back(pieces: Pieces, scratch: BoardScratch, piece: int, me: int, worth: Any, values: Any) -> None:
    """From what the exits are worth to each hand to what the piece is, with the best action at each decision."""
    first, exits = u64(pieces.exit_start[piece]), u64(_size(pieces.exit_start, piece))
    low, high = u64(pieces.decision_start[me, piece]), u64(pieces.decision_start[me, piece + 1])
    sequences = u64(pieces.sequences[me, piece])
    found = scratch.sequence
    for h in range(u64(len(values))):
        for q in range(sequences):
            found[q] = 0.0
        for e in range(exits):
            found[u64(pieces.led[me, first + e])] += worth[h * exits + e]
        last = sequences
        for i in range(high - low):
            d = high - ONE - i
            last -= u64(pieces.actions[d])
            best = found[last]
            for a in range(ONE, u64(pieces.actions[d])):
                best = max(best, found[last + a])
            found[u64(pieces.above[d])] += best
        values[h] = found[0]


@inlined
def _play_back(
    pieces: Pieces, board: Board, scratch: BoardScratch, piece: int, me: int, own: Any, worth: Any, values: Any,
) -> None:  # fmt: skip
    """The same with the player's own strategy by buckets."""
    turn = pieces.turn[piece]
    first, exits = u64(pieces.exit_start[piece]), u64(_size(pieces.exit_start, piece))
    low, high = u64(pieces.decision_start[me, piece]), u64(pieces.decision_start[me, piece + 1])
    sequences = u64(pieces.sequences[me, piece])
    found = scratch.sequence
    for h in range(u64(len(values))):
        row = u64(board.row[me, turn, board.kind[me, turn, h]])
        for q in range(sequences):
            found[q] = 0.0
        for e in range(exits):
            found[u64(pieces.led[me, first + e])] += worth[h * exits + e]
        last = sequences
        for i in range(high - low):
            d = high - ONE - i
            entry, actions = row + u64(pieces.offset[d]), u64(pieces.actions[d])
            last -= actions
            scale, total = matched_scale(positive_total(own, entry, actions)), 0.0
            for a in range(actions):
                total += scaled_share(own[entry + a], scale, actions) * found[last + a]
            found[u64(pieces.above[d])] += total
        values[h] = found[0]


@inlined
def _note(pieces: Pieces, board: Board, piece: int, me: int, worth: Any, learned: Any) -> None:
    """Add what exits are worth to the player's last action before them, by the buckets of hands."""
    turn, first = pieces.turn[piece], pieces.exit_start[piece]
    exits, low = _size(pieces.exit_start, piece), pieces.decision_start[me, piece]
    for h in range(len(board.card)):
        row = board.row[me, turn, board.kind[me, turn, h]]
        for e in range(exits):
            before = pieces.led[me, first + e] - 1
            if before < 0:
                continue
            d = low
            while before >= pieces.actions[d]:
                before -= pieces.actions[d]
                d += 1
            learned[row + pieces.offset[d] + before] += worth[h * exits + e]


@kernel
def choose_actions(
    pieces: Pieces,  # IN
    members: np.ndarray,  # IN  (m,) int64: the pieces of a round
    me: int,  # IN  the player
    start: int,  # IN  the first entry of his slot
    width: int,  # IN  entries of a bucket
    kinds: int,  # IN  buckets
    learned: np.ndarray,  # IN  (E,) float64: see respond_round
    own: np.ndarray,  # IN OUT (E,) float64: gets the best action of each decision; what was never met stays
    found: np.ndarray,  # scratch (most sequences,) float64
) -> None:
    """The best actions of each bucket within the pieces of a round, all after them left as it is."""
    for m in range(len(members)):
        piece = members[m]
        low, high = pieces.decision_start[me, piece], pieces.decision_start[me, piece + 1]
        for k in range(kinds):
            row = start + k * width
            last, met = 1, False
            found[0] = 0.0
            for d in range(low, high):
                for a in range(pieces.actions[d]):
                    found[last] = learned[row + pieces.offset[d] + a]
                    met |= found[last] != 0.0
                    last += 1
            if not met:
                continue
            for i in range(high - low):
                d = high - 1 - i
                last -= pieces.actions[d]
                best = 0
                for a in range(pieces.actions[d]):
                    own[row + pieces.offset[d] + a] = 0.0
                    if found[last + a] > found[last + best]:
                        best = a
                own[row + pieces.offset[d] + best] = 1.0
                found[pieces.above[d]] += found[last + best]
