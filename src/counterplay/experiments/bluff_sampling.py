"""CS against PCS in Bluff.

Johanson 2016, figures 3.5 and 3.6: exploitability against time in Bluff(2,2), means of five runs, and what the same
strategies win from a fixed opponent, the last one of PCS.  Bluff has no public chance, so an iteration of PCS is one of
CFR.  The source shows curves, and says in words that PCS is much faster, and better against that opponent as well: CFR
on histories would traverse the bids 441 times, once for each pair of rolls, to do the same work.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from counterplay.evaluation import HeadToHead
from counterplay.experiments.shared.experiment import Cell, Curves, Experiment, keeping_rows
from counterplay.experiments.shared.sampler_races import POINTS, mean_curves, race_samplers, race_table
from counterplay.forms import open_game
from counterplay.runtime.intervals import interval
from counterplay.runtime.pacing import PacedSteps
from counterplay.solvers import Solver, make_solver
from counterplay.solvers.public_tree_tables import PublicTreeTables
from counterplay.tree.public.public_tree import PublicTree

PUBLISHED = {"pcs": "much faster", "cs": "slower"}
"""What the source says about Bluff(2,2)."""


def run(
    quick: bool = False, games: tuple[str, ...] = ("bluff", "bluff(d1=2)"), seconds: float | None = None,
    seeds: int | None = None, threads: int = 1,
) -> Experiment:  # fmt: skip
    """Compare both samplers in several games.

    Parameters
    ----------
    quick : bool
        Bluff(1,1) alone, 2 CPU seconds and 2 seeds, instead of 60 CPU seconds and 3 seeds.
    games : tuple of str
        The games; ``bluff(d1=2,d2=2)`` needs some 8 GB.
    seconds, seeds, threads : optional
        CPU seconds of each run, runs of each sampler, and threads of each run; the opponent is one more run of PCS.
    """
    limit = seconds or (2.0 if quick else 60.0)
    runs = seeds or (2 if quick else 3)
    rows: list[tuple[Cell, ...]] = []
    notes: list[str] = []
    curves: Curves = {}
    with keeping_rows():
        for game in games[:1] if quick else games:
            tree = open_game(game, "public")
            lost: dict[str, np.ndarray] = {}
            won, seen = _against(tree, limit, threads)
            for sampler, races in race_samplers(tree, {name: name for name in won}, limit, runs, threads, seen=seen):
                found = {sampler: races}
                gained = np.array(won[sampler]).reshape(runs, POINTS)
                ends = [interval(gained[:, place].tolist()) for place in (-3, -1)]
                cells = ends[0][0], ends[1][0], ends[1][1] if runs > 1 else None
                rows += [(tree.name, *row, *cells, PUBLISHED[sampler]) for row in race_table(found, limit, 1.0)]
                xs, ys = curves[f"{tree.name}, {sampler}"] = mean_curves(found, 1.0)[sampler]
                lost[sampler] = np.array(ys)
                curves[f"{tree.name}, {sampler}, against the last of PCS"] = xs, gained.mean(axis=0).tolist()
            notes.append(_order(tree.name, lost, {name: np.reshape(won[name], (runs, POINTS)) for name in lost}))
    return Experiment(
        title=f"Exploitability in Bluff after CPU seconds, {runs} seeds, and wins from the last strategy of PCS",
        source="Johanson 2016, figures 3.5 and 3.6",
        columns=("game", "sampler", f"{limit / 4:g} s", f"{limit / 2:g} s", f"{limit:g} s", "±", "iterations",
                 "public states", f"wins at {limit / 4:g} s", f"wins at {limit:g} s", "±", "published for Bluff(2,2)"),
        rows=tuple(rows),
        notes=(*notes, "One round with payoffs of 1; the source plays until a player has no dice left."),
        curves=curves,
        xlabel="CPU seconds",
    )  # fmt: skip


def _against(
    tree: PublicTree, seconds: float, threads: int
) -> tuple[dict[str, list[float]], Callable[[str, Solver], None]]:
    """By sampler: what averages win from that of PCS after some CPU seconds, and how one is added."""
    agent = make_solver(tree, "pcs", threads=threads)
    agent.step(0)  # kernels are compiled before the clock starts
    PacedSteps(agent).advance("cpu_seconds", seconds)
    match = HeadToHead(tree, threads=threads)
    assert isinstance(agent, PublicTreeTables)
    last = match.player(agent.profile("average"))
    won: dict[str, list[float]] = {name: [] for name in PUBLISHED}

    def seen(name: str, solver: Solver) -> None:
        assert isinstance(solver, PublicTreeTables)
        won[name].append(match.mean(match.player(solver.profile("average")), last))

    return won, seen


def _order(game: str, lost: dict[str, np.ndarray], won: dict[str, np.ndarray]) -> str:
    """At how many measurements PCS is less exploitable, and wins more, in the mean of the runs."""
    if len(lost) < len(PUBLISHED):
        return f"{game}: not all samplers were run."
    less = int(np.sum(lost["pcs"] < lost["cs"]))
    more = int(np.sum(won["pcs"].mean(axis=0) > won["cs"].mean(axis=0)))
    return (f"{game}: PCS is less exploitable than CS at {less} of {POINTS} times, and wins more from the last "
            f"strategy of PCS at {more} (published for Bluff(2,2): PCS is much faster, and wins more).")  # fmt: skip
