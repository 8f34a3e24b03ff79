"""CS against PCS in Bluff.

Johanson 2016, figure 3.5: exploitability against time in Bluff(2,2), means of five runs (figure 3.6, values against a
near-equilibrium, is not made).  Bluff has no public
chance, so an iteration of PCS is one of CFR.  The source shows curves, and says in words that PCS is much faster: CFR
on histories would traverse the bids 441 times, once for each pair of rolls, to do the same work.
"""

from __future__ import annotations

from counterplay.experiments.shared.experiment import Cell, Curves, Experiment, keeping_rows
from counterplay.experiments.shared.sampler_races import mean_curves, race_samplers, race_table
from counterplay.forms import open_game

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
        CPU seconds of each run, runs of each sampler, and threads of each run.
    """
    limit = seconds or (2.0 if quick else 60.0)
    runs = seeds or (2 if quick else 3)
    rows: list[tuple[Cell, ...]] = []
    curves: Curves = {}
    with keeping_rows():
        for game in games[:1] if quick else games:
            tree = open_game(game, "public")
            for sampler, races in race_samplers(tree, {name: name for name in PUBLISHED}, limit, runs, threads):
                found = {sampler: races}
                rows += [(tree.name, *row, PUBLISHED[sampler]) for row in race_table(found, limit, 1.0)]
                curves[f"{tree.name}, {sampler}"] = mean_curves(found, 1.0)[sampler]
    return Experiment(
        title=f"Exploitability in Bluff after CPU seconds, {runs} seeds",
        source="Johanson 2016, figure 3.5",
        columns=("game", "sampler", f"{limit / 4:g} s", f"{limit / 2:g} s", f"{limit:g} s", "±", "iterations",
                 "public states", "published for Bluff(2,2)"),
        rows=tuple(rows),
        notes=("One round with payoffs of 1; the source plays until a player has no dice left.",),
        curves=curves,
        xlabel="CPU seconds",
    )  # fmt: skip
