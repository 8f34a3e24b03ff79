"""CFR over the public tree: CFR, CFR+, linear, discounted and predictive CFR with vectors over hands.

Johanson 2016, sections 3.3 and 9.3.  The family and its settings are those of ``solvers.cfr``; an iteration walks the
public tree once for each player instead of the histories, with the same result: every hand is updated against all hands
of the opponent at once, terminal nodes cost time linear in the hands, and isomorphic deals are merged.

Tables hold float64, float32, or 16-bit integers with a scale for each public state (the thesis also stores scaled
integers, section 9.3).  With tables of less than float64 the vectors of walks are float32 as well, which measures
exploitability to about a millionth of the largest pot; ``evaluate`` measures a saved profile in float64.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import SolverError
from counterplay.evaluation.measurement import Measurement
from counterplay.evaluation.public_walker import PublicWalker
from counterplay.evaluation.public_walks import Opponent, scratch_bytes
from counterplay.kernels.numba_internals import hold
from counterplay.kernels.public.piece_steps import UPDATE, Tables
from counterplay.kernels.public.public_cfr import iterate_public, iteration_rule
from counterplay.runtime.threads import ThreadPool
from counterplay.solvers.cfr import CfrConfig, FullWidthSolver, ProfileKind, check_storage
from counterplay.solvers.public_tree_tables import PublicTreeTables, rounding, table_arrays, table_type, vector_type
from counterplay.tree.public.public_tree import PublicTree

FEW = 100_000
"""Entries up to which several iterations run inside one kernel call, whose overhead would dominate."""


class PublicSolver(PublicTreeTables, FullWidthSolver):
    """Full-width CFR on a public tree, two players."""

    kind = "public"
    memory_advice = "try storage int16 or an abstraction"
    locked: NDArray[np.bool_]

    def _allocate(self) -> None:
        tree = self.tree
        kind = table_type(sum(tree.num_entries), self.config.storage)
        check_storage(tree.name, tree.scale, kind.name)
        self.quantised = kind == np.int16
        self.player_tables = (self._empty(0, kind), self._empty(1, kind))
        self.locked = np.zeros(tree.num_nodes, np.bool_)
        self.walker = PublicWalker(tree, self.config.threads, kind=vector_type(kind))
        self._tie = rounding(tree, self.walker.kind)
        self._caller = ThreadPool()
        self._clock = np.zeros(1, np.int64)
        copies = 0 if self.config.alternating else tree.num_entries[0]
        self._frozen = np.zeros(copies, kind)
        self._frozen_scale = np.ones(tree.num_blocks[0] if copies else 0, np.float32)
        self._frozen_prediction = np.zeros(copies if self.config.predictive else 0, vector_type(kind))
        self._out = np.zeros(max(tree.hands[0].most, tree.hands[1].most))

    def _empty(self, player: int, kind: np.dtype[Any]) -> Tables:
        entries, blocks = self.tree.num_entries[player], self.tree.num_blocks[player]
        averaged = self.config.keeps_average
        tables = Tables(
            np.zeros(entries, kind), np.ones(blocks, np.float32), np.zeros(entries if averaged else 0, kind),
            np.ones(blocks if averaged else 0, np.float32),
            np.zeros(entries if self.config.predictive else 0, vector_type(kind)),
        )  # fmt: skip
        return hold(tables)

    @classmethod
    def memory_bytes(cls, tree: PublicTree, config: CfrConfig | str | None = None) -> int:
        """Bytes of all tables that a solver will allocate, and of the vectors of its walks."""
        config = cls.settings_of(config)
        kind = table_type(sum(tree.num_entries), config.storage)
        entries = sum(tree.num_entries)
        size = entries * (1 + config.keeps_average) * kind.itemsize
        predicted = config.predictive * vector_type(kind).itemsize
        size += entries * predicted
        size += 0 if config.alternating else tree.num_entries[0] * (kind.itemsize + predicted)
        return size + 8 * sum(tree.num_blocks) + scratch_bytes(tree, config.threads, vector_type(kind))

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
            self._frozen_scale, self._frozen_prediction, self.locked, config.alternating, config.reverse,
            config.regret_floor, *self._exponents, config.delay, config.shifted, self._tie, self.quantised,
            tree.hands[0].root_reach, tree.hands[1].root_reach, int(iterations), self._clock, walker.scratch, self._out,
        )  # fmt: skip

    def _step_by_walks(self) -> None:
        config = self.config
        first, second = self.player_tables
        time = self.iterations + 1
        rule = iteration_rule(
            time, config.regret_floor, *self._exponents, config.delay, config.shifted, self._tie, self.quantised,
            config.predictive,
        )  # fmt: skip
        seen = Opponent(first.regret, first.regret_scale, first.prediction)
        if not config.alternating:
            self._frozen[:], self._frozen_scale[:] = first.regret, first.regret_scale
            self._frozen_prediction[:] = first.prediction
            seen = Opponent(self._frozen, self._frozen_scale, self._frozen_prediction)
        other = Opponent(second.regret, second.regret_scale, second.prediction)
        for player in range(2)[config.turns]:
            tables, opponent = (first, other) if player == 0 else (second, seen)
            self.walker.walk(player, UPDATE, tables, opponent, locked=self.locked, rule=rule)
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
        kind = self._profile_kind(kind)
        if kind == "average" and self.iterations > self.config.delay:
            return [(tables.average, tables.average_scale) for tables in self.player_tables]
        return [(tables.regret, tables.regret_scale) for tables in self.player_tables]

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
        return held | table_arrays(self.player_tables)
