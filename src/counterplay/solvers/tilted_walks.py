"""Walks of full-width CFR in a tilted bucket game, two players (Johanson 2016, sections 2.6 and 6.3.2).

A winner does not get what the loser pays, which the walks over boards (``kernels/buckets/bucket_pcs.py``) rely on; the
walk over the public tree of the real game does not.  Both players play by buckets in it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from counterplay.evaluation.lifted_buckets import RealGame
from counterplay.evaluation.public_walks import FIXED
from counterplay.forms import open_game
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.poker_game import PokerFile
from counterplay.solvers.public_tree_tables import table_type
from counterplay.tree.public.tilt_public import tilt_public


class TiltedWalks:
    """The public tree of a tilted game, in which both players play by the buckets of a bucket game."""

    def __init__(self, game: BucketGame) -> None:
        assert game.tilt is not None
        self.tree = tilt_public(open_game(PokerFile(game.definition, game.name), "public"), game.tilt, game.name)
        self._real = RealGame(game, self.tree, table_type(sum(self.tree.num_entries), "auto"))

    def learn(
        self, learners: NDArray[np.int64], strategy: NDArray[np.float64], weight: float, regret: NDArray[np.float64],
        average: NDArray[np.float64],
    ) -> None:  # fmt: skip
        """Add what some players regret when both play a strategy, and what they play, times ``weight``."""
        for seat in learners.tolist():
            self._real.answer(seat, strategy, None, FIXED._replace(weight=weight), regret, average)
