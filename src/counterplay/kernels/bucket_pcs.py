"""Public chance sampling on a betting tree with buckets: one board, all hands of both players at once.

Johanson 2016, algorithm 1 (PCS) with section 3.4: a walk carries the reaches of all hands that the board allows, and
tables have a row for each point of the betting and bucket, to which all hands of the bucket add.

The betting tree is taken in *pieces*: the decisions of one round that follow one another.  Within a piece a hand has one
bucket, so that its reach is the reach at the root of the piece times a factor that all hands of its bucket share.  What
happens in a piece is therefore worked out by bucket; hands are touched only where a piece is left, at its *exits*: folds,
showdowns, and the roots of pieces of the next round.  With ``X[h, e]`` for what exit ``e`` is worth to hand ``h`` (the
opponent's reach included) and ``F[b, e]`` for the chance that bucket ``b`` plays towards ``e``,

    value of a hand at the root of the piece    sum over e of  F[bucket of h, e] X[h, e]
    values of a bucket at the exits             sum over its hands h of  X[h, e],  from which regrets follow.

Hands are sorted by rank, once for a board.  Exits of a kind lie side by side, ``LANES`` of them are evaluated by one
pass over the hands (``kernels.lanes``), with sums by card for what shared cards rule out.  All cards of a board are drawn
before the walk and rule hands out from the root on, so that each pair of hands weighs the same at every end.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.kernels.hands import HandTables, rank_holes
from counterplay.kernels.jit import borrow, inlined, kernel
from counterplay.kernels.lanes import LANES, add_rest, add_row, dot_rows, scale_row

NO_CARD = 52
"""In place of the second card of hands that have one; the sums of this slot are cleared before they are read."""
CARD_SLOTS = 53


class Pieces(NamedTuple):
    """A betting tree in pieces.  P pieces, N decisions, E edges (actions), X exits."""

    turn: np.ndarray
    """(P,) int64: the round."""
    node_start: np.ndarray
    """(P+1,) int64: the decisions of a piece, each after those that lead to it."""
    edge_start: np.ndarray
    """(P+1,) int64: the edges of a piece."""
    exit_start: np.ndarray
    """(P+1,) int64: the exits of a piece: folds, showdowns, both filled up to rows of ``LANES``, then links."""
    folds: np.ndarray
    """(P,) int64: exits by folds."""
    ends: np.ndarray
    """(P,) int64: exits by folds and showdowns."""
    mover: np.ndarray
    """(N,) int64: who acts."""
    actions: np.ndarray
    """(N,) int64: how many actions there are."""
    offset: np.ndarray
    """(N,) int64: where the entries of a decision begin among those of a bucket."""
    to: np.ndarray
    """(E,) int64: the decision that follows, counted from the first of the piece; or exit e as -1 - e."""
    amount: np.ndarray
    """(2, X) float64: what each player wins by a fold, or at a showdown with the better hand; 0 for others."""
    link: np.ndarray
    """(X,) int64: the piece that follows at a link."""


class Board(NamedTuple):
    """A drawn board: n hands that it allows, sorted by rank; at most K buckets of them in a round."""

    card: np.ndarray
    """(n, 2) uint8: their cards."""
    group: np.ndarray
    """(G+1,) int64: where each rank begins."""
    kind: np.ndarray
    """(2, R, n) int64: the bucket of a hand by player and round, numbered among those of the board."""
    row: np.ndarray
    """(2, R, K) int64: where the table rows of these buckets begin."""
    kinds: np.ndarray
    """(2, R) int64: how many there are."""
    pairs: float
    """How many pairs of hands it allows."""
    twin: float
    """How often the opponent's hand with the same cards is taken off too often: 1 for hands of two cards, else 0."""


class BoardScratch(NamedTuple):
    """What a walk works in.  Of each round: reaches and values of hands, factors and values of buckets."""

    reach: np.ndarray
    """(2, R, n) float64: by player, at the root of the piece."""
    value: np.ndarray
    """(R, n) float64: the player's values there."""
    at: np.ndarray
    """(R,) int64: where a round begins in the next three."""
    own: np.ndarray
    """(...) float64: by bucket and exit, the chance that the player's bucket plays towards the exit."""
    opp: np.ndarray
    """(...) float64: the same of the opponent, at ends times what is won there."""
    worth: np.ndarray
    """(...) float64: by bucket of the player and exit, what his hands win."""
    sigma_at: np.ndarray
    """(R,) int64: where a round begins in the next."""
    sigma: np.ndarray
    """(...) float64: the player's probabilities, by bucket and edge."""
    mass: np.ndarray
    """(K,) float64: the player's reach by bucket."""
    node: np.ndarray
    """(decisions of a piece,) float64."""
    mine: np.ndarray
    """(n * LANES,) float64: by hand, what a row of exits is worth."""
    theirs: np.ndarray
    """(n * LANES,) float64: by hand, the opponent's reach there."""
    by_card: np.ndarray
    """((CARD_SLOTS + 1) * LANES,) float64: sums of rows by card, and of all."""
    stack: np.ndarray
    """(R, 2) int64: the piece, and its next link."""


