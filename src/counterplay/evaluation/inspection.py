"""What a strategy does with each hand at a public state: the numbers behind the 13 x 13 grids.

Johanson 2016, section 9.4.  At a node of the betting and a board, every hand has its probabilities of the actions,
and a weight: how likely the player holds it there, by his own play, the opponent's play and the cards that both cannot
hold at once.  Frequencies of actions are means with these weights.  Where asked for, each hand also has its expected
value from there on and its equity, the share of the pot that it wins if nothing more is bet.

The tree holds boards up to renaming suits; hands are told in the suits of the board that was asked for.
"""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError, StrategyError
from counterplay.evaluation.public_walks import Opponent, PublicWalks, Start, plain_tables
from counterplay.kernels.public.piece_steps import RESPONSE, VALUE
from counterplay.poker.cards import MAX_RANKS, MAX_SUITS, RANKS, cards_text, parse_cards
from counterplay.poker.poker_public_tree import add_links
from counterplay.strategy.public_strategy import PublicProfile, PublicStrategy
from counterplay.tree.public.public_tree import CUT, LINK, SHOWDOWN, Hands, PublicNode, PublicTree, lay_out

__all__ = ["Cell", "Inspection", "find_board", "find_node", "inspect_state"]

Vector = NDArray[np.float64]


@dataclasses.dataclass(frozen=True)
class Cell:
    """One cell of a grid: a class of hands such as ``AKs``.

    Attributes
    ----------
    name : str
        The class.
    hands : int
        How many hands of it can be held.
    weight : float
        The probability that the player holds one of them.
    frequencies : tuple of float
        Of the actions.
    value, equity : float or None
        Means over the hands, where they were asked for.
    """

    name: str
    hands: int
    weight: float
    frequencies: tuple[float, ...]
    value: float | None
    equity: float | None


@dataclasses.dataclass(frozen=True, eq=False)
class Inspection:
    """A public state, hand by hand.  R real hands, A actions.

    Attributes
    ----------
    player : int
        Who acts.
    node, board : str
        The betting and the board so far.
    actions : tuple of str
        What he can do.
    hands : (R, 2) uint8 array
        His hands; of one card, with 53 beside it.
    weights : (R,) float64 array
        The probability of each hand; they sum to 1, or are all 0 where the state is never reached.
    probabilities : (R, A) float64 array
        Of the actions.
    values, equities : (R,) float64 arrays or None
        Chips that the hand wins from the start of the tree, and equity; NaN for hands that meet no opponent.
    """

    player: int
    node: str
    board: str
    actions: tuple[str, ...]
    hands: NDArray[np.uint8]
    weights: Vector
    probabilities: Vector
    values: Vector | None = None
    equities: Vector | None = None

    @property
    def frequencies(self) -> Vector:
        """How often each action is taken when play is here."""
        return np.asarray(self.weights @ self.probabilities)

    def mean(self, numbers: Vector | None) -> float | None:
        """The mean of something over the hands; None where it was not asked for or no hand is here."""
        return None if numbers is None else _mean(numbers, self.weights)

    def grid(self) -> list[list[Cell | None]]:
        """The 13 x 13 grid, aces first: suited hands above the diagonal, off-suit ones below; None: no such hand."""
        ranks, suits = self.hands // MAX_SUITS, self.hands % MAX_SUITS
        high, low = ranks.max(axis=1), ranks.min(axis=1)
        same = suits[:, 0] == suits[:, 1]
        rows: list[list[Cell | None]] = []
        for row in range(MAX_RANKS - 1, -1, -1):
            cells = []
            for column in range(MAX_RANKS - 1, -1, -1):
                top, bottom = max(row, column), min(row, column)
                mark = "" if row == column else "s" if row > column else "o"
                chosen = (high == top) & (low == bottom) & (same if mark == "s" else ~same)
                cells.append(self._cell(RANKS[top] + RANKS[bottom] + mark, np.flatnonzero(chosen)))
            rows.append(cells)
        return rows

    def hand_cells(self) -> list[Cell]:
        """One cell for each hand, for games whose hands are not two cards, or to see single hands."""
        names = [cards_text(sorted((card for card in hand if card < 52), reverse=True)) for hand in self.hands]
        cells = [self._cell(name, np.array([number])) for number, name in enumerate(names)]
        return [cell for cell in cells if cell is not None]

    def _cell(self, name: str, rows: NDArray[np.int64]) -> Cell | None:
        if not len(rows):
            return None
        weights = self.weights[rows]
        shares = weights if weights.sum() > 0 else np.ones(len(rows))
        mix = shares @ self.probabilities[rows] / shares.sum()
        values = None if self.values is None else _mean(self.values[rows], shares)
        equities = None if self.equities is None else _mean(self.equities[rows], shares)
        return Cell(name, len(rows), float(weights.sum()), tuple(mix.tolist()), values, equities)


