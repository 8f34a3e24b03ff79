"""CFR-BR that starts from a strategy by buckets, and not from one that plays all actions equally.

With sampled boards every information set of the trunk has to be met before the hybrid plays anything there, which takes
thousands of iterations in limit hold'em.  Here the regrets of the player, and those of the hybrid in its trunk, begin
in proportion to the probabilities of a strategy, so that the first profile is that strategy on both sides.

Brown and Sandholm 2016 (strategy-based warm starting) have the idea, and choose regrets as large as if the strategy had
come from a number of iterations.  Departure: the size is a setting here.  Bounded regrets at the start add a constant
to the bound on the sum of regrets, so the average regret of T iterations grows by O(1/T) and the limit is the same.

An information set whose cards have probability 1/n, n being the buckets of the round or the hands on a board, begins
with ``start_weight`` times the largest utility, divided by n: what an iteration adds to it is in proportion to that.
In the average the strategy counts where no board has led to yet, and next to nothing elsewhere.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import SolverError
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.buckets.hand_lookup import dealt_buckets
from counterplay.poker.buckets.trunk_sampler import round_indexer
from counterplay.solvers.bucket_tables import BucketTables
from counterplay.strategy.bucket_strategy import BucketStrategy
from counterplay.strategy.files import load_strategy

CHUNK = 1 << 14
"""Hands of a trunk that are filled in at once."""

UNMET = 1e-6
"""Weight of the strategy in the average, an iteration having about 1 or more: it counts where no board led to yet."""


class StartedSolver(BucketTables):
    """A solver by buckets whose settings may name the file of a strategy to start from."""

    def _start(self) -> None:
        """Fill the regrets of a new run."""
        config = self.config
        if getattr(config, "start", None) is None:
            return
        profile = load_strategy(config.start, cards=self.game)
        if not isinstance(profile, BucketStrategy):
            raise SolverError(f"a start is a strategy by buckets; {config.start} has none")
        self.start_from(profile.strategy(), config.start_weight)

    def start_from(self, strategy: NDArray[Any], weight: float = 1.0) -> None:
        """Begin with regrets in proportion to a strategy; only before the first iteration.

        Parameters
        ----------
        strategy : (E,) array
            The probabilities of all entries, laid out as the tables of the bucket game.
        weight : float
            Their size, as the setting ``start_weight``.
        """
        if self.iterations:
            raise SolverError(
                f"a run starts from a strategy before its first iteration; this one has {self.iterations}"
            )
        size = weight * float(np.abs(self.game.utility).max(initial=0.0))
        for slot in range(len(self.game.slot_start)):
            rows = slot_rows(self.game, strategy, slot)
            slot_rows(self.game, self.regret, slot)[:] = rows * (size / max(1, len(rows)))
        if self.config.keeps_average:
            self.average[:] = UNMET * strategy
        self._start_opponent(strategy, size)

    def _start_opponent(self, strategy: NDArray[Any], size: float) -> None:
        """Fill the regrets of an opponent who has some."""

    @classmethod
    def from_checkpoint(cls, game: Any, config: Mapping[str, Any], algorithm: str, memory_limit: int | None) -> Self:
        """A fresh solver with the settings of a checkpoint, whose tables hold what the run started from."""
        if config.get("start") is None:
            return super().from_checkpoint(game, config, algorithm, memory_limit)
        solver = super().from_checkpoint(game, {**config, "start": None}, algorithm, memory_limit)
        solver.config = dataclasses.replace(solver.config, start=config["start"])
        return solver


def slot_rows(game: BucketGame, table: NDArray[Any], slot: int) -> NDArray[Any]:
    """The entries of a slot, a row for each bucket: a view."""
    first, width, buckets = (int(each[slot]) for each in (game.slot_start, game.slot_width, game.slot_buckets))
    return table[first : first + width * buckets].reshape(buckets if width else 0, width)


def start_trunk(game: BucketGame, strategy: NDArray[Any], size: float, trunk: int, player: int, into: Any) -> None:
    """Fill the regrets of a hybrid in the seat of ``player``: each real hand plays as its bucket does."""
    rules, first = game.definition, 0
    for turn in range(trunk):
        indexer, slot = round_indexer(rules, turn), 2 * turn + player
        hands = math.comb(len(rules.deck) - rules.board_ends[turn], rules.hole_cards)
        rows, width = slot_rows(game, strategy, slot), int(game.slot_width[slot])
        if width:
            filled = into[first : first + indexer.size() * width].reshape(-1, width)
            for low in range(0, len(filled), CHUNK):
                cards = indexer.hands(np.arange(low, min(low + CHUNK, len(filled))))
                filled[low : low + CHUNK] = rows[dealt_buckets(game, player, cards, turn)] * (size / hands)
        first += indexer.size() * width
