"""The walk over a public tree: one vector of reaches down, one vector of values up.

Johanson 2016, sections 2.4 (best response), 3.3 (vector form of CFR) and 9.3 (CFR+).  One kernel serves them all; what
happens at our own decisions is the mode: regrets are updated, the best action is taken, or the strategy is played.

The walk goes through a piece of the tree forwards (strategies and reaches of all its nodes), then through each of its
links, then backwards (values); see ``kernels.public.piece_steps``.  The pieces that it is inside of are *levels*; each
has vectors of its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from counterplay.kernels.jit import kernel, shared
from counterplay.kernels.numba_internals import borrow, held
from counterplay.kernels.public.bucketed_hands import answers, count_reach, enter_by_buckets, has_buckets
from counterplay.kernels.public.piece_steps import (
    UPDATE,
    HandArrays,
    NodeArrays,
    Rule,
    Scratch,
    Tables,
    begin_walk,
    enter_piece,
    go_backward,
    go_forward,
    hands_at,
    leave_deal,
)  # fmt: skip

WHOLE, LINKS, REST = 0, 1, 2
"""Phases: everything, only a share of the links of the first piece, or everything but those links."""

_LINK, _SHARED, _CUT = 2, -1, -2


@shared
def walk_public(
    tree: NodeArrays,  # IN
    own: HandArrays,  # IN
    opp: HandArrays,  # IN
    me: int,  # IN  whose values are wanted
    mode: int,  # IN  UPDATE, RESPONSE or VALUE
    pair_hands: bool,  # IN
    tables: Tables,  # IN OUT our tables; in VALUE mode our strategy is matched from ``regret``
    opp_table: np.ndarray,  # IN  the opponent's strategy is matched from this; shares of leaves if he has buckets
    opp_scale: np.ndarray,  # IN  (0,): ``opp_table`` has one row for each node, from ``base`` on, for all hands
    opp_prediction: np.ndarray,  # IN  (E,) or (0,)
    rule: Rule,  # IN
    locked: np.ndarray,  # IN  (N,) bool: decisions whose regrets stay, and which best responses play as they are
    root: int,  # IN  root of a piece
    root_deal: int,  # IN
    own_reach: np.ndarray,  # IN  (n,) float64
    opp_reach: np.ndarray,  # IN  (m,) float64
    phase: int,  # IN  WHOLE, LINKS or REST
    share: int,  # IN  which share of the links, in phase LINKS
    shares: int,  # IN  of how many
    link_value: np.ndarray,  # OUT in LINKS, IN in REST: (nodes of the first piece, hands)
    scratch: Scratch,  # scratch
    out: np.ndarray,  # OUT (n,) float64: values of our hands, but for phase LINKS
) -> None:
    """Walk the tree below a public state once for one player."""
    tree, own, opp, tables, scratch = held(tree), held(own), held(opp), held(tables), held(scratch)
    opp_table, opp_scale, opp_prediction = borrow(opp_table), borrow(opp_scale), borrow(opp_prediction)
    locked = borrow(locked)
    position = scratch.position  # per level: root, deal, node of the link, next outcome
    alive, value = scratch.alive, scratch.value
    stride = np.uint64(scratch.stride)
    level: Any = np.int64(0)  # a constant would be compiled for apart
    position[0, 0], position[0, 1], position[0, 2], position[0, 3] = root, root_deal, 0, 0
    begin_walk(tree, own, opp, me, root, root_deal, own_reach, opp_reach, scratch)
    entered = True
    while True:
        at, deal, j, k = position[level, 0], position[level, 1], position[level, 2], position[level, 3]
        if entered:
            go_forward(tree, own, opp, me, mode, tables, opp_table, opp_scale, opp_prediction, rule, locked, at, deal,
                     level, scratch)  # fmt: skip
            counted = mode == UPDATE and rule.weight > 0.0 and (level > 0 or phase != LINKS)
            if has_buckets(own.bucket) and counted and alive[level, 0, me]:
                count_reach(own.bucket, tree, own, me, tables.learned, at, deal, level, scratch)
            entered = False
        size = tree.piece_size[at]
        here_n = hands_at(own, deal)
        found = False
        while j < size and not found:
            node = at + j
            if tree.kind[node] != _LINK or tree.runout[node] != 0.0:
                j += 1
                continue
            if not alive[level, j, 1 - me] and (mode != UPDATE or (rule.prune and not alive[level, j, me])):
                j += 1
                continue
            here = np.uint64(level * scratch.piece + j) * stride
            if k == 0:
                for h in range(here_n):
                    value[here + h] = 0.0
            link = tree.link_deal[node]
            first_deal = deal if link == _CUT else (tree.deal_first[deal] if link == _SHARED else link)
            count = 1 if link == _CUT else (tree.deal_count[deal] if link == _SHARED else tree.num_children[node])
            if level == 0 and phase == REST:
                for h in range(here_n):
                    value[here + h] = link_value[j, h]
                k = count
            while k < count and not found:
                if level == 0 and phase == LINKS and (j + k) % shares != share:
                    k += 1
                    continue
                next_deal = first_deal + k
                below = tree.first_child[node] if link < 0 else tree.deal_root[next_deal]
                k += 1
                own_live = False
                if not has_buckets(own.bucket):
                    own_live = enter_piece(tree, own, me, node, below, link == _CUT, next_deal, level, scratch)
                elif mode == UPDATE and rule.weight > 0.0:  # what we reach matters for the average alone
                    own_live = enter_by_buckets(own.bucket, tree, own, me, tables.regret, at, node, below,
                                                link == _CUT, deal, next_deal, level, scratch)  # fmt: skip
                responding = answers(own.bucket, mode, tables.response)
                if responding and not alive[level, j, 1 - me]:  # there are no reaches where no response is
                    opp_live = False
                elif has_buckets(opp.bucket) and not responding:
                    opp_live = enter_by_buckets(opp.bucket, tree, opp, 1 - me, opp_table, at, node, below,
                                                link == _CUT, deal, next_deal, level, scratch)  # fmt: skip
                else:
                    opp_live = enter_piece(tree, opp, 1 - me, node, below, link == _CUT, next_deal, level, scratch)
                if opp_live or (mode == UPDATE and (own_live or not rule.prune)):
                    found = True
                    position[level, 2], position[level, 3] = j, k
                    level += 1
                    position[level, 0], position[level, 1] = below, next_deal
                    position[level, 2], position[level, 3] = 0, 0
                    alive[level, 0, me], alive[level, 0, 1 - me] = own_live, opp_live
                    entered = True
            if not found:
                j += 1
                k = 0
        if found:
            continue
        if level == 0 and phase == LINKS:
            for i in range(size):
                if tree.kind[at + i] == _LINK and tree.runout[at + i] == 0.0:
                    live = alive[0, i, 1 - me] or (mode == UPDATE and (alive[0, i, me] or not rule.prune))
                    for h in range(here_n):
                        link_value[i, h] = value[np.uint64(i) * stride + h] if live else 0.0
            return
        go_backward(tree, own, opp, me, mode, pair_hands, tables, opp_table, rule, locked, at, deal, level, scratch)
        child = np.uint64(level * scratch.piece) * stride
        if level == 0:
            for h in range(here_n):
                out[h] = value[child + h]
            return
        level -= 1
        link = tree.link_deal[position[level, 0] + position[level, 2]]
        above = np.uint64(level * scratch.piece + position[level, 2]) * stride
        if link == _CUT:
            for h in range(here_n):
                value[above + h] = value[child + h]
        else:
            leave_deal(tree, own, position[level, 1], deal, value, child, value, above)


@kernel
def iterate_public(
    tree: NodeArrays,  # IN
    first_hands: HandArrays,  # IN  of player 0
    second_hands: HandArrays,  # IN  of player 1
    pair_hands: bool,  # IN
    first: Tables,  # IN OUT of player 0
    second: Tables,  # IN OUT of player 1
    frozen: np.ndarray,  # scratch: player 0's regrets before his update, or (0,) when players take turns
    frozen_scale: np.ndarray,  # scratch: their scales
    frozen_prediction: np.ndarray,  # scratch, as ``first.prediction``, or (0,)
    locked: np.ndarray,  # IN  (N,) bool
    alternating: bool,  # IN  the second of them sees the update of the first
    reverse: bool,  # IN  player 1 is updated first, if they alternate
    floor: bool,  # IN  regret matching plus
    alpha: float,  # IN  discount exponent of positive regrets; NaN: none
    beta: float,  # IN  discount exponent of negative regrets; NaN: none
    gamma: float,  # IN  exponent of the averaging weight
    delay: int,  # IN  iterations before averaging starts
    shifted: bool,  # IN  weights count from the delay, not from the start
    tie: float,  # IN  regrets up to this count as 0 in regret matching
    quantised: bool,  # IN  tables hold integers
    first_reach: np.ndarray,  # IN  (n,) float64: player 0's hands in the eyes of player 1
    second_reach: np.ndarray,  # IN  (m,) float64
    iterations: int,  # IN  how many to do
    clock: np.ndarray,  # IN OUT (1,) int64: iterations done so far
    scratch: Scratch,  # scratch
    out: np.ndarray,  # scratch, as many as hands
) -> None:
    """Run iterations of CFR in one thread."""
    none = np.zeros((0, 0))
    ones = np.ones(max(len(first_reach), len(second_reach)))
    zero: Any
    mode: Any
    phase: Any
    zero, mode, phase = np.int64(0), np.int64(UPDATE), np.int64(WHOLE)  # constants would be compiled for apart
    for _ in range(iterations):
        time = clock[0] + 1
        predictive = len(first.prediction) > 0
        rule = iteration_rule(time, floor, alpha, beta, gamma, delay, shifted, tie, quantised, predictive)
        if not alternating:
            for entry in range(len(frozen)):  # slices would bring the message of a wrong length, which takes seconds
                frozen[entry] = first.regret[entry]
            for block in range(len(frozen_scale)):
                frozen_scale[block] = first.regret_scale[block]
            for entry in range(len(frozen_prediction)):
                frozen_prediction[entry] = first.prediction[entry]
        for number in range(2):
            me = 1 - number if reverse and alternating else number
            turn = me == 0
            behind = not turn and not alternating
            other = second if turn else first
            walk_public(
                tree, first_hands if turn else second_hands, second_hands if turn else first_hands, me, mode,
                pair_hands, first if turn else second, frozen if behind else other.regret,
                frozen_scale if behind else other.regret_scale, frozen_prediction if behind else other.prediction,
                rule, locked, zero, zero, ones, second_reach if turn else first_reach, phase, zero, zero + 1, none,
                scratch, out,
            )  # fmt: skip
        clock[0] = time


@kernel
def iteration_rule(
    time: int, floor: bool, alpha: float, beta: float, gamma: float, delay: int, shifted: bool, tie: float,
    quantised: bool, predictive: bool,
) -> Rule:  # fmt: skip
    """The numbers of iteration ``time``, as in ``iterate_cfr``.

    Walks skip what nobody reaches, unless old regrets are discounted, or predictions made anew, everywhere.
    """
    keep_positive = 1.0 if np.isnan(alpha) else 1.0 / (1.0 + np.float64(time - 1) ** -alpha)
    keep_negative = 1.0 if np.isnan(beta) else 1.0 / (1.0 + np.float64(time - 1) ** -beta)
    weight = 0.0
    if time > delay:
        weight = np.float64(time - delay if shifted else time) ** gamma
    prune = np.isnan(alpha) and np.isnan(beta) and not predictive
    return Rule(keep_positive, keep_negative, floor, weight, tie, prune, quantised, 2 * time)
