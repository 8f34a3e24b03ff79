"""Blocks walked by the workers of a Ray cluster, the trunk by the process that they work for.

Johanson 2016, section 9.3: a parent walks the trunk and sends reaches, workers load, update and store the subgames and
send values back.  There every subgame belongs to a computer for good; here a block belongs to the *machine* on whose
disk its files are, and whichever worker of that machine is free walks it.  All workers store in the folder of the run,
under the same path on every machine: a disk of its own on each, or one folder that all of them share.

What a block's pass finds follows from its stored generation alone, so a worker that dies, or does not answer for
``HEARTBEAT_SECONDS``, is ended and replaced, and what it had begun is repeated by another: the same bits.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import os
import signal
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import ClusterError
from counterplay.evaluation.public_walks import scratch_bytes
from counterplay.runtime.memory import check_memory
from counterplay.runtime.ray_cluster import Cluster, Setting, get
from counterplay.runtime.ray_executor import plain_error
from counterplay.runtime.signals import uninterrupted
from counterplay.solvers.streamed.block_plan import BlockPlan
from counterplay.solvers.streamed.block_store import AVERAGE, BLOCKS, KINDS, REGRET, BlockFile, BlockStore, Generations
from counterplay.solvers.streamed.block_tables import Pass, TableTypes
from counterplay.solvers.streamed.block_worker import BlockResult, BlockWorker
from counterplay.tree.public.public_tree import PublicTree

HEARTBEAT_SECONDS, START_SECONDS = 60.0, 180.0
"""How long a worker may be silent, and a new one until it is ready."""

IN_FLIGHT, CHUNKS = 2, 4
"""Groups of blocks that a worker is given at a time, and at least this many for each in a pass."""

LARGEST_CHUNK = 8
"""Most blocks in a group, which are read ahead and written behind together."""

RETRIES = 10
"""How often a group of blocks may end its workers before that is an error."""


class BlockActor:
    """A worker: a process of a machine of the cluster, which has the whole tree and one block after another."""

    def __init__(self) -> None:
        self.stopped = 0  # passes up to this one are not wanted any more
        self._step: tuple[int, Pass] | None = None

    def open(self, setting: Setting, game: list[Any], folder: str, threads: int) -> None:
        """Make room for blocks."""
        setting.adopt()
        tree, entries, types = get(game[0])
        self.plan = BlockPlan(tree, entries)
        self.store = BlockStore(folder)
        self.worker = BlockWorker(tree, self.plan, types, self.store, threads)

    def beat(self) -> int:
        """Show that the process runs: its number."""
        return os.getpid()

    def stop(self, number: int) -> None:
        """End a pass early."""
        self.stopped = number

    def run(self, number: int, sent: list[Any], blocks: Sequence[int]) -> list[BlockResult]:
        """Walk some blocks; those that were done before a ``stop``."""
        found: list[BlockResult] = []
        if self._step is None or self._step[0] != number:
            self._step = number, get(sent[0])
        walked = self.worker.run(self._step[1], blocks)
        try:
            while number > self.stopped and len(found) < len(blocks):
                found.append(next(walked))
        finally:
            walked.close()
        return found

    def newest(self) -> NDArray[np.int64]:
        """The newest generation of each block in the folder; 0 without any."""
        return self.store.newest(self.plan.num_blocks)

    def call(self, method: str, *arguments: Any) -> Any:
        """Call a method of the store."""
        return getattr(self.store, method)(*arguments)

    def table(self, file: BlockFile, size: int, kind: str) -> NDArray[Any]:
        """The regrets or the averages in a file."""
        found = np.zeros(size, kind)
        self.store.read(file, {KINDS[file.kind]: found})
        return found


@dataclasses.dataclass(eq=False)
class _Worker:
    """What is known of a worker."""

    handle: Any
    machine: str
    heard: float  # when it was heard last; in the future while it starts
    beat: Any
    asked: float
    process: int | None = None
    given: dict[Any, tuple[int, ...]] = dataclasses.field(default_factory=dict)  # groups of blocks, by their results


class RayWorkers:
    """``BlockWorkers`` on a cluster.

    Parameters
    ----------
    tree, plan, types, folder, threads
        As for ``LocalWorkers``; the folder is that of every machine, and threads are those of each worker.
    address, workers : str, int, optional
        See ``executors.on_cluster``.

    Raises
    ------
    ClusterError
        If there is no such cluster.
    MemoryLimitError
        If this machine is the cluster, and so many workers do not fit.
    """

    def __init__(
        self, tree: PublicTree, plan: BlockPlan, types: TableTypes, folder: Path, threads: int = 1,
        address: str = "local", workers: int | None = None,
    ) -> None:  # fmt: skip
        self.plan, self.threads, self.folder = plan, threads, folder.absolute() / BLOCKS
        self.store = BlockStore(self.folder)
        self.replaced = 0
        self._types, self._number = types, 0
        self._todo: dict[str, deque[tuple[int, ...]]] = {}
        self._failed: Counter[tuple[int, ...]] = Counter()
        self._unsynchronised: set[BlockFile] = set()
        self._workers: list[_Worker] = []
        self._owner: list[str] = []
        self._cluster = Cluster(address, workers)
        self._ray = self._cluster.ray
        try:
            places = self._places(workers)
            if self._cluster.local:
                each = BlockWorker.memory_bytes(plan.largest, types, threads) + tree.nbytes
                size = len(places) * (each + scratch_bytes(tree, threads, types.vectors))
                check_memory(f"{len(places)} workers on {tree.name}", size, None, "fewer --workers need less")
            self._actor = self._ray.remote(num_cpus=threads, max_restarts=0, concurrency_groups={"pulse": 2})(
                BlockActor
            )
            self._game = [self._cluster.put((tree, plan.block_entries, types))]
            self._workers = [self._started(machine) for machine in places]
            self._owner = self._owners()
        except BaseException:
            self.close()
            raise

    def detail(self) -> str:
        """How many workers there are, and how many had to be replaced."""
        machines = len({worker.machine for worker in self._workers})
        where = f" on {machines} machines" if machines > 1 else ""
        return f"{len(self._workers)} workers{where}" + (f", {self.replaced} replaced" if self.replaced else "")

    # ---------------------------------------------------------------------------------------------- workers

    def _places(self, most: int | None) -> list[str]:
        """The machine of each worker: as many as each has cores, alternately."""
        nodes = [node for node in self._ray.nodes() if node["Alive"]]
        free = {node["NodeID"]: int(node["Resources"].get("CPU", 0)) // self.threads for node in nodes}
        turns = [(turn, machine) for machine, count in free.items() for turn in range(count)]
        if not turns:
            raise ClusterError(f"no machine of the cluster has {self.threads} cores for a worker; give fewer --threads")
        return [machine for _, machine in sorted(turns)][:most]

    def _started(self, machine: str) -> _Worker:
        """A worker that is being started."""
        handle = self._actor.options(scheduling_strategy=self._on(machine)).remote()
        handle.open.remote(self._cluster.setting(), self._game, os.fspath(self.folder), self.threads)
        now = time.monotonic()
        return _Worker(handle, machine, now + START_SECONDS, self._pulse(handle), now)

    def _on(self, machine: str) -> Any:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        return NodeAffinitySchedulingStrategy(machine, soft=False)

    @staticmethod
    def _pulse(handle: Any) -> Any:
        return handle.beat.options(concurrency_group="pulse").remote()

    def _owners(self) -> list[str]:
        """The machine of each block: that with its newest files; where several are as good, one after the other."""
        machines = list(dict.fromkeys(worker.machine for worker in self._workers))
        newest = np.array(self._ask(self._one_each, "newest"))
        owners = []
        for block, generations in enumerate(newest.T):
            best = [machine for machine, one in zip(machines, generations, strict=True) if one == generations.max()]
            owners.append(best[block % len(best)])
        return owners

    def _replace(self, worker: _Worker) -> None:
        """End a worker that is dead or silent, and start another; what it was given waits at the front again."""
        self._end(worker)
        waiting = self._todo.get(worker.machine, deque())
        for blocks in sorted(worker.given.values(), reverse=True):
            waiting.appendleft(blocks)
        for blocks in list(worker.given.values())[:1]:
            self._failed[blocks] += 1
            if self._failed[blocks] > RETRIES:
                raise ClusterError(
                    f"workers were lost {RETRIES + 1} times at block {blocks[0]}; look for memory that runs out, or "
                    "for whoever ends them, and continue with --resume"
                )
        self._check_machine(worker.machine)
        self.replaced += 1
        self._workers[self._workers.index(worker)] = self._started(worker.machine)

    def _end(self, worker: _Worker) -> None:
        """End the process of a worker, also one that was stopped, which does not hear what Ray says."""
        self._ray.kill(worker.handle)
        if worker.process is not None and self._alive(worker.machine):
            kill = self._ray.remote(num_cpus=0, max_retries=0)(_kill)
            kill.options(scheduling_strategy=self._on(worker.machine)).remote(worker.process)

    def _alive(self, machine: str) -> bool:
        return any(node["NodeID"] == machine and node["Alive"] for node in self._ray.nodes())

    def _check_machine(self, machine: str) -> None:
        """Refuse to continue without a machine whose disk has blocks."""
        if not self._alive(machine):
            blocks = [str(block) for block, owner in enumerate(self._owner) if owner == machine]
            some = f"block{'s' * (len(blocks) > 1)} {', '.join(blocks[:3])}{' ...' * (len(blocks) > 3)}"
            address = next((node["NodeManagerAddress"] for node in self._ray.nodes() if node["NodeID"] == machine), "?")
            raise ClusterError(
                f"the machine {address} has left the cluster, with {some} in {self.folder}; "
                "start Ray on it again, or put a copy of its folder on another machine, and continue "
                f"with counterplay solve --resume {self.folder.parent} --cluster ADDRESS"
            )

    # ---------------------------------------------------------------------------------------------- passes

    def run_pass(self, step: Pass) -> Generator[BlockResult]:
        """As ``BlockWorkers.run_pass``."""
        self._number += 1
        sent, total = [self._cluster.put(step)], self.plan.num_blocks
        self._todo, self._failed = self._groups(), Counter()
        window = 2 * CHUNKS * LARGEST_CHUNK * len(self._workers)
        found: dict[int, BlockResult] = {}
        done = 0
        try:
            while done < total:
                self._hand_out(sent, done + window)
                for result in self._collected():
                    found[result.block] = _writable(result)
                while done in found:
                    result = found.pop(done)
                    if result.written:
                        kinds = (REGRET, AVERAGE) if step.averages(self._types) else (REGRET,)
                        self._unsynchronised |= {BlockFile(done, step.player, kind, step.time) for kind in kinds}
                    done += 1
                    yield result
        finally:
            self._todo = {}
            with uninterrupted():
                self._rest()

    def _groups(self) -> dict[str, deque[tuple[int, ...]]]:
        """The blocks of each machine in groups, in their order."""
        size = math.ceil(self.plan.num_blocks / (CHUNKS * len(self._workers)))
        size = max(1, min(LARGEST_CHUNK, size))
        found: dict[str, deque[tuple[int, ...]]] = {worker.machine: deque() for worker in self._workers}
        for machine, groups in found.items():
            blocks = [block for block, owner in enumerate(self._owner) if owner == machine]
            groups.extend(tuple(blocks[first : first + size]) for first in range(0, len(blocks), size))
        return found

    def _hand_out(self, sent: list[Any], before: int) -> None:
        """Give groups to workers that have few, none that begins at a block far ahead of what was used."""
        for worker in self._workers:
            groups = self._todo[worker.machine]
            while groups and len(worker.given) < IN_FLIGHT and groups[0][0] < before:
                blocks = groups.popleft()
                worker.given[worker.handle.run.remote(self._number, sent, blocks)] = blocks

    def _collected(self) -> list[BlockResult]:
        """What has been found since; workers that are gone or silent are replaced."""
        ray, found = self._ray, list[BlockResult]()
        for worker in self._workers:
            if worker.beat is None and time.monotonic() - worker.asked > HEARTBEAT_SECONDS / 4:
                worker.asked, worker.beat = time.monotonic(), self._pulse(worker.handle)
        owner = {reference: worker for worker in self._workers for reference in worker.given}
        owner |= {worker.beat: worker for worker in self._workers if worker.beat is not None}
        ready, _ = ray.wait(list(owner), num_returns=1, timeout=HEARTBEAT_SECONDS / 4)
        lost = []
        for reference in ready:
            worker = owner[reference]
            try:
                answer = ray.get(reference)
            except ray.exceptions.RayTaskError as error:
                raise plain_error(ray, error) from None
            except ray.exceptions.RayError:
                lost.append(worker)
                continue
            now = time.monotonic()
            if reference == worker.beat:
                worker.process, worker.beat, worker.heard = answer, None, now
            else:
                del worker.given[reference]
                found += answer
        limit = time.monotonic() - HEARTBEAT_SECONDS
        lost += [worker for worker in self._workers if worker.beat is not None and worker.heard < limit]
        for worker in dict.fromkeys(lost):
            self._replace(worker)
        return found

    def _rest(self) -> None:
        """Wait until no worker does anything; those that do not stop are replaced."""
        ray = self._ray
        busy = [worker for worker in self._workers if worker.given]
        if not busy:
            return
        for worker in busy:
            worker.handle.stop.options(concurrency_group="pulse").remote(self._number)
        waiting = [reference for worker in busy for reference in worker.given]
        ended, _ = ray.wait(waiting, num_returns=len(waiting), timeout=HEARTBEAT_SECONDS)
        for worker in busy:
            silent = any(reference not in ended for reference in worker.given)
            worker.given = {}
            if silent:
                self._replace(worker)

    # ---------------------------------------------------------------------------------------------- the files

    def _ask(self, crew: Callable[[], Iterable[_Worker]], method: str, *arguments: Any) -> list[Any]:
        """Call a method of some workers, which are idle otherwise; who is lost is replaced, and all are asked again.

        An argument that is a function gives the argument of a worker.
        """
        ray = self._ray
        for _ in range(RETRIES + 1):
            self._probe()
            try:
                return list(ray.get([
                    getattr(worker.handle, method).remote(*(one(worker) if callable(one) else one for one in arguments))
                    for worker in crew()
                ], timeout=START_SECONDS))  # fmt: skip
            except ray.exceptions.RayTaskError as error:
                raise plain_error(ray, error) from None
            except ray.exceptions.RayError:  # a timeout too
                continue
        raise ClusterError(f"workers were lost {RETRIES + 1} times in a row; continue with --resume")

    def _one_each(self) -> Iterable[_Worker]:
        """One worker of each machine."""
        return {worker.machine: worker for worker in self._workers}.values()

    def _probe(self) -> None:
        """Replace all workers that do not answer."""
        for worker in self._workers:
            worker.beat = worker.beat or self._pulse(worker.handle)
        wait = max(HEARTBEAT_SECONDS, max(worker.heard for worker in self._workers) - time.monotonic())
        self._ray.wait([worker.beat for worker in self._workers], num_returns=len(self._workers), timeout=wait)
        for worker in list(self._workers):
            try:
                worker.process = self._ray.get(worker.beat, timeout=0)
                worker.beat, worker.heard = None, time.monotonic()
            except self._ray.exceptions.RayError:  # a timeout too
                self._replace(worker)

    def _shares(self, generations: Generations) -> dict[_Worker, Generations]:
        """The generations of the blocks that each worker looks after, with zeros for the others."""
        found = {}
        for machine in {worker.machine for worker in self._workers}:
            crew = [worker for worker in self._workers if worker.machine == machine]
            own = np.flatnonzero([owner == machine for owner in self._owner])
            for number, worker in enumerate(crew):
                found[worker] = np.zeros_like(generations)
                found[worker][own[number :: len(crew)]] = generations[own[number :: len(crew)]]
        return found

    def fetch(self, file: BlockFile, table: NDArray[Any]) -> None:
        """As ``BlockWorkers.fetch``."""
        machine = self._owner[file.block]

        def owner() -> Iterable[_Worker]:
            return [next(worker for worker in self._workers if worker.machine == machine)]

        table[:] = self._ask(owner, "table", file, len(table), table.dtype.name)[0]

    def sync(self) -> None:
        """As ``BlockWorkers.sync``; whoever wrote a file may be gone."""
        files = sorted(self._unsynchronised)

        def own(worker: _Worker) -> list[BlockFile]:
            return [file for file in files if self._owner[file.block] == worker.machine]

        self._ask(self._one_each, "call", "sync", own)
        self._unsynchronised.clear()

    def retire(self, kept: Sequence[Generations]) -> None:
        """As ``BlockWorkers.retire``."""
        self._ask(self._one_each, "call", "retire", list(kept))
        self._unsynchronised = {
            file for file in self._unsynchronised
            if any(state[file.block, file.player, file.kind] == file.generation for state in kept)
        }  # fmt: skip

    def verify(self, generations: Generations) -> None:
        """As ``BlockWorkers.verify``."""
        self._ask(lambda: self._workers, "call", "verify", lambda worker: self._shares(generations)[worker])

    def stored(self, generations: Generations) -> int:
        """As ``BlockWorkers.stored``."""
        shares = self._ask(lambda: self._workers, "call", "stored", lambda worker: self._shares(generations)[worker])
        return int(sum(shares))

    def close(self) -> None:
        """As ``BlockWorkers.close``."""
        if self._ray.is_initialized():
            for worker in self._workers:
                self._ray.kill(worker.handle)
        self._workers = []
        self._cluster.close()


def _kill(process: int) -> None:
    """End a process, on its machine."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


def _writable(result: BlockResult) -> BlockResult:
    """A result whose arrays are its own: kernels are compiled for those that may be changed."""
    return result._replace(entered=result.entered.copy(), values=result.values.copy())
