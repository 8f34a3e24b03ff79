"""Figures 5.6, 5.7, 5.9 and 5.10 of Čermák 2018: what is stored at NashConv 0.05, in parts and in 32-bit words."""

from __future__ import annotations

from counterplay.evaluation.memory import cfr_words
from counterplay.experiments.base import Cell, Experiment
from counterplay.experiments.refining import TARGET, Point, pick_games, run_to, solver_for, trees
from counterplay.tree.arrays import GameTree

__all__ = ["run"]

PUBLISHED = {
    ("GP5", "FPIRA"): (20.5, 109.6), ("GS5", "FPIRA"): (18.2, 23.8), ("P222", "FPIRA"): (43.4, 106.1),
    ("GP5", "B10H90"): (10.7, None), ("GS5", "B10H90"): (3.9, None), ("P222", "B10H90"): (22.1, None),
}  # fmt: skip
"""The map and the cache of the best response, in % of the number of information sets."""


def _row(name: str, tree: GameTree, algorithm: str, last: Point) -> tuple[Cell, ...]:
    assert last.words is not None
    words = last.words
    percent = 100.0 / tree.num_infosets
    published = PUBLISHED.get((name, algorithm), (None, None))
    cache = words.response_cache * percent if algorithm in ("FPIRA", "double oracle") else None
    share = words.total / cfr_words(tree).total
    return (
        name, algorithm, last.sets * percent, published[0], words.map_reported * percent, words.map * percent,
        published[1], cache, words.total, 100.0 * share, last.nash_conv,
    )  # fmt: skip


def run(
    quick: bool = False, games: str | None = None, iterations: int | None = None, target: float = TARGET
) -> Experiment:
    """What is stored; ``games`` such as ``GP6`` for figures 5.9 and 5.10."""
    most = iterations or (3_000 if quick else 40_000)
    rows: list[tuple[Cell, ...]] = []
    curves = {}
    for name, tree in trees(pick_games(games, quick)).items():
        for algorithm in (
            "B10H90",
            "B100H900",
            *(() if name in ("GP6", "GS6", "P224") else ("FPIRA", "double oracle")),
        ):
            points = run_to(solver_for(tree, algorithm), target, most, words=True)
            rows.append(_row(name, tree, algorithm, points[-1]))
            counted = [(point.nash_conv, point.words.total) for point in points if point.words is not None]
            curves[f"{name} {algorithm}"] = ([left for left, _ in counted], [right for _, right in counted])
    return Experiment(
        name="refining-memory",
        title=f"What is stored at NashConv {target}",
        source="Čermák 2018, figures 5.6, 5.7, 5.9 and 5.10",
        columns=(
            "game", "algorithm", "% of sets", "published map %", "map % as reported", "map % as defined",
            "published cache %", "cache %", "words", "% of CFR+'s words", "NashConv",
        ),
        rows=tuple(rows),
        notes=(
            "The source defines the map without sets that stand alone, and reports it with them.",
            "Our best response visits every state that the opponent reaches; the source may prune some.",
            "Words count the map as defined.  Published: CFR+IRA needs an order of magnitude less than FPIRA.",
        ),
        curves=curves,
    )  # fmt: skip
