"""CFR on tilted, nearly zero-sum games (Gibson 2014, section 4.4.2, figure 4.5), on smaller games.

The thesis runs two-player 2-1 hold'em under orange and green tilts of w percent and plots the mean best-response value
of CFR's average against iterations; for w = 0 also the current profile's.  Theorem 4.4 bounds how far from an
equilibrium the average ends: Δ w / 50.  Here the same with full-width CFR on Leduc and Kuhn poker.

The plotted mean of br_i(σ̄_-i) is exploitability only for w = 0: a tilted game is not zero-sum, and its players can
win together.  So the table also gives ε, the largest gain of a best response in the tilted game, which the bound is
about, and the exploitability of the profile in the original game.
"""

from __future__ import annotations

from counterplay.analysis.regret_bounds import imbalance, tilted_nash
from counterplay.errors import GameError
from counterplay.evaluation import evaluate
from counterplay.experiments.shared.experiment import Cell, Curves, Experiment, keeping_rows
from counterplay.forms import open_game
from counterplay.game.transforms import TILTS, TiltedGame
from counterplay.solvers.cfr import CfrSolver, ProfileKind
from counterplay.strategy.tabular import TabularStrategy
from counterplay.tree.history.game_tree import GameTree

PERCENTS = (0.0, 7.0, 14.0, 35.0)


def run(quick: bool = False, games: tuple[str, ...] = ("kuhn", "leduc"), iterations: int | None = None) -> Experiment:
    """Run CFR on every game, tilt and percentage.

    Parameters
    ----------
    quick : bool
        300 iterations instead of 10,000.
    games : tuple of str
        Two-player poker games.
    iterations : int, optional
        Another number of iterations.
    """
    total = iterations or (300 if quick else 10_000)
    rows: list[tuple[Cell, ...]] = []
    curves: Curves = {}
    with keeping_rows():
        for name in games:
            plain = open_game(name, "history")
            if plain.players != 2:
                raise GameError(f"tilted games are for two players here; {name} has {plain.players}")
            for tilt in ("orange", "green"):
                for percent in PERCENTS:
                    if percent == 0.0 and tilt != "orange":
                        continue  # the same game
                    tree = open_game(TiltedGame(open_game(name, "states"), TILTS[tilt](percent)), "history")
                    rows.append(_row(name, tilt, percent, plain, tree, total, curves))
    return Experiment(
        title=f"CFR on tilted games, {total} iterations, chips per game",
        source="Gibson 2014, figure 4.5 (there: 2-1 hold'em with public chance sampling)",
        columns=("game", "tilt", "percent", "mean best response", "epsilon", "bound", "|u1+u2|",
                 "exploitability untilted", "current epsilon"),
        rows=tuple(rows),
        notes=(
            "The bound is Δ w / 50 (theorem 4.4), Δ of the game before the tilt; the average's ε ends below it.",
            "As in the thesis, the average approaches an equilibrium for w = 0 and the current profile does not.",
        ),
        curves=curves,
    )  # fmt: skip


def _row(
    name: str, tilt: str, percent: float, plain: GameTree, tree: GameTree, total: int, curves: Curves
) -> tuple[Cell, ...]:
    """One run: its row of the table, and its curves of the mean best-response value."""
    solver = CfrSolver(tree, "cfr")
    label = f"{name} {tilt} {percent:g}%" if percent else f"{name} untilted"
    kinds: dict[str, ProfileKind] = {"average": "average"} if percent else {"average": "average", "current": "last"}
    check = 1
    while check <= total:
        solver.step(check - solver.iterations)
        for name_of, kind in kinds.items():
            x, y = curves.setdefault(f"{label}, {name_of}", ([], []))
            x.append(float(check))
            y.append(sum(solver.measure(kind).best_response) / 2)
        check = total if check < total < 2 * check else 2 * check
    average = solver.measure("average")
    untilted = evaluate(TabularStrategy.from_tree(plain, solver.strategy("average")), plain)
    return (
        name, tilt if percent else "none", percent, sum(average.best_response) / 2, average.epsilon,
        tilted_nash(plain.utility_range(0), percent), imbalance(tree), untilted.exploitability,
        solver.measure("last").epsilon,
    )  # fmt: skip
