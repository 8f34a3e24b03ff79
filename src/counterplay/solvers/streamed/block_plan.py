"""The parts of a public tree whose tables are loaded together: the trunk, and blocks of the subgames below it.

Johanson 2016, sections 9.3 and 9.4: the trunk of the betting stays in memory, and each subgame below it is loaded,
updated and stored.  There the trunk has two rounds; here it is what comes before the first deal after the start, so a
*subgame* is a link of the first piece with one of the deals after it.  In games of two rounds such subgames take a
thousandth of a second, so consecutive ones are loaded together, as a *block*.

Everything here follows from the tree and the size of blocks: another machine makes the same plan.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError
from counterplay.tree.public.public_tree import CUT, LINK, PublicTree
from counterplay.tree.public.table_places import TablePlaces, table_places

BLOCK_ENTRIES = 4 << 20
"""Entries of both players in a block, at most, unless a single subgame has more."""

Int64 = NDArray[np.int64]


class BlockSizes(NamedTuple):
    """How much there must be room for to walk any of some blocks."""

    entries: int  # of a player
    states: int  # public states in which a player acts
    values: int  # hands of a player at all subgames of a block
    subgames: int


class BlockPlan:
    """Which subgames there are, in which block each is, and where its entries are in the tables of the block.

    L links of the trunk, F first deals, S subgames in the order of their deals and then of their links, B blocks.

    Parameters
    ----------
    tree : PublicTree
        The game.
    block_entries : int
        How large blocks are, see ``BLOCK_ENTRIES``.

    Attributes
    ----------
    links : (L,) int64
        The links of the trunk.
    deals : (F,) int64
        The first deals.
    subgames : (S, 2) int64
        Of each subgame the number of its link in ``links``, and its deal.
    first : (B+1,) int64
        The first subgame of each block.
    entries, states : (B, 2) int64
        Entries and public states of each player in each block.
    trunk : TablePlaces
        Of the trunk.
    """

    def __init__(self, tree: PublicTree, block_entries: int = BLOCK_ENTRIES) -> None:
        self.tree, self.block_entries = tree, block_entries
        self.links: Int64 = np.flatnonzero(tree.kind[: tree.piece_size[0]] == LINK)
        if np.any(tree.link_deal[self.links] == CUT):
            raise GameError(f"the betting of {tree.name} before its first deal is too long to be kept apart")
        if not len(self.links):
            raise GameError(f"nothing is dealt in {tree.name} after the start, so it cannot be divided into subgames")
        spans = [self._span(int(link)) for link in self.links]
        self.deals: Int64 = np.unique(np.concatenate([np.arange(*span) for span in spans]))
        below = np.searchsorted(self.deals, np.array(spans, np.int64))  # (L, 2): which of the first deals follow a link
        self._link_of, self._cuts = self._node_links(), self._deal_cuts()
        pairs = [(deal, link) for link, (low, high) in enumerate(below.tolist()) for deal in range(low, high)]
        order = np.array(sorted(pairs), np.int64)
        self.subgames: Int64 = np.stack([order[:, 1], self.deals[order[:, 0]]], axis=1)
        self._number = order  # of the deal among the first deals, and of the link
        sizes = self._subgame_entries()
        self.first = self._cut(sizes.sum(axis=1))
        self.trunk = table_places(tree.kind, tree.num_children, tree.hands, *self._trunk_deals())
        places = [self.places(block) for block in range(self.num_blocks)]
        self.entries: Int64 = np.array([one.entries for one in places], np.int64)
        self.states: Int64 = np.array([one.blocks for one in places], np.int64)

    @property
    def num_blocks(self) -> int:
        """Number of blocks B."""
        return len(self.first) - 1

    @property
    def largest(self) -> BlockSizes:
        """The most that a block has of everything."""
        values = max(int(np.diff(self.value_start(player)[self.first]).max()) for player in (0, 1))
        subgames = int(np.diff(self.first).max())
        return BlockSizes(int(self.entries.max()), int(self.states.max()), values, subgames)

    def block(self, number: int) -> slice:
        """The subgames of a block."""
        return slice(int(self.first[number]), int(self.first[number + 1]))

    def places(self, number: int) -> TablePlaces:
        """Where the entries of nodes are in the tables of a block."""
        return table_places(self.tree.kind, self.tree.num_children, self.tree.hands, *self._deals(number))

    def rows(self, number: int | None, player: int) -> Iterator[tuple[slice, slice]]:
        """Where the entries of each node are in the table of a block, or of the trunk, and in that of the game."""
        tree, places = self.tree, self.trunk if number is None else self.places(number)
        low, high = self._trunk_deals() if number is None else self._deals(number)
        start = tree.hands[player].start
        for node in np.flatnonzero((tree.kind == player) & (low < high)).tolist():
            first, last = (int(tree.num_children[node]) * int(start[deal[node]]) for deal in (low, high))
            here, whole = int(places.base[node]), int(tree.base[node])
            yield slice(here + first, here + last), slice(whole + first, whole + last)

    def _deals(self, number: int) -> tuple[Int64, Int64]:
        """(N,): the deals of each node that are in a block: the first one, and the one after the last."""
        inside = self._number[self.block(number)]
        low, high = np.zeros((2, len(self.links)), np.int64)  # of each link, which of the first deals are in the block
        for link in np.unique(inside[:, 1]).tolist():
            here = inside[inside[:, 1] == link, 0]
            low[link], high[link] = here[0], here[-1] + 1
        row, link = self._row, np.maximum(self._link_of, 0)
        first, last = self._cuts[row, low[link]], self._cuts[row, high[link]]
        outside = self._link_of < 0
        first[outside], last[outside] = 0, 0
        return first, last

    def _trunk_deals(self) -> tuple[Int64, Int64]:
        nodes = np.arange(len(self.tree.kind))
        return np.zeros_like(nodes), np.where(nodes < self.tree.piece_size[0], 1, 0)

    @functools.lru_cache(maxsize=2)  # noqa: B019  plans live as long as their solvers
    def value_start(self, player: int) -> Int64:
        """(S+1,): where the values of each subgame begin, among those of the player's hands at all of them."""
        counts = self.tree.hands[player].counts[self.subgames[:, 1]]
        return np.concatenate(([0], np.cumsum(counts))).astype(np.int64)

    def _span(self, link: int) -> tuple[int, int]:
        """The deals after a link of the trunk."""
        tree, first = self.tree, int(self.tree.link_deal[link])
        if first < 0:
            return int(tree.deal_first[0]), int(tree.deal_first[0] + tree.deal_count[0])
        return first, first + int(tree.num_children[link])

    def _node_links(self) -> Int64:
        """(N,): the number of the link of the trunk below which a node is; -1 in the trunk."""
        tree = self.tree
        found = np.full(len(tree.kind), -1, np.int64)
        of_piece = {0: -1}
        roots = np.flatnonzero(tree.piece_size)
        links = np.flatnonzero(tree.kind == LINK)
        above = roots[np.searchsorted(roots, links, side="right") - 1]
        for number, link in enumerate(self.links.tolist()):
            of_piece |= dict.fromkeys(tree.link_roots(link), number)
        for link, root in zip(links.tolist(), above.tolist(), strict=True):  # links lead to later pieces only
            if root:
                of_piece |= dict.fromkeys(tree.link_roots(link), of_piece[root])
        for root in roots.tolist():
            found[root : root + tree.piece_size[root]] = of_piece[root]
        return found

    def _deal_cuts(self) -> Int64:
        """(rows, F+1): where the deals below each first deal begin, in the range of deals of some nodes.

        ``_row`` is the row of each node.
        """
        tree = self.tree
        ancestor = np.full(len(tree.deal_parent), -1, np.int64)
        ancestor[self.deals] = np.arange(len(self.deals))
        for _ in range(tree.levels):
            later = np.flatnonzero((ancestor < 0) & (tree.deal_parent >= 0))
            ancestor[later] = ancestor[tree.deal_parent[later]]
        ranges, self._row = np.unique(np.stack([tree.deal_low, tree.deal_high], axis=1), axis=0, return_inverse=True)
        self._row = self._row.reshape(-1)
        cuts = np.zeros((len(ranges), len(self.deals) + 1), np.int64)
        for row, (low, high) in enumerate(ranges.tolist()):
            here = ancestor[low:high]
            if np.any(here[1:] < here[:-1]):
                raise GameError(f"the deals of {tree.name} are not in the order of the first of them")
            cuts[row] = low + np.searchsorted(here, np.arange(len(self.deals) + 1))
        return cuts

    def _subgame_entries(self) -> Int64:
        """(S, 2): entries of each player in each subgame."""
        tree = self.tree
        found = np.zeros((len(self.links), len(self.deals), 2), np.int64)
        for player in (0, 1):
            for node in np.flatnonzero((tree.kind == player) & (self._link_of >= 0)).tolist():
                rows = np.diff(tree.hands[player].start[self._cuts[self._row[node]]])
                found[self._link_of[node], :, player] += int(tree.num_children[node]) * rows
        return found[self._number[:, 1], self._number[:, 0]]

    def _cut(self, sizes: Int64) -> Int64:
        """Where blocks begin, so that none is larger than it should be unless it has a single subgame."""
        starts, total = [0], 0
        for number, size in enumerate(sizes.tolist()):
            if number > starts[-1] and total + size > self.block_entries:
                starts.append(number)
                total = 0
            total += size
        return np.array([*starts, len(sizes)], np.int64)
