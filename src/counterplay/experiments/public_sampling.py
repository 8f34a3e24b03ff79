"""CS, OPCS, SPCS and PCS in [2-1] and [2-4] hold'em.

Johanson 2016, figure 3.2 (Johanson et al. 2012): exploitability against time, means of five runs.  The source shows
curves, and says in words that PCS is the fastest, and that OPCS and SPCS are slower than CS.
"""

from __future__ import annotations

from counterplay.experiments.shared.experiment import Experiment, keeping_rows
from counterplay.experiments.shared.sampler_races import mean_curves, race_samplers, race_table, ranking
from counterplay.forms import open_game

PUBLISHED = {"pcs": "fastest", "cs": "second", "opcs": "slower than CS", "spcs": "slower than CS"}
"""What the source says."""


def run(
    quick: bool = False, game: str | None = None, seconds: float | None = None, seeds: int | None = None,
    threads: int = 1,
) -> Experiment:  # fmt: skip
    """Compare the samplers.

    Parameters
    ----------
    quick : bool
        [2-1] hold'em with 18 cards, 4 CPU seconds and 2 seeds, instead of 240 CPU seconds and 3 seeds with all cards.
    game : str, optional
        Another game, such as ``holdem_2_4`` (2 GB).
    seconds, seeds, threads : optional
        CPU seconds of each run, runs of each sampler, and threads of each run.
    """
    limit = seconds or (4.0 if quick else 240.0)
    runs = seeds or (2 if quick else 3)
    tree = open_game(game or ("holdem_2_1(ranks=6,suits=3)" if quick else "holdem_2_1"), "public")
    found = {}
    with keeping_rows():
        for sampler, races in race_samplers(tree, {name: name for name in PUBLISHED}, limit, runs, threads):
            found[sampler] = races
    unit = 1000.0 / tree.big_blind if tree.big_blind else 1.0
    what = "exploitability, mbb/g" if tree.big_blind else "exploitability"
    rows = tuple((*row, PUBLISHED[str(row[0])]) for row in race_table(found, limit, unit))
    return Experiment(
        title=f"{what} in {tree.name} after CPU seconds, {runs} seeds",
        source="Johanson 2016, figure 3.2",
        columns=("sampler", f"{limit / 4:g} s", f"{limit / 2:g} s", f"{limit:g} s", "±", "iterations", "public states",
                 "published"),
        rows=rows,
        notes=(
            f"Ours, the best first: {', '.join(ranking(found))}.",
            "The order of OPCS and CS depends on the cost of a vector of hands relative to one, which is unpublished.",
            "Public states are counted each time a walk visits them, with a vector of hands or with one hand.",
        ),
        curves=mean_curves(found, unit),
        xlabel="CPU seconds",
    )  # fmt: skip