@kernel
def sort_hands(
    tables: HandTables,  # IN
    board: np.ndarray,  # IN  (b,) uint8
    holes: np.ndarray,  # IN  (H, 1 or 2) uint8: all hands of the deck
    card: np.ndarray,  # OUT (n, 2) uint8: those that the board allows, by rank; a second card is left as it is
    group: np.ndarray,  # OUT (at least G+1,) int64: where each rank begins
) -> int:
    """Sort the hands that a board allows by rank; how many ranks there are."""
    rank = np.empty(len(holes), np.uint16)
    rank_holes(tables, board, holes, rank)
    order = np.argsort(rank, kind="mergesort")
    ruled_out = len(holes) - len(card)
    groups, last = 0, -1
    for h in range(len(card)):
        hole = order[ruled_out + h]
        for place in range(holes.shape[1]):
            card[h, place] = holes[hole, place]
        if np.int64(rank[hole]) != last:
            last = np.int64(rank[hole])
            group[groups] = h
            groups += 1
    group[groups] = len(card)
    return groups


@kernel
def number_kinds(
    bucket: np.ndarray,  # IN  (n,) int64: the bucket of each hand
    start: int,  # IN  the first entry of the slot
    width: int,  # IN  entries of a bucket
    known: np.ndarray,  # scratch (B,) int64: all -1, before and after
    kind: np.ndarray,  # OUT (n,) int64: the buckets numbered in the order met
    row: np.ndarray,  # OUT (K,) int64: where the entries of each begin
) -> int:
    """Number the buckets that a board has; how many there are."""
    kinds = 0
    for h in range(len(bucket)):
        if known[bucket[h]] < 0:
            known[bucket[h]] = kinds
            row[kinds] = start + bucket[h] * width
            kinds += 1
        kind[h] = known[bucket[h]]
    for h in range(len(bucket)):
        known[bucket[h]] = -1
    return kinds


@inlined
def _size(start: Any, piece: int) -> Any:
    return start[piece + 1] - start[piece]


@inlined
def _play_towards(
    pieces: Pieces, board: Board, scratch: BoardScratch, piece: int, who: int, me: int, factor: Any, regret: Any,
    average: Any, weight: float,
) -> None:  # fmt: skip
    """The factors of a player at all exits of a piece, by bucket; the opponent's are times what is won there.

    For the player who learns his probabilities are kept, and his average is added to.
    """
    turn, first, first_edge = pieces.turn[piece], pieces.node_start[piece], pieces.edge_start[piece]
    first_exit, ends = pieces.exit_start[piece], pieces.ends[piece]
    nodes, edges, exits = _size(pieces.node_start, piece), _size(pieces.edge_start, piece), _size(pieces.exit_start, piece)
    node, sigma, learns = scratch.node, scratch.sigma, who == me
    for k in range(board.kinds[who, turn]):
        here, chances = scratch.at[turn] + k * exits, scratch.sigma_at[turn] + k * edges
        for e in range(ends):  # some only fill up rows
            factor[here + e] = 0.0
        node[0] = 1.0
        edge = 0
        for j in range(nodes):
            actions, acts = pieces.actions[first + j], pieces.mover[first + j] == who
            entry = board.row[who, turn, k] + pieces.offset[first + j]
            total, share = 0.0, 1.0
            if acts:
                for a in range(actions):
                    total += max(np.float64(regret[entry + a]), 0.0)
            for a in range(actions):
                if acts:
                    share = max(np.float64(regret[entry + a]), 0.0) / total if total > 0.0 else 1.0 / actions
                if acts and learns:
                    sigma[chances + edge] = share
                    if len(average) > 0:
                        average[entry + a] += weight * scratch.mass[k] * node[j] * share
                to = pieces.to[first_edge + edge]
                if to >= 0:
                    node[to] = node[j] * share
                else:
                    e = -1 - to
                    won = 1.0 if learns or e >= ends else pieces.amount[me, first_exit + e]
                    factor[here + e] = node[j] * share * won
                edge += 1


