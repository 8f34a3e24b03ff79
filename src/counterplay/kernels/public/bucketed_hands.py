"""What a walk over a public tree does for a player who plays by buckets: all hands of a bucket play alike.

Johanson 2016, sections 3.4 and 4.3.  Inside a piece such a player's reach is that at its root times a number for each
leaf and bucket, his *share* of the leaf, which is the same at all deals.  So strategies are spread over the leaves once
(``spread_strategy``), walks read shares where they would otherwise match the strategies of all hands at all decisions,
and add what leaves are worth by bucket; regrets follow from these sums after the walk (``learn_from_leaves``).

Leaves of a piece lie in groups of ``WIDE`` lanes, first those that are evaluated in rows; each bucket has a row of a
group::

    share = table[leaf[node] + bucket * WIDE]

and after the last group the table has, for each node, the largest share of a bucket: nobody is there if it is 0.
Entries of strategies and regrets are those of a ``BucketGame``: ``row[node] + bucket * wide[node] + action``.

An UPDATE may be the answer to a response (``answers``): then each hand of the opponent plays the one action that
``Tables.response`` says, whatever his buckets are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from counterplay.kernels.jit import inlined, kernel
from counterplay.kernels.numba_internals import (
    WIDE,
    add_row,
    load_row,
    row_sum,
    rows_from_vectors,
    spread_row,
    store_row,
    vectors_from_rows,
)
from counterplay.kernels.public.terminal import row_values

if TYPE_CHECKING:
    from counterplay.kernels.public.piece_steps import HandArrays, NodeArrays, Scratch, Tables

ANY_ACTION = 255
"""The response of hands that the opponent never lets act: all actions alike."""

_UPDATE, _RESPONSE = 0, 1
_FOLD, _SHOWDOWN = 3, 4


@inlined
def has_buckets(bucket: Any) -> bool:
    """Whether a player plays by buckets."""
    if bucket is None:
        return False
    return len(bucket) > 0


@inlined
def answers(bucket: Any, mode: int, response: Any) -> bool:
    """Whether a walk is the answer to a response."""
    if bucket is None:
        return False
    return mode == _UPDATE and len(response) > 0


@inlined
def count_reach(
    bucket: Any, tree: NodeArrays, own: HandArrays, me: int, learned: Any, root: Any, deal: Any, level: Any,
    scratch: Scratch,
) -> None:  # fmt: skip
    """Add up, by bucket, what we reach the root of a piece with.

    ``bucket`` is that of the hands, here and below: kernels leave all this out where it is None.
    """
    if bucket is None:
        return
    first, n = np.uint64(own.start[deal]), np.uint64(own.start[deal + 1] - own.start[deal])
    r = np.uint64(level * (scratch.piece + 1) + tree.reach_slot[me, root]) * np.uint64(scratch.stride)
    place = np.uint64(own.entered[root])
    for h in range(n):
        learned[place + np.uint64(bucket[first + h])] += own.mass[first + h] * np.float64(scratch.reach[r + h])


@inlined
def note_response(
    response: Any, own: HandArrays, node: Any, deal: Any, actions: Any, value: Any, first: Any, here: Any, stride: Any
) -> None:
    """Write down the best actions of our hands, of equally good ones the first, in walks that ask for them."""
    if response is None:
        return
    if len(response) > 0:
        n, out = np.uint64(own.start[deal + 1] - own.start[deal]), np.uint64(own.response_at[node] + own.start[deal])
        for i in range(actions):
            a = actions - np.uint64(1) - i
            row, number = first + a * stride, np.uint8(a)
            for h in range(n):
                response[out + h] = number if value[row + h] == value[here + h] else response[out + h]


@inlined
def play_response(
    bucket: Any, tree: NodeArrays, opp: HandArrays, response: Any, root: Any, node: Any, deal: Any, level: Any,
    scratch: Scratch,
) -> None:  # fmt: skip
    """The reaches of an opponent who responds, after a decision."""
    if bucket is None:
        return
    alive, reach, player, j = scratch.alive, scratch.reach, tree.kind[node], node - root
    stride = np.uint64(scratch.stride)
    reach_at = np.uint64(level * (scratch.piece + 1)) * stride
    actions, child = np.uint64(tree.num_children[node]), np.uint64(tree.first_child[node] - root)
    before = reach_at + np.uint64(tree.reach_slot[player, node]) * stride
    chosen = np.uint64(opp.response_at[node] + opp.start[deal])
    none, each = reach.dtype.type(0.0), reach.dtype.type(1.0 / np.float64(actions))
    for a in range(actions):
        alive[level, child + a, 1 - player] = alive[level, j, 1 - player]
        alive[level, child + a, player] = False
        if not alive[level, j, player]:
            continue
        after, number = reach_at + (child + a) * stride, np.uint8(a)
        for o in range(np.uint64(opp.start[deal + 1] - opp.start[deal])):
            played, mass = response[chosen + o], reach[before + o]
            reach[after + o] = mass if played == number else mass * each if played == ANY_ACTION else none
        for o in range(np.uint64(opp.start[deal + 1] - opp.start[deal])):
            if reach[after + o] != 0.0:
                alive[level, child + a, player] = True
                break


@inlined
def watch_leaves(bucket: Any, tree: NodeArrays, table: Any, root: Any, node: Any, level: Any, scratch: Scratch) -> None:
    """Whether a player who plays by buckets is anywhere after a decision."""
    if bucket is None:
        return
    alive, player, j = scratch.alive, tree.kind[node], node - root
    most, child = len(table) - len(tree.kind), tree.first_child[node]
    for a in range(tree.num_children[node]):
        alive[level, child - root + a, 1 - player] = alive[level, j, 1 - player]
        alive[level, child - root + a, player] = alive[level, j, player] and table[most + child + a] > 0.0


@inlined
def enter_by_buckets(
    bucket: Any, tree: NodeArrays, hands: HandArrays, player: int, table: Any, above_root: Any, link: Any, below: Any,
    cut: bool, above_deal: Any, deal: Any, level: Any, scratch: Scratch,
) -> bool:  # fmt: skip
    """The reach at the root of a piece of a player who plays by buckets; whether it is more than 0 somewhere."""
    if bucket is None:
        return False
    stride, wide = np.uint64(scratch.stride), np.uint64(WIDE)
    above = np.uint64(level * (scratch.piece + 1) + tree.reach_slot[player, above_root]) * stride
    to = np.uint64((level + 1) * (scratch.piece + 1) + tree.reach_slot[player, below]) * stride
    first, n = np.uint64(hands.start[deal]), np.uint64(hands.start[deal + 1] - hands.start[deal])
    before, leaf = np.uint64(hands.start[above_deal]), np.uint64(hands.leaf[link])
    reach = scratch.reach
    some = reach.dtype.type(0.0)
    for h in range(n):
        up = np.uint64(h) if cut else np.uint64(hands.parent[first + h])
        mass = reach[above + up] * table[leaf + np.uint64(bucket[before + up]) * wide]
        reach[to + h] = mass
        some += mass
    return some > 0.0


@inlined
def reach_of_leaf(
    bucket: Any, tree: NodeArrays, opp: HandArrays, other: int, opp_table: Any, root: Any, node: Any, deal: Any,
    level: Any, scratch: Scratch,
) -> None:  # fmt: skip
    """The opponent's reach at a leaf as a vector, where terminals are evaluated, if he plays by buckets."""
    if bucket is None:
        return
    reach, stride, wide = scratch.reach, np.uint64(scratch.stride), np.uint64(WIDE)
    reach_at = np.uint64(level * (scratch.piece + 1)) * stride
    above = reach_at + np.uint64(tree.reach_slot[other, root]) * stride
    to = reach_at + np.uint64(tree.reach_slot[other, node]) * stride
    first, leaf = np.uint64(opp.start[deal]), np.uint64(opp.leaf[node])
    if to != above:  # else he has not acted
        for o in range(np.uint64(opp.start[deal + 1] - opp.start[deal])):
            reach[to + o] = reach[above + o] * opp_table[leaf + np.uint64(bucket[first + o]) * wide]


