"""The folder of a run whose tables are on disk: two checkpoints, and the tables that they name.

A checkpoint holds what is in memory, and says which generation of each table on disk belongs to it.  The newest but one
is kept with its tables, so that a damaged file costs the iterations since then and no more.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import numpy as np

from counterplay.errors import SolverError, StrategyError
from counterplay.solvers.streamed.block_store import Generations
from counterplay.storage import lock_folder, read_container, remove_abandoned, replace_file

NEWEST, PREVIOUS = "run.checkpoint", "previous.checkpoint"


class RunFolder:
    """The folder of a run, held so that no other process works in it; ``close`` lets it go.

    Raises
    ------
    SolverError
        If a ``fresh`` one is asked for, and there is a run in it.
    CounterplayError
        If another process works in it, or it cannot be written.
    """

    def __init__(self, path: str | os.PathLike[str], fresh: bool = False) -> None:
        self.path = Path(path)
        if os.path.exists(self.path) and not os.path.isdir(self.path):
            raise SolverError(f"tables need a folder; {self.path} is a file")
        self._held = contextlib.ExitStack()
        self._held.enter_context(lock_folder(self.path, "solving"))
        for name in (NEWEST, PREVIOUS):
            remove_abandoned(self.path / name)
        if fresh and self.checkpoints():
            self.close()
            raise SolverError(
                f"{self.path} holds the tables of a run; continue it with counterplay solve --resume {self.path}, or "
                "name another folder"
            )

    @property
    def newest(self) -> Path:
        """The newest checkpoint, whether it exists or not."""
        return self.path / NEWEST

    def checkpoints(self) -> list[Path]:
        """Those that exist, the newest first."""
        return checkpoint_files(self.path)

    def keep_newest(self) -> None:
        """Make a copy of the newest checkpoint the previous one."""
        if self.newest.exists():
            self._copy(self.newest, self.path / PREVIOUS)

    def fall_back(self) -> None:
        """Make the previous checkpoint the newest one."""
        self._copy(self.path / PREVIOUS, self.newest)

    def _copy(self, source: Path, target: Path) -> None:
        try:
            replace_file(target, source.read_bytes())
        except OSError as error:
            raise StrategyError(f"cannot write {target}: {error.strerror or error}") from error

    def named(self, shape: tuple[int, ...]) -> list[Generations]:
        """The generations that checkpoints name, of those that can be read and have this shape."""
        found = []
        for path in self.checkpoints():
            with contextlib.suppress(StrategyError, KeyError):
                generations = np.array(read_container(path, "checkpoint")[1]["generations"])
                if generations.shape == shape and generations.dtype == np.int64:
                    found.append(generations)
        return found

    def close(self) -> None:
        """Let the folder go."""
        self._held.close()


def checkpoint_files(path: str | os.PathLike[str]) -> list[Path]:
    """A checkpoint that is given by its name, or those of a run that is given by its folder, the newest first."""
    place = Path(path)
    return [place / name for name in (NEWEST, PREVIOUS) if (place / name).exists()] if os.path.isdir(place) else [place]


def run_folder(path: str | os.PathLike[str]) -> Path:
    """The folder of a run that is given by its folder or by one of its checkpoints."""
    return Path(path) if os.path.isdir(path) else Path(path).parent
