"""The walk over a public tree: one vector of reaches down, one vector of values up.

Johanson 2016, sections 2.4 (best response), 3.3 (vector form of CFR) and 9.3 (CFR+).  One kernel serves them all; what
happens at our own decisions is the mode: regrets are updated, the best action is taken, or the strategy is played.

The walk goes through a piece of the tree forwards (strategies and reaches of all its nodes), then through each of its
links, then backwards (values).  The pieces that it is inside of are *levels*; each has vectors of its own.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.kernels.jit import inlined, kernel
from counterplay.kernels.terminal import (
    additive_values, factored_values, fold_values, matrix_values, showdown_values,
)  # fmt: skip

UPDATE, RESPONSE, VALUE = 0, 1, 2
"""Modes: CFR, best response, expected value."""

WHOLE, LINKS, FINISH = 0, 1, 2
"""Phases: everything, only a share of the links of the first piece, or everything but those links."""

_LINK, _FOLD, _SHOWDOWN, _MATRIX, _FACTORED, _ADDITIVE = 2, 3, 4, 5, 6, 7
_SHARED, _CUT = -1, -2


class NodeArrays(NamedTuple):
    """The fields of a ``PublicTree`` that kernels read; the meaning of each is told there."""

    kind: Any
    first_child: Any
    num_children: Any
    base: Any
    block: Any
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


class HandArrays(NamedTuple):
    """The fields of ``Hands`` that kernels read."""

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


class Tables(NamedTuple):
    """The tables of one player.  Values are ``table * scale[block]``; scales are 1 unless tables hold small integers.

    ``average``, ``prediction`` and ``response`` may be empty: then none is kept.
    """

    regret: Any
    regret_scale: Any
    average: Any
    average_scale: Any
    prediction: Any
    response: Any


class Rule(NamedTuple):
    """The numbers that make a member of the CFR family, for one iteration."""

    keep_positive: float
    keep_negative: float
    floor: bool
    weight: float
    tie: float
    prune: bool
    quantised: bool


class Scratch(NamedTuple):
    """Vectors of a walk: levels x nodes of a piece x hands."""

    reach: Any
    value: Any
    sigma: Any
    alive: Any
    position: Any
    sums: Any


@inlined
def _match(table: Any, scale: float, prediction: Any, first: int, n: int, actions: int, tie: float, sigma: Any, sums: Any) -> None:  # fmt: skip
    """Regret matching for all hands of a public state; ``sigma`` is actions x hands."""
    for h in range(n):
        sums[h] = 0.0
    for a in range(actions):
        row = table[first + a * n : first + (a + 1) * n]
        out = sigma[a]
        if len(prediction) > 0:
            hint = prediction[first + a * n : first + (a + 1) * n]
            for h in range(n):
                wish = row[h] * scale + hint[h]
                wish = wish if wish > tie else 0.0
                out[h] = wish
                sums[h] += wish
        else:
            for h in range(n):
                wish = row[h] * scale
                wish = wish if wish > tie else 0.0
                out[h] = wish
                sums[h] += wish
    share = 1.0 / actions
    for a in range(actions):
        out = sigma[a]
        for h in range(n):
            out[h] = out[h] / sums[h] if sums[h] > 0.0 else share


@inlined
def _any(vector: Any, n: int) -> bool:
    for h in range(n):
        if vector[h] != 0.0:
            return True
    return False


@inlined
def _forward(tree: NodeArrays, own: HandArrays, opp: HandArrays, me: int, mode: int, tables: Tables, opp_table: Any, opp_scale: Any, opp_prediction: Any, rule: Rule, root: int, deal: int, level: int, scratch: Scratch) -> None:  # fmt: skip
    """Strategies and reaches of a piece.  ``alive[.., p]`` says whether the reach of p is more than 0 somewhere."""
    reach, sigma, alive = scratch.reach[level], scratch.sigma[level], scratch.alive[level]
    own_n = own.start[deal + 1] - own.start[deal]
    opp_n = opp.start[deal + 1] - opp.start[deal]
    for j in range(tree.piece_size[root]):
        node = root + j
        kind = tree.kind[node]
        if kind > 1:
            continue
        actions = tree.num_children[node]
        child = tree.first_child[node] - root
        if not alive[j, 1 - me] and (mode != UPDATE or (rule.prune and not alive[j, me])):
            for a in range(actions):
                alive[child + a, 0] = False
                alive[child + a, 1] = False
            continue
        block = tree.block[node] + deal
        if kind == me:
            if mode == RESPONSE:
                for a in range(actions):
                    alive[child + a, 0] = alive[j, 0]
                    alive[child + a, 1] = alive[j, 1]
                continue
            first = tree.base[node] + actions * own.start[deal]
            _match(tables.regret, tables.regret_scale[block], tables.prediction, first, own_n, actions, rule.tie,
                   sigma[child : child + actions], scratch.sums)  # fmt: skip
            n = own_n
        else:
            first = tree.base[node] + actions * opp.start[deal]
            _match(opp_table, opp_scale[block], opp_prediction, first, opp_n, actions, rule.tie,
                   sigma[child : child + actions], scratch.sums)  # fmt: skip
            n = opp_n
        before = reach[tree.reach_slot[kind, node]]
        for a in range(actions):
            after = reach[child + a]
            row = sigma[child + a]
            for h in range(n):
                after[h] = before[h] * row[h]
            alive[child + a, 1 - kind] = alive[j, 1 - kind]
            alive[child + a, kind] = _any(after, n)


@inlined
def _terminal(tree: NodeArrays, own: HandArrays, opp: HandArrays, me: int, pair_hands: bool, node: int, deal: int, reach: Any, sums: Any, value: Any) -> None:  # fmt: skip
    """The values of our hands at an end."""
    kind = tree.kind[node]
    sign = 1.0 if me == 0 else -1.0
    if kind == _FOLD or kind == _SHOWDOWN:
        mine = own.start[deal]
        past = own.start[deal + 1]
        low, high = opp.real_start[deal], opp.real_start[deal + 1]
        if kind == _FOLD:
            fold_values(sign * tree.payoff[node], pair_hands, own.card[mine:past], own.twin[mine:past],
                        opp.real_class[low:high], opp.real_card[low:high], reach, sums, value)  # fmt: skip
        else:
            showdown_values(tree.payoff[node], own.card[mine:past], own.rank[mine:past], opp.real_class[low:high],
                            opp.real_rank[low:high], opp.real_card[low:high], reach, sums, value)  # fmt: skip
        return
    own_n, opp_n = len(value), opp.start[deal + 1] - opp.start[deal]
    at = tree.data[node]
    sign *= tree.payoff[node]
    if kind == _MATRIX:
        matrix_values(me, sign, tree.matrix[at : at + own_n * opp_n], reach, opp_n, value)
    elif kind == _FACTORED:
        row = tree.factor[node]
        f, g = tree.factor_count[me, row], tree.factor_count[1 - me, row]
        factored_values(me, sign, tree.matrix[at : at + f * g], tree.factor_class[me, row],
                        tree.factor_class[1 - me, row], f, g, reach, opp_n, sums, value)  # fmt: skip
    else:
        first = at if me == 0 else at + opp_n
        other = at + own_n if me == 0 else at
        additive_values(sign, tree.matrix[first : first + own_n], tree.matrix[other : other + opp_n], reach, value)


@inlined
def _store(table: Any, scales: Any, block: int, first: int, n: int, actions: int, new: Any, quantised: bool) -> None:
    """Write a block of a table; integers get a scale of their own, so that the largest number fills their range."""
    if quantised:
        largest = 0.0
        for a in range(actions):
            for h in range(n):
                largest = max(largest, abs(new[a, h]))
        scale = largest / 32767.0 if largest > 0.0 else 1.0
        scales[block] = scale
        for a in range(actions):
            row = table[first + a * n : first + (a + 1) * n]
            for h in range(n):
                row[h] = np.rint(new[a, h] / scale)
    else:
        for a in range(actions):
            row = table[first + a * n : first + (a + 1) * n]
            for h in range(n):
                row[h] = new[a, h]


@inlined
def _update(tables: Tables, rule: Rule, locked: bool, block: int, first: int, n: int, actions: int, own_reach: Any, sigma: Any, value: Any, here: Any) -> None:  # fmt: skip
    """Add an iteration's regrets and strategy; ``value`` is actions x hands, and is used up."""
    if len(tables.average) > 0 and rule.weight > 0.0:
        if rule.quantised:
            scale = tables.average_scale[block]
            for a in range(actions):
                row = tables.average[first + a * n : first + (a + 1) * n]
                play = sigma[a]
                for h in range(n):
                    play[h] = row[h] * scale + rule.weight * own_reach[h] * play[h]
            _store(tables.average, tables.average_scale, block, first, n, actions, sigma, True)
        else:
            for a in range(actions):
                row = tables.average[first + a * n : first + (a + 1) * n]
                play = sigma[a]
                for h in range(n):
                    row[h] += rule.weight * own_reach[h] * play[h]
    if locked:
        return
    scale = tables.regret_scale[block]
    for a in range(actions):
        row = tables.regret[first + a * n : first + (a + 1) * n]
        gain = value[a]
        if len(tables.prediction) > 0:
            hint = tables.prediction[first + a * n : first + (a + 1) * n]
            for h in range(n):
                hint[h] = gain[h] - here[h]
        if rule.floor:
            for h in range(n):
                new = row[h] * scale * rule.keep_positive + (gain[h] - here[h])
                gain[h] = new if new > 0.0 else 0.0
        else:
            for h in range(n):
                old = row[h] * scale
                gain[h] = old * (rule.keep_positive if old > 0.0 else rule.keep_negative) + (gain[h] - here[h])
    _store(tables.regret, tables.regret_scale, block, first, n, actions, value, rule.quantised)


