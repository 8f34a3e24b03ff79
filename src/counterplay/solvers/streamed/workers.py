"""Who walks the blocks: one process with its own threads, or others that do the same."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Any, Protocol

from numpy.typing import NDArray

from counterplay.runtime.executors import chosen_cluster
from counterplay.solvers.streamed.block_plan import BlockPlan
from counterplay.solvers.streamed.block_store import BLOCKS, KINDS, BlockFile, BlockStore, Generations
from counterplay.solvers.streamed.block_tables import Pass, TableTypes
from counterplay.solvers.streamed.block_worker import BlockResult, BlockWorker
from counterplay.tree.public.public_tree import PublicTree


class BlockWorkers(Protocol):
    """What a solver needs of them."""

    def run_pass(self, step: Pass) -> Generator[BlockResult]:
        """Walk all blocks; what is found in each, in their order.

        Nothing is being done any more when the iterator is exhausted or closed, or has raised an error.
        """
        ...

    def fetch(self, file: BlockFile, table: NDArray[Any]) -> None:
        """Fill the regrets or the averages of a block from its file."""
        ...

    def sync(self) -> None:
        """Wait until everything that was stored is on the disks."""
        ...

    def retire(self, kept: Sequence[Generations]) -> None:
        """Remove all stored tables that no state in ``kept`` needs."""
        ...

    def verify(self, generations: Generations) -> None:
        """Raise StrategyError, which names block and file, if the tables of a state are not all whole."""
        ...

    def stored(self, generations: Generations) -> int:
        """Bytes of the stored tables of a state."""
        ...

    def detail(self) -> str:
        """What progress says about them; empty for nothing."""
        ...

    def close(self) -> None:
        """Stop; they are not used again."""
        ...


class LocalWorkers:
    """All blocks in this process, their tables in one folder.

    Parameters
    ----------
    tree, plan, types
        As for ``BlockWorker``.
    folder : Path
        That of the run.
    threads : int
        Blocks that are walked at once.
    make_store : callable
        Makes the store of a folder.

    Attributes
    ----------
    blocks : sequence of int
        Those that are walked: all, unless only a sample is to be measured.
    """

    def __init__(
        self, tree: PublicTree, plan: BlockPlan, types: TableTypes, folder: Path, threads: int = 1,
        make_store: Callable[[Path], BlockStore] = BlockStore,
    ) -> None:  # fmt: skip
        self.store = make_store(folder / BLOCKS)
        self._worker = BlockWorker(tree, plan, types, self.store, threads)
        self.blocks: Sequence[int] = range(plan.num_blocks)
        self.sync, self.retire, self.verify = self.store.sync, self.store.retire, self.store.verify
        self.stored = self.store.stored

    def run_pass(self, step: Pass) -> Generator[BlockResult]:
        """As ``BlockWorkers.run_pass``."""
        return self._worker.run(step, self.blocks)

    def fetch(self, file: BlockFile, table: NDArray[Any]) -> None:
        """As ``BlockWorkers.fetch``."""
        self.store.read(file, {KINDS[file.kind]: table})

    def detail(self) -> str:
        """As ``BlockWorkers.detail``: they are this process."""
        return ""

    def close(self) -> None:
        """As ``BlockWorkers.close``."""
        self._worker.close()


def chosen_workers(
    tree: PublicTree, plan: BlockPlan, types: TableTypes, folder: Path, threads: int = 1
) -> BlockWorkers:
    """Those of the cluster of ``executors.on_cluster``, otherwise this process."""
    chosen = chosen_cluster()
    if chosen is None:
        return LocalWorkers(tree, plan, types, folder, threads)
    from counterplay.solvers.streamed.ray_workers import RayWorkers

    return RayWorkers(tree, plan, types, folder, threads, *chosen)
