"""The public tree of any compiled game whose private information is dealt by chance and whose actions are public.

Only the information sets are used: the public partition gives the nodes, its blocks the hands (``public_partition``).
There is a deal wherever chance, or what is revealed of an earlier deal, splits a cell or refines the hands of a player,
one for each cell that can follow.  All chance before the first decision is part of deal 0.

All chance probabilities are in the payoff matrices at terminal nodes (Johanson 2016, section 2.4: the general case,
without the shortcuts of card games), so hands and deals need no weights.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError
from counterplay.game.game import CHANCE, TERMINAL
from counterplay.runtime.memory import check_memory
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.history.history_arrays import NULL
from counterplay.tree.public.cells import INSTEAD, Cells, Points
from counterplay.tree.public.public_tree import LINK, MATRIX, NO_HAND, Hands, PublicNode, PublicTree, lay_out

Int64 = NDArray[np.int64]


@dataclasses.dataclass(frozen=True, eq=False)
class PublicSplit:
    """A game in both forms."""

    game: GameTree  # its histories
    public: PublicTree  # its public states and hands
    # entry ``e`` of a player's public tables is entry ``entry[player][e]`` of the ``GameTree``
    entry: tuple[Int64, Int64]

    def tables(self, values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Numbers of all entries of the ``GameTree`` as the two tables of the public tree."""
        return values[self.entry[0]], values[self.entry[1]]

    def values(self, tables: tuple[NDArray[Any], NDArray[Any]]) -> NDArray[Any]:
        """The two tables of the public tree as numbers of all entries of the ``GameTree``."""
        values = np.zeros(self.game.num_entries, tables[0].dtype)
        for entry, table in zip(self.entry, tables, strict=True):
            values[entry] = table
        return values


def split_public(tree: GameTree) -> PublicSplit:
    """The public tree of a compiled game, with the map back to its histories.

    Raises GameError if the game does not have two players and perfect recall, or hides an action.
    """
    if tree.players != 2:
        raise GameError(f"a public tree needs two players; {tree.name} has {tree.players}; {INSTEAD}")
    for player, recall in enumerate(tree.recall):
        if recall != "perfect":
            raise GameError(
                f"a public tree needs perfect recall; player {player + 1} of {tree.name} has {recall} recall; {INSTEAD}"
            )
    points = Points(tree)
    return _Builder(points, Cells(points)).finish()


@dataclasses.dataclass
class _Group:
    """Histories that come next after a cell and an action: a cell of decisions, or terminals."""

    members: Int64
    ends: bool


