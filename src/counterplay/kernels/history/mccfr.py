"""Walks of Monte Carlo CFR that sample chance and opponents on policy: external, outcome, average strategy sampling,
sampling by a scheme, and probing.

They differ only in which of the traverser's actions are walked and in what stands for the others (Gibson 2014,
algorithms 2 to 4, sections 2.2.3 and 5.3; Gibson et al. 2012, algorithm 1):

* external : all of them;
* outcome : one, drawn from ε'/|A| + (1-ε')σ; the others are worth 0;
* average strategy : each with probability max(ε, (β + τ s)/(β + Σ s)), at most 1; the others are worth 0;
* scheme : each with its probability in an array; the others are worth 0;
* probing : as scheme, but the others are worth what one roll-out brings (or the mean of K roll-outs, each made with
  some probability, by a policy that may explore: the general estimator of Gibson 2014, appendix C.4).

A random number is spent only where there is a choice, so that schemes which always take all actions give the bits of
external sampling.  The walk keeps a stack of the traverser's decisions instead of calling itself: that is faster, and
no arrays travel from call to call.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from counterplay.kernels.history.restricted import Model, coin_falls, restricted_action, restricted_value
from counterplay.kernels.jit import inlined, inlined_walk, kernel
from counterplay.kernels.numba_internals import borrow
from counterplay.kernels.regret import (
    averaged_action,
    matched_action,
    matched_scale,
    matched_share,
    positive_total,
    scaled_share,
)
from counterplay.kernels.walks import (
    WalkArrays,
    chance_outcome,
    deal_of,
    draw,
    draw_at,
    f64,
    i64,
    look,
)  # fmt: skip

EXTERNAL, OUTCOME, AVERAGE_STRATEGY, SCHEME, PROBING = range(5)


class Sampling(NamedTuple):
    """Settings of the walks."""

    kind: int
    epsilon: float  # of average strategy sampling
    tau: float
    beta: float
    exploration: float  # ε' of outcome sampling
    probes: int  # K
    probe_share: float  # with which probability each of the K is made
    probe_exploration: float  # ε' of the traverser's actions in a probe
    floor: bool  # negative regrets become 0
    averaging: bool  # opponents' strategies are added to the average on the way
    walkers: int  # a bit for each player with walks of his own; others decide nothing


class Stack(NamedTuple):
    """The traverser's decisions on the way, F at most, each with A actions at most."""

    place: np.ndarray  # (3F,) int64: history, action being walked, and a number that depends on the walk
    weight: np.ndarray  # (3F,) float64: probabilities; the last, too, depends on the walk
    strategy: np.ndarray  # (F*A,) float64
    value: np.ndarray  # (F*A,) float64
    pending: np.ndarray  # (W,) int64: histories still to be visited by walks that branch at other players


