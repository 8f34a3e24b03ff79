"""``PublicTree``: public states x private hands, for games whose private information is dealt by chance.

A *public state* is what everybody knows (Johanson 2016, section 2.4): the actions so far, and the public part of what
chance did.  A walk over public states carries one vector over a player's hands down (reach) and one up (value).

The tree has two dimensions, so that a game of cards holds its betting once for all boards:

* *Nodes* are points of the public play: decisions, links to the next deal, terminal nodes.
* *Deals* are what chance has dealt in public, with the possible hands of each player.  Deal 0 is the start.
  The hands of a deal are *classes*: hands that are mapped to each other by a renaming of suits which preserves the
  deal are one class, which represents ``multiplicity`` real hands (lossless isomorphism, Johanson 2016, section 2.4,
  in its vector form: a class holds the mean over its members).

A public state is a pair (node, deal) with ``deal_low[node] <= deal < deal_high[node]``.  Nodes come in *pieces*: a
piece is a range of consecutive nodes without a link inside, parents before children, the children of a node adjacent.
Walks traverse a piece forwards and backwards; a link leads from a leaf of a piece to the root of another.  Long pieces
are cut by links that deal nothing, which bounds the vectors that a walk holds.

Entries of the tables (regrets, averages, strategies) of one player: the probability of action ``a`` at (node, deal)
with hand ``h`` of ``n`` is entry ``base[node] + A * start[deal] + a * n + h``, where ``A`` is the number of actions.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError
from counterplay.runtime.memory import format_bytes
from counterplay.runtime.notebook import Described

LINK, FOLD, SHOWDOWN, MATRIX, FACTORED, ADDITIVE, TILTED = 2, 3, 4, 5, 6, 7, 8
"""Kinds of nodes besides the decisions of players 0 and 1: a link, and the kinds of terminals."""

SHARED, CUT = -1, -2
"""``link_deal`` of a link to the deals after the current one, and of one that deals nothing."""

NO_HAND = 65535
"""The class of a hand that a player cannot hold."""


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Hands(Described):
    """The hands of one player at every deal.  D deals, K classes of hands over all deals, R real hands over all deals.

    * ``start`` (D+1,): the classes at deal ``d`` are ``start[d] .. start[d + 1] - 1``, counted from 0 inside the deal
    * ``parent`` (K,): the class at the previous deal that contains this one
    * ``multiplicity`` (K,): number of real hands in the class; 1 where hands are not cards
    * ``root_reach`` (K of deal 0,): the weight of each hand as seen by the opponent, before any action
    * ``root_weight`` (K of deal 0,): the weight of each hand in the value of the game
    * ``card`` (K, 2): two cards of one real hand of each class, or one and ``53``.  Empty where hands are not cards
    * ``rank`` (K,): the rank of that hand at the last deals, where the classes of a deal are in the order of their
      ranks; else 0
    * ``twin`` (K,): the opponent's class with the same real hand, or NO_HAND
    * ``real_start`` (D+1,): the real hands at deal ``d`` are ``real_start[d] .. real_start[d + 1] - 1``, in the order
      of their ranks
    * ``real_class``, ``real_rank`` (R,): the class and the rank of each
    * ``real_card`` (R, 2): its cards; one card and ``52`` where hands have one card
    * ``labels``: the hands at deal 0, where they have names; else empty
    """

    start: NDArray[np.int64]
    parent: NDArray[np.uint16]
    multiplicity: NDArray[np.uint16]
    root_reach: NDArray[np.float64]
    root_weight: NDArray[np.float64]
    card: NDArray[np.uint8]
    rank: NDArray[np.uint16]
    twin: NDArray[np.uint16]
    real_start: NDArray[np.int64]
    real_class: NDArray[np.uint16]
    real_rank: NDArray[np.uint16]
    real_card: NDArray[np.uint8]
    labels: tuple[str, ...] = ()

    @classmethod
    def plain(
        cls,
        start: NDArray[np.int64],
        parent: NDArray[np.uint16],
        root_reach: NDArray[np.float64],
        root_weight: NDArray[np.float64],
        labels: tuple[str, ...] = (),
    ) -> Hands:
        """Hands that are not cards: only a class at each deal and its parent."""
        few: Any = np.zeros(0, np.uint16)
        cards = np.zeros((0, 2), np.uint8)
        ones = np.ones(len(parent), np.uint16)
        none = np.zeros(len(start), np.int64)
        return cls(
            start, parent, ones, root_reach, root_weight, cards, few, few, none, few, few, cards, labels
        )  # fmt: skip

    def _title(self) -> str:
        return "Hands of a player"

    def _sizes(self) -> list[tuple[str, str]]:
        return [("deals", f"{len(self.start) - 1:,}"), ("classes", f"{len(self.parent):,}")]

    def count(self, deal: int) -> int:
        """Number of classes at a deal."""
        return int(self.start[deal + 1] - self.start[deal])

    def slice(self, deal: int) -> slice:
        """Where the classes of a deal lie."""
        return slice(int(self.start[deal]), int(self.start[deal + 1]))

    @property
    def counts(self) -> NDArray[np.int64]:
        """Number of classes at every deal."""
        return np.diff(self.start)

    @property
    def most(self) -> int:
        """The largest number of classes at one deal."""
        return int(self.counts.max())


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class PublicTree(Described):
    """A compiled game of public actions.  N nodes, D deals; two players, perfect recall.

    * ``name``: the name that opens the game again
    * ``kind`` (N,): the player who acts (0, 1), or LINK, FOLD, SHOWDOWN, MATRIX, FACTORED, ADDITIVE, TILTED
    * ``first_child``, ``num_children`` (N,): children of a decision; ``first_child`` of a link is the root of the piece
      that it leads to, unless each deal has its own root
    * ``deal_low``, ``deal_high`` (N,): the deals at which the node can be
    * ``base`` (N,): where the entries of a decision begin, see above
    * ``block`` (N,): ``block + deal`` numbers the public states of a player
    * ``reach_slot`` (2, N): for each player, the node of the piece (counted from its root) where the player's reach
      last changed; the number of nodes in the piece means player 1's reach at the root
    * ``piece_size`` (N,): number of nodes of the piece that starts here; 0 inside a piece
    * ``link_deal`` (N,): of a link: SHARED, CUT, or the first of ``num_children`` deals
    * ``payoff`` (N,): of a terminal: what player 0 wins by a fold, what the winner gets at a showdown; a factor of the
      other kinds
    * ``data`` (N,): of a terminal: where its numbers are in ``matrix``
    * ``factor`` (N,): of a FACTORED terminal: the row of ``factor_class``
    * ``deal_parent``, ``deal_first``, ``deal_count`` (D,): the previous deal; the next deals are
      ``deal_first .. deal_first + deal_count - 1``
    * ``deal_root`` (D,): the node after this deal, if the link does not determine it
    * ``deal_weight`` (D,): the factor of values passed up: chance times the number of deals that this one represents
    * ``deal_prob`` (D,): the probability of sampling this deal after the previous one
    * ``hands``: of players 0 and 1
    * ``matrix``: numbers of the terminals: of MATRIX, player 0's utility times chance, hands of player 0 x hands of
      player 1; of FACTORED the same by classes; of ADDITIVE, one number for each hand of player 0, then of player 1; of
      TILTED, what the loser of the showdown pays
    * ``factor_class`` (2, F, H): the classes of hands at FACTORED terminals, by player and row
    * ``factor_count`` (2, F): number of classes
    * ``pair_hands``: hands are two cards, so that card removal counts the same hand twice
    * ``scale``: the largest absolute utility times the weights, for the sizes of rounding errors
    * ``node_text``: the actions up to each node, if known; else empty
    * ``action_labels``: the different lists of actions
    * ``node_labels`` (N,): the actions of a decision, an index into ``action_labels``
    * ``deal_text``: what was dealt, if known; else empty
    * ``big_blind``: chips in one big blind of a poker game
    * ``other_payoff``, ``other_matrix``: ``payoff`` and ``matrix`` with what player 1 loses in place of what player 0
      wins, where utilities do not add up to 0; None in a zero-sum game
    * ``half_pot``: half of the pot at the start of a postflop spot, which each player has put in.  Utilities count what
      is lost of it; values of strategies are shares of the pot, as players count them: utility plus this
    * ``fee`` (N,): of a SHOWDOWN: what each player pays to the house, whoever wins; None where nobody does
    """

    form_name: ClassVar[str] = "public"
    """The form of a game that this is."""

    name: str
    kind: NDArray[np.int8]
    first_child: NDArray[np.int32]
    num_children: NDArray[np.int32]
    deal_low: NDArray[np.int32]
    deal_high: NDArray[np.int32]
    base: NDArray[np.int64]
    block: NDArray[np.int64]
    reach_slot: NDArray[np.int32]
    piece_size: NDArray[np.int32]
    link_deal: NDArray[np.int32]
    payoff: NDArray[np.float64]
    data: NDArray[np.int64]
    factor: NDArray[np.int32]
    deal_parent: NDArray[np.int32]
    deal_first: NDArray[np.int32]
    deal_count: NDArray[np.int32]
    deal_root: NDArray[np.int32]
    deal_weight: NDArray[np.float64]
    deal_prob: NDArray[np.float64]
    hands: tuple[Hands, Hands]
    matrix: NDArray[np.float64]
    factor_class: NDArray[np.uint8]
    factor_count: NDArray[np.int32]
    pair_hands: bool
    scale: float
    node_labels: NDArray[np.int32]
    action_labels: tuple[tuple[str, ...], ...]
    node_text: tuple[str, ...] = ()
    deal_text: tuple[str, ...] = ()
    big_blind: float | None = None
    other_payoff: NDArray[np.float64] | None = None
    other_matrix: NDArray[np.float64] | None = None
    fee: NDArray[np.float64] | None = None
    half_pot: float = 0.0

    players = 2

    def _title(self) -> str:
        return f"PublicTree of {self.name}"

    def _sizes(self) -> list[tuple[str, str]]:
        return [
            ("nodes", f"{self.num_nodes:,}"),
            ("deals", f"{self.num_deals:,}"),
            ("public states", f"{self.num_public_states:,}"),
            ("infosets", f"{self.num_infosets:,}"),
            ("memory", format_bytes(self.nbytes)),
        ]

    @property
    def zero_sum(self) -> bool:
        """Whether one player wins what the other loses."""
        return self.other_payoff is None

    @property
    def num_nodes(self) -> int:
        """Number of nodes N."""
        return len(self.kind)

    @property
    def num_deals(self) -> int:
        """Number of deals D."""
        return len(self.deal_parent)

    @functools.cached_property
    def num_entries(self) -> tuple[int, int]:
        """Entries of each player's tables."""
        return self._count(lambda player, nodes: self.num_children[nodes] * self._rows(player, nodes))

    @functools.cached_property
    def infosets(self) -> tuple[int, int]:
        """Information sets of each player, isomorphic ones counted once."""
        return self._count(self._rows)

    @functools.cached_property
    def num_blocks(self) -> tuple[int, int]:
        """Public states at which each player acts."""
        return self._count(lambda _, nodes: self.deal_high[nodes] - self.deal_low[nodes])

    @property
    def num_infosets(self) -> int:
        """Information sets of both players."""
        return sum(self.infosets)

    @functools.cached_property
    def num_public_states(self) -> int:
        """Pairs of a node and a deal."""
        cuts = (self.kind == LINK) & (self.link_deal == CUT)
        return int((self.deal_high - self.deal_low).astype(np.int64)[~cuts].sum())

    @property
    def num_histories(self) -> int:
        """Public states; the name under which solvers report the size of a tree."""
        return self.num_public_states

    @property
    def nbytes(self) -> int:
        """Bytes held by the arrays; those that both players share are counted once."""
        arrays = {id(array): array.nbytes for array in self._arrays()}
        return sum(arrays.values())

    @functools.cached_property
    def levels(self) -> int:
        """How many pieces a walk can be inside of at once."""
        depth = np.zeros(self.num_nodes, np.int32)
        roots = np.flatnonzero(self.piece_size)
        links = np.flatnonzero(self.kind == LINK)
        above = roots[np.searchsorted(roots, links, side="right") - 1]
        for link, root in zip(links.tolist(), above.tolist(), strict=True):  # links lead to later pieces only
            for child in self.link_roots(link):
                depth[child] = max(depth[child], depth[root] + 1)
        return int(depth.max(initial=0)) + 1

    def link_roots(self, link: int) -> list[int]:
        """The roots to which a link leads."""
        first = int(self.link_deal[link])
        if first < 0:
            return [int(self.first_child[link])]
        return sorted(set(self.deal_root[first : first + self.num_children[link]].tolist()))

    def locked_nodes(self, locked: NDArray[np.bool_]) -> tuple[str, ...]:
        """The betting that leads to each locked decision."""
        return tuple(self.node_text[node] if self.node_text else str(node) for node in locked.nonzero()[0])

    def actions_of(self, node: int) -> tuple[str, ...]:
        """The actions at a decision."""
        return self.action_labels[self.node_labels[node]]

    def entries(self, node: int, deal: int) -> slice:
        """Where the entries of a public state lie in the tables of the player who acts there."""
        hands = self.hands[self.kind[node]]
        actions = int(self.num_children[node])
        first = int(self.base[node]) + actions * int(hands.start[deal])
        return slice(first, first + actions * hands.count(deal))

    def states_of(self, player: int) -> list[tuple[int, int]]:
        """The public states (node, deal) at which a player acts."""
        nodes = np.flatnonzero(self.kind == player)
        return [(int(n), d) for n in nodes for d in range(int(self.deal_low[n]), int(self.deal_high[n]))]

    @functools.cached_property
    def fingerprint(self) -> str:
        """A fingerprint of the whole game."""
        text = hashlib.sha256(repr((self.name, self.action_labels, self.pair_hands)).encode())
        for array in self._arrays():
            text.update(np.ascontiguousarray(array).data)
        return text.hexdigest()

    def _arrays(self) -> list[NDArray[Any]]:
        held = [value for value in vars(self).values() if isinstance(value, np.ndarray)]
        for hands in self.hands:
            held += [value for value in vars(hands).values() if isinstance(value, np.ndarray)]
        return held

    def _rows(self, player: int, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        start = self.hands[player].start
        return start[self.deal_high[nodes]] - start[self.deal_low[nodes]]

    def _count(self, size: Any) -> tuple[int, int]:
        first, second = (int(size(p, np.flatnonzero(self.kind == p)).sum(dtype=np.int64)) for p in (0, 1))
        return first, second


@dataclasses.dataclass
class PublicNode:
    """A node while a tree is made; ``lay_out`` turns them into arrays."""

    kind: int  # as in ``PublicTree.kind``
    deals: tuple[int, int]  # ``deal_low`` and ``deal_high``
    # after each action; of a link, the one root that it leads to, or one for each of its own deals
    children: list[PublicNode] = dataclasses.field(default_factory=list)
    actions: tuple[str, ...] = ()  # labels of the actions of a decision
    text: str = ""  # what was played up to here
    # payoff, data, factor, link_deal: as in ``PublicTree``
    payoff: float = 0.0
    data: int = 0
    factor: int = 0
    link_deal: int = SHARED
    fee: float = 0.0  # what the winner after a fold pays to the house, and each player at a showdown


def lay_out(root: PublicNode, starts: tuple[NDArray[np.int64], NDArray[np.int64]], deals: int) -> dict[str, Any]:
    """Number the nodes piece by piece and make the arrays of a ``PublicTree`` that depend on them.

    ``starts`` are ``Hands.start`` of each player, ``deals`` is the number of deals.
    """
    order, number, pieces = _number(root)
    size = len(order)
    arrays: dict[str, Any] = {
        "kind": np.array([node.kind for node in order], np.int8),
        "num_children": np.array([len(node.children) for node in order], np.int32),
        "deal_low": np.array([node.deals[0] for node in order], np.int32),
        "deal_high": np.array([node.deals[1] for node in order], np.int32),
        "payoff": np.array([node.payoff for node in order], np.float64),
        "data": np.array([node.data for node in order], np.int64),
        "factor": np.array([node.factor for node in order], np.int32),
        "link_deal": np.array([node.link_deal for node in order], np.int32),
        "first_child": np.full(size, -1, np.int32),
        "piece_size": np.zeros(size, np.int32),
        "reach_slot": np.zeros((2, size), np.int32),
        "base": np.zeros(size, np.int64),
        "block": np.zeros(size, np.int64),
        "deal_root": np.full(deals, -1, np.int32),
        "node_text": tuple(node.text for node in order),
    }
    for first, count in pieces:
        arrays["piece_size"][first] = count
        arrays["reach_slot"][1, first] = count
    labels = {actions: i for i, actions in enumerate(dict.fromkeys(node.actions for node in order if node.kind < 2))}
    arrays["action_labels"] = tuple(labels)
    arrays["node_labels"] = np.array([labels.get(node.actions, -1) for node in order], np.int32)
    _place(arrays, order, number, starts)
    _charge(arrays, np.array([node.fee for node in order]))
    return arrays


def _charge(arrays: dict[str, Any], fee: NDArray[np.float64]) -> None:
    """Take what the house gets off the payoffs; nothing changes where it gets nothing."""
    arrays |= {"other_payoff": None, "other_matrix": None, "fee": None}
    if fee.any():
        paid, folds = arrays["payoff"], arrays["kind"] == FOLD
        arrays["payoff"] = np.where(folds & (paid > 0), paid - fee, paid)
        arrays["other_payoff"] = np.where(folds & (paid < 0), paid + fee, paid)
        arrays["other_matrix"] = np.zeros(0)
        arrays["fee"] = np.where(arrays["kind"] == SHOWDOWN, fee, 0.0)


def _place(
    arrays: dict[str, Any], order: list[PublicNode], number: dict[int, int], starts: Sequence[NDArray[np.int64]]
) -> None:
    """Fill in where the children, reaches and table entries of each node are."""
    cursor, blocks = [0, 0], [0, 0]
    piece_first = 0
    for i, node in enumerate(order):
        if arrays["piece_size"][i]:
            piece_first = i
        if not node.children:
            continue
        first = number[id(node.children[0])]
        arrays["first_child"][i] = first
        if node.kind == LINK:
            if node.link_deal >= 0:
                for k, child in enumerate(node.children):
                    arrays["deal_root"][node.link_deal + k] = number[id(child)]
            continue
        for a in range(len(node.children)):
            arrays["reach_slot"][:, first + a] = arrays["reach_slot"][:, i]
            arrays["reach_slot"][node.kind, first + a] = first + a - piece_first
        start, actions = starts[node.kind], len(node.children)
        low, high = node.deals
        arrays["base"][i] = cursor[node.kind] - actions * int(start[low])
        arrays["block"][i] = blocks[node.kind] - low
        cursor[node.kind] += actions * int(start[high] - start[low])
        blocks[node.kind] += high - low


MAX_PIECE = 256
"""Nodes after which a piece is cut."""


def _number(root: PublicNode) -> tuple[list[PublicNode], dict[int, int], list[tuple[int, int]]]:
    """All nodes in the order of their numbers, the numbers, and first number and size of each piece.

    A decision at which a piece is full is moved into a new piece, behind a link that deals nothing.
    """
    order: list[PublicNode] = []
    number: dict[int, int] = {}
    pieces: list[tuple[int, int]] = []
    waiting = [root]
    for start in waiting:  # grows while it is walked
        if id(start) in number:
            raise GameError("two links lead to one public node; give each its own")
        first, inside = len(order), [start]
        for node in inside:  # grows too
            if node.kind == LINK:
                waiting.extend(node.children)
                continue
            if not node.children:
                continue
            if node is not start and len(inside) + len(node.children) > MAX_PIECE:
                moved = dataclasses.replace(node)
                node.kind, node.children, node.actions, node.link_deal = LINK, [moved], (), CUT
                waiting.append(moved)
                continue
            inside.extend(node.children)
        for node in inside:
            number[id(node)] = len(order)
            order.append(node)
        pieces.append((first, len(inside)))
    return order, number, pieces
