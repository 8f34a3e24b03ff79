"""Walks of Pure CFR: everybody plays a pure strategy drawn from the current one, and all numbers are integers.

Gibson 2014, section 5.5, algorithm 5.  The traverser's decision returns the value of the action drawn there, and the
regret of each action is its value less that one.  Actions are drawn at every visit, as in the algorithm as printed;
the definition draws one pure profile for a whole iteration, which is the same where a walk visits an information set
once.

Overflow: a regret that would leave its integer type stays at the end of it and is counted; where a count of the
average would, all counts of its information set are halved first.
"""

from __future__ import annotations

import numpy as np

from counterplay.kernels.history.mccfr import count_action, walk_average
from counterplay.kernels.jit import inlined, kernel
from counterplay.kernels.numba_internals import borrow
from counterplay.kernels.regret import matched_action
from counterplay.kernels.walks import WalkArrays, chance_outcome, deal_of, draw, f64, i64, look


@inlined
def walk_pure(
    nodes: np.ndarray,  # IN  this and the next two: see WalkArrays
    threshold: np.ndarray,
    alias: np.ndarray,
    payoff: np.ndarray,  # IN  (Z*n,) int32 or int64: utilities in whole units
    players: int,
    shift: np.ndarray | None,  # IN  the deal, see look
    averaging: bool,  # IN  count opponents' actions on the way
    floor: bool,  # IN  negative regrets become 0
    limit: int,  # IN  the largest number of the regret table's type
    player: int,  # IN  the traverser
    regret: np.ndarray,  # IN  (E,) strategies are matched to these
    target: np.ndarray,  # IN OUT (E,) int32 or int64: regrets are added here: the same array when learning
    average: np.ndarray,  # IN OUT (E,) int32, int64 or (0,)
    values: np.ndarray,  # IN OUT (E,) float64 or (0,): sampled values of actions are added here
    state: np.ndarray,  # IN OUT (1,) uint64: of the random numbers
    counters: np.ndarray,  # IN OUT (3,) int64: the third counts updates that were cut off
    place: np.ndarray,  # scratch (3F,) int64: history, action being walked, action drawn
    value_of: np.ndarray,  # scratch (F*A,) int64
) -> int:
    """One walk for one player; how many histories were touched."""
    width = 3 * len(value_of) // len(place)
    top = -1
    node = i64(0)
    value = i64(0)
    touched = 0
    while True:
        while True:  # down to a terminal
            touched += 1
            who, first, count, index = look(nodes, node, shift)
            if who > players:
                value = i64(payoff[index * players + player])
                break
            if who == players:
                node = first + chance_outcome(threshold, alias, index, count, draw(state))
                continue
            pick = matched_action(regret, index, count, draw(state))
            if who != player:
                if averaging:
                    count_action(average, index, count, pick)
                node = first + pick
                continue
            top += 1
            place[3 * top] = node
            place[3 * top + 1] = 0
            place[3 * top + 2] = pick
            node = first
        descend = False
        while top >= 0:  # up, until an action is left to be walked
            low = top * width
            _, first, count, index = look(nodes, place[3 * top], shift)
            action = place[3 * top + 1]
            value_of[low + action] = value
            action += 1
            if action < count:
                place[3 * top + 1] = action
                node = first + action
                descend = True
                break
            value = value_of[low + place[3 * top + 2]]
            for action in range(count):
                new = i64(target[index + action]) + (value_of[low + action] - value)
                if floor and new < 0:
                    new = i64(0)
                if new > limit or new < -limit:
                    new = i64(limit) if new > 0 else i64(-limit)
                    counters[2] += 1
                target[index + action] = new
            if len(values) > 0:
                for action in range(count):
                    values[index + action] += f64(value_of[low + action])
            top -= 1
        if not descend:
            return touched


