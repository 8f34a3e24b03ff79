"""The calls by which a process changes files, counted; at one of them it is killed or gets a signal.

A call is: opening a file for writing, each write to it, ``fsync``, and replacing, removing, truncating, creating and
changing the mode of files and folders.  A process that is killed at a write has written half of it.
"""

from __future__ import annotations

import builtins
import io
import os
import signal
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any


class StorageCalls:
    """Counts the calls of this process below a folder, from when it is made.

    Parameters
    ----------
    folder : Path
        Only what is changed below it counts.
    at, number : int, signal
        The call, from 1, at which the process gets the signal; none at 0.
    """

    def __init__(self, folder: Path, at: int = 0, number: int = signal.SIGKILL) -> None:
        self.folder, self.at, self.number = os.path.realpath(folder), at, number
        self.count = 0
        self._open = builtins.open
        builtins.open = io.open = self.open  # type: ignore[assignment]
        for name in ("replace", "rename", "unlink", "remove", "mkdir", "chmod", "truncate"):
            setattr(os, name, self._counted(getattr(os, name)))
        fsync = os.fsync
        os.fsync = lambda file: (self.call(), fsync(file))[1]  # type: ignore[assignment]

    def call(self, torn: Callable[[], Any] | None = None) -> None:
        """Count a call; ``torn`` does half of it."""
        self.count += 1
        if self.count == self.at:
            if torn is not None and self.number == signal.SIGKILL:
                torn()
            os.kill(os.getpid(), self.number)

    def counts(self, path: Any) -> bool:
        """Whether a path lies in the folder."""
        return not isinstance(path, int) and os.path.abspath(os.fsdecode(path)).startswith(self.folder)

    def _counted(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def change(path: Any, *words: Any, **options: Any) -> Any:
            if self.counts(path):
                self.call()
            return function(path, *words, **options)

        return change

    def open(self, path: Any, mode: str = "r", *words: Any, **options: Any) -> Any:
        """In place of Python's own."""
        if not set(mode) & set("wax+") or not self.counts(path):
            return self._open(path, mode, *words, **options)
        self.call()
        return _Torn(self._open(path, mode, *words, **options), self)


class _Torn:
    """A file whose writes are counted."""

    def __init__(self, file: Any, calls: StorageCalls) -> None:
        self._file, self._calls = file, calls

    def write(self, data: Any) -> Any:
        def half() -> None:
            self._file.write(data[: len(data) // 2])
            self._file.flush()

        self._calls.call(half)
        return self._file.write(data)

    def writelines(self, lines: Iterable[Any]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __enter__(self) -> _Torn:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
