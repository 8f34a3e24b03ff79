"""Minimax regret and iterated regret minimisation in small games (Gibson 2014, section 2.3).

regret_i(σ_i) is the largest regret of player i for σ_i over all strategies of the others: the largest difference
between a best reply and σ_i.  A minimax-regret strategy minimises it; in a minimax-regret equilibrium every player's
strategy does.  Iterated regret minimisation (Halpern and Pass 2012) keeps the pure strategies with the least regret,
drops the others, and repeats.  All of this works on the normal form.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from counterplay.analysis.domination import largest_margin, mixtures
from counterplay.tree.sequence.matrices import payoff_scale
from counterplay.tree.sequence.normal_form import NormalForm

Float64 = NDArray[np.float64]


def worst_regret(form: NormalForm, player: int, weights: Float64) -> float:
    """regret_i of a mixed strategy."""
    table = form.table(player)
    return float((table.max(axis=0) - weights @ table).max())


def minimax_regret(form: NormalForm, player: int) -> tuple[float, Float64]:
    """The least regret that a mixed strategy of the player can have, and that strategy; by linear programming."""
    scale = payoff_scale(form.table(player))
    table = scale * form.table(player)
    value, weights = largest_margin(table.T, table.max(axis=0), mixtures(table), "minimax regret")
    return -value / scale, weights


def minimax_regret_gap(form: NormalForm, mixtures: list[Float64]) -> float:
    """The distance of mixed strategies, one for each player, from a minimax-regret equilibrium: the largest excess."""
    return max(
        worst_regret(form, player, weights) - minimax_regret(form, player)[0] for player, weights in enumerate(mixtures)
    )


def iterated_regret(form: NormalForm) -> list[NDArray[np.int64]]:
    """The pure strategies of each player that survive iterated regret minimisation."""
    remaining = [np.arange(size) for size in form.shape]
    while True:
        kept = []
        for player, own in enumerate(remaining):
            cells = form.payoffs[player][np.ix_(*remaining)]
            table = np.moveaxis(cells, player, 0).reshape(len(own), -1)
            regret = (table.max(axis=0) - table).max(axis=1)
            kept.append(own[regret <= regret.min() + 1e-12 * float(np.abs(table).max())])
        if all(len(new) == len(old) for new, old in zip(kept, remaining, strict=True)):
            return remaining
        remaining = kept
