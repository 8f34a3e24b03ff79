"""Walks of chance-sampled CFR: chance is drawn, all actions of all players are walked.

Zinkevich et al. 2007, section 3.4; Gibson 2014, section 2.2.3; Johanson 2016, section 3.3.  A block is what follows
from one draw of all chance events, so the k-th event of every line of play is drawn with the same random number:
events that do not depend on the players' actions, such as the deal of a board, then have one outcome in all lines.

Departure: regrets are added to the table after the walk and not during it, so that an information set that is met at
several histories (where opponents' actions are hidden) plays one strategy in all of them.  On a betting tree, which
shows all actions, no information set is met twice in a walk and regrets are added at once.
"""

from __future__ import annotations

import numpy as np

from counterplay.kernels.history.mccfr import Stack
from counterplay.kernels.history.restricted import Model, chosen_value, coin_falls, restrict_row
from counterplay.kernels.jit import inlined, kernel
from counterplay.kernels.numba_internals import borrow
from counterplay.kernels.regret import match_row
from counterplay.kernels.walks import WalkArrays, chance_outcome, deal_of, draw, f64, i64, look


@inlined
def walk_chance(
    nodes: np.ndarray,  # IN  this and the next four: see WalkArrays
    threshold: np.ndarray,
    alias: np.ndarray,
    utility: np.ndarray,
    players: int,
    shift: np.ndarray | None,  # IN  the deal, see look
    averaging: bool,  # IN  add own strategies to the average
    floor: bool,  # IN  negative regrets become 0
    prune: bool,  # IN  leave out branches that change no table
    model: Model | None,  # IN  who is restricted; None for nobody, which the compiler leaves out
    player: int,  # IN  the traverser
    time: float,  # IN  weight of this iteration in the average
    regret: np.ndarray,  # IN  (E,) strategies are matched to these
    target: np.ndarray,  # IN OUT (E,) regrets are added here: the same array when learning
    average: np.ndarray,  # IN OUT (E,) or (0,)
    values: np.ndarray,  # IN OUT (E,) float64 or (0,): sampled values of actions are added here
    state: np.ndarray,  # IN OUT (1,) uint64: of the random numbers
    place: np.ndarray,  # scratch, this and the next four: see Stack; (history, action, chance events before)
    weight: np.ndarray,  # (own reach, the others' reach, unused)
    strategy: np.ndarray,
    value_of: np.ndarray,
    pending: np.ndarray,  # a decision of each information set that was met
    step: np.ndarray,  # scratch (E,) float64, zeros in and out: regrets of this walk
    met: np.ndarray,  # scratch (E,) uint8, zeros in and out: whether the set of this first entry was met
    dice: np.ndarray,  # scratch (D,) float64: the random number of each chance event on a line
) -> int:
    """One walk for one player; how many histories were touched."""
    width = 3 * len(strategy) // len(place)
    top = -1
    node = i64(0)
    own = others = 1.0
    level = rolled = waiting = touched = i64(0)
    value = 0.0
    falls = False
    if model is not None:
        falls = coin_falls(model, player, state)
    while True:
        while True:  # down to a terminal or a decision
            touched += 1
            who, first, count, index = look(nodes, node, shift)
            if who > players:
                value = utility[index * players + player]
                break
            if who == players:
                if level == rolled:
                    dice[rolled] = draw(state)
                    rolled += 1
                node = first + chance_outcome(threshold, alias, index, count, dice[level])
                level += 1
                continue
            top += 1
            low = top * width
            match_row(regret, index, 1, count, 0.0, strategy, low, 1)
            if model is not None:
                restrict_row(model, falls, who, index, count, strategy, low)
            place[3 * top] = node
            place[3 * top + 1] = -1
            place[3 * top + 2] = level
            weight[3 * top] = own
            weight[3 * top + 1] = others
            break
        descend = False
        while top >= 0:  # up, until an action is left to be walked
            low = top * width
            node = place[3 * top]
            who, first, count, index = look(nodes, node, shift)
            action = place[3 * top + 1]
            if action >= 0:
                value_of[low + action] = value
            action += 1
            while action < count:
                own, others = weight[3 * top], weight[3 * top + 1]
                if who == player:
                    own *= strategy[low + action]
                else:
                    others *= strategy[low + action]
                if not prune or others > 0.0 or (averaging and own > 0.0):
                    break
                value_of[low + action] = 0.0  # nothing below changes any table
                action += 1
            if action < count:
                place[3 * top + 1] = action
                level = place[3 * top + 2]
                node = first + action
                descend = True
                break
            value = 0.0
            for action in range(count):
                value += strategy[low + action] * value_of[low + action]
            if who == player:
                own, others = weight[3 * top], weight[3 * top + 1]
                if shift is None and met[index] == 0:
                    met[index] = 1
                    pending[waiting] = node
                    waiting += 1
                chosen = value
                if model is not None:
                    chosen = chosen_value(model, player, value, index, count, value_of, low)
                for action in range(count):
                    gain = others * (value_of[low + action] - chosen)
                    if shift is None:
                        step[index + action] += gain
                    else:
                        new = target[index + action] + gain
                        target[index + action] = 0.0 if floor and new < 0.0 else new
                    if averaging:
                        average[index + action] += time * (own * strategy[low + action])
                if len(values) > 0:
                    for action in range(count):
                        values[index + action] += others * value_of[low + action]
            top -= 1
        if not descend:
            break
    for k in range(waiting):
        base = pending[k] * 4
        index = i64(nodes[base + 3])
        met[index] = 0
        for action in range(i64(nodes[base + 2])):
            new = target[index + action] + step[index + action]
            target[index + action] = 0.0 if floor and new < 0.0 else new
            step[index + action] = 0.0
    return touched


