"""Subgames solved again below strategies of different quality: how exploitable the whole is before and after.

Gibson 2014, section 3.5.4, names two-phase agents, which solve the last rounds from both ranges, and Burch, Johanson
and Bowling 2014 the safe form; neither has these numbers.  Every subgame below the deal of a round is replaced for both
players, by the same solver that plays at the table, and the whole is measured exactly.
"""

from __future__ import annotations

import time

import numpy as np

from counterplay.errors import CounterplayError
from counterplay.evaluation.lifted_buckets import LiftedStrategy
from counterplay.evaluation.public_walker import PublicWalker
from counterplay.experiments.shared.bucket_games import bucket_game, cards_of
from counterplay.experiments.shared.experiment import Cell, Experiment, keeping_rows
from counterplay.forms import open_game, poker_definition
from counterplay.runtime.pacing import Until
from counterplay.solvers import make_solver
from counterplay.solvers.public_cfr import PublicSolver
from counterplay.solvers.resolving import Tables, after_deals, resolve_below
from counterplay.strategy.public_strategy import fill_table
from counterplay.tree.public.public_tree import PublicTree

LEDUC, HOLDEM = "leduc_limit_2p", "holdem_4_1(ranks=3)"

CUTS = {LEDUC: (1,), HOLDEM: (2,)}
"""The public deals after which subgames begin: the flop of Leduc hold'em, the turn of hold'em."""

BLUEPRINTS = ("uniform", "random", "buckets", "cfr+ 10", "cfr+ 100")
"""What is played before: all actions alike; any probabilities; an equilibrium of two buckets a round, by so many boards
of public chance sampling; CFR+ after so many iterations.
"""

BUCKETS, BOARDS = "PS2", 20_000


def run(
    quick: bool = False, games: tuple[str, ...] = (LEDUC, HOLDEM), blueprints: tuple[str, ...] = BLUEPRINTS,
    iterations: int | None = None, deals: int | None = None, seed: int = 1,
) -> Experiment:  # fmt: skip
    """Solve all subgames again, safely and from both ranges.

    Parameters
    ----------
    quick : bool
        Leduc hold'em alone.
    games : tuple of str
        Poker games of two players whose public trees fit into memory.
    blueprints : tuple of str
        Some of uniform, random, buckets, and ``cfr+ N``.
    iterations : int, optional
        Iterations of CFR+ for each subgame, by default 100.
    deals : int, optional
        After how many public deals subgames begin.
    seed : int
        Of the random blueprint and of the buckets' solver.
    """
    until = Until(iterations=100 if iterations is None else iterations)
    rows: list[tuple[Cell, ...]] = []
    with keeping_rows():
        for game in games[:1] if quick else games:
            tree = open_game(game, "public")
            mbb = 1000.0 / (tree.big_blind or 1.0)
            for cut in CUTS.get(game, (1,)) if deals is None else (deals,):
                for name in blueprints:
                    tables = blueprint(tree, name, seed)
                    rows.append((game, cut, name, *compared(tree, tables, cut, until, mbb)))
    return Experiment(
        title=f"Exploitability before and after subgames are solved again, mbb/g, {until.iterations} iterations each",
        source="Gibson 2014, section 3.5.4; Burch, Johanson and Bowling 2014",
        columns=("game", "deals before", "blueprint", "before", "safe", "at most", "from both ranges", "subgames",
                 "CPU s"),
        rows=tuple(rows),
        notes=(
            "at most: the blueprint's, and half of the errors of the safe solutions; safe is never above it: "
            f"{'true' if all(row[4] <= row[5] + 1e-6 for row in rows) else 'FALSE'}.",  # type: ignore[operator]
            "From both ranges it is higher than before in "
            f"{sum(row[6] > row[3] for row in rows)} of {len(rows)} rows.",  # type: ignore[operator]
            "The sources have no such numbers.",
        ),
    )  # fmt: skip


def blueprint(tree: PublicTree, name: str, seed: int) -> Tables:
    """A strategy of a public tree."""
    if name == "uniform":
        return np.ones(tree.num_entries[0]), np.ones(tree.num_entries[1])
    if name == "random":
        dice = np.random.default_rng(seed)
        return dice.exponential(size=tree.num_entries[0]), dice.exponential(size=tree.num_entries[1])
    if name == "buckets":
        recipe = "/".join([BUCKETS] * poker_definition(tree.name).rounds)
        solver = make_solver(bucket_game(tree.name, cards_of(tree.name, recipe)), "pcs-boards", seed=seed)
        solver.step(BOARDS)
        lifted = LiftedStrategy(solver.profile())
        return fill_table(tree, 0, lifted), fill_table(tree, 1, lifted)
    word, _, number = name.partition(" ")
    if word != "cfr+" or not number.isdigit() or not int(number):
        raise CounterplayError(
            f"blueprints are uniform, random, buckets and cfr+ with a number of iterations; got {name!r}"
        )
    full = PublicSolver(tree, "cfr+")
    full.step(int(number))
    first, second = full.strategy()
    return first.copy(), second.copy()


def compared(tree: PublicTree, tables: Tables, cut: int, until: Until, mbb: float) -> tuple[Cell, ...]:
    """Exploitability before, after safe solving and what it can be at most, after unsafe solving; subgames, seconds."""
    walker, clock = PublicWalker(tree), time.process_time()
    before = walker.measure(tables, valued=False).exploitability
    safe = resolve_below(tree, tables, after_deals(cut), until)
    unsafe = resolve_below(tree, tables, after_deals(cut), until, safe=False)
    seconds = time.process_time() - clock
    after = [walker.measure(found.tables, valued=False).exploitability for found in (safe, unsafe)]
    most = before + sum(safe.errors) / 2
    return mbb * before, mbb * after[0], mbb * most, mbb * after[1], safe.subgames, seconds
