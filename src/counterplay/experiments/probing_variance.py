"""Figure 5.3a of Gibson 2014: the variance of the estimates of probing and of plain MCCFR, in Goofspiel(6).

During a run of vanilla CFR, both estimators walk many times at each profile without learning, with the same
hand-written scheme (section 5.3.2), and the sample variance of the value at the root is recorded.

The source does not say whose root it is, nor how an opponent samples when a walk visits several histories of one
information set, as after secret bids.  Sampling one action per information set in a walk, which is how the blocks of
external sampling are defined (Lanctot et al. 2009), is closest to the published means, and makes the two roots alike.
Sampling at every history, as algorithm 3 is printed, has less variance, above all at the root of the first bidder,
below whose bids the opponent samples anew.  ``draws`` selects one.
"""

from __future__ import annotations

import numpy as np

from counterplay.analysis.estimators import SampledEstimator, variance_along_cfr
from counterplay.errors import SolverError
from counterplay.experiments.shared.experiment import Cell, Experiment, keeping_rows
from counterplay.forms import open_game

PUBLISHED = {"mccfr-scheme": 0.295, "probing": 0.133}
"""Means over 1000 iterations of Goofspiel(6), from the text of section 5.3.2; shown beside those of as many only."""


def run(
    quick: bool = False, cards: int = 6, iterations: int | None = None, samples: int | None = None,
    player: int | None = None, draws: str = "infosets", seed: int = 0,
) -> Experiment:  # fmt: skip
    """Sample variances of both estimators along vanilla CFR.

    Parameters
    ----------
    quick : bool
        40 iterations with 500 samples each, instead of 1000 with 1000.
    cards : int
        Cards of each player in Goofspiel.
    iterations, samples : int, optional
        Other numbers of iterations, and of walks at each.
    player : int, optional
        Whose root: 1 for the first bidder, 2 for the second; by default both.
    draws : {"infosets", "histories"}
        Where an opponent samples: once per information set in a walk, or at every history visited.
    seed : int
        Of the walks.
    """
    if player not in (None, 1, 2):
        raise SolverError(f"player is 1 or 2; got {player!r}")
    if draws not in ("infosets", "histories"):
        raise SolverError(f"draws is infosets or histories; got {draws!r}")
    iterations = iterations or (40 if quick else 1000)
    samples = samples or (500 if quick else 1000)
    tree = open_game(f"goofspiel(cards={cards})", "history")
    estimators = {name: SampledEstimator(tree, name, pure_opponents=draws == "infosets") for name in PUBLISHED}
    same = cards == 6 and iterations == 1000  # the mean falls as the run proceeds
    rows: list[tuple[Cell, ...]] = []
    curves = {}
    times = list(range(1, iterations + 1))
    with keeping_rows():
        for bidder in (1, 2) if player is None else (player,):
            found = variance_along_cfr(tree, estimators, iterations, samples, bidder - 1, seed=seed)
            means = {name: float(np.mean(variances)) for name, variances in found.items()}
            for name, variances in found.items():
                early = float(np.mean(variances[:150]))
                rows.append((f"player {bidder}", name, means[name], PUBLISHED[name] if same else None, early))
                curves[f"{name}, player {bidder}"] = (times, variances.tolist())
            ratio = means["mccfr-scheme"] / means["probing"]
            rows.append((f"player {bidder}", "ratio", ratio, 0.295 / 0.133 if same else None, None))
    return Experiment(
        title=f"Variance of the root's estimated value in Goofspiel({cards}), {iterations} iterations of vanilla CFR",
        source="Gibson 2014, section 5.3.2 and figure 5.3a (Goofspiel(6), 1000 iterations, 1000 samples each)",
        columns=("root of", "estimator", "mean", "published", "mean of the first 150"),
        rows=tuple(rows),
        notes=(
            f"Sampled at {'information sets' if draws == 'infosets' else 'histories'}; the source does not say.",
            "Another program, sampling at histories, found 0.286 and 0.115 over the first 200 iterations for player 1.",
        ),
        curves=curves,
    )
