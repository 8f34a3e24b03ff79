"""Shared by the solvers in card abstractions: tables with a row for each betting decision and bucket.

A best response needs to know how often each pair of buckets occurs: with ``pairs`` (``evaluation.bucket_pairs``, two
players with perfect recall) a run is measured inside the bucket game, without it nothing is measured.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import SolverError, StrategyError
from counterplay.evaluation.bucket_pairs import BucketPairs
from counterplay.evaluation.measurement import Measurement
from counterplay.evaluation.pair_walks import PairWalks
from counterplay.forms import open_game
from counterplay.kernels.regret import match_regrets
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.solvers.restriction import Restriction
from counterplay.solvers.restriction_values import measure_on_pairs
from counterplay.solvers.result import RunFacts
from counterplay.solvers.solver import Solver
from counterplay.strategy.bucket_strategy import BucketStrategy, Storage, packed
from counterplay.strategy.tabular import normalise
from counterplay.strategy.trivial import CardFree


class BucketTables(Solver):
    """A solver whose tables ``regret`` and ``average`` are those of a bucket game.

    Parameters
    ----------
    *args, **kwargs
        Those of other solvers; the game is a ``BucketGame``.
    pairs : BucketPairs, optional
        Bucket pair counts, to measure exploitability inside the bucket game.
    """

    form_name = "buckets"
    check_ratio = 1.5
    takes_experts: ClassVar[bool] = False
    """Whether buckets may depend on the betting, and a strategy be fixed outside a part of it."""

    tree: BucketGame
    regret: NDArray[Any]
    average: NDArray[Any]

    def __init__(self, *args: Any, pairs: BucketPairs | None = None, **kwargs: Any) -> None:
        self.pairs = pairs
        self._walked: tuple[BucketPairs, PairWalks] | None = None
        super().__init__(*args, **kwargs)

    def _opened(self, game: Any, memory_limit: int | None) -> BucketGame:
        if not isinstance(game, BucketGame):
            raise SolverError(f"this solver runs on bucket games; got {type(game).__name__}")
        if (game.zones or game.fixed is not None) and not self.takes_experts:
            raise SolverError(
                f"{self.algorithm} takes one card abstraction for all betting; with experts use external-sampling, "
                "chance-sampling or pure-cfr"
            )
        return game

    @property
    def game(self) -> BucketGame:
        """What is solved."""
        return self.tree

    @property
    def histories(self) -> int | None:
        """Unknown: the deals are not enumerated."""
        return None

    @property
    def measures(self) -> bool:  # type: ignore[override]
        """Whether exploitability in the bucket game can be measured."""
        return self.pairs is not None

    def measure(self) -> Measurement:
        """Measure the profile inside the bucket game, restricted or not; every number is NaN without ``pairs``."""
        walks, held = self.pair_walks, self._restriction
        if walks is None:
            return Measurement.unknown(self.game.players)
        return walks.measure(self.strategy()) if held is None else measure_on_pairs(walks, held, self.strategy())

    @property
    def _restriction(self) -> Restriction | None:
        """Who is restricted, in solvers that take a restriction."""
        return getattr(self, "restriction", None)

    @property
    def pair_walks(self) -> PairWalks | None:
        """Walks over ``pairs``, made when they are first needed."""
        if self.pairs is not None and (self._walked is None or self._walked[0] is not self.pairs):
            self._walked = self.pairs, self.pairs.walks(self.game)
        return None if self.pairs is None or self._walked is None else self._walked[1]

    def details(self) -> dict[str, Any]:
        """The bucket game."""
        found = {"betting_nodes": len(self.game.tree), "entries": self.game.num_entries}
        return found if self.pairs is None else {**found, "boards": self.pairs.boards, "exact": self.pairs.exact}

    def facts(self) -> RunFacts:
        """What reports say about the game and the tables."""
        return RunFacts(
            big_blind=self.game.big_blind, entries=self.game.num_entries, tree_bytes=self.game.tree_bytes,
            table_bytes=self.table_bytes, seed=getattr(self.config, "seed", 0), threads=self.config.threads,
        )  # fmt: skip

    def blocks(
        self, kind: Literal["average", "last"] | None = None, player: int | None = None
    ) -> Iterator[tuple[int, int, NDArray[np.float64]]]:
        """First and last entry and the probabilities of each block, of all players or of one."""
        kind, held = self._profile_kind(kind), self._restriction
        none, matched = np.zeros(0), self._matched()
        for first, last, offset in self.game.blocks(player):
            if kind == "average" and self.iterations > getattr(self.config, "delay", -1):
                table = self.average[first:last]
                found = normalise(table, offset)
                if held is not None:  # what was never reached is played as a restricted player may
                    met = np.repeat(np.add.reduceat(table, offset[:-1]) > 0.0, np.diff(offset))
                    found = np.where(met, found, held.played(found, slice(first, last)))
                yield first, last, found
            else:
                found = np.zeros(last - first)
                match_regrets(offset, 0, len(offset) - 1, matched[first:last], none, False, 0.0, found)
                yield first, last, found if held is None else held.played(found, slice(first, last))

    def _matched(self) -> NDArray[Any]:
        """What regret matching turns into the current strategy."""
        return self.regret

    def strategy(self, kind: Literal["average", "last"] | None = None) -> NDArray[np.float64]:
        """The probabilities of all entries, laid out as the tables are."""
        found = np.zeros(self.game.num_entries)
        for first, last, block in self.blocks(kind):
            found[first:last] = block
        return found

    def profile(
        self, kind: Literal["average", "last"] | None = None, storage: Storage = "uint16", unmet: CardFree | None = None
    ) -> BucketStrategy:
        """A profile with its provenance; ``kind`` as for ``strategy``, ``storage`` as for ``BucketStrategy.save``.

        ``unmet`` is what plays where the run has never been; by default all actions have the same probability there.
        """
        weights = np.zeros(self.game.num_entries, storage)
        for first, last, block in self.blocks(kind):
            weights[first:last] = packed(block, storage)
        if unmet is not None:
            table = self.average if self._profile_kind(kind) == "average" else self.regret
            plain = itertools.chain.from_iterable(
                itertools.repeat(packed(row, storage), kinds if len(row) else 0)
                for kinds, row in unmet.bucket_rows(self.game)
            )
            for (first, last, offset), row in zip(self.game.blocks(), plain, strict=True):
                met = np.logical_or.reduceat(table[first:last] != 0, offset[:-1])
                weights[first:last] = np.where(np.repeat(met, np.diff(offset)), weights[first:last], row)
        return BucketStrategy.of_game(self.game, weights, self.provenance(kind))

    def identity(self) -> dict[str, Any]:
        """What a checkpoint records about its game."""
        return {
            "game": self.game.name,
            "digest": self.game.fingerprint,
            "fingerprint": self.game.fingerprint,
            **self.game.origin(),
        }

    @classmethod
    def open_game(cls, game: Any, memory_limit: int | None) -> BucketGame:
        """The bucket game of a checkpoint: its card files are opened again."""
        if isinstance(game, BucketGame):
            return game
        if not isinstance(game, Mapping):
            raise StrategyError(f"a checkpoint of a bucket game is resumed with a bucket game; got {game!r}")
        try:
            name, cards, bets = game["game"], game["cards"], game["bets"]
        except KeyError as error:
            raise StrategyError(f"the checkpoint is damaged: its header lacks {error}") from None
        if not cards:
            raise StrategyError("the card abstraction of the checkpoint is in no file; give the bucket game itself")
        return open_game(name, "buckets", cards=cards, bets=bets)
