"""Public states of a public tree by what players see: the betting, the board, a hand.

The tree holds boards up to renaming suits (Johanson 2016, section 2.4): a board is looked up with a renaming that maps
it to that of the tree, and hands are returned in the suits of the requested board.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError
from counterplay.poker.action_words import first_word, match_action, skip_separators, word_at
from counterplay.poker.cards import CARDS, MAX_SUITS, cards_text, parse_cards
from counterplay.strategy.hand_table import NOTHING, HandTable
from counterplay.tree.public.public_tree import CUT, LINK, Hands, PublicTree

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]
Path = list[tuple[int, int, int]]
"""The path to a public state: node, deal there, and the action taken (0 at links); the state itself last."""


class HandStrategy(Protocol):
    """How a player plays, one public state at a time."""

    def matrix(self, tree: PublicTree, node: int, deal: int) -> Matrix:
        """The probabilities at a public state: hands (the classes of the deal) x actions."""


@dataclasses.dataclass(frozen=True, eq=False)
class HandTables:
    """Weights of all entries of a public tree, one table for each player."""

    tables: tuple[NDArray[Any], NDArray[Any]]

    def matrix(self, tree: PublicTree, node: int, deal: int) -> Matrix:
        """The probabilities at a public state: hands x actions; uniform where all weights are 0."""
        rows = self.tables[int(tree.kind[node])][tree.entries(node, deal)].astype(np.float64)
        return normalised(rows.reshape(int(tree.num_children[node]), -1)).T


def normalised(weights: Matrix) -> Matrix:
    """Weights of actions x hands as probabilities; uniform where all are 0."""
    positive = np.maximum(weights, 0.0)
    total = positive.sum(axis=0)
    return np.where(total > 0, positive / np.where(total > 0, total, 1.0), 1.0 / len(weights))


class PublicIndex:
    """Finds decisions of any public tree; boards and hands where hands are cards."""

    def __init__(self, tree: PublicTree) -> None:
        self.tree = tree
        self._boards: dict[tuple[int, int], dict[tuple[frozenset[int], ...], int]] = {}

    @functools.cached_property
    def _decisions(self) -> dict[str, int]:
        tree = self.tree
        return {tree.node_text[node]: node for node in np.flatnonzero(tree.kind < LINK).tolist()}

    def node(self, text: str) -> int:
        """The decision after public actions, as ``node_text`` writes them or in the words of ``poker.action_words``.

        Raises GameError if there is none; the message lists the legal actions where the actions leave the tree.
        """
        tree = self.tree
        if not tree.node_text:
            raise GameError(f"public states of {tree.name} have no names")
        wanted = " ".join(text.split())
        if wanted in self._decisions:
            return self._decisions[wanted]
        known, place = "", first_word(wanted)
        while place < len(wanted):
            actions = tree.actions_of(self._decisions[known])
            found = match_action(wanted, place, actions)
            if found is None:
                after = f"after {known!r}" if known else "at the start"
                raise GameError(
                    f"there is no decision after {wanted!r}: cannot read {word_at(wanted, place)!r} at character "
                    f"{place + 1}; {after} there are {', '.join(actions)}"
                )
            known = self._following(known, actions[found[0]], wanted)
            place = skip_separators(wanted, found[1])
        return self._decisions[known]

    def _following(self, known: str, action: str, wanted: str) -> str:
        """The decision after an action.  Raises GameError if nobody acts there."""
        for text in (f"{known} {action}".strip(), f"{known}{action}", f"{known}{action}/"):
            if text in self._decisions:
                return text
        taken = f"{known} {action}".strip()
        raise GameError(
            f"there is no decision after {wanted!r}: after {taken!r} nobody acts, since the hand is over "
            "or all chips are in; leave out the last words"
        )

    def board(self, node: int, board: str | None) -> tuple[int, tuple[int, ...]]:
        """The deal of a board at a node, and the renaming of suits that turns the board into that of the deal.

        Raises GameError if the board is not possible there.
        """
        tree = self.tree
        low, high = int(tree.deal_low[node]), int(tree.deal_high[node])
        if board is None:
            if high - low > 1:
                example = f"; give a board such as {tree.deal_text[low]!r}" if tree.deal_text else ""
                raise GameError(f"cards are dealt before this decision{example}")
            return low, tuple(range(MAX_SUITS))
        cards = parse_cards(board)
        sizes = [len(part) // 2 for part in tree.deal_text[low].split()]
        if len(cards) != sum(sizes):
            raise GameError(f"{sum(sizes)} cards are on the board here, such as {tree.deal_text[low]!r}; got {board!r}")
        if (low, high) not in self._boards:
            self._boards[low, high] = {_board_key(tree.deal_text[deal]): deal for deal in range(low, high)}
        deals = self._boards[low, high]
        bounds = list(itertools.accumulate(sizes, initial=0))
        for renaming in self._renamings:
            renamed = [_renamed(card, renaming) for card in cards]
            key = tuple(frozenset(renamed[first:last]) for first, last in itertools.pairwise(bounds))
            if key in deals:
                return deals[key], renaming
        raise GameError(f"there is no board {board!r} here; boards are such as {tree.deal_text[low]!r}")

    @functools.cached_property
    def _renamings(self) -> list[tuple[int, ...]]:
        """The renamings of suits that leave the first deal and both ranges unchanged; the identity first."""
        found = []
        weights = [_real_weights(hands) for hands in self.tree.hands]
        board = set(parse_cards(self.tree.deal_text[0]))
        for order in itertools.permutations(range(MAX_SUITS)):
            rename = {card: _renamed(card, order) for card in range(CARDS)} | {52: 52, 53: 53}
            if {rename[card] for card in board} != board:
                continue
            if all(
                known.get(tuple(sorted(rename[card] for card in hand))) == weight
                for known in weights
                for hand, weight in known.items()
            ):
                found.append(order)
        return found

    def infoset(self, player: int, name: str) -> tuple[int, int, int]:
        """The decision, deal and class of hands of an infoset, by its key such as ``AsKs/2c7dTh:rc/``.

        Raises GameError if the player has no such infoset.
        """
        cards, colon, betting = name.partition(":")
        hole, *boards = cards.split("/")
        node = self.node(betting)
        if not colon or self.tree.kind[node] != player:
            raise GameError(f"player {player + 1} has no infoset {name!r}")
        deal, renaming = self.board(node, "".join(boards) or None)
        hand = sorted(_renamed(card, renaming) for card in parse_cards(hole))
        hands = self.tree.hands[player]
        rows = slice(int(hands.real_start[deal]), int(hands.real_start[deal + 1]))
        held = np.sort(hands.real_card[rows], axis=1)  # a single card is followed by 52
        wanted = np.array([*hand, CARDS][:2] if len(hand) < 2 else hand, np.uint8)
        found = np.flatnonzero((held == wanted).all(axis=1)).tolist() if len(wanted) == 2 else []
        if not found:
            raise GameError(f"player {player + 1} cannot hold {hole!r} at {name!r}")
        return node, deal, int(hands.real_class[rows][found[0]])


def _renamed(card: int, renaming: tuple[int, ...]) -> int:
    return card - card % MAX_SUITS + renaming[card % MAX_SUITS]


def _board_key(text: str) -> tuple[frozenset[int], ...]:
    return tuple(frozenset(parse_cards(part)) for part in text.split())


def _real_weights(hands: Hands) -> dict[tuple[int, ...], float]:
    rows = slice(int(hands.real_start[0]), int(hands.real_start[1]))
    weights = hands.root_reach[hands.real_class[rows]].tolist()
    return {tuple(sorted(cards)): weight for cards, weight in zip(hands.real_card[rows].tolist(), weights, strict=True)}


def hand_table(index: PublicIndex, strategy: HandStrategy, node: str = "", board: str | None = None) -> HandTable:
    """The strategy of each hand at a public state; see ``Strategy.hands``."""
    tree = index.tree
    place = index.node(node)
    deal, renaming = index.board(place, board)
    player = int(tree.kind[place])
    hands, path = tree.hands[player], public_path(tree, place, deal)
    reaches = [reach_along(tree, strategy, path, who) for who in (0, 1)]
    rows = strategy.matrix(tree, place, deal)
    if not len(hands.card):
        return _labelled(tree, place, deal, rows, reaches[player])
    real = slice(int(hands.real_start[deal]), int(hands.real_start[deal + 1]))
    classes = hands.real_class[real]
    weights = (reaches[player] * opponent_mass(tree, player, deal, reaches[1 - player]))[classes]
    backwards = np.argsort(renaming)
    cards = hands.real_card[real].astype(np.int64)
    shown = np.where(cards < CARDS, cards - cards % MAX_SUITS + backwards[cards % MAX_SUITS], NOTHING)
    return HandTable(
        player, tree.node_text[place], cards_text(parse_cards(board or tree.deal_text[deal])), tree.actions_of(place),
        shown.astype(np.uint8), _shares(weights), rows[classes],
    )  # fmt: skip


def _labelled(tree: PublicTree, node: int, deal: int, rows: Matrix, reach: Vector) -> HandTable:
    """Hands that are not cards; the weight of a hand is its player's own reach alone."""
    hands = tree.hands[int(tree.kind[node])]
    count = hands.count(deal)
    labels = hands.labels if len(hands.labels) == count else tuple(f"hand {number}" for number in range(count))
    board = tree.deal_text[deal] if tree.deal_text else ""
    none = np.zeros((0, 2), np.uint8)
    return HandTable(
        int(tree.kind[node]), tree.node_text[node], board, tree.actions_of(node), none, _shares(reach), rows,
        labels=labels,
    )  # fmt: skip


