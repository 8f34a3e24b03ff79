"""Average strategy sampling by the number of faces of the dice in Bluff(1,1).

Gibson 2014, figure 5.6d: exploitability after about 10^10 histories with dice of 6 to 12 faces.  The advantage of AS
over ES and CS grows with the number of actions; OS is too poor to be shown.  Here are fewer faces, since a tree of
histories doubles twice with each, and shorter runs, for which β is smaller; see ``average_strategy``.
"""

from __future__ import annotations

import itertools

from counterplay.errors import CounterplayError
from counterplay.experiments import average_strategy
from counterplay.experiments.shared.comparison import Budget, Entrants, race
from counterplay.experiments.shared.experiment import Cell, Curves, Experiment, keeping_rows
from counterplay.forms import open_game
from counterplay.runtime.number_text import figure

ENTRANTS: Entrants = {
    label: average_strategy.ENTRANTS[label] for label in ("CS", "ES", "AS", "AS, β = 1e3", "AS, β = 10, τ = 100")
}

SMALL, LARGE = ("3", "4", "5"), ("6", "7", "8", "9")
"""Faces of a quick run and of a full one."""


def run(
    quick: bool = False, faces: tuple[str, ...] | None = None, nodes: int | None = None, seeds: int | None = None
) -> Experiment:
    """Compare the algorithms with each number of faces.

    Parameters
    ----------
    quick : bool
        3 to 5 faces, 10^6 histories and 2 seeds instead of 6 to 9, 10^8 and 5.
    faces : tuple of str, optional
        Others; nine take 6 GB, and each further one four times as much and more.
    nodes, seeds : int, optional
        Other numbers of histories and of seeds.
    """
    chosen = faces or (SMALL if quick else LARGE)
    for text in chosen:
        if not text.strip().isdigit() or int(text) < 1:
            raise CounterplayError(f"faces are numbers of faces, at least 1, such as 6,8; got {text!r}")
    budget = Budget(nodes=nodes or (10**6 if quick else 10**8), points=1)
    runs = seeds or (2 if quick else 5)
    rows: list[tuple[Cell, ...]] = []
    curves: Curves = {label: ([], []) for label in ENTRANTS}
    with keeping_rows():
        for number in map(int, chosen):
            tree = open_game(f"bluff(sides={number})", "history")
            found = race(tree, ENTRANTS, budget, range(runs))
            external = found.final("ES")[0]
            for label in ENTRANTS:
                mean, half = found.final(label)
                rows.append((number, tree.num_histories, label, mean, half if runs > 1 else None, mean / external))
                curves[label][0].append(float(number))
                curves[label][1].append(mean)
            rows.append((number, tree.num_histories, "uniform play", found.uniform, None, found.uniform / external))
    return Experiment(
        title=f"Exploitability in Bluff(1,1) by faces of the dice, after {budget.limit:,.0f} histories, {runs} seeds",
        source="Gibson 2014, figure 5.6d",
        columns=("faces", "histories", "algorithm", "exploitability", "±", "relative to ES"),
        rows=tuple(rows),
        notes=tuple(_shares(rows)),
        curves=curves,
        xlabel="faces",
    )


def _shares(rows: list[tuple[Cell, ...]]) -> list[str]:
    """How much of the exploitability of ES average strategy sampling has, by faces, and whether it falls."""
    said = []
    for label in ENTRANTS:
        shares = [float(row[5] or 0.0) for row in rows if row[2] == label]
        if label.startswith("AS") and shares:
            falls = all(later < earlier for earlier, later in itertools.pairwise(shares))
            listed = ", ".join(figure(share, 3) for share in shares)
            said.append(f"{label}, relative to ES by faces: {listed}; falls with every face: {falls}; published: True.")
    return said