@inlined_walk
def walk_sampled(
    nodes: np.ndarray,  # IN  this and the next four: see WalkArrays
    threshold: np.ndarray,
    alias: np.ndarray,
    utility: np.ndarray,
    players: int,
    shift: np.ndarray | None,  # IN  the deal, see look
    kind: int | None,  # IN  sampling.kind; None where it is EXTERNAL and the compiler shall leave the rest out
    once: bool,  # IN  an opponent draws once at an information set in a walk, rather than at every visit
    model: Model | None,  # IN  who is restricted; None for nobody, which the compiler leaves out
    sampling: Sampling,  # IN
    player: int,  # IN  the traverser
    time: float,  # IN  weight of this iteration in the average
    regret: np.ndarray,  # IN  (E,) strategies are matched to these
    target: np.ndarray,  # IN OUT (E,) regrets are added here: the same array when learning
    average: np.ndarray,  # IN OUT (E,) or (0,)
    scheme: np.ndarray,  # IN  (E,) float64 or (0,): probabilities of walking each action
    values: np.ndarray,  # IN OUT (E,) float64 or (0,): sampled values of actions are added here
    state: np.ndarray,  # IN OUT (1,) uint64: of the random numbers
    place: np.ndarray,  # scratch, this and the next three: see Stack
    weight: np.ndarray,
    strategy: np.ndarray,
    value_of: np.ndarray,
) -> int:
    """One walk for one player; how many histories were touched."""
    width = 3 * len(strategy) // len(place)
    scaled = True  # utilities are divided by the sampling probability, or regrets are
    if kind is not None:
        scaled = kind != PROBING
    top = -1
    node = i64(0)
    own = 1.0
    value = 0.0
    touched = 0
    if once:
        draw(state)
    key = state[0]  # of this walk
    falls = False
    if model is not None:
        falls = coin_falls(model, player, state)
    while True:
        while True:  # down to a terminal or to a decision of the traverser
            touched += 1
            who, first, count, index = look(nodes, node, shift)
            if who > players:
                value = utility[index * players + player]
                if scaled and own != 1.0:
                    value /= own
                break
            if who == players:
                node = first + chance_outcome(threshold, alias, index, count, draw(state))
                continue
            total = positive_total(regret, index, count)
            if who != player:
                share = time if own == 1.0 else time / own  # divisions are what such walks spend their time on
                uniform = draw_at(key, index) if once else draw(state)
                if model is not None:
                    node = first + restricted_action(
                        model, falls, player, regret, index, count, total, uniform, sampling.averaging, share, average,
                        state,
                    )  # fmt: skip
                    continue
                node = first + averaged_action(regret, index, count, total, uniform, sampling.averaging, share, average)
                continue
            top += 1
            low = top * width
            scale = matched_scale(total)
            for action in range(count):
                strategy[low + action] = scaled_share(regret[index + action], scale, count)
            place[3 * top] = node
            if kind is None:
                place[3 * top + 1] = 0
                node = first
                continue
            place[3 * top + 1] = -1
            weight[3 * top] = own
            if kind == AVERAGE_STRATEGY:
                known = 0.0
                for action in range(count):
                    known += average[index + action]
                weight[3 * top + 2] = known
            elif kind == OUTCOME:
                weight[3 * top + 2] = _explore(strategy, low, count, sampling.exploration, draw(state))
            break
        descend = False
        while top >= 0:  # up, until an action is left to be walked
            low = top * width
            _, first, count, index = look(nodes, place[3 * top], shift)
            action = place[3 * top + 1]
            if action >= 0:
                value_of[low + action] = value
            action += 1
            chance = 1.0
            if kind is not None:
                own = weight[3 * top]
                while action < count:
                    chance = _chance(sampling, weight, strategy, top, low, count, action, index, average, scheme)
                    if chance >= 1.0 or (chance > 0.0 and (kind == OUTCOME or draw(state) < chance)):
                        break
                    value_of[low + action] = 0.0
                    if kind == PROBING:
                        value, seen = _probe(
                            nodes, threshold, alias, utility, players, shift, sampling, once, key, player,
                            first + action, regret, state,
                        )  # fmt: skip
                        value_of[low + action] = value
                        touched += seen
                    action += 1
            if action < count:
                place[3 * top + 1] = action
                if kind is not None:
                    own *= min(1.0, chance)
                node = first + action
                descend = True
                break
            value = 0.0
            for action in range(count):
                value += strategy[low + action] * value_of[low + action]
            divisor = 1.0 if scaled else own
            for action in range(count):
                gain = value_of[low + action] - value
                if divisor != 1.0:
                    gain /= divisor
                new = target[index + action] + gain
                target[index + action] = 0.0 if sampling.floor and new < 0.0 else new
            if len(values) > 0:
                for action in range(count):
                    values[index + action] += value_of[low + action] / divisor
            if model is not None:
                value = restricted_value(model, player, value, index, count, value_of, low)
            top -= 1
        if not descend:
            return touched


@inlined
def _explore(strategy: np.ndarray, low: int, count: int, exploration: float, uniform: float) -> float:
    """The action that outcome sampling takes: any with probability ε', else one of the strategy."""
    for action in range(count):
        uniform -= exploration / count + (1.0 - exploration) * strategy[low + action]
        if uniform < 0.0:
            return f64(action)
    action = count - 1
    while action > 0 and strategy[low + action] == 0.0 and exploration == 0.0:
        action -= 1  # rounding alone leads here
    return f64(action)


@inlined
def _chance(
    sampling: Sampling, weight: np.ndarray, strategy: np.ndarray, top: int, low: int, count: int, action: int,
    index: int, average: np.ndarray, scheme: np.ndarray,
) -> float:  # fmt: skip
    """With which probability an action of the traverser is walked; of outcome sampling, 0 for all but the one drawn."""
    if sampling.kind == OUTCOME:
        if action != i64(weight[3 * top + 2]):
            return 0.0
        return sampling.exploration / count + (1.0 - sampling.exploration) * strategy[low + action]
    if sampling.kind == AVERAGE_STRATEGY:
        known = weight[3 * top + 2]
        if sampling.beta + known == 0.0 or sampling.beta == np.inf:
            return 1.0
        wanted = (sampling.beta + sampling.tau * average[index + action]) / (sampling.beta + known)
        return max(sampling.epsilon, wanted)
    if sampling.kind == EXTERNAL:
        return 1.0
    return scheme[index + action]