@inlined
def _backward(tree: NodeArrays, own: HandArrays, opp: HandArrays, me: int, mode: int, pair_hands: bool, tables: Tables, rule: Rule, locked: Any, root: int, deal: int, level: int, scratch: Scratch) -> None:  # fmt: skip
    """Values of a piece, from its leaves to its root; updates of our tables on the way."""
    reach, value, alive = scratch.reach[level], scratch.value[level], scratch.alive[level]
    n = own.start[deal + 1] - own.start[deal]
    for j in range(tree.piece_size[root] - 1, -1, -1):
        node = root + j
        kind = tree.kind[node]
        here = value[j]
        if not alive[j, 1 - me] and (mode != UPDATE or kind > 1 or (rule.prune and not alive[j, me])):
            for h in range(n):
                here[h] = 0.0
            continue
        if kind == _LINK:
            continue  # the walk has filled it in
        if kind > 1:
            _terminal(tree, own, opp, me, pair_hands, node, deal, reach[tree.reach_slot[1 - me, node]], scratch.sums,
                      here[:n])  # fmt: skip
            continue
        actions = tree.num_children[node]
        child = tree.first_child[node] - root
        if kind != me:
            first = value[child]
            for h in range(n):
                here[h] = first[h]
            for a in range(1, actions):
                row = value[child + a]
                for h in range(n):
                    here[h] += row[h]
        elif mode == RESPONSE:
            first = value[child]
            for h in range(n):
                here[h] = first[h]
            for a in range(1, actions):
                row = value[child + a]
                for h in range(n):
                    here[h] = max(here[h], row[h])
            if len(tables.response) > 0:
                entry = tree.base[node] + actions * own.start[deal]
                for h in range(n):
                    found = False
                    for a in range(actions):
                        best = not found and value[child + a, h] == here[h]
                        tables.response[entry + a * n + h] = 1.0 if best else 0.0
                        found = found or best
        else:
            for h in range(n):
                here[h] = 0.0
            for a in range(actions):
                row = value[child + a]
                play = scratch.sigma[level, child + a]
                for h in range(n):
                    here[h] += play[h] * row[h]
            if mode == UPDATE:
                entry = tree.base[node] + actions * own.start[deal]
                _update(tables, rule, locked[node], tree.block[node] + deal, entry, n, actions,
                        reach[tree.reach_slot[me, node]], scratch.sigma[level, child : child + actions],
                        value[child : child + actions], here)  # fmt: skip


