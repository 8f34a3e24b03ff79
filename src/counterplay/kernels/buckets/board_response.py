"""Best responses to a strategy by buckets, one round on one board at a time, all hands at once.

Johanson 2016, section 2.4, with the pieces of ``kernels.buckets.bucket_pcs``.  The opponent plays by the buckets of his
hands; the player responds to him with real hands, or plays by buckets, too.  All pieces of a round are walked on a
board together: reaches of the opponent's hands at the roots of the pieces come in, values of the player's hands go out,
and between them the boards of the next round, if there is one, are somebody else's business.

What exits are worth is turned from rows by hand into vectors over hands, one for each exit, so that the player's best
actions are found for many hands at a time.  What he does there can be kept as a *plan*: one bit for each hand and exit,
whether his actions lead to the exit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.kernels.buckets.bucket_pcs import (
    ONE,
    Board,
    BoardScratch,
    Pieces,
    play_against,
    play_buckets,
    row_size,
    terminal_rows,
)
from counterplay.kernels.jit import inlined, kernel
from counterplay.kernels.numba_internals import WIDE, borrow, vectors_from_rows
from counterplay.kernels.walks import u64

ALL_BITS = np.uint8(255)


class ResponseScratch(NamedTuple):
    """What a response works in: vectors over all hands, filled up to rows of ``WIDE``; of the largest piece."""

    worth: np.ndarray  # (exits * hands,) float64: what each exit is worth
    found: np.ndarray  # (sequences * hands,) float64: what each sequence of the player is worth
    best: np.ndarray  # (hands,) float64
    pick: np.ndarray  # (decisions * hands,) uint8: the best action
    live: np.ndarray  # (sequences * hands,) uint8: all bits where the best actions lead to a sequence, else none
    lanes: np.ndarray  # (WIDE,) int64


class Hands(NamedTuple):
    """How the hands of a board relate to those of the board before, N hands on which reaches and values are given."""

    above: np.ndarray  # (n,) int64: the place of a hand among those of the board before
    chance: float  # of the board, given the one before and two hands


@inlined
def take_hands(hands: Hands, above: Any, reach: Any) -> bool:
    """The reaches of hands from those on the board before; whether there are any."""
    some = False
    for h in range(len(reach)):
        reach[h] = hands.chance * above[hands.above[h]]
        some |= reach[h] != 0.0
    return some


@inlined
def give_hands(hands: Hands, values: Any, above: Any) -> None:
    """Add values of hands to those on the board before."""
    for h in range(len(values)):
        above[hands.above[h]] += values[h]


@kernel
def reach_links(
    pieces: Pieces,  # IN
    members: np.ndarray,  # IN  (m,) int64: the pieces of a round
    place: np.ndarray,  # IN  (P,) int64: the place of a piece among those of its round
    board: Board,  # IN
    me: int,  # IN  the player
    weights: np.ndarray,  # IN  (E,) numbers: the opponent plays in proportion to these
    hands: Hands,  # IN
    reach: np.ndarray,  # IN  (m, N) float64: of his hands at the roots of the pieces
    after: np.ndarray,  # OUT (later pieces, n) float64: at the roots of the pieces that follow
    scratch: BoardScratch,  # scratch
) -> None:
    """The opponent's reaches where the cards of the next round are dealt."""
    pieces, board, scratch, hands = borrow(pieces), borrow(board), borrow(scratch), borrow(hands)
    weights, reach, after = borrow(weights), borrow(reach), borrow(after)
    for m in range(len(members)):
        piece = members[m]
        turn, exits = pieces.turn[piece], row_size(pieces.exit_start, piece)
        kind, at = board.kind[1 - me, turn], scratch.at[turn]
        play_against(pieces, board, scratch, piece, me, weights)
        theirs = scratch.reach[1 - me, turn]
        take_hands(hands, reach[m], theirs)
        for e in range(pieces.terminals[piece], exits):
            row = place[pieces.link[pieces.exit_start[piece] + e]]
            for h in range(len(kind)):
                after[row, h] = theirs[h] * scratch.opp[at + kind[h] * exits + e]


