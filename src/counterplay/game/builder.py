"""Trees written by hand, node by node: for counterexamples, for figures of papers, for games read from files.

``chance``, ``decision`` and ``terminal`` nest into a tree; ``ExplicitGame`` makes a game of it.  Information sets
are named freely, so imperfect recall and absent-mindedness can be written as they are drawn::

    pennies = ExplicitGame(
        decision(0, "hide", {
            "heads": decision(1, "guess", {"heads": terminal(-1, 1), "tails": terminal(1, -1)}),
            "tails": decision(1, "guess", {"heads": terminal(1, -1), "tails": terminal(-1, 1)}),
        })
    )
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, TypeAlias

from counterplay.errors import GameError
from counterplay.game.game import CHANCE, TERMINAL, Game


class ChanceNode:
    """A chance event: outcome -> (probability, what follows)."""

    __slots__ = ("branches",)
    player = CHANCE

    def __init__(self, branches: Mapping[Hashable, tuple[float, Node]]) -> None:
        self.branches = dict(branches)

    def chance(self) -> list[tuple[Hashable, float]]:
        return [(outcome, probability) for outcome, (probability, _) in self.branches.items()]

    def child(self, action: Hashable) -> Node:
        return self.branches[action][1]


class DecisionNode:
    """A decision: action -> what follows."""

    __slots__ = ("_infoset", "branches", "player")

    def __init__(self, player: int, infoset: Hashable, branches: Mapping[Hashable, Node]) -> None:
        self.player = player
        self._infoset = infoset
        self.branches = dict(branches)

    def actions(self) -> tuple[Hashable, ...]:
        return tuple(self.branches)

    def child(self, action: Hashable) -> Node:
        return self.branches[action]

    def infoset(self) -> Hashable:
        return self._infoset


class TerminalNode:
    """The end of the game."""

    __slots__ = ("_utilities",)
    player = TERMINAL

    def __init__(self, utilities: tuple[float, ...]) -> None:
        self._utilities = utilities

    def utilities(self) -> tuple[float, ...]:
        return self._utilities


Node: TypeAlias = ChanceNode | DecisionNode | TerminalNode


def chance(branches: Mapping[Hashable, tuple[float, Node]]) -> ChanceNode:
    """A chance node from ``{outcome: (probability, node)}``."""
    return ChanceNode(branches)


def decision(player: int, infoset: Hashable, branches: Mapping[Hashable, Node]) -> DecisionNode:
    """A decision of ``player`` (from 0) at the information set named ``infoset``, from ``{action: node}``."""
    return DecisionNode(player, infoset, branches)


def terminal(*utilities: float) -> TerminalNode:
    """A terminal node with one utility for each player."""
    return TerminalNode(tuple(float(utility) for utility in utilities))


class ExplicitGame(Game):
    """A game given as a nested tree of nodes, from ``chance``, ``decision`` and ``terminal``.

    ``players`` is by default the number of utilities at the first terminal node; the name is used in output and files.
    """

    def __init__(self, root: Node, players: int | None = None, name: str = "hand-written") -> None:
        self._root = root
        self.name = name
        self.players = _count_players(root) if players is None else players

    def root(self) -> Any:
        """The state before anything has happened."""
        return self._root

    def spec(self) -> str:
        """The name given to this game."""
        return self.name


def _count_players(node: Node) -> int:
    seen = 0
    while not isinstance(node, TerminalNode):
        branches = list(node.branches.values())
        if not branches:
            raise GameError("a node of the hand-written tree has no branches; give it at least one action")
        first = branches[0]
        node = first[1] if isinstance(first, tuple) else first
        seen += 1
        if seen > 100_000:
            raise GameError("the hand-written tree runs in a circle: its first branch never ends")
    return len(node.utilities())
