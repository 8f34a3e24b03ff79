"""What a table entry costs on this machine, measured by a short solve of some of the blocks of a game.

The solver, its kernels and its files are those of a real run; only the blocks outside the sample are left out, as if
their cards could not be dealt.  A game whose public tree is too large is measured without its last rounds: the costs of
an entry are those of the last round, where nearly all entries are, and betting and hands are alike there.
"""

from __future__ import annotations

import dataclasses
import os
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterplay.forms import open_game
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.poker_game import PokerFile
from counterplay.poker.poker_public_tree import public_tree_bytes
from counterplay.solvers.cfr import CfrConfig
from counterplay.solvers.streamed.block_plan import BlockPlan
from counterplay.solvers.streamed.block_store import BlockFile, BlockStore, StoreCounts
from counterplay.solvers.streamed.block_tables import TableTypes
from counterplay.solvers.streamed.solve_plan import Rates
from counterplay.solvers.streamed.streamed_cfr import StreamedSolver
from counterplay.solvers.streamed.subgame_sizes import subgame_sizes
from counterplay.solvers.streamed.workers import LocalWorkers
from counterplay.tree.public.public_tree import PublicTree

TREE_BYTES = 512 << 20
"""The largest public tree that is made to measure on."""

SAMPLE_ENTRIES = 16 << 20
"""Entries of the blocks that are walked, unless a single one has more."""

SECONDS = 10.0
"""How long is measured, at most."""

LEAST_ITERATIONS, MOST_ITERATIONS = 3, 50

DISK_BYTES = 64 << 20
"""Bytes that are written to see how fast the disk is."""


def rate_game(game: GameDefinition) -> GameDefinition:
    """The game itself, or if its public tree or a single subgame is too large the game without its last rounds."""
    while any(game.board_cards[: game.rounds - 1]) and _too_large(game):
        rounds = game.rounds - 1
        cut = {name: getattr(game, name)[:rounds] for name in ("raise_sizes", "first_players", "max_raises")}
        game = dataclasses.replace(game, rounds=rounds, board_cards=game.board_cards[:rounds], **cut)
    return game


def _too_large(game: GameDefinition) -> bool:
    subgame = subgame_sizes(game, "the game").cut.largest_entries
    return subgame > SAMPLE_ENTRIES or public_tree_bytes(game) > TREE_BYTES


class TimedStore(BlockStore):
    """A store that adds up the CPU seconds and the numbers that are written and read."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        super().__init__(folder)
        self._adding = threading.Lock()
        self.clear()

    def clear(self) -> None:
        """Start from 0."""
        self.seconds = {"write": 0.0, "read": 0.0}
        self.numbers = {"write": 0, "read": 0}

    def write(self, file: BlockFile, tables: Mapping[str, NDArray[Any]]) -> StoreCounts:
        """As ``BlockStore.write``."""
        started = time.thread_time()
        counts = super().write(file, tables)
        self._add("write", started, tables)
        return counts

    def read(self, file: BlockFile, tables: Mapping[str, NDArray[Any]]) -> StoreCounts:
        """As ``BlockStore.read``."""
        started = time.thread_time()
        counts = super().read(file, tables)
        self._add("read", started, tables)
        return counts

    def rate(self, what: str) -> float:
        """CPU seconds of a number."""
        return self.seconds[what] / max(1, self.numbers[what])

    def _add(self, what: str, started: float, tables: Mapping[str, NDArray[Any]]) -> None:
        numbers = sum(len(table) for name, table in tables.items() if not name.endswith("_scale"))
        with self._adding:
            self.seconds[what] += time.thread_time() - started
            self.numbers[what] += numbers


def sample_blocks(plan: BlockPlan, entries: int = SAMPLE_ENTRIES) -> list[int]:
    """Blocks of about this many entries in all, at even distances in the tables."""
    ends = np.cumsum(plan.entries.sum(axis=1))
    total = int(ends[-1])
    count = min(plan.num_blocks, max(1, round(entries * plan.num_blocks / total)))
    if count == plan.num_blocks:
        return list(range(count))
    found = np.searchsorted(ends, (np.arange(count) + 0.5) * total / count, side="right")
    return [int(block) for block in np.unique(found)]


def disk_rate(folder: Path, size: int) -> float:
    """Bytes per second that the disk of a folder takes, by writing a file of some size."""
    content = np.random.default_rng(0).bytes(size)
    path = folder / ".rate.part"
    started = time.perf_counter()
    try:
        with path.open("wb", buffering=0) as file:
            file.write(content)
            os.fsync(file.fileno())
    finally:
        path.unlink(missing_ok=True)
    return size / max(1e-9, time.perf_counter() - started)


def measure_rates(
    game: GameDefinition, name: str, config: CfrConfig, storage: Any, algorithm: str = "cfr+",
    seconds: float = SECONDS, entries: int = SAMPLE_ENTRIES,
) -> Rates:  # fmt: skip
    """Solve some blocks of a game for some seconds, in a temporary folder.

    Parameters
    ----------
    game : GameDefinition
        What is going to be solved.
    name : str
        Its name.
    config, algorithm : CfrConfig, str
        How.
    storage : str
        The type of the tables of the game that is going to be solved; a smaller one would have others by default.
    seconds, entries
        How long is measured at most, and on how many entries.
    """
    measured = rate_game(game)
    if measured is not game:
        name = f"the first {measured.rounds} rounds of {name}"
    started = time.process_time()
    tree = open_game(PokerFile(measured, name), "public")
    config = dataclasses.replace(config, storage=storage, threads=1)
    with tempfile.TemporaryDirectory(prefix="counterplay-rates-") as folder:
        solver = StreamedSolver(tree, config, algorithm)
        start = time.process_time() - started if measured is game else 0.0
        workers: list[LocalWorkers] = []

        def make(tree: PublicTree, plan: BlockPlan, types: TableTypes, folder: Path, threads: int) -> LocalWorkers:
            workers.append(LocalWorkers(tree, plan, types, folder, threads, TimedStore))
            return workers[0]

        solver.attach(folder, make)
        try:
            return _measured(solver, workers[0], sample_blocks(solver.plan, entries), seconds, start)
        finally:
            solver.close()


def _measured(
    solver: StreamedSolver, workers: LocalWorkers, blocks: Sequence[int], seconds: float, start: float
) -> Rates:
    """The rates of a solver, after iterations that compile its kernels and fill its tables."""
    entries, store = int(solver.plan.entries[blocks].sum()), workers.store
    assert isinstance(store, TimedStore)
    workers.blocks = blocks
    solver.step(2)
    workers.blocks = []
    overhead = _cpu(lambda: solver.step(1))
    workers.blocks = blocks
    solver.check()
    store.clear()
    cpu, begun, iterations = 0.0, time.perf_counter(), 0
    while iterations < LEAST_ITERATIONS or (iterations < MOST_ITERATIONS and time.perf_counter() - begun < seconds):
        cpu += _cpu(lambda: solver.step(1))
        iterations += 1
    write, read = store.rate("write"), store.rate("read")
    walk = (cpu - sum(store.seconds.values())) / iterations - overhead
    store.clear()
    checked = _cpu(solver.check) - store.seconds["read"] - overhead
    return Rates(
        solver.name, entries, iterations, max(0.0, walk) / entries, max(0.0, checked) / entries, write, read,
        store.stored(solver.tables()["generations"]) / entries, disk_rate(store.folder, DISK_BYTES), overhead, start,
    )  # fmt: skip


def _cpu(work: Callable[[], object]) -> float:
    """CPU seconds of a call, of all threads."""
    started = time.process_time()
    work()
    return time.process_time() - started
