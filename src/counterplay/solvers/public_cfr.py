"""CFR over the public tree: CFR, CFR+, linear, discounted and predictive CFR with vectors over hands.

Johanson 2016, sections 3.3 and 9.3.  The family and its settings are those of ``solvers.cfr``; an iteration walks the
public tree once for each player instead of the histories, with the same result: every hand is updated against all hands
of the opponent at once, terminal nodes cost time linear in the hands, and isomorphic deals are merged.

Tables hold float64, float32, or 16-bit integers with a scale for each public state (the thesis also stores scaled
integers, section 9.3).  With tables of less than float64 the vectors of walks are float32 as well, which measures
exploitability to about a millionth of the largest pot; ``evaluate`` measures a saved profile in float64.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import SolverError
from counterplay.evaluation.measurement import Measurement
from counterplay.evaluation.methods import locked_nodes
from counterplay.evaluation.public_walker import PublicWalker
from counterplay.evaluation.public_walks import Opponent, scratch_bytes
from counterplay.forms import open_game
from counterplay.game.game import Game
from counterplay.kernels.public.piece_steps import UPDATE, Tables
from counterplay.kernels.public.public_cfr import iterate_public, iteration_rule
from counterplay.poker.postflop.subgame import SUBGAME, parse_subgame
from counterplay.runtime.memory import check_memory
from counterplay.runtime.threads import ThreadPool
from counterplay.solvers.cfr import ROUNDING, CfrConfig, ProfileKind, check_storage, config_with, preset_name
from counterplay.solvers.result import RunFacts
from counterplay.solvers.solver import Solver
from counterplay.strategy.public_strategy import PublicStrategy
from counterplay.strategy.strategy import Provenance
from counterplay.tree.public.public_tree import PublicTree

__all__ = ["PublicSolver", "public_facts", "table_type"]

SINGLE_ROUNDING = 1e-7
"""``ROUNDING`` of walks whose vectors are float32; with it, runs agree with those in float64 as long as tables do."""

FEW = 100_000
"""Entries up to which several iterations run inside one kernel call, whose overhead would dominate."""

SMALL = 4_000_000
"""Entries up to which tables are float64 by default."""


class PublicSolver(Solver):
    """Full-width CFR on a public tree, two players.

    Parameters
    ----------
    game : PublicTree, Game or str
        What to solve.
    config : CfrConfig or str
        A configuration or the name of a preset.
    algorithm : str, optional
        The name of the algorithm in results.
    memory_limit : int, optional
        Bytes that the tables may take; by default what the machine has free.
    """

    kind = "public"
    form_name = "public"
    config_class = CfrConfig
    check_ratio = 1.25
    tree: PublicTree

    def __init__(
        self,
        game: PublicTree | Game | str,
        config: CfrConfig | str = "cfr+",
        algorithm: str | None = None,
        memory_limit: int | None = None,
    ) -> None:
        super().__init__()
        self.config = config_with(config, {}) if isinstance(config, str) else config
        self.config.check_form(self.form_name)
        self.algorithm = algorithm or preset_name(config)
        self.tree = self.compiled(game, memory_limit)
        tree = self.tree
        needed = self.memory_bytes(tree, self.config)
        check_memory(f"{self.algorithm} on {tree.name}", needed, memory_limit, "try storage int16 or an abstraction")
        kind = table_type(tree, self.config.storage)
        check_storage(tree.name, tree.scale, kind.name)
        self.quantised = kind == np.int16
        self.player_tables = (self._empty(0, kind), self._empty(1, kind))
        self.locked = np.zeros(tree.num_nodes, np.bool_)
        self.walker = PublicWalker(tree, self.config.threads, kind=_float_type(kind))
        self._caller = ThreadPool()
        self._clock = np.zeros(1, np.int64)
        copies = 0 if self.config.alternating else tree.num_entries[0]
        self._frozen = np.zeros(copies, kind)
        self._frozen_scale = np.ones(tree.num_blocks[0] if copies else 0, np.float32)
        self._frozen_prediction = np.zeros(copies if self.config.predictive else 0, _float_type(kind))
        self._out = np.zeros(max(tree.hands[0].most, tree.hands[1].most))

    def _empty(self, player: int, kind: np.dtype[Any]) -> Tables:
        entries, blocks = self.tree.num_entries[player], self.tree.num_blocks[player]
        averaged = self.config.keeps_average
        return Tables(
            np.zeros(entries, kind), np.ones(blocks, np.float32), np.zeros(entries if averaged else 0, kind),
            np.ones(blocks if averaged else 0, np.float32),
            np.zeros(entries if self.config.predictive else 0, _float_type(kind)), np.zeros(0),
        )  # fmt: skip

    @classmethod
    def compiled(cls, game: Any, memory_limit: int | None) -> PublicTree:
        """The public tree of a game."""
        return open_game(game, "public", memory_limit=memory_limit)

    @staticmethod
    def memory_bytes(tree: PublicTree, config: CfrConfig | str) -> int:
        """Bytes of all tables that a solver will allocate, and of the vectors of its walks."""
        config = config_with(config, {}) if isinstance(config, str) else config
        kind = table_type(tree, config.storage)
        entries = sum(tree.num_entries)
        size = entries * (1 + config.keeps_average) * kind.itemsize
        predicted = config.predictive * _float_type(kind).itemsize
        size += entries * predicted
        size += 0 if config.alternating else tree.num_entries[0] * (kind.itemsize + predicted)
        return size + 8 * sum(tree.num_blocks) + scratch_bytes(tree, config.threads, _float_type(kind))

    @property
    def iterations(self) -> int:
        """Iterations done so far."""
        return int(self._clock[0])

    @property
    def nodes(self) -> int:
        """Public states touched so far: both walks of an iteration visit all of them."""
        return 2 * self.iterations * self.tree.num_public_states

    def step(self, iterations: int = 1) -> None:
        """Advance by some iterations."""
        if self.config.threads > 1 or sum(self.tree.num_entries) > FEW or not self.tree.zero_sum:
            for _ in range(iterations):
                self._caller.call(self._step_by_walks)
            return
        config, walker, tree = self.config, self.walker, self.tree
        iterate_public(
            walker.nodes, walker.hands[0], walker.hands[1], tree.pair_hands, *self.player_tables, self._frozen,
            self._frozen_scale, self._frozen_prediction, self.locked, config.alternating, config.regret_floor,
            *self._exponents(), config.delay, config.shifted, self._tie, self.quantised, tree.hands[0].root_reach,
            tree.hands[1].root_reach, int(iterations), self._clock, walker.scratch, self._out,
        )  # fmt: skip

    @property
    def _tie(self) -> float:
        return (ROUNDING if self.walker.kind == np.float64 else SINGLE_ROUNDING) * self.tree.scale

    def _exponents(self) -> tuple[float, float, float]:
        config = self.config
        alpha = np.nan if config.alpha is None else float(config.alpha)
        return alpha, np.nan if config.beta is None else float(config.beta), float(config.gamma)

    def _step_by_walks(self) -> None:
        config = self.config
        first, second = self.player_tables
        time = self.iterations + 1
        rule = iteration_rule(
            time, config.regret_floor, *self._exponents(), config.delay, config.shifted, self._tie, self.quantised,
            config.predictive,
        )  # fmt: skip
        seen = Opponent(first.regret, first.regret_scale, first.prediction)
        if not config.alternating:
            self._frozen[:], self._frozen_scale[:] = first.regret, first.regret_scale
            self._frozen_prediction[:] = first.prediction
            seen = Opponent(self._frozen, self._frozen_scale, self._frozen_prediction)
        other = Opponent(second.regret, second.regret_scale, second.prediction)
        self.walker.walk(0, UPDATE, first, other, locked=self.locked, rule=rule)
        self.walker.walk(1, UPDATE, second, seen, locked=self.locked, rule=rule)
        self._clock[0] = time

    def lock(self, node: int, deal: int, probabilities: NDArray[np.float64]) -> None:
        """Fix the strategy at a public state; the node is locked at all its deals (uniform where none was given).

        Parameters
        ----------
        node, deal : int
            The public state.
        probabilities : array, hands x actions
            What is played there.
        """
        player = int(self.tree.kind[node])
        if player > 1:
            raise SolverError(f"only decisions can be locked; node {node} is not one")
        tables = self.player_tables[player]
        rows = np.asarray(probabilities, np.float64).T
        if rows.shape != (self.tree.num_children[node], self.tree.hands[player].count(deal)):
            raise SolverError(f"a lock at this node takes hands x actions; got {rows.T.shape}")
        if not np.all(rows >= 0):
            raise SolverError(f"probabilities of a lock are at least 0; got {rows.T.tolist()}")
        here, held = self.tree.entries(node, deal), rows.ravel()
        if self.quantised:
            held = np.rint(held * 32766)
            tables.regret_scale[self.tree.block[node] + deal] = 1 / 32766
        tables.regret[here] = held
        if len(tables.average):  # the kernels do not change either
            tables.average[here] = held
        self.locked[node] = True

    def strategy(self, kind: ProfileKind | None = None) -> tuple[NDArray[Any], NDArray[Any]]:
        """Weights of the profile that the solver returns, one table for each player; see ``PublicStrategy``."""
        (first, _), (second, _) = self._weights(kind)
        return first, second

    def _weights(self, kind: ProfileKind | None) -> list[tuple[NDArray[Any], NDArray[np.float32]]]:
        kind = kind or self.config.profile
        if kind == "average" and not self.config.keeps_average:
            raise SolverError(f"this solver keeps no average (its profile is {self.config.profile!r})")
        if kind == "average" and self.iterations > self.config.delay:
            return [(tables.average, tables.average_scale) for tables in self.player_tables]
        return [(tables.regret, tables.regret_scale) for tables in self.player_tables]

    def profile(self, kind: ProfileKind | None = None) -> PublicStrategy:
        """A profile with its provenance."""
        settings = {**dataclasses.asdict(self.config), "profile": kind or self.config.profile}
        origin = Provenance(self.algorithm, settings, None, self.iterations, self.seconds)
        first, second = self.strategy(kind)
        return PublicStrategy.of_tree(self.tree, (first, second), origin, self.locked.copy())

    def measure(self, kind: ProfileKind | None = None) -> Measurement:
        """Measure a profile exactly."""
        (first, first_scale), (second, second_scale) = self._weights(kind)
        return self.walker.measure((first, second), (first_scale, second_scale), self.locked)

    def check(self) -> Measurement:
        """The measurement that a run needs: best responses alone."""
        (first, first_scale), (second, second_scale) = self._weights(None)
        return self.walker.measure((first, second), (first_scale, second_scale), self.locked, valued=False)

    def tables(self) -> dict[str, NDArray[Any]]:
        """Regrets, averages, predictions and their scales, locks, and the number of iterations."""
        held: dict[str, NDArray[Any]] = {"clock": self._clock, "locked": self.locked}
        for player, tables in enumerate(self.player_tables):
            for name in ("regret", "regret_scale", "average", "average_scale", "prediction"):
                held[f"{name}_{player}"] = getattr(tables, name)
        return held

    def restore(self, state: Mapping[str, Any]) -> None:
        """Nothing is derived from the tables."""

    def identity(self) -> dict[str, str]:
        """What a checkpoint records about its game."""
        return {"game": self.tree.name, "fingerprint": self.tree.fingerprint}

    @classmethod
    def named(cls, game: Any, algorithm: str, memory_limit: int | None, settings: Mapping[str, Any]) -> Self:
        """A solver for one of ``CFR_PRESETS``, with some settings changed."""
        return cls(game, config_with(algorithm, settings), algorithm, memory_limit)

    @classmethod
    def from_checkpoint(cls, game: Any, config: Mapping[str, Any], algorithm: str, memory_limit: int | None) -> Self:
        """A fresh solver with the settings of a checkpoint."""
        return cls(game, CfrConfig(**config), algorithm, memory_limit)

    @property
    def table_bytes(self) -> int:
        """Bytes of all tables and vectors."""
        return self.memory_bytes(self.tree, self.config)

    def facts(self) -> RunFacts:
        """What reports say about the game and the tables."""
        return public_facts(self, self.locked)

    @property
    def histories(self) -> int | None:
        """Unknown: the public tree does not hold them."""
        return None


def public_facts(solver: Solver, locked: NDArray[np.bool_] | None = None) -> RunFacts:
    """What reports say about a run on a public tree."""
    tree: PublicTree = solver.tree
    spot = parse_subgame(tree.name) if tree.name.startswith(SUBGAME) else None
    return RunFacts(
        title="" if spot is None else spot.title,
        big_blind=tree.big_blind,
        pot=None if spot is None else spot.pot,
        zero_sum=tree.zero_sum,
        recall=("perfect", "perfect"),
        public_states=tree.num_public_states,
        entries=sum(tree.num_entries),
        locked=() if locked is None else locked_nodes(tree, locked),
        tree_bytes=tree.nbytes,
        table_bytes=solver.table_bytes,
        seed=getattr(solver.config, "seed", 0),
        threads=solver.config.threads,
    )


def table_type(tree: PublicTree, storage: str) -> np.dtype[Any]:
    """The type of the tables; auto is float64 for small games and float32 for large ones."""
    if storage == "auto":
        return np.dtype(np.float64 if sum(tree.num_entries) <= SMALL else np.float32)
    return np.dtype(storage)


def _float_type(kind: np.dtype[Any]) -> np.dtype[Any]:
    """The type of tables that must hold fractions."""
    return np.dtype(np.float32) if kind == np.int16 else kind
