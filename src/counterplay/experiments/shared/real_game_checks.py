"""Bucket games solved with measurements in the real game (Johanson 2016, sections 2.6 and 4.1).

A strategy that approaches the equilibrium of its bucket game need not approach that of the real game: exploitability
in the real game falls at first, and can rise again.  So strategies are measured in both games at checkpoints.  Times
are CPU seconds of solving alone.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from counterplay.abstraction.cards import CardAbstraction
from counterplay.evaluation.bucket_pairs import BucketPairs, count_bucket_pairs, measure_buckets
from counterplay.evaluation.lifted_buckets import RealGame
from counterplay.evaluation.measurement import Measurement
from counterplay.experiments.shared.bucket_games import bucket_game
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.solvers.bucket_mccfr import BucketSolver
from counterplay.solvers.bucket_tables import BucketTables
from counterplay.solvers.cfr_br import CfrBrSolver
from counterplay.solvers.cfr_br_settings import CFR_BR_PRESETS
from counterplay.solvers.cfr_br_trunk import TrunkSolver
from counterplay.solvers.mccfr import MccfrConfig
from counterplay.tree.public.public_tree import PublicTree

Kind = Literal["average", "last"]
"""A strategy of a solver."""


class Point(NamedTuple):
    """A strategy at a checkpoint: iterations, the CPU seconds spent on them, and its exploitability in the bucket game
    (None if it is not measured) and in the real game, in mbb/g if there are blinds, otherwise in milli-chips.
    """

    iterations: int
    cpu_seconds: float
    abstract: float | None
    real: float


class Robust(NamedTuple):
    """The strategies of a solver at a checkpoint: iterations, the CPU seconds spent on them, and the exploitability of
    the average and of the current one in the real game, in mbb/g if there are blinds, otherwise in milli-chips.
    """

    iterations: int
    cpu_seconds: float
    average: float
    current: float


def growing(last: int, points: int, ratio: float) -> list[int]:
    """Numbers of iterations that end with ``last``, each ``ratio`` times the one before."""
    return sorted({max(1, round(last / ratio**back)) for back in range(points)})


def follow(solver: BucketSolver, marks: Iterable[int], pairs: BucketPairs | None, real: RealGame) -> list[Point]:
    """Run a fresh solver of a bucket game, and measure after given numbers of iterations, ascending.

    ``pairs`` are for measuring in the bucket game, which needs perfect recall.
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
        outside = unit * real.measure(strategy, valued=False).exploitability
        curve.append(Point(solver.iterations, spent, inside, outside))
    return curve


def cfr_br(game: BucketGame, threads: int = 1) -> CfrBrSolver:
    """CFR-BR on a bucket game, the exact form."""
    return CfrBrSolver(game, dataclasses.replace(CFR_BR_PRESETS["cfr-br"], threads=threads))


def cfr_br_trunk(game: BucketGame, threads: int = 1, trunk: int | None = None) -> TrunkSolver:
    """CFR-BR on a bucket game with a trunk, by default of half of the rounds; boards are sampled."""
    trunk = trunk or game.rounds // 2
    return TrunkSolver(game, dataclasses.replace(CFR_BR_PRESETS["cfr-br"], threads=threads, trunk=trunk))


def follow_robust(
    solver: BucketTables, marks: Iterable[int], measure: Callable[[Kind], Measurement]
) -> Iterator[Robust]:
    """Run a fresh solver, and measure its strategies after given numbers of iterations, ascending."""
    unit, spent = 1000.0 / (solver.game.big_blind or 1.0), 0.0
    for mark in marks:
        before = time.process_time()
        solver.step(mark - solver.iterations)
        spent += time.process_time() - before
        average, last = unit * measure("average").exploitability, unit * measure("last").exploitability
        yield Robust(solver.iterations, spent, average, last)


def follow_cards(
    tree: PublicTree, cards: CardAbstraction, marks: Sequence[int], seeds: Iterable[int], threads: int = 1,
    kind: Any = np.float64, inside: bool = True,
) -> tuple[int, list[list[Point]]]:  # fmt: skip
    """Public chance sampling by the buckets of a card abstraction: the information sets, and a curve for each seed.

    ``kind`` is that of the tables of the real game; threads count bucket pairs and measure, solving uses one.
    ``inside`` is whether to measure in the bucket game too, if players recall.
    """
    game = bucket_game(tree.name, cards)
    pairs = count_bucket_pairs(game, threads=threads) if inside and cards.recall == "perfect" else None
    real = RealGame(game, tree, kind, threads)
    solvers = (BucketSolver(game, MccfrConfig("public", seed=seed), "pcs-boards") for seed in seeds)
    return game.num_infosets, [follow(solver, marks, pairs, real) for solver in solvers]
