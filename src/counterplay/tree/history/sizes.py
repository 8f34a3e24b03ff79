"""Size and memory of a game, before anything large is allocated.

The number of histories is estimated by heterogeneous sampling (P. C. Chen, "Heuristic sampling: a method for predicting
the performance of tree searching programs", 1992), which extends random playouts (Knuth 1975): a walk down the tree
keeps one history of each kind on a level, chosen at random, and counts it for all of its kind.  The estimate is
unbiased whatever the kinds are, and good if histories of a kind have about as many below them: here those with the same
player to act, and the same number of actions there and after the first of them.  Parts of a skewed tree that random
playouts never reach, since nearly all of them end early, are kinds of their own.  An estimate stays one, so only a game
that is far too large is refused by it; the walk itself counts and stops at the limit.
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

WIDEST = 24
"""Children of a history that are looked at; of more, as many are drawn."""

KINDS = 24
"""Kinds of histories that are kept on a level; the rarest of more are taken together."""

EFFORT = 150_000
"""Histories that are looked at, roughly.  A walk may look at half of them; then it keeps one on each level."""

ACTIONS = 32
"""Actions of which a list costs as much as to look at a history."""

LARGEST = 1e200
"""What an estimate can be, so that sums of its squares are finite."""

SAFETY = 4.0
"""The factor by which an estimate must exceed the limit before a game is refused without a walk."""


@dataclasses.dataclass(frozen=True)
class SizeEstimate:
    """An estimate of a game's size from random walks, with the standard error of the mean.

    ``ended`` is False if histories longer than the depth allowed were met.
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
    game: Game | type[Game] | str, descents: int = 16, seed: int = 0, max_depth: int = 10_000
) -> SizeEstimate:
    """Estimate the number of histories of a game, or of one named as for ``make``, by random walks (Chen 1992).

    There are at most ``descents`` walks, and fewer in large games.  Histories of more than ``max_depth`` moves are not
    counted.
    """
    game = make(game)
    generator = random.Random(seed)
    walks: list[_Descent] = []
    while len(walks) < descents and (len(walks) < 2 or sum(walk.effort for walk in walks) < EFFORT):
        walks.append(_Descent(game, generator, max_depth, EFFORT // 2))
    totals, descents = [walk.total for walk in walks], len(walks)
    mean = sum(totals) / descents
    spread = sum((total / mean - 1) ** 2 for total in totals) / max(1, descents - 1)
    return SizeEstimate(mean, mean * (spread / descents) ** 0.5, descents, all(walk.ended for walk in walks))


class _Descent:
    """One walk down a tree, level by level: a history of each kind, and the number of those it stands for."""

    def __init__(self, game: Game, generator: random.Random, max_depth: int, effort: int) -> None:
        self.total = 1.0
        self.ended = True
        self.effort = 0
        self._generator = generator
        self._allowed = effort
        root: Any = game.root()
        level: dict[Any, tuple[Any, float]] = {} if root.player == TERMINAL else {None: (root, 1.0)}
        for _ in range(max_depth):
            level = self._next(level)
            if not level:
                return
        self.ended = False

    def _next(self, level: dict[Any, tuple[Any, float]]) -> dict[Any, tuple[Any, float]]:
        """The kinds of the next level, after counting it."""
        narrow = self.effort > self._allowed
        widest, kinds = (1, 1) if narrow else (WIDEST, KINDS)
        found: dict[Any, tuple[Any, float]] = {}
        for state, weight in level.values():
            moves = self._moves(state)
            if not moves:
                continue
            drawn = moves if len(moves) <= widest else self._generator.sample(moves, widest)
            self.total = min(self.total + weight * len(moves), LARGEST)  # no larger, so that sums stay finite
            each = min(weight * len(moves) / len(drawn), LARGEST)
            for child in map(state.child, drawn):
                if child.player != TERMINAL:
                    self._add(found, None if narrow else self._kind(child), child, each)
        for kind in sorted(found, key=lambda kind: found[kind][1])[:-kinds]:
            state, weight = found.pop(kind)
            self._add(found, "rare", state, weight)
        return found

    def _kind(self, state: Any) -> Any:
        """What is alike in histories with about as many below them."""
        moves = self._moves(state)
        after = state.child(moves[0]) if moves else state
        return state.player, _size(len(moves)), 0 if after.player == TERMINAL else _size(len(self._moves(after)))

    def _moves(self, state: Any) -> list[Any]:
        moves = [label for label, _ in state.chance()] if state.player == CHANCE else list(state.actions())
        self.effort += 1 + len(moves) // ACTIONS
        return moves

    def _add(self, found: dict[Any, tuple[Any, float]], kind: Any, state: Any, weight: float) -> None:
        """Let a history stand for its kind with a probability in proportion to what it stood for."""
        kept, before = found.get(kind, (state, 0.0))
        total = min(before + weight, LARGEST)
        found[kind] = (state if self._generator.random() * total < weight else kept, total)


def _size(number: int) -> int:
    """A number of actions, roughly if it is large."""
    return number if number < 16 else 12 + number.bit_length()


def preflight(game: Game, limit: int, max_depth: int) -> None:
    """Refuse a game that is far too large for ``limit`` bytes before walking it, with the estimate and the limit."""
    try:
        exact = game.num_histories()
        estimate = None if exact else estimate_size(game, max_depth=max_depth)
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
