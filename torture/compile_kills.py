"""Kills while kernels are being compiled: a command with an empty cache of kernels is killed, and typed again.

Each case has a cache of its own.  The command is killed up to three times, when the cache has got a random number of
files, or a little later; each time the next one begins with what the cache has by then.  The last one is left alone: it
must succeed and write the strategy of a run that was never stopped, and so must one more, which finds all kernels in
the cache.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from torture import children
from torture.folder_contents import contents, damages, differences
from torture.kills import PATIENCE, Row

STRATEGY = "run.strategy"
COMMANDS = {
    name: ("solve", "kuhn", "--algorithm", name, "--iterations", "20", "--out", STRATEGY, "--json", *seed)
    for name, seed in (("cfr+", ()), ("chance-sampling", ("--seed", "1")), ("external-sampling", ("--seed", "1")))
}
"""Those that compile for a few seconds only."""
LATER = 0.3
"""Seconds until a kill after a file of the cache was written; kernels take as long."""


class CompileKills:
    """Kills commands in a folder while they compile, and collects what is found; ``seed`` is of all random choices."""

    def __init__(self, folder: Path, seed: int = 0) -> None:
        self.folder, self.seed = folder, seed
        folder.mkdir(parents=True)
        self.rows = {name: Row(f"compiling {name}") for name in COMMANDS}
        self.failures: list[str] = []
        self._wholes: dict[str, tuple[dict[str, Any], int]] = {}

    @property
    def killed(self) -> int:
        """Kills and signals so far."""
        return sum(row.kills + row.signals for row in self.rows.values())

    def run(self, kills: int, deadline: float, say: Callable[[str], None] = lambda _line: None) -> None:
        """Kill until there were so many kills, or a time of ``time.monotonic``."""
        number = 0
        while self.killed < kills and time.monotonic() < deadline and not self.failures:
            self.case(list(COMMANDS)[number % len(COMMANDS)], number)
            number += 1
            say(f"{self.killed} kills, {len(self.failures)} failures")

    def case(self, name: str, number: int) -> None:
        """Kill a command up to three times while it compiles, let it end, and compare."""
        if name not in self._wholes:
            place = self.folder / f"whole {name}"
            code = self._attempt(name, place)
            self._wholes[name] = contents(place), _files(_kernels(place))
            if code != 0:
                self.failures.append(f"{name}: without a kill: exit code {code} [{place}]")
                return
        whole, files = self._wholes[name]
        rng, row, place = random.Random(f"{self.seed} {number}"), self.rows[name], self.folder / f"case{number}"
        done: list[str] = []
        wrong: list[str] = []
        for _ in range(rng.choice((1, 2, 3))):
            stop = signal.SIGKILL if rng.random() < 0.5 else rng.choice(children.STOPPING)
            at = rng.randint(min(_files(_kernels(place)), files - 1), files - 1)
            code = self._attempt(name, place, stop, at, rng.uniform(0.0, LATER))
            done.append(f"{stop.name} at {at} of {files} files (exit code {code})")
            row.kills += code == -signal.SIGKILL
            row.signals += code != -signal.SIGKILL and code != 0
            wrong += damages(place)
            if code not in (0, children.INTERRUPTED, -stop):
                wrong.append(f"exit code {code}")
        row.runs += 1
        for again in ("typed again", "with all kernels"):
            code = self._attempt(name, place)
            wrong += [f"{again}: exit code {code}"] if code != 0 else []
            wrong += damages(place, ended=True)
            wrong += differences({STRATEGY: contents(place).get(STRATEGY)}, {STRATEGY: whole[STRATEGY]})
        row.ended += 1
        row.comparable += 1
        row.identical += not wrong
        if wrong:
            self.failures.append(f"{name}: {'; '.join(done)}: {'; '.join(wrong)} [{place}]")
        else:
            shutil.rmtree(place)
            shutil.rmtree(_kernels(place), ignore_errors=True)

    def _attempt(
        self, name: str, place: Path, stop: signal.Signals | None = None, files: int = 0, later: float = 0.0
    ) -> int | str:
        """Run a command; stop it, perhaps, when its cache has so many files.  Gives its exit code, minus the signal
        that ended it."""
        place.mkdir(exist_ok=True)
        words = [sys.executable, "-m", "counterplay", *COMMANDS[name]]
        with open(place.with_name(f"{place.name}.output"), "ab") as output:
            process = subprocess.Popen(
                words, cwd=place, env={**os.environ, "NUMBA_CACHE_DIR": str(_kernels(place))},
                stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            )  # fmt: skip
        try:
            if stop is not None:
                while _files(_kernels(place)) < files and process.poll() is None:
                    time.sleep(0.01)
                try:
                    return process.wait(later)
                except subprocess.TimeoutExpired:
                    process.send_signal(stop)
            return process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return "hangs"


def _kernels(place: Path) -> Path:
    """The cache of a folder."""
    return place.with_name(f"{place.name} kernels")


def _files(cache: Path) -> int:
    return sum(path.is_file() for path in cache.rglob("*"))
