"""Shared by experiments on self-refining abstractions: the games, the settings, a run and the memory it used.

Čermák 2018, section 5.3.  Exploitability there is the sum over players, which is NashConv here.  One iteration updates
both players (the source does not say; its library does so).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence

from counterplay.errors import CounterplayError
from counterplay.forms import open_game
from counterplay.runtime.pacing import PacedSteps, next_check
from counterplay.solvers import CfrIra, DoubleOracle, Fpira, Solver, make_solver
from counterplay.solvers.word_counts import MemoryWords, memory_words
from counterplay.tree.history.game_tree import GameTree

GAMES = {
    "GP4": "graph_pursuit(4)", "GP5": "graph_pursuit(5)", "GP6": "graph_pursuit(6)",
    "GP4t": "graph_pursuit(4,tie=1)", "GP5t": "graph_pursuit(5,tie=1)", "GP6t": "graph_pursuit(6,tie=1)",
    "GS4": "ii_goofspiel(4)", "GS5": "ii_goofspiel(5)", "GS6": "ii_goofspiel(6)",
    "P111": "generic_poker(1,1,1)", "P122": "generic_poker(1,2,2)", "P222": "generic_poker(2,2,2)",
    "P224": "generic_poker(2,2,4)",
}  # fmt: skip
"""The games by their names in the source; with ``t``, a tie is worth 1 to the attacker, as in the author's program."""

SMALL = ("GP5", "GS5", "P222")
LARGE = ("GP6", "GP6t", "GS6", "P224")
QUICK = ("GP4", "GS4", "P111")

SETTINGS = {
    f"B{k_b}H{k_h}": (k_b, k_h) for k_b, k_h in ((10, 90), (50, 50), (100, 0), (100, 900), (500, 500), (1000, 0))
}
"""How many sets are sampled for the bound and for the heuristic update, by the names in the source."""

TARGET = 0.05
DELAY = 100


@dataclasses.dataclass(frozen=True)
class Point:
    """A point of a run: iterations, NashConv, abstract sets, words of memory, CPU seconds without measuring."""

    iterations: int
    nash_conv: float
    sets: int
    seconds: float
    words: MemoryWords | None = None


def pick_games(games: str | None, quick: bool) -> tuple[str, ...]:
    """The games of an option such as ``GP5,GS5``, or the usual ones."""
    if games is None:
        return QUICK if quick else SMALL
    chosen = tuple(name.strip() for name in games.split(","))
    for name in chosen:
        if name not in GAMES:
            raise CounterplayError(f"unknown game {name!r}; there are {', '.join(GAMES)}")
    return chosen


def name_in_source(name: str) -> str:
    """The name of a game in the source, where the rules of the text and of the program have one name."""
    return name.removesuffix("t")


def trees(names: Iterable[str]) -> dict[str, GameTree]:
    """The games, compiled."""
    return {name: open_game(GAMES[name], "history") for name in names}


def solver_for(tree: GameTree, algorithm: str, seed: int = 0, forced: bool = False) -> Solver:
    """A solver by the name of the source: CFR+, FPIRA, double oracle, or CFR+IRA by its sample sizes (B10H90).

    With ``forced`` CFR+IRA samples sets with one action as well.
    """
    if algorithm in SETTINGS:
        k_b, k_h = SETTINGS[algorithm]
        return make_solver(tree, "cfr+ira", k_b=k_b, k_h=k_h, delay=DELAY, seed=seed, skip_single_action=not forced)
    if algorithm == "CFR+":
        return make_solver(tree, "cfr+", delay=DELAY)
    if algorithm == "FPIRA":
        return make_solver(tree, "fpira")
    if algorithm == "double oracle":
        return make_solver(tree, "double-oracle", default="first")  # as in the thesis
    raise CounterplayError(
        f"unknown algorithm {algorithm!r}; there are CFR+, FPIRA, double oracle, {', '.join(SETTINGS)}"
    )


def run_to(solver: Solver, target: float, most: int, *, words: bool = False) -> list[Point]:
    """Run until NashConv is at most ``target``, or ``most`` iterations are done; points at growing distances.

    NashConv is always measured by exact best responses in the original game.  Words are counted whenever it has fallen
    by a tenth, and at the end.
    """
    solver.step(0)  # kernels are compiled before the clock starts
    points: list[Point] = []
    counted = math.inf
    steps = PacedSteps(solver)
    while True:
        steps.advance("iterations", min(next_check(solver.iterations), most))
        measured = solver.measure().nash_conv
        sets = _used_sets(solver)
        ends = measured <= target or solver.iterations >= most or solver.finished
        stored = memory_words(solver) if words and (ends or measured < 0.9 * counted) else None
        if stored is not None:
            counted = measured
        points.append(Point(solver.iterations, measured, sets, solver.cpu_seconds, stored))
        if ends:
            return points


def _used_sets(solver: Solver) -> int:
    """The information sets for which an algorithm keeps numbers."""
    if isinstance(solver, CfrIra | Fpira):
        return int(solver.sets.totals[0])
    if isinstance(solver, DoubleOracle):
        return sum(solver.restricted.sizes()[0])
    return int(solver.tree.num_infosets)


def mean(values: Sequence[float]) -> float | None:
    """The mean, or None if there are no values."""
    return sum(values) / len(values) if values else None
