"""The loop of full-width counterfactual regret minimisation, many iterations at a call.

One iteration (Gibson 2014, algorithm 1; Johanson 2016, section 9.3): counterfactual values against the others'
reach, regrets added to the table, a new strategy by regret matching, the strategy's reach added to the average.  The
members of the family differ only in numbers: how old regrets are discounted, whether they are floored at 0, how
iterations are weighted in the average, whether the last regret is added as a prediction.
"""

from __future__ import annotations

import numpy as np

from counterplay.kernels.history.passes import FormArrays, backward_values, forward_reach, leaf_values
from counterplay.kernels.history.restricted import Bound, bind_choice, meet, regret_choice
from counterplay.kernels.jit import kernel
from counterplay.kernels.regret import match_regrets


@kernel
def shake(
    offset: np.ndarray,  # IN  (I+1,) int64
    low: int,  # IN  first information set
    high: int,  # IN  last one + 1
    tremble: float,  # IN  the least probability of an action
    strategy: np.ndarray,  # IN OUT (E,) float64
) -> None:
    """Give every action its least probability: σ' = (1 - |A| e) σ + e (Johanson 2016, section 10.3.1.2)."""
    for infoset in range(low, high):
        first, last = offset[infoset], offset[infoset + 1]
        for entry in range(first, last):
            strategy[entry] = (1.0 - (last - first) * tremble) * strategy[entry] + tremble


@kernel
def regret_intentions(
    offset: np.ndarray,  # IN  (I+1,) int64
    low: int,  # IN  first information set
    high: int,  # IN  last one + 1
    tremble: float,  # IN  the least probability of an action
    step: np.ndarray,  # IN OUT (E,) float64: regrets against what was played in, against what was meant out
) -> None:
    """Regrets of a hand that trembles: v(a) - v_σ from v(a) - v_σ', which differ by e Σ_b (v(b) - v_σ') / (1 - |A| e).

    A player can only choose σ, and every choice is shaken alike, so these are the regrets in the game with the tremble
    up to the factor 1 - |A| e.
    """
    for infoset in range(low, high):
        first, last = offset[infoset], offset[infoset + 1]
        total = 0.0
        for entry in range(first, last):
            total += step[entry]
        shift = tremble * total / (1.0 - (last - first) * tremble)
        for entry in range(first, last):
            step[entry] += shift


@kernel
def update_regrets(
    low: int,  # IN  first entry
    high: int,  # IN  last one + 1
    keep_positive: float,  # IN  what old positive regrets are multiplied by
    keep_negative: float,  # IN  what old negative regrets are multiplied by
    floor: bool,  # IN  regret matching plus: negative regrets become 0
    unit: float,  # IN  what this iteration's regrets are counted in
    step: np.ndarray,  # IN OUT (E,) float64: this iteration's regrets in, zeros out
    regret: np.ndarray,  # IN OUT (E,)
    prediction: np.ndarray,  # OUT (E,) or (0,): this iteration's regrets
) -> None:
    """Add an iteration's regrets to the table."""
    for entry in range(low, high):
        old = np.float64(regret[entry])
        gain = step[entry] * unit
        new = old * (keep_positive if old > 0.0 else keep_negative) + gain
        if floor and new < 0.0:
            new = 0.0
        regret[entry] = new
        if len(prediction) > 0:
            prediction[entry] = gain
        step[entry] = 0.0


@kernel
def add_to_average(
    form: FormArrays,  # IN
    player: int,  # IN
    weight: float,  # IN  weight of this iteration
    reach: np.ndarray,  # IN  (S,) float64
    average: np.ndarray,  # IN OUT (E,)
) -> None:
    """Add a strategy, weighted by its own reach, to the average (Gibson 2014, section 2.2).

    Once for each information set with perfect recall; otherwise the mean over the set's histories.
    """
    for decision in range(form.decision_start[player], form.decision_start[player + 1]):
        first = form.decision_first[decision]
        entry = form.decision_entry[decision]
        share = weight * form.decision_weight[decision]
        for action in range(form.decision_actions[decision]):
            average[entry + action] += share * reach[first + action]


