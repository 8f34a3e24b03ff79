"""Which average CFR+ keeps, and who is updated first: exploitability at equal iterations.

Tammelin et al. 2015 and Johanson 2016, section 9.3: iteration t of CFR+ has weight max(t - d, 0) in the average, with a
delay d that is left open.  The first strategy is the uniform one, of which no player has learned anything; with d = 1
it is left out.  Programs also differ in the player who is updated first, and in the power of the weights.
"""

from __future__ import annotations

import math
from typing import Any

from counterplay.errors import CounterplayError, GameError
from counterplay.experiments.shared.experiment import Cell, Experiment, keeping_rows
from counterplay.forms import open_game
from counterplay.solvers import make_solver
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.public.public_tree import PublicTree

VARIANTS: dict[str, dict[str, Any]] = {
    "delay 0": {"delay": 0},
    "delay 1": {"delay": 1},
    "last player first": {"delay": 0, "reverse": True},
    "delay 1, last player first": {"delay": 1, "reverse": True},
    "quadratic": {"delay": 0, "gamma": 2.0},
    "delay 1, quadratic": {"delay": 1, "gamma": 2.0},
}
"""Settings of CFR+; the first are those that the others are compared with."""

GAMES = ("kuhn", "leduc", "bluff", "goofspiel(4)", "holdem_2_1(ranks=6,suits=3)", "holdem_2_4(ranks=6,suits=3)",
         "rhode_island(ranks=6,suits=4)")  # fmt: skip

MARKS = (10, 30, 100, 300)
"""Iterations after which the average is measured."""


def _opened(game: str) -> PublicTree | GameTree:
    try:
        return open_game(game, "public")
    except GameError:  # what players do is hidden
        return open_game(game, "history")


def run(quick: bool = False, games: tuple[str, ...] = GAMES, marks: tuple[int, ...] = MARKS) -> Experiment:
    """Run the variants in several games.

    Parameters
    ----------
    quick : bool
        The first two games alone.
    games : tuple of str
        Games of two players.
    marks : tuple of int
        Iterations after which the average is measured, ascending.
    """
    if not marks or list(marks) != sorted(set(marks)) or marks[0] < 2:
        raise CounterplayError(f"marks must be ascending numbers of iterations, at least 2; got {marks}")
    rows: list[tuple[Cell, ...]] = []
    better: dict[str, list[float]] = {name: [] for name in VARIANTS}
    with keeping_rows():
        for game in games[:2] if quick else games:
            tree = _opened(game)
            solvers = {name: make_solver(tree, "cfr+", **settings) for name, settings in VARIANTS.items()}
            for mark in marks:
                found = []
                for name, solver in solvers.items():
                    solver.step(mark - solver.iterations)
                    found.append(solver.measure().exploitability)
                    better[name].append(math.log(found[-1] / found[0]))
                rows.append((game, mark, *found))
    mean = tuple(math.exp(sum(logs) / max(1, len(logs))) for logs in better.values())
    rows.append(("geometric mean, in units of the first", None, *mean))
    return Experiment(
        title="CFR+ at equal iterations: exploitability of the average, chips",
        source="Tammelin et al. 2015; Johanson 2016, section 9.3 (no numbers for these)",
        columns=("game", "iterations", *VARIANTS),
        rows=tuple(rows),
        notes=("All averages but the quadratic ones are linear: iteration t has weight max(t - delay, 0).",),
    )
