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

UNSURE = 0.5
"""The share of an estimate from which its error calls for playouts that look ahead."""

PROBED = 64
"""Children of a history that are looked at by these."""

DEEPER = (1, 4, 16, 24)
"""How much they prefer histories with many children; the largest of the estimates counts."""

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
    found = _summary([_playout(game, generator, max_depth, 0) for _ in range(descents)])
    sure = found.standard_error < UNSURE * found.histories
    for preference in DEEPER[:1] if sure else DEEPER:  # an error is small, too, where no path has met what is large
        deeper = _summary([_playout(game, generator, max_depth, preference) for _ in range(descents)])
        if deeper.histories > (SAFETY if sure else 1.0) * found.histories:
            found = deeper
    return found


def _playout(game: Game, generator: random.Random, max_depth: int, preference: int) -> tuple[float, bool]:
    """The number of histories by one random path, and whether it reached a terminal history.

    With a ``preference`` the path continues with a child that is not terminal, if there is one, and likelier with one
    that has more children, by this power of their number: in a skewed tree most histories are below few actions.
    """
    state: Any = game.root()
    total = weight = 1.0
    depth = 0
    moves = None
    while state.player != TERMINAL and depth < max_depth:
        moves = _moves(state) if moves is None else moves
        if not moves:
            break
        total = min(total + weight * len(moves), 1e200)  # no larger, so that sums stay finite
        after = [state.child(move) for move in moves] if preference and len(moves) <= PROBED else []
        inner = [child for child in after if child.player != TERMINAL]
        if after and not inner:
            return total, True
        if inner:
            further = [_moves(child) for child in inner]
            sizes = [float(len(there)) ** preference for there in further]
            chosen = generator.choices(range(len(inner)), sizes)[0] if any(sizes) else 0
            state, moves = inner[chosen], further[chosen]
            share = sizes[chosen] / sum(sizes) if any(sizes) else 1.0
        else:
            state, share = state.child(generator.choice(moves)), 1.0 / len(moves)
            moves = None
        weight = min(weight / share, 1e200)
        depth += 1
    return total, depth < max_depth


def _moves(state: Any) -> list[Any]:
    return [label for label, _ in state.chance()] if state.player == CHANCE else list(state.actions())


def _summary(playouts: list[tuple[float, bool]]) -> SizeEstimate:
    totals = [total for total, _ in playouts]
    mean = sum(totals) / len(totals)
    spread = sum((total / mean - 1) ** 2 for total in totals) / max(1, len(totals) - 1)
    return SizeEstimate(mean, mean * (spread / len(totals)) ** 0.5, len(totals), all(ended for _, ended in playouts))


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
