"""The parameters ε, τ and β of average strategy sampling (Gibson et al. 2012, figure 1; Gibson 2014, figure 5.4).

The source sweeps them in an abstraction of two-round no-limit hold'em over 10^12 histories: first ε and β with τ =
1000, best at ε = 0.05 with β = 10^5 or 10^6, then τ with those, best at 100 and 1000 and clearly bad at 1.  Here the
game is Bluff(1,1) and the runs are much shorter, so good values of β are smaller.
"""

from __future__ import annotations

from counterplay.evaluation.bucket_pairs import count_bucket_pairs
from counterplay.experiments.abstraction_families import family_cards
from counterplay.experiments.shared.bucket_games import bucket_game
from counterplay.experiments.shared.comparison import POINTS_PER_DECADE, Budget, Entrants, race
from counterplay.experiments.shared.experiment import Cell, Experiment, keeping_rows
from counterplay.forms import open_game
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.tree.history.game_tree import GameTree

EPSILONS = (0.01, 0.05, 0.1, 0.5)
BETAS = (1.0, 10.0, 1e3, 1e5, 1e6, 1e8)
TAUS = (1.0, 10.0, 100.0, 1000.0, 1e4)


def entrants(beta: float) -> Entrants:
    """The grid of ε and β with τ = 1000, and the line of τ with ε = 0.05 and one β."""
    points = [(epsilon, 1000.0, bonus) for epsilon in EPSILONS for bonus in BETAS]
    points += [(0.05, tau, beta) for tau in TAUS if (0.05, tau, beta) not in points]
    settings = [{"epsilon": epsilon, "tau": tau, "beta": bonus} for epsilon, tau, bonus in points]
    return {
        "ε = {epsilon:g}, τ = {tau:g}, β = {beta:g}".format(**one): ("average-strategy-sampling", one)
        for one in settings
    }


def run(
    quick: bool = False, game: str = "bluff", nodes: int | None = None, seeds: int | None = None, beta: float = 1e3,
    points: int = POINTS_PER_DECADE, cards: str | None = None, threads: int = 1,
) -> Experiment:  # fmt: skip
    """Sweep the parameters.

    Parameters
    ----------
    quick : bool
        2·10^6 histories and 3 seeds instead of 10^7 and 5.
    game : str
        Another game.
    nodes, seeds : int, optional
        Other numbers of histories and of seeds.
    beta : float
        β of the sweep over τ.
    points : int
        Measurements of exploitability per decade of histories.
    cards : str, optional
        Solve a poker game of two players in these buckets, as for ``counterplay abstract``, or in the five of the
        source (``two-round``); measured in the buckets.
    threads : int
        For the features of the hands.
    """
    nodes = nodes or (2 * 10**6 if quick else 10**7)
    seeds = seeds or (3 if quick else 5)
    tree: GameTree | BucketGame
    pairs = None
    if cards is None:
        tree = open_game(game, "history")
    else:
        tree = bucket_game(game, family_cards(cards, game, threads))
        pairs = count_bucket_pairs(tree)
    chosen = {**entrants(float(beta)), "external sampling": ("external-sampling", {})}
    found = race(tree, chosen, Budget(nodes=nodes, points=points), range(seeds), measured_by=pairs)
    rows: list[tuple[Cell, ...]] = []
    with keeping_rows():
        for label, (_, settings) in chosen.items():
            mean, half = found.final(label)
            values = tuple(settings.get(key) for key in ("epsilon", "tau", "beta"))
            rows.append((*(values if settings else ("all", "all", "all")), mean, None if seeds < 2 else half))
    return Experiment(
        title=f"Average strategy sampling in {tree.name} after {nodes:,} histories, {seeds} seeds",
        source="Gibson et al. 2012, figure 1; Gibson 2014, figure 5.4 (there: no-limit hold'em, 10^12 histories)",
        columns=("epsilon", "tau", "beta", "exploitability", "±"),
        rows=tuple(rows),
        notes=(
            "The row of 'all' is external sampling, which takes every action.",
            "Published, after 10^12 histories: ε = 0.05 with β = 10^5 or 10^6 best; τ = 100 and 1000 best, τ = 1 bad.",
        ),
        curves=found.curves(),
        xlabel="histories touched",
    )
