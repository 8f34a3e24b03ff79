"""What a solve with tables on disk takes: memory, disk, network and time, from sizes and rates alone.

Johanson 2016, section 9.4, reports how limit hold'em was solved: 200 machines with 24 cores each, 61 minutes an
iteration, 1,579 iterations, 68.5 days, 900 core-years, 10.9 TB on disk.  Here the same numbers are predicted for our
programs, from the sizes of the game (``subgame_sizes``) and rates that were measured on one machine
(``measured_rates``).  All of it is arithmetic; the names say the unit where it is not bytes or seconds.

The driver walks the trunk, and each node walks its share of the blocks, one block on each core at once; what is read
and written meanwhile delays nothing unless the disk is the slower of both.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, NamedTuple

from counterplay.errors import SolverError
from counterplay.runtime.memory import format_bytes
from counterplay.solvers.streamed.block_plan import BLOCK_ENTRIES, BlockSizes
from counterplay.solvers.streamed.block_tables import TableTypes
from counterplay.solvers.streamed.block_worker import BlockWorker
from counterplay.solvers.streamed.subgame_sizes import SubgameSizes

YEAR, DAY = 365.25 * 86400, 86400.0

CHECKPOINT_SECONDS = 60.0
"""How often a run is saved, at the end of an iteration."""


class Rates(NamedTuple):
    """What was measured, for each table entry of both players together."""

    game: str  # where it was measured
    entries: int  # of the blocks on which it was measured
    iterations: int
    walk: float  # CPU seconds of an entry in the walks of an iteration
    check: float  # CPU seconds of an entry in the walks that measure exploitability
    write: float  # CPU seconds to compress and write a number
    read: float  # CPU seconds to read and decompress a number
    stored: float  # bytes on disk of all tables of an entry
    disk: float  # bytes per second that the disk takes
    overhead: float = 0.0  # seconds of an iteration besides the blocks: trunk, bookkeeping
    start: float = 0.0  # seconds until the first iteration


class Resources(NamedTuple):
    """What there is.  None: as much as is needed."""

    nodes: int = 1
    cores: int = 1
    disk: int | None = None  # bytes of each node
    memory: int | None = None  # bytes of each node, and of the driver
    network: float = 125e6  # bytes per second of the driver
    cache: int = 0  # bytes of files that each node keeps in memory besides, so that nobody waits for its disk

    def checked(self) -> Resources:
        """The same, if it makes sense; else a SolverError."""
        for name, value in (("nodes", self.nodes), ("cores", self.cores)):
            if value < 1:
                raise SolverError(f"{name} must be an integer, at least 1; got {value}")
        if not 0 < self.network < math.inf:
            raise SolverError(f"the network must carry more than 0 bytes per second; got {self.network:g}")
        return self


class Shortage(NamedTuple):
    """Something of which there is too little."""

    what: str  # "memory", "disk"
    needed: float
    given: float
    advice: str  # what would be enough

    def __str__(self) -> str:
        return (
            f"not met, {self.what}: a node needs {format_bytes(self.needed)} and has {format_bytes(self.given)}; "
            f"{self.advice}"
        )


class PublishedSolve(NamedTuple):
    """How limit hold'em was solved (Johanson 2016, sections 9.3 and 9.4)."""

    source: str = "Johanson 2016, section 9.4"
    nodes: int = 200
    cores: int = 24
    memory: int = 32 << 30  # bytes of a node
    node_disk: int = 10**12  # bytes of a node
    disk: float = 10.9e12  # bytes of all tables, without averages
    iterations: int = 1579
    iteration_seconds: float = 61 * 60.0
    days: float = 68.5
    core_years: float = 900.0
    ratio: float = 13.0  # of 4-byte numbers
    subgames: int = 110_565
    exploitability: float = 0.986  # mbb/g


PUBLISHED = PublishedSolve()