@inlined
def _probe(
    nodes: np.ndarray,  # IN  this and the next four: see WalkArrays
    threshold: np.ndarray,
    alias: np.ndarray,
    utility: np.ndarray,
    players: int,
    shift: np.ndarray | None,  # IN  the deal, see look
    sampling: Sampling,  # IN
    once: bool,  # IN  see walk_sampled
    key: int,  # IN  of the walk
    player: int,  # IN
    start: int,  # IN  the history after the action
    regret: np.ndarray,  # IN  (E,)
    state: np.ndarray,  # IN OUT
) -> tuple[float, int]:
    """An estimate of the value after an action from roll-outs; how many histories they touched."""
    total = 0.0
    touched = 0
    for _ in range(sampling.probes):
        if sampling.probe_share < 1.0 and draw(state) >= sampling.probe_share:
            continue
        node = i64(start)
        ratio = 1.0
        while True:
            touched += 1
            who, first, count, index = look(nodes, node, shift)
            if who > players:
                total += ratio * utility[index * players + player]
                break
            if who == players:
                node = first + chance_outcome(threshold, alias, index, count, draw(state))
            elif who == player and sampling.probe_exploration > 0.0:
                action, other = _stray(regret, index, count, sampling.probe_exploration, state)
                ratio *= other
                node = first + action
            elif who != player and once:
                node = first + matched_action(regret, index, count, draw_at(key, index))
            else:
                node = first + matched_action(regret, index, count, draw(state))
    return total / (sampling.probes * sampling.probe_share), touched


@inlined
def _stray(
    regret: np.ndarray, index: int, count: int, exploration: float, state: np.ndarray
) -> tuple[int, float]:  # fmt: skip
    """An action of an exploring probe, and the strategy's probability of it over that of drawing it."""
    if draw(state) < exploration:
        action = i64(draw(state) * count)
    else:
        action = i64(matched_action(regret, index, count, draw(state)))
    chance = matched_share(regret[index + action], positive_total(regret, index, count), count)
    return action, chance / (exploration / count + (1.0 - exploration) * chance)


@kernel
def walk_average(
    nodes: np.ndarray,  # IN  this and the next three: see WalkArrays
    threshold: np.ndarray,
    alias: np.ndarray,
    players: int,
    shift: np.ndarray | None,  # IN  the deal, see look
    player: int,  # IN
    time: float,  # IN  weight of this iteration
    counting: bool,  # IN  count the action drawn, as Pure CFR does, rather than add the strategy
    regret: np.ndarray,  # IN  (E,)
    average: np.ndarray,  # IN OUT (E,)
    state: np.ndarray,  # IN OUT
    pending: np.ndarray,  # scratch (W,) int64
) -> int:
    """Add a player's strategy to the average in a walk of its own, which more than two players need (Gibson 2014,
    algorithm 2): chance and the player are sampled, all actions of the others are taken.
    """
    pending[0] = 0
    waiting = 1
    touched = 0
    while waiting > 0:
        waiting -= 1
        node = pending[waiting]
        touched += 1
        who, first, count, index = look(nodes, node, shift)
        if who > players:
            continue
        if who == players:
            pending[waiting] = first + chance_outcome(threshold, alias, index, count, draw(state))
            waiting += 1
        elif who == player:
            pick = matched_action(regret, index, count, draw(state))
            if counting:
                count_action(average, index, count, pick)
            else:
                total = positive_total(regret, index, count)
                for action in range(count):
                    average[index + action] += time * matched_share(regret[index + action], total, count)
            pending[waiting] = first + pick
            waiting += 1
        else:
            for action in range(count):  # the first one on top, as a recursion would take them
                pending[waiting + action] = first + count - 1 - action
            waiting += count
    return touched


@inlined
def count_action(average: np.ndarray, index: int, count: int, pick: int) -> None:
    """Count an action that was drawn; at the end of the integers all counts of the information set are halved."""
    if average[index + pick] >= 2147483647 and average.itemsize == 4:
        for action in range(count):
            average[index + action] //= 2
    average[index + pick] += 1


