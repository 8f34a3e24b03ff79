"""Figure 5.3a of Gibson 2014: how much the estimates of probing and of plain MCCFR vary, in Goofspiel(6).

Along a run of vanilla CFR, both estimators walk many times at each profile without learning, with the same hand-made
sampling scheme (section 5.3.2), and the sample variance of the value at the root's information set is recorded.  The
source does not say whose root it is nor how opponents are drawn; here it is the first bidder's, and below different
own bids the opponent draws independently, which an independent program found to give about 0.286 and 0.115.
"""

from __future__ import annotations

import numpy as np

from counterplay.evaluation.estimators import SampledEstimator, variance_along_cfr
from counterplay.experiments.base import Cell, Experiment
from counterplay.tree.compile import compile_game

__all__ = ["PUBLISHED", "run"]

PUBLISHED = {"mccfr-scheme": 0.295, "probing": 0.133}
"""Means over 1000 iterations of Goofspiel(6), from the text of section 5.3.2."""

COMPUTED = {"mccfr-scheme": 0.286, "probing": 0.115}
"""Means over 200 iterations, computed independently."""


def run(
    quick: bool = False, cards: int = 6, iterations: int | None = None, samples: int | None = None, seed: int = 0
) -> Experiment:
    """Sample variances of both estimators along vanilla CFR.

    Parameters
    ----------
    quick : bool
        40 iterations with 500 samples each, instead of 1000 with 1000.
    cards : int
        Of the players in Goofspiel.
    iterations, samples : int, optional
        Other numbers of iterations, and of walks at each.
    seed : int
        Of the walks.
    """
    iterations = iterations or (40 if quick else 1000)
    samples = samples or (500 if quick else 1000)
    tree = compile_game(f"goofspiel(cards={cards})")
    estimators = {name: SampledEstimator(tree, name) for name in PUBLISHED}
    found = variance_along_cfr(tree, estimators, iterations, samples, seed=seed)
    same = cards == 6
    rows: list[tuple[Cell, ...]] = []
    for name, variances in found.items():
        early = float(np.mean(variances[: min(150, iterations)]))
        published, computed = (PUBLISHED[name], COMPUTED[name]) if same else (None, None)
        rows.append((name, float(np.mean(variances)), published, computed, early, float(variances[-1])))
    ratio = float(np.mean(found["mccfr-scheme"]) / np.mean(found["probing"]))
    rows.append(("ratio", ratio, *((0.295 / 0.133, 0.286 / 0.115) if same else (None, None)), None, None))
    times = list(range(1, iterations + 1))
    return Experiment(
        name="probing-variance",
        title=f"Variance of the root's estimated value in Goofspiel({cards}), {iterations} iterations of vanilla CFR",
        source="Gibson 2014, section 5.3.2 and figure 5.3a (Goofspiel(6), 1000 iterations, 1000 samples each)",
        columns=("estimator", "mean", "published", "computed independently", "mean of the first 150", "last"),
        rows=tuple(rows),
        notes=("The source leaves open whose root it is and how opponents are drawn.",),
        curves={name: (times, variances.tolist()) for name, variances in found.items()},
    )
