"""Fuzzed inputs: changed texts for every parser, and changed files of every kind, each used in a child process.

An input is refused with an error of the library in one text, or accepted.  Any other exception is wrong; a signal is a
crash, more than ``SECONDS`` of CPU time a hang, and no input may take more than ``MEMORY`` bytes.  What went wrong is
kept in a folder; an input depends only on the seed, the format and its number.
"""

from __future__ import annotations

import dataclasses
import json
import os
import random
import shutil
import signal
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from counterplay.errors import CounterplayError
from counterplay.runtime.compiling import Compiling, listening
from counterplay.storage import file_kind
from torture import children
from torture.command_lines import command_lines
from torture.file_changes import FileChanger
from torture.file_samples import all_samples, some_samples
from torture.forged_files import open_for, use
from torture.resumable_verbs import LP
from torture.text_formats import PARSERS, Parser, changed_text, folder_parsers

SECONDS = 10
"""CPU seconds of an input before it hangs; the clock may show six times as many."""
MEMORY = 1 << 30
"""Bytes that an input may take."""
LONGEST_ERROR = 3000
BATCH = 400
"""Inputs of a child."""
OUTCOMES = ("refused", "accepted", "wrong", "crashes", "hangs")


@dataclasses.dataclass
class Format:
    """Something that is read: ``make`` writes an input to a file, ``use`` reads it; ``row`` is its row in the table."""

    row: str
    name: str
    make: Callable[[random.Random, Path], None]
    use: Callable[[Path], Any]
    target: Path
    counts: dict[str, int] = dataclasses.field(default_factory=lambda: dict.fromkeys(OUTCOMES, 0))
    slowest: float = 0.0
    memory: int = 0
    done: int = 0


def text_format(name: str, parser: Parser, folder: Path) -> Format:
    """A format of texts."""
    parse, seeds = parser

    def make(rng: random.Random, path: Path) -> None:
        path.write_text(changed_text(rng, seeds), encoding="utf-8", errors="surrogatepass", newline="")

    def read(path: Path) -> None:
        parse(path.read_bytes().decode("utf-8", "surrogatepass"))

    return Format(name, name, make, read, folder / "input.txt")


def file_format(work: dict[str, Any], folder: Path) -> Format:
    """A format of files."""
    source = Path(work["path"])
    work["kind"] = file_kind(source)
    place = folder / source.name
    if work.get("siblings"):
        shutil.copytree(source.parent, place)
    else:
        place.mkdir()
    open_for(work)
    row = work["kind"] if work["kind"] != "checkpoint" else f"checkpoint, {work['form']}"
    return Format(row, work["name"], FileChanger(source).write, lambda path: use(path, work), place / source.name)


