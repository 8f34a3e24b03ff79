"""What a walk over a public tree does in one piece: strategies and reaches forwards, values and updates backwards.

Johanson 2016, sections 2.4, 3.3 and 9.3.  ``kernels.public.public_cfr`` goes from piece to piece; the samplers of
``kernels.public.public_sampling`` take the same steps with other vectors.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.kernels.jit import inlined
from counterplay.kernels.numba_internals import WIDE, rows_from_vectors, vectors_from_rows
from counterplay.kernels.public.bucketed_hands import (
    add_leaf,
    answers,
    has_buckets,
    note_response,
    play_response,
    reach_of_leaf,
    rows_of_piece,
    watch_leaves,
)
from counterplay.kernels.public.runouts import runout_values
from counterplay.kernels.public.table_updates import update_tables
from counterplay.kernels.public.terminal import (
    additive_values,
    factored_values,
    fold_values,
    matrix_values,
    pay_fee,
    row_values,
    showdown_values,
    tilted_values,
)  # fmt: skip
from counterplay.kernels.regret import FEW_HANDS, match_few, match_hands

UPDATE, RESPONSE, VALUE = 0, 1, 2
"""Modes: CFR, best response, expected value."""

_LINK, _FOLD, _SHOWDOWN, _MATRIX, _FACTORED, _TILTED = 2, 3, 4, 5, 6, 8


class NodeArrays(NamedTuple):
    """The fields of a ``PublicTree`` that kernels read, which documents each, and matrices of run-outs."""

    kind: Any
    first_child: Any
    num_children: Any
    base: Any
    block: Any
    state: Any  # (N,) int64: as ``block`` in tables of the whole game, also where the tables hold a part of it
    reach_slot: Any
    piece_size: Any
    link_deal: Any
    payoff: Any
    data: Any
    factor: Any
    deal_first: Any
    deal_count: Any
    deal_root: Any
    deal_weight: Any
    matrix: Any
    factor_class: Any
    factor_count: Any
    fee: Any  # (N,) float64: of showdowns, and of links after which there is nothing but one; 0 where there are none
    runout: Any  # (N,) float64: of a link after which there is nothing but a showdown, the stake, if there are matrices
    runout_at: Any  # (D,) int64: where the matrix of a deal begins in ``runout_matrix``
    runout_matrix: Any  # see ``kernels.public.runouts``
    group: Any  # (N,) int32: of the root of a piece, its first group of folds and showdowns; None without buckets
    group_end: Any  # (N,) int32: the group after its last
    lane: Any  # (groups x WIDE,) int32: the node in each lane of a group, or -1
    tilted: Any  # True where some showdown is TILTED; None, so that kernels leave that out, where none is


class HandArrays(NamedTuple):
    """The fields of ``Hands`` that kernels read; ``plain``: the classes of a deal stand for as many real hands as those
    they are a part of.
    """

    start: Any
    parent: Any
    multiplicity: Any
    card: Any
    rank: Any
    twin: Any
    real_start: Any
    real_class: Any
    real_rank: Any
    real_card: Any
    plain: Any
    # of a player who plays by buckets, see ``kernels.public.bucketed_hands``; (0,) for one who does not, in walks where
    # the other does; None, so that kernels leave this out, where nobody does
    bucket: Any = None
    mass: Any = None
    row: Any = None
    wide: Any = None
    buckets: Any = None
    leaf: Any = None
    entered: Any = None
    response_at: Any = None


class Tables(NamedTuple):
    """The tables of one player.  Values are ``table * scale[block]``; scales are 1 unless tables hold small integers.

    ``average`` and ``prediction`` may be empty: then none is kept.  In walks with buckets, ``regret`` holds the shares
    of leaves; ``response`` takes our best response, unless it is empty, or holds the one that an UPDATE answers; and
    ``learned`` takes the sums of an UPDATE.
    """

    regret: Any
    regret_scale: Any
    average: Any
    average_scale: Any
    prediction: Any
    response: Any = None
    learned: Any = None


class Rule(NamedTuple):
    """The numbers that make a member of the CFR family, for one iteration."""

    keep_positive: float
    keep_negative: float
    floor: bool
    weight: float
    tie: float
    prune: bool
    quantised: bool
    salt: int


class Scratch(NamedTuple):
    """Vectors of a walk, one after the other: levels x nodes of a piece x ``stride`` hands; ``reach`` has one more
    node in each piece, ``value`` one more at the end, which nobody reads.

    ``terminals`` takes the terminals of a piece; the fields after it are those of ``row_values``.
    """

    reach: Any
    value: Any
    sigma: Any
    alive: Any
    position: Any
    sums: Any
    totals: Any
    terminals: Any
    theirs: Any
    mine: Any
    by_card: Any
    factor: Any
    reach_place: Any
    value_place: Any
    stride: int
    piece: int


@inlined
def any_above(vector: Any, first: Any, n: Any) -> bool:
    for h in range(n):  # noqa: SIM110  numba has no generators
        if vector[first + h] != 0.0:
            return True
    return False


@inlined
def hands_at(hands: HandArrays, deal: Any) -> Any:
    return np.uint64(hands.start[deal + 1] - hands.start[deal])


@inlined
def begin_walk(
    tree: NodeArrays, own: HandArrays, opp: HandArrays, me: int, root: Any, deal: Any, own_reach: Any, opp_reach: Any,
    scratch: Scratch,
) -> None:  # fmt: skip
    """The reaches of both players at the root of the piece in which a walk starts."""
    own_n, opp_n = hands_at(own, deal), hands_at(opp, deal)
    stride = np.uint64(scratch.stride)
    own_at = np.uint64(tree.reach_slot[me, root]) * stride
    opp_at = np.uint64(tree.reach_slot[1 - me, root]) * stride
    for h in range(own_n):
        scratch.reach[own_at + h] = own_reach[h]
    for h in range(opp_n):
        scratch.reach[opp_at + h] = opp_reach[h]
    scratch.alive[0, 0, me] = any_above(scratch.reach, own_at, own_n)
    scratch.alive[0, 0, 1 - me] = any_above(scratch.reach, opp_at, opp_n)


@inlined
def go_forward(
    tree: NodeArrays, own: HandArrays, opp: HandArrays, me: int, mode: int, tables: Tables, opp_table: Any,
    opp_scale: Any, opp_prediction: Any, rule: Rule, locked: Any, root: Any, deal: Any, level: Any, scratch: Scratch,
) -> None:  # fmt: skip
    """Strategies and reaches of a piece.  ``alive[.., p]`` says whether the reach of p is more than 0 somewhere."""
    reach, sigma, alive = scratch.reach, scratch.sigma, scratch.alive
    stride = np.uint64(scratch.stride)
    reach_at = np.uint64(level * (scratch.piece + 1)) * stride
    sigma_at = np.uint64(level * scratch.piece) * stride
    own_n, opp_n = hands_at(own, deal), hands_at(opp, deal)
    for j in range(tree.piece_size[root]):
        node = root + j
        kind = tree.kind[node]
        if kind > 1:
            continue
        actions = np.uint64(tree.num_children[node])
        child = np.uint64(tree.first_child[node] - root)
        if not alive[level, j, 1 - me] and (mode != UPDATE or (rule.prune and not alive[level, j, me])):
            for a in range(actions):
                alive[level, child + a, 0] = False
                alive[level, child + a, 1] = False
            continue
        block = tree.block[node] + deal
        at = sigma_at + child * stride
        mine = kind == me
        if mine and mode == RESPONSE and not locked[node]:
            for a in range(actions):
                alive[level, child + a, 0] = alive[level, j, 0]
                alive[level, child + a, 1] = alive[level, j, 1]
            continue
        if has_buckets(own.bucket) and mine:  # leaves know what we play
            for a in range(actions):
                alive[level, child + a, 0] = alive[level, j, 0]
                alive[level, child + a, 1] = alive[level, j, 1]
            continue
        if answers(own.bucket, mode, tables.response):
            play_response(own.bucket, tree, opp, tables.response, root, node, deal, level, scratch)
            continue
        if has_buckets(opp.bucket) and not mine:
            watch_leaves(opp.bucket, tree, opp_table, root, node, level, scratch)
            continue
        n = own_n if mine else opp_n
        before = reach_at + np.uint64(tree.reach_slot[kind, node]) * stride
        if not mine and len(opp_scale) == 0:  # the opponent does not look at his hand: one row for each node
            for a in range(actions):
                share = reach.dtype.type(opp_table[np.uint64(tree.base[node]) + a])
                alive[level, child + a, me] = alive[level, j, me]
                alive[level, child + a, 1 - me] = share > 0.0
                if share > 0.0:
                    after = reach_at + (child + a) * stride
                    for h in range(n):
                        reach[after + h] = reach[before + h] * share
            continue
        first = np.uint64(tree.base[node] + tree.num_children[node] * (own.start[deal] if mine else opp.start[deal]))
        table, scales = (tables.regret, tables.regret_scale) if mine else (opp_table, opp_scale)
        prediction = tables.prediction if mine else opp_prediction
        if n <= FEW_HANDS and len(prediction) == 0:
            out = reach_at + child * stride
            match_few(table, scales[block], first, n, actions, rule.tie, sigma, at, reach, before, out, stride)
            for a in range(actions):
                after, some = out + a * stride, False
                for h in range(n):
                    some |= reach[after + h] != 0.0
                alive[level, child + a, 1 - kind] = alive[level, j, 1 - kind]
                alive[level, child + a, kind] = some
            continue
        match_hands(table, scales[block], prediction, first, n, actions, rule.tie, sigma, at, stride, scratch.totals)
        for a in range(actions):
            after, row = reach_at + (child + a) * stride, at + a * stride
            for h in range(n):
                reach[after + h] = reach[before + h] * sigma[row + h]
            alive[level, child + a, 1 - kind] = alive[level, j, 1 - kind]
            alive[level, child + a, kind] = any_above(reach, after, n)


@inlined
def terminal_values(
    tree: NodeArrays, own: HandArrays, opp: HandArrays, me: int, pair_hands: bool, node: Any, deal: Any, reach: Any,
    r: Any, sums: Any, value: Any, v: Any,
) -> None:  # fmt: skip
    """The values of our hands at a terminal; ``reach`` from ``r`` on in, ``value`` from ``v`` on out."""
    kind = tree.kind[node]
    sign = 1.0 if me == 0 else -1.0
    n, others = hands_at(own, deal), hands_at(opp, deal)
    if kind in (_FOLD, _SHOWDOWN) or (tree.tilted is not None and kind == _TILTED):
        mine = np.uint64(own.start[deal])
        low, high = np.uint64(opp.real_start[deal]), np.uint64(opp.real_start[deal + 1])
        if kind == _FOLD:
            fold_values(sign * tree.payoff[node], pair_hands, own.card, own.twin, mine, n, opp.real_class,
                        opp.real_card, low, high, reach, r, sums, value, v)  # fmt: skip
        elif tree.tilted is not None and kind == _TILTED:
            tilted_values(tree.payoff[node], tree.matrix[tree.data[node]], own.card, own.rank, mine, n, opp.real_class,
                          opp.real_rank, opp.real_card, low, high, reach, r, sums, value, v)  # fmt: skip
        else:
            showdown_values(tree.payoff[node], own.card, own.rank, mine, n, opp.real_class, opp.real_rank,
                            opp.real_card, low, high, reach, r, sums, value, v)  # fmt: skip
            if tree.fee[node] != 0.0:
                pay_fee(tree.fee[node], pair_hands, own.card, own.twin, mine, n, opp.real_class, opp.real_card, low,
                        high, reach, r, sums, value, v)  # fmt: skip
        return
    at = np.uint64(tree.data[node])
    sign *= tree.payoff[node]
    if kind == _MATRIX:
        matrix_values(me, sign, tree.matrix, at, reach, r, others, value, v, n)
    elif kind == _FACTORED:
        row = tree.factor[node]
        factored_values(me, sign, tree.matrix, at, tree.factor_class, row, tree.factor_count[me, row],
                        tree.factor_count[1 - me, row], reach, r, others, sums, value, v, n)  # fmt: skip
    else:
        own_at = at if me == 0 else at + others
        additive_values(sign, tree.matrix, own_at, at + n if me == 0 else at, reach, r, others, value, v, n)


@inlined
def terminals_of_piece(
    tree: NodeArrays, own: HandArrays, opp: HandArrays, me: int, pair_hands: bool, root: Any, deal: Any, level: Any,
    scratch: Scratch,
) -> None:  # fmt: skip
    """The values of our hands at all folds and showdowns of a piece that the opponent reaches, ``WIDE`` at a time."""
    reach, value, terminals, factor = scratch.reach, scratch.value, scratch.terminals, scratch.factor
    stride, wide = np.uint64(scratch.stride), np.uint64(WIDE)
    reach_at = np.uint64(level * (scratch.piece + 1)) * stride
    value_at = np.uint64(level * scratch.piece) * stride
    n, others = hands_at(own, deal), hands_at(opp, deal)
    low, high = np.uint64(opp.real_start[deal]), np.uint64(opp.real_start[deal + 1])
    sign = 1.0 if me == 0 else -1.0
    count = 0
    for fold in range(2):
        for j in range(tree.piece_size[root]):
            if tree.kind[root + j] == _SHOWDOWN - fold and scratch.alive[level, j, 1 - me]:
                terminals[count] = j
                count += 1
    for first in range(0, count, WIDE):
        here = min(count - first, WIDE)
        for lane in range(WIDE):
            j = terminals[first + min(lane, here - 1)]
            node = root + j
            scratch.reach_place[lane] = reach_at + np.uint64(tree.reach_slot[1 - me, node]) * stride
            scratch.value_place[lane] = value_at + np.uint64(j) * stride
            payoff, shown, fee = tree.payoff[node], tree.kind[node] == _SHOWDOWN, tree.fee[node]
            factor[lane] = payoff if shown else 0.0
            factor[WIDE + lane] = -payoff - fee if shown else sign * payoff
            factor[2 * WIDE + lane] = 0.0 if not pair_hands else 0.0 - fee if shown else sign * payoff
            if lane >= here:  # nothing is there: the last terminal once more, and nobody reads it
                scratch.value_place[lane] = np.uint64(len(value)) - stride
        for o in range(np.uint64(0), others, wide):
            rows_from_vectors(reach, scratch.reach_place, o, scratch.theirs, o * wide)
        some_shown = tree.kind[root + terminals[first]] == _SHOWDOWN
        row_values(some_shown, own.card, own.rank, own.twin, np.uint64(own.start[deal]), n, opp.real_class,
                   opp.real_rank, opp.real_card, low, high, scratch.theirs, stride, factor, scratch.by_card,
                   scratch.mine)  # fmt: skip
        for h in range(np.uint64(0), n, wide):
            vectors_from_rows(value, scratch.value_place, h, scratch.mine, h * wide)


@inlined
def go_backward(
    tree: NodeArrays, own: HandArrays, opp: HandArrays, me: int, mode: int, pair_hands: bool, tables: Tables,
    opp_table: Any, rule: Rule, locked: Any, root: Any, deal: Any, level: Any, scratch: Scratch,
) -> None:  # fmt: skip
    """Values of a piece, from its leaves to its root; updates of our tables on the way."""
    reach, value, sigma, alive = scratch.reach, scratch.value, scratch.sigma, scratch.alive
    stride = np.uint64(scratch.stride)
    reach_at = np.uint64(level * (scratch.piece + 1)) * stride
    value_at = np.uint64(level * scratch.piece) * stride
    n = hands_at(own, deal)
    together = n > FEW_HANDS and tree.piece_size[root] > 1
    shared = has_buckets(own.bucket) and mode != RESPONSE and tree.piece_size[root] > 1  # sums of leaves suffice
    if shared:
        for h in range(n):
            value[value_at + h] = 0.0
    if together and own.bucket is None:
        terminals_of_piece(tree, own, opp, me, pair_hands, root, deal, level, scratch)
    elif together:
        rows_of_piece(own.bucket, tree, own, opp, me, mode, pair_hands, tables, opp_table, root, deal, level, scratch)
    for j in range(tree.piece_size[root] - 1, -1, -1):
        node = root + j
        kind = tree.kind[node]
        here = value_at + np.uint64(j) * stride
        if shared:
            if kind <= 1 or not alive[level, j, 1 - me] or (together and kind in (_FOLD, _SHOWDOWN)):
                continue
        elif not alive[level, j, 1 - me] and (mode != UPDATE or kind > 1 or (rule.prune and not alive[level, j, me])):
            for h in range(n):
                value[here + h] = 0.0
            continue
        if kind > 1 and has_buckets(opp.bucket) and not answers(own.bucket, mode, tables.response):
            reach_of_leaf(opp.bucket, tree, opp, 1 - me, opp_table, root, node, deal, level, scratch)
        if kind == _LINK:
            if tree.runout[node] != 0.0:
                r = reach_at + np.uint64(tree.reach_slot[1 - me, node]) * stride
                runout_values(me, tree.runout[node], tree.runout_matrix, np.uint64(tree.runout_at[deal]),
                              own.multiplicity, np.uint64(own.start[deal]), n, reach, r, hands_at(opp, deal), stride,
                              value, here)  # fmt: skip
                if tree.fee[node] != 0.0:  # hands that can be dealt together always reach the showdown
                    pay_fee(tree.fee[node], pair_hands, own.card, own.twin, np.uint64(own.start[deal]), n,
                            opp.real_class, opp.real_card, np.uint64(opp.real_start[deal]),
                            np.uint64(opp.real_start[deal + 1]), reach, r, scratch.sums, value, here)  # fmt: skip
            if shared:  # the walk has filled the others in
                add_leaf(own.bucket, own, mode, tables, node, deal, n, value, here, value_at)
            continue
        if kind > 1:
            if together and (kind in (_FOLD, _SHOWDOWN)):
                continue
            r = reach_at + np.uint64(tree.reach_slot[1 - me, node]) * stride
            terminal_values(tree, own, opp, me, pair_hands, node, deal, reach, r, scratch.sums, value, here)
            if shared:
                add_leaf(own.bucket, own, mode, tables, node, deal, n, value, here, value_at)
            continue
        actions = np.uint64(tree.num_children[node])
        child = np.uint64(tree.first_child[node] - root)
        first = value_at + child * stride
        if kind != me:
            for h in range(n):
                value[here + h] = value[first + h]
            for a in range(np.uint64(1), actions):
                row = first + a * stride
                for h in range(n):
                    value[here + h] += value[row + h]
        elif mode == RESPONSE and not locked[node]:
            for h in range(n):
                value[here + h] = value[first + h]
            for a in range(np.uint64(1), actions):
                row = first + a * stride
                for h in range(n):
                    value[here + h] = max(value[here + h], value[row + h])
            note_response(tables.response, own, node, deal, actions, value, first, here, stride)
        else:
            for h in range(n):
                value[here + h] = 0.0
            for a in range(actions):
                row = first + a * stride
                for h in range(n):
                    value[here + h] += sigma[row + h] * value[row + h]
        if kind == me and mode == UPDATE:
            entry = np.uint64(tree.base[node] + tree.num_children[node] * own.start[deal])
            r = reach_at + np.uint64(tree.reach_slot[me, node]) * stride
            update_tables(tables, rule, locked[node], tree.block[node] + deal, tree.state[node] + deal, entry, n,
                          actions, reach, r, sigma, first, value, first, here, stride)  # fmt: skip


@inlined
def enter_piece(
    tree: NodeArrays, hands: HandArrays, player: int, link: Any, below: Any, cut: bool, deal: Any, level: Any,
    scratch: Scratch,
) -> bool:  # fmt: skip
    """A player's reach at the root of a piece, from that at the link above it; whether it is more than 0 somewhere."""
    stride = np.uint64(scratch.stride)
    above = np.uint64(level * (scratch.piece + 1) + tree.reach_slot[player, link]) * stride
    to = np.uint64((level + 1) * (scratch.piece + 1) + tree.reach_slot[player, below]) * stride
    first, n = np.uint64(hands.start[deal]), hands_at(hands, deal)
    reach = scratch.reach
    if cut:
        for h in range(n):
            reach[to + h] = reach[above + h]
    else:
        for h in range(n):
            reach[to + h] = reach[above + hands.parent[first + h]]
    return any_above(reach, to, n)


@inlined
def leave_deal(
    tree: NodeArrays, own: HandArrays, before: Any, deal: Any, found: Any, child: Any, value: Any, above: Any
) -> None:
    """Add the values of our hands after a deal, ``found`` from ``child`` on, to those at the deal before it."""
    first, upper = np.uint64(own.start[deal]), np.uint64(own.start[before])
    weight = value.dtype.type(tree.deal_weight[deal])
    if own.plain[deal]:
        for h in range(hands_at(own, deal)):
            value[above + own.parent[first + h]] += weight * found[child + h]
        return
    for h in range(hands_at(own, deal)):
        up = np.uint64(own.parent[first + h])
        part = np.float64(own.multiplicity[first + h]) / np.float64(own.multiplicity[upper + up])
        value[above + up] += weight * value.dtype.type(part) * found[child + h]
