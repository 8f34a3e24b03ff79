"""Bucket games solved with measurements in the real game (Johanson 2016, sections 2.6 and 4.1).

A strategy that approaches the equilibrium of its bucket game need not approach that of the real game: exploitability
in the real game falls at first, and can rise again.  So strategies are measured in both games at checkpoints.  Times
are CPU seconds of solving alone.
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
    """A strategy at a checkpoint.

    Attributes
    ----------
    iterations : int
        Done so far.
    cpu_seconds : float
        Spent on them.
    abstract, real : float or None
        Exploitability in the bucket game and in the real game, in mbb/g if there are blinds, otherwise in milli-chips;
        None if it is not measured.
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
    """Solve, and measure after given numbers of iterations.

    Parameters
    ----------
    solver : BucketSolver
        A fresh one.
    marks : sequence of int
        Numbers of iterations, ascending.
    pairs : BucketPairs, optional
        To measure in the bucket game, which needs perfect recall.
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