@kernel
def walk_public(
    tree: NodeArrays,  # IN
    own: HandArrays,  # IN
    opp: HandArrays,  # IN
    me: int,  # IN  whose values are wanted
    mode: int,  # IN  UPDATE, RESPONSE or VALUE
    pair_hands: bool,  # IN
    tables: Tables,  # IN OUT our tables; in VALUE mode our strategy is matched from ``regret``
    opp_table: np.ndarray,  # IN  the opponent's strategy is matched from this
    opp_scale: np.ndarray,  # IN
    opp_prediction: np.ndarray,  # IN  (E,) or (0,)
    rule: Rule,  # IN
    locked: np.ndarray,  # IN  (N,) bool: decisions whose regrets stay
    root: int,  # IN  root of a piece
    root_deal: int,  # IN
    own_reach: np.ndarray,  # IN  (n,) float64
    opp_reach: np.ndarray,  # IN  (m,) float64
    phase: int,  # IN  WHOLE, LINKS or FINISH
    share: int,  # IN  which share of the links, in phase LINKS
    shares: int,  # IN  of how many
    link_value: np.ndarray,  # OUT in LINKS, IN in FINISH: (nodes of the first piece, hands)
    scratch: Scratch,  # scratch
    out: np.ndarray,  # OUT (n,) float64: values of our hands, but for phase LINKS
) -> None:
    """Walk the tree below a public state once for one player."""
    position = scratch.position  # per level: root, deal, node of the link, next outcome
    level = 0
    position[0, 0], position[0, 1], position[0, 2], position[0, 3] = root, root_deal, 0, 0
    own_n = own.start[root_deal + 1] - own.start[root_deal]
    opp_n = opp.start[root_deal + 1] - opp.start[root_deal]
    for h in range(own_n):
        scratch.reach[0, tree.reach_slot[me, root], h] = own_reach[h]
    for h in range(opp_n):
        scratch.reach[0, tree.reach_slot[1 - me, root], h] = opp_reach[h]
    scratch.alive[0, 0, me] = _any(own_reach, own_n)
    scratch.alive[0, 0, 1 - me] = _any(opp_reach, opp_n)
    _forward(tree, own, opp, me, mode, tables, opp_table, opp_scale, opp_prediction, rule, root, root_deal, 0, scratch)
    while True:
        at, deal, j, k = position[level, 0], position[level, 1], position[level, 2], position[level, 3]
        size = tree.piece_size[at]
        here_n = own.start[deal + 1] - own.start[deal]
        found = False
        while j < size and not found:
            node = at + j
            if tree.kind[node] != _LINK:
                j += 1
                continue
            alive = scratch.alive[level, j]
            if not alive[1 - me] and (mode != UPDATE or (rule.prune and not alive[me])):
                j += 1
                continue
            here = scratch.value[level, j]
            if k == 0:
                for h in range(here_n):
                    here[h] = 0.0
            link = tree.link_deal[node]
            first_deal = deal if link == _CUT else (tree.deal_first[deal] if link == _SHARED else link)
            count = 1 if link == _CUT else (tree.deal_count[deal] if link == _SHARED else tree.num_children[node])
            if level == 0 and phase == FINISH:
                for h in range(here_n):
                    here[h] = link_value[j, h]
                k = count
            while k < count and not found:
                if level == 0 and phase == LINKS and (j + k) % shares != share:
                    k += 1
                    continue
                next_deal = first_deal + k
                below = tree.first_child[node] if link < 0 else tree.deal_root[next_deal]
                _descend(tree, own, opp, me, node, below, link == _CUT, next_deal, level, scratch)
                k += 1
                live = scratch.alive[level + 1, 0]
                if live[1 - me] or (mode == UPDATE and (live[me] or not rule.prune)):
                    found = True
                    position[level, 2], position[level, 3] = j, k
                    level += 1
                    position[level, 0], position[level, 1] = below, next_deal
                    position[level, 2], position[level, 3] = 0, 0
                    _forward(tree, own, opp, me, mode, tables, opp_table, opp_scale, opp_prediction, rule, below,
                             next_deal, level, scratch)  # fmt: skip
            if not found:
                j += 1
                k = 0
        if found:
            continue
        if level == 0 and phase == LINKS:
            for i in range(size):
                if tree.kind[at + i] == _LINK:
                    alive = scratch.alive[0, i]
                    live_link = alive[1 - me] or (mode == UPDATE and (alive[me] or not rule.prune))
                    for h in range(here_n):
                        link_value[i, h] = scratch.value[0, i, h] if live_link else 0.0
            return
        _backward(tree, own, opp, me, mode, pair_hands, tables, rule, locked, at, deal, level, scratch)
        if level == 0:
            for h in range(here_n):
                out[h] = scratch.value[0, 0, h]
            return
        level -= 1
        link = tree.link_deal[position[level, 0] + position[level, 2]]
        above = scratch.value[level, position[level, 2]]
        child = scratch.value[level + 1, 0]
        if link == _CUT:
            for h in range(here_n):
                above[h] = child[h]
        else:
            first = own.start[deal]
            before = own.start[position[level, 1]]
            weight = tree.deal_weight[deal]
            for h in range(here_n):
                up = own.parent[first + h]
                part = np.float64(own.multiplicity[first + h]) / np.float64(own.multiplicity[before + up])
                above[up] += weight * part * child[h]


