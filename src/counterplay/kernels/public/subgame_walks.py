"""A walk over a public tree in parts: the trunk before the first deals, and the subgames after them, block by block.

Johanson 2016, section 9.4: the reaches of both players are passed down the trunk to its links, subgames are walked
wherever their tables are, and the values of our hands come back and are passed up the trunk.  Together these are the
walk of ``kernels.public.public_cfr`` with the same bits: each number is computed as there, from the same numbers, in
the same order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from counterplay.kernels.jit import inlined, kernel
from counterplay.kernels.numba_internals import borrow, held
from counterplay.kernels.public.piece_steps import (
    RESPONSE,
    UPDATE,
    HandArrays,
    NodeArrays,
    Rule,
    Scratch,
    Tables,
    begin_walk,
    go_forward,
    hands_at,
    leave_deal,
)  # fmt: skip
from counterplay.kernels.public.public_cfr import WHOLE, walk_public


@kernel
def reach_links(
    tree: NodeArrays,  # IN
    own: HandArrays,  # IN
    opp: HandArrays,  # IN
    me: int,  # IN  whose values are wanted
    mode: int,  # IN  UPDATE, RESPONSE or VALUE
    tables: Tables,  # IN  ours, of the trunk
    opp_table: np.ndarray,  # IN  as in ``walk_public``, of the trunk
    opp_scale: np.ndarray,  # IN
    opp_prediction: np.ndarray,  # IN
    rule: Rule,  # IN
    locked: np.ndarray,  # IN  (N,) bool
    own_reach: np.ndarray,  # IN  (n,) float64, at the start
    opp_reach: np.ndarray,  # IN  (m,) float64
    links: np.ndarray,  # IN  (L,) int64, in the first piece
    own_rows: np.ndarray,  # OUT (L, n) float: our reaches at the links; 0 in RESPONSE mode, where nothing needs them
    opp_rows: np.ndarray,  # OUT (L, m) float
    live: np.ndarray,  # OUT (L, 2) bool: whether each player reaches the link
    scratch: Scratch,  # scratch
) -> None:
    """Walk down the trunk."""
    tree, own, opp, tables, scratch = held(tree), held(own), held(opp), held(tables), held(scratch)
    opp_table, opp_scale, opp_prediction = borrow(opp_table), borrow(opp_scale), borrow(opp_prediction)
    locked = borrow(locked)
    start: Any = np.int64(0)  # a constant would be compiled for apart
    stride = np.uint64(scratch.stride)
    begin_walk(tree, own, opp, me, start, start, own_reach, opp_reach, scratch)
    go_forward(tree, own, opp, me, mode, tables, opp_table, opp_scale, opp_prediction, rule, locked, start, start,
               start, scratch)  # fmt: skip
    for i in range(len(links)):
        link = links[i]
        for player in range(2):
            live[i, player] = scratch.alive[0, link, player]
        own_at = np.uint64(tree.reach_slot[me, link]) * stride
        opp_at = np.uint64(tree.reach_slot[1 - me, link]) * stride
        for h in range(hands_at(own, 0)):
            own_rows[i, h] = scratch.reach[own_at + h] if live[i, me] and mode != RESPONSE else 0.0
        for h in range(hands_at(opp, 0)):
            opp_rows[i, h] = scratch.reach[opp_at + h] if live[i, 1 - me] else 0.0


@inlined
def _reach_subgame(hands: HandArrays, rows: Any, link: Any, deal: Any, reach: Any) -> bool:
    """A player's reach after a first deal, from that at the link; whether it is more than 0 somewhere."""
    some = False
    first = np.uint64(hands.start[deal])
    for h in range(hands_at(hands, deal)):
        reach[h] = rows[link, hands.parent[first + h]]
        some |= reach[h] != 0.0
    return some


@kernel
def walk_subgames(
    tree: NodeArrays,  # IN  ``base`` and ``block`` are those of the tables
    own: HandArrays,  # IN
    opp: HandArrays,  # IN
    me: int,  # IN
    mode: int,  # IN
    pair_hands: bool,  # IN
    tables: Tables,  # IN OUT ours, of the block
    opp_table: np.ndarray,  # IN  as in ``walk_public``, of the block
    opp_scale: np.ndarray,  # IN
    opp_prediction: np.ndarray,  # IN
    rule: Rule,  # IN
    locked: np.ndarray,  # IN  (N,) bool
    links: np.ndarray,  # IN  (L,) int64
    own_rows: np.ndarray,  # IN  (L, n) float
    opp_rows: np.ndarray,  # IN  (L, m) float
    live: np.ndarray,  # IN  (L, 2) bool
    subgames: np.ndarray,  # IN  (S, 2) int64: number of the link, and the first deal
    own_reach: np.ndarray,  # scratch (most hands,) float64
    opp_reach: np.ndarray,  # scratch (most hands,) float64
    scratch: Scratch,  # scratch
    out: np.ndarray,  # scratch (most hands,) float64
    entered: np.ndarray,  # OUT (S,) bool: whether somebody reaches the subgame; others are as they were
    values: np.ndarray,  # OUT (hands of all S,) float: values of our hands, one subgame after the other
) -> None:
    """Walk all subgames of a block."""
    none = np.zeros((0, 0))
    zero: Any
    phase: Any
    zero, phase = np.int64(0), np.int64(WHOLE)
    at = np.uint64(0)
    for s in range(len(subgames)):
        link, deal = subgames[s, 0], subgames[s, 1]
        n = hands_at(own, deal)
        entered[s] = False
        if live[link, 1 - me] or (mode == UPDATE and (live[link, me] or not rule.prune)):
            own_live = _reach_subgame(own, own_rows, link, deal, own_reach)
            opp_live = _reach_subgame(opp, opp_rows, link, deal, opp_reach)
            entered[s] = opp_live or (mode == UPDATE and (own_live or not rule.prune))
        if entered[s]:
            node = links[link]
            root: Any = np.int64(tree.first_child[node] if tree.link_deal[node] < 0 else tree.deal_root[deal])
            walk_public(
                tree, own, opp, me, mode, pair_hands, tables, opp_table, opp_scale, opp_prediction, rule, locked, root,
                deal, own_reach, opp_reach, phase, zero, zero + 1, none, scratch, out,
            )  # fmt: skip
            for h in range(n):
                values[at + h] = out[h]
        at += n


@kernel
def add_subgames(
    tree: NodeArrays,  # IN
    own: HandArrays,  # IN
    subgames: np.ndarray,  # IN  (S, 2) int64
    entered: np.ndarray,  # IN  (S,) bool
    values: np.ndarray,  # IN  as ``walk_subgames`` writes them
    stride: int,  # IN
    sums: np.ndarray,  # IN OUT (L * stride,) float, as ``values``: of our hands at the links
) -> None:
    """Add the values of a block to those at the links of the trunk."""
    at = np.uint64(0)
    for s in range(len(subgames)):
        link, deal = np.uint64(subgames[s, 0]), subgames[s, 1]
        if entered[s]:
            leave_deal(tree, own, np.int64(0), deal, values, at, sums, link * np.uint64(stride))
        at += hands_at(own, deal)
