"""What a run has left in a folder: whether it is whole, and what must be the same after an interruption."""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path
from typing import Any

from counterplay.errors import CounterplayError
from counterplay.storage import LOCK, file_kind, lock_folder, read_container

CONTAINERS = (".checkpoint", ".strategy", ".cpa", ".counts", ".observations", ".run", ".solved", ".features", ".block")
TIMES = ("seconds", "cpu_seconds", "nodes_per_second", "words_per_second", "version")
"""What differs between runs, wherever it is in a file."""
OLDER = ("previous.checkpoint",)
"""Files that hold what a run was at an earlier moment, which depends on the clock."""
PICTURES = (".html", ".png", ".md", ".csv", ".std", ".err")
"""Files that are written last, once, and contain times; they must only be there."""


def damages(folder: Path, ended: bool = False) -> list[str]:
    """What is damaged in a folder after a kill; if the run has ended since, nothing may be left of the kill."""
    found = []
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_dir():
            continue
        if path.name.endswith(".part"):
            found += [f"{name} is left"] if ended else []
        elif path.name == LOCK:
            found += _held(path.parent) if ended else []
        else:
            try:
                _read(path, folder)
            except (CounterplayError, ValueError, OSError) as error:
                found.append(f"{name}: {error}")
    return found


def _held(folder: Path) -> list[str]:
    try:
        with lock_folder(folder, "working"):
            return []
    except CounterplayError as error:
        return [str(error)]


def _read(path: Path, folder: Path) -> Any:
    """The content of a file, without times and the name of the folder."""
    kind = file_kind(path)
    if kind is not None:
        header, arrays = read_container(path, kind)
        if header.get("what") == "response curve":  # the last number of a point is its time
            arrays = {**arrays, "found": arrays["found"][:, :-1]}
        prints = {
            name: f"{array.dtype} {array.shape} {hashlib.sha256(array.tobytes()).hexdigest()}"
            for name, array in arrays.items()
        }
        return {"kind": kind, "header": _timeless(header, folder), "arrays": prints}
    if path.suffix in CONTAINERS or path.name == "jobs":
        raise ValueError("cannot be read as one of our files")
    if path.suffix == ".json":
        return _timeless(json.loads(path.read_bytes()), folder)
    if path.suffix == ".jsonl":
        whole = path.read_bytes().split(b"\n")[:-1]  # a line that was cut off is dropped by whoever continues
        return sorted(json.dumps(_timeless(json.loads(line), folder), sort_keys=True) for line in whole)
    if path.suffix == ".tlog":
        return [line.split()[:2] for line in path.read_text(encoding="ascii").split("\n")[:-1]]
    return None if path.suffix in PICTURES else path.read_bytes()


def contents(folder: Path) -> dict[str, Any]:
    """The content of all files, without times, by their names."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name not in (LOCK, *OLDER)]
    named = _named_blocks(folder)
    files = [path for path in files if path.suffix != ".block" or path in named]
    return {path.relative_to(folder).as_posix(): _read(path, folder) for path in files}


def _named_blocks(folder: Path) -> set[Path]:
    """The tables on disk that the newest checkpoint of a run names; those of the one before it depend on the clock."""
    from counterplay.solvers.streamed.block_store import files_of
    from counterplay.solvers.streamed.run_folder import NEWEST
    from counterplay.solvers.streamed.workers import BLOCKS

    found: set[Path] = set()
    for path in folder.rglob(NEWEST):
        generations = read_container(path, "checkpoint")[1].get("generations")
        if generations is not None:
            found |= {path.parent / BLOCKS / file.name for file in files_of(generations)}
    return found


def _timeless(value: Any, folder: Path) -> Any:
    """A value of JSON without what depends on the clock or the folder; equal to itself, unlike NaN."""
    if isinstance(value, dict):
        rows = value.get("curve")
        if rows and isinstance(rows[0], list):  # iterations, seconds, CPU seconds, exploitability, ...
            value = {**value, "curve": [[row[0], *row[3:]] for row in rows]}
        return {name: _timeless(inner, folder) for name, inner in value.items() if name not in TIMES}
    if isinstance(value, list):
        return [_timeless(inner, folder) for inner in value]
    if isinstance(value, str):
        return value.replace(str(folder), "")
    return "nan" if isinstance(value, float) and math.isnan(value) else value


def differences(found: Any, expected: Any, place: str = "") -> list[str]:
    """Where two contents differ."""
    if isinstance(found, dict) and isinstance(expected, dict):
        parts = [
            differences(found.get(name), expected.get(name), f"{place}.{name}" if place else str(name))
            for name in sorted(found.keys() | expected.keys())
        ]
        return [line for part in parts for line in part]
    return [] if found == expected else [f"{place} is {str(found)[:60]}, not {str(expected)[:60]}"]