class Fuzz:
    """Tries inputs, and collects what comes of them.

    Parameters
    ----------
    folder : Path
        For everything; ``folder / "wrong"`` keeps the inputs that went wrong.
    seed : int
        Of all inputs.
    quick : bool
        Only a few of the kinds of files.
    """

    def __init__(self, folder: Path, seed: int = 0, quick: bool = False) -> None:
        self.folder, self.seed, self.quick = folder, seed, quick
        self.kept = folder / "wrong"
        for name in ("texts", "samples", "files", "wrong"):
            (folder / name).mkdir(parents=True)
        self.failures: list[str] = []
        self.formats = [
            text_format(name, parser, folder) for name, parser in {**PARSERS, **self._folder_parsers()}.items()
        ]
        self.formats += [file_format(work, folder / "files") for work in self._samples()]

    def _folder_parsers(self) -> dict[str, Parser]:
        found = folder_parsers(self.folder / "texts")
        return {**found, "command line": command_lines(self.folder / "commands")}

    def _samples(self) -> list[dict[str, Any]]:
        """The files to change, made by a child."""
        folder, plan = self.folder / "samples", self.folder / "plan.json"

        def make() -> None:
            plan.write_text(json.dumps((some_samples if self.quick else all_samples)(folder)))

        output = self.folder / "samples.output"
        if children.result(make, 600.0, output) != 0:
            raise RuntimeError(f"the files to change cannot be made: {output.read_text()}")
        found: list[dict[str, Any]] = json.loads(plan.read_text())
        return found

    def run(self, inputs: int, deadline: float, say: Callable[[str], None] = lambda _line: None) -> None:
        """Try so many inputs in all, the same number of each format, or until a time of ``time.monotonic``."""
        warnings.simplefilter("ignore")
        np.seterr(all="ignore")
        for one in self.formats:
            if not one.name.startswith(LP):
                self._warm(one)
        share = -(-inputs // len(self.formats))
        said = time.monotonic()
        for last in [*range(BATCH, share, BATCH), share]:
            for one in self.formats:
                while one.done < last and time.monotonic() < deadline:
                    self._batch(one, last)
                if time.monotonic() - said > 60:
                    said = time.monotonic()
                    say(f"{self.tried} inputs, {len(self.failures)} failures")

    @property
    def tried(self) -> int:
        """Inputs so far."""
        return sum(one.done for one in self.formats)

    def _warm(self, one: Format) -> None:
        """Load what a valid file needs before children are forked."""
        if isinstance(getattr(one.make, "__self__", None), FileChanger):
            shutil.copyfile(one.make.__self__.path, one.target)  # type: ignore[attr-defined]
            one.use(one.target)

    def rng(self, one: Format, number: int) -> random.Random:
        """The source of an input."""
        return random.Random(f"{self.seed} {one.row} {one.name} {number}")

    def _batch(self, one: Format, last: int) -> None:
        """Try inputs in a child up to a number, or to one that kills it."""
        reader, writer = os.pipe()

        def work() -> None:
            os.close(reader)
            os.fsync = lambda _file: None
            children.limit_memory(MEMORY)
            for number in range(one.done, last):
                one.make(self.rng(one, number), one.target)
                found = _tried(one)
                os.write(writer, (json.dumps(found) + "\n").encode())

        child = children.fork(work, self.folder / "child.output")
        os.close(writer)
        with os.fdopen(reader, "rb") as answers:
            for line in answers:
                self._count(one, **json.loads(line))
        code = children.wait(child, 60.0)
        if code != 0:
            hung = code in (-signal.SIGPROF, -signal.SIGALRM)
            self._count(one, "hangs" if hung else "crashes", f"exit code {code}", float(SECONDS if hung else 0), 0)

    def _count(self, one: Format, outcome: str, text: str, seconds: float, memory: int) -> None:
        one.counts[outcome] += 1
        one.slowest, one.memory = max(one.slowest, seconds), max(one.memory, memory)
        if outcome not in ("refused", "accepted"):
            name = f"{one.row}-{one.name}-{self.seed}-{one.done}".replace("/", "_").replace(" ", "_")
            one.make(self.rng(one, one.done), one.target)
            shutil.copyfile(one.target, self.kept / name)
            self.failures.append(f"{one.row}, {one.name}, input {one.done}: {outcome}: {text[:300]} [{name}]")
        one.done += 1


def _tried(one: Format) -> dict[str, Any]:
    """What comes of an input, in this process."""
    before, clock, compiled = children.peak_memory(), time.process_time(), []

    def start_clock(*kernels: Compiling) -> None:
        """Also anew before a kernel is compiled, which happens once and is not the input's time."""
        compiled.extend(kernels)
        signal.setitimer(signal.ITIMER_PROF, 60 if kernels else SECONDS)
        signal.alarm(600 if kernels else 6 * SECONDS)

    start_clock()
    text = ""
    try:
        with listening(start_clock):
            one.use(one.target)
        outcome = "accepted"
    except CounterplayError as error:
        text = str(error)
        one_line = "\n" not in text or one.target.suffix == ".txt"  # which may quote what it was given
        outcome = "refused" if len(text) < LONGEST_ERROR and one_line else "wrong"
    except BaseException as error:
        outcome, text = "wrong", f"{type(error).__name__}: {error}"
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.alarm(0)
    return {
        "outcome": outcome, "text": text[:400] if outcome == "wrong" else "",
        "seconds": 0.0 if compiled else time.process_time() - clock,
        "memory": 0 if compiled else children.peak_memory() - before,
    }  # fmt: skip