@inlined
def add_leaf(
    bucket: Any, own: HandArrays, mode: int, tables: Tables, node: Any, deal: Any, n: Any, value: Any, v: Any,
    total: Any,
) -> None:  # fmt: skip
    """Add the values of our hands at a leaf, from ``v`` on, to those of the root, from ``total`` on, and to sums."""
    if bucket is None:
        return
    wide, first, leaf = np.uint64(WIDE), np.uint64(own.start[deal]), np.uint64(own.leaf[node])
    for h in range(n):
        at = leaf + np.uint64(bucket[first + h]) * wide
        value[total + h] += tables.regret[at] * value[v + h]
        if mode == _UPDATE:
            tables.learned[at] += own.mass[first + h] * np.float64(value[v + h])


@inlined
def rows_of_piece(
    bucket: Any, tree: NodeArrays, own: HandArrays, opp: HandArrays, me: int, mode: int, pair_hands: bool,
    tables: Tables, opp_table: Any, root: Any, deal: Any, level: Any, scratch: Scratch,
) -> None:  # fmt: skip
    """Folds and showdowns of a piece, ``WIDE`` at a time: their values in a RESPONSE, else ``add_leaf`` of them."""
    if bucket is None:
        return
    reach, value, factor = scratch.reach, scratch.value, scratch.factor
    stride, wide = np.uint64(scratch.stride), np.uint64(WIDE)
    reach_at = np.uint64(level * (scratch.piece + 1)) * stride
    value_at = np.uint64(level * scratch.piece) * stride
    mine, theirs = np.uint64(own.start[deal]), np.uint64(opp.start[deal])
    n, others = np.uint64(own.start[deal + 1]) - mine, np.uint64(opp.start[deal + 1]) - theirs
    low, high = np.uint64(opp.real_start[deal]), np.uint64(opp.real_start[deal + 1])
    above = reach_at + np.uint64(tree.reach_slot[1 - me, root]) * stride
    sign = 1.0 if me == 0 else -1.0
    for group in range(tree.group[root], tree.group_end[root]):
        some, some_shown = False, False
        for lane in range(WIDE):
            node = tree.lane[group * WIDE + lane]
            live = node >= 0 and scratch.alive[level, max(node - root, 0), 1 - me]
            place = np.int64(max(node, root))  # of an empty lane any, since its factors are 0
            payoff, shown, fee = tree.payoff[place], tree.kind[place] == _SHOWDOWN, tree.fee[place]
            scratch.reach_place[lane] = reach_at + np.uint64(tree.reach_slot[1 - me, place]) * stride
            scratch.value_place[lane] = value_at + np.uint64(place - root) * stride
            if node < 0:
                scratch.value_place[lane] = np.uint64(len(value)) - stride
            factor[lane] = payoff if shown and live else 0.0
            factor[WIDE + lane] = 0.0 if not live else -payoff - fee if shown else sign * payoff
            factor[2 * WIDE + lane] = 0.0 if not live or not pair_hands else 0.0 - fee if shown else sign * payoff
            some |= live
            some_shown |= live and shown
        if not some:
            continue
        leaf = np.uint64(tree.lane[group * WIDE])
        if len(opp.bucket) == 0 or answers(bucket, mode, tables.response):
            for o in range(np.uint64(0), others, wide):
                rows_from_vectors(reach, scratch.reach_place, o, scratch.theirs, o * wide)
        else:
            at = np.uint64(opp.leaf[leaf])
            for o in range(others):
                shares = load_row(opp_table, at + np.uint64(opp.bucket[theirs + o]) * wide)
                store_row(scratch.theirs, o * wide, shares * spread_row(reach[above + o]))
        row_values(some_shown, own.card, own.rank, own.twin, mine, n, opp.real_class, opp.real_rank, opp.real_card,
                   low, high, scratch.theirs, stride, factor, scratch.by_card, scratch.mine)  # fmt: skip
        if mode == _RESPONSE or len(own.bucket) == 0:
            for h in range(np.uint64(0), n, wide):
                vectors_from_rows(value, scratch.value_place, h, scratch.mine, h * wide)
            continue
        sums = np.uint64(own.leaf[leaf])
        for h in range(n):
            row, entry = load_row(scratch.mine, h * wide), sums + np.uint64(bucket[mine + h]) * wide
            value[value_at + h] += row_sum(row * load_row(tables.regret, entry))
            if mode == _UPDATE:
                add_row(tables.learned, entry, row * spread_row(value.dtype.type(own.mass[mine + h])))


