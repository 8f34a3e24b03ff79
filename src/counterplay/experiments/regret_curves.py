"""Regret of CFR in an abstract game, measured in the real one (Lanctot et al. 2012, section 6; Gibson 2014, fig. 6.1).

Vanilla CFR with simultaneous updates runs on the abstract game; every profile is lifted and observed by a
``RegretTracker`` of the real game, so the average regrets are exact.  The source samples chance instead, and so does
``seed``: an iteration is then cheaper and learns less, so that curves fall more slowly and have noise; players are
updated in turn.  Without sampling the numbers are reproducible to the last digit, and it is the default.
"""

from __future__ import annotations

from collections.abc import Iterable

from counterplay.abstraction import Abstraction, null_abstraction
from counterplay.analysis import RegretTracker
from counterplay.errors import SolverError
from counterplay.solvers import CfrSolver, Solver, make_solver
from counterplay.tree.history.game_tree import GameTree


def checkpoints(last: int) -> list[int]:
    """About ten iterations in each power of ten, up to ``last``."""
    points = {round(10 ** (step / 10)) for step in range(200)}
    return sorted({point for point in points if point < last} | {last})


def powers_of_ten(last: int, first: int = 0) -> list[int]:
    """1, 10, 100 and so on (or from a later power on), and ``last``."""
    return [*(10**power for power in range(first, 10) if 10**power < last), last]


def regret_curve(
    tree: GameTree, abstraction: Abstraction | None, points: Iterable[int], seed: int | None = None
) -> dict[int, tuple[float, ...]]:
    """Average regret of each player in ``tree`` after each number of iterations in ``points``.

    By vanilla CFR, or with a seed by chance sampling.
    """
    abstraction = abstraction or null_abstraction(tree)
    abstract = abstraction.apply(tree)
    solver: Solver = CfrSolver(abstract, "cfr")
    if seed is not None:
        solver = make_solver(abstract, "chance-sampling", profile="last", seed=seed)
    tracker = RegretTracker(tree, abstraction)
    wanted = sorted(set(points))
    if not wanted or wanted[0] < 1:
        raise SolverError(f"points must be numbers of iterations, at least 1; got {wanted}")
    curve: dict[int, tuple[float, ...]] = {}
    for time in range(1, wanted[-1] + 1):
        tracker.observe(solver.strategy("last"))
        solver.step()
        if time == wanted[len(curve)]:
            curve[time] = tuple(tracker.external_regret(player) / time for player in range(tree.players))
    return curve


def sampling_note(sample: bool) -> str:
    """What to say about sampling under a table of regrets."""
    if sample:
        return "Chance is sampled, as in the source."
    return "The source samples chance; here every iteration is one of vanilla CFR (sample=true samples)."
