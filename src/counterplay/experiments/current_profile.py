"""The current profile against the average (Gibson 2014, sections 4.3 and 4.4.3, figure 4.7, on small games).

In two-player zero-sum games only CFR's average approaches an equilibrium.  With three players nothing is guaranteed for
either, and the thesis finds the current profile as strong as the average after a tenth of the iterations, in large
abstractions of three-player hold'em and matches against other agents.  Here both are measured exactly in small games:
ε of each, and what one seat of current play wins against average play in the other seats, and vice versa.
"""

from __future__ import annotations

import numpy as np

from counterplay.evaluation import expected_values
from counterplay.experiments.regret_curves import powers_of_ten
from counterplay.experiments.shared.experiment import Cell, Curves, Experiment, keeping_rows
from counterplay.forms import open_game
from counterplay.solvers.cfr import CfrSolver
from counterplay.strategy.tabular import TabularStrategy
from counterplay.tree.history.game_tree import GameTree

GAMES = ("kuhn", "leduc", "kuhn(players=3)", "leduc(players=3)")


def seat_value(tree: GameTree, alone: np.ndarray, others: np.ndarray) -> float:
    """What one strategy wins on average over the seats when all other seats play another one."""
    total = 0.0
    for seat in range(tree.players):
        low, high = tree.infoset_offset[tree.player_infosets[[seat, seat + 1]]]
        mixed = others.copy()
        mixed[low:high] = alone[low:high]
        total += expected_values(TabularStrategy.from_tree(tree, mixed), tree)[seat]
    return total / tree.players


def run(quick: bool = False, games: tuple[str, ...] | None = None, iterations: int | None = None) -> Experiment:
    """Compare both profiles of CFR runs.

    Parameters
    ----------
    quick : bool
        Without three-player Leduc, and 100 iterations instead of 10,000 (1,000 in three-player Leduc).
    games : tuple of str, optional
        Other games.
    iterations : int, optional
        Another number of iterations.
    """
    rows: list[tuple[Cell, ...]] = []
    curves: Curves = {}
    with keeping_rows():
        for name in games or (GAMES[:3] if quick else GAMES):
            tree = open_game(name, "history")
            solver = CfrSolver(tree, "cfr")
            total = iterations or (100 if quick else 10_000 if tree.num_histories < 100_000 else 1_000)
            for checked in powers_of_ten(total, first=1):
                solver.step(checked - solver.iterations)
                average, current = solver.strategy("average"), solver.strategy("last")
                measured = {"average": solver.measure("average"), "current": solver.measure("last")}
                for kind, measurement in measured.items():
                    x, y = curves.setdefault(f"{name}, {kind}", ([], []))
                    x.append(float(checked))
                    y.append(measurement.epsilon)
                rows.append((
                    name, checked, measured["average"].epsilon, measured["current"].epsilon,
                    seat_value(tree, current, average), seat_value(tree, average, current),
                ))  # fmt: skip
    return Experiment(
        title="Current against average profile of vanilla CFR, chips per game",
        source="Gibson 2014, figure 4.7 and section 4.3 (there: three-player hold'em)",
        columns=("game", "T", "epsilon average", "epsilon current", "current among average", "average among current"),
        rows=tuple(rows),
        curves=curves,
    )
