"""The betting before the first deal, climbed from the values at its links for many of them at once.

Below the links lie the first deals (``evaluation.split_evaluation``).  The values of hands at the links are passed up:
at the opponent's decisions they are added, at our own the best is taken, or the strategy is played.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from counterplay.poker.board_tree import compatible_mass
from counterplay.strategy.public_lookup import HandStrategy
from counterplay.tree.public.public_tree import FOLD, LINK, PublicTree

Vector = NDArray[np.float64]


def trunk_reaches(tree: PublicTree, player: int, strategy: HandStrategy) -> dict[int, Vector]:
    """The reaches of a player's hands at the nodes of the first piece that some hand reaches."""
    found, waiting = {}, [(0, tree.hands[player].root_reach)]
    while waiting:
        node, reach = waiting.pop()
        found[node] = reach
        if tree.kind[node] > 1:
            continue
        rows = strategy.matrix(tree, node, 0).T if tree.kind[node] == player else None
        for a in range(int(tree.num_children[node])):
            after = reach if rows is None else reach * rows[a]
            if np.any(after > 0):
                waiting.append((int(tree.first_child[node]) + a, after))
    return found


class Trunk:
    """The trunk for one player, against an opponent's reaches.

    Parameters
    ----------
    tree : PublicTree
        The game, which is zero-sum; only its first piece and its first deal are used.
    player : int
        Whose hands have the values.
    reaches : dict
        Of the opponent's hands, by node; see ``trunk_reaches``.
    own : HandStrategy, optional
        What the player plays; by default the best response.
    """

    def __init__(
        self, tree: PublicTree, player: int, reaches: dict[int, Vector], own: HandStrategy | None = None
    ) -> None:
        self.tree, self.player, self.own = tree, player, own
        self.links = [int(node) for node in np.flatnonzero(tree.kind[: tree.piece_size[0]] == LINK)]
        self._live = frozenset(reaches)
        self._won = {node: self._fold(node, reach) for node, reach in reaches.items() if tree.kind[node] == FOLD}

    def _fold(self, node: int, reach: Vector) -> Vector:
        """What our hands win by a fold: the amount, times everything the opponent can hold beside our cards."""
        other, low = self.tree.hands[1 - self.player], self.tree.hands[1 - self.player].real_start
        real = slice(int(low[0]), int(low[1]))
        cards = other.real_card[real][:, : 2 if self.tree.pair_hands else 1]
        mass = compatible_mass(cards, reach[other.real_class[real]])
        first = np.unique(other.real_class[real], return_index=True)[1]  # both players hold the same classes
        return np.asarray((1.0 if self.player == 0 else -1.0) * float(self.tree.payoff[node]) * mass[first])

    def climb(self, links: Vector, guide: Vector | None = None) -> Vector:
        """What the player wins, given the values of hands at the links: (S, links, hands) to (S,).

        ``guide``, which has as many or one, are the values by which the best response chooses, instead of ``links``.
        """
        value, _ = self._values(0, links, links if guide is None else guide)
        return np.asarray(
            np.broadcast_to(value, (len(links), value.shape[1])) @ self.tree.hands[self.player].root_weight
        )

    def _values(self, node: int, links: Vector, guide: Vector) -> tuple[Vector, Vector]:
        """The values of hands at a node, and those by which it is chosen."""
        tree = self.tree
        if node not in self._live:
            none = np.zeros((1, links.shape[2]))
            return none, none
        if tree.kind[node] == FOLD:
            return self._won[node][None], self._won[node][None]
        if tree.kind[node] == LINK:
            at = self.links.index(node)
            return links[:, at], guide[:, at]
        first = int(tree.first_child[node])
        below = [self._values(first + a, links, guide) for a in range(int(tree.num_children[node]))]
        if tree.kind[node] != self.player:
            return sum((v for v, _ in below[1:]), below[0][0]), sum((g for _, g in below[1:]), below[0][1])
        if self.own is not None:
            rows = self.own.matrix(tree, node, 0).T
            value = sum((row * v for row, (v, _) in zip(rows[1:], below[1:], strict=True)), rows[0] * below[0][0])
            return value, value
        value, best = below[0]
        for after, worth in below[1:]:
            better = worth > best
            value, best = np.where(better, after, value), np.where(better, worth, best)
        return value, best
