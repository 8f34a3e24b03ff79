"""Where the rows and blocks of nodes begin in tables that hold only some deals of each node."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from counterplay.tree.public.public_tree import Hands


class TablePlaces(NamedTuple):
    """As ``base`` and ``block`` of a ``PublicTree``, and how many entries and blocks the tables of each player have."""

    base: NDArray[np.int64]
    block: NDArray[np.int64]
    entries: tuple[int, int]
    blocks: tuple[int, int]


def table_places(
    kind: NDArray[np.int8],
    num_children: NDArray[np.int32],
    hands: tuple[Hands, Hands],
    low: NDArray[Any],
    high: NDArray[Any],
) -> TablePlaces:
    """The places in tables of the deals ``low .. high - 1`` of each node, one node after the other.

    Parameters
    ----------
    kind, num_children : arrays
        Of the nodes, as in ``PublicTree``.
    hands : pair of Hands
        Of the deals.
    low, high : (N,) arrays
        Which deals; none where they are equal.
    """
    base, block = np.zeros((2, len(kind)), np.int64)
    entries, blocks = [0, 0], [0, 0]
    for player in (0, 1):
        nodes = np.flatnonzero(kind == player)
        start, actions = hands[player].start, num_children[nodes].astype(np.int64)
        size = actions * (start[high[nodes]] - start[low[nodes]])
        base[nodes] = np.cumsum(size) - size - actions * start[low[nodes]]
        deals = (high[nodes] - low[nodes]).astype(np.int64)
        block[nodes] = np.cumsum(deals) - deals - low[nodes]
        entries[player], blocks[player] = int(size.sum()), int(deals.sum())
    return TablePlaces(base, block, (entries[0], entries[1]), (blocks[0], blocks[1]))
