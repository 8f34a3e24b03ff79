"""Sums over boards for a best response to players who do not look at their cards.

See ``counterplay.evaluation.card_free``: a hand at its last deal is one number, what it beats less what beats it; all
that betting makes of this number is in a table.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.kernels.jit import inlined, kernel
from counterplay.kernels.numba_internals import held
from counterplay.kernels.public.piece_steps import HandArrays
from counterplay.kernels.public.terminal import CARD_SLOTS

FOLDED, LINKED, BEST, MIXED, SHOWN = 0, 1, 2, 3, 4
"""What a step of a round computes."""

_BLOCK = 16
"""Hands that go through the betting together."""


class Program(NamedTuple):
    """The betting of a round as steps, each after those that it needs.  S steps, L roots."""

    what: Any  # (S,) int8
    number: Any  # (S,) float64: what a fold pays, in all; what a showdown pays against one hand
    first: Any  # (S,) int32: where the steps that it needs begin; of a link, the column of the round below
    count: Any  # (S,) int32: how many
    needs: Any  # int32
    share: Any  # float64: their probabilities, where the opponent acts
    root: Any  # (L,) int32: the steps that the round above asks for


class DealArrays(NamedTuple):
    """The fields of a ``DealTree`` that kernels read."""

    parent: Any
    weight: Any


@inlined
def _beaten(hands: HandArrays, deal: int, by_card: np.ndarray, ahead: np.ndarray) -> None:
    """``ahead[h]``: how many hands the opponent can hold that lose to h, less those that beat it."""
    mine, n = np.uint64(hands.start[deal]), np.uint64(hands.start[deal + 1] - hands.start[deal])
    low, high = np.uint64(hands.real_start[deal]), np.uint64(hands.real_start[deal + 1])
    one = np.uint64(1)
    k: Any = low
    by_card[:] = 0
    total = 0
    for h in range(n):
        own = hands.rank[mine + h]
        while k < high and hands.real_rank[k] < own:
            total += 1
            by_card[hands.real_card[k, 0]] += 1
            by_card[hands.real_card[k, 1]] += 1
            k += one
        ahead[h] = total - by_card[hands.card[mine + h, 0]] - by_card[hands.card[mine + h, 1]]
    by_card[:] = 0
    total = 0
    k = high
    for i in range(n):
        h = n - one - i  # type: ignore[assignment]  # unsigned
        own = hands.rank[mine + h]
        while k > low and hands.real_rank[k - one] > own:
            k -= one
            total += 1
            by_card[hands.real_card[k, 0]] += 1
            by_card[hands.real_card[k, 1]] += 1
        ahead[h] -= total - by_card[hands.card[mine + h, 0]] - by_card[hands.card[mine + h, 1]]


@kernel
def add_last_round(
    deals: DealArrays,  # IN
    hands: HandArrays,  # IN
    low: int,  # IN  the last deals are low ..
    high: int,  # IN  .. high - 1
    table: np.ndarray,  # IN  (2 M + 1, L) float64: the value of each root if a hand is -M .. M ahead
    above: int,  # IN  the first class of the round above
    up: np.ndarray,  # IN OUT (classes of the round above, L) float64
) -> None:
    """Mean values of the last round for the hands of the round above."""
    hands = held(hands)
    by_card = np.zeros(CARD_SLOTS, np.int32)
    ahead = np.zeros(hands.card.shape[0], np.int32)
    middle, roots = table.shape[0] // 2, table.shape[1]
    for deal in range(low, high):
        _beaten(hands, deal, by_card, ahead)
        first, before = hands.start[deal], hands.start[deals.parent[deal]]
        for h in range(hands.start[deal + 1] - first):
            whole = before + hands.parent[first + h]
            part = deals.weight[deal] * hands.multiplicity[first + h] / hands.multiplicity[whole]
            row, at = np.uint64(whole - above), np.uint64(ahead[h] + middle)
            for c in range(np.uint64(roots)):
                up[row, c] += part * table[at, c]


@kernel
def add_round(
    deals: DealArrays,  # IN
    hands: HandArrays,  # IN
    low: int,  # IN  the deals of the round are low ..
    high: int,  # IN  .. high - 1
    program: Program,  # IN
    below: np.ndarray,  # IN  (classes of this round, columns) float64: what links lead to
    above: int,  # IN  the first class of the round above
    up: np.ndarray,  # IN OUT (classes of the round above, L) float64
) -> None:
    """Put the values of links through the betting of a round; mean values for the hands of the round above."""
    hands = held(hands)
    steps = len(program.what)
    value = np.zeros((steps, _BLOCK))
    for step in range(steps):
        value[step, :] = program.number[step]
    here = hands.start[low]
    for deal in range(low, high):
        first, before = hands.start[deal], hands.start[deals.parent[deal]]
        n = hands.start[deal + 1] - first
        for block in range(0, n, _BLOCK):
            size = min(_BLOCK, n - block)
            for step in range(steps):
                what, at = program.what[step], program.first[step]
                if what == LINKED:
                    for b in range(size):
                        value[step, b] = below[first - here + block + b, at]
                elif what == BEST:
                    need = program.needs[at]
                    for b in range(_BLOCK):
                        value[step, b] = value[need, b]
                    for i in range(1, program.count[step]):
                        need = program.needs[at + i]
                        for b in range(_BLOCK):
                            value[step, b] = max(value[step, b], value[need, b])
                elif what == MIXED:
                    for b in range(_BLOCK):
                        value[step, b] = 0.0
                    for i in range(program.count[step]):
                        need, share = program.needs[at + i], program.share[at + i]
                        for b in range(_BLOCK):
                            value[step, b] += share * value[need, b]
            for b in range(size):
                own = first + block + b
                whole = before + hands.parent[own]
                part = deals.weight[deal] * hands.multiplicity[own] / hands.multiplicity[whole]
                for c in range(len(program.root)):
                    up[whole - above, c] += part * value[program.root[c], b]