@kernel
def iterate_cfr(
    form: FormArrays,  # IN
    offset: np.ndarray,  # IN  (I+1,) int64: infoset_offset
    player_infosets: np.ndarray,  # IN  (n+1,) int64
    alternating: bool,  # IN  each player sees the updates of those before
    reverse: bool,  # IN  from the last player to the first
    floor: bool,  # IN  regret matching plus
    alpha: float,  # IN  discount exponent of positive regrets; NaN: none
    beta: float,  # IN  discount exponent of negative regrets; NaN: none
    gamma: float,  # IN  exponent of the averaging weight
    delay: int,  # IN  iterations before averaging starts
    shifted: bool,  # IN  weights count from the delay, not from the start
    argmax_fallback: bool,  # IN
    tie: float,  # IN  regrets up to this count as 0 in regret matching
    tremble: float,  # IN  the least probability of an action
    bound: Bound | None,  # IN  who is restricted; None for nobody, which the compiler leaves out
    iterations: int,  # IN  how many to do
    clock: np.ndarray,  # IN OUT (1,) int64: iterations done so far
    regret: np.ndarray,  # IN OUT (E,)
    average: np.ndarray,  # IN OUT (E,), or (0,) to keep none
    prediction: np.ndarray,  # IN OUT (E,), or (0,) to make none
    strategy: np.ndarray,  # IN OUT (E,) float64: the current strategy
    reach: np.ndarray,  # IN OUT (S,) float64: its reach
    value: np.ndarray,  # scratch (S,) float64
    step: np.ndarray,  # scratch (E,) float64, zeros in and out
    met: np.ndarray,  # scratch (S,) float64; (0,) without a restriction
) -> None:
    """Run iterations of CFR.  The tables and the clock change together, so a stop between calls is always clean."""
    players = len(player_infosets) - 1
    for _ in range(iterations):
        time = clock[0] + 1
        # t^α/(t^α+1) of the iteration before, written so that no power overflows.
        keep_positive = 1.0 if np.isnan(alpha) else 1.0 / (1.0 + np.float64(time - 1) ** -alpha)
        keep_negative = 1.0 if np.isnan(beta) else 1.0 / (1.0 + np.float64(time - 1) ** -beta)
        weight = 0.0
        if time > delay:
            weight = np.float64(time - delay if shifted else time) ** gamma
        for turn in range(players):
            player = players - 1 - turn if reverse else turn
            if bound is not None:
                meet(form, bound, player, reach, met)
                leaf_values(form, player, met, value)
            else:
                leaf_values(form, player, reach, value)
            backward_values(form, player, strategy, value, step)
            if alternating:
                _update_player(
                    form, offset, player_infosets, player, keep_positive, keep_negative, floor, weight,
                    argmax_fallback, tie, tremble, bound, regret, average, prediction, strategy, reach, step,
                )  # fmt: skip
        if not alternating:
            for player in range(players):
                _update_player(
                    form, offset, player_infosets, player, keep_positive, keep_negative, floor, weight,
                    argmax_fallback, tie, tremble, bound, regret, average, prediction, strategy, reach, step,
                )  # fmt: skip
        clock[0] = time


@kernel
def _update_player(
    form: FormArrays, offset: np.ndarray, player_infosets: np.ndarray, player: int, keep_positive: float,
    keep_negative: float, floor: bool, weight: float, argmax_fallback: bool, tie: float, tremble: float,
    bound: Bound | None, regret: np.ndarray, average: np.ndarray, prediction: np.ndarray, strategy: np.ndarray,
    reach: np.ndarray, step: np.ndarray,
) -> None:  # fmt: skip
    """Average, regrets, next strategy and its reach for one player."""
    low, high = player_infosets[player], player_infosets[player + 1]
    if len(average) > 0 and weight > 0.0:
        add_to_average(form, player, weight, reach, average)
    if tremble > 0.0:
        regret_intentions(offset, low, high, tremble, step)
    if bound is not None:
        regret_choice(offset, low, high, player, bound, step)
    update_regrets(offset[low], offset[high], keep_positive, keep_negative, floor, form.unit, step, regret, prediction)
    match_regrets(offset, low, high, regret, prediction, argmax_fallback, tie, strategy)
    if tremble > 0.0:
        shake(offset, low, high, tremble, strategy)
    if bound is not None:
        bind_choice(offset, low, high, player, bound, strategy)
    forward_reach(form, player, strategy, reach)
