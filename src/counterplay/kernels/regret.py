"""Regret matching: play in proportion to positive regret, and all actions alike where there is none.

Hart and Mas-Colell 2000; Gibson 2014, equation 2.4 and section 4.3.  Every kernel of every form matches regrets here.
Full-width passes match all rows of a table (``match_regrets``) or all hands of a public state (``match_hands``); walks
match the one row that they are at, as probabilities, or as an action drawn from them.

Where rows are matched at every step of a walk a row is divided once (``matched_scale``, ``scaled_share``); elsewhere
each regret is divided by the sum (``match_row``, ``matched_share``).  The two differ by rounding.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from counterplay.kernels.jit import inlined, kernel, spliced

FEW_HANDS = 12
"""Up to so many hands, loops go hand by hand: loops over hands then cost more to start than to run."""

_f64: Any = np.float64
_i64: Any = np.int64


@spliced
def positive_total(regret: Any, entry: Any, actions: Any) -> float:
    """The sum of the positive regrets of a row."""
    total = 0.0
    for action in range(actions):
        total += max(0.0, _f64(regret[entry + action]))
    return total


@spliced
def matched_share(regret: Any, total: float, actions: Any) -> float:
    """The probability of an action with this regret in a row with this sum of positive regrets."""
    return max(0.0, _f64(regret)) / total if total > 0.0 else 1.0 / actions


@spliced
def matched_scale(total: float) -> float:
    """By what positive regrets are to be multiplied; 0 where there are none."""
    return 1.0 / total if total > 0.0 else 0.0


@spliced
def scaled_share(regret: Any, scale: float, actions: Any) -> float:
    """The probability of an action with this regret, given the ``matched_scale`` of its row."""
    return max(0.0, _f64(regret)) * scale if scale > 0.0 else 1.0 / actions


@spliced
def match_row(
    regret: Any,  # IN  floats
    first: Any,  # IN  where the row begins
    step: Any,  # IN  from one action to the next
    actions: Any,  # IN
    tie: float,  # IN  regrets up to this are rounding errors of 0
    strategy: Any,  # OUT floats
    out: Any,  # IN  where to begin
    out_step: Any,  # IN  from one action to the next
) -> None:
    """The probabilities of a row."""
    total = 0.0
    for action in range(actions):
        positive = _f64(regret[first + action * step])
        total += positive if positive > tie else 0.0
    for action in range(actions):
        positive = _f64(regret[first + action * step])
        positive = positive if positive > tie else 0.0
        strategy[out + action * out_step] = positive / total if total > 0.0 else 1.0 / actions


@spliced
def matched_action(
    regret: np.ndarray,  # IN  (E,) any numbers
    entry: int,  # IN  the first entry of the information set
    actions: int,  # IN
    uniform: float,  # IN  uniform on [0, 1)
) -> int:
    """The action that a random number selects when play is in proportion to positive regret."""
    total = positive_total(regret, entry, actions)
    if total <= 0.0:
        return _i64(uniform * actions)
    left = uniform * total
    pick = 0
    for action in range(actions):
        share = _f64(regret[entry + action])
        if share > 0.0 and left >= 0.0:
            pick = action
            left -= share
    return pick


@spliced
def averaged_action(
    regret: np.ndarray,  # IN  (E,) any numbers
    entry: int,  # IN  the first entry of the information set
    actions: int,  # IN
    total: float,  # IN  its ``positive_total``
    uniform: float,  # IN  uniform on [0, 1)
    averaging: bool,  # IN  whether there is an average
    weight: float,  # IN  what the strategy weighs in the average
    average: np.ndarray,  # IN OUT (E,) or (0,)
) -> int:
    """``matched_action``, with the strategy added to the average in the same pass."""
    pick = _i64(0)
    if total > 0.0:
        scale = 1.0 / total
        left = uniform * total
        for action in range(actions):
            positive = _f64(regret[entry + action])
            if positive > 0.0:
                if averaging:
                    average[entry + action] += weight * (positive * scale)
                if left >= 0.0:
                    pick = action
                    left -= positive
    else:
        if averaging:
            for action in range(actions):
                average[entry + action] += weight * (1.0 / actions)
        pick = _i64(uniform * actions)
    return pick


@kernel
def match_regrets(
    offset: np.ndarray,  # IN  (I+1,) int64
    low: int,  # IN  first information set
    high: int,  # IN  last one + 1
    regret: np.ndarray,  # IN  (E,) float32 or float64
    prediction: np.ndarray,  # IN  (E,) or (0,): added to regrets when there is one
    argmax_fallback: bool,  # IN  where no regret is positive: play the largest, not all
    tie: float,  # IN  regrets up to this are rounding errors of 0
    strategy: np.ndarray,  # OUT (E,) float64
) -> None:
    """Match the regrets of a range of information sets."""
    predict = len(prediction) > 0
    for infoset in range(low, high):
        first, last = offset[infoset], offset[infoset + 1]
        total = 0.0
        for entry in range(first, last):
            positive = _f64(regret[entry])
            if predict:
                positive += prediction[entry]
            positive = positive if positive > tie else 0.0
            strategy[entry] = positive
            total += positive
        if total > 0.0:
            for entry in range(first, last):
                strategy[entry] /= total
        elif argmax_fallback:
            for entry in range(first, last):  # the same sums as above
                strategy[entry] = np.float64(regret[entry])
                if predict:
                    strategy[entry] += prediction[entry]
            largest = strategy[first]
            for entry in range(first + 1, last):
                largest = max(largest, strategy[entry])
            ties = 0
            for entry in range(first, last):
                ties += strategy[entry] >= largest - tie
            for entry in range(first, last):
                strategy[entry] = 1.0 / ties if strategy[entry] >= largest - tie else 0.0
        else:
            for entry in range(first, last):
                strategy[entry] = 1.0 / (last - first)


@inlined
def match_few(
    table: Any, scale: Any, first: Any, n: Any, actions: Any, tie: float, sigma: Any, s: Any, reach: Any, before: Any,
    after: Any, stride: Any,
) -> None:  # fmt: skip
    """``match_hands`` hand by hand, and the reaches after all actions, from ``after`` on."""
    number = sigma.dtype.type
    zero, one, least, scale = number(0.0), number(1.0), number(tie), number(scale)
    share = number(1.0 / np.float64(actions))
    for h in range(n):
        total = zero
        for a in range(actions):
            positive = number(table[first + a * n + h]) * scale
            positive = positive if positive > least else zero
            sigma[s + a * stride + h] = positive
            total += positive
        part, rest = (one / total, zero) if total > zero else (zero, share)
        for a in range(actions):
            played = sigma[s + a * stride + h] * part + rest
            sigma[s + a * stride + h] = played
            reach[after + a * stride + h] = reach[before + h] * played


@inlined
def match_hands(
    table: Any, scale: Any, prediction: Any, first: Any, n: Any, actions: Any, tie: float, sigma: Any, s: Any,
    stride: Any, totals: Any,
) -> None:  # fmt: skip
    """Match the regrets of all ``n`` hands of a public state, into one vector for each action from ``s`` on.

    All numbers are of the type of the vectors, so that loops over hands need not widen them.
    """
    number = sigma.dtype.type
    zero, one, least, scale = number(0.0), number(1.0), number(tie), number(scale)
    share = number(1.0 / np.float64(actions))
    for h in range(n):
        totals[h] = zero
    for a in range(actions):
        row, out = first + a * n, s + a * stride
        if len(prediction) > 0:
            for h in range(n):
                positive = number(table[row + h]) * scale + number(prediction[row + h])
                positive = positive if positive > least else zero
                sigma[out + h] = positive
                totals[h] += positive
        else:
            for h in range(n):
                positive = number(table[row + h]) * scale
                positive = positive if positive > least else zero
                sigma[out + h] = positive
                totals[h] += positive
    for h in range(n):  # one division for each hand, and none of zero by zero
        total = totals[h]
        totals[h] = one / total if total > zero else zero
    for a in range(actions):
        out = s + a * stride
        for h in range(n):
            sigma[out + h] = sigma[out + h] * totals[h] if totals[h] > zero else share