@inlined
def _learn(
    pieces: Pieces, board: Board, scratch: BoardScratch, piece: int, me: int, floor: bool, regret: Any,
) -> None:  # fmt: skip
    """From what the exits are worth to a bucket to the values of its decisions, and to regrets."""
    turn, first, first_edge = pieces.turn[piece], pieces.node_start[piece], pieces.edge_start[piece]
    nodes, edges, exits = _size(pieces.node_start, piece), _size(pieces.edge_start, piece), _size(pieces.exit_start, piece)
    node, worth, sigma = scratch.node, scratch.worth, scratch.sigma
    for k in range(board.kinds[me, turn]):
        here, chances = scratch.at[turn] + k * exits, scratch.sigma_at[turn] + k * edges
        edge = edges
        for i in range(nodes):
            j = nodes - 1 - i
            actions, acts = pieces.actions[first + j], pieces.mover[first + j] == me
            edge -= actions
            total = 0.0
            for a in range(actions):
                to = pieces.to[first_edge + edge + a]
                found = node[to] if to >= 0 else worth[here - 1 - to]
                total += sigma[chances + edge + a] * found if acts else found
            node[j] = total
            if acts:
                entry = board.row[me, turn, k] + pieces.offset[first + j]
                for a in range(actions):
                    to = pieces.to[first_edge + edge + a]
                    found = node[to] if to >= 0 else worth[here - 1 - to]
                    learned = np.float64(regret[entry + a]) + (found - total)
                    regret[entry + a] = max(learned, 0.0) if floor else learned


@inlined
def _fold_row(cards: Any, twin: float, scratch: BoardScratch) -> None:
    """A row of folds: everything the opponent can hold beside our cards."""
    mine, theirs, by_card = scratch.mine, scratch.theirs, scratch.by_card
    by_card[:] = 0.0
    all_at = CARD_SLOTS * LANES
    for h in range(len(cards)):
        add_row(by_card, all_at, theirs, h * LANES)
        add_row(by_card, np.int64(cards[h, 0]) * LANES, theirs, h * LANES)
        add_row(by_card, np.int64(cards[h, 1]) * LANES, theirs, h * LANES)
    if twin == 0.0:
        by_card[NO_CARD * LANES : all_at] = 0.0
    for h in range(len(cards)):
        scale_row(mine, h * LANES, theirs, h * LANES, twin)  # the same two cards are taken off twice
        add_rest(mine, h * LANES, 1.0, by_card, all_at, by_card, np.int64(cards[h, 0]) * LANES, by_card,
                 np.int64(cards[h, 1]) * LANES, 1.0)  # fmt: skip


@inlined
def _showdown_row(cards: Any, twin: float, group: Any, scratch: BoardScratch) -> None:
    """A row of showdowns: weaker minus stronger hands of the opponent.

    With w for the reach of weaker hands, t of ties and a of all that our cards allow, that is w + (w + t) - a.
    """
    mine, theirs, by_card = scratch.mine, scratch.theirs, scratch.by_card
    by_card[:] = 0.0
    all_at = CARD_SLOTS * LANES
    for g in range(len(group) - 1):
        for h in range(group[g], group[g + 1]):
            add_rest(mine, h * LANES, 0.0, by_card, all_at, by_card, np.int64(cards[h, 0]) * LANES, by_card,
                     np.int64(cards[h, 1]) * LANES, 1.0)  # fmt: skip
        for h in range(group[g], group[g + 1]):
            add_row(by_card, all_at, theirs, h * LANES)
            add_row(by_card, np.int64(cards[h, 0]) * LANES, theirs, h * LANES)
            add_row(by_card, np.int64(cards[h, 1]) * LANES, theirs, h * LANES)
        if twin == 0.0:
            by_card[NO_CARD * LANES : all_at] = 0.0
        for h in range(group[g], group[g + 1]):
            add_rest(mine, h * LANES, 1.0, by_card, all_at, by_card, np.int64(cards[h, 0]) * LANES, by_card,
                     np.int64(cards[h, 1]) * LANES, 1.0)  # fmt: skip
    for h in range(len(cards)):
        add_rest(mine, h * LANES, 1.0, by_card, all_at, by_card, np.int64(cards[h, 0]) * LANES, by_card,
                 np.int64(cards[h, 1]) * LANES, -1.0)  # fmt: skip


