"""What a walk over a public tree does for a player who plays by buckets: all hands of a bucket play alike.

Johanson 2016, sections 3.4 and 4.3.  The entries of a decision and a bucket lie together, as in a ``BucketGame``::

    entry = row[node] + bucket[hand] * wide[node] + action

Regrets of a bucket are sums over its hands and over all boards.  A walk returns the value of each hand where it is
dealt, so that ``mass``, how likely the hand and the board are, comes in here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from counterplay.kernels.jit import inlined


@inlined
def has_buckets(bucket: Any) -> bool:
    """Whether a player plays by buckets."""
    if bucket is None:
        return False
    return len(bucket) > 0


@inlined
def play_by_bucket(
    bucket: Any, row: Any, wide: Any, table: Any, node: Any, start: Any, n: Any, actions: Any, sigma: Any, at: Any,
    stride: Any,
) -> None:  # fmt: skip
    """The strategy of all hands at a public state, into one vector for each action from ``at`` on.

    ``table`` holds probabilities; ``start`` is the first hand of the deal.
    """
    if bucket is None:
        return
    first, hand, step = np.uint64(row[node]), np.uint64(start), np.uint64(wide[node])
    for a in range(actions):
        out = at + a * stride
        for h in range(n):
            sigma[out + h] = table[first + np.uint64(bucket[hand + h]) * step + a]


@inlined
def learn_by_bucket(
    bucket: Any, mass: Any, row: Any, wide: Any, learned: Any, weight: float, node: Any, start: Any, n: Any,
    actions: Any, reach: Any, r: Any, sigma: Any, s: Any, value: Any, here: Any, stride: Any,
) -> None:  # fmt: skip
    """Add regrets to ``learned[0]`` and what was played to ``learned[1]``, by bucket.

    ``r``, ``s`` and ``here`` say where our reach, the vectors of the children in ``sigma`` and ``value``, and the value
    of the node begin.
    """
    if bucket is None:
        return
    first, hand, step = np.uint64(row[node]), np.uint64(start), np.uint64(wide[node])
    for h in range(n):
        entry = first + np.uint64(bucket[hand + h]) * step
        likely = mass[hand + h]
        base, played = np.float64(value[here + h]), weight * likely * np.float64(reach[r + h])
        for a in range(actions):
            child = s + a * stride + h
            learned[0, entry + a] += likely * (np.float64(value[child]) - base)
            learned[1, entry + a] += played * np.float64(sigma[child])
