"""Table 4.1 and figure 4.7 of Čermák 2018: maxmin strategies in random games, and how much of a game DOIRABnB needs.

Random games with branching factors 3 and 4; information sets are merged with probability p, and the minimiser's sets
split again until its recall is A-loss.  The table has the share of both players' sequences in the restricted game at
the end; the figure how many instances each algorithm solves in a time.
"""

from __future__ import annotations

import math
from statistics import fmean, stdev

from counterplay.experiments.base import Cell, Experiment
from counterplay.solvers import Until, make_solver
from counterplay.tree import compile_game
from counterplay.tree.arrays import GameTree
from counterplay.tree.recall import split_to_a_loss

__all__ = ["PUBLISHED", "run"]

PUBLISHED = {
    (3, 0.3): ((46.1, 2.9), (22.2, 1.8)),
    (3, 0.6): ((58.9, 2.8), (23.3, 2.0)),
    (3, 0.9): ((68.2, 2.5), (24.0, 1.8)),
    (4, 0.3): ((62.5, 3.1), (17.5, 2.2)),
    (4, 0.6): ((71.7, 2.8), (17.1, 2.1)),
    (4, 0.9): ((76.6, 2.9), (18.5, 1.1)),
}
"""Branching factor and probability: per cent of the maximiser's and the minimiser's sequences, with standard errors."""


def instance(branching: int, merge: float, depth: int, seed: int) -> GameTree:
    """A random game whose minimiser has A-loss recall."""
    name = f"random_game(seed={seed},depth={depth},branching={branching},merge={merge})"
    return split_to_a_loss(compile_game(name), 1)


def run(quick: bool = False, instances: int | None = None, seconds: float | None = None) -> Experiment:
    """Solve random instances by the three algorithms.

    Parameters
    ----------
    quick : bool
        Fewer and smaller instances.
    instances : int, optional
        For each row; 20, or 4 when quick.
    seconds : float, optional
        The time limit for each instance and algorithm; 120, or 2 when quick.
    """
    count = instances or (4 if quick else 20)
    limit = seconds or (2.0 if quick else 120.0)
    depths = {3: 4, 4: 4} if quick else {3: 5, 4: 4}
    rows: list[tuple[Cell, ...]] = []
    for (branching, merge), published in PUBLISHED.items():
        shares: tuple[list[float], list[float]] = ([], [])
        solved = {"base": 0, "irabnb": 0, "doirabnb": 0}
        used = dict.fromkeys(solved, 0.0)
        for seed in range(count):
            tree = instance(branching, merge, depths[branching], seed)
            start = tree.sequences.sequence_start
            for method in solved:
                result = make_solver(tree, "maxmin", method=method).run(Until(seconds=limit))
                solved[method] += result.status == "solved"
                used[method] += result.cpu_seconds
                if method == "doirabnb":
                    for player, allowed in enumerate(result.details["restricted_sequences"]):
                        shares[player].append(100.0 * allowed / float(start[player + 1] - start[player]))
        ours = [_with_error(share) for share in shares]
        printed = [f"{mean} ± {error}" for mean, error in published]
        counts = ", ".join(f"{solved[method]}" for method in solved)
        times = ", ".join(f"{used[method]:.1f}" for method in solved)
        rows.append((branching, merge, printed[0], ours[0], printed[1], ours[1], counts, times))
    return Experiment(
        name="maxmin-shares",
        title="Sequences that DOIRABnB needs in random games, per cent; instances solved",
        source="Čermák 2018, table 4.1 and figure 4.7",
        columns=("branching", "p", "maximiser, published", "ours", "minimiser, published", "ours",
                 f"solved of {count}: base, irabnb, doirabnb", "CPU seconds"),
        rows=tuple(rows),
        notes=(
            f"Our own random games, {count} for each row instead of 100, of depth {depths[3]} and {depths[4]} instead "
            f"of 6, at most {limit:g} s each instead of 2 hours.",
            "ε is 1e-4 of the largest utility, as published.",
        ),
    )  # fmt: skip


def _with_error(values: list[float]) -> str:
    error = stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0
    return f"{fmean(values):.1f} ± {error:.1f}"
