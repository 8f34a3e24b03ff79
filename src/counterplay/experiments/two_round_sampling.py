"""Average strategy sampling against chance, external and outcome sampling in 2-NL hold'em with five buckets.

Gibson et al. 2012, figures 2a and 2b: exploitability inside the bucket game against histories touched, five runs,
stacks of 36 chips and 10^12 histories, and the same after 3.16·10^12 histories with stacks of 20 to 40.  Here runs are
shorter, and β, which counts visits, is scaled with them; stacks are 10 to 36 chips, since margins that need 10^12
histories with large stacks show with small ones earlier.  Cards are dealt in the real game.
"""

from __future__ import annotations

from counterplay.errors import CounterplayError
from counterplay.experiments import average_strategy
from counterplay.experiments.shared.bucket_games import two_round_games
from counterplay.experiments.shared.comparison import POINTS_PER_DECADE, Budget, Entrants, race
from counterplay.experiments.shared.experiment import Cell, Curves, Experiment, keeping_rows

ENTRANTS: Entrants = {
    label: average_strategy.ENTRANTS[label]
    for label in ("CS", "ES", "OS", "AS", "AS, β = 1e3, τ = 100", "AS, β = 10, τ = 100")
}
"""The algorithms with the settings of the source, and average strategy sampling with smaller β and τ."""

STACKS = (10, 12, 14, 16, 20, 24, 28, 32, 36)
LARGE = 24
"""Stacks above this are measured less often: with 36 chips the game has 200 million entries."""

PUBLISHED = {"CS": "behind", "OS": "far behind", "AS": "level; 54 % below ES with 36 chips"}
"""What the figures show relative to external sampling: with stacks of 20 and 22 AS and ES are nearly equal."""


def run(
    quick: bool = False, stacks: tuple[str, ...] | None = None, nodes: int | None = None, seeds: int | None = None,
    threads: int = 1,
) -> Experiment:  # fmt: skip
    """Compare the algorithms.

    Parameters
    ----------
    quick : bool
        Stacks of 10 chips, 3·10^6 histories and 2 seeds instead of 10 to 36, 10^8 and 5.
    stacks : tuple of str, optional
        Other sizes of stacks; 36 chips take 4 GB.
    nodes, seeds : int, optional
        Other numbers of histories and of seeds.
    threads : int
        For the features of the hands, which take minutes the first time.
    """
    sizes = _sizes(stacks) if stacks else STACKS[:1] if quick else STACKS
    nodes = nodes or (3 * 10**6 if quick else 10**8)
    seeds = seeds or (2 if quick else 5)
    rows: list[tuple[Cell, ...]] = []
    curves: Curves = {}
    with keeping_rows():
        for chips, game, pairs in two_round_games(sizes, threads):
            budget = Budget(nodes=nodes, points=POINTS_PER_DECADE if chips <= LARGE else 2)
            found = race(game, ENTRANTS, budget, range(seeds), measured_by=pairs)
            unit = 1000 / game.big_blind
            external = found.at("ES", nodes)[0]
            rows.append((chips, "uniform play", None, round(unit * found.uniform, 2), None, None))
            for label in ENTRANTS:
                mean, half = found.at(label, nodes)
                cells = (unit * mean, None if seeds < 2 else unit * half, round(mean / external, 3))
                rows.append((chips, label, PUBLISHED.get(label), *cells))
            for label, (x, values) in found.curves().items():
                name = label if len(sizes) == 1 else f"{label}; {chips} chips"
                curves[name] = x, [unit * y for y in values]
    return Experiment(
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


def _sizes(texts: tuple[str, ...]) -> tuple[int, ...]:
    """Sizes of stacks from texts."""
    for text in texts:
        if not text.strip().isdigit() or int(text) < 2:
            raise CounterplayError(f"stacks are numbers of chips, at least 2, such as 20,24; got {text!r}")
    return tuple(map(int, texts))
