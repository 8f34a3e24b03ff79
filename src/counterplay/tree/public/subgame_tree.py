"""The part of a public tree below one public state as a public tree of its own, with the choice of safe re-solving.

A subgame begins at a public state with a reach for every hand of both players: what of each hand comes there.  With a
``Choice`` one player first decides, knowing the own hand, between the subgame and a fixed counterfactual value: the
gadget of CFR-D (Burch, Johanson and Bowling 2014).  ``solvers.resolving`` says what it is for.

Reaches are scaled so that the largest of each player is 1: values in the subgame are counterfactual values in the game
times a number, which keeps regrets far above rounding errors however rarely the public state is reached.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError
from counterplay.tree.public.public_tree import ADDITIVE, CUT, LINK, Hands, PublicNode, PublicTree, lay_out

Vector = NDArray[np.float64]
Pair = tuple[Vector, Vector]

CHOICE = ("terminate", "follow")
"""The actions of a ``Choice``."""


class PublicPoint(NamedTuple):
    """A public state, and what of each player's hands comes there.

    ``reach`` is the weight of every class of hands by chance and the player's own actions; ``chance`` the same without
    the player's actions; ``mass`` is what a unit of the counterfactual value of a hand adds to the value of the whole
    game if its player does everything to get there.
    """

    node: int
    deal: int
    reach: Pair
    chance: Pair
    mass: Pair


class Choice(NamedTuple):
    """A player may take a value for each class of hands instead of playing the subgame.

    Values are counterfactual, in the measure of the subgame: against the reaches of the other player there.
    """

    player: int
    values: Vector


@dataclasses.dataclass(frozen=True, eq=False)
class SubgameTree:
    """A subgame.

    * ``tree``: the subgame; with a ``Choice`` that is its first decision
    * ``source``: the game that it was taken from
    * ``nodes`` (N,): the node of the source of each node; -1 for the choice
    * ``deals`` (D,): the deal of the source of each deal
    """

    tree: PublicTree
    source: PublicTree
    nodes: NDArray[np.int64]
    deals: NDArray[np.int64]

    @functools.cached_property
    def _places(self) -> tuple[list[tuple[slice, slice]], list[tuple[slice, slice]]]:
        """Where the entries of each player's decisions are, here and in the source."""
        tree, found = self.tree, ([], [])  # type: ignore[var-annotated]
        for node in np.flatnonzero((tree.kind < LINK) & (self.nodes >= 0)).tolist():
            above, places = int(self.nodes[node]), found[int(tree.kind[node])]
            for deal in range(int(tree.deal_low[node]), int(tree.deal_high[node])):
                places.append((tree.entries(node, deal), self.source.entries(above, int(self.deals[deal]))))
        return found

    def taken(self, player: int, table: NDArray[Any]) -> NDArray[Any]:
        """The part of a player's table of the source that belongs to the subgame; 0 for the choice."""
        found = np.zeros(self.tree.num_entries[player], table.dtype)
        for here, there in self._places[player]:
            found[here] = table[there]
        return found

    def put(self, player: int, table: NDArray[Any], into: NDArray[Any]) -> None:
        """Write a player's table of the subgame into one of the source."""
        for here, there in self._places[player]:
            into[there] = table[here]


def subgame_tree(
    source: PublicTree, point: PublicPoint, free: int | None = None, choice: Choice | None = None
) -> SubgameTree:
    """The subgame at a public state.

    Parameters
    ----------
    source : PublicTree
        A zero-sum game.
    point : PublicPoint
        Where it begins, at a decision.
    free : {0, 1}, optional
        The player whose hands come there by chance alone, whatever that player did before.
    choice : Choice, optional
        The gadget of that player.
    """
    if not source.zero_sum:
        raise GameError(f"{source.name} is not zero-sum; subgames are solved again in zero-sum games only")
    if source.kind[point.node] >= LINK:
        raise GameError(f"a subgame begins at a decision; node {point.node} of {source.name} is none")
    deals = _deals_below(source, point.deal)
    reach = [_scaled(point.chance[player] if player == free else point.reach[player]) for player in (0, 1)]
    hands = tuple(
        _hands_below(source.hands[p], deals, reach[p], point.mass[p] * _share(point, p, free)) for p in (0, 1)
    )
    root, matrix = _nodes_below(source, point.node, deals), source.matrix
    if choice is not None:
        value = np.zeros(sum(len(one) for one in reach))
        first = len(reach[0]) * choice.player
        total = reach[1 - choice.player].sum()
        value[first : first + len(choice.values)] = choice.values * (1.0 if choice.player == 0 else -1.0) / total
        taken = PublicNode(ADDITIVE, (0, 1), text="-1", payoff=1.0, data=len(matrix))
        matrix = np.concatenate((matrix, value))
        root = PublicNode(choice.player, (0, 1), [taken, root], CHOICE, "-1")
    laid = lay_out(root, (hands[0].start, hands[1].start), len(deals))
    nodes = np.array([int(text) for text in laid["node_text"]], np.int64)
    text = tuple("" if node < 0 else source.node_text[node] for node in nodes) if source.node_text else ()
    parent = np.searchsorted(deals, source.deal_parent[deals]).astype(np.int32)
    after = np.searchsorted(deals, source.deal_first[deals]).astype(np.int32)
    weight, prob = source.deal_weight[deals], source.deal_prob[deals]
    parent[0], weight[0], prob[0] = -1, 1.0, 1.0
    tree = dataclasses.replace(
        source, **(laid | {"node_text": text}), deal_parent=parent, deal_count=source.deal_count[deals],
        deal_first=np.where(source.deal_first[deals] < 0, -1, after).astype(np.int32), deal_weight=weight,
        deal_prob=prob, hands=(hands[0], hands[1]), matrix=matrix, half_pot=0.0,
        deal_text=tuple(source.deal_text[deal] for deal in deals) if source.deal_text else (),
    )  # fmt: skip
    return SubgameTree(tree, source, nodes, deals)


