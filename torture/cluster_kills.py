"""Runs on a local cluster whose workers are killed and stopped, and whose drivers are killed; full disks, flipped bits.

A case is a run of some iterations with its tables on disk.  At random moments a worker is killed (SIGKILL) or stopped
(SIGSTOP, past its heartbeat), or the driver is killed with all that belongs to it, and the command that a user would
type continues it, with another number of workers.  The strategy must have the bits of a run in one process.

In some cases the driver is killed and a bit of the newest tables is flipped before the run continues: it must say which
block is damaged, and continue from the checkpoint before.  In one the disk is too small (a file system in memory, which
needs the right to mount one): the run must say which block did not fit, and continue when there is room.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from torture.folder_contents import contents, damages, differences

GAME, ITERATIONS = "holdem_2_4(ranks=4,suits=3)", 400
STRATEGY, TABLES, OUTPUT = "run.strategy", "tables", "output"
WORKER = b"ray::BlockActor"
"""How the process of a worker is called."""

CREWS = (1, 2, 2, 3)
"""Numbers of workers."""

KILLED = "driver killed"

PATIENCE = 300.0
"""Seconds in which a run must say something, or end."""

ROOM = 1 << 20
"""Bytes of the disk that is too small."""


@dataclasses.dataclass
class ClusterRow:
    """What was done to runs of a kind, and how many had the right bits."""

    runs: str
    workers_killed: int = 0
    workers_stopped: int = 0
    drivers_killed: int = 0
    bits_flipped: int = 0
    full_disks: int = 0
    cases: int = 0
    identical: int = 0


class ClusterKills:
    """Kills in a folder, and collects what is found; ``seed`` is of all random choices."""

    def __init__(self, folder: Path, seed: int = 0) -> None:
        self.folder, self.rng = folder, random.Random(f"cluster {seed}")
        folder.mkdir(parents=True)
        self.row, self.disk = ClusterRow("solve --cluster local"), ClusterRow("on a small disk")
        self.failures: list[str] = []
        self._whole: dict[str, Any] = {}

    @property
    def rows(self) -> dict[str, ClusterRow]:
        """Those of the report."""
        return {row.runs: row for row in (self.row, self.disk) if row.cases}

    def run(self, workers: int, drivers: int, deadline: float, say: Callable[[str], None] = lambda _line: None) -> None:
        """Kill until there were so many kills of workers and of drivers, or a time of ``time.monotonic``."""
        place, row, number = self.folder / "whole", self.row, 0
        code = self._wait(self._start(place, None), place)
        self._whole = contents(place)
        if code != 0:
            self.failures.append(f"without a kill: exit code {code} [{place}]")
        while not self.failures and time.monotonic() < deadline:
            killed = row.workers_killed + row.workers_stopped
            kills = f"{killed} of {workers} kills of workers, {row.drivers_killed} of {drivers} of drivers"
            say(f"{kills}, {row.identical} of {row.cases} cases identical")
            if killed >= workers and row.drivers_killed >= drivers:
                break
            self.case(number, workers - killed, drivers - row.drivers_killed, deadline)
            number += 1
        if not self.failures and self.row.cases and time.monotonic() < deadline:
            self.small_disk()

    def case(self, number: int, workers: int, drivers: int, deadline: float) -> None:
        """One run, disturbed until it ends or enough was done."""
        rng, row, place = self.rng, self.row, self.folder / f"case{number}"
        driver, done = self._start(place, rng.choice(CREWS)), list[str]()
        while workers + drivers > 0 and time.monotonic() < deadline:
            if not self._ready(driver):
                break
            time.sleep(rng.choice((rng.uniform(0.0, 0.3), rng.uniform(0.0, 3.0), rng.uniform(0.0, 9.0))))
            victims = _workers(driver.pid)
            if drivers > 0 and (workers <= 0 or rng.random() < 0.2):
                driver.kill()
                driver.wait()
                row.drivers_killed, drivers = row.drivers_killed + 1, drivers - 1
                done.append(KILLED)
                self._flip(place, done)
                driver = self._start(place, rng.choice(CREWS))
            elif victims and driver.poll() is None:
                stop = rng.random() < 0.3
                with contextlib.suppress(ProcessLookupError):
                    os.kill(rng.choice(victims), signal.SIGSTOP if stop else signal.SIGKILL)
                    row.workers_stopped, row.workers_killed = (
                        row.workers_stopped + stop,
                        row.workers_killed + (not stop),
                    )
                    workers -= 1
                    done.append("worker stopped" if stop else "worker killed")
        self._judge(row, driver, place, done, [])

    def _judge(
        self, row: ClusterRow, driver: subprocess.Popen[bytes], place: Path, done: list[str], wrong: list[str]
    ) -> None:
        """Let a run end and compare it."""
        code = self._wait(driver, place)
        wrong = [*wrong, *([f"exit code {code}"] if code != 0 else []), *damages(place)]
        if not wrong:
            wrong = differences({STRATEGY: contents(place).get(STRATEGY)}, {STRATEGY: self._whole[STRATEGY]})
        text = (place / OUTPUT).read_text(errors="replace")
        wrong += ["a traceback"] if "Traceback" in text else []
        last = len(done) - [*reversed(done), KILLED].index(KILLED)
        for line in done[last:]:  # a driver that was killed again may not have come to say it
            named = re.search(r"flipped in (block \d+)", line)
            wrong += [f"{named[1]} is not named"] if named and f"{named[1]}, the" not in text else []
        row.cases += 1
        row.identical += not wrong
        if wrong:
            self.failures.append(f"{', '.join(done)}: {'; '.join(wrong)} [{place}]")
        else:
            shutil.rmtree(place, ignore_errors=True)  # a disk that is mounted in it stays until the end

    def _flip(self, place: Path, done: list[str]) -> None:
        """Perhaps flip a bit of what the newest checkpoint alone names."""
        from counterplay.solvers.streamed.block_store import BLOCKS, files_of
        from counterplay.solvers.streamed.run_folder import checkpoint_files
        from counterplay.storage import read_container

        if self.rng.random() < 0.5:
            return
        states = [read_container(path, "checkpoint")[1]["generations"] for path in checkpoint_files(place / TABLES)]
        named = [{file.name: file for file in files_of(found)} for found in states]
        if len(named) < 2:
            return
        own = sorted(set(named[0]) - set(named[1]))
        if not own:
            return
        name = self.rng.choice(own)
        path = place / TABLES / BLOCKS / name
        data = bytearray(path.read_bytes())
        data[self.rng.randrange(len(data) // 2, len(data))] ^= 1 << self.rng.randrange(8)
        path.write_bytes(data)
        self.row.bits_flipped += 1
        done.append(f"bit flipped in block {named[0][name].block}")

    def small_disk(self) -> None:
        """A run on a disk that is full soon; it continues when the disk is larger."""
        place = self.folder / "small disk"
        tables, done = place / TABLES, ["disk full"]
        tables.mkdir(parents=True)
        mount = ["mount", "-t", "tmpfs", "-o", f"size={ROOM}", "tmpfs", os.fspath(tables)]
        if subprocess.run(mount, capture_output=True).returncode != 0:
            tables.rmdir()
            return
        try:
            code, wrong = self._wait(self._start(place, 2), place), list[str]()
            text = (place / OUTPUT).read_text(errors="replace")
            if code == 0 or not re.search(r"block \d+, .* cannot be written to .*: No space left on device", text):
                wrong = [f"exit code {code}, without the name of a block"]
            self.disk.full_disks += 1
            subprocess.run(["mount", "-o", "remount,size=1g", os.fspath(tables)], check=True)
            self._judge(self.disk, self._start(place, 2), place, done, wrong)
        finally:
            subprocess.run(["umount", "-l", os.fspath(tables)], check=False)

    def _start(self, place: Path, workers: int | None) -> subprocess.Popen[bytes]:
        """Start or continue a run, on a cluster of so many workers or in one process."""
        tables = place / TABLES
        begun = (tables / "run.checkpoint").exists()
        place.mkdir(exist_ok=True)
        words = ["--resume", TABLES] if begun else [GAME, "--tables", f"disk:{TABLES}"]
        words += [] if workers is None else ["--cluster", "local", "--workers", str(workers)]
        words += ["--iterations", str(ITERATIONS), "--out", STRATEGY]
        with open(place / OUTPUT, "ab") as output:
            return subprocess.Popen(
                [sys.executable, "-m", "torture.cluster_driver", "solve", *words], cwd=place, stdin=subprocess.DEVNULL,
                stdout=output, stderr=output, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            )  # fmt: skip

    def _ready(self, driver: subprocess.Popen[bytes]) -> bool:
        """Wait until a run has workers; whether it has, and has not ended."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and driver.poll() is None:
            if _workers(driver.pid):
                return True
            time.sleep(0.05)
        return False

    def _wait(self, driver: subprocess.Popen[bytes], place: Path) -> int | str:
        """The exit code of a run, or that it hangs."""
        output, size, heard = place / OUTPUT, -1, time.monotonic()
        while driver.poll() is None:
            if output.stat().st_size != size:
                size, heard = output.stat().st_size, time.monotonic()
            if time.monotonic() - heard > PATIENCE:
                driver.kill()
                driver.wait()
                return "hangs"
            time.sleep(0.05)
        return driver.returncode


def _workers(driver: int) -> list[int]:
    """The processes below another one that walk blocks."""
    parents, found = {}, []
    for entry in os.scandir("/proc"):
        if entry.name.isdecimal():
            with contextlib.suppress(OSError):
                stat = Path(entry.path, "stat").read_text().rsplit(")", 1)[1].split()
                parents[int(entry.name)] = int(stat[1])
                if stat[0] != "T" and Path(entry.path, "cmdline").read_bytes().startswith(WORKER):
                    found.append(int(entry.name))
    return [process for process in found if driver in _above(process, parents)]


def _above(process: int, parents: dict[int, int]) -> list[int]:
    """The processes above another one."""
    found = []
    while process in parents:
        process = parents[process]
        found.append(process)
    return found
