"""Shared by experiments that compare CS, OPCS, SPCS and PCS over CPU seconds on a public tree or in a bucket game."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from counterplay.evaluation.bucket_pairs import BucketPairs
from counterplay.experiments.shared.comparison import Run, read_off
from counterplay.experiments.shared.experiment import Cell, Curves
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.runtime.intervals import interval
from counterplay.runtime.pacing import PacedSteps
from counterplay.runtime.progress import Progress
from counterplay.solvers import Solver, make_solver
from counterplay.solvers.bucket_tables import BucketTables
from counterplay.tree.public.public_tree import PublicTree

POINTS = 8
"""Measurements of a run, each at twice the CPU seconds of the previous one."""


def race_samplers(
    game: PublicTree | BucketGame, samplers: Mapping[str, str], seconds: float, seeds: int, threads: int = 1,
    pairs: BucketPairs | None = None, seen: Callable[[str, Solver], None] | None = None,
) -> Iterator[tuple[str, list[Run]]]:  # fmt: skip
    """Run each sampler, an algorithm by its label, with each seed for some CPU seconds; only its own steps count.

    The runs of a sampler are given when all of them are finished; ``seen`` is called at each measurement of a run.
    """
    for label, algorithm in samplers.items():
        runs = []
        for seed in range(seeds):
            solver = make_solver(game, algorithm, seed=seed, threads=threads)
            if isinstance(solver, BucketTables):
                solver.pairs = pairs
            curve = []
            for point in _curve(solver, seconds):
                curve.append(point)
                if seen is not None:
                    seen(label, solver)
            runs.append(Run(label, seed, tuple(curve)))
        yield label, runs


def _curve(solver: Solver, seconds: float) -> Iterator[Progress]:
    solver.step(0)  # kernels are compiled before the clock starts
    solver.measure()
    for table in getattr(solver, "player_tables", ()):  # and memory is allocated
        table.regret[:] = 0.0
        table.average[:] = 0.0
    steps = PacedSteps(solver)
    for doubling in range(POINTS - 1, -1, -1):
        steps.advance("cpu_seconds", seconds / 2**doubling)
        found, done, spent = solver.measure().exploitability, solver.iterations, solver.cpu_seconds
        yield Progress(done, spent, spent, found, done, solver.nodes)


def race_table(found: dict[str, list[Run]], seconds: float, unit: float) -> list[tuple[Cell, ...]]:
    """For each sampler: exploitability in units at a quarter, half and all of the time, interval, work done."""
    rows: list[tuple[Cell, ...]] = []
    for name, runs in found.items():
        at = [[unit * read_off(run.curve, "cpu_seconds", part * seconds) for run in runs] for part in (0.25, 0.5, 1.0)]
        mean, half = interval(at[2])
        last = [run.curve[-1] for run in runs]
        iterations = sum(point.iterations for point in last) / len(last)
        nodes = sum(point.nodes for point in last) / len(last)
        width = None if len(runs) < 2 else half
        rows.append((name, interval(at[0])[0], interval(at[1])[0], mean, width, round(iterations), round(nodes)))
    return rows


def ranking(found: dict[str, list[Run]]) -> tuple[str, ...]:
    """The samplers by final exploitability, the least first."""
    ends = {name: interval([run.curve[-1].exploitability for run in runs])[0] for name, runs in found.items()}
    return tuple(sorted(ends, key=lambda name: ends[name]))


def mean_curves(found: dict[str, list[Run]], unit: float) -> Curves:
    """Mean exploitability against CPU seconds, for the plot."""
    curves = {}
    for name, runs in found.items():
        xs = [point.cpu_seconds for point in runs[0].curve]
        curves[name] = (xs, [unit * interval([read_off(run.curve, "cpu_seconds", x) for run in runs])[0] for x in xs])
    return curves
