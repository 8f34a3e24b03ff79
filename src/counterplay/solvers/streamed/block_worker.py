"""Walks over blocks: their tables are loaded, one kernel call walks all subgames of a block, and tables are stored.

While a block is walked the next one is read and decompressed, and the one before it compressed and written (Johanson
2016, section 9.3, read ahead as well).  How many are in memory is bounded, whatever the disk does.
"""

from __future__ import annotations

import queue
import time
from collections import deque
from collections.abc import Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from counterplay.evaluation.public_walks import PublicWalks, walk_scratch
from counterplay.kernels.public.piece_steps import UPDATE, Scratch
from counterplay.kernels.public.subgame_walks import walk_subgames
from counterplay.runtime.signals import uninterrupted
from counterplay.solvers.streamed.block_plan import BlockPlan, BlockSizes
from counterplay.solvers.streamed.block_store import AVERAGE, REGRET, BlockFile, BlockStore, StoreCounts
from counterplay.solvers.streamed.block_tables import BlockTables, Pass, TableTypes
from counterplay.tree.public.public_tree import PublicTree

AHEAD = 2
"""Blocks in memory besides those that are walked: one that is read, and one that is written."""


class BlockResult(NamedTuple):
    """What a pass finds in a block."""

    block: int
    written: bool  # whether the tables of the pass's generation were stored; otherwise the block is as it was
    entered: NDArray[np.bool_]  # of each subgame of the block, whether somebody reaches it
    values: NDArray[Any]  # of the player's hands, one subgame after the other; see ``BlockPlan.value_start``
    counts: StoreCounts


class _Vectors(NamedTuple):
    """What one walk works with."""

    scratch: Scratch
    own: NDArray[np.float64]
    opponent: NDArray[np.float64]
    out: NDArray[np.float64]


class BlockWorker:
    """Walks blocks whose tables are in a store.

    Parameters
    ----------
    tree, plan : PublicTree, BlockPlan
        The game, and its blocks.
    types : TableTypes
        What the tables hold.
    store : BlockStore
        Where they are.
    threads : int
        Blocks that are walked at once; results do not depend on it.
    """

    def __init__(
        self, tree: PublicTree, plan: BlockPlan, types: TableTypes, store: BlockStore, threads: int = 1
    ) -> None:
        self.tree, self.plan, self.types, self.store, self.threads = tree, plan, types, store, threads
        self._walks = PublicWalks(tree, kind=types.vectors)
        most = max(tree.hands[0].most, tree.hands[1].most)
        self._vectors: queue.SimpleQueue[_Vectors] = queue.SimpleQueue()
        for number in range(threads):
            scratch = self._walks.scratch if number == 0 else walk_scratch(tree, kind=types.vectors)
            self._vectors.put(_Vectors(scratch, *np.zeros((3, most))))
        self._rooms = [BlockTables(plan, types) for _ in range(threads + AHEAD)]
        self._pools = self._start()

    @staticmethod
    def memory_bytes(largest: BlockSizes, types: TableTypes, threads: int) -> int:
        """Bytes of what it will allocate, besides the vectors of walks."""
        rooms = (threads + AHEAD) * BlockTables.memory_bytes(largest, types)
        return rooms + 2 * threads * 3 * largest.entries * types.vectors.itemsize  # bytes in order, and their code

    def run(self, step: Pass, blocks: Sequence[int]) -> Generator[BlockResult]:
        """Walk some blocks; what is found in them, in their order.

        When this ends, for whatever reason, nothing is being walked, read or written any more.
        """
        free, waiting = deque(self._rooms), deque[tuple[Future[BlockResult], BlockTables]]()
        done = False
        try:
            reading, walking, writing = self._pools
            for block in blocks:
                if not free:
                    future, room = waiting.popleft()
                    yield future.result()
                    free.append(room)
                room = free.popleft()
                read = reading.submit(self._read, step, block, room)
                walked = walking.submit(self._walk, step, block, room, read)
                waiting.append((writing.submit(self._write, step, room, walked), room))
            while waiting:
                yield waiting.popleft()[0].result()
            done = True
        finally:
            if not done:  # what has begun comes to rest first
                with uninterrupted():
                    self.close()
                    self._pools = self._start()

    def close(self) -> None:
        """End the threads."""
        for pool in self._pools:
            pool.shutdown(cancel_futures=True)

    def _start(self) -> list[ThreadPoolExecutor]:
        return [ThreadPoolExecutor(self.threads, f"counterplay-{what}") for what in ("read", "walk", "write")]

    def _reached(self, step: Pass, block: int) -> bool:
        """Whether somebody may reach a subgame of a block."""
        links = self.plan.subgames[self.plan.block(block), 0]
        live = step.live[links, 1 - step.player]
        if step.mode == UPDATE:
            live = live | step.live[links, step.player] | (not step.rule.prune)
        return bool(live.any())

    def _read(self, step: Pass, block: int, room: BlockTables) -> StoreCounts:
        """Load what the pass needs."""
        counts = StoreCounts()
        if self._reached(step, block):
            for theirs, kind in step.reads(self.types):
                player = 1 - step.player if theirs else step.player
                generation = int((step.opponent if theirs else step.own)[block, kind])
                tables = room.stored(step, block, theirs, kind)
                if generation:
                    counts = counts.plus(self.store.read(BlockFile(block, player, kind, generation), tables))
                for name, table in {} if generation else tables.items():
                    table.fill(1 if name.endswith("_scale") else 0)
        return counts

    def _walk(self, step: Pass, block: int, room: BlockTables, read: Future[StoreCounts]) -> BlockResult:
        """Walk all subgames of a block."""
        started = time.perf_counter()
        counts = read.result()
        counts = counts._replace(waited=time.perf_counter() - started)
        me, here = step.player, self.plan.block(block)
        entered = room.entered[: here.stop - here.start]
        if not self._reached(step, block):
            entered.fill(False)
            return BlockResult(block, False, entered.copy(), room.values[:0].copy(), counts)
        first, last = self.plan.value_start(me)[[here.start, here.stop]]
        values, places = room.values[: last - first], self.plan.places(block)
        vectors = self._vectors.get()
        try:
            walk_subgames(
                self._walks.nodes_at(me, places.base, places.block), self._walks.hands[me], self._walks.hands[1 - me],
                me, step.mode, self.tree.pair_hands, room.own(step, block), *room.opponent(step, block), step.rule,
                self._walks.free, self.plan.links, *step.reaches, step.live, self.plan.subgames[here], vectors.own,
                vectors.opponent, vectors.scratch, vectors.out, entered, values,
            )  # fmt: skip
        finally:
            self._vectors.put(vectors)
        return BlockResult(block, False, entered.copy(), values.copy(), counts)

    def _write(self, step: Pass, room: BlockTables, walked: Future[BlockResult]) -> BlockResult:
        """Store what the pass has changed."""
        result = walked.result()
        if step.mode != UPDATE or not result.entered.any():
            return result
        counts = result.counts
        for kind in (REGRET, AVERAGE) if step.averages(self.types) else (REGRET,):
            file = BlockFile(result.block, step.player, kind, step.time)
            counts = counts.plus(self.store.write(file, room.stored(step, result.block, False, kind)))
        return result._replace(written=True, counts=counts)
