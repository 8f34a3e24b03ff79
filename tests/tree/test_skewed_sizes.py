"""Size estimates of skewed trees: nearly all histories are below actions that random play seldom takes."""

from __future__ import annotations

import dataclasses
import functools
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
    assert found.histories == pytest.approx(HISTORIES)  # random play alone: some hundreds
    assert found.standard_error == 0.0  # all histories that continue from a level are alike
    assert found.ended


@dataclasses.dataclass(frozen=True)
class Purses:
    """Two players bid in turn from their purses, most of the time nothing if the game is to have many histories."""

    turn: int
    coins: tuple[int, int] = (3, 3)

    @property
    def player(self) -> int:
        return TERMINAL if self.turn == TURNS else self.turn % 2

    def actions(self) -> tuple[int, ...]:
        return tuple(range(self.coins[self.turn % 2] + 1))

    def infoset(self) -> str:
        return f"{self.turn} {self.coins}"

    def child(self, action: int) -> Purses:
        first, second = self.coins
        return Purses(self.turn + 1, (first, second - action) if self.turn % 2 else (first - action, second))

    def utilities(self) -> tuple[float, float]:
        return 0.0, 0.0


TURNS = 200


class Bidding(Game):
    """Random players spend all in a few turns; the many histories are those of players who hardly bid."""

    players = 2

    def root(self) -> Purses:
        return Purses(0)

    def spec(self) -> str:
        return "bidding"


@functools.cache
def below(state: Purses) -> int:
    """Histories from a state on, itself included."""
    return 1 + (0 if state.player == TERMINAL else sum(below(state.child(action)) for action in state.actions()))


def test_histories_that_random_play_never_meets_are_counted() -> None:
    for turn in range(TURNS, 0, -1):  # so that the recursion is not deep
        below(Purses(turn))
        below(Purses(turn, (0, 0)))
    expected = below(Purses(0))
    assert expected > 10**11
    found = cp.estimate_size(Bidding())
    assert found.ended
    assert found.histories == pytest.approx(expected, rel=0.3)
    with pytest.raises(MemoryLimitError, match=r"bidding has about .* histories and needs about .*, but only 1.0 GiB"):
        cp.compile_game(Bidding(), memory_limit=1 << 30)


@dataclasses.dataclass(frozen=True)
class Verbose:
    """A small tree whose information sets have names of ten thousand letters."""

    path: str = ""

    @property
    def player(self) -> int:
        return TERMINAL if len(self.path) == 15 else 0

    def actions(self) -> tuple[str, ...]:
        return "a", "b"

    def infoset(self) -> str:
        return self.path + 10_000 * "x"

    def child(self, action: str) -> Verbose:
        return Verbose(self.path + action)

    def utilities(self) -> tuple[float, float]:
        return 0.0, 0.0


class Letters(Game):
    """The game."""

    players = 2

    def root(self) -> Verbose:
        return Verbose()

    def spec(self) -> str:
        return "letters"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not say how much memory a process holds")
def test_a_walk_stops_at_the_memory_that_it_takes_in_truth() -> None:
    with pytest.raises(
        MemoryLimitError, match=r"letters: over [\d,]+ histories, and 10\.0 MiB of memory are not enough"
    ):
        cp.compile_game(Letters(), memory_limit=10 << 20)  # by the number of histories it would need 7.5 MiB


def test_they_are_refused_before_the_walk() -> None:
    with pytest.raises(MemoryLimitError, match=r"skewed has about .* histories and needs about .*, but only 1.0 GiB"):
        cp.compile_game(Skewed(), memory_limit=1 << 30)


SCRIPT = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
from counterplay.runtime.memory import available_memory
first = available_memory()
held = bytearray(1_500_000_000)
print(0 < first < 3 << 30, 800_000_000 < first - available_memory())
"""


def test_the_limit_of_the_process_counts() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True"]
