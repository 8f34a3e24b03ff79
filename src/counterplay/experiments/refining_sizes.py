"""Figures 5.5, 5.8 and 5.11 of Čermák 2018: how many information sets are needed for a strategy of NashConv 0.05."""

from __future__ import annotations

from counterplay.experiments.shared.experiment import Cell, Experiment, keeping_rows
from counterplay.experiments.shared.refining import (
    GAMES,
    LARGE,
    SMALL,
    TARGET,
    mean,
    name_in_source,
    pick_games,
    run_to,
    solver_for,
)
from counterplay.forms import open_game

PUBLISHED = {
    ("GP5", "B10H90"): 9.5, ("GS5", "B10H90"): 3.1, ("P222", "B10H90"): 14.9,
    ("GP5", "FPIRA"): 19.6, ("GS5", "FPIRA"): 15.6, ("P222", "FPIRA"): 42.9,
    ("GP6", "B100H900"): 2.0, ("GS6", "B100H900"): 2.4, ("P224", "B100H900"): 0.9,
    ("GP5", "double oracle"): 24.0, ("GS5", "double oracle"): 17.2, ("P222", "double oracle"): 47.8,
    ("GP6", "double oracle"): 13.3, ("GS6", "double oracle"): 12.0, ("P224", "double oracle"): 4.0,
}  # fmt: skip
"""Percentages of the information sets at NashConv 0.05."""


def run(
    quick: bool = False, games: str | None = None, seeds: int | None = None, iterations: int | None = None,
    target: float = TARGET,
) -> Experiment:  # fmt: skip
    """Sizes at NashConv ``target``; ``games`` such as ``GP6,P224`` for figure 5.8, ``P111,P122,P222`` for 5.11.

    All six games of figures 5.5 and 5.8 by default, small ones when quick.
    """
    seeds = seeds or (1 if quick else 3)
    most = iterations or (3_000 if quick else 40_000)
    rows: list[tuple[Cell, ...]] = []
    curves = {}
    if games is None and not quick:
        games = ",".join((*SMALL, "GP5t", *LARGE))
    with keeping_rows():
        for name in pick_games(games, quick):
            tree = open_game(GAMES[name], "history")  # one at a time: the large ones take hundreds of megabytes
            for algorithm in ("B100H900",) if name in LARGE else ("B10H90", "B100H900", "FPIRA", "double oracle"):
                count = 1 if algorithm in ("FPIRA", "double oracle") else seeds
                runs = [run_to(solver_for(tree, algorithm, seed), target, most) for seed in range(count)]
                share = mean([100.0 * points[-1].sets / tree.num_infosets for points in runs])
                reached = mean([points[-1].nash_conv for points in runs])
                steps = mean([float(points[-1].iterations) for points in runs])
                published = PUBLISHED.get((name_in_source(name), algorithm))
                rows.append((name, tree.num_infosets, algorithm, published, share, reached, steps))
                sizes = [100.0 * point.sets / tree.num_infosets for point in runs[0]]
                curves[f"{name} {algorithm}"] = ([point.nash_conv for point in runs[0]], sizes)
            if name in LARGE:
                published = PUBLISHED.get((name_in_source(name), "double oracle"))
                rows.append((name, tree.num_infosets, "double oracle", published, None, None, None))
    return Experiment(
        title=f"Information sets used at NashConv {target}, % of all",
        source="Čermák 2018, figures 5.5, 5.8 and 5.11",
        columns=("game", "sets", "algorithm", "published %", "ours %", "NashConv", "iterations"),
        rows=tuple(rows),
        notes=(
            f"CFR+IRA: means of {seeds} seeds (the source: 10, or 5 in large games); curves of the first seed.",
            "GP5t: a tie is worth 1 to the attacker, as in the author's program; 0 in the text, and in GP5.",
            "In the large games FPIRA did not reach 0.05 in the source, and double oracle takes hours: not run.",
        ),
        curves=curves,
    )
