"""Competitors as published: the numbers of the tables, and what must hold between them."""

from __future__ import annotations

from counterplay.experiments import run_experiment
from counterplay.experiments.reference_agents import _published


def test_the_table() -> None:
    found = run_experiment("reference-agents")
    assert [row[1] for row in found.rows] == [
        "Hyperborean.IRO", "Hyperborean.TBR", "GGValuta", "Rockhopper", "GS6.IRO", "PULPO", "Littlerock", "Slumbot",
        "Hyperborean.IRO", "ZBot", "Littlerock",
    ]  # fmt: skip
    assert found.rows[5] == ("2010", "PULPO", 399.387, "-2 ± 4", "-9 ± 2", "0", None)
    assert found.rows[7] == ("2012", "Slumbot", 90.873, None, None, None, "0")


def test_results_between_two_agents_are_opposite() -> None:
    """But for their intervals, which are of different matches."""
    rows = {(row["year"], row["agent"], row["against"]): row for row in _published()}
    for (year, agent, against), row in rows.items():
        other = rows.get((year, against, agent))
        if other is not None:
            room = float(row["mbb_95"] or 0) + float(other["mbb_95"] or 0)
            assert abs(float(row["mbb"]) + float(other["mbb"])) <= room
        assert -float(row["mbb"]) <= float(row["exploitability"])
