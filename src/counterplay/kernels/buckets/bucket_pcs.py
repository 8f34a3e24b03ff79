"""Public chance sampling on a betting tree with buckets: one board, all hands of both players at once.

Johanson 2016, algorithm 1 (PCS) with section 3.4: a walk carries the reaches of all hands that the board allows, and
tables have a row for each point of the betting and bucket, to which all hands of the bucket add.

The betting tree is taken in *pieces*: the decisions of one round that follow one another.  Within a piece a hand has
one bucket, so that its reach is the reach at the root of the piece times a factor that all hands of its bucket share.
What happens in a piece is therefore worked out by bucket; hands are touched only where a piece is left, at its *exits*:
folds, showdowns, and the roots of pieces of the next round.  With ``X[h, e]`` for what exit ``e`` is worth to hand
``h`` (the opponent's reach included) and ``F[b, e]`` for the probability that bucket ``b`` plays towards ``e``,

    value of a hand at the root of the piece    sum over e of  F[bucket of h, e] X[h, e]
    values of a bucket at the exits             sum over its hands h of  X[h, e],  from which regrets follow.

Hands are sorted by rank, once for a board.  Exits of a kind lie side by side, ``WIDE`` of them are evaluated by one
pass over the hands (rows of ``kernels.numba_internals``), with sums by card for what shared cards rule out.  All cards
of a board are drawn before the walk and rule hands out from the root on, so that each pair of hands weighs the same at
every terminal.

A player may be restricted (``kernels/history/restricted.py``), by default nobody, which the compiler leaves out.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.kernels.cards.card_sums import add_hand, of_cards
from counterplay.kernels.cards.evaluator import HandTables, rank_holes
from counterplay.kernels.history.restricted import Model, chosen_value, coin_falls, restricted_share
from counterplay.kernels.jit import inlined, kernel
from counterplay.kernels.numba_internals import WIDE, borrow, load_row, row_sum, spread_row, store_row
from counterplay.kernels.regret import matched_scale, positive_total, scaled_share
from counterplay.kernels.walks import u64

NO_CARD = 52
"""In place of the second card of hands that have one; the sums of this slot are cleared before they are read."""
CARD_SLOTS = 53
ONE = np.uint64(1)


class Pieces(NamedTuple):
    """A betting tree in pieces.  P pieces, D decisions, X exits.

    What a player does within a piece is a *sequence* of his: 0 before he acts, then one for each action of his
    decisions, numbered in their order.
    """

    turn: np.ndarray  # (P,) int64: the round
    nodes: np.ndarray  # (P,) int64: decisions and terminals
    decision_start: np.ndarray  # (2, P+1) int64: the decisions of a player in a piece, each after those that lead to it
    sequences: np.ndarray  # (2, P) int64: how many sequences he has
    above: np.ndarray  # (D,) int64: the sequence of the player that leads to a decision
    actions: np.ndarray  # (D,) int64: how many actions there are
    offset: np.ndarray  # (D,) int64: where the entries of a decision begin among those of a bucket
    exit_start: np.ndarray  # (P+1,) int64: the exits: folds, showdowns, both filled up to rows of ``WIDE``, then links
    folds: np.ndarray  # (P,) int64: how many exits are folds
    terminals: np.ndarray  # (P,) int64: how many are folds or showdowns
    led: np.ndarray  # (2, X) int64: the sequence of each player that leads to an exit
    # (2, X) float64: what each player wins by a fold, or at a showdown with the better hand; 1 for links, 0 for fillers
    amount: np.ndarray
    link: np.ndarray  # (X,) int64: the piece that follows at a link


class Board(NamedTuple):
    """A drawn board: n hands that it allows, sorted by rank; at most K buckets of them in a round."""

    card: np.ndarray  # (n, 2) uint8: their cards
    group: np.ndarray  # (G+1,) int64: where each rank begins
    kind: np.ndarray  # (2, R, n) int64: the bucket of a hand by player and round, numbered among those of the board
    row: np.ndarray  # (2, R, K) int64: where the table rows of these buckets begin
    kinds: np.ndarray  # (2, R) int64: how many there are
    pairs: float  # how many pairs of hands it allows
    twin: float  # how often the opponent's hand of the same cards is taken off too often: 1 for two cards, else 0


class BoardScratch(NamedTuple):
    """What a walk works in.  Of each round: reaches and values of hands, factors and values of buckets."""

    reach: np.ndarray  # (2, R, n) float64: by player, at the root of the piece
    value: np.ndarray  # (R, n) float64: the player's values there
    at: np.ndarray  # (R,) int64: where a round begins in the next three
    own: np.ndarray  # (...) float64: by bucket and exit, how likely the player's bucket plays towards the exit
    opp: np.ndarray  # (...) float64: the same of the opponent, at terminals times what is won there
    worth: np.ndarray  # (...) float64: by bucket of the player and exit, what his hands win
    sigma_at: np.ndarray  # (R,) int64: where a round begins in the next
    sigma: np.ndarray  # (...) float64: the probability of the player's last action, by bucket and sequence
    mass: np.ndarray  # (K,) float64: the player's reach by bucket
    sequence: np.ndarray  # (sequences of a piece,) float64: of one bucket, how likely each is, or what it is worth
    mine: np.ndarray  # (n * WIDE,) float64: by hand, what a row of exits is worth
    theirs: np.ndarray  # (n * WIDE,) float64: by hand, the opponent's reach there
    by_card: np.ndarray  # (CARD_SLOTS * WIDE,) float64: sums of rows by card
    stack: np.ndarray  # (R, 2) int64: the piece, and its next link


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
    groups: Any = 0
    last: Any = -1
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
def row_size(start: Any, piece: int) -> Any:
    return start[piece + 1] - start[piece]


@inlined
def play_buckets(
    pieces: Pieces, board: Board, scratch: BoardScratch, piece: int, me: int, regret: Any, average: Any, weight: float,
    model: Model | None = None,
) -> None:  # fmt: skip
    """How likely the player's buckets play towards each exit; his probabilities are kept, his average is added to."""
    turn, first, exits = pieces.turn[piece], u64(pieces.exit_start[piece]), u64(row_size(pieces.exit_start, piece))
    low, high = u64(pieces.decision_start[me, piece]), u64(pieces.decision_start[me, piece + 1])
    sequences = u64(pieces.sequences[me, piece])
    likely = scratch.sequence
    for k in range(u64(board.kinds[me, turn])):
        row, chances = u64(board.row[me, turn, k]), u64(scratch.sigma_at[turn]) + k * sequences
        likely[0] = 1.0
        last = ONE
        for d in range(low, high):
            entry, actions, before = row + u64(pieces.offset[d]), u64(pieces.actions[d]), likely[u64(pieces.above[d])]
            scale = matched_scale(positive_total(regret, entry, actions))
            for a in range(actions):
                share = scaled_share(regret[entry + a], scale, actions)
                if model is not None:
                    share = restricted_share(model, me, entry + a, share)
                scratch.sigma[chances + last] = share
                likely[last] = before * share
                if len(average) > 0:
                    average[entry + a] += weight * scratch.mass[k] * likely[last]
                last += ONE
        here = u64(scratch.at[turn]) + k * exits
        for e in range(exits):
            scratch.own[here + e] = likely[u64(pieces.led[me, first + e])]