class _Builder:
    """Builds the nodes and deals from the first decision on."""

    def __init__(self, points: Points, cells: Cells) -> None:
        self.tree = points.tree
        self.points = points
        self.cells = cells
        self.groups = self._group()
        self.hand = np.zeros((2, self.tree.num_histories), np.int64)  # at the deal of each history
        self.deals: list[tuple[int, float]] = []  # the deal before, the probability
        self.starts: tuple[list[int], list[int]] = ([0], [0])
        self.parents: tuple[list[NDArray[np.uint16]], list[NDArray[np.uint16]]] = ([], [])
        self.decisions: list[tuple[PublicNode, Int64, int]] = []  # node, histories, deal
        self.ends: list[tuple[PublicNode, Int64, int]] = []
        self.matrix_size = 0

    def _group(self) -> dict[tuple[int, int], list[_Group]]:
        """What comes next, by the first history of a cell and the action; decisions first, in their order."""
        tree, points = self.tree, self.points
        nodes = np.flatnonzero(tree.player != CHANCE)
        before, move = points.before[nodes], points.move[nodes]
        cell = np.where(before != NULL, self.cells.cell[before], NULL)
        ends = tree.player[nodes] == TERMINAL
        own = np.where(ends, tree.num_histories, self.cells.cell[nodes])
        order = np.lexsort((nodes, own, move, cell))
        keys = np.stack([cell, move, own])[:, order]
        cuts = 1 + np.flatnonzero((keys[:, 1:] != keys[:, :-1]).any(axis=0))
        found: dict[tuple[int, int], list[_Group]] = {}
        for members in np.split(order, cuts):
            some = int(members[0])
            group = _Group(nodes[members], bool(ends[some]))
            found.setdefault((int(cell[some]), int(move[some])), []).append(group)
        return found

    def finish(self) -> PublicSplit:
        """The whole tree."""
        tree = self.tree
        start = self.groups[NULL, NULL]
        self._deal(start[0].members if len(start) == 1 else np.zeros(1, np.int64), NULL, 1.0)
        root = self._next(start, 0, "")
        for node, members, deal in self.decisions:  # grows during the loop
            cell = int(self.cells.cell[members[0]])
            for action, label in enumerate(node.actions):
                after = self.groups[cell, action]
                for group in after:
                    self.hand[:, group.members] = self.hand[:, self.points.before[group.members]]
                node.children.append(self._next(after, deal, f"{node.text} {label}".strip()))
        starts = (np.array(self.starts[0], np.int64), np.array(self.starts[1], np.int64))
        first, second = (
            Hands.plain(start, np.concatenate(above), np.ones(start[1]), np.ones(start[1]))
            for start, above in zip(starts, self.parents, strict=True)
        )
        for number, (node, _, _) in enumerate(self.decisions):
            node.data = number
        matrix = self._matrix(0)
        deals = len(self.deals)
        laid = lay_out(root, starts, deals)
        number_of = laid["data"].copy()
        laid["data"][laid["kind"] < 2] = 0
        if not tree.facts.zero_sum:
            laid |= {"other_payoff": laid["payoff"], "other_matrix": self._matrix(1)}
        public = PublicTree(
            name=tree.name, **laid, deal_parent=np.array([parent for parent, _ in self.deals], np.int32),
            deal_first=np.full(deals, NULL, np.int32), deal_count=np.zeros(deals, np.int32),
            deal_weight=np.ones(deals), deal_prob=np.array([prob for _, prob in self.deals]), hands=(first, second),
            matrix=matrix, factor_class=np.zeros((2, 0, 0), np.uint8), factor_count=np.zeros((2, 0), np.int32),
            pair_hands=False, scale=float(np.abs(tree.utility).max(initial=0.0)), big_blind=tree.big_blind,
        )  # fmt: skip
        return PublicSplit(tree, public, self._entries(public, number_of))

    def _next(self, groups: list[_Group], deal: int, text: str) -> PublicNode:
        """The node for what comes next; behind a link if hands learn more, or split."""
        if len(groups) == 1 and not self._tells_more(groups[0].members):
            return self._node(groups[0], deal, text)
        first = len(self.deals)
        total = sum(float(self.points.chance[group.members].sum()) for group in groups)
        for group in groups:
            self._deal(group.members, deal, float(self.points.chance[group.members].sum()) / total)
        children = [self._node(group, first + k, text) for k, group in enumerate(groups)]
        return PublicNode(LINK, (deal, deal + 1), children, text=text, link_deal=first)

    def _node(self, group: _Group, deal: int, text: str) -> PublicNode:
        """A decision, whose children are built later, or a terminal."""
        tree, members, span = self.tree, group.members, (deal, deal + 1)
        if group.ends:
            node = PublicNode(MATRIX, span, text=text, payoff=1.0, data=self.matrix_size)
            self.matrix_size += self._count(0, deal) * self._count(1, deal)
            self.ends.append((node, members, deal))
            return node
        actions = tree.actions_of(int(tree.infoset[members[0]]))
        node = PublicNode(int(tree.player[members[0]]), span, actions=actions, text=text)
        self.decisions.append((node, members, deal))
        return node

    def _tells_more(self, members: Int64) -> bool:
        """Whether a player must distinguish histories that are one hand so far."""
        for player in (0, 1):
            block = self.cells.block[player, members]
            needed = block != NULL
            hand = self.hand[player, members][needed]
            pairs = np.unique(np.stack([hand, block[needed]]), axis=1)
            if pairs.shape[1] > len(np.unique(hand)):
                return True
        return False

    def _deal(self, members: Int64, before: int, prob: float) -> None:
        """A new deal: hands are split by what their holders must distinguish from here on."""
        self.deals.append((before, prob))
        for player in (0, 1):
            pairs = np.stack([self.hand[player, members], self.cells.block[player, members]])
            hands, number = np.unique(pairs, axis=1, return_inverse=True)
            if hands.shape[1] >= NO_HAND:
                raise GameError(
                    f"a public tree holds up to {NO_HAND - 1} hands at a deal; player {player + 1} of "
                    f"{self.tree.name} has {hands.shape[1]}; {INSTEAD}"
                )
            self.hand[player, members] = number.reshape(-1)
            self.parents[player].append(hands[0].astype(np.uint16))
            self.starts[player].append(self.starts[player][-1] + hands.shape[1])

    def _count(self, player: int, deal: int) -> int:
        return self.starts[player][deal + 1] - self.starts[player][deal]

    def _matrix(self, player: int) -> NDArray[np.float64]:
        """What player 0 wins, or player 1 loses, times chance: for each terminal, summed over a pair of hands."""
        check_memory(f"the payoff matrix of the public tree of {self.tree.name}", 8 * self.matrix_size, None, INSTEAD)
        matrix = np.zeros(self.matrix_size)
        for node, members, deal in self.ends:
            columns = self._count(1, deal)
            size = self._count(0, deal) * columns
            sign = 1.0 if player == 0 else -1.0
            worth = sign * self.points.chance[members] * self.tree.utility[self.tree.outcome[members], player]
            pair = self.hand[0, members] * columns + self.hand[1, members]
            matrix[node.data : node.data + size] = np.bincount(pair, worth, size)
        return matrix

    def _entries(self, public: PublicTree, number_of: Int64) -> tuple[Int64, Int64]:
        """The entry of the ``GameTree`` of each entry of the public tables."""
        tree = self.tree
        entries = tuple(np.zeros(size, np.int64) for size in public.num_entries)
        for node in np.flatnonzero(public.kind < 2).tolist():
            player = int(public.kind[node])
            _, members, deal = self.decisions[number_of[node]]
            infoset = np.zeros(self._count(player, deal), np.int64)
            infoset[self.hand[player, members]] = tree.infoset[members]
            actions = np.arange(public.num_children[node])
            rows = tree.infoset_offset[infoset] + actions[:, None]
            entries[player][public.entries(node, deal)] = rows.ravel()
        return entries[0], entries[1]
