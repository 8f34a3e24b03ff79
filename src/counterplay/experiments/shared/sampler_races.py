"""Shared by experiments that compare CS, OPCS, SPCS and PCS over CPU seconds on one public tree."""

from __future__ import annotations

from collections.abc import Sequence

from counterplay.errors import CounterplayError
from counterplay.experiments.shared.comparison import Run, interval, read_off
from counterplay.experiments.shared.experiment import Cell
from counterplay.runtime.pacing import PacedSteps
from counterplay.runtime.progress import Progress
from counterplay.solvers.public_sampling import DRAWN_HANDS, PublicSamplingConfig, PublicSamplingSolver
from counterplay.solvers.solver import Solver
from counterplay.tree.public.public_tree import PublicTree

__all__ = ["mean_curves", "race_samplers", "race_table", "ranking", "run_by_cpu"]

POINTS = 8
"""Measurements of a run, each at twice the CPU seconds of the previous one."""


def race_samplers(
    tree: PublicTree, samplers: Sequence[str], seconds: float, seeds: int, threads: int = 1
) -> dict[str, list[Run]]:
    """Run each sampler with each seed for some CPU seconds; only its own steps count."""
    unknown = sorted(set(samplers) - set(DRAWN_HANDS))
    if unknown or not samplers:
        raise CounterplayError(f"samplers are {', '.join(DRAWN_HANDS)}; got {unknown[0] if unknown else 'none'!r}")
    return {name: [_run(tree, name, seed, seconds, threads) for seed in range(seeds)] for name in samplers}


def _run(tree: PublicTree, name: str, seed: int, seconds: float, threads: int) -> Run:
    solver = PublicSamplingSolver(tree, PublicSamplingConfig(name, seed=seed, threads=threads))  # type: ignore[arg-type]
    solver.step(0)  # kernels are compiled before the clock starts
    solver.measure()
    for table in solver.player_tables:  # and memory is allocated
        table.regret[:] = 0.0
        table.average[:] = 0.0
    return run_by_cpu(solver, name, seed, seconds)


def run_by_cpu(solver: Solver, label: str, seed: int, seconds: float) -> Run:
    """Run a solver for some CPU seconds, of which only its own steps count."""
    steps = PacedSteps(solver)
    curve: list[Progress] = []
    for doubling in range(POINTS - 1, -1, -1):
        steps.advance("cpu_seconds", seconds / 2**doubling)
        found, done, spent = solver.measure().exploitability, solver.iterations, solver.cpu_seconds
        curve.append(Progress(done, spent, spent, found, done, solver.nodes))
    return Run(label, seed, tuple(curve))


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


def mean_curves(found: dict[str, list[Run]], unit: float) -> dict[str, tuple[list[float], list[float]]]:
    """Mean exploitability against CPU seconds, for the plot."""
    curves = {}
    for name, runs in found.items():
        xs = [point.cpu_seconds for point in runs[0].curve]
        curves[name] = (xs, [unit * interval([read_off(run.curve, "cpu_seconds", x) for run in runs])[0] for x in xs])
    return curves
