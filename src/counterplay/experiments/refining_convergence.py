"""Figures 5.3 and 5.4 of Čermák 2018: CFR+IRA by its sample sizes, and CFR+, against iterations.

Published in words: without heuristic updates (k_h = 0) convergence is much slower everywhere; with them it is close to
CFR+ in GP5 and GS5, and slower in P222; the settings with k_h > 0 are nearly equal.

In Goofspiel k_h = 0 is that bad only if sets with one action are sampled too, about which the source says nothing.
They are four fifths of GS5's sets; without them, our default, 1000 samples are half of all sets that can be split, and
B1000H0 is as fast as the others.  So where there are such sets, k_h = 0 is run both ways.
"""

from __future__ import annotations

import numpy as np

from counterplay.experiments.shared.experiment import Cell, Experiment, keeping_rows
from counterplay.experiments.shared.refining import (
    LARGE,
    SETTINGS,
    SMALL,
    TARGET,
    mean,
    pick_games,
    run_to,
    solver_for,
    trees,
)
from counterplay.tree.history.game_tree import GameTree


def published(game: str, algorithm: str) -> str | None:
    """What the figures show of an algorithm, in the words of section 5.3.3; None if they say nothing."""
    if algorithm == "CFR+":
        return "the reference"
    if game in LARGE:
        few = "slower than with 1000 sets; " if sum(SETTINGS[algorithm]) == 100 else ""
        return few + ("near CFR+ or better" if game == "GP6" else "slower than CFR+")
    if game not in SMALL:
        return None
    if not SETTINGS[algorithm][1]:
        return "much worse than k_h > 0"
    return "slower than CFR+" if game == "P222" else "near CFR+"


def run(
    quick: bool = False, games: str | None = None, seeds: int | None = None, iterations: int | None = None
) -> Experiment:
    """NashConv against iterations; ``games`` such as ``GP6,GS6`` for figure 5.4."""
    seeds = seeds or (1 if quick else 3)
    most = iterations or (500 if quick else 5_000)
    rows: list[tuple[Cell, ...]] = []
    curves = {}
    with keeping_rows():
        for name, tree in trees(pick_games(games, quick)).items():
            for algorithm, forced in _cases(tree):
                count = 1 if algorithm == "CFR+" else seeds
                runs = [run_to(solver_for(tree, algorithm, seed, forced), 0.0, most) for seed in range(count)]
                values = [mean([points[place].nash_conv for points in runs]) or 0.0 for place in range(len(runs[0]))]
                steps = [point.iterations for point in runs[0]]
                below = [step for step, value in zip(steps, values, strict=True) if value <= TARGET]
                share = mean([100.0 * points[-1].sets / tree.num_infosets for points in runs])
                label = f"{algorithm}, forced moves too" if forced else algorithm
                rows.append((name, label, published(name, algorithm), below[0] if below else None, values[-1], share))
                curves[f"{name} {label}"] = (steps, values)
    return Experiment(
        title=f"NashConv of CFR+ and CFR+IRA after {most} iterations",
        source="Čermák 2018, figures 5.3 and 5.4",
        columns=("game", "algorithm", "published", f"iterations to {TARGET}", "NashConv at the end", "% of sets"),
        rows=tuple(rows),
        notes=(
            f"Means of {seeds} seeds (the source: 10, or 5 in large games).",
            "Sets with one action are not sampled unless noted; the source does not say whether it samples them.",
        ),
        curves=curves,
    )


def _cases(tree: GameTree) -> list[tuple[str, bool]]:
    """The algorithms, and whether sets with one action are sampled."""
    cases = [(algorithm, False) for algorithm in ("CFR+", *SETTINGS)]
    if np.any(np.diff(tree.infoset_offset) == 1):
        cases += [(algorithm, True) for algorithm, (_, k_h) in SETTINGS.items() if not k_h]
    return cases
