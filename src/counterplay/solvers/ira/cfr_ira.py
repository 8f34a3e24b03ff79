"""CFR+IRA: CFR+ on an abstraction that refines itself until the strategy is good in the original game.

Čermák 2018, section 5.2.3, algorithms 8 to 12.  It starts from a tiny abstraction, runs CFR+ on it, and at every update
samples ``k_h`` and sometimes ``k_b`` information sets that are still merged with others.  A sampled set is split off
its abstract set when it prefers other actions than most (heuristic update), or when its regret grows faster than CFR's
bound allows (bound update, which carries the guarantee: theorem 5.2.2).  Only the abstract tables, the map and the
sampled sets need memory, and the strategy is measured in the original game.

The printed pseudo-code gives far larger abstractions than the thesis reports.  The defaults here are the readings that
reproduce the reported sizes; ``literal=True`` follows the pseudo-code in all five: sampled regrets are floored at 0
before preferences are computed, the remainder of a split set keeps its tables, abstract sets are sampled rather than
members, unreached sampled sets count as not sampled, an iteration updates both players.

Departures: unreached subtrees are not skipped; sets with more than 63 actions are left to the bound update; more than
two players are allowed, without a guarantee.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from counterplay.kernels.history.cfr_ira import Reading, Scratch, Tables, iterate_cfr_ira, match_merged
from counterplay.kernels.history.changing_sets import GameArrays, forward_merged
from counterplay.kernels.numba_internals import hold
from counterplay.solvers.cfr import ROUNDING
from counterplay.solvers.ira.changing_abstraction import (
    Forget,
    RefiningSolver,
    check_pool,
    game_bytes,
    set_bytes,
    set_tables,
    utility_ranges,
)
from counterplay.solvers.settings import Bounds, Count, Seed, Settings
from counterplay.tree.history.game_tree import GameTree

LITERAL = {
    "clip_heuristic": False,
    "keep_remainder": False,
    "sample_by": "member",
    "skip_unvisited": False,
    "both_players": False,
}
"""What ``literal=True`` means."""


@dataclasses.dataclass(frozen=True)
class CfrIraConfig(Settings):
    """Settings of CFR+IRA.

    * ``k_b``, ``k_h``: information sets sampled for the bound update (at iterations 1, 2, 4, 8, ...) and for the
      heuristic update (at every update).  B10H90 in the thesis means 10 and 90
    * ``delay``: iterations left out of the average at the start
    * ``shifted``: iteration t has weight t - delay in the average, rather than t
    * ``seed``: of the sampling
    * ``forget``: the abstraction to start from: ``initial``, ``nothing``, ``map=FILE`` or what the game can forget
    * ``literal``: follow the thesis literally: sets the next five
    * ``clip_heuristic``: regrets of sampled sets are floored at 0 before preferred actions are computed
    * ``keep_remainder``: the remainder of a split set keeps its tables; otherwise it is reset too
    * ``sample_by``: sample abstract sets uniformly; or information sets
    * ``skip_unvisited``: unreached sampled sets (``visit_threshold``) count as not sampled
    * ``both_players``: an iteration updates all players in turn; otherwise one
    * ``last_first``: the last player is updated first
    * ``skip_single_action``: sets with one action, which never need to be split, are not sampled
    * ``heuristic_divisor``: an action is preferred if its regret is within 1/(divisor √t) of the largest
    * ``bound_divisor``: the limit of average regret is Δ_I √|A(I)| / (divisor √t); at least 1
    * ``visit_threshold``: reaches up to this count as 0
    """

    k_b: Count = 100
    k_h: Count = 900
    delay: Count = 100
    shifted: bool = True
    seed: Seed = 0
    forget: Forget = "initial"
    literal: bool = False
    clip_heuristic: bool = True
    keep_remainder: bool = True
    sample_by: Literal["set", "member"] = "set"
    skip_unvisited: bool = True
    both_players: bool = True
    last_first: bool = True
    skip_single_action: bool = True
    heuristic_divisor: Annotated[float, Bounds(above=0)] = 5.0
    bound_divisor: Annotated[float, Bounds(at_least=1)] = 100.0  # below 1 the limit exceeds what the theorem allows
    visit_threshold: Annotated[float, Bounds(at_least=0)] = 1e-6

    def __post_init__(self) -> None:
        if self.literal is True:
            for name, value in LITERAL.items():
                object.__setattr__(self, name, value)
        super().__post_init__()


class CfrIra(RefiningSolver):
    """CFR+IRA on a compiled game with perfect recall.

    * ``regret``, ``average`` (E,) float64: the tables, by abstract entry; only the entries of the current abstraction
      are in use
    """

    kind = "cfr-ira"
    config_class = CfrIraConfig
    presets: ClassVar = {"cfr+ira": CfrIraConfig()}

    def _allocate(self) -> None:
        super()._allocate()
        tree = self.tree
        entries, sequences = tree.num_entries, tree.sequences.num_sequences
        heuristic, bound, actions = self._sample_sizes(tree, self.config)
        self.regret = np.zeros(entries)
        self.average = np.zeros(entries)
        self._current = np.zeros(entries)
        self._clock = np.array([0, 1, 1, 0], np.int64)
        self._random = np.array([self.config.seed], np.uint64)
        self._bound_sample = np.zeros(bound, np.int32)
        self._bound_count = np.zeros(1, np.int64)
        self._bound_regret = np.zeros((bound, actions))
        self._limit = utility_ranges(tree) * np.sqrt(np.diff(tree.infoset_offset))
        self._scratch = (
            np.ones(sequences), np.zeros(sequences), np.zeros(entries), np.zeros(heuristic, np.int32),
            np.zeros(heuristic, np.uint64), np.zeros(heuristic, np.uint64), np.zeros(heuristic, np.int64),
            np.zeros((heuristic, actions)), np.zeros(tree.players, np.int64),
        )  # fmt: skip
        self._match()

    @staticmethod
    def _sample_sizes(tree: GameTree, config: CfrIraConfig) -> tuple[int, int, int]:
        """Most sets sampled for the heuristic and the bound update, and most actions of any set."""
        actions = int(np.diff(tree.infoset_offset).max(initial=0))
        return min(config.k_h, tree.num_infosets), min(config.k_b, tree.num_infosets), actions

    @classmethod
    def memory_bytes(cls, tree: GameTree, config: CfrIraConfig | str | None = None) -> int:
        """Bytes of all arrays that a solver will allocate."""
        heuristic, bound, actions = cls._sample_sizes(tree, cls.settings_of(config))
        tables = 8 * 4 * tree.num_entries + 16 * tree.sequences.num_sequences + 32 + 8 + 8
        samples = bound * (4 + 8 * actions) + heuristic * (4 + 3 * 8 + 8 * actions) + 8 * tree.players
        return tables + samples + 8 * tree.num_infosets + game_bytes(tree) + set_bytes(tree)

    @property
    def least_actions(self) -> int:  # type: ignore[override]
        """The fewest actions of sets that may be split."""
        return 2 if self.config.skip_single_action else 1

    def step(self, iterations: int = 1) -> None:
        """Advance by some iterations."""
        form, game, rules, sets, tables, scratch = self._arrays
        iterate_cfr_ira(form, game, rules, iterations, sets, tables, scratch)

    @functools.cached_property
    def _arrays(self) -> tuple[Any, ...]:
        """The game, the settings, the sets, the tables and the scratch, as kernels take them."""
        game, scratch = GameArrays(*self._game), Scratch(*self._scratch)
        return tuple(map(hold, (self.form, game, self._reading, self.sets, self._tables, scratch)))

    @property
    def _reading(self) -> Reading:
        config = self.config
        heuristic, bound, _ = self._sample_sizes(self.tree, config)
        return Reading(
            k_h=heuristic, k_b=bound, delay=config.delay, shifted=config.shifted, all_players=config.both_players,
            last_first=config.last_first, clip=config.clip_heuristic, keep_remainder=config.keep_remainder,
            by_set=config.sample_by == "set", need_visit=config.skip_unvisited, least_actions=self.least_actions,
            heuristic_divisor=float(config.heuristic_divisor), bound_divisor=float(config.bound_divisor),
            visit=float(config.visit_threshold), tie=self._tie, limit=self._limit,
        )  # fmt: skip

    @property
    def _tables(self) -> Tables:
        return Tables(
            self.regret, self.average, self._current, self._clock, self._random, self._bound_sample,
            self._bound_count, self._bound_regret,
        )  # fmt: skip

    @property
    def _tie(self) -> float:
        return ROUNDING * float(np.abs(self.tree.utility).max(initial=0.0))

    def strategy(self) -> NDArray[np.float64]:
        """The average in the original game, uniform where nothing was averaged; at first the current strategy."""
        table = self._current
        if self.iterations > self.config.delay:
            table = self._normalised()
        return np.asarray(table[self.sets.entry_map])

    def _normalised(self) -> NDArray[np.float64]:
        """The average by abstract entry."""
        sets, count = self.sets, int(self._sets[-1][0])
        actions = sets.actions[:count].astype(np.int64)
        starts = np.cumsum(actions) - actions  # sets have their entries in order of creation
        used = self.average[: int(actions.sum())]
        totals = np.repeat(np.add.reduceat(used, starts), actions)
        uniform = 1.0 / np.repeat(actions, actions)
        return np.where(totals > 0.0, used / np.where(totals > 0.0, totals, 1.0), uniform)

    def tables(self) -> dict[str, NDArray[Any]]:
        """Regrets, average, sets, samples and the state of the sampling."""
        return {
            "regret": self.regret,
            "average": self.average,
            "clock": self._clock,
            "random": self._random.view(np.int64),
            "bound_sample": self._bound_sample,
            "bound_count": self._bound_count,
            "bound_regret": self._bound_regret,
            **set_tables(self.sets),
        }

    def limits(self) -> dict[str, tuple[int, int]]:
        """As ``Solver.limits``."""
        sample = {"bound_sample": (0, max(self.tree.num_infosets - 1, 0)), "bound_count": (0, len(self._bound_sample))}
        return {**super().limits(), **sample}

    def check_tables(self) -> None:
        """As ``Solver.check_tables``."""
        super().check_tables()
        check_pool(self.tree, self.sets, self.least_actions)

    def restore(self, state: Mapping[str, Any]) -> None:
        """Derive the current strategy from the tables."""
        self._match()

    def _match(self) -> None:
        """Derive the current strategy and its reach from the tables."""
        form, sets = hold(self.form), hold(self.sets)
        for player in range(self.tree.players):
            match_merged(sets, player, self._tie, self.regret, self._current)
            forward_merged(form, player, sets.entry_map, self._current, self._scratch[0])
