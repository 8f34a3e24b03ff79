"""Size and memory of a game, before anything large is allocated.

The number of histories is estimated by random playouts: the product of the branching factors on a uniformly random
path, summed over the path, is an unbiased estimate of the number of nodes (D. E. Knuth, "Estimating the efficiency
of backtrack programs", 1975).  The estimate is rough, so only a game that is far too large is refused by it; the
walk itself counts and stops at the limit.
"""

from __future__ import annotations

import dataclasses
import random
from typing import TYPE_CHECKING, Any

from counterplay.game.game import CHANCE, TERMINAL, Game
from counterplay.game.registry import make
from counterplay.runtime.memory import check_memory
from counterplay.runtime.number_text import figure

if TYPE_CHECKING:
    from counterplay.tree.history.game_tree import GameTree

BUILD_BYTES_PER_HISTORY = 120
"""Bytes that compiling needs for each history at its peak, sequences of the players included (measured on Leduc)."""

SAFETY = 4.0
"""The factor by which an estimate must exceed the limit before a game is refused without a walk."""


@dataclasses.dataclass(frozen=True)
class SizeEstimate:
    """An estimate of a game's size from random playouts, with the standard error of the mean.

    ``ended`` is False if a playout did not reach a terminal history within the depth allowed.
    """

    histories: float
    standard_error: float
    descents: int
    ended: bool

    @property
    def bytes(self) -> int:
        """Bytes that compiling would need."""
        return int(self.histories * BUILD_BYTES_PER_HISTORY)


def estimate_size(
    game: Game | type[Game] | str, descents: int = 64, seed: int = 0, max_depth: int = 10_000
) -> SizeEstimate:
    """Estimate the number of histories of a game, or of one named as for ``make``, by random playouts (Knuth 1975)."""
    game = make(game)
    generator = random.Random(seed)
    totals = []
    ended = True
    for _ in range(descents):
        state: Any = game.root()
        total = weight = 1.0
        depth = 0
        while state.player != TERMINAL and depth < max_depth:
            moves = [label for label, _ in state.chance()] if state.player == CHANCE else list(state.actions())
            if not moves:
                break
            weight = min(weight * len(moves), 1e200)  # no larger, so that sums stay finite
            total += weight
            state = state.child(generator.choice(moves))
            depth += 1
        ended &= depth < max_depth
        totals.append(total)
    mean = sum(totals) / len(totals)
    spread = sum((total / mean - 1) ** 2 for total in totals) / max(1, len(totals) - 1)
    return SizeEstimate(mean, mean * (spread / len(totals)) ** 0.5, descents, ended)


def preflight(game: Game, limit: int, max_depth: int) -> None:
    """Refuse a game that is far too large for ``limit`` bytes before walking it, with the estimate and the limit."""
    try:
        exact = game.num_histories()
        estimate = None if exact else estimate_size(game, max_depth=min(max_depth, 1000))
    except Exception:
        return  # the walk raises the same error and can say where
    if estimate is None:
        count, needed, margin = f"{exact:,}", (exact or 0) * BUILD_BYTES_PER_HISTORY, 1.0
    elif estimate.ended:
        count, needed, margin = f"about {figure(estimate.histories, 2)}", estimate.bytes, SAFETY
    else:
        return
    if needed > margin * limit:
        advice = "use smaller parameters, a higher memory limit or a solver that samples"
        check_memory(f"{game.spec()} has {count} histories and", needed, limit, advice)


def tree_bytes(tree: GameTree) -> int:
    """Bytes of a compiled tree with its sequences."""
    return tree.nbytes + tree.sequences.nbytes
