"""Size estimates of skewed trees: nearly all histories are below actions that random play seldom takes."""

from __future__ import annotations

import dataclasses
import subprocess
import sys

import pytest

import counterplay as cp
from counterplay.errors import MemoryLimitError
from counterplay.game.game import TERMINAL, Game


@dataclasses.dataclass(frozen=True)
class Level:
    """After some moves that went on; one of six actions goes on, with two ways, the others end the game."""

    depth: int
    way: bool = False  # whether the way is chosen next
    over: bool = False

    @property
    def player(self) -> int:
        return TERMINAL if self.over or self.depth == 40 else 0

    def actions(self) -> tuple[str, ...]:
        return ("left", "right") if self.way else ("on", "a", "b", "c", "d", "e")

    def infoset(self) -> str:
        return f"{self.depth} {self.way}"

    def child(self, action: str) -> Level:
        if self.way:
            return Level(self.depth + 1)
        return Level(self.depth, action == "on", action != "on")

    def utilities(self) -> tuple[float, float]:
        return 0.0, 0.0


class Skewed(Game):
    """The game; histories: 1 at the start, and at each level 6 for each, of which one has 2 below."""

    players = 2

    def root(self) -> Level:
        return Level(0)

    def spec(self) -> str:
        return "skewed"


HISTORIES = 1 + sum(2**level * (6 + 2) for level in range(40))


def test_skewed_trees_are_probed_deeper() -> None:
    found = cp.estimate_size(Skewed())
    assert found.histories == pytest.approx(HISTORIES, rel=0.5)  # random play alone: some hundreds
    assert found.ended


def test_they_are_refused_before_the_walk() -> None:
    with pytest.raises(MemoryLimitError, match=r"skewed has about .* histories and needs about .*, but only 1.0 GiB"):
        cp.compile_game(Skewed(), memory_limit=1 << 30)


SCRIPT = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
from counterplay.runtime.memory import available_memory
first = available_memory()
held = bytearray(500_000_000)
print(0 < first < 3 << 30, 400_000_000 < first - available_memory())
"""


def test_the_limit_of_the_process_counts() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True"]