@dataclasses.dataclass(frozen=True)
class SolvePlan:
    """The demands of a solve.

    Attributes
    ----------
    sizes, types, rates, resources
        From which everything follows.
    iterations : int
        How many.
    checks : int
        How often exploitability is measured.
    base_memory : int
        Bytes of a process before it opens a game.
    block_entries : int
        Entries of a block, unless a single subgame has more.
    published : PublishedSolve, optional
        What the source needed for this game.
    """

    sizes: SubgameSizes
    types: TableTypes
    rates: Rates
    resources: Resources
    iterations: int
    checks: int
    base_memory: int = 0
    block_entries: int = BLOCK_ENTRIES
    published: PublishedSolve | None = None

    # ---------------------------------------------------------------------------------------------- one iteration

    @property
    def numbers_written(self) -> int:
        """Numbers that an iteration writes for each entry."""
        return 1 + self.types.averaged + self.types.predictive

    @property
    def numbers_read(self) -> int:
        """Numbers that an iteration reads for each entry: the player's own, and the opponent's regrets."""
        return self.numbers_written + 1 + self.types.predictive

    @property
    def blocks(self) -> int:
        """Blocks of subgames that are loaded together."""
        return max(1, min(self.sizes.cut.subgames, math.ceil(self.sizes.total / self.block_entries)))

    @property
    def turns(self) -> int:
        """How many blocks the busiest core walks in a pass, one after the other."""
        return math.ceil(math.ceil(self.blocks / self.resources.nodes) / self.resources.cores)

    @property
    def iteration_cpu(self) -> float:
        """CPU seconds of an iteration."""
        rates = self.rates
        each = rates.walk + self.numbers_written * rates.write + self.numbers_read * rates.read
        return self.sizes.total * each + rates.overhead

    @property
    def disk_traffic(self) -> float:
        """Bytes that an iteration reads and writes on all disks."""
        return self.stored * (self.numbers_written + self.numbers_read) / self.numbers_written

    @property
    def network_traffic(self) -> float:
        """Bytes that pass through the driver in an iteration; 0 on one node.

        Down to each node go the reaches of both at the links of the trunk, and which generation of its tables is read;
        up from all together come the values of the hands at every link and first deal.
        """
        if self.resources.nodes == 1:
            return 0.0
        sizes, vector = self.sizes, self.types.vectors.itemsize
        reaches = 2 * sizes.links * sizes.start_hands * vector
        values = sizes.links * sizes.first_hands * vector
        return 2.0 * (self.resources.nodes * (reaches + 32 * self.blocks) + values)

    @property
    def iteration_seconds(self) -> float:
        """Seconds of an iteration: the busiest core or disk, then the driver."""
        driver = self.rates.overhead + self.network_traffic / self.resources.network
        return max(self.core_seconds, self.disk_seconds) + driver

    @property
    def core_seconds(self) -> float:
        """Seconds of an iteration in which the busiest core works."""
        return (self.iteration_cpu - self.rates.overhead) * self.turns / self.blocks

    @property
    def disk_seconds(self) -> float:
        """Seconds of an iteration in which the busiest disk works; 0 where its files stay in memory as well."""
        states = 4 * self.stored * self._largest_share
        return 0.0 if states <= self.resources.cache else self.disk_traffic * self._largest_share / self.rates.disk

    @property
    def idle(self) -> float:
        """The share of the time of all cores in which they have no block to walk."""
        return 1 - self.blocks / (self.turns * self.resources.nodes * self.resources.cores)

    @property
    def _largest_share(self) -> float:
        """The share of the blocks that the fullest node has."""
        return math.ceil(self.blocks / self.resources.nodes) / self.blocks

    # ---------------------------------------------------------------------------------------------- the whole run

    @property
    def check_cpu(self) -> float:
        """CPU seconds of a measurement."""
        return self.sizes.total * (self.rates.check + self.rates.read)

    @property
    def cpu(self) -> float:
        """CPU seconds of the run."""
        return self.rates.start + self.iterations * self.iteration_cpu + self.checks * self.check_cpu

    @property
    def seconds(self) -> float:
        """Seconds of the run, on cores of its own."""
        checked = self.checks * self.check_cpu * self.turns / self.blocks
        return self.rates.start + self.iterations * self.iteration_seconds + checked

    @property
    def days(self) -> float:
        """Days of the run."""
        return self.seconds / DAY

    @property
    def core_years(self) -> float:
        """Years of all cores, idle or not."""
        return self.seconds * self.resources.nodes * self.resources.cores / YEAR

    # ---------------------------------------------------------------------------------------------- room

    @property
    def largest(self) -> BlockSizes:
        """The largest block, by the share that it has of the game."""
        sizes = self.sizes
        behind = sizes.total - sum(sizes.trunk_entries)
        single = sizes.cut.largest_entries >= self.block_entries
        share = min(1.0, max(self.block_entries, sizes.cut.largest_entries) / behind)
        entries = max(sizes.cut.largest) if single else math.ceil(max(sizes.entries) * share)
        parts = (max(sizes.states), sizes.links * sizes.first_hands, sizes.cut.subgames)
        states, values, subgames = (math.ceil(part * share) for part in parts)
        return BlockSizes(entries, states, values, 1 if single else subgames)

    @property
    def node_memory(self) -> int:
        """Bytes in the memory of a node."""
        return self._memory_of(self.resources.cores)

    @property
    def driver_memory(self) -> int:
        """Bytes in the memory of the driver; of the node itself, if there is one."""
        if self.resources.nodes == 1:
            return self.node_memory
        trunk = sum(self.sizes.trunk_entries) * self.types.entry_bytes
        values = self.sizes.links * self.sizes.first_hands * self.types.vectors.itemsize
        return self.base_memory + self.sizes.tree_bytes + 3 * trunk + values

    def _memory_of(self, cores: int) -> int:
        trunk = sum(self.sizes.trunk_entries) * self.types.entry_bytes
        return (
            self.base_memory
            + self.sizes.tree_bytes
            + 3 * trunk
            + BlockWorker.memory_bytes(self.largest, self.types, cores)
        )

    @property
    def stored(self) -> float:
        """Bytes on disk of all tables, once."""
        return self.sizes.total * self.rates.stored

    @property
    def ratio(self) -> float:
        """How far tables of 4-byte numbers would have to be compressed to take as much."""
        return 4 * self.numbers_written / self.rates.stored

    @property
    def copies(self) -> int:
        """States of the tables that are on disk at once, at most.

        Those of the last two checkpoints, the newest one, which may be later, and the one that is being written.
        """
        return 3 if self.iteration_seconds >= CHECKPOINT_SECONDS else 4

    @property
    def disk(self) -> float:
        """Bytes on all disks, at most."""
        return self.copies * self.stored

    @property
    def node_disk(self) -> float:
        """Bytes on the disk of the fullest node, at most."""
        return self.disk * self._largest_share

    def shortages(self) -> list[Shortage]:
        """What there is too little of, and what would be enough."""
        found, given = [], self.resources
        if given.memory is not None and self.node_memory > given.memory:
            found.append(Shortage("memory", self.node_memory, given.memory, self._memory_advice(given.memory)))
        if given.disk is not None and self.node_disk > given.disk:
            fitting = int(given.disk // (self.disk / self.blocks))  # blocks on a node
            more = f", or {math.ceil(self.blocks / fitting):,} nodes like these" if fitting else ""
            found.append(Shortage(
                "disk", self.node_disk, given.disk, f"{format_bytes(self.node_disk)} on each node would be enough{more}"
            ))  # fmt: skip
        return found

    def _memory_advice(self, given: int) -> str:
        enough = f"{format_bytes(self.node_memory)} on each node would be enough"
        one, two = (self._memory_of(cores) for cores in (1, 2))
        if self.resources.cores == 1:
            return enough
        if one > given:
            return f"{enough}, and {format_bytes(one)} if one of its cores worked"
        return f"{enough}, or {1 + (given - one) // (two - one)} of its cores"

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        sizes = self.sizes
        return {
            "game": sizes.name,
            "information_sets": sizes.infosets,
            "entries": sizes.total,
            "float_table_bytes": sizes.float_bytes,
            "subgames": {
                "links": sizes.links, "first_deals": sizes.first_deals, "count": sizes.cut.subgames,
                "largest_entries": sizes.cut.largest_entries,
                "one_round_later": None if sizes.later is None else sizes.later.subgames,
            },
            "tables": {
                "type": self.types.kind.name, "averaged": self.types.averaged, "predictive": self.types.predictive,
            },
            "rates": self.rates._asdict(),
            "resources": self.resources._asdict(),
            "iterations": self.iterations,
            "checks": self.checks,
            "blocks": self.blocks,
            "iteration": {
                "seconds": self.iteration_seconds, "cpu_seconds": self.iteration_cpu,
                "core_seconds": self.core_seconds, "disk_seconds": self.disk_seconds,
                "disk_bytes": self.disk_traffic, "network_bytes": self.network_traffic, "idle": self.idle,
            },
            "seconds": self.seconds, "cpu_seconds": self.cpu, "days": self.days, "core_years": self.core_years,
            "stored_bytes": self.stored, "ratio": self.ratio, "disk_bytes": self.disk,
            "node_disk_bytes": self.node_disk, "node_memory_bytes": self.node_memory,
            "driver_memory_bytes": self.driver_memory,
            "shortages": [one._asdict() for one in self.shortages()],
            "published": None if self.published is None else self.published._asdict(),
        }  # fmt: skip
