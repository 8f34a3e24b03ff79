"""Chance sampling against public chance sampling by the size of the card abstraction.

Johanson 2016, figure 3.3 (Johanson et al. 2012, section 4): bucket games of Texas hold'em with percentile buckets of
E[HS²] and perfect recall, four sizes, exploitability inside the bucket game against time.  In the smallest CS is
faster, because many hands share a bucket and PCS repeats the same work; with more buckets PCS catches up and overtakes.
Here the game is [2-4] hold'em, where all boards can be counted, so every measurement is exact.
"""

from __future__ import annotations

from counterplay.abstraction.cards import build_cards, deck_shape, parse_recipe
from counterplay.abstraction.cards.features import default_cache
from counterplay.evaluation.bucket_pairs import count_bucket_pairs
from counterplay.experiments.shared.comparison import Run, interval
from counterplay.experiments.shared.experiment import Cell, Experiment
from counterplay.experiments.shared.sampler_races import mean_curves, run_by_cpu
from counterplay.forms import poker_definition
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.solvers.bucket_mccfr import BUCKET_PRESETS, BucketSolver
from counterplay.solvers.solver import with_settings

__all__ = ["PUBLISHED", "run"]

SAMPLERS = {"CS": "chance-sampling", "PCS": "pcs-boards"}

PUBLISHED = ("CS faster", "PCS catches up", "PCS catches up", "PCS faster")
"""What the source says about its four sizes, from the smallest to the largest."""


def run(
    quick: bool = False,
    game: str | None = None,
    buckets: tuple[str, ...] | None = None,
    seconds: float | None = None,
    seeds: int | None = None,
    threads: int = 1,
) -> Experiment:
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
    seconds : float, optional
        CPU seconds of each run.
    seeds : int, optional
        Number of runs of each sampler.
    threads : int
        For features and bucket pair counts; solving uses one.
    """
    name = game or ("holdem_2_4(ranks=6,suits=3)" if quick else "holdem_2_4")
    texts = buckets or (("PS2/PS2", "PS4/PS8") if quick else ("PS2/PS2", "PS5/PS5", "PS12/PS12", "PS40/PS40"))
    limit, runs = seconds or (0.25 if quick else 10.0), seeds or (2 if quick else 3)
    definition = poker_definition(name)
    deck, shape = deck_shape(definition)
    rows: list[tuple[Cell, ...]] = []
    curves: dict[str, tuple[list[float], list[float]]] = {}
    for place, text in enumerate(texts):
        recipe = parse_recipe(text, deck, shape, "perfect")
        cards = build_cards(deck, shape, recipe, cache=default_cache(), threads=threads)
        abstract = BucketGame.build(definition, cards.rounds, name=name)
        found = _race(abstract, limit, runs, threads)
        unit = 1000.0 / (abstract.big_blind or 1.0)
        ends = {label: interval([unit * run.curve[-1].exploitability for run in found[label]]) for label in SAMPLERS}
        cells = [cell for mean, half in ends.values() for cell in (mean, half if runs > 1 else None)]
        best = min(ends, key=lambda label: ends[label][0])
        published = PUBLISHED[place] if len(texts) == len(PUBLISHED) else None
        rows.append((text, abstract.num_infosets, *cells, f"{best} faster", published))
        curves |= {f"{label}, {text}": curve for label, curve in mean_curves(found, unit).items()}
    return Experiment(
        name="sampling-by-size",
        title=f"mbb/g in bucket games of {name} after {limit:g} CPU seconds, {runs} seeds",
        source="Johanson 2016, figure 3.3",
        columns=("buckets", "information sets", "CS", "±", "PCS", "±", "ours", "published"),
        rows=tuple(rows),
        notes=("The source has Texas hold'em, where a board has three more rounds to walk; see the documentation.",),
        curves=curves,
        xlabel="CPU seconds",
    )


def _race(game: BucketGame, seconds: float, seeds: int, threads: int) -> dict[str, list[Run]]:
    pairs = count_bucket_pairs(game, threads=threads)
    found: dict[str, list[Run]] = {label: [] for label in SAMPLERS}
    for label, algorithm in SAMPLERS.items():
        for seed in range(seeds):
            config = with_settings(BUCKET_PRESETS[algorithm], {"seed": seed}, algorithm)
            solver = BucketSolver(game, config, algorithm, pairs=pairs)
            solver.step(0)  # kernels are compiled before the clock starts
            found[label].append(run_by_cpu(solver, label, seed, seconds))
    return found
