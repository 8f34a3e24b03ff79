"""CFR+ on a limit hold'em game until it is essentially solved.

Johanson 2016, figure 9.3 and sections 9.3 and 9.4: CFR+ without sampling and without abstraction; the current strategy
of heads-up limit hold'em could be exploited by 0.986 mbb/g after 1,579 iterations on 4,800 cores, so that the dealer
wins between 87.7 and 89.7.  The game counts as essentially solved below 1 mbb/g, because a best response then needs
more than a lifetime of games to be ahead with confidence.  Here the game has four rounds too, with one raise in a round
and a smaller deck.

The source measured an average as well, found it more exploitable than the current strategy, and discarded it.
"""

from __future__ import annotations

import time

from counterplay.analysis import essentially_solved_threshold, value_interval
from counterplay.errors import GameError
from counterplay.evaluation import Measurement, evaluate
from counterplay.experiments.shared.experiment import Cell, Experiment, keeping_rows
from counterplay.forms import open_game
from counterplay.runtime.number_text import figure
from counterplay.solvers import make_solver
from counterplay.solvers.public_tree_tables import PublicTreeTables

GAME, QUICK = "holdem_4_1(ranks=5,suits=3)", "holdem_4_1(ranks=5,suits=2)"

DEALER = 1
"""The player with the small blind."""

PUBLISHED = "1,579 iterations, 0.986 mbb/g, the dealer wins 87.7 to 89.7; the average was more exploitable"
"""Of Texas hold'em: the current strategy."""


def run(
    quick: bool = False, game: str | None = None, iterations: int | None = None, threads: int = 1,
) -> Experiment:  # fmt: skip
    """Solve the game by CFR+, and measure the average and the current strategy while it runs.

    Parameters
    ----------
    quick : bool
        Ten cards and 128 iterations instead of fifteen cards and 1,024.
    game : str, optional
        Another limit game of two players whose public tree fits into memory.
    iterations : int, optional
        Iterations at most; the run stops earlier when both strategies are below the threshold.
    threads : int
        Of the solver and the measurements.
    """
    tree = open_game(game or (QUICK if quick else GAME), "public")
    if not tree.big_blind:
        raise GameError(f"the threshold is in big blinds, and {tree.name} has none; take a game such as {GAME}")
    solver = make_solver(tree, "cfr+", threads=threads)
    assert isinstance(solver, PublicTreeTables)
    unit, threshold = 1000.0 / tree.big_blind, 1000.0 * essentially_solved_threshold()
    rows: list[tuple[Cell, ...]] = []
    most, mark, spent = iterations or (128 if quick else 1024), 8, 0.0
    solver.step(0)  # kernels are compiled before the clock starts
    with keeping_rows():
        while True:
            mark = min(mark, most)
            before = time.process_time()
            solver.step(mark - solver.iterations)
            spent += time.process_time() - before
            average, current = (_measured(solver, kind, threads) for kind in ("average", "last"))
            lost = unit * average.exploitability, unit * current.exploitability
            bounds = (unit * bound for bound in value_interval(current, DEALER))
            rows.append((solver.iterations, spent, *lost, *bounds))
            if mark == most or max(lost) < threshold:
                break
            mark *= 2
    marks = [float(row[0] or 0) for row in rows]
    return Experiment(
        title=f"CFR+ in {tree.name}: exploitability, mbb/g, and what the dealer wins by the current strategies",
        source="Johanson 2016, figure 9.3 and sections 9.3 and 9.4",
        columns=("iterations", "CPU s", "average", "current", "dealer, at least", "at most"),
        rows=tuple(rows),
        notes=(
            f"{sum(tree.num_entries):,} pairs of information set and action up to suits.",
            *verdicts(rows, threshold),
            f"Published, Texas hold'em: {PUBLISHED}.",
        ),
        curves={
            name: (marks, [float(row[place] or 0) for row in rows]) for place, name in ((2, "average"), (3, "current"))
        },
    )  # fmt: skip


def _measured(solver: PublicTreeTables, kind: str, threads: int) -> Measurement:
    return evaluate(solver.profile(kind), solver.tree, threads=threads)


def verdicts(rows: list[tuple[Cell, ...]], threshold: float) -> tuple[str, ...]:
    """When each strategy was below the threshold, and which one was less exploitable."""
    said = []
    for place, name in ((2, "average"), (3, "current")):
        below = [row[0] for row in rows if float(row[place] or 0) < threshold]
        when = f"after {below[0]:,} iterations" if below else "not reached"
        said.append(f"Below {figure(threshold, 3)} mbb/g, {name} strategy: {when}.")
    worse = sum(float(row[2] or 0) > float(row[3] or 0) for row in rows)
    said.append(f"The average is more exploitable than the current strategy at {worse} of {len(rows)} times.")
    return tuple(said)