@inlined
def _evaluate_ends(pieces: Pieces, board: Board, scratch: BoardScratch, piece: int, me: int) -> None:
    """What the ends of a piece are worth to hands, added up at its root and by bucket."""
    turn, exits = pieces.turn[piece], _size(pieces.exit_start, piece)
    own_kind, opp_kind = board.kind[me, turn], board.kind[1 - me, turn]
    reach, value, at = scratch.reach[1 - me, turn], scratch.value[turn], scratch.at[turn]
    for lane in range(0, pieces.ends[piece], LANES):
        for h in range(len(reach)):
            scale_row(scratch.theirs, h * LANES, scratch.opp, at + opp_kind[h] * exits + lane, reach[h])
        if lane < pieces.folds[piece]:
            _fold_row(board.card, board.twin, scratch)
        else:
            _showdown_row(board.card, board.twin, board.group, scratch)
        for h in range(len(reach)):
            place = at + own_kind[h] * exits + lane
            value[h] += dot_rows(scratch.mine, h * LANES, scratch.own, place)
            add_row(scratch.worth, place, scratch.mine, h * LANES)


@inlined
def _enter(
    pieces: Pieces, board: Board, scratch: BoardScratch, piece: int, me: int, regret: Any, average: Any, weight: float,
) -> bool:  # fmt: skip
    """Go forward through a piece and evaluate its ends; whether anybody comes here with any hand."""
    turn, exits = pieces.turn[piece], _size(pieces.exit_start, piece)
    own_reach, opp_reach, value = scratch.reach[me, turn], scratch.reach[1 - me, turn], scratch.value[turn]
    own_kind, kinds = board.kind[me, turn], board.kinds[me, turn]
    own_some = opp_some = False
    scratch.mass[:kinds] = 0.0
    for h in range(len(value)):
        value[h] = 0.0
        scratch.mass[own_kind[h]] += own_reach[h]
        own_some |= own_reach[h] != 0.0
        opp_some |= opp_reach[h] != 0.0
    if not (opp_some or (own_some and len(average) > 0)):
        return False
    scratch.worth[scratch.at[turn] : scratch.at[turn] + kinds * exits] = 0.0
    for who in range(2):
        factor = scratch.own if who == me else scratch.opp
        _play_towards(pieces, board, scratch, piece, who, me, factor, regret, average, weight)
    if opp_some:
        _evaluate_ends(pieces, board, scratch, piece, me)
    return True


@kernel
def walk_board(
    pieces: Pieces,  # IN
    board: Board,  # IN
    me: int,  # IN  who learns
    weight: float,  # IN  what the iteration weighs in the average
    floor: bool,  # IN  regrets stay at 0 or above
    regret: np.ndarray,  # IN OUT (E,) floats
    average: np.ndarray,  # IN OUT (E,) floats, or (0,) where no average is kept
    scratch: BoardScratch,  # scratch
    counters: np.ndarray,  # IN OUT (3,) int64: the second counts nodes of the betting tree
) -> None:
    """Walk the whole betting tree for one player, with all hands that a board allows."""
    pieces, board, scratch = borrow(pieces), borrow(board), borrow(scratch)
    regret, average = borrow(regret), borrow(average)
    stack, level, entered, touched = scratch.stack, 0, True, 0
    n = len(board.card)
    for h in range(n):
        scratch.reach[me, 0, h] = 1.0
        scratch.reach[1 - me, 0, h] = 1.0 / board.pairs
    stack[0, 0] = 0
    while level >= 0:
        piece = stack[level, 0]
        turn, exits = pieces.turn[piece], _size(pieces.exit_start, piece)
        first_exit, at = pieces.exit_start[piece], scratch.at[turn]
        own_kind, opp_kind, value = board.kind[me, turn], board.kind[1 - me, turn], scratch.value[turn]
        if entered:
            stack[level, 1] = pieces.ends[piece]
            if not _enter(pieces, board, scratch, piece, me, regret, average, weight):
                stack[level, 1] = exits + 1
            else:
                touched += 1 + _size(pieces.edge_start, piece) - (exits - pieces.ends[piece])
        else:  # back from a link
            e = stack[level, 1]
            below = scratch.value[pieces.turn[pieces.link[first_exit + e]]]
            for h in range(n):
                place = at + own_kind[h] * exits + e
                value[h] += scratch.own[place] * below[h]
                scratch.worth[place] += below[h]
            stack[level, 1] += 1
        e = stack[level, 1]
        entered = e < exits
        if entered:
            after = pieces.link[first_exit + e]
            later = pieces.turn[after]
            own_reach, opp_reach = scratch.reach[me, turn], scratch.reach[1 - me, turn]
            own_later, opp_later = scratch.reach[me, later], scratch.reach[1 - me, later]
            for h in range(n):
                own_later[h] = own_reach[h] * scratch.own[at + own_kind[h] * exits + e]
                opp_later[h] = opp_reach[h] * scratch.opp[at + opp_kind[h] * exits + e]
            level += 1
            stack[level, 0] = after
        else:
            if e == exits:
                _learn(pieces, board, scratch, piece, me, floor, regret)
            level -= 1
    counters[1] += touched