@inlined
def play_against(
    pieces: Pieces, board: Board, scratch: BoardScratch, piece: int, me: int, regret: Any, model: Model | None = None,
) -> None:  # fmt: skip
    """How likely the opponent's buckets play towards each exit, times what the player wins there."""
    opp = 1 - me
    turn, first, exits = pieces.turn[piece], u64(pieces.exit_start[piece]), u64(row_size(pieces.exit_start, piece))
    low, high = u64(pieces.decision_start[opp, piece]), u64(pieces.decision_start[opp, piece + 1])
    likely = scratch.sequence
    for k in range(u64(board.kinds[opp, turn])):
        row = u64(board.row[opp, turn, k])
        likely[0] = 1.0
        last = ONE
        for d in range(low, high):
            entry, actions, before = row + u64(pieces.offset[d]), u64(pieces.actions[d]), likely[u64(pieces.above[d])]
            scale = matched_scale(positive_total(regret, entry, actions))
            for a in range(actions):
                share = scaled_share(regret[entry + a], scale, actions)
                if model is not None:
                    share = restricted_share(model, opp, entry + a, share)
                likely[last] = before * share
                last += ONE
        here = u64(scratch.at[turn]) + k * exits
        for e in range(exits):
            scratch.opp[here + e] = likely[u64(pieces.led[opp, first + e])] * pieces.amount[me, first + e]


