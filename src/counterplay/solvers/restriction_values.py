"""Values of a restricted game: what a profile wins, and best responses to it, on history trees and on bucket pairs.

The restricted player's entries are those of ``solvers/restricted_solver.py``: the free part with a coin for each game,
what is played with a coin for each decision.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from counterplay.evaluation.measurement import Measurement
from counterplay.evaluation.pair_walks import Goal, PairWalks, Part
from counterplay.kernels.history.passes import FormArrays, forward_reach
from counterplay.kernels.history.restricted import Bound, Model, measure_bound
from counterplay.solvers.restriction import Restriction
from counterplay.tree.history.game_tree import GameTree

Float64 = NDArray[np.float64]

NONE = np.zeros(0)


def bound_of(tree: GameTree, form: FormArrays, restriction: Restriction) -> Bound:
    """A restriction as passes over the sequence form take it."""
    if not isinstance(restriction.confidence, float):
        return Bound(restriction.player, 0.0, NONE, restriction.least)
    reach = np.zeros(tree.sequences.num_sequences)
    forward_reach(form, restriction.player, restriction.strategy, reach)
    return Bound(restriction.player, restriction.confidence, reach, NONE)


def model_of(restriction: Restriction | None) -> Model | None:
    """A restriction as walks take it."""
    if restriction is None:
        return None
    if isinstance(restriction.confidence, float):
        return Model(restriction.player, restriction.confidence, restriction.strategy, NONE)
    return Model(restriction.player, 0.0, restriction.strategy, restriction.confidence)


def measure_on_tree(form: FormArrays, bound: Bound, strategy: Float64) -> Measurement:
    """The value of a profile of a restricted game, and best responses to it, on a history tree."""
    found = np.zeros(3)
    measure_bound(form, bound, strategy, found)
    return _in_seats(1 - bound.player, *found.tolist())


def opponent_parts(restriction: Restriction | None, player: int, strategy: Float64) -> list[Part]:
    """What a player plays against when both play by a table: of an opponent with a coin for each game two parts."""
    if restriction is None or player == restriction.player or not isinstance(restriction.confidence, float):
        return [Part(strategy)]
    coin = restriction.confidence
    return [Part(restriction.strategy, coin), Part(strategy, 1.0 - coin)]


def measure_on_pairs(walks: PairWalks, restriction: Restriction, strategy: Float64) -> Measurement:
    """The value of a profile of a restricted game, and best responses to it."""
    other = restriction.player
    seat, coin = 1 - other, restriction.confidence
    value, best = walks.walk(
        seat, opponent_parts(restriction, seat, strategy), [Goal(strategy), Goal(best=True)]
    )  # fmt: skip
    if isinstance(coin, float):
        bound, free = walks.walk(other, [Part(strategy)], [Goal(restriction.strategy), Goal(best=True)])
        against = coin * bound + (1.0 - coin) * free
    else:
        (against,) = walks.walk(other, [Part(strategy)], [Goal(best=True, least=restriction.least)])
    return _in_seats(seat, value, best, against)


def _in_seats(seat: int, value: float, best: float, against: float) -> Measurement:
    """The measurement of what the player in a seat wins, wins at best, and the other one wins at best."""
    if seat == 0:
        return Measurement((value, -value), (best, against))
    return Measurement((-value, value), (against, best))
