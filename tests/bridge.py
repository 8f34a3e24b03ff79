"""Between the library's arrays and the twins' tables."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from counterplay import GameTree, TabularStrategy
from tests.reference.walks import Profile as Table


def to_profile(tree: GameTree, table: Table) -> TabularStrategy:
    """A table ``{(player, key): {action: probability}}`` as a profile."""
    return TabularStrategy.from_table(
        tree,
        {
            (player, str(key)): {str(action): value for action, value in row.items()}
            for (player, key), row in table.items()
        },
    )


def to_entries(tree: GameTree, table: Table) -> NDArray[np.float64]:
    """A table of numbers as an array over entries."""
    values = np.full(tree.num_entries, np.nan)
    for (player, key), row in table.items():
        for action, value in row.items():
            values[tree.entry(player, str(key), str(action))] = value
    return values
