"""What the verbs share: reading options, compiling with a progress line, writing JSON and numbers."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from counterplay.errors import CounterplayError, SolverError
from counterplay.runtime.progress import ProgressCallback

PLOT_FORMATS = (".png", ".svg", ".pdf")


def print_json(values: Mapping[str, Any]) -> None:
    """One JSON object on standard output."""
    print(json.dumps(values))


def say(text: str = "") -> None:
    """A line on standard output."""
    print(text)


def note(text: str) -> None:
    """A line on standard error, where it does not disturb scripts."""
    print(text, file=sys.stderr)


def say_next(*commands: tuple[str, str]) -> None:
    """The next commands, each with what it does, as lines that can be pasted into a shell."""
    say()
    say("Next:")
    width = max(len(command) for command, _ in commands)
    for command, what in commands:
        say(f"  {command:<{width}}  # {what}")


def table(rows: Sequence[tuple[str, str]]) -> None:
    """Rows of a name and a value, aligned."""
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        say(f"  {name:<{width}}  {value}")


def check_writable(*paths: Path | None, replaced: bool = False) -> None:
    """Refuse outputs that cannot be written, before the work starts rather than after it.

    A file that is ``replaced`` needs a writable folder, even if the old one exists.
    """
    for path in paths:
        if path is None:
            continue
        check_name(path)
        folder = path.parent
        if not os.path.isdir(folder):
            raise CounterplayError(f"there is no folder {folder} to write {path.name} into")
        if os.path.isdir(path):
            raise CounterplayError(f"{path} is a folder; name a file in it")
        needed = [path if os.path.exists(path) else folder]
        if replaced and os.path.isfile(path):
            needed.append(folder)
        if not all(os.access(place, os.W_OK) for place in needed):
            raise CounterplayError(f"{path} cannot be written")


def check_workers(cluster: str | None, workers: int | None, instead: str) -> None:
    """Refuse a number of workers without a cluster."""
    if cluster is None and workers is not None:
        raise CounterplayError(f"--workers {workers} is for --cluster local or HOST:PORT; {instead}")


def check_name(path: Path) -> None:
    """Refuse the name of an output, a file or a folder, that no file can have."""
    try:
        os.lstat(path)
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:  # too long, or with a character that names cannot have
        raise CounterplayError(f"{path} cannot be written: {getattr(error, 'strerror', None) or error}") from None


def check_plot(path: Path | None) -> None:
    """Refuse a plot in an unsupported format."""
    if path is not None and path.suffix.lower() not in PLOT_FORMATS:
        raise SolverError(f"a plot is a {', '.join(PLOT_FORMATS)} file; got {str(path)!r}")


@contextlib.contextmanager
def compile_status(name: str, quiet: bool) -> Iterator[ProgressCallback | None]:
    """A live count of what is compiled or counted so far, on a terminal: what ``open_game`` takes as progress."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console

    with Console(stderr=True).status("compiling") as status:
        yield lambda now: status.update(
            f"{now.stage}: {now.iterations:,} of {now.total or 0:,}"
            if now.stage
            else f"compiling {name}: {now.iterations:,} histories"
        )