@inlined
def _descend(tree: NodeArrays, own: HandArrays, opp: HandArrays, me: int, link: int, below: int, cut: bool, deal: int, level: int, scratch: Scratch) -> None:  # fmt: skip
    """The reaches with which a piece is entered."""
    own_from = scratch.reach[level, tree.reach_slot[me, link]]
    opp_from = scratch.reach[level, tree.reach_slot[1 - me, link]]
    own_to = scratch.reach[level + 1, tree.reach_slot[me, below]]
    opp_to = scratch.reach[level + 1, tree.reach_slot[1 - me, below]]
    first, n = own.start[deal], own.start[deal + 1] - own.start[deal]
    for h in range(n):
        own_to[h] = own_from[h] if cut else own_from[own.parent[first + h]]
    scratch.alive[level + 1, 0, me] = _any(own_to, n)
    first, n = opp.start[deal], opp.start[deal + 1] - opp.start[deal]
    for h in range(n):
        opp_to[h] = opp_from[h] if cut else opp_from[opp.parent[first + h]]
    scratch.alive[level + 1, 0, 1 - me] = _any(opp_to, n)


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
    alternating: bool,  # IN  player 1 sees the update of player 0
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
    first_ones, second_ones = np.ones(len(first_reach)), np.ones(len(second_reach))
    for _ in range(iterations):
        time = clock[0] + 1
        rule = iteration_rule(time, floor, alpha, beta, gamma, delay, shifted, tie, quantised)
        if not alternating:
            frozen[:] = first.regret
            frozen_scale[:] = first.regret_scale
            frozen_prediction[:] = first.prediction
        walk_public(
            tree, first_hands, second_hands, 0, UPDATE, pair_hands, first, second.regret, second.regret_scale,
            second.prediction, rule, locked, 0, 0, first_ones, second_reach, WHOLE, 0, 1, none, scratch, out,
        )  # fmt: skip
        walk_public(
            tree, second_hands, first_hands, 1, UPDATE, pair_hands, second,
            first.regret if alternating else frozen, first.regret_scale if alternating else frozen_scale,
            first.prediction if alternating else frozen_prediction, rule, locked, 0, 0, second_ones, first_reach,
            WHOLE, 0, 1, none, scratch, out,
        )  # fmt: skip
        clock[0] = time


@kernel
def iteration_rule(time: int, floor: bool, alpha: float, beta: float, gamma: float, delay: int, shifted: bool, tie: float, quantised: bool) -> Rule:  # fmt: skip
    """The numbers of iteration ``time``, as in ``iterate_cfr``.

    Walks skip what nobody reaches, unless old regrets are discounted everywhere.
    """
    keep_positive = 1.0 if np.isnan(alpha) else 1.0 / (1.0 + np.float64(time - 1) ** -alpha)
    keep_negative = 1.0 if np.isnan(beta) else 1.0 / (1.0 + np.float64(time - 1) ** -beta)
    weight = 0.0
    if time > delay:
        weight = np.float64(time - delay if shifted else time) ** gamma
    prune = np.isnan(alpha) and np.isnan(beta)
    return Rule(keep_positive, keep_negative, floor, weight, tie, prune, quantised)
