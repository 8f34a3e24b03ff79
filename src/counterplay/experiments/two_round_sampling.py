"""Average strategy sampling against chance, external and outcome sampling in 2-NL hold'em with five buckets.

Gibson et al. 2012, figure 2a: exploitability inside the abstract game against histories touched, five runs, stacks of
36 chips and up to 10^12 histories.  Here the stacks are smaller and the runs shorter, and β, which counts visits, is
scaled with them; the cards are dealt in the real game.
"""

from __future__ import annotations

from counterplay.abstraction.cards.features import CardFeatures, default_cache
from counterplay.abstraction.cards.two_round import two_round_cards
from counterplay.experiments.base import Cell, Experiment
from counterplay.experiments.compare import Budget, Comparison, Run, run_solver
from counterplay.experiments.races import Entrants, at, curves_of
from counterplay.game.registry import make
from counterplay.poker.abstract_game import AbstractGame
from counterplay.poker.games import PokerGame
from counterplay.solvers.abstract import AbstractSolver
from counterplay.solvers.mccfr import mccfr_config
from counterplay.strategy.bucket_games import count_bucket_pairs, measure_buckets

__all__ = ["ENTRANTS", "run"]

AS = "average-strategy-sampling"
ENTRANTS: Entrants = {
    "CS": ("chance-sampling", {"prune": False}),
    "ES": ("external-sampling", {}),
    "OS": ("outcome-sampling", {"exploration": 0.5}),
    "AS": (AS, {"epsilon": 0.05, "tau": 1000.0, "beta": 1e6}),
    "AS, β = 1e3, τ = 100": (AS, {"epsilon": 0.05, "tau": 100.0, "beta": 1e3}),
    "AS, β = 10, τ = 100": (AS, {"epsilon": 0.05, "tau": 100.0, "beta": 10.0}),
}
"""The algorithms with the settings of the source, and average strategy sampling with smaller β and τ."""


def run(
    quick: bool = False, stack: int | None = None, nodes: int | None = None, seeds: int | None = None, threads: int = 1
) -> Experiment:
    """Race the algorithms.

    Parameters
    ----------
    quick : bool
        Stacks of 10 chips, 3·10^6 histories and 2 seeds instead of 16, 10^8 and 5.
    stack, nodes, seeds : int, optional
        Other stacks, numbers of histories and of seeds.
    threads : int
        For the features of the hands, which take minutes the first time.
    """
    stack = stack or (10 if quick else 16)
    nodes = nodes or (3 * 10**6 if quick else 10**8)
    seeds = seeds or (2 if quick else 5)
    cards = two_round_cards(CardFeatures((13, 4), (2, 3, 1, 1), cache=default_cache(), threads=threads))
    rules = make(f"holdem_2_nolimit(stack={stack})")
    assert isinstance(rules, PokerGame)
    game = AbstractGame.build(rules.definition, cards.rounds, name=rules.spec())
    pairs = count_bucket_pairs(game)
    budget = Budget(nodes=nodes)
    runs = []
    for label, (algorithm, settings) in ENTRANTS.items():
        for seed in range(seeds):
            config = mccfr_config(algorithm, {**settings, "seed": seed})
            solver = AbstractSolver(game, config, algorithm, pairs=pairs)
            runs.append(Run(label, seed, tuple(run_solver(solver, budget))))
    found = Comparison(game.name, budget, tuple(runs), measure_buckets(game, pairs).exploitability)
    unit = 1000 / game.big_blind
    rows: list[tuple[Cell, ...]] = [(0, "uniform play", round(unit * found.uniform, 2), None)]
    for label in ENTRANTS:
        mean, half = at(found, label, nodes)
        rows.append((nodes, label, unit * mean, None if seeds < 2 else unit * half))
    curves = {label: (x, [unit * y for y in values]) for label, (x, values) in curves_of(found).items()}
    return Experiment(
        name="two-round-sampling",
        title=f"Abstract exploitability in 2-NL hold'em({stack}), five buckets, {seeds} seeds",
        source="Gibson et al. 2012, figure 2a",
        columns=("nodes", "algorithm", "mbb/g", "±"),
        rows=tuple(rows),
        notes=(
            "The source has stacks of 36 and 10^12 histories; average strategy sampling ends 54 % below external.",
            "With β = 10^6 it cannot tell itself from external sampling before some 10^9 histories are touched.",
        ),
        curves=curves,
        xlabel="histories touched",
    )