def _scaled(reach: Vector) -> Vector:
    top = reach.max(initial=0.0)
    return reach / top if top > 0.0 else reach


def _share(point: PublicPoint, player: int, free: int | None) -> Vector:
    """By what the masses of hands are multiplied: their player's actions, and the scales of both reaches."""
    tops = [(point.chance[p] if p == free else point.reach[p]).max(initial=0.0) for p in (0, 1)]
    chance = point.chance[player]
    acted = np.ones(len(chance))
    if player != free:
        acted = np.divide(point.reach[player], chance, out=np.zeros(len(chance)), where=chance > 0.0)
    return np.asarray(acted * tops[1 - player])


def _deals_below(source: PublicTree, deal: int) -> NDArray[np.int64]:
    """A deal and all deals after it, ascending."""
    found, level = [np.array([deal])], np.array([deal])
    while len(level):
        level = np.flatnonzero(np.isin(source.deal_parent, level))
        found.append(level)
    return np.sort(np.concatenate(found))


def _hands_below(hands: Hands, deals: NDArray[np.int64], reach: Vector, weight: Vector) -> Hands:
    """The hands of a player at some deals, of which the first is now the start."""
    start, places = _kept(hands.start, deals)
    real_start, real = _kept(hands.real_start, deals)
    fields: dict[str, Any] = {"start": start, "real_start": real_start, "root_reach": reach, "root_weight": weight}
    for names, rows in ((("parent", "multiplicity", "card", "rank", "twin"), places),
                        (("real_class", "real_rank", "real_card"), real)):  # fmt: skip
        for name in names:
            array = getattr(hands, name)
            fields[name] = array[rows] if len(array) else array
    fields["parent"][: len(reach)] = 0
    labels = hands.labels if int(deals[0]) == 0 else ()
    return Hands(**fields, labels=labels)


def _kept(start: NDArray[np.int64], deals: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where the rows of some deals begin when they alone are kept, and which rows these are."""
    counts = start[deals + 1] - start[deals]
    after = np.concatenate(([0], np.cumsum(counts)))
    return after, np.arange(after[-1]) + np.repeat(start[deals] - after[:-1], counts)


def _nodes_below(source: PublicTree, root: int, deals: NDArray[np.int64]) -> PublicNode:
    """A node with everything that can follow at some deals; texts are the numbers of nodes."""
    waiting, found = [root], []
    while waiting:
        node = waiting.pop()
        found.append(node)
        waiting.extend(_after(source, node, deals))
    made: dict[int, PublicNode] = {}
    for node in sorted(found, reverse=True):  # what follows a node has a larger number
        kind, link = int(source.kind[node]), int(source.link_deal[node])
        below = [made[child] for child in _after(source, node, deals)]
        if kind == LINK and link == CUT:
            made[node] = below[0]  # pieces are cut anew
            continue
        low, high = np.searchsorted(deals, (source.deal_low[node], source.deal_high[node])).tolist()
        made[node] = PublicNode(
            kind, (low, high), below, source.actions_of(node) if kind < LINK else (), str(node),
            float(source.payoff[node]), int(source.data[node]), int(source.factor[node]),
            int(np.searchsorted(deals, link)) if kind == LINK and link >= 0 else link,
        )  # fmt: skip
    return made[root]


def _after(source: PublicTree, node: int, deals: NDArray[np.int64]) -> list[int]:
    """The nodes that can follow a node."""
    first, count = int(source.first_child[node]), int(source.num_children[node])
    if source.kind[node] < LINK:
        return list(range(first, first + count))
    if source.kind[node] > LINK:
        return []
    link = int(source.link_deal[node])
    return [first] if link < 0 else source.deal_root[link : link + count].tolist()
