"""CFR on tilted, nearly zero-sum games (Gibson 2014, section 4.4.2, figure 4.5), on smaller games.

The thesis runs two-player 2-1 hold'em under orange and green tilts of w percent and plots the mean best-response value
of CFR's average against iterations; for w = 0 also the current profile's.  Theorem 4.4 bounds how far from an
equilibrium the average ends: Δ w / 50.  Here the same with full-width CFR, where the thesis has public chance sampling,
on Kuhn and Leduc poker and on [2-1] hold'em itself.

The plotted mean of br_i(σ̄_-i) is exploitability only for w = 0: a tilted game is not zero-sum, and its players can
win together.  So the table also gives ε, the largest gain of a best response in the tilted game, which the bound is
about, and the exploitability of the profile in the original game.
"""

from __future__ import annotations

from typing import Any, Literal

from counterplay.analysis.regret_bounds import imbalance, tilted_nash
from counterplay.errors import GameError
from counterplay.evaluation import evaluate
from counterplay.experiments.shared.experiment import Cell, Curves, Experiment, keeping_rows
from counterplay.forms import open_game, poker_definition
from counterplay.game.transforms import TILTS, TiltedGame
from counterplay.poker.betting import build_betting_tree
from counterplay.poker.poker_game import PokerGame
from counterplay.solvers import make_solver
from counterplay.solvers.cfr import ProfileKind
from counterplay.strategy.public_strategy import PublicStrategy
from counterplay.strategy.tabular import TabularStrategy
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.public.public_tree import PublicTree

PERCENTS = (0.0, 7.0, 14.0, 35.0)

GAMES = ("kuhn", "leduc", "holdem_2_1")

FEW_HISTORIES = 1_000_000
"""Poker with at most so many histories is solved on them, other poker games on their public trees."""

Form = GameTree | PublicTree


def run(
    quick: bool = False, games: tuple[str, ...] | None = None, iterations: int | None = None, threads: int = 1
) -> Experiment:
    """Run CFR on every game, tilt and percentage.

    Parameters
    ----------
    quick : bool
        300 iterations instead of 10,000 (1,000 on public trees), without [2-1] hold'em.
    games : tuple of str, optional
        Other poker games of two players.
    iterations : int, optional
        Another number of iterations.
    threads : int
        For games that are solved on their public trees.
    """
    rows: list[tuple[Cell, ...]] = []
    curves: Curves = {}
    numbers: dict[str, int] = {}
    with keeping_rows():
        for name in games or (GAMES[:2] if quick else GAMES):
            rules = open_game(name, "states")
            if rules.players != 2:
                raise GameError(f"tilted games are for two players here; {name} has {rules.players}")
            histories = rules.num_histories() if isinstance(rules, PokerGame) else 0
            few = histories is not None and histories <= FEW_HISTORIES
            form: Literal["history", "public"] = "history" if few else "public"
            plain = open_game(name, form)
            total = numbers[name] = iterations or (300 if quick else 10_000 if form == "history" else 1_000)
            for tilt in ("orange", "green"):
                for percent in PERCENTS:
                    if percent == 0.0 and tilt != "orange":
                        continue  # the same game
                    tree = open_game(TiltedGame(rules, TILTS[tilt](percent)), form)
                    settings: dict[str, Any] = {} if form == "history" else {"threads": threads}
                    solver = make_solver(tree, "cfr", **settings)
                    rows.append(_row(name, tilt, percent, plain, solver, total, curves))
    done = ", ".join(f"{count:,} in {name}" for name, count in numbers.items())
    return Experiment(
        title=f"CFR on tilted games, iterations: {done}; chips per game",
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
    name: str, tilt: str, percent: float, plain: Form, solver: Any, total: int, curves: Curves
) -> tuple[Cell, ...]:
    """One run: its row of the table, and its curves of the mean best-response value."""
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
    if isinstance(plain, GameTree):
        spread, apart = plain.utility_range(0), imbalance(solver.tree)
        untilted = evaluate(TabularStrategy.from_tree(plain, solver.strategy("average")), plain)
    else:
        most = build_betting_tree(poker_definition(name)).spent.min(axis=1).max()  # what a player can lose
        spread, apart = 2.0 * float(most), None
        untilted = evaluate(PublicStrategy.of_tree(plain, solver.strategy("average")), plain)
    return (
        name, tilt if percent else "none", percent, sum(average.best_response) / 2, average.epsilon,
        tilted_nash(spread, percent), apart, untilted.exploitability, solver.measure("last").epsilon,
    )  # fmt: skip
