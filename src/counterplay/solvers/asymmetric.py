"""Any algorithm in buckets against an opponent with another card abstraction: two runs, one for each seat.

Johanson 2016, sections 4.4 and 11.3.3: "any pair of abstractions, one per player".  In each run the agent sits in one
seat in its own abstraction and the opponent in the other seat in theirs; the strategy has the agent's half of each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import SolverError
from counterplay.forms import GameForms
from counterplay.poker.buckets.asymmetric_game import AsymmetricGame
from counterplay.runtime.memory import check_memory
from counterplay.solvers.bucket_cfr import BucketCfrSolver
from counterplay.solvers.bucket_mccfr import BUCKET_PRESETS, BucketSolver
from counterplay.solvers.bucket_tables import BucketTables
from counterplay.solvers.cfr import CFR_PRESETS, CfrConfig
from counterplay.solvers.seat_pair import SeatPair
from counterplay.solvers.settings import Settings, preset


class AsymmetricSolver(SeatPair, BucketTables):
    """A solver for each seat of the agent; an iteration is one of each."""

    kind = "asymmetric"
    config_class = Settings
    presets: ClassVar = {**BUCKET_PRESETS, **CFR_PRESETS}
    default_preset = "pure-cfr"
    halves: tuple[BucketSolver | BucketCfrSolver, ...]
    """The solvers, by seat of the agent."""

    def __init__(self, game: AsymmetricGame, *args: Any, scheme: Any = None, **kwargs: Any) -> None:
        self._pair, self._scheme = game, scheme
        super().__init__(game, *args, **kwargs)

    @classmethod
    def settings_of(cls, config: Settings | str | None) -> Any:
        """The settings of both solvers."""
        found = super().settings_of(config)
        return _class_of(found).settings_of(found)

    @classmethod
    def name_of(cls, config: Any) -> str:
        """The name of the algorithm with these settings."""
        return _class_of(config).name_of(config)

    def _open(self, game: Any, memory_limit: int | None) -> None:
        if not isinstance(game, AsymmetricGame):
            raise SolverError(f"this solver runs on an asymmetric game; got {type(game).__name__}")
        self.tree = game.own
        needed = sum(_class_of(self.config).memory_bytes(one, self.config) for one in game.seats)
        check_memory(f"{self.algorithm} on {self.name}", needed, memory_limit, "try coarser cards for the opponent")

    def _allocate(self) -> None:
        more = {} if self._scheme is None else {"scheme": self._scheme}
        solver: Any = _class_of(self.config)
        self.halves = tuple(solver(game, self.config, self.algorithm, **more) for game in self._pair.seats)
        del self._scheme  # the tables have it

    @classmethod
    def named(cls, game: Any, algorithm: str, memory_limit: int | None, settings: Mapping[str, Any]) -> Self:
        """A solver for one of ``presets``; the setting ``scheme`` may also be a function."""
        scheme, own = settings.get("scheme"), dict(settings)
        given = scheme if callable(scheme) else None
        if given is not None:
            own["scheme"] = "custom"
        return cls(game, preset(cls.presets, algorithm, own), algorithm, memory_limit, scheme=given)

    @classmethod
    def from_checkpoint(cls, game: Any, config: Mapping[str, Any], algorithm: str, memory_limit: int | None) -> Self:
        """A fresh solver with the settings of a checkpoint."""
        solver: Any = BucketSolver if "sampling" in config else BucketCfrSolver
        return cls(game, solver.config_class(**config), algorithm, memory_limit)

    @classmethod
    def open_game(cls, game: Any, memory_limit: int | None) -> Any:
        """The games of a checkpoint: its card files are opened again."""
        if isinstance(game, AsymmetricGame):
            return game
        own = super().open_game(game, memory_limit)
        return GameForms(own, opponent_cards=game.get("opponent_cards")).asymmetric()

    def blocks(
        self, kind: Literal["average", "last"] | None = None, player: int | None = None
    ) -> Iterator[tuple[int, int, NDArray[np.float64]]]:
        """First and last entry and the probabilities of each block; the agent's seat of each solver."""
        for seat in range(2) if player is None else (player,):
            for (first, last, _), (_, _, block) in zip(
                self.game.blocks(seat), self.halves[seat].blocks(kind, seat), strict=True
            ):
                yield first, last, block

    def details(self) -> dict[str, Any]:
        """The bucket game, and the opponent's cards."""
        return {**super().details(), "opponent_cards": self._pair.opponent}

    def identity(self) -> dict[str, Any]:
        """What a checkpoint records about its games."""
        digest = "".join(game.fingerprint[:32] for game in self._pair.seats)
        return {**super().identity(), "fingerprint": digest, "opponent_cards": self._pair.opponent}

    def limits(self) -> dict[str, tuple[int, int]]:
        """Those of both solvers."""
        return {f"{name}_{seat}": pair for seat, half in enumerate(self.halves) for name, pair in half.limits().items()}

    def check_tables(self) -> None:
        """Check those of both solvers."""
        for half in self.halves:
            half.check_tables()

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore both."""
        for half, own in zip(self.halves, state["seats"], strict=True):
            half.restore(own)


def _class_of(config: Settings) -> type[BucketSolver | BucketCfrSolver]:
    """The solver of one seat."""
    return BucketCfrSolver if isinstance(config, CfrConfig) else BucketSolver