@inlined
def plan_rows(pieces: Pieces, piece: int) -> Any:
    """Bytes of a plan for each hand in a piece: bits of the terminals, then of the links."""
    return (row_size(pieces.exit_start, piece) + WIDE - 1) // WIDE


@kernel
def respond_round(
    pieces: Pieces,  # IN
    members: np.ndarray,  # IN  (m,) int64: the pieces of a round
    place: np.ndarray,  # IN  (P,) int64: the place of a piece among those of its round
    board: Board,  # IN
    me: int,  # IN  the player
    weights: np.ndarray,  # IN  (E,) numbers: the opponent plays in proportion to these
    own: np.ndarray,  # IN  (E,) numbers: so does the player; (0,) where he responds best
    hands: Hands,  # IN
    reach: np.ndarray,  # IN  (m, N) float64: of the opponent's hands at the roots of the pieces
    below: np.ndarray,  # IN  (later pieces, n) float64: values of the player's hands at the pieces that follow
    values: np.ndarray,  # IN OUT (m, N) float64: of the player's hands at the roots of the pieces, added to
    learned: np.ndarray,  # IN OUT (E,) float64: by bucket and action, what exits with no action of the player between
    # are worth, added to; (0,) for nothing
    plan: np.ndarray,  # OUT (all rows of the pieces, n) uint8: the exits to which a best response leads; (0, n) for
    # nothing
    scratch: BoardScratch,  # scratch
    work: ResponseScratch,  # scratch
) -> None:
    """Values of the player's hands in all pieces of a round."""
    pieces, board, scratch, work = borrow(pieces), borrow(board), borrow(scratch), borrow(work)
    weights, own, learned, plan = borrow(weights), borrow(own), borrow(learned), borrow(plan)
    reach, below, values, hands = borrow(reach), borrow(below), borrow(values), borrow(hands)
    n, rows = len(board.card), 0
    span = _span(n)
    for m in range(len(members)):
        piece = members[m]
        turn, exits = pieces.turn[piece], row_size(pieces.exit_start, piece)
        theirs, mine = scratch.reach[1 - me, turn], scratch.value[turn]
        if not take_hands(hands, reach[m], theirs):
            if len(plan) > 0:
                work.worth[: exits * span] = 0.0
                _respond_back(pieces, work, piece, me, span, mine)
                _keep_plan(pieces, work, piece, me, span, plan, rows)
                rows += plan_rows(pieces, piece)
            continue
        play_against(pieces, board, scratch, piece, me, weights)
        _evaluate(pieces, board, scratch, piece, me, theirs, work)
        for e in range(pieces.terminals[piece], exits):
            row = below[place[pieces.link[pieces.exit_start[piece] + e]]]
            for h in range(n):
                work.worth[e * span + h] = row[h]
        if len(own) > 0:
            _play_back(pieces, board, scratch, piece, me, own, work, mine)
            if len(learned) > 0:
                _note(pieces, board, piece, me, work, learned)
        else:
            _respond_back(pieces, work, piece, me, span, mine)
            if len(plan) > 0:
                _keep_plan(pieces, work, piece, me, span, plan, rows)
                rows += plan_rows(pieces, piece)
        give_hands(hands, mine, values[m])


@inlined
def _span(n: Any) -> Any:
    """Hands, filled up to rows."""
    return (n + WIDE - 1) // WIDE * WIDE


@inlined
def _evaluate(
    pieces: Pieces, board: Board, scratch: BoardScratch, piece: int, me: int, reach: Any, work: ResponseScratch,
) -> None:  # fmt: skip
    """What the terminals of a piece are worth to each hand."""
    span = _span(len(reach))
    for lane in range(0, pieces.terminals[piece], WIDE):
        terminal_rows(pieces, board, scratch, piece, me, reach, lane)
        for i in range(WIDE):
            work.lanes[i] = (lane + i) * span
        for h in range(0, span, WIDE):
            vectors_from_rows(work.worth, work.lanes, h, scratch.mine, h * WIDE)


