"""The floor of CFR+ with and without sampling, at equal iterations.

Johanson 2016, section 9.3, in words: CFR+ needs fewer iterations than CFR, its current strategies converge too, and it
does not combine well with sampling.  CFR+ floors regrets at 0 after every iteration and weights the average by the
number of the iteration; the source has the floor alone, so both are tried, together and separately.
"""

from __future__ import annotations

from counterplay.errors import CounterplayError
from counterplay.experiments.shared.experiment import Cell, Experiment, keeping_rows
from counterplay.forms import open_game
from counterplay.runtime.intervals import interval
from counterplay.solvers.public_cfr import PublicSolver
from counterplay.solvers.public_sampling import PublicSamplingSolver
from counterplay.tree.public.public_tree import PublicTree

RULES = {
    "as in CFR": (False, False),
    "weighted average": (False, True),
    "floor": (True, False),
    "floor, weighted average": (True, True),
}
"""Whether regrets are floored, and whether the average is weighted by the number of the iteration."""

PUBLISHED = {"full": ("", "", "fewer iterations than CFR", "fewer iterations than CFR"),
             "sampled": ("", "", "worse than without", "worse than without")}  # fmt: skip
"""What the source says about each rule."""

STEPS = {"full": 200, "pcs": 20_000, "cs": 200_000}
"""Iterations: all deals, public chance sampling, chance sampling."""


def _solved(
    tree: PublicTree, sampling: str, iterations: int, seeds: int, rule: tuple[bool, bool], unit: float
) -> tuple[list[float], list[float]]:
    """Exploitability of average and current strategies, in units, one number for each seed."""
    floor, weighted = rule
    found: tuple[list[float], list[float]] = ([], [])
    solver: PublicSolver | PublicSamplingSolver
    for seed in range(seeds):
        if sampling == "full":
            settings = {"regret_floor": floor, "gamma": float(weighted), "alternating": True}
            solver = PublicSolver.named(tree, "cfr", None, settings)
        else:
            settings = {"seed": seed, "regret_floor": floor, "linear_average": weighted}
            solver = PublicSamplingSolver.named(tree, sampling, None, settings)
        solver.step(iterations)
        found[0].append(unit * solver.measure("average").exploitability)
        found[1].append(unit * solver.measure("last").exploitability)
    return found


def run(
    quick: bool = False, games: tuple[str, ...] = ("leduc_limit_2p", "holdem_2_1(ranks=6,suits=3)"), share: float = 1.0,
    seeds: int | None = None,
) -> Experiment:  # fmt: skip
    """Compare the rules in several games.

    Parameters
    ----------
    quick : bool
        The first game alone, a tenth of the iterations and 2 seeds instead of 5.
    games : tuple of str
        Games with public chance events: without them public chance sampling is CFR.
    share : float
        Do this fraction of the iterations, which are 200 of CFR, 20,000 with public chance sampling and 200,000 with
        chance sampling.
    seeds : int, optional
        Number of runs of each sampling algorithm.
    """
    if not share > 0:
        raise CounterplayError(f"share must be positive; got {share!r}")
    runs = seeds or (2 if quick else 5)
    rows: list[tuple[Cell, ...]] = []
    with keeping_rows():
        for name in games[:1] if quick else games:
            tree = open_game(name, "public")
            unit = 1000.0 / tree.big_blind if tree.big_blind else 1.0
            for sampling, whole in STEPS.items():
                iterations = max(1, round(whole * share / (10 if quick else 1)))
                plain = 0.0
                for place, (rule, flags) in enumerate(RULES.items()):
                    full = sampling == "full"
                    found = _solved(tree, sampling, iterations, 1 if full else runs, flags, unit)
                    (mean, half), (current, _) = (interval(values) for values in found)
                    plain = plain or mean
                    published = PUBLISHED["full" if full else "sampled"][place]
                    rows.append((tree.name, sampling, iterations, rule, mean, None if full else half,
                                 mean / plain, current, published))  # fmt: skip
    return Experiment(
        title=f"Exploitability with and without the floor of CFR+, mbb/g, {runs} seeds",
        source="Johanson 2016, section 9.3",
        columns=("game", "sampling", "iterations", "rule", "average", "±", "to the first", "current", "published"),
        rows=tuple(rows),
        notes=("full: every deal in every iteration.  current: the strategies of the last iteration.",),
    )
