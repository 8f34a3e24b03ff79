"""Probing against plain MCCFR with the same sampling scheme (Gibson 2014, figures 5.3b and 5.3c, on smaller games).

The source runs Goofspiel(7) and Bluff(2,2) for hours and finds probing 31 % and 10 % less exploitable at the end.  Here
it is Goofspiel(6) and Bluff(1,1), or any game that fits into memory.  A probe touches more histories than it saves,
so results are given for equal CPU time, as in the source, and for equal histories touched.
"""

from __future__ import annotations

from counterplay.experiments.shared.comparison import POINTS_PER_DECADE, Budget, Entrants, race
from counterplay.experiments.shared.experiment import Cell, Curves, Experiment, keeping_rows
from counterplay.forms import open_game

ENTRANTS: Entrants = {"MCCFR": ("mccfr-scheme", {}), "probing": ("probing", {}), "ES": ("external-sampling", {})}
PUBLISHED = {"goofspiel(cards=7)": "31 %", "goofspiel(cards=7,last_bid=false)": "31 %", "bluff(d1=2,d2=2)": "10 %"}
"""By how much the final exploitability of probing is below that of MCCFR."""


def run(
    quick: bool = False, game: str | None = None, nodes: int | None = None, seeds: int | None = None,
    points: int = POINTS_PER_DECADE,
) -> Experiment:  # fmt: skip
    """Compare both, and external sampling, which takes every action.

    Parameters
    ----------
    quick : bool
        Goofspiel(5) and Bluff(1,1), 10^6 histories and 3 seeds, instead of Goofspiel(6) and Bluff(1,1), 10^8 and 5.
    game : str, optional
        One game in place of these, such as ``goofspiel(cards=7,last_bid=false)`` or ``bluff(d1=2)``.
    nodes, seeds : int, optional
        Other numbers of histories and of seeds.
    points : int
        Measurements of exploitability per decade of histories; slow in a large game.
    """
    nodes = nodes or (10**6 if quick else 10**8)
    seeds = seeds or (3 if quick else 5)
    games = (game,) if game else ("goofspiel(cards=5)" if quick else "goofspiel(cards=6)", "bluff")
    rows: list[tuple[Cell, ...]] = []
    curves: Curves = {}
    with keeping_rows():
        for name in games:
            tree = open_game(name, "history")
            found = race(tree, ENTRANTS, Budget(nodes=nodes, points=points), range(seeds))
            plain = {axis: found.at_equal("MCCFR", axis)[0] for axis in ("nodes", "cpu_seconds")}
            for label in ENTRANTS:
                by_nodes, half = found.at_equal(label, "nodes")
                by_time, _ = found.at_equal(label, "cpu_seconds")
                less = [f"{1 - by_nodes / plain['nodes']:.0%}", f"{1 - by_time / plain['cpu_seconds']:.0%}"]
                published = PUBLISHED.get(tree.name) if label == "probing" else None
                rows.append(
                    (tree.name, label, by_nodes, None if seeds < 2 else half, less[0], by_time, less[1], published)
                )
            curves |= {f"{name}, {label}": line for label, line in found.curves().items()}
    return Experiment(
        title=f"Exploitability after {nodes:,} histories touched, and with equal CPU time, {seeds} seeds",
        source="Gibson 2014, section 5.3.2, figures 5.3b and 5.3c (there: Goofspiel(7) and Bluff(2,2))",
        columns=("game", "algorithm", "equal nodes", "±", "below MCCFR", "equal CPU s", "below MCCFR", "published"),
        rows=tuple(rows),
        notes=("Equal CPU s: the CPU time of the fastest run.",),
        curves=curves,
        xlabel="histories touched",
    )
