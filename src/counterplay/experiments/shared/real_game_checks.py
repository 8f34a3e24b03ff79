"""Abstract games solved with a look at the real game on the way (Johanson 2016, sections 2.6 and 4.1).

A profile that comes nearer to the equilibrium of its abstract game need not come nearer to that of the real game: what
a best response wins from it in the real game falls at first, and can rise again.  So profiles are measured in both
games at checkpoints.  Times are CPU seconds of solving alone.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

from counterplay.evaluation.bucket_pairs import BucketPairs, measure_buckets
from counterplay.evaluation.lifted_buckets import RealGame
from counterplay.solvers.bucket_mccfr import BucketSolver

__all__ = ["Point", "follow", "growing"]


class Point(NamedTuple):
    """A profile on the way.

    Attributes
    ----------
    iterations : int
        Done so far.
    cpu_seconds : float
        Spent on them.
    abstract, real : float or None
        Exploitability in the abstract and in the real game, in mbb/g where there are blinds and else in milli-chips;
        None where it is not measured.
    """

    iterations: int
    cpu_seconds: float
    abstract: float | None
    real: float | None


def growing(last: int, points: int, ratio: float) -> list[int]:
    """Numbers of iterations that end with ``last``, each ``ratio`` times the one before."""
    return sorted({max(1, round(last / ratio**back)) for back in range(points)})


def follow(
    solver: BucketSolver, marks: Sequence[int], pairs: BucketPairs | None = None, real: RealGame | None = None
) -> list[Point]:
    """Solve, and measure when so many iterations are done.

    Parameters
    ----------
    solver : BucketSolver
        A fresh one.
    marks : sequence of int
        Numbers of iterations, rising.
    pairs : BucketPairs, optional
        To measure in the abstract game, which takes perfect recall.
    real : RealGame, optional
        To measure in the real game.
    """
    unit = 1000.0 / (solver.game.big_blind or 1.0)
    curve: list[Point] = []
    solver.step(0)  # kernels are compiled before the clock starts
    spent = 0.0
    for mark in marks:
        before = time.process_time()
        solver.step(mark - solver.iterations)
        spent += time.process_time() - before
        strategy = solver.strategy()
        inside = None if pairs is None else unit * measure_buckets(solver.game, pairs, strategy).exploitability
        outside = None if real is None else unit * real.measure(strategy, valued=False).exploitability
        curve.append(Point(solver.iterations, spent, inside, outside))
    return curve