@inlined
def learn_piece(
    pieces: Pieces, board: Board, scratch: BoardScratch, piece: int, me: int, floor: bool, learned: Any,
    model: Model | None = None,
) -> None:  # fmt: skip
    """From what the exits are worth to a bucket to what its sequences are worth, and to regrets."""
    turn, first, exits = pieces.turn[piece], u64(pieces.exit_start[piece]), u64(row_size(pieces.exit_start, piece))
    low, high = u64(pieces.decision_start[me, piece]), u64(pieces.decision_start[me, piece + 1])
    sequences = u64(pieces.sequences[me, piece])
    worth = scratch.sequence
    for k in range(u64(board.kinds[me, turn])):
        row, chances = u64(board.row[me, turn, k]), u64(scratch.sigma_at[turn]) + k * sequences
        here = u64(scratch.at[turn]) + k * exits
        for q in range(sequences):
            worth[q] = 0.0
        for e in range(exits):
            worth[u64(pieces.led[me, first + e])] += scratch.worth[here + e]
        last = sequences
        for i in range(high - low):
            d = high - ONE - i
            entry, actions = row + u64(pieces.offset[d]), u64(pieces.actions[d])
            last -= actions
            total = 0.0
            for a in range(actions):
                total += scratch.sigma[chances + last + a] * worth[last + a]
            worth[u64(pieces.above[d])] += total
            if model is not None:
                total = chosen_value(model, me, total, entry, actions, worth, last)
            for a in range(actions):
                found = np.float64(learned[entry + a]) + (worth[last + a] - total)
                learned[entry + a] = max(found, 0.0) if floor else found


@inlined
def _fold_row(cards: Any, twin: float, scratch: BoardScratch) -> None:
    """A row of folds: everything the opponent can hold beside our cards."""
    mine, theirs, by_card = scratch.mine, scratch.theirs, scratch.by_card
    by_card[:] = 0.0
    every = load_row(by_card, 0)
    for h in range(len(cards)):
        every = add_hand(load_row(theirs, h * WIDE), cards, h, by_card, every)
    if twin == 0.0:
        by_card[NO_CARD * WIDE :] = 0.0
    same = spread_row(twin)  # the same two cards are taken off twice
    for h in range(len(cards)):
        store_row(mine, h * WIDE, same * load_row(theirs, h * WIDE) + (every - of_cards(cards, h, by_card)))


@inlined
def _showdown_row(cards: Any, twin: float, group: Any, scratch: BoardScratch) -> None:
    """A row of showdowns: weaker minus stronger hands of the opponent.

    With w for the reach of weaker hands, t of ties and a of all that our cards allow, that is w + (w + t) - a.
    """
    mine, theirs, by_card = scratch.mine, scratch.theirs, scratch.by_card
    by_card[:] = 0.0
    every = load_row(by_card, 0)
    for g in range(len(group) - 1):
        for h in range(group[g], group[g + 1]):
            store_row(mine, h * WIDE, every - of_cards(cards, h, by_card))
        for h in range(group[g], group[g + 1]):
            every = add_hand(load_row(theirs, h * WIDE), cards, h, by_card, every)
        if twin == 0.0:
            by_card[NO_CARD * WIDE :] = 0.0
        for h in range(group[g], group[g + 1]):
            store_row(mine, h * WIDE, load_row(mine, h * WIDE) + (every - of_cards(cards, h, by_card)))
    for h in range(len(cards)):
        store_row(mine, h * WIDE, load_row(mine, h * WIDE) - (every - of_cards(cards, h, by_card)))


@inlined
def terminal_rows(
    pieces: Pieces, board: Board, scratch: BoardScratch, piece: int, me: int, reach: Any, lane: Any
) -> None:
    """What ``WIDE`` terminals of a piece are worth to each hand of the player, into ``scratch.mine``."""
    turn, exits = pieces.turn[piece], row_size(pieces.exit_start, piece)
    kind, at = board.kind[1 - me, turn], scratch.at[turn]
    for h in range(len(kind)):
        chances = load_row(scratch.opp, at + kind[h] * exits + lane)
        store_row(scratch.theirs, h * WIDE, chances * spread_row(reach[h]))
    win_rows(pieces, board, scratch, piece, lane)


@inlined
def win_rows(pieces: Pieces, board: Board, scratch: BoardScratch, piece: int, lane: Any) -> None:
    """What ``WIDE`` terminals of a piece are worth to each hand, from ``scratch.theirs`` into ``scratch.mine``."""
    if lane < pieces.folds[piece]:
        _fold_row(board.card, board.twin, scratch)
    else:
        _showdown_row(board.card, board.twin, board.group, scratch)


@inlined
def count_rows(pieces: Pieces, board: Board, scratch: BoardScratch, piece: int, me: int, lane: Any) -> None:
    """Add what ``WIDE`` terminals are worth to hands, at the root of the piece and by bucket."""
    turn, exits = pieces.turn[piece], row_size(pieces.exit_start, piece)
    kind, at, value = board.kind[me, turn], scratch.at[turn], scratch.value[turn]
    for h in range(len(kind)):
        place = at + kind[h] * exits + lane
        row = load_row(scratch.mine, h * WIDE)
        value[h] += row_sum(row * load_row(scratch.own, place))
        store_row(scratch.worth, place, load_row(scratch.worth, place) + row)


