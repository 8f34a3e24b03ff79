"""Races: two processes do the same in one folder at once; one is refused or both succeed, and the result is right."""

from __future__ import annotations

import dataclasses
import os
import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path

from torture import children
from torture.folder_contents import contents, damages, differences
from torture.kills import PATIENCE, Kills, call, frequent_checkpoints
from torture.resumable_verbs import Instance

RACES = ("build leduc", "tournament three agents", "flops two rivers", "solve history cfr+ on history",
         "solve history external-sampling on history", "evaluate split", "abstract leduc")  # fmt: skip
MISUSE = 2


@dataclasses.dataclass
class Race:
    """What was found of a verb: races, runs that were refused because another has the folder, right results."""

    verb: str
    races: int = 0
    refused: int = 0
    identical: int = 0


class Races:
    """Starts pairs of runs; see ``Kills`` for the parameters."""

    def __init__(self, folder: Path, seed: int = 0, only: Callable[[Instance], bool] | None = None) -> None:
        self.kills = Kills(folder, seed, lambda one: f"{one.verb} {one.name}" in RACES and (only is None or only(one)))
        self.folder, self.seed = folder, seed
        self.rows = {one.verb: Race(one.verb) for one in self.kills.instances}
        self.failures: list[str] = []

    def run(self, races: int, deadline: float, say: Callable[[str], None] = lambda _line: None) -> None:
        """So many races, or until a time of ``time.monotonic``."""
        with frequent_checkpoints():
            self.kills.prepare(deadline)
            self.failures += self.kills.failures
            for number in range(races):
                if time.monotonic() > deadline or not self.kills.instances:
                    return
                self._race(self.kills.instances[number % len(self.kills.instances)], number)
                if number % 50 == 49:
                    say(f"{number + 1} races, {len(self.failures)} failures")

    def _race(self, one: Instance, number: int) -> None:
        rng = random.Random(f"{self.seed} {number}")
        whole, row = self.kills.wholes[one], self.rows[one.verb]
        place = self.folder / f"race{number}"
        place.mkdir()
        row.races += 1

        def work() -> int:
            os.chdir(place)
            return call(one.start)

        outputs = [place.with_name(f"{place.name}.{which}") for which in ("first", "second")]
        first = children.fork(work, outputs[0])
        time.sleep(rng.choice((0.0, rng.uniform(0.0, whole.seconds))))
        pair = (first, children.fork(work, outputs[1]))
        codes = [children.wait(child, PATIENCE) for child in pair]
        wrong = []
        for code, output in zip(codes, outputs, strict=True):
            if code == MISUSE and "another process is" in output.read_text():
                row.refused += 1
            elif code != 0:
                wrong.append(f"exit code {code}: {output.read_text()[-200:]}")
        if MISUSE in codes and 0 not in codes:
            wrong.append("none of them succeeded")
        wrong += damages(place, ended=True) or differences(contents(place), whole.content)
        if wrong:
            self.failures.append(f"{one.verb}, {one.name}: {'; '.join(wrong)} [{place}]")
            return
        row.identical += 1
        shutil.rmtree(place)
        for output in outputs:
            output.unlink()
