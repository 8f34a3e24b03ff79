"""Figures 5.12 and 5.13 of Čermák 2018: CPU seconds until a NashConv, of CFR+, CFR+IRA and FPIRA."""

from __future__ import annotations

from counterplay.experiments.shared.experiment import Cell, Experiment, keeping_rows
from counterplay.experiments.shared.refining import TARGET, pick_games, run_to, solver_for, trees

PUBLISHED = {("GP5", "B100H900"): 38.0, ("GP5", "B10H90"): 200.0}
"""Seconds to NashConv 0.01 in the source, on an older machine."""


def run(quick: bool = False, games: str | None = None, iterations: int | None = None) -> Experiment:
    """CPU seconds to NashConv 0.05 and 0.01; measuring is not counted."""
    most = iterations or (3_000 if quick else 30_000)
    fine = 0.01
    rows: list[tuple[Cell, ...]] = []
    curves = {}
    with keeping_rows():
        for name, tree in trees(pick_games(games, quick)).items():
            for algorithm in ("CFR+", "B10H90", "B100H900", "FPIRA"):
                points = run_to(solver_for(tree, algorithm), fine, most)
                times: list[Cell] = []
                for target in (TARGET, fine):
                    there = [point.seconds for point in points if point.nash_conv <= target]
                    times.append(there[0] if there else None)
                each = 1000.0 * points[-1].seconds / points[-1].iterations
                rows.append((name, algorithm, times[0], times[1], PUBLISHED.get((name, algorithm)), each))
                curves[f"{name} {algorithm}"] = (
                    [point.seconds for point in points],
                    [point.nash_conv for point in points],
                )
    return Experiment(
        title="CPU seconds until a NashConv",
        source="Čermák 2018, figures 5.12 and 5.13",
        columns=("game", "algorithm", "s to 0.05", "s to 0.01", "published s to 0.01", "ms per iteration"),
        rows=tuple(rows),
        notes=("Published: CFR+IRA is always faster than FPIRA, and about as fast as CFR+ except on P222.",),
        curves=curves,
    )
