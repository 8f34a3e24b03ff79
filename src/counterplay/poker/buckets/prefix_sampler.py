"""Deals for walks that begin after some betting: in proportion to the probability that a strategy plays it.

Gibson 2014, definition 7.1, with the prefix folded into the deals: candidates are dealt uniformly and accepted with the
probability of the players' actions on the way, relative to the largest over hands.  A candidate is decided by the state
of the random numbers at its deal alone, and the state advances to after the last one that was accepted, so that deals
do not depend on the size of a batch.  Of candidates only the rounds of that betting are looked up, which is most of the
time where few of them are accepted.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import SolverError
from counterplay.kernels.buckets.deal_batches import deal_cards
from counterplay.kernels.walks import GOLDEN, UNIT, mixed
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.buckets.deal_sampler import DealSampler

SALT = np.uint64(0x5851F42D4C957F2D)
"""What makes the random number of a decision another one than those of the cards."""

WORD = (1 << 64) - 1
"""The largest state of the random numbers."""

MOST_CANDIDATES = 50_000_000
"""After so many without one that is accepted the search is given up."""


class PrefixSampler(DealSampler):
    """Samples the deals of a bucket game whose walks begin after some betting that a fixed strategy plays."""

    def __init__(self, game: BucketGame, size: int) -> None:
        super().__init__(game, size)
        self._steps = [(len(game.slot_start) + slot, slot, chances) for slot, chances in prefix_steps(game)]
        self._rounds = 1 + max(slot // game.players % game.rounds for _, slot, _ in self._steps)
        self._kept = np.empty_like(self._dealt)

    @staticmethod
    def nbytes(game: BucketGame, size: int) -> int:
        """As ``DealSampler.nbytes``."""
        return DealSampler.nbytes(game, size) + size * (game.definition.cards_dealt + 32)

    def deal(self, state: NDArray[np.uint64], count: int) -> NDArray[np.int64]:
        """As ``DealSampler.deal``: those that are accepted."""
        found = candidates = 0
        stride = self.game.definition.cards_dealt * int(GOLDEN) & WORD
        while found < count:
            before = int(state[0])
            deal_cards(self.deck, state, self._stock, self._dealt)
            shift = self.shifts(self._dealt, self._rounds)
            states = np.uint64(before) + np.arange(self.size, dtype=np.uint64) * np.uint64(stride)
            accepted = np.flatnonzero(mixed(mixed(states ^ SALT)) * UNIT < self._chances(shift))[: count - found]
            self._kept[found : found + len(accepted)] = self._dealt[accepted]
            found += len(accepted)
            if found == count and count:
                state[0] = before + (int(accepted[-1]) + 1) * stride & WORD
            candidates = 0 if len(accepted) else candidates + self.size
            if candidates > MOST_CANDIDATES:
                where = f"the part {self.game.fixed.part!r} of {self.game.name}" if self.game.fixed else self.game.name
                raise SolverError(f"of {candidates:,} deals none comes to {where}: the base hardly plays towards it")
        return self.shifts(self._kept[:count])

    def _chances(self, shift: NDArray[np.int64]) -> NDArray[np.float64]:
        """With which probability deals are accepted."""
        fixed = self.game.fixed
        assert fixed is not None
        found = np.ones(len(shift))
        for column, slot, chances in self._steps:
            bucket = (shift[:, column] - fixed.game.slot_start[slot]) // fixed.game.slot_width[slot]
            found *= chances[bucket] / chances.max()
        return found


def prefix_steps(game: BucketGame) -> list[tuple[int, NDArray[np.float64]]]:
    """Of each slot that acts before walks begin: its number, and for each bucket the probability of its actions."""
    fixed, tree = game.fixed, game.tree
    assert fixed is not None
    base, node = fixed.game, game.start
    found: dict[int, NDArray[np.float64]] = {}
    while node:
        above = int(tree.parent[node])
        slot = base.slot_of(above)
        first = int(base.slot_start[slot]) + int(base.node_offset[above]) + node - int(tree.first_child[above])
        entries = first + np.arange(int(base.slot_buckets[slot])) * int(base.slot_width[slot])
        found[slot] = found.get(slot, 1.0) * fixed.strategy[entries]
        node = above
    return sorted(found.items())


def sampler_of(game: BucketGame, size: int) -> DealSampler:
    """The sampler of the deals of a bucket game."""
    return PrefixSampler(game, size) if game.start else DealSampler(game, size)


def sampler_bytes(game: BucketGame, size: int) -> int:
    """Bytes that it will allocate."""
    return PrefixSampler.nbytes(game, size) if game.start else DealSampler.nbytes(game, size)