@kernel
def iterate_sampled(
    arrays: WalkArrays,  # IN
    deals: np.ndarray | None,  # IN  (iterations*n, S) int64: a deal for each walk; None where the tree deals
    sampling: Sampling,  # IN
    others: bool | None,  # IN  None if ``sampling.kind`` is EXTERNAL, so that walks of all other kinds are left out
    model: Model | None,  # IN  who is restricted, if ``sampling.kind`` is EXTERNAL; None for nobody
    iterations: int,  # IN  how many to do
    start: int,  # IN  iterations done before
    linear: bool,  # IN  iteration t weighs t in the average
    average_walks: float | None,  # IN  with which probability an iteration adds walks for the average; None: never
    regret: np.ndarray,  # IN OUT (E,)
    average: np.ndarray,  # IN OUT (E,) or (0,)
    scheme: np.ndarray,  # IN  (E,) or (0,)
    none: np.ndarray,  # IN  (0,) float64
    state: np.ndarray,  # IN OUT (1,) uint64
    counters: np.ndarray,  # IN OUT (3,) int64: iterations, histories touched, updates cut off
    stack: Stack,  # scratch
) -> None:
    """Run iterations: a walk for each player in turn, each reading the regrets as they are when it comes by."""
    arrays, deals, regret, average = borrow(arrays), borrow(deals), borrow(regret), borrow(average)
    scheme, none, stack = borrow(scheme), borrow(none), borrow(stack)
    nodes, threshold, alias, utility, players = arrays
    place, weight, strategy, value_of, pending = stack
    owner = state.copy()  # a cache line of its own; held to the end, so that what is borrowed stays
    local = borrow(owner)
    touched = i64(0)
    for iteration in range(iterations):
        time = f64(start + 1 + iteration) if linear else 1.0
        for player in range(players):
            if not (sampling.walkers >> player) & 1:
                continue
            shift = deal_of(deals, iteration * players + player)
            if others is None:
                touched += walk_sampled(
                    nodes, threshold, alias, utility, players, shift, None, False, model, sampling, player, time,
                    regret, regret, average, scheme, none, local, place, weight, strategy, value_of,
                )  # fmt: skip
            else:
                touched += walk_sampled(
                    nodes, threshold, alias, utility, players, shift, sampling.kind, False, None, sampling, player,
                    time, regret, regret, average, scheme, none, local, place, weight, strategy, value_of,
                )  # fmt: skip
        if average_walks is not None:  # noqa: SIM102  where it is None the compiler leaves this out
            if average_walks >= 1.0 or draw(local) < average_walks:
                for player in range(players):  # with a deal that this player's regrets have not just learnt from
                    shift = deal_of(deals, iteration * players + (player + 1) % players)
                    touched += walk_average(
                        nodes, threshold, alias, players, shift, player, time, False, regret, average, local, pending
                    )  # fmt: skip
    state[0] = owner[0]
    counters[0] += iterations
    counters[1] += touched


@kernel
def estimate_sampled(
    arrays: WalkArrays,  # IN
    deals: np.ndarray | None,  # IN  (N, S) int64: a deal for each walk; None where the tree deals
    sampling: Sampling,  # IN
    once: bool,  # IN  an opponent draws once at an information set in a walk
    player: int,  # IN
    strategy: np.ndarray,  # IN  (E,) float64: the profile, held fixed
    average: np.ndarray,  # IN  (E,) float64 or (0,): what average strategy sampling goes by
    scheme: np.ndarray,  # IN  (E,) or (0,)
    chosen: np.ndarray,  # IN  (K,) int64: entries to record
    values: np.ndarray,  # OUT (N,K) float64: sampled values of those, N walks
    regrets: np.ndarray,  # OUT (N,K) float64: sampled regrets
    state: np.ndarray,  # IN OUT (1,) uint64
    stack: Stack,  # scratch
    value_sum: np.ndarray,  # scratch (E,) float64, numbers in any state
    regret_sum: np.ndarray,  # scratch (E,) float64
) -> None:
    """Walk many times without learning and record the estimates at some entries."""
    nodes, threshold, alias, utility, players = arrays
    place, weight, chances, value_of, _ = stack
    for sample in range(len(values)):
        for k in range(len(chosen)):  # the others are not looked at
            value_sum[chosen[k]] = 0.0
            regret_sum[chosen[k]] = 0.0
        walk_sampled(
            nodes, threshold, alias, utility, players, deal_of(deals, sample), sampling.kind, once, None, sampling,
            player, 1.0, strategy, regret_sum, average, scheme, value_sum, state, place, weight, chances, value_of,
        )  # fmt: skip
        for k in range(len(chosen)):
            values[sample, k] = value_sum[chosen[k]]
            regrets[sample, k] = regret_sum[chosen[k]]