def _shares(weights: Vector) -> Vector:
    total = weights.sum()
    return weights / total if total > 0 else weights


def public_path(tree: PublicTree, node: int, deal: int) -> Path:
    """The path to a public state."""
    parent = np.full(tree.num_nodes, -1, np.int64)
    for above in range(tree.num_nodes):
        if tree.kind[above] == LINK:
            parent[tree.link_roots(above)] = above
        elif tree.kind[above] < LINK:
            first = int(tree.first_child[above])
            parent[first : first + int(tree.num_children[above])] = above
    path = [(node, deal, 0)]
    while parent[node] >= 0:
        above = int(parent[node])
        if tree.kind[above] == LINK:
            if tree.link_deal[above] != CUT:
                deal = int(tree.deal_parent[deal])
            path.append((above, deal, 0))
        else:
            path.append((above, deal, node - int(tree.first_child[above])))
        node = above
    return path[::-1]


def reach_along(tree: PublicTree, strategy: HandStrategy, path: Path, player: int) -> Vector:
    """The weight of each class of a player's hands at the end of a path."""
    hands = tree.hands[player]
    reach, at = hands.root_reach.copy(), 0
    for node, deal, action in path:
        if deal != at:
            reach, at = reach[hands.parent[hands.slice(deal)]], deal
        if tree.kind[node] == player and (node, deal) != path[-1][:2]:
            reach = reach * strategy.matrix(tree, node, deal)[:, action]
    return reach


def opponent_mass(tree: PublicTree, player: int, deal: int, reach: Vector) -> Vector:
    """For each class of a player's hands, the weight of the opponent's hands that are compatible with it."""
    own, opp = tree.hands[player], tree.hands[1 - player]
    rows = slice(int(opp.real_start[deal]), int(opp.real_start[deal + 1]))
    weight = reach[opp.real_class[rows]]
    by_card = np.zeros(64)
    for column in (0, 1):
        np.add.at(by_card, opp.real_card[rows, column], weight)
    by_card[CARDS:] = 0.0
    mass = weight.sum() - by_card[own.card[own.slice(deal)]].sum(axis=1)
    if tree.pair_hands:
        twin = own.twin[own.slice(deal)]
        held = twin < len(reach)
        mass[held] += reach[twin[held]]
    return np.where(mass > 1e-12 * max(weight.sum(), 1e-300), mass, 0.0)
