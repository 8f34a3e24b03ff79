"""Shared by experiments that compare algorithms over a number of histories touched, with several seeds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from counterplay.evaluation import exploitability
from counterplay.experiments.shared.comparison import (
    POINTS_PER_DECADE,
    Axis,
    Budget,
    Comparison,
    Run,
    interval,
    read_off,
    run_solver,
)
from counterplay.solvers import make_solver
from counterplay.strategy.tabular import TabularStrategy
from counterplay.tree.history.game_tree import GameTree

__all__ = ["Entrants", "at", "at_equal", "curves_of", "race"]

Entrants: TypeAlias = Mapping[str, tuple[str, Mapping[str, Any]]]
"""A name for each entrant, with its algorithm and settings."""


def race(tree: GameTree, entrants: Entrants, nodes: int, seeds: int, points: int = POINTS_PER_DECADE) -> Comparison:
    """Run every entrant with every seed over ``nodes`` histories, with ``points`` measurements per decade."""
    budget = Budget(nodes=nodes, points=points)
    runs = []
    for label, (algorithm, settings) in entrants.items():
        for seed in range(seeds):
            solver = make_solver(tree, algorithm, seed=seed, **settings)
            runs.append(Run(label, seed, tuple(run_solver(solver, budget))))
    return Comparison(tree.name, budget, tuple(runs), exploitability(TabularStrategy.uniform(tree), tree))


def at(found: Comparison, label: str, nodes: float) -> tuple[float, float]:
    """Mean exploitability at the first measurement after a number of histories, and half its 95 % interval."""
    points = [next((p for p in run.curve if p.nodes >= nodes), run.curve[-1]) for run in found.of(label)]
    return interval([point.exploitability for point in points])


def at_equal(found: Comparison, label: str, axis: Axis) -> tuple[float, float]:
    """Mean exploitability where the fastest run of all has spent its budget, measured along another axis."""
    end = min(float(getattr(run.curve[-1], axis)) for run in found.runs)
    return interval([read_off(run.curve, axis, end) for run in found.of(label)])


def curves_of(found: Comparison) -> dict[str, tuple[list[float], list[float]]]:
    """The mean curves over histories touched, for the plot."""
    bands = {label: found.band(label, "nodes") for label in found.algorithms}
    return {label: (list(band.x), list(band.mean)) for label, band in bands.items()}
