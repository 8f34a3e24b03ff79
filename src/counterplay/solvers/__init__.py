"""Solvers: configuration, tables and kernels.  ``ALGORITHMS`` lists what ``solve`` knows by name."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from counterplay.errors import SolverError
from counterplay.game.base import Game
from counterplay.solvers.base import Progress, Solver, SolveResult, Until
from counterplay.solvers.cfr import CFR_PRESETS, CfrConfig, CfrSolver, config_with
from counterplay.tree.arrays import GameTree

__all__ = [
    "ALGORITHMS", "CFR_PRESETS", "CfrConfig", "CfrSolver", "Progress", "SolveResult", "Solver", "Until",
    "make_solver", "solve",
]  # fmt: skip

ALGORITHMS: dict[str, str] = {
    "cfr": "vanilla counterfactual regret minimisation, all players at once",
    "cfr+": "CFR+ : regret matching plus, alternating, linear averaging",
    "linear": "linear CFR : iteration t weighs t in regrets and average",
    "dcfr": "discounted CFR : positive and negative regrets fade differently",
    "pcfr+": "predictive CFR+ : the last regret is the forecast of the next",
}
"""Every algorithm by name, with one line about it."""


def make_solver(
    game: GameTree | Game | str, algorithm: str = "cfr+", memory_limit: int | None = None, **settings: Any
) -> CfrSolver:
    """A solver by the name of its algorithm; ``settings`` change the preset."""
    if algorithm not in ALGORITHMS:
        raise SolverError(f"unknown algorithm {algorithm!r}; there are {', '.join(ALGORITHMS)}")
    return CfrSolver(game, config_with(algorithm, settings), algorithm, memory_limit)


def solve(
    game: GameTree | Game | str,
    algorithm: str = "cfr+",
    *,
    iterations: int | None = None,
    seconds: float | None = None,
    exploitability: float | None = None,
    callback: Callable[[Progress], None] | None = None,
    resume: str | os.PathLike[str] | None = None,
    memory_limit: int | None = None,
    **settings: Any,
) -> SolveResult:
    """Solve a game.

    Parameters
    ----------
    game : GameTree, Game or str
        A compiled tree, a game, or the name of one.
    algorithm : str
        One of ``ALGORITHMS``.
    iterations, seconds, exploitability : optional
        When to stop: at the first of those that are given; 1000 iterations if none is.
    callback : callable, optional
        Called with ``Progress`` several times a second.
    resume : path, optional
        A checkpoint to go on from; it brings its own algorithm and settings, so no settings can be given.
    memory_limit : int, optional
        Bytes that may be used; by default what the machine has free.
    **settings
        Changes to the preset, see ``CfrConfig``.

    Returns
    -------
    SolveResult
        The profile, its value and exploitability, and how it came about.
    """
    if iterations is None and seconds is None and exploitability is None:
        iterations = 1000
    until = Until(iterations, seconds, exploitability)
    if resume and settings:
        raise SolverError(f"a checkpoint brings its own settings; leave out {', '.join(settings)}")
    solver = (
        CfrSolver.resume(resume, game, memory_limit)
        if resume
        else make_solver(game, algorithm, memory_limit, **settings)
    )
    return solver.run(until, callback)