@kernel
def iterate_pure(
    arrays: WalkArrays,  # IN  with utilities in whole units
    deals: np.ndarray | None,  # IN  (iterations*n, S) int64: a deal for each walk; None where the tree deals
    averaging: bool,  # IN
    floor: bool,  # IN
    limit: int,  # IN
    iterations: int,  # IN  how many to do
    average_walks: float,  # IN  with which probability an iteration adds walks for the average
    walkers: int,  # IN  a bit for each player with walks of his own; others decide nothing
    regret: np.ndarray,  # IN OUT (E,) int32 or int64
    average: np.ndarray,  # IN OUT (E,) int32, int64 or (0,)
    none: np.ndarray,  # IN  (0,) float64
    state: np.ndarray,  # IN OUT (1,) uint64
    counters: np.ndarray,  # IN OUT (3,) int64: iterations, histories touched, updates cut off
    place: np.ndarray,  # scratch (3F,) int64
    value_of: np.ndarray,  # scratch (F*A,) int64
    pending: np.ndarray,  # scratch (W,) int64
) -> None:
    """Run iterations: a walk for each player in turn."""
    arrays, deals, regret, average = borrow(arrays), borrow(deals), borrow(regret), borrow(average)
    none, place, value_of, pending = borrow(none), borrow(place), borrow(value_of), borrow(pending)
    nodes, threshold, alias, payoff, players = arrays
    owner = state.copy()  # a cache line of its own; held to the end, so that what is borrowed stays
    local = borrow(owner)
    touched = i64(0)
    for iteration in range(iterations):
        for player in range(players):
            if not (walkers >> player) & 1:
                continue
            shift = deal_of(deals, iteration * players + player)
            touched += walk_pure(
                nodes, threshold, alias, payoff, players, shift, averaging, floor, limit, player, regret, regret,
                average, none, local, counters, place, value_of,
            )  # fmt: skip
        if average_walks > 0.0 and (average_walks >= 1.0 or draw(local) < average_walks):
            for player in range(players):  # with a deal that this player's regrets have not just learnt from
                shift = deal_of(deals, iteration * players + (player + 1) % players)
                touched += walk_average(
                    nodes, threshold, alias, players, shift, player, 1.0, True, regret, average, local, pending
                )  # fmt: skip
    state[0] = owner[0]
    counters[0] += iterations
    counters[1] += touched


@kernel
def estimate_pure(
    arrays: WalkArrays,  # IN  with utilities in whole units
    deals: np.ndarray | None,  # IN  (N, S) int64: a deal for each walk; None where the tree deals
    player: int,  # IN
    strategy: np.ndarray,  # IN  (E,) float64: the profile, held fixed
    chosen: np.ndarray,  # IN  (K,) int64: entries to record
    values: np.ndarray,  # OUT (N,K) float64: sampled values of those in units of the payoffs, N walks
    regrets: np.ndarray,  # OUT (N,K) float64: sampled regrets
    state: np.ndarray,  # IN OUT (1,) uint64
    counters: np.ndarray,  # IN OUT (3,) int64
    place: np.ndarray,  # scratch (3F,) int64
    value_of: np.ndarray,  # scratch (F*A,) int64
    value_sum: np.ndarray,  # scratch (E,) float64, numbers in any state
    regret_sum: np.ndarray,  # scratch (E,) int64
) -> None:
    """Walk many times without learning and record the estimates at some entries."""
    nodes, threshold, alias, payoff, players = arrays
    limit = i64(9223372036854775807)
    for sample in range(len(values)):
        for k in range(len(chosen)):  # the others are not looked at
            value_sum[chosen[k]] = 0.0
            regret_sum[chosen[k]] = 0
        walk_pure(
            nodes, threshold, alias, payoff, players, deal_of(deals, sample), False, False, limit, player, strategy,
            regret_sum, regret_sum, value_sum, state, counters, place, value_of,
        )  # fmt: skip
        for k in range(len(chosen)):
            values[sample, k] = value_sum[chosen[k]]
            regrets[sample, k] = f64(regret_sum[chosen[k]])