@kernel
def iterate_chance(
    arrays: WalkArrays,  # IN
    deals: np.ndarray | None,  # IN  (iterations*n, S) int64: a deal for each walk; None where the tree deals
    averaging: bool,  # IN
    floor: bool,  # IN
    prune: bool,  # IN
    model: Model | None,  # IN  who is restricted; None for nobody
    iterations: int,  # IN  how many to do
    start: int,  # IN  iterations done before
    linear: bool,  # IN  iteration t weighs t in the average
    regret: np.ndarray,  # IN OUT (E,)
    average: np.ndarray,  # IN OUT (E,) or (0,)
    none: np.ndarray,  # IN  (0,) float64
    state: np.ndarray,  # IN OUT (1,) uint64
    counters: np.ndarray,  # IN OUT (3,) int64: iterations, histories touched, updates cut off
    stack: Stack,  # scratch
    step: np.ndarray,  # scratch (E,) float64
    met: np.ndarray,  # scratch (E,) uint8
    dice: np.ndarray,  # scratch (D,) float64
) -> None:
    """Run iterations: a walk for each player in turn, with chance drawn anew for each."""
    arrays, deals, regret, average, none = borrow(arrays), borrow(deals), borrow(regret), borrow(average), borrow(none)
    stack, step, met, dice = borrow(stack), borrow(step), borrow(met), borrow(dice)
    nodes, threshold, alias, utility, players = arrays
    place, weight, strategy, value_of, pending = stack
    owner = state.copy()  # a cache line of its own; held to the end, so that what is borrowed stays
    local = borrow(owner)
    touched = i64(0)
    for iteration in range(iterations):
        time = f64(start + 1 + iteration) if linear else 1.0
        for player in range(players):
            touched += walk_chance(
                nodes, threshold, alias, utility, players, deal_of(deals, iteration * players + player), averaging,
                floor, prune, model, player, time, regret, regret, average, none, local, place, weight, strategy,
                value_of, pending, step, met, dice,
            )  # fmt: skip
    state[0] = owner[0]
    counters[0] += iterations
    counters[1] += touched


@kernel
def estimate_chance(
    arrays: WalkArrays,  # IN
    deals: np.ndarray | None,  # IN  (N, S) int64: a deal for each walk; None where the tree deals
    player: int,  # IN
    strategy: np.ndarray,  # IN  (E,) float64: the profile, held fixed
    chosen: np.ndarray,  # IN  (K,) int64: entries to record
    values: np.ndarray,  # OUT (N,K) float64: sampled values of those, N walks
    regrets: np.ndarray,  # OUT (N,K) float64: sampled regrets
    state: np.ndarray,  # IN OUT (1,) uint64
    stack: Stack,  # scratch
    value_sum: np.ndarray,  # scratch (E,) float64, numbers in any state
    regret_sum: np.ndarray,  # scratch (E,) float64
    none: np.ndarray,  # IN  (0,) float64
    step: np.ndarray,  # scratch (E,) float64
    met: np.ndarray,  # scratch (E,) uint8
    dice: np.ndarray,  # scratch (D,) float64
) -> None:
    """Walk many times without learning and record the estimates at some entries."""
    nodes, threshold, alias, utility, players = arrays
    place, weight, chances, value_of, pending = stack
    for sample in range(len(values)):
        for k in range(len(chosen)):  # the others are not looked at
            value_sum[chosen[k]] = 0.0
            regret_sum[chosen[k]] = 0.0
        walk_chance(
            nodes, threshold, alias, utility, players, deal_of(deals, sample), False, False, True, None, player, 1.0,
            strategy, regret_sum, none, value_sum, state, place, weight, chances, value_of, pending, step, met, dice,
        )  # fmt: skip
        for k in range(len(chosen)):
            values[sample, k] = value_sum[chosen[k]]
            regrets[sample, k] = regret_sum[chosen[k]]
