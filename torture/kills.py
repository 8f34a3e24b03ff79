"""Kills: every resumable verb is killed, at random times and at random changes of files, continued, and compared.

A run is started in an empty folder by its command line and gets a signal: SIGKILL at a random moment or at a random
storage call (torn: half of a write is on the disk), or one or two of SIGTERM, SIGINT and SIGHUP.  Then it is continued
by the command that a user would type, and perhaps killed again.  After every kill all files must be readable; when it
is allowed to end it must succeed, leave nothing of the kills, and have the bits of a run that was never stopped.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import os
import random
import shutil
import signal
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from torture import children
from torture.folder_contents import contents, damages, differences
from torture.resumable_verbs import Instance, instances
from torture.storage_calls import StorageCalls

PATIENCE = 120.0
"""Seconds after which a run hangs."""
OFTEN = 3
"""How many times more often instances are killed of whose kind there are not many."""
ORPHANS = 5.0
"""Seconds after which processes that a killed run has started must be gone."""


@dataclasses.dataclass
class Row:
    """What was found of a verb: kills, runs that were continued to their end, and those with the same bits."""

    verb: str
    kills: int = 0
    signals: int = 0
    runs: int = 0
    ended: int = 0
    comparable: int = 0
    identical: int = 0


@dataclasses.dataclass
class Whole:
    """A run that is never stopped: its content, its seconds and its storage calls."""

    content: dict[str, Any]
    seconds: float
    calls: int


@dataclasses.dataclass(frozen=True)
class Stop:
    """How a run is stopped: by a signal at a storage call, or after some seconds; a second one after a pause."""

    number: int
    call: int = 0
    seconds: float = 0.0
    pause: float | None = None

    def __str__(self) -> str:
        when = f"at storage call {self.call}" if self.call else f"after {self.seconds:.4f} s"
        again = "" if self.pause is None else f", again {self.pause:.4f} s later"
        return f"{signal.Signals(self.number).name} {when}{again}"


class Kills:
    """Kills runs in a folder, and collects what is found.

    Parameters
    ----------
    folder : Path
        For all runs; those that went wrong are kept there.
    seed : int
        Of all random choices; the clock is another source of chance.
    only : callable, optional
        Which instances are run.
    """

    def __init__(self, folder: Path, seed: int = 0, only: Callable[[Instance], bool] | None = None) -> None:
        self.folder, self.seed = folder, seed
        self.shared = folder / "shared"
        self.shared.mkdir(parents=True)
        self.instances = [one for one in instances(self.shared) if only is None or only(one)]
        self.rows = {one.verb: Row(one.verb) for one in self.instances}
        self.failures: list[str] = []
        self.wholes: dict[Instance, Whole] = {}

    def run(self, kills: int, deadline: float, say: Callable[[str], None] = lambda _line: None) -> None:
        """Kill until there were so many kills, or a time of ``time.monotonic``."""
        with frequent_checkpoints():
            self.prepare(deadline)
            order = [*self.instances, *(one for one in self.instances for _ in range(OFTEN) if not one.many)]
            number = said = 0
            while order and (self.killed < kills or number < len(self.instances)) and time.monotonic() < deadline:
                self.case(order[number % len(order)], number)
                number += 1
                if self.killed - said >= 50:
                    said = self.killed
                    say(f"{said} kills, {len(self.failures)} failures")

    def prepare(self, deadline: float) -> None:
        """Run every instance to its end; one that fails is left out, and one that comes after the deadline."""
        for one in list(self.instances):
            whole = self._whole(one) if time.monotonic() < deadline else None
            if whole is None:
                self.instances.remove(one)
            else:
                self.wholes[one] = whole

    @property
    def killed(self) -> int:
        """Kills and signals so far."""
        return sum(row.kills + row.signals for row in self.rows.values())

    def _whole(self, one: Instance) -> Whole | None:
        """Run an instance to its end: once here, so that its kernels are loaded, and once in a child."""
        place = self.folder / "whole"
        if one.forks:
            with _inside(place), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                call(one.start)
        count = self.folder / "count"
        started = time.monotonic()
        code, _ = self._attempt(one, place, None, count)
        seconds = time.monotonic() - started
        wrong = damages(place, ended=True)
        if code != 0 or wrong:
            self._fail(one, "without a kill", place, [f"exit code {code}", *wrong])
            return None
        return Whole(contents(place), seconds, int(count.read_text()))

    def _attempt(self, one: Instance, place: Path, stop: Stop | None, count: Path | None = None) -> tuple[Any, bool]:
        """Run or continue an instance in a folder; gives its exit code, and whether it was stopped by a signal."""
        if stop is None and count is not None:
            shutil.rmtree(place, ignore_errors=True)
        place.mkdir(exist_ok=True)
        words = one.command(place)

        def work() -> int:
            os.chdir(place)
            calls = StorageCalls(place, stop.call if stop else 0, stop.number if stop else 0)
            if one.around is not None:
                one.around()
            code = call(words)
            if count is not None:
                count.write_text(str(calls.count))
            return code

        output = place.with_name(place.name + ".output")
        child = children.fork(work, output)
        if stop is not None and not stop.call:
            code = children.wait(child, stop.seconds)
            if code is None:
                children.send(child, stop.number)
        else:
            code = None
        if code is None and stop is not None and stop.pause is not None:
            code = children.wait(child, stop.pause)
            if code is None:
                children.send(child, stop.number)
        if code is None:
            code = children.wait(child, PATIENCE)
        if code is None:
            children.send(child, signal.SIGKILL)
            children.wait(child, PATIENCE)
            code = "hangs"
        if children.remains(child, ORPHANS):
            code = f"{code}, and left processes running"
        stopped = code == children.INTERRUPTED or (stop is not None and code == -stop.number)
        return code, stopped

    def case(self, one: Instance, number: int) -> None:
        """Kill an instance up to three times, continue it, and compare."""
        rng = random.Random(f"{self.seed} {number}")
        whole, row = self.wholes[one], self.rows[one.verb]
        place = self.folder / f"case{number}"
        done: list[str] = []
        for _ in range(rng.choice((1, 1, 2, 3))):
            stop = random_stop(rng, whole)
            code, stopped = self._attempt(one, place, stop)
            done.append(f"{stop} (exit code {code})")
            if stopped and stop.number == signal.SIGKILL:
                row.kills += 1
            elif stopped:
                row.signals += 1
            if not stopped and code != 0:
                self._fail(one, done, place, [f"exit code {code}"])
                return
            wrong = damages(place)
            if wrong:
                self._fail(one, done, place, wrong)
                return
        row.runs += 1
        code, _ = self._attempt(one, place, None)
        wrong = damages(place, ended=True)
        if code != 0 or wrong:
            self._fail(one, done, place, [f"continued: exit code {code}", *wrong])
            return
        row.ended += 1
        found = contents(place)
        if one.same:
            row.comparable += 1
            different = differences(found, whole.content)
            if different:
                self._fail(one, done, place, different)
                return
            row.identical += 1
        elif found.keys() != whole.content.keys():
            self._fail(one, done, place, ["other files"])
            return
        shutil.rmtree(place)
        place.with_name(place.name + ".output").unlink(missing_ok=True)

    def _fail(self, one: Instance, how: Iterable[str] | str, place: Path, wrong: Iterable[str]) -> None:
        said = how if isinstance(how, str) else "; ".join(how)
        self.failures.append(f"{one.verb}, {one.name}: {said}: {'; '.join(wrong)} [{place}]")


def random_stop(rng: random.Random, whole: Whole) -> Stop:
    """Half of them kills, half of them at storage calls."""
    number = signal.SIGKILL if rng.random() < 0.6 else rng.choice(children.STOPPING)
    pause = rng.uniform(0.0, 0.05) if number != signal.SIGKILL and rng.random() < 0.3 else None
    if rng.random() < 0.6 and whole.calls:
        return Stop(number, call=rng.randint(1, whole.calls), pause=pause)
    return Stop(number, seconds=rng.uniform(0.0, whole.seconds), pause=pause)


def call(words: Iterable[str]) -> int:
    """Run a command line in this process."""
    from counterplay.cli.main import main

    return main(list(words))


@contextlib.contextmanager
def _inside(place: Path) -> Any:
    """An empty folder as the present one."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    with contextlib.chdir(place):
        yield


@contextlib.contextmanager
def frequent_checkpoints() -> Any:
    """Runs save themselves whenever they could."""
    from counterplay.build import pipeline
    from counterplay.runs import run
    from counterplay.runtime import jobs

    places = ((pipeline, "CHECKPOINT_SECONDS"), (run, "CHECKPOINT_SECONDS"), (jobs, "SAVE_SECONDS"))
    before = [getattr(module, name) for module, name in places]
    for module, name in places:
        setattr(module, name, -1.0)
    try:
        yield
    finally:
        for (module, name), value in zip(places, before, strict=True):
            setattr(module, name, value)
