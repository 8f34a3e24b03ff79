"""``TreeGame``: a compiled tree played as a game again, so that twins that walk states take abstract games too."""

from __future__ import annotations

from counterplay.game.game import CHANCE, Game
from counterplay.tree.history.game_tree import GameTree

__all__ = ["TreeGame"]


class TreeState:
    """One history of a compiled tree."""

    __slots__ = ("node", "player", "tree")

    def __init__(self, tree: GameTree, node: int) -> None:
        self.tree = tree
        self.node = node
        self.player = int(tree.player[node])

    def _labels(self) -> tuple[str, ...]:
        if self.player == CHANCE:
            return self.tree.event_labels[self.tree.event[self.node]]
        return self.tree.actions_of(int(self.tree.infoset[self.node]))

    def actions(self) -> tuple[str, ...]:
        return self._labels()

    def chance(self) -> list[tuple[str, float]]:
        first = int(self.tree.first_child[self.node])
        return [(label, float(self.tree.chance_prob[first + move])) for move, label in enumerate(self._labels())]

    def child(self, action: str) -> TreeState:
        return TreeState(self.tree, int(self.tree.first_child[self.node]) + self._labels().index(action))

    def infoset(self) -> str:
        return self.tree.infoset_names[int(self.tree.infoset[self.node])]

    def utilities(self) -> list[float]:
        return [float(value) for value in self.tree.utility[self.tree.outcome[self.node]]]


class TreeGame(Game):
    """The game of a compiled tree: the same histories, information sets and utilities."""

    def __init__(self, tree: GameTree) -> None:
        self.tree = tree
        self.players = tree.players

    def root(self) -> TreeState:
        """The state before anything has happened."""
        return TreeState(self.tree, 0)

    def spec(self) -> str:
        """The name of the tree."""
        return self.tree.name

    @property
    def big_blind(self) -> float | None:
        """As in the tree."""
        return self.tree.big_blind