@inlined
def _respond_back(pieces: Pieces, work: ResponseScratch, piece: int, me: int, hands: int, values: Any) -> None:
    """From what the exits are worth to each hand to what the piece is, with the best action at each decision."""
    span = u64(hands)
    first, exits = u64(pieces.exit_start[piece]), u64(row_size(pieces.exit_start, piece))
    low, high = u64(pieces.decision_start[me, piece]), u64(pieces.decision_start[me, piece + 1])
    sequences = u64(pieces.sequences[me, piece])
    worth, found, best, pick = work.worth, work.found, work.best, work.pick
    for place in range(sequences * span):
        found[place] = 0.0
    for e in range(exits):
        to, source = u64(pieces.led[me, first + e]) * span, e * span
        if pieces.amount[me, first + e] == 0.0:  # a filler
            continue
        for h in range(span):
            found[to + h] += worth[source + h]
    last = sequences
    for i in range(high - low):
        d = high - ONE - i
        last -= u64(pieces.actions[d])
        chosen, source, to = (d - low) * span, last * span, u64(pieces.above[d]) * span
        for h in range(span):
            best[h] = found[source + h]
            pick[chosen + h] = 0
        for a in range(ONE, u64(pieces.actions[d])):
            source += span
            for h in range(span):
                better = found[source + h] > best[h]
                pick[chosen + h] = a if better else pick[chosen + h]
                best[h] = found[source + h] if better else best[h]
        for h in range(span):
            found[to + h] += best[h]
    for h in range(u64(len(values))):
        values[h] = found[h]


@inlined
def _keep_plan(
    pieces: Pieces, work: ResponseScratch, piece: int, me: int, hands: int, plan: Any, row: int
) -> None:  # fmt: skip
    """From the best actions to the exits that they lead to."""
    span = u64(hands)
    first, exits = u64(pieces.exit_start[piece]), u64(row_size(pieces.exit_start, piece))
    low, high = u64(pieces.decision_start[me, piece]), u64(pieces.decision_start[me, piece + 1])
    pick, live = work.pick, work.live
    for h in range(span):
        live[h] = ALL_BITS
    last = ONE
    for d in range(low, high):
        chosen, source = (d - low) * span, u64(pieces.above[d]) * span
        for a in range(u64(pieces.actions[d])):
            for h in range(span):
                live[last * span + h] = live[source + h] if pick[chosen + h] == a else 0
            last += ONE
    for e in range(exits):
        source, bits, bit = u64(pieces.led[me, first + e]) * span, plan[row + e // WIDE], np.uint8(1 << e % WIDE)
        if bit == 1:
            for h in range(u64(len(bits))):
                bits[h] = live[source + h] & bit
        elif pieces.amount[me, first + e] != 0.0:
            for h in range(u64(len(bits))):
                bits[h] |= live[source + h] & bit


@inlined
def _play_back(
    pieces: Pieces, board: Board, scratch: BoardScratch, piece: int, me: int, own: Any, work: ResponseScratch,
    values: Any,
) -> None:  # fmt: skip
    """The same with the player's own strategy by buckets."""
    turn, exits, span = pieces.turn[piece], row_size(pieces.exit_start, piece), _span(len(values))
    kind, at = board.kind[me, turn], scratch.at[turn]
    play_buckets(pieces, board, scratch, piece, me, own, scratch.mass[:0], 0.0)
    for h in range(len(values)):
        values[h] = 0.0
    for e in range(exits):
        for h in range(len(values)):
            values[h] += scratch.own[at + kind[h] * exits + e] * work.worth[e * span + h]


@inlined
def _note(pieces: Pieces, board: Board, piece: int, me: int, work: ResponseScratch, learned: Any) -> None:
    """Add what exits are worth to the player's last action before them, by the buckets of hands."""
    turn, first = pieces.turn[piece], pieces.exit_start[piece]
    exits, low = row_size(pieces.exit_start, piece), pieces.decision_start[me, piece]
    span = _span(len(board.card))
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
            learned[row + pieces.offset[d] + before] += work.worth[e * span + h]


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
