"""Settings of CFR-BR, and memory of what both of its forms measure with."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Annotated

from counterplay.errors import GameError, SolverError
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.poker_public_tree import count_public_tree, public_tree_bytes
from counterplay.solvers.cfr import CfrConfig
from counterplay.solvers.settings import Bounds, Count, Seed


@dataclasses.dataclass(frozen=True)
class CfrBrConfig(CfrConfig):
    """Settings of CFR-BR: those of the regret minimiser, and of its opponent.

    * ``trunk``: in how many rounds the opponent learns, as a hybrid; below them it responds best to what follows a
      sampled board.  0 for an opponent who responds best everywhere
    * ``every_board``: with a trunk: all boards in every iteration, before regrets change, and not one that is sampled
    * ``seed``: of the sampled boards
    * ``start``: the file of a strategy by the same buckets that the run starts from, on both sides in a trunk; None for
      a player and a hybrid who play all actions equally
    * ``start_weight``: how much regret stands for that strategy; in proportion to the largest utility, see
      ``solvers/cfr_br_start.py``

    ``profile`` is the average, which is proven to approach the least exploitable strategy, or the last, with which no
    average is kept.  ``storage`` is the type of the best response and of the vectors over hands, with a trunk of the
    hybrid's regrets: auto is float64 for small games and float32 for large ones.  ``alternating`` changes nothing: the
    seats do not meet.
    """

    trunk: Count = 0
    every_board: bool = False
    seed: Seed = 0
    start: Annotated[str, "the file of a strategy"] | None = None
    start_weight: Annotated[float, Bounds(above=0, below=1e9)] = 1.0

    def check_form(self, form: str) -> None:
        """Refuse settings that bucket games do not have; threads and float32 are for the best response."""
        check_beside_buckets(self, form)
        if self.trunk == 0:
            if self.every_board:
                raise SolverError("every_board is for a trunk; without one all boards count in every iteration anyway")
            return
        if self.predictive:
            raise SolverError("with a trunk predictive is not available; use trunk=0, or leave it out")
        if not self.every_board and (self.alpha, self.beta) not in ((None, None), (1.0, 1.0)):
            raise SolverError(
                "with sampled boards regrets have equal weights, or those of linear CFR, alpha=1 and beta=1; "
                f"got alpha={self.alpha!r} and beta={self.beta!r}"
            )
        if self.every_board and self.threads != 1:
            raise SolverError(f"with every_board there is one thread; got threads={self.threads}")


CFR_BR_PRESETS: Mapping[str, CfrBrConfig] = {"cfr-br": CfrBrConfig(gamma=1.0)}
"""The algorithm by its name."""


def check_beside_buckets(config: CfrConfig, form: str) -> None:
    """Refuse settings that bucket games do not have, but threads and float32: these are for an opponent without."""
    if config.storage == "int16":
        raise SolverError("with an unabstracted opponent storage is float64 or float32; got 'int16'")
    CfrConfig.check_form(dataclasses.replace(config, threads=1, storage="auto"), form)


def check_zero_sum(game: BucketGame) -> None:
    """Refuse tilted games: what a best response wins is not what the other player loses."""
    if game.tilt is not None:
        raise GameError(f"an unabstracted opponent is for zero-sum games; {game.name} is tilted, use cfr+")


def real_game_bytes(game: BucketGame, threads: int) -> int:
    """Bytes of the real game, of the buckets of its hands, and of what walks add to the tables of a bucket game."""
    _, infosets, _ = count_public_tree(game.definition)
    return public_tree_bytes(game.definition) + infosets // 2 + 16 * (1 + threads) * game.num_entries
