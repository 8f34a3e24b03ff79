"""Chance sampling against public chance sampling by the size of the card abstraction.

Johanson 2016, figure 3.3 (Johanson et al. 2012, section 4): bucket games of Texas hold'em with percentile buckets of
E[HS²] and perfect recall, four sizes, exploitability inside the bucket game against time.  In the smallest CS is
faster, because many hands share a bucket and PCS repeats the same work; with more buckets PCS catches up and overtakes.
Here the game is [2-4] hold'em, where all boards can be counted, so every measurement is exact.
"""

from __future__ import annotations

from counterplay.evaluation.bucket_pairs import count_bucket_pairs
from counterplay.experiments.shared.bucket_games import bucket_game, cards_of
from counterplay.experiments.shared.experiment import Cell, Curves, Experiment, keeping_rows
from counterplay.experiments.shared.sampler_races import mean_curves, race_samplers
from counterplay.runtime.intervals import interval

SAMPLERS = {"CS": "chance-sampling", "PCS": "pcs-boards"}

PUBLISHED = ("CS faster", "PCS catches up", "PCS catches up", "PCS faster")
"""What the source says about its four sizes, from the smallest to the largest."""


def run(
    quick: bool = False, game: str | None = None, buckets: tuple[str, ...] | None = None, seconds: float | None = None,
    seeds: int | None = None, threads: int = 1,
) -> Experiment:  # fmt: skip
    """Compare both samplers in bucket games of increasing size.

    Parameters
    ----------
    quick : bool
        A deck of 18 cards, two sizes, a quarter of a CPU second and 2 seeds instead of 52 cards, four sizes, 10 CPU
        seconds and 3 seeds.
    game : str, optional
        Another game of two players.
    buckets : tuple of str, optional
        Card abstractions with perfect recall, as for ``counterplay abstract --rounds``, with slashes.
    seconds, seeds : optional
        CPU seconds of each run, and runs of each sampler.
    threads : int
        For features and bucket pair counts; solving uses one.
    """
    name = game or ("holdem_2_4(ranks=6,suits=3)" if quick else "holdem_2_4")
    texts = buckets or (("PS2/PS2", "PS4/PS8") if quick else ("PS2/PS2", "PS5/PS5", "PS12/PS12", "PS40/PS40"))
    limit, runs = seconds or (0.25 if quick else 10.0), seeds or (2 if quick else 3)
    rows: list[tuple[Cell, ...]] = []
    curves: Curves = {}
    with keeping_rows():
        for place, text in enumerate(texts):
            abstract = bucket_game(name, cards_of(name, text, "perfect", threads))
            pairs = count_bucket_pairs(abstract, threads=threads)
            found = dict(race_samplers(abstract, SAMPLERS, limit, runs, pairs=pairs))
            unit = 1000.0 / (abstract.big_blind or 1.0)
            ends = {
                label: interval([unit * run.curve[-1].exploitability for run in found[label]]) for label in SAMPLERS
            }
            cells = [cell for mean, half in ends.values() for cell in (mean, half if runs > 1 else None)]
            best = min(ends, key=lambda label: ends[label][0])
            published = PUBLISHED[place] if len(texts) == len(PUBLISHED) else None
            rows.append((text, abstract.num_infosets, *cells, f"{best} faster", published))
            curves |= {f"{label}, {text}": curve for label, curve in mean_curves(found, unit).items()}
    return Experiment(
        title=f"mbb/g in bucket games of {name} after {limit:g} CPU seconds, {runs} seeds",
        source="Johanson 2016, figure 3.3",
        columns=("buckets", "information sets", "CS", "±", "PCS", "±", "ours", "published"),
        rows=tuple(rows),
        notes=("The source has Texas hold'em, where a board has three more rounds to walk; see the documentation.",),
        curves=curves,
        xlabel="CPU seconds",
    )
