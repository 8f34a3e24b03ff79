"""The size of a stored abstraction in 32-bit words (Čermák 2018, sections 5.2.2.4, 5.2.3.4 and 5.3.4).

A player must find the abstract set of the current information set.  Sets are put into classes by player, number of own
moves and number of actions.  In each class the largest merged set is found by its class alone; every other merged set
gets a number that is stored once for each member; a set that is not merged is found by its name.  The sizes reported
in the thesis also count singleton sets (``singletons=True``).
"""

from __future__ import annotations

import numpy as np

from counterplay.abstraction.infosets.abstraction import Abstraction
from counterplay.abstraction.infosets.builders import own_moves
from counterplay.tree.history.game_tree import GameTree


def table_words(abstraction: Abstraction, tables: int = 2) -> int:
    """Words of tables over the abstract entries: one table for fictitious play's average, two for CFR's sums."""
    return tables * abstraction.num_entries


def map_words(abstraction: Abstraction, tree: GameTree, singletons: bool = False) -> int:
    """Words of the map from information sets of the real game to abstract sets, which must lie inside the classes.

    ``singletons`` also counts singleton sets that were split off.
    """
    sizes = np.asarray(abstraction.sizes)
    leader = np.full(abstraction.num_sets, -1)
    leader[abstraction.infoset_map[::-1]] = np.arange(len(abstraction.infoset_map))[::-1]
    columns = (tree.infoset_player, own_moves(tree), np.diff(tree.infoset_offset))
    keys = np.stack([np.asarray(column)[leader] for column in columns], axis=1)
    words = 0
    for key in np.unique(keys, axis=0):
        inside = sizes[(keys == key).all(axis=1)]
        counted = np.sort(inside if singletons else inside[inside > 1])
        words += int(counted[:-1].sum()) if len(counted) else 0
    return words
