"""A player who follows a fixed strategy to some degree, in full-width passes over the sequence form and in walks.

Johanson 2016, sections 6.1 and 6.5.  A coin for each game: what others meet is the fixed strategy with probability p,
else the free one, so that reaches are mixed.  A coin for each decision: c ``fix`` is the least probability of each
action, the player chooses the rest, and regrets against his choice.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from counterplay.kernels.history.passes import FormArrays, backward_best, backward_values, forward_reach, leaf_values
from counterplay.kernels.jit import inlined, kernel
from counterplay.kernels.regret import averaged_action, matched_action, matched_share
from counterplay.kernels.walks import draw, i64

NO_CHOICE = 1e-12
"""Up to this probability a player has no choice: the rest of the least probabilities is a rounding error."""


class Bound(NamedTuple):
    """A restriction for passes over the sequence form."""

    player: int  # who is restricted
    coin: float  # the probability of the fixed strategy for a game
    fixed: np.ndarray  # (S,) float64: the reach of the fixed strategy; (0,) without a coin for each game
    least: np.ndarray  # (E,) float64: the least probability of each entry; (0,) without coins for decisions


class Model(NamedTuple):
    """A restriction for walks, two players."""

    player: int  # who is restricted
    coin: float  # the probability of the fixed strategy for a game
    fixed: np.ndarray  # (E,) float64: the fixed strategy
    trust: np.ndarray  # (E,) float64: that of each decision; (0,) with a coin for each game


@kernel
def meet(
    form: FormArrays,  # IN
    bound: Bound,  # IN
    player: int,  # IN
    reach: np.ndarray,  # IN  (S,) float64
    met: np.ndarray,  # OUT (S,) float64: the reach that a player meets, of the other one
) -> None:
    """What a player meets; with a coin for each game that is not what the other one has learnt."""
    other = 1 - player
    mixed = other == bound.player and len(bound.fixed) > 0
    for sequence in range(form.sequence_start[other], form.sequence_start[other + 1]):
        met[sequence] = reach[sequence]
        if mixed:
            met[sequence] = bound.coin * bound.fixed[sequence] + (1.0 - bound.coin) * reach[sequence]


@kernel
def bind_choice(
    offset: np.ndarray,  # IN  (I+1,) int64
    low: int,  # IN  first information set
    high: int,  # IN  last one + 1
    player: int,  # IN  whose they are
    bound: Bound,  # IN
    strategy: np.ndarray,  # IN OUT (E,) float64: what is chosen in, what is played out
) -> None:
    """What a player plays who chooses a strategy: least + rest * strategy."""
    if player != bound.player or len(bound.least) == 0:
        return
    for infoset in range(low, high):
        rest = 1.0
        for entry in range(offset[infoset], offset[infoset + 1]):
            rest -= bound.least[entry]
        for entry in range(offset[infoset], offset[infoset + 1]):
            strategy[entry] = bound.least[entry] + rest * strategy[entry]


@kernel
def regret_choice(
    offset: np.ndarray,  # IN  (I+1,) int64
    low: int,  # IN  first information set
    high: int,  # IN  last one + 1
    player: int,  # IN  whose they are
    bound: Bound,  # IN
    step: np.ndarray,  # IN OUT (E,) float64: regrets against what was played in, against what was chosen out
) -> None:
    """Regrets of a choice: v(a) - v_free from v(a) - v, which differ by  sum_b least(b) (v(b) - v) / rest."""
    if player != bound.player or len(bound.least) == 0:
        return
    for infoset in range(low, high):
        rest, shift = 1.0, 0.0
        for entry in range(offset[infoset], offset[infoset + 1]):
            rest -= bound.least[entry]
            shift += bound.least[entry] * step[entry]
        for entry in range(offset[infoset], offset[infoset + 1]):
            step[entry] = step[entry] + shift / rest if rest > NO_CHOICE else 0.0


@kernel
def _best_choice(
    form: FormArrays,  # IN
    player: int,  # IN
    least: np.ndarray,  # IN  (E,) float64
    value: np.ndarray,  # IN OUT (S,) float64: leaf values in, values under the best choice out
) -> None:
    """Best response of a player with least probabilities."""
    for decision in range(form.decision_start[player + 1] - 1, form.decision_start[player] - 1, -1):
        first, entry = form.decision_first[decision], form.decision_entry[decision]
        best, forced, rest = value[first], 0.0, 1.0
        for action in range(form.decision_actions[decision]):
            best = max(best, value[first + action])
            forced += least[entry + action] * value[first + action]
            rest -= least[entry + action]
        value[form.decision_parent[decision]] += forced + rest * best


@kernel
def measure_bound(
    form: FormArrays,  # IN
    bound: Bound,  # IN
    strategy: np.ndarray,  # IN  (E,) float64
    found: np.ndarray,  # OUT (3,) float64: what the other player wins, wins at best, and the bound one wins at best
) -> None:
    """The value of a profile of a restricted game of two players, and best responses."""
    other, seat = bound.player, 1 - bound.player
    sequences = form.sequence_start[2]
    choice = np.empty(form.decision_start[2], np.int32)
    reach, value, leaves, regret = (
        np.empty(sequences),
        np.empty(sequences),
        np.empty(sequences),
        np.zeros(len(strategy)),
    )
    met = np.empty(sequences)
    for player in range(2):
        forward_reach(form, player, strategy, reach)
    meet(form, bound, seat, reach, met)
    leaf_values(form, seat, met, leaves)
    for sequence in range(form.sequence_start[seat], form.sequence_start[seat + 1]):
        value[sequence] = leaves[sequence]
    backward_values(form, seat, strategy, value, regret)
    found[0] = value[form.sequence_start[seat]] * form.unit
    backward_best(form, seat, leaves, choice)
    found[1] = leaves[form.sequence_start[seat]] * form.unit
    leaf_values(form, other, reach, value)
    fixed = 0.0
    if len(bound.fixed) > 0:
        for sequence in range(form.sequence_start[other], form.sequence_start[other + 1]):
            fixed += bound.fixed[sequence] * value[sequence]
    if len(bound.least) > 0:
        _best_choice(form, other, bound.least, value)
    else:
        backward_best(form, other, value, choice)
    free = value[form.sequence_start[other]]
    found[2] = (bound.coin * fixed + (1.0 - bound.coin) * free) * form.unit


@inlined
def fixed_action(fixed: np.ndarray, index: int, count: int, uniform: float) -> int:
    """The action of a fixed strategy that a random number selects."""
    pick = i64(0)
    for action in range(count):
        share = fixed[index + action]
        if share > 0.0 and uniform >= 0.0:
            pick = i64(action)
            uniform -= share
    return pick


@inlined
def coin_falls(model: Model, player: int, state: np.ndarray) -> bool:
    """Whether the opponent of a walk plays the fixed strategy in this game; random numbers are spent only on a coin."""
    return player != model.player and model.coin > 0.0 and draw(state) < model.coin


@inlined
def restricted_action(
    model: Model,  # IN
    falls: bool,  # IN  ``coin_falls`` of this walk
    player: int,  # IN  the traverser
    regret: np.ndarray,  # IN  (E,)
    index: int,  # IN  the first entry of the information set of the other player
    count: int,  # IN  its actions
    total: float,  # IN  its ``positive_total``
    uniform: float,  # IN  uniform on [0, 1)
    averaging: bool,  # IN  whether there is an average
    weight: float,  # IN  what the strategy weighs in the average
    average: np.ndarray,  # IN OUT (E,) or (0,)
    state: np.ndarray,  # IN OUT (1,) uint64
) -> int:
    """The action of the opponent of a walk when one of the two is restricted, with what is played added to the average.

    In games of the fixed strategy nothing is averaged: they say nothing about how often the free part comes there.
    """
    if falls:
        return fixed_action(model.fixed, index, count, uniform)
    if player == model.player or len(model.trust) == 0:
        return averaged_action(regret, index, count, total, uniform, averaging, weight, average)
    trust = model.trust[index]
    if averaging:
        for action in range(count):
            free = matched_share(regret[index + action], total, count)
            average[index + action] += weight * (trust * model.fixed[index + action] + (1.0 - trust) * free)
    if draw(state) < trust:
        return fixed_action(model.fixed, index, count, uniform)
    return matched_action(regret, index, count, uniform)


@inlined
def restricted_value(
    model: Model, player: int, value: float, index: int, count: int, value_of: np.ndarray, low: int
) -> float:  # fmt: skip
    """What an information set of the traverser is worth, whose choice there is worth ``value``."""
    if player != model.player or len(model.trust) == 0:
        return value
    trust, forced = model.trust[index], 0.0
    for action in range(count):
        forced += model.fixed[index + action] * value_of[low + action]
    return trust * forced + (1.0 - trust) * value


@inlined
def restrict_row(
    model: Model, falls: bool, who: int, index: int, count: int, strategy: np.ndarray, low: int
) -> None:  # fmt: skip
    """What a player plays who chooses a row of a strategy."""
    if who != model.player:
        return
    trust = 1.0 if falls else 0.0
    if len(model.trust) > 0:
        trust = model.trust[index]
    for action in range(count):
        strategy[low + action] = trust * model.fixed[index + action] + (1.0 - trust) * strategy[low + action]


@inlined
def chosen_value(
    model: Model, player: int, value: float, index: int, count: int, value_of: np.ndarray, low: int
) -> float:  # fmt: skip
    """What the choice of the traverser is worth in an information set where what is played is worth ``value``."""
    if player != model.player or len(model.trust) == 0:
        return value
    rest = 1.0 - model.trust[index]
    if rest <= NO_CHOICE:
        return value
    forced = 0.0
    for action in range(count):
        forced += model.fixed[index + action] * value_of[low + action]
    return (value - (1.0 - rest) * forced) / rest


@inlined
def restricted_share(model: Model, player: int, entry: int, share: float) -> float:
    """The probability with which a player plays an action that is chosen with ``share``, in a walk.

    The probability of a coin for each game is 1 or 0 here, as it has fallen.
    """
    if player != model.player:
        return share
    trust = model.coin if len(model.trust) == 0 else model.trust[entry]
    return trust * model.fixed[entry] + (1.0 - trust) * share
