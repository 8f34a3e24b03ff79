"""Agents of the two-player limit events of 2010 and 2012, as published, and whether the better ones lose less.

Johanson 2016, tables 2.2, 11.1 and 11.2, which are ``shared/reference_agents.csv``: what each lost to a best response,
and what it won from some of the others, mbb/g.  The agents are other people's; nothing is played here.
"""

from __future__ import annotations

import csv
import io
from importlib import resources

from counterplay.experiments.shared.experiment import Cell, Experiment


def run(quick: bool = False) -> Experiment:
    """The table; quick or not, it is the same."""
    del quick
    table: dict[tuple[str, str, float], dict[str, str]] = {}
    for row in _published():
        won = row["mbb"] + (f" ± {row['mbb_95']}" if row["mbb_95"] else "")
        table.setdefault((row["year"], row["agent"], float(row["exploitability"])), {})[row["against"]] = won
    against = list(dict.fromkeys(row["against"] for row in _published()))
    rows: list[tuple[Cell, ...]] = [
        (*agent, *(won.get(name) for name in against)) for agent, won in sorted(table.items(), key=lambda one: one[0])
    ]
    rows.sort(key=lambda row: (str(row[0]), float(str(row[2]))))
    return Experiment(
        title="Exploitability of competitors, and what they won from some of the others, mbb/g, as published",
        source="Johanson 2016, tables 2.2, 11.1 and 11.2",
        columns=("year", "agent", "exploitability", *(f"from {name}" for name in against)),
        rows=tuple(rows),
        notes=(
            "PULPO plays a pure strategy, which won the bankroll event of 2010; all others approximate an equilibrium.",
        ),
    )  # fmt: skip


def _published() -> list[dict[str, str]]:
    """The rows of the data file."""
    file = resources.files("counterplay.experiments.shared").joinpath("reference_agents.csv")
    return list(csv.DictReader(io.StringIO(file.read_text("utf-8"))))