def _mean(numbers: Vector, weights: Vector) -> float | None:
    here = ~np.isnan(numbers) & (weights > 0)
    return float(weights[here] @ numbers[here] / weights[here].sum()) if here.any() else None


def find_node(tree: PublicTree, text: str) -> int:
    """The decision to which a betting leads.

    Raises
    ------
    GameError
        If there is none; it says what can be done where the betting leaves the tree.
    """
    wanted = " ".join(text.split())
    decisions = {tree.node_text[node]: node for node in np.flatnonzero(tree.kind < 2).tolist()}
    if wanted in decisions:
        return int(decisions[wanted])
    known = max((known for known in decisions if wanted.startswith(known)), key=len)
    actions = ", ".join(tree.actions_of(decisions[known]))
    raise GameError(f"there is no decision after {wanted!r}; after {known!r} there are {actions}")


def find_board(tree: PublicTree, node: int, board: str | None) -> tuple[int, tuple[int, ...]]:
    """The deal of a board at a node, and the renaming of suits that turns the board into that of the deal.

    Raises
    ------
    GameError
        If no such board can lie there.
    """
    low, high = int(tree.deal_low[node]), int(tree.deal_high[node])
    identity = tuple(range(MAX_SUITS))
    if board is None:
        if high - low > 1:
            raise GameError(f"cards are dealt before this decision; give a board such as {tree.deal_text[low]!r}")
        return low, identity
    cards = parse_cards(board)
    deals = {_board_key(tree.deal_text[deal]): deal for deal in range(low, high)}
    sizes = [len(part) // 2 for part in tree.deal_text[low].split()]
    if len(cards) != sum(sizes):
        raise GameError(f"{sum(sizes)} cards are on the board here, such as {tree.deal_text[low]!r}; got {board!r}")
    ends = list(itertools.accumulate(sizes, initial=0))
    for renaming in _renamings(tree):
        renamed = [card - card % MAX_SUITS + renaming[card % MAX_SUITS] for card in cards]
        key = tuple(frozenset(renamed[first:last]) for first, last in itertools.pairwise(ends))
        if key in deals:
            return deals[key], renaming
    raise GameError(f"there is no board {board!r} here; boards are such as {tree.deal_text[low]!r}")


def _board_key(text: str) -> tuple[frozenset[int], ...]:
    return tuple(frozenset(parse_cards(part)) for part in text.split())


def _renamings(tree: PublicTree) -> list[tuple[int, ...]]:
    """The renamings of suits that leave the first deal and both ranges as they are; the one that does nothing first."""
    found = []
    weights = [_real_weights(hands) for hands in tree.hands]
    board = set(parse_cards(tree.deal_text[0]))
    for order in itertools.permutations(range(MAX_SUITS)):
        rename = {card: card - card % MAX_SUITS + order[card % MAX_SUITS] for card in range(52)} | {52: 52, 53: 53}
        if {rename[card] for card in board} != board:
            continue
        if all(
            known.get(tuple(sorted(rename[card] for card in hand))) == weight
            for known in weights
            for hand, weight in known.items()
        ):
            found.append(order)
    return found


def _real_weights(hands: Hands) -> dict[tuple[int, ...], float]:
    rows = slice(int(hands.real_start[0]), int(hands.real_start[1]))
    weights = hands.root_reach[hands.real_class[rows]].tolist()
    return {tuple(sorted(cards)): weight for cards, weight in zip(hands.real_card[rows].tolist(), weights, strict=True)}


def inspect_state(
    tree: PublicTree, profile: PublicStrategy, node: str = "", board: str | None = None, values: bool = False
) -> Inspection:
    """Look at a decision.

    Parameters
    ----------
    tree : PublicTree
        A game of cards.
    profile : PublicStrategy
        How both players play.
    node : str
        The betting that leads to the decision.
    board : str, optional
        The board; needed where cards were dealt on the way.
    values : bool
        Compute expected values and equities; needs a ``PublicProfile``.
    """
    if not len(tree.hands[0].card) or not tree.deal_text:
        raise GameError(f"hands of {tree.name} are no cards; there is nothing to draw")
    place = find_node(tree, node)
    deal, renaming = find_board(tree, place, board)
    player = int(tree.kind[place])
    path = _path(tree, place, deal)
    reaches = tuple(_reach(tree, profile, path, who) for who in (0, 1))
    hands = tree.hands[player]
    rows = slice(int(hands.real_start[deal]), int(hands.real_start[deal + 1]))
    classes = hands.real_class[rows]
    mass = _opponents(tree, player, deal, reaches[1 - player])
    weights = (reaches[player] * mass)[classes]
    total = weights.sum()
    backwards = np.argsort(renaming)
    cards = hands.real_card[rows].astype(np.int64)
    shown = np.where(cards < 52, cards - cards % MAX_SUITS + backwards[cards % MAX_SUITS], 53).astype(np.uint8)
    found = Inspection(
        player, tree.node_text[place], board or tree.deal_text[deal], tree.actions_of(place), shown,
        weights / total if total > 0 else weights, profile.probabilities(tree, place, deal)[classes],
    )  # fmt: skip
    if not values:
        return found
    if not isinstance(profile, PublicProfile):
        raise StrategyError("expected values need a profile of tables")
    won = _values(tree, profile, path, player)
    equal = _equities(tree, deal, player, reaches[1 - player])
    with np.errstate(invalid="ignore", divide="ignore"):
        won, equal = np.where(mass > 0, won / mass, np.nan), np.where(mass > 0, 0.5 + 0.5 * equal / mass, np.nan)
    return dataclasses.replace(found, values=won[classes], equities=equal[classes])


def _path(tree: PublicTree, node: int, deal: int) -> list[tuple[int, int, int]]:
    """The way to a public state: node, deal there, and the action taken (0 at links); the state itself last."""
    parent = np.full(tree.num_nodes, -1, np.int64)
    for above in range(tree.num_nodes):
        if tree.kind[above] == LINK:
            parent[tree.link_roots(above)] = above
        elif tree.kind[above] < 2:
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


def _reach(tree: PublicTree, profile: PublicStrategy, path: list[tuple[int, int, int]], player: int) -> Vector:
    """The weight of each class of a player's hands at the end of a path."""
    hands = tree.hands[player]
    reach, at = hands.root_reach.copy(), 0
    for node, deal, action in path:
        if deal != at:
            reach, at = reach[hands.parent[hands.slice(deal)]], deal
        if tree.kind[node] == player and (node, deal) != path[-1][:2]:
            reach = reach * profile.probabilities(tree, node, deal)[:, action]
    return reach


def _opponents(tree: PublicTree, player: int, deal: int, reach: Vector) -> Vector:
    """For each class of a player's hands, the weight of the opponent's hands that can be held beside it."""
    own, opp = tree.hands[player], tree.hands[1 - player]
    rows = slice(int(opp.real_start[deal]), int(opp.real_start[deal + 1]))
    weight = reach[opp.real_class[rows]]
    by_card = np.zeros(64)
    for column in (0, 1):
        np.add.at(by_card, opp.real_card[rows, column], weight)
    by_card[52:] = 0.0
    mass = weight.sum() - by_card[own.card[own.slice(deal)]].sum(axis=1)
    if tree.pair_hands:
        twin = own.twin[own.slice(deal)]
        held = twin < len(reach)
        mass[held] += reach[twin[held]]
    return np.where(mass > 1e-12 * max(weight.sum(), 1e-300), mass, 0.0)


def _values(tree: PublicTree, profile: PublicProfile, path: list[tuple[int, int, int]], player: int) -> Vector:
    """Counterfactual values of a player's hands at the end of a path, from a walk of the piece that it is in."""
    node, deal, _ = path[-1]
    root = node
    while not tree.piece_size[root]:
        root -= 1
    start = next(step for step, (place, _, _) in enumerate(path) if place == root)
    reach = _reach(tree, profile, path[: start + 1], 1 - player)
    walker = PublicWalks(tree)
    first, second = (np.array(table) for table in profile.tables)
    own, opp = (first, second) if player == 0 else (second, first)
    tables = plain_tables(own, walker.ones(player))
    count = tree.hands[player].count(deal)
    walker.walk(player, VALUE, tables, Opponent(opp), Start(root, deal, (np.ones(count), reach)))
    begin = (node - root) * walker.scratch.stride
    return np.asarray(walker.scratch.value[begin : begin + count]).copy()


def _equities(tree: PublicTree, deal: int, player: int, reach: Vector) -> Vector:
    """What a player's hands win less what they lose if nothing more is bet, by the opponent's weights."""
    starts = [0]
    while starts[-1] < tree.num_deals:  # the levels of the deals
        last = starts[-1]
        count = tree.deal_count[starts[-2] : last].sum() if len(starts) > 1 else 1
        if count == 0:
            break
        starts.append(last + int(count))
    spans = list(itertools.pairwise(starts))
    level = next(level for level, (low, high) in enumerate(spans) if low <= deal < high)
    root = add_links(PublicNode(SHOWDOWN, spans[-1], payoff=1.0), level, len(spans) - 1, spans)
    arrays: dict[str, Any] = lay_out(root, (tree.hands[0].start, tree.hands[1].start), tree.num_deals)
    walker = PublicWalks(dataclasses.replace(tree, **arrays))
    none, scale = np.zeros(0), np.ones(1, np.float32)
    start = Start(deal=deal, reaches=(np.ones(tree.hands[player].count(deal)), reach))
    return walker.walk(player, RESPONSE, plain_tables(none, scale), Opponent(none, scale), start)
