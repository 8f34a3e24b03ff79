"""The tables of blocks on disk, compressed, one file for each block, player, kind of table and generation.

A file is never changed: an iteration reads the *generation* that an earlier one has written, and writes its own.  So a
run that is interrupted or killed leaves what it had before, and a pass over a block can be repeated.  Whatever no
complete state needs any more is removed.  Files are named after what they hold, in one folder; they are written
atomically, and waited for (``sync``) when a checkpoint is going to name them.
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import StrategyError
from counterplay.runtime.header_checks import check_header
from counterplay.solvers.streamed.codec import decode, encode
from counterplay.storage import read_container, synchronise, write_container

BLOCKS = "blocks"
"""The folder of the tables inside that of a run."""

REGRET, AVERAGE = 0, 1
"""Kinds of files: regrets, their scales and predictions; averages and their scales."""

KINDS = ("regret", "average")

TABLES = (("regret", "regret_scale", "prediction"), ("average", "average_scale"))
"""The tables of a player in the files of each kind, as in ``Tables``."""

Generations = NDArray[np.int64]
"""(B, 2, 2): the generation of the tables of each block, player and kind; 0 has no file, its tables are those of the
start.
"""

_NAME = re.compile(rf"block(\d+)-player([12])-({'|'.join(KINDS)})-(\d+)\.block")


class BlockFile(NamedTuple):
    """What a file holds."""

    block: int
    player: int
    kind: int
    generation: int

    @property
    def name(self) -> str:
        """The name of the file."""
        return f"block{self.block:06d}-player{self.player + 1}-{KINDS[self.kind]}-{self.generation}.block"

    @property
    def title(self) -> str:
        """What it holds, in words."""
        return (
            f"block {self.block}, the {KINDS[self.kind]}s of player {self.player + 1} after iteration {self.generation}"
        )


class BlockHeader(TypedDict):
    """What the header of a file holds."""

    block: int
    player: int
    generation: int
    sizes: dict[str, int]
    types: dict[str, str]


class StoreCounts(NamedTuple):
    """Bytes of files that were read and written, and of the tables in what was written; seconds spent waiting."""

    read: int = 0
    written: int = 0
    tables: int = 0
    waited: float = 0.0

    def plus(self, other: StoreCounts) -> StoreCounts:
        """The sums."""
        return StoreCounts(
            self.read + other.read, self.written + other.written, self.tables + other.tables, self.waited + other.waited
        )  # fmt: skip


class BlockStore:
    """The files of a folder.

    Several threads may read and write; ``sync``, ``retire`` and ``verify`` are called while nobody does.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StrategyError(f"{self.folder} cannot be written: {error.strerror or error}") from None
        self._lock = threading.Lock()
        self._waiting: set[BlockFile] = set()  # not known to be on the disk

    def write(self, file: BlockFile, tables: Mapping[str, NDArray[Any]]) -> StoreCounts:
        """Write tables by name.

        Raises
        ------
        StrategyError
            If there is no room.  Everything that was written before is whole.
        """
        header = {
            "block": file.block,
            "player": file.player,
            "generation": file.generation,
            "sizes": {name: len(table) for name, table in tables.items()},
            "types": {name: table.dtype.name for name, table in tables.items()},
        }
        codes = {name: encode(table) for name, table in tables.items()}
        path = self.folder / file.name
        try:
            write_container(path, "block", header, codes, durable=False)
        except StrategyError as error:
            reason = getattr(error.__cause__, "strerror", None) or error
            raise StrategyError(
                f"{file.title}, cannot be written to {self.folder}: {reason}; what was kept before is whole, so make "
                "room and continue the run with --resume"
            ) from error
        with self._lock:
            self._waiting.add(file)
        size = sum(code.nbytes for code in codes.values())
        return StoreCounts(0, size, sum(table.nbytes for table in tables.values()))

    def read(self, file: BlockFile, tables: Mapping[str, NDArray[Any]]) -> StoreCounts:
        """Fill tables by name from a file, which has them all.

        Raises
        ------
        StrategyError
            If the file is missing or damaged; the message names the block and the file.
        """
        with self._explained(file):
            header, codes = read_container(self.folder / file.name, "block")
            check_header(self.folder / file.name, header, BlockHeader)
            for name, table in tables.items():
                if (header["sizes"].get(name), header["types"].get(name)) != (len(table), table.dtype.name):
                    raise ValueError(f"its {name} are not the {len(table):,} {table.dtype.name} of this game")
                decode(np.ascontiguousarray(codes[name], np.uint8), table)
        return StoreCounts(sum(code.nbytes for code in codes.values()))

    @contextlib.contextmanager
    def _explained(self, file: BlockFile) -> Iterator[None]:
        try:
            yield
        except (StrategyError, ValueError, KeyError, TypeError) as error:
            raise StrategyError(
                f"{file.title}, cannot be used: {error} [{self.folder / file.name}]; counterplay solve --resume "
                f"{self.folder.parent} continues from the last checkpoint that is whole"
            ) from None

    def verify(self, generations: Generations) -> None:
        """Compare the checksums of all files of a state; raises StrategyError about the first that is damaged."""
        for file in files_of(generations):
            with self._explained(file):
                read_container(self.folder / file.name, "block")

    def sync(self, files: Iterable[BlockFile] | None = None) -> None:
        """Wait until everything that was written is on the disk, or these files, which others may have written."""
        try:
            for file in sorted(self._waiting) if files is None else files:
                synchronise(self.folder / file.name)
            if os.name == "posix":
                synchronise(self.folder)
        except OSError as error:
            raise StrategyError(f"the tables in {self.folder} cannot be written: {error.strerror or error}") from None
        self._waiting.clear()

    def retire(self, kept: Sequence[Generations]) -> None:
        """Remove every file that no state in ``kept`` needs, and what killed runs have left."""
        needed = {file.name for state in kept for file in files_of(state)}
        self._waiting = {file for file in self._waiting if file.name in needed}
        for entry in list(os.scandir(self.folder)):
            left = entry.name.startswith(".") and entry.name.endswith(".part")
            if entry.name not in needed and (left or _NAME.fullmatch(entry.name)):
                with contextlib.suppress(OSError):
                    os.unlink(entry.path)

    def newest(self, num_blocks: int) -> NDArray[np.int64]:
        """The newest generation of which there is a file of each block; 0 without any."""
        found = np.zeros(num_blocks, np.int64)
        for name in os.listdir(self.folder):
            match = _NAME.fullmatch(name)
            if match and int(match[1]) < num_blocks:
                found[int(match[1])] = max(found[int(match[1])], min(int(match[4]), 2**62))
        return found

    def stored(self, generations: Generations) -> int:
        """Bytes of the files of a state."""
        found = 0
        for file in files_of(generations):
            with contextlib.suppress(OSError):
                found += (self.folder / file.name).stat().st_size
        return found


def files_of(generations: Generations) -> Iterable[BlockFile]:
    """The files of a state."""
    places = np.argwhere(generations > 0)
    for block, player, kind in places.tolist():
        yield BlockFile(block, player, kind, int(generations[block, player, kind]))