@inlined
def _evaluate_terminals(pieces: Pieces, board: Board, scratch: BoardScratch, piece: int, me: int) -> None:
    """What the terminals of a piece are worth to hands, added up at its root and by bucket."""
    reach = scratch.reach[1 - me, pieces.turn[piece]]
    for lane in range(0, pieces.terminals[piece], WIDE):
        terminal_rows(pieces, board, scratch, piece, me, reach, lane)
        count_rows(pieces, board, scratch, piece, me, lane)


@inlined
def begin_piece(
    pieces: Pieces, board: Board, scratch: BoardScratch, piece: int, me: int, regret: Any, average: Any, weight: float,
    model: Model | None = None,
) -> int:  # fmt: skip
    """Go forward through a piece: 0 if nobody comes here with any hand, 2 if the opponent does, else 1."""
    turn, exits = pieces.turn[piece], row_size(pieces.exit_start, piece)
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
        return 0
    scratch.worth[scratch.at[turn] : scratch.at[turn] + kinds * exits] = 0.0
    play_buckets(pieces, board, scratch, piece, me, regret, average, weight, model)
    return 2 if opp_some else 1


@inlined
def enter_piece(
    pieces: Pieces, board: Board, scratch: BoardScratch, piece: int, me: int, regret: Any, other: Any, average: Any,
    weight: float, model: Model | None = None,
) -> bool:  # fmt: skip
    """``begin_piece`` and evaluate its terminals, the opponent playing ``other``; whether anybody comes here."""
    some = begin_piece(pieces, board, scratch, piece, me, regret, average, weight, model)
    if some == 0:
        return False
    play_against(pieces, board, scratch, piece, me, other, model)
    if some == 2:
        _evaluate_terminals(pieces, board, scratch, piece, me)
    return True


@inlined
def _walk(
    pieces: Pieces, board: Board, me: int, weight: float, floor: bool, regret: Any, learned: Any, average: Any,
    scratch: BoardScratch, model: Model | None,
) -> int:  # fmt: skip
    """Walk the whole betting tree for one player; how many nodes were touched."""
    stack, level, entered, touched = scratch.stack, 0, True, 0
    n = len(board.card)
    for h in range(n):
        scratch.reach[me, 0, h] = 1.0
        scratch.reach[1 - me, 0, h] = 1.0 / board.pairs
    stack[0, 0] = 0
    while level >= 0:
        piece = stack[level, 0]
        turn, exits = pieces.turn[piece], row_size(pieces.exit_start, piece)
        first_exit, at = pieces.exit_start[piece], scratch.at[turn]
        own_kind, opp_kind, value = board.kind[me, turn], board.kind[1 - me, turn], scratch.value[turn]
        if entered:
            stack[level, 1] = pieces.terminals[piece]
            touched += pieces.nodes[piece]
            if not enter_piece(pieces, board, scratch, piece, me, regret, regret, average, weight, model):
                stack[level, 1] = exits + 1  # nothing follows, nothing is learned
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
                learn_piece(pieces, board, scratch, piece, me, floor, learned, model)
            level -= 1
    return touched


@kernel
def walk_board(
    pieces: Pieces,  # IN
    board: Board,  # IN
    learners: np.ndarray,  # IN  (w,) int64: who learns, one walk after the other
    weight: float,  # IN  what the iteration weighs in the average
    floor: bool,  # IN  regrets stay at 0 or above
    regret: np.ndarray,  # IN  (E,) floats: what is played
    learned: np.ndarray,  # IN OUT (E,) floats: what regrets are added to, which may be the same
    average: np.ndarray,  # IN OUT (E,) floats, or (0,) where no average is kept
    scratch: BoardScratch,  # scratch
    counters: np.ndarray,  # IN OUT (3,) int64: the second counts nodes of the betting tree
    model: Model | None = None,  # IN  who is restricted
    state: Any = None,  # IN OUT (1,) uint64: the random numbers of the coins
) -> None:
    """Walks over a board: all hands that it allows, and all betting."""
    pieces, board, scratch = borrow(pieces), borrow(board), borrow(scratch)
    regret, learned, average = borrow(regret), borrow(learned), borrow(average)
    touched = 0
    for walk in range(len(learners)):
        me = learners[walk]
        if model is not None:
            coin = 1.0 if coin_falls(model, me, state) else 0.0
            now = borrow(Model(model.player, coin, model.fixed, model.trust))
            touched += _walk(pieces, board, me, weight, floor, regret, learned, average, scratch, now)
        else:
            touched += _walk(pieces, board, me, weight, floor, regret, learned, average, scratch, None)
    counters[1] += touched