@kernel
def spread_strategy(
    kind: np.ndarray,  # IN  (N,) of a ``PublicTree``
    first_child: np.ndarray,  # IN
    num_children: np.ndarray,  # IN
    piece_size: np.ndarray,  # IN
    player: int,  # IN
    row: np.ndarray,  # IN  (N,) int64: where the entries of a decision begin
    wide: np.ndarray,  # IN  (N,) int64: entries from one bucket to the next
    buckets: np.ndarray,  # IN  (N,) int64: how many
    leaf: np.ndarray,  # IN  (N,) int64: where the shares of a leaf begin
    strategy: np.ndarray,  # IN  probabilities by entry
    share: np.ndarray,  # OUT see above
) -> None:
    """The shares of all leaves."""
    reach = np.zeros(piece_size.max())
    most = len(share) - len(kind)
    share[most:] = 0.0
    for root in range(len(kind)):
        size = piece_size[root]
        for bucket in range(buckets[root] if size else 0):
            reach[0] = 1.0
            for j in range(size):
                node = root + j
                share[most + node] = max(share[most + node], share.dtype.type(reach[j]))
                if kind[node] > 1:
                    share[leaf[node] + bucket * WIDE] = reach[j]
                    continue
                entry = row[node] + bucket * wide[node]
                for a in range(num_children[node]):
                    played = strategy[entry + a] if kind[node] == player else 1.0
                    reach[first_child[node] - root + a] = reach[j] * played


