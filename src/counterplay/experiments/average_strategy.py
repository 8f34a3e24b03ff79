"""Average strategy sampling against chance, external and outcome sampling in Bluff.

Gibson et al. 2012, figure 3, and Gibson 2014, figure 5.6: exploitability against histories touched, five runs.  The
source shows curves, and in numbers only the exploitability of uniform play; ours are compared with runs of an
independent program.  With the source's β of 10^6 the algorithm equals external sampling until some 10^9 histories are
touched, so smaller values are run too.
"""

from __future__ import annotations

from counterplay.experiments.shared.comparison import POINTS_PER_DECADE, Budget, Entrants, race
from counterplay.experiments.shared.experiment import Cell, Experiment, keeping_rows
from counterplay.forms import open_game

AS = "average-strategy-sampling"
ENTRANTS: Entrants = {
    "CS": ("chance-sampling", {"prune": False}),
    "CS, pruned": ("chance-sampling", {}),
    "ES": ("external-sampling", {}),
    "OS": ("outcome-sampling", {"exploration": 0.5}),
    "AS": (AS, {"epsilon": 0.05, "tau": 1000.0, "beta": 1e6}),
    "AS, β = 1e3": (AS, {"epsilon": 0.05, "tau": 1000.0, "beta": 1e3}),
    "AS, β = 1e3, τ = 100": (AS, {"epsilon": 0.05, "tau": 100.0, "beta": 1e3}),
    "AS, β = 10, τ = 100": (AS, {"epsilon": 0.05, "tau": 100.0, "beta": 10.0}),
}
"""The algorithms with the settings of the source, chance sampling that prunes branches which change nothing, and
average strategy sampling with smaller β and τ."""

ONE, TWO = "bluff", "bluff(d1=2)"
COMPUTED: dict[tuple[str, int], dict[str, tuple[float, float | None]]] = {
    (ONE, 10**7): {
        "CS": (0.1909, 0.021), "ES": (0.0450, 0.0017), "OS": (0.1674, 0.015), "AS": (0.0477, 0.0021),
        "AS, β = 1e3": (0.0404, 0.0019), "AS, β = 1e3, τ = 100": (0.0366, 0.0012),
        "AS, β = 10, τ = 100": (0.0332, 0.0024),
    },
    (ONE, 10**8): {
        "CS": (0.0633, 0.0034), "ES": (0.0102, 0.0009), "OS": (0.0567, 0.0044), "AS": (0.0106, 0.0014),
        "AS, β = 1e3": (0.0075, 0.0007), "AS, β = 1e3, τ = 100": (0.0060, 0.0009),
        "AS, β = 10, τ = 100": (0.0061, 0.0004),
    },
    (TWO, 10**7): {"CS": (0.869, None), "ES": (0.360, None), "OS": (0.484, None), "AS": (0.357, None)},
    (TWO, 10**8): {"CS": (0.637, None), "ES": (0.0777, None), "OS": (0.320, None), "AS": (0.0777, None)},
}  # fmt: skip
"""Exploitability by histories touched, computed independently: mean of 5 seeds with its interval, or of one."""

UNIFORM = {ONE: 0.780, TWO: 0.784}
"""Exploitability of uniform play as the source prints it."""


def run(
    quick: bool = False, game: str = ONE, nodes: int | None = None, seeds: int | None = None,
    points: int = POINTS_PER_DECADE,
) -> Experiment:  # fmt: skip
    """Compare the algorithms.

    Parameters
    ----------
    quick : bool
        10^7 histories and 3 seeds instead of 10^8 and 5.
    game : str
        ``bluff`` or, with about 9 GB of memory, ``bluff(d1=2)``; any other game works, without published numbers.
    nodes, seeds : int, optional
        Other numbers of histories and of seeds.
    points : int
        Measurements of exploitability per decade of histories; slow in a large game.
    """
    nodes = nodes or (10**7 if quick else 10**8)
    seeds = seeds or (3 if quick else 5)
    tree = open_game(game, "history")
    found = race(tree, ENTRANTS, Budget(nodes=nodes, points=points), range(seeds))
    rows: list[tuple[Cell, ...]] = []
    with keeping_rows():
        for budget in sorted({nodes, *(point for name, point in COMPUTED if name == tree.name and point < nodes)}):
            known = COMPUTED.get((tree.name, budget), {})
            for label in ENTRANTS:
                mean, half = found.at(label, budget)
                theirs, their_half = known.get(label, (None, None))
                rows.append((budget, label, mean, None if seeds < 2 else half, theirs, their_half, None))
    rows.append((0, "uniform play", found.uniform, None, None, None, UNIFORM.get(tree.name)))
    return Experiment(
        title=f"Exploitability in {tree.name} after histories touched, {seeds} seeds",
        source="Gibson et al. 2012, figure 3; Gibson 2014, figure 5.6",
        columns=("nodes", "algorithm", "exploitability", "±", "computed independently", "± there", "published"),
        rows=tuple(rows),
        notes=(
            "The source prints 0.784 for uniform play in Bluff(2,1); one round with payoffs ±1 gives 0.8845.",
            "The source finds average strategy sampling best; with β = 10^6 that needs more histories than these.",
        ),
        curves=found.curves(),
        xlabel="histories touched",
    )
