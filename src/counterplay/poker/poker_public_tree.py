"""Public trees of poker games: the betting of a definition, or of a subgame, over the deals of its cards.

A betting tree becomes nodes with a link wherever cards are dealt; a hand that is all in before the last deal has a link
for each remaining deal.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError
from counterplay.game.game import TERMINAL
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.betting import COUNTED_ROWS, BettingTree, build_betting_tree, count_betting
from counterplay.poker.board_tree import DealTree, Ranges, deal_cards, hole_hands
from counterplay.poker.isomorphism import HandIndexer
from counterplay.poker.raise_sizes import BetAbstraction
from counterplay.poker.three_cards import showdown_tables
from counterplay.tree.public.public_tree import FOLD, LINK, SHOWDOWN, PublicNode, PublicTree, lay_out


def public_tree_refusal(game: GameDefinition) -> str | None:
    """Why a game of poker has no public tree; None if it has one: two players with one or two hole cards each."""
    if game.players != 2:
        return f"a public tree needs two players; this game has {game.players}"
    if game.hole_cards not in (1, 2):
        return f"a public tree needs one or two hole cards; this game deals {game.hole_cards}"
    return None


def build_public_tree(
    game: GameDefinition, bets: BetAbstraction | None = None, isomorphic: bool = True, name: str = "poker"
) -> PublicTree:
    """The public tree of a whole game of poker, with a betting abstraction if given; ``name`` opens the game again.

    ``isomorphic`` merges deals and hands that differ only by a renaming of suits.  Raises GameError if the game has no
    public tree.
    """
    refusal = public_tree_refusal(game)
    if refusal is not None:
        raise GameError(refusal)
    full = np.ones(len(hole_hands(game.deck, game.hole_cards)))
    rounds = [cards for cards in game.board_cards if cards]
    tables = showdown_tables(game)
    deals = deal_cards(game.deck, game.suits, game.hole_cards, (), rounds, (full, full), isomorphic, tables)
    return assemble_betting(build_betting_tree(game, bets), deals, name, game.hole_cards, float(game.big_blind))


def build_rest_of_hand(
    betting: BettingTree, node: int, board: Sequence[int], ranges: Ranges, name: str = "poker"
) -> PublicTree:
    """The public tree from a decision on, when a board is dealt and every hand of both players has a weight.

    ``ranges`` are over ``hole_hands`` of the deck.  Raises GameError if the game has no public tree.
    """
    game = betting.game
    refusal = public_tree_refusal(game)
    if refusal is not None:
        raise GameError(refusal)
    rounds = [cards for cards in game.board_cards[int(betting.round[node]) + 1 :] if cards]
    deals = deal_cards(
        game.deck, game.suits, game.hole_cards, board, rounds, ranges, tables=showdown_tables(game)
    )  # fmt: skip
    return assemble_betting(betting, deals, name, game.hole_cards, float(game.big_blind), node)


NODE_BYTES = 700
"""Bytes that a node of the betting takes while a tree is assembled."""


def public_tree_bytes(game: GameDefinition, bets: BetAbstraction | None = None) -> int:
    """Approximate memory of the public tree of a game of poker, without the tables of a solver.

    Raises MemoryLimitError if the betting is too large to be counted.
    """
    left, boards, hands = len(game.deck), 1, math.comb(len(game.deck), game.hole_cards)
    total = 0
    for cards in game.board_cards:
        if cards:
            boards, left = boards * math.comb(left, cards), left - cards
            total += boards
    betting = count_betting(game, bets, max_rows=COUNTED_ROWS).nodes
    return 64 * hands * total // math.factorial(game.suits) + NODE_BYTES * betting


def count_public_tree(game: GameDefinition, bets: BetAbstraction | None = None) -> tuple[int, int, int]:
    """Public states, information sets and entries of the public tree, counted from the rules; nothing is built.

    Raises MemoryLimitError if the betting is too large to be counted; GameError if the deals have too many rounds to be
    counted up to isomorphism.
    """
    counts = count_betting(game, bets, max_rows=COUNTED_ROWS)
    rounds = tuple(cards for cards in game.board_cards if cards)
    hands = HandIndexer((game.hole_cards, *rounds), game.ranks, game.suits).sizes
    boards = (1, *(HandIndexer(rounds, game.ranks, game.suits).sizes if rounds else ()))
    level = np.cumsum([cards > 0 for cards in game.board_cards]).tolist()
    last = len(boards) - 1
    states, entered = 0, 1
    before = 0
    for turn, at in enumerate(level):
        states += entered * boards[before] * (at > before)  # the links to the round
        states += boards[at] * (counts.decisions[turn] + counts.folds[turn])
        states += counts.showdowns[turn] * sum(boards[at : last + 1])  # with a link for each remaining deal
        entered, before = counts.continuing[turn], at
    infosets = sum(number * hands[at] for number, at in zip(counts.decisions, level, strict=True))
    entries = sum(number * hands[at] for number, at in zip(counts.pairs, level, strict=True))
    return states, infosets, entries


def assemble_betting(
    betting: BettingTree, deals: DealTree, name: str, hole_cards: int, big_blind: float | None, start: int = 0
) -> PublicTree:
    """The tree of a betting tree over the deals of its cards, of which deal 0 has an empty board.

    From a later decision on, deal 0 has the board there.
    """
    level_of = np.cumsum([cards > 0 for cards in betting.game.board_cards])
    level_of -= level_of[betting.round[start]] if start else 0
    spans = [(low, high) for low, high in zip(deals.level_start, deals.level_start[1:], strict=False)]
    showdown, below = betting.showdowns(), _below(betting, start)
    nodes: dict[int, PublicNode] = {}
    for number in reversed(below):  # children come after their parents
        level = int(level_of[betting.round[number]])
        text = betting.text(number)
        if betting.player[number] == TERMINAL:
            # the round of a fold is that of the last action
            node = PublicNode(SHOWDOWN if showdown[number] else FOLD, spans[level], text=text)
            spent = betting.spent[number]
            if showdown[number]:
                node.payoff = float(spent.min())
            else:
                node.payoff = float(-spent[0] if betting.folded[number] & 1 else spent[1])
        else:
            children = [
                add_links(nodes[child], level, int(level_of[betting.round[child]]), spans)
                for child in betting.children(number)
            ]
            node = PublicNode(int(betting.player[number]), spans[level], children, tuple(betting.actions(number)), text)
        nodes[number] = node
    root = add_links(nodes[start], 0, int(level_of[betting.round[start]]), spans)
    return assemble_nodes(root, deals, name, hole_cards, float(betting.spent[below].max()), big_blind)


def _below(betting: BettingTree, start: int) -> list[int]:
    """A node and all nodes after it, ascending."""
    found = [start]
    for node in found:  # grows during the loop
        found.extend(betting.children(node))
    return sorted(found)


def assemble_nodes(
    root: PublicNode, deals: DealTree, name: str, hole_cards: int, stakes: float, big_blind: float | None
) -> PublicTree:
    """The tree of nodes and deals; ``stakes`` is the most that can be won."""
    arrays: dict[str, Any] = lay_out(root, (deals.hands[0].start, deals.hands[1].start), len(deals.parent))
    none: NDArray[Any] = np.zeros(0)
    return PublicTree(
        name=name, **arrays, deal_parent=deals.parent, deal_first=deals.first, deal_count=deals.count,
        deal_weight=deals.weight, deal_prob=deals.prob, hands=deals.hands, matrix=none,
        factor_class=np.zeros((2, 0, 0), np.uint8), factor_count=np.zeros((2, 0), np.int32),
        pair_hands=hole_cards == 2, scale=stakes * float(deals.hands[0].root_reach.sum()),
        deal_text=deals.text, big_blind=big_blind,
    )  # fmt: skip


def add_links(node: PublicNode, before: int, after: int, spans: list[tuple[int, int]]) -> PublicNode:
    """A node behind one link for each deal between two levels."""
    for level in range(after - 1, before - 1, -1):
        node = PublicNode(LINK, spans[level], [node], text=node.text)
    return node
