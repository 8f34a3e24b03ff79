"""CFR over the public tree with tables on disk: the trunk in memory, the subgames below it compressed, block by block.

Johanson 2016, sections 9.3 and 9.4.  An iteration walks the subgames once for each player: reaches are passed down the
trunk, each block is loaded, walked and stored, and values are passed up the trunk.  All numbers are computed as by
``solvers.public_cfr`` in one thread, in the same order, so the tables have the same bits.

The thesis cuts the game after two rounds; here the trunk is what comes before the first deal.  It stores integers with
one scale for each round; here ``storage`` int16 has a scale for each public state.

What is in memory is replaced as a whole at the end of an iteration, and files are never changed, so an iteration that
is interrupted leaves no trace.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import MemoryLimitError, OtherGameError, SolverError, StrategyError
from counterplay.evaluation.measurement import Measurement
from counterplay.evaluation.public_walker import PublicWalker
from counterplay.evaluation.public_walks import FIXED, Opponent, Start, plain_tables, scratch_bytes
from counterplay.kernels.numba_internals import hold
from counterplay.kernels.public.piece_steps import UPDATE, Rule, Tables
from counterplay.kernels.public.public_cfr import iteration_rule
from counterplay.kernels.public.subgame_walks import add_subgames, reach_links
from counterplay.runtime.array_checks import COUNTS
from counterplay.runtime.memory import available_memory, check_memory, format_bytes, used_memory
from counterplay.solvers.cfr import CfrConfig, FullWidthSolver, ProfileKind, check_storage
from counterplay.solvers.public_tree_tables import PublicTreeTables, rounding, table_arrays, table_type, vector_type
from counterplay.solvers.result import DiskUse, RunFacts
from counterplay.solvers.streamed.block_plan import BLOCK_ENTRIES, BlockPlan
from counterplay.solvers.streamed.block_store import AVERAGE, KINDS, REGRET, BlockFile, Generations, StoreCounts
from counterplay.solvers.streamed.block_tables import Pass, TableTypes
from counterplay.solvers.streamed.block_worker import BlockWorker
from counterplay.solvers.streamed.run_folder import RunFolder, run_folder
from counterplay.solvers.streamed.workers import BlockWorkers, chosen_workers
from counterplay.strategy.public_strategy import PublicStrategy
from counterplay.tree.public.public_tree import PublicTree

Vector = NDArray[np.float64]
MakeWorkers = Callable[[PublicTree, BlockPlan, TableTypes, Path, int], BlockWorkers]


class _State(NamedTuple):
    """A complete state: iterations, the tables of the trunk by player, and which generation each block has."""

    clock: NDArray[np.int64]
    trunk: tuple[Tables, Tables]
    generations: Generations

    def copy(self) -> _State:
        """Another one that can be changed."""
        first, second = (hold(Tables(*(None if one is None else one.copy() for one in own))) for own in self.trunk)
        return _State(self.clock.copy(), (first, second), self.generations.copy())


class StreamedSolver(PublicTreeTables, FullWidthSolver):
    """Full-width CFR on a public tree whose tables do not fit into memory, two players.

    ``attach`` names the folder of the tables, before the first step.  Settings are those of ``PublicSolver``;
    ``threads`` are blocks that are walked at once, and results do not depend on them.
    """

    kind = "streamed"
    memory_advice = "use a smaller block or fewer threads"
    workers: BlockWorkers | None = None
    note = ""
    """What must be said about the folder of a resumed run; empty if it was as it should be."""

    block_entries: ClassVar[int] = BLOCK_ENTRIES
    """How large blocks are, see ``BlockPlan``."""

    def _open(self, game: Any, memory_limit: int | None) -> None:
        self.tree, self.memory_limit = self._opened(game, memory_limit), memory_limit
        self._divide(self.block_entries)

    def _divide(self, block_entries: int) -> None:
        """Plan the blocks, check that they will fit, and make the first state."""
        tree, config = self.tree, self.config
        self.plan, self.types = BlockPlan(tree, block_entries), table_types(sum(tree.num_entries), config)
        needed = _bytes(self.plan, self.types, config.threads) + used_memory() * (self.memory_limit is not None)
        least = math.ceil(needed / 2**20 * 1.02)
        what, advice = f"{self.algorithm} on {tree.name} with tables on disk", f"the least is --memory-limit {least}MiB"
        check_memory(what, needed, self.memory_limit, advice)
        check_storage(tree.name, tree.scale, self.types.kind.name)
        first, second = self._empty(0), self._empty(1)
        self._state = _State(
            np.zeros(1, np.int64), (first, second), np.zeros((self.plan.num_blocks, 2, len(KINDS)), np.int64)
        )
        self._saved: list[Generations] = []  # those of the two checkpoints
        self._saved_at = -1

    def _allocate(self) -> None:
        self.locked = None
        self.counts = StoreCounts()
        self.folder: RunFolder | None = None
        self.walker = PublicWalker(self.tree, kind=self.types.vectors)
        self.walker.load(self.tree, self.plan.trunk.base, block=self.plan.trunk.block)

    def _empty(self, player: int) -> Tables:
        entries, states, types = self.plan.trunk.entries[player], self.plan.trunk.blocks[player], self.types
        averaged, predicted = types.averaged, entries if types.predictive else 0
        return hold(Tables(
            np.zeros(entries, types.kind), np.ones(states, np.float32),
            np.zeros(entries if averaged else 0, types.kind), np.ones(states if averaged else 0, np.float32),
            np.zeros(predicted, types.vectors),
        ))  # fmt: skip

    @classmethod
    def memory_bytes(cls, tree: PublicTree, config: CfrConfig | str | None = None) -> int:
        """Bytes of what is in memory: the tables of the trunk, those of some blocks, and the vectors of walks."""
        settings = cls.settings_of(config)
        return _bytes(
            BlockPlan(tree, cls.block_entries), table_types(sum(tree.num_entries), settings), settings.threads
        )

    @property
    def table_bytes(self) -> int:
        """Bytes of what the solver has allocated."""
        return _bytes(self.plan, self.types, self.config.threads)

    @property
    def _clock(self) -> NDArray[np.int64]:  # type: ignore[override]
        return self._state.clock

    @property
    def nodes(self) -> int:
        """As ``PublicSolver.nodes``."""
        return 2 * self.iterations * self.tree.num_public_states

    # ---------------------------------------------------------------------------------------------- the folder

    def attach(
        self, folder: str | os.PathLike[str] | RunFolder, make: MakeWorkers = chosen_workers, fresh: bool = True
    ) -> None:
        """Keep the tables in a folder; ``fresh``: there must be no run in it yet.

        Parameters
        ----------
        folder : path
            Of this run alone.
        make : callable
            Makes the workers, as ``LocalWorkers`` does; by default on the cluster that was chosen, if there is one.
        """
        self.folder = folder if isinstance(folder, RunFolder) else RunFolder(folder, fresh)
        self.workers = make(self.tree, self.plan, self.types, self.folder.path, self.config.threads)
        self.workers.retire([self._state.generations, *self.folder.named(self._state.generations.shape)])

    def close(self) -> None:
        """Let the folder go."""
        if self.workers is not None:
            self.workers.close()
        if self.folder is not None:
            self.folder.close()
        self.workers = self.folder = None

    def _attached(self) -> tuple[BlockWorkers, RunFolder]:
        if self.workers is None or self.folder is None:
            raise SolverError("the tables of this run are on disk; name their folder: solver.attach(folder)")
        return self.workers, self.folder

    # ---------------------------------------------------------------------------------------------- iterations

    def step(self, iterations: int = 1) -> None:
        """Advance by some iterations."""
        for _ in range(iterations):
            self._iterate()

    def _iterate(self) -> None:
        """One iteration; the state is replaced when it is complete."""
        config, old, time = self.config, self._state, self.iterations + 1
        workers, _ = self._attached()
        new = old.copy()
        rule = iteration_rule(
            time, config.regret_floor, *self._exponents, config.delay, config.shifted,
            rounding(self.tree, self.types.vectors), self.types.quantised, config.predictive,
        )  # fmt: skip
        for player in range(2)[config.turns]:
            seen = new if config.alternating else old
            self._walk(player, UPDATE, REGRET, new, seen, rule)
        new.clock[0] = time
        self._state = new
        workers.retire([new.generations, *self._saved])

    def _walk(self, player: int, mode: int, kind: int, state: _State, seen: _State, rule: Rule = FIXED) -> Vector:
        """Walk once for a player, who has the tables of ``state``, against the opponent of ``seen``.

        The values of the player's hands at the start; an UPDATE changes ``state``.
        """
        other, types, plan, walker = 1 - player, self.types, self.plan, self.walker
        own, theirs = state.trunk[player], seen.trunk[other]
        opponent = Opponent(*_matched(theirs, kind), theirs.prediction if mode == UPDATE else None)
        if mode != UPDATE:
            own = plain_tables(*_matched(own, kind))
        step = Pass(
            player, mode, kind, self.iterations + 1, state.generations[:, player].copy(),
            seen.generations[:, other].copy(), rule, *self._descend(player, mode, own, opponent, rule),
        )  # fmt: skip
        sums = np.zeros(len(plan.links) * walker.width, types.vectors)
        workers, _ = self._attached()
        written = []
        with contextlib.closing(workers.run_pass(step)) as results:
            for result in results:
                if result.entered.any():
                    add_subgames(
                        walker.nodes, walker.hands[player], plan.subgames[plan.block(result.block)], result.entered,
                        result.values, walker.width, sums,
                    )  # fmt: skip
                written += [result.block] if result.written else []
                self.counts = self.counts.plus(result.counts)
        for changed in (REGRET, AVERAGE) if step.averages(types) else (REGRET,):
            state.generations[written, player, changed] = step.time
        hands = self.tree.hands[player].count(0)
        values = np.zeros((int(self.tree.piece_size[0]), hands))
        values[plan.links] = sums.reshape(len(plan.links), walker.width)[:, :hands]
        return walker.walk(player, mode, own, opponent, Start(link_values=values), rule=rule)

    def _descend(
        self, player: int, mode: int, own: Tables, opponent: Opponent, rule: Rule
    ) -> tuple[tuple[NDArray[Any], NDArray[Any]], NDArray[np.bool_]]:
        """The reaches of the player and the opponent at the links of the trunk, and which of them are alive."""
        walker, links, hands = self.walker, self.plan.links, self.tree.hands
        counts = hands[player].count(0), hands[1 - player].count(0)
        mine, theirs = (np.zeros((len(links), count), self.types.vectors) for count in counts)
        live = np.zeros((len(links), 2), np.bool_)
        none = np.zeros(0, self.types.vectors)
        reach_links(
            walker.nodes, walker.hands[player], walker.hands[1 - player], player, mode, own, opponent.table,
            np.zeros(0, np.float32) if opponent.scale is None else opponent.scale,
            none if opponent.prediction is None else opponent.prediction, rule, walker.free,
            np.ones(counts[0]), hands[1 - player].root_reach, links, mine, theirs, live, walker.scratch,
        )  # fmt: skip
        return (mine, theirs), live

    # ---------------------------------------------------------------------------------------------- measuring

    def _kind(self, kind: ProfileKind | None) -> int:
        averaged = self._profile_kind(kind) == "average" and self.iterations > self.config.delay
        return AVERAGE if averaged else REGRET

    def measure(self, kind: ProfileKind | None = None) -> Measurement:
        """Measure a profile exactly."""
        return self._best(self._kind(kind), True)

    def check(self) -> Measurement:
        """The measurement that a run needs: best responses alone."""
        return self._best(self._kind(None), False)

    def _best(self, kind: int, valued: bool) -> Measurement:
        """As ``PublicWalker.measure``."""
        state = self._state

        def total(player: int, mode: int) -> float:
            return self.walker.total(player, self._walk(player, mode, kind, state, state))

        return self.walker.measured(total, valued)

    # ---------------------------------------------------------------------------------------------- results

    @property
    def profile_bytes(self) -> int:
        """Bytes of the strategy as a table of all entries."""
        return sum(self.tree.num_entries) * self.types.kind.itemsize

    def check_profile(self) -> None:
        """Refuse to gather a strategy that does not fit into memory, by a MemoryLimitError."""
        allowed = available_memory() if self.memory_limit is None else self.memory_limit - used_memory()
        if self.profile_bytes > allowed:
            raise MemoryLimitError(
                f"the strategy of {self.name} needs {format_bytes(self.profile_bytes)} of memory, and "
                f"{format_bytes(max(0, allowed))} are left; leave out --out, which the tables on disk can do without, "
                "or give a larger --memory-limit when the run is resumed"
            )

    def strategy(self, kind: ProfileKind | None = None) -> tuple[NDArray[Any], NDArray[Any]]:
        """As ``PublicSolver.strategy``: the tables of all blocks, put together; they must fit into memory."""
        self.check_profile()
        table, plan, state = self._kind(kind), self.plan, self._state
        found = tuple(np.zeros(size, self.types.kind) for size in self.tree.num_entries)
        workers, _ = self._attached()
        for player in (0, 1):
            parts: list[int | None] = [None, *np.flatnonzero(state.generations[:, player, table]).tolist()]
            for block in parts:
                rows, _ = _matched(state.trunk[player], table)
                if block is not None:
                    rows = np.zeros(int(plan.entries[block, player]), self.types.kind)
                    generation = int(state.generations[block, player, table])
                    workers.fetch(BlockFile(block, player, table, generation), rows)
                for here, whole in plan.rows(block, player):
                    found[player][whole] = rows[here]
        return found[0], found[1]

    def final_profile(self) -> PublicStrategy | None:
        """The strategy, if it fits into memory."""
        try:
            return self.profile()
        except MemoryLimitError:
            return None

    def facts(self) -> RunFacts:
        """What reports say, with the use of the disk."""
        facts = super().facts()
        if self.workers is None or self.folder is None:
            return facts
        return dataclasses.replace(facts, disk=self._disk_use())

    def _disk_use(self) -> DiskUse:
        workers, folder = self._attached()
        generations, types = self._state.generations, self.types
        entries = [int(self.plan.entries[generations[:, :, kind] > 0].sum()) for kind in (REGRET, AVERAGE)]
        tables = sum(entries) * types.kind.itemsize + types.predictive * entries[REGRET] * types.vectors.itemsize
        floats = 4 * (sum(entries) + types.predictive * entries[REGRET])
        counts, stored = self.counts, workers.stored(generations)
        return DiskUse(
            os.fspath(folder.path), stored, tables / max(1, stored), floats / max(1, stored), counts.read,
            counts.written, counts.waited,
        )  # fmt: skip

    def progress_detail(self) -> str:
        """The size of the tables on disk, and how far they are compressed."""
        if self.workers is None or not self.iterations:
            return ""
        use, crew = self._disk_use(), self.workers.detail()
        return f"{format_bytes(use.stored)} on disk, {use.ratio:.1f}:1" + (f", {crew}" if crew else "")

    # ---------------------------------------------------------------------------------------------- checkpoints

    def tables(self) -> dict[str, NDArray[Any]]:
        """Regrets, averages, predictions and their scales in the trunk, the generations of all blocks, the clock."""
        held: dict[str, NDArray[Any]] = {"clock": self._state.clock, "generations": self._state.generations}
        return held | table_arrays(self._state.trunk)

    def limits(self) -> dict[str, tuple[int, int]]:
        """As ``Solver.limits``."""
        return super().limits() | {"generations": COUNTS}

    def check_tables(self) -> None:
        """No block is from an iteration that was not done."""
        if np.any(self._state.generations > self.iterations):
            raise ValueError(f"blocks of iteration {int(self._state.generations.max())}, after {self.iterations}")

    def state(self) -> dict[str, Any]:
        """The size of blocks, which decides what is in which file."""
        return {"block_entries": self.plan.block_entries}

    def fill(self, tables: Mapping[str, NDArray[Any]], state: Mapping[str, Any]) -> None:
        """As ``Solver.fill``, with the blocks of the checkpoint."""
        entries = state["block_entries"]
        if not isinstance(entries, int) or entries < 1:
            raise ValueError(f"blocks of {entries!r} entries")
        if entries != self.plan.block_entries:
            self._divide(entries)
        super().fill(tables, state)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a checkpoint into the folder of the run, where the tables are; the one before it is kept."""
        workers, folder = self._attached()
        if Path(path).absolute() != folder.newest.absolute():
            raise StrategyError(f"the tables of this run are in {folder.path}, and so is its checkpoint; got {path}")
        workers.sync()
        again = self._saved_at == self.iterations
        if not again:
            folder.keep_newest()
        super().save(path)
        if not again:
            self._saved, self._saved_at = [*self._saved[-1:], self._state.generations], self.iterations
        workers.retire([self._state.generations, *self._saved])

    @classmethod
    def resume(cls, path: str | os.PathLike[str], game: Any = None, memory_limit: int | None = None) -> Self:
        """Continue the run of a folder, from its newest checkpoint whose tables are whole; ``note`` says if it is not
        the newest.

        Raises
        ------
        StrategyError
            If no checkpoint is whole; about the newest.
        """
        place = run_folder(path)
        wrong: StrategyError | None = None
        folder = RunFolder(place)
        try:
            for found in folder.checkpoints():
                try:
                    return cls._resumed(folder, found, game, memory_limit, wrong)
                except OtherGameError:
                    raise
                except StrategyError as error:
                    wrong = wrong or error
            raise wrong or StrategyError(f"there is no run in {place}")
        except BaseException:
            folder.close()
            raise

    @classmethod
    def _resumed(
        cls, folder: RunFolder, found: Path, game: Any, memory_limit: int | None, wrong: StrategyError | None
    ) -> Self:
        """The run of a checkpoint; ``wrong`` is what is the matter with the newest, if that is another one."""
        solver = super().resume(found, game, memory_limit)
        solver.attach(folder)
        workers, _ = solver._attached()
        try:
            workers.verify(solver._state.generations)
        except BaseException:
            workers.close()
            raise
        if wrong is not None:
            folder.fall_back()
            solver.note = f"{wrong}; this is the one before it, of iteration {solver.iterations:,}"
        solver._saved, solver._saved_at = folder.named(solver._state.generations.shape)[::-1], solver.iterations
        return solver


def _matched(tables: Tables, kind: int) -> tuple[NDArray[Any], NDArray[np.float32]]:
    """The table that a strategy is matched from, and its scales."""
    if kind == REGRET:
        return tables.regret, tables.regret_scale
    return tables.average, tables.average_scale


def table_types(entries: int, config: CfrConfig) -> TableTypes:
    """What the tables of a run hold; ``entries`` of both players."""
    kind = table_type(entries, config.storage)
    return TableTypes(kind, vector_type(kind), config.keeps_average, config.predictive)


def _bytes(plan: BlockPlan, types: TableTypes, threads: int) -> int:
    """Bytes of what a run has in memory besides the tree: two states of the trunk, and the room for blocks."""
    trunk = 3 * (sum(plan.trunk.entries) * types.entry_bytes + 8 * sum(plan.trunk.blocks))
    walks = scratch_bytes(plan.tree, 1, types.vectors) + scratch_bytes(plan.tree, threads, types.vectors)
    return trunk + walks + BlockWorker.memory_bytes(plan.largest, types, threads)
