"""Dominated actions under CFR (Gibson 2014, section 4.3, theorems 4.2 and 4.3), in two- and three-player poker.

The iteratively strictly dominated actions of a game are found first, by linear programs.  Then vanilla CFR runs, and
some iterations T record how many of them have negative regret, the largest fraction of iterations that played one, the
largest weight of one in the current profile and in the average (own reach times probability), and the fraction of
iterations after which some information set had no positive regret, which theorem 4.2 requires to vanish.

The theorem holds for any number of players, so it says something about current and average profiles where nothing is
known about equilibria.
"""

from __future__ import annotations

import numpy as np

from counterplay.analysis.action_domination import dominated_actions
from counterplay.analysis.diagnostics import DominationProbe
from counterplay.experiments.regret_curves import powers_of_ten
from counterplay.experiments.shared.experiment import Cell, Curves, Experiment, keeping_rows
from counterplay.forms import open_game
from counterplay.solvers.cfr import CfrSolver

GAMES = ("kuhn", "kuhn(players=3)", "leduc", "leduc(players=3)")
SAMPLED_SETS = 400
"""Information sets that are examined in games with more than ten times as many; evenly spaced."""


def run(quick: bool = False, games: tuple[str, ...] | None = None, iterations: int | None = None) -> Experiment:
    """Track dominated actions in CFR runs.

    Parameters
    ----------
    quick : bool
        Two-player and three-player Kuhn only, 100 iterations instead of 10,000 (1,000 in Leduc).
    games : tuple of str, optional
        Other games.
    iterations : int, optional
        Another number of iterations.
    """
    rows: list[tuple[Cell, ...]] = []
    curves: Curves = {}
    sampled = []
    with keeping_rows():
        for name in games or (GAMES[:2] if quick else GAMES):
            tree = open_game(name, "history")
            sets = None
            if tree.num_infosets > 10 * SAMPLED_SETS:
                sets = np.linspace(0, tree.num_infosets - 1, SAMPLED_SETS).astype(int).tolist()
                sampled.append(name)
            large = tree.num_infosets > 100
            found = dominated_actions(
                tree, "strict", iterated=sets is None, infosets=sets, limit=2_000 if sets else 50_000
            )
            probe = DominationProbe(CfrSolver(tree, "cfr"), found.entries)
            quiet = 0
            x, y = curves.setdefault(name, ([], []))
            for checked in powers_of_ten(iterations or (100 if quick else 1_000 if large else 10_000)):
                while probe.steps < checked:
                    probe.step()
                    largest = np.maximum.reduceat(probe.solver.regret, tree.infoset_offset[:-1])
                    quiet += bool((largest <= 0).any())
                report = probe.report()
                x.append(float(checked))
                y.append(max((one.average for one in report), default=0.0))
                rows.append((
                    name, len(report), checked, sum(one.regret < 0 for one in report),
                    max((one.played / checked for one in report), default=0.0),
                    max((one.current for one in report), default=0.0), y[-1], quiet / checked,
                ))  # fmt: skip
    notes = tuple(f"{name}: {SAMPLED_SETS} information sets, evenly spaced, were examined, once." for name in sampled)
    return Experiment(
        title="Iteratively strictly dominated actions under vanilla CFR",
        source="Gibson 2014, theorems 4.2 and 4.3",
        columns=("game", "dominated actions", "T", "with negative regret", "largest share of iterations",
                 "largest in current", "largest in average", "share without positive regret"),
        rows=tuple(rows),
        notes=notes,
        curves=curves,
    )  # fmt: skip
