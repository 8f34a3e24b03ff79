"""What an iteration adds to the tables of a public state: floats, or 16-bit integers with a scale for each state
(Johanson 2016, section 9.3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from counterplay.kernels.jit import apart, inlined
from counterplay.kernels.regret import FEW_HANDS

if TYPE_CHECKING:
    from counterplay.kernels.public.piece_steps import Rule, Tables

_LEAST = 1e-33
"""Below this a block of integers counts as 0: its scale would leave the range of float32."""


@apart
def _store_integers(
    table: Any, scales: Any, block: int, state: int, first: Any, n: Any, actions: Any, new: Any, s: Any, stride: Any,
    salt: int,
) -> None:  # fmt: skip
    """Write a block of a table of integers from the vectors that begin at ``s``.

    The block gets a scale of its own, so that the largest number fills the range; numbers are rounded up or down at
    random with the right mean, because what is added in an iteration is often less than one unit.  The random numbers
    depend on the public state, ``state``, and not on where its block lies.
    """
    number = new.dtype.type
    least, most = number(0.0), number(0.0)
    for a in range(actions):
        for h in range(n):
            one = new[s + a * stride + h]
            least = one if one < least else least
            most = one if one > most else most
    largest = max(most, -least)
    scales[block] = largest / 32766.0 if largest > _LEAST else 1.0
    inverse = number(1.0 / np.float64(scales[block]))  # as it will be read
    dice = (np.uint64(salt) * np.uint64(0x9E3779B97F4A7C15)) ^ (np.uint64(state) * np.uint64(0xBF58476D1CE4E5B9))
    unit = number(1.0 / 16777216.0)
    for a in range(actions):
        row, out = first + a * n, s + a * stride
        dice = dice * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
        start = np.uint32(dice >> np.uint64(32))
        for h in range(n):  # multiples of the golden section from a random start: even in [0, 1), hand by hand
            up = np.uint32(start + np.uint32(h) * np.uint32(2654435769)) >> np.uint32(8)
            table[row + h] = np.int16(np.floor(new[out + h] * inverse + number(np.int32(up)) * unit))


@inlined
def update_tables(
    tables: Tables, rule: Rule, locked: Any, block: Any, state: Any, first: Any, n: Any, actions: Any, reach: Any,
    r: Any, sigma: Any, s: Any, value: Any, v: Any, here: Any, stride: Any,
) -> None:  # fmt: skip
    """Add an iteration's regrets and strategy; the vectors of the children in ``sigma`` and ``value`` are used up.

    ``r``, ``s``, ``v`` and ``here`` say where our reach, our strategy, the values of the children and the value of
    the node begin.  Where the strategy is locked both tables hold it, and stay.
    """
    averaged = len(tables.average) > 0 and rule.weight > 0.0 and not locked
    number = value.dtype.type
    zero, share = number(0.0), number(rule.weight)
    keep_positive, keep_negative = number(rule.keep_positive), number(rule.keep_negative)
    if n <= FEW_HANDS and len(tables.prediction) == 0 and not rule.quantised:
        for h in range(n):
            weight, base = rule.weight * reach[r + h], value[here + h]
            for a in range(actions):
                entry = first + a * n + h
                if averaged:
                    tables.average[entry] += weight * sigma[s + a * stride + h]
                if not locked:
                    old = tables.regret[entry]
                    keep = rule.keep_positive if old > 0.0 else rule.keep_negative
                    new = old * keep + (value[v + a * stride + h] - base)
                    tables.regret[entry] = 0.0 if rule.floor and new < 0.0 else new
        return
    if averaged:
        if rule.quantised:
            scale = number(tables.average_scale[block])
            for a in range(actions):
                row, play = first + a * n, s + a * stride
                for h in range(n):
                    sigma[play + h] = number(tables.average[row + h]) * scale + share * reach[r + h] * sigma[play + h]
            _store_integers(tables.average, tables.average_scale, block, state, first, n, actions, sigma, s, stride,
                            rule.salt)  # fmt: skip
        else:
            for a in range(actions):
                row, play = first + a * n, s + a * stride
                for h in range(n):
                    tables.average[row + h] += share * reach[r + h] * sigma[play + h]
    if locked:
        return
    scale = number(tables.regret_scale[block])
    for a in range(actions):
        row, gain = first + a * n, v + a * stride
        if len(tables.prediction) > 0:
            for h in range(n):
                tables.prediction[row + h] = value[gain + h] - value[here + h]
        if rule.floor:
            for h in range(n):
                new = number(tables.regret[row + h]) * scale * keep_positive + (value[gain + h] - value[here + h])
                value[gain + h] = new if new > zero else zero
        else:
            for h in range(n):
                old = number(tables.regret[row + h]) * scale
                keep = keep_positive if old > zero else keep_negative
                value[gain + h] = old * keep + (value[gain + h] - value[here + h])
        if not rule.quantised:
            for h in range(n):
                tables.regret[row + h] = value[gain + h]
    if rule.quantised:
        _store_integers(tables.regret, tables.regret_scale, block, state, first, n, actions, value, v, stride,
                        rule.salt + 1)  # fmt: skip
