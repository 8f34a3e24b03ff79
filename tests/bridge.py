"""Between the library's arrays and the twins' tables."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from counterplay import GameTree, TabularStrategy
from counterplay.poker.cards import cards_text, parse_cards
from counterplay.tree.public.public_tree import PublicTree
from tests.reference.walks import Profile as Table


def to_profile(tree: GameTree, table: Table) -> TabularStrategy:
    """A table ``{(player, key): {action: probability}}`` as a profile."""
    return TabularStrategy.from_table(
        tree,
        {
            (player, str(key)): {str(action): value for action, value in row.items()}
            for (player, key), row in table.items()
        },
    )


def to_entries(tree: GameTree, table: Table) -> NDArray[np.float64]:
    """A table of numbers as an array over entries."""
    values = np.full(tree.num_entries, np.nan)
    for (player, key), row in table.items():
        for action, value in row.items():
            values[tree.entry(player, str(key), str(action))] = value
    return values


def infoset_entries(tree: PublicTree, player: int) -> dict[str, NDArray[np.int64]]:
    """The entries of each information set in the tables of a public tree without isomorphism, by the game's names."""
    found = {}
    hands = tree.hands[player]
    for node, deal in tree.states_of(player):
        board = "/".join(tree.deal_text[deal].split())
        entries = np.arange(tree.entries(node, deal).start, tree.entries(node, deal).stop)
        cards = hands.card[hands.slice(deal)]
        for h, row in enumerate(entries.reshape(-1, len(cards)).T):
            hand = cards_text(tuple(int(card) for card in cards[h] if card < 52))
            found[f"{hand}/{board}:{tree.node_text[node]}" if board else f"{hand}:{tree.node_text[node]}"] = row
    return found


def board_of(tree: PublicTree, deal: int) -> tuple[int, ...]:
    """The public cards of a deal."""
    return tuple(parse_cards("".join(tree.deal_text[deal].split())))