@kernel
def learn_from_leaves(
    kind: np.ndarray,  # IN  (N,) of a ``PublicTree``
    first_child: np.ndarray,  # IN
    num_children: np.ndarray,  # IN
    piece_size: np.ndarray,  # IN
    player: int,  # IN
    row: np.ndarray,  # IN  (N,) int64
    wide: np.ndarray,  # IN  (N,) int64
    buckets: np.ndarray,  # IN  (N,) int64
    leaf: np.ndarray,  # IN  (N,) int64
    entered: np.ndarray,  # IN  (N,) int64: of the root of a piece, where what we reach it with begins in ``sums``
    strategy: np.ndarray,  # IN  probabilities by entry
    sums: np.ndarray,  # IN  what an UPDATE has added up
    weight: float,  # IN  of this iteration in the average
    regret: np.ndarray,  # IN OUT by entry
    average: np.ndarray,  # IN OUT by entry, or (0,)
) -> None:
    """Add what a player regrets, and what he plays, by bucket, from the sums of a walk."""
    value, reach = np.zeros(piece_size.max()), np.zeros(piece_size.max())
    averaged = len(average) > 0 and weight > 0.0
    for root in range(len(kind)):
        size = piece_size[root]
        for bucket in range(buckets[root] if size > 1 else 0):
            reach[0] = weight * sums[entered[root] + bucket]
            for j in range(size if averaged else 0):
                node = root + j
                entry = row[node] + bucket * wide[node]
                for a in range(num_children[node] if kind[node] < 2 else 0):
                    child, after = first_child[node] - root + a, reach[j]
                    if kind[node] == player:
                        after *= strategy[entry + a]
                        average[entry + a] += after
                    reach[child] = after
            for j in range(size - 1, -1, -1):
                node = root + j
                if kind[node] > 1:
                    value[j] = sums[leaf[node] + bucket * WIDE]
                    continue
                entry, first = row[node] + bucket * wide[node], first_child[node] - root
                value[j] = 0.0
                for a in range(num_children[node]):
                    value[j] += value[first + a] * (strategy[entry + a] if kind[node] == player else 1.0)
                for a in range(num_children[node] if kind[node] == player else 0):
                    regret[entry + a] += value[first + a] - value[j]
