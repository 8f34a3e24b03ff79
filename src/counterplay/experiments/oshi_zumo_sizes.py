"""Table 4.2, left, of Čermák 2018: the size of a forgetful player's Oshi-Zumo relative to the original game."""

from __future__ import annotations

from counterplay.experiments.shared.experiment import Cell, Experiment, keeping_rows
from counterplay.games.oshi_zumo import OshiZumo, relative_sets

PUBLISHED = {(10, 0): 3.27, (10, 1): 5.54, (10, 2): 9.30, (11, 0): 1.90, (11, 1): 3.27, (11, 2): 5.64}
"""Coins and moves remembered: per cent of the information sets of the original game."""


def run(quick: bool = False) -> Experiment:
    """Count the six cells; ``quick`` leaves out the larger game."""
    cells = {key: value for key, value in PUBLISHED.items() if not quick or key[0] == 10}
    rows: list[tuple[Cell, ...]] = []
    with keeping_rows():
        for (coins, moves), published in cells.items():
            ours = round(100 * relative_sets(coins, moves), 4)
            rows.append((coins, moves, published, ours, OshiZumo(coins=coins).count_histories()["all"]))
    return Experiment(
        title="Information sets of the forgetful player, per cent of the original game",
        source="Čermák 2018, table 4.2 (left)",
        columns=("coins", "moves remembered", "published %", "ours %", "histories"),
        rows=tuple(rows),
        notes=("The original counts terminal histories and, with observed bids, every history before a round.",),
    )
