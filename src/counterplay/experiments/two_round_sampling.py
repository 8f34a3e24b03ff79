"""Average strategy sampling against chance, external and outcome sampling in 2-NL hold'em with five buckets.

Gibson et al. 2012, figures 2a and 2b: exploitability inside the bucket game against histories touched, five runs,
stacks of 36 chips and 10^12 histories, and the same after 3.16·10^12 histories with stacks of 20 to 40.  Here stacks
are smaller and runs shorter, and β, which counts visits, is scaled with them; cards are dealt in the real game.
"""

from __future__ import annotations

from counterplay.abstraction.cards.features import CardFeatures, default_cache
from counterplay.abstraction.cards.two_round import two_round_cards
from counterplay.evaluation.bucket_pairs import BucketPairs, count_bucket_pairs, measure_buckets
from counterplay.experiments.shared.comparison import Budget, Comparison, Run, run_solver
from counterplay.experiments.shared.experiment import Cell, Experiment
from counterplay.experiments.shared.races import Entrants, at, curves_of
from counterplay.forms import open_game
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.poker_game import PokerGame
from counterplay.solvers.bucket_mccfr import BucketSolver
from counterplay.solvers.mccfr import mccfr_config

__all__ = ["ENTRANTS", "STACKS", "run"]

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

STACKS = (10, 12, 14, 16)

PUBLISHED = {"CS": "behind", "OS": "far behind", "AS": "level; 54 % below ES with 36 chips"}
"""What the figures show relative to external sampling: with stacks of 20 and 22 AS and ES are nearly equal."""


def run(
    quick: bool = False, stack: int | None = None, nodes: int | None = None, seeds: int | None = None, threads: int = 1
) -> Experiment:
    """Compare the algorithms.

    Parameters
    ----------
    quick : bool
        Stacks of 10 chips, 3·10^6 histories and 2 seeds instead of 10 to 16, 10^8 and 5.
    stack, nodes, seeds : int, optional
        One size of stacks, other numbers of histories and of seeds.
    threads : int
        For the features of the hands, which take minutes the first time.
    """
    stacks = (stack,) if stack else STACKS[:1] if quick else STACKS
    nodes = nodes or (3 * 10**6 if quick else 10**8)
    seeds = seeds or (2 if quick else 5)
    cards = two_round_cards(CardFeatures((13, 4), (2, 3, 1, 1), cache=default_cache(), threads=threads))
    pairs: BucketPairs | None = None
    rows: list[tuple[Cell, ...]] = []
    curves: dict[str, tuple[list[float], list[float]]] = {}
    for chips in stacks:
        rules = open_game(f"holdem_2_nolimit(stack={chips})", "states")
        assert isinstance(rules, PokerGame)
        game = BucketGame.build(rules.definition, cards.rounds, name=rules.spec())
        pairs = pairs or count_bucket_pairs(game)
        found = _race(game, pairs, Budget(nodes=nodes), seeds)
        unit = 1000 / game.big_blind
        external = at(found, "ES", nodes)[0]
        rows.append((chips, "uniform play", None, round(unit * found.uniform, 2), None, None))
        for label in ENTRANTS:
            mean, half = at(found, label, nodes)
            cells = (unit * mean, None if seeds < 2 else unit * half, round(mean / external, 3))
            rows.append((chips, label, PUBLISHED.get(label), *cells))
        for label, (x, values) in curves_of(found).items():
            name = label if len(stacks) == 1 else f"{label}; {chips} chips"
            curves[name] = x, [unit * y for y in values]
    return Experiment(
        name="two-round-sampling",
        title=f"Exploitability in the bucket game, 2-NL hold'em, five buckets, {nodes:,} histories, {seeds} seeds",
        source="Gibson et al. 2012, figures 2a and 2b",
        columns=("stack", "algorithm", "published", "mbb/g", "±", "relative to ES"),
        rows=tuple(rows),
        notes=(
            "The source has stacks of 20 to 40 and 10^12 histories; the margin of AS over ES grows with the stacks.",
            "With β = 10^6 AS equals ES until some 10^9 histories are touched.",
        ),
        curves=curves,
        xlabel="histories touched",
    )


def _race(game: BucketGame, pairs: BucketPairs, budget: Budget, seeds: int) -> Comparison:
    """All algorithms with all seeds, measured inside the bucket game."""
    runs = []
    for label, (algorithm, settings) in ENTRANTS.items():
        for seed in range(seeds):
            config = mccfr_config(algorithm, {**settings, "seed": seed})
            solver = BucketSolver(game, config, algorithm, pairs=pairs)
            runs.append(Run(label, seed, tuple(run_solver(solver, budget))))
    return Comparison(game.name, budget, tuple(runs), measure_buckets(game, pairs).exploitability)
