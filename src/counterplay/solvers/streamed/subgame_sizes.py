"""How large the subgames of a game of poker are, counted from its rules: no public tree is built.

A subgame is one betting of the trunk with one first deal, as in ``BlockPlan``.  Johanson 2016, section 9.4, cuts limit
hold'em one round later, after the betting of the flop, which makes its 110,565 subgames; both are counted.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError, MemoryLimitError
from counterplay.game.game import TERMINAL
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.betting import BettingTree, build_betting_tree
from counterplay.poker.isomorphism import HandIndexer
from counterplay.poker.poker_public_tree import public_tree_bytes, public_tree_refusal
from counterplay.tree.public.public_tree import MAX_PIECE

MOST_NODES = 1_000_000
"""Nodes of the betting that are counted one by one."""

Pair = tuple[int, int]


@dataclasses.dataclass(frozen=True)
class Cut:
    """The subgames of one way to divide a game."""

    subgames: int
    # entries of each player in the largest subgame; an upper bound where every first deal keeps some suits alike
    largest: Pair

    @property
    def largest_entries(self) -> int:
        """Entries of both players in the largest subgame."""
        return sum(self.largest)


@dataclasses.dataclass(frozen=True)
class SubgameSizes:
    """The tables of a game and of its subgames."""

    name: str
    infosets: int
    entries: Pair  # of each player, all of them
    trunk_entries: Pair  # those before the first deal
    states: Pair  # public states in which each player acts, after the first deal
    links: int  # bettings of the trunk that are followed by a deal
    first_deals: int
    start_hands: int  # hands before the first deal
    first_hands: int  # hands at all first deals
    cut: Cut  # ours: betting of the trunk and first deal
    later: Cut | None  # one round later: the betting of that round as well; None where it is the last
    tree_bytes: int  # approximate memory of the public tree

    @property
    def total(self) -> int:
        """Entries of both players."""
        return sum(self.entries)

    @property
    def float_bytes(self) -> int:
        """Bytes of one table of 4-byte floats for both players."""
        return 4 * self.total


def subgame_sizes(game: GameDefinition, name: str) -> SubgameSizes:
    """Count a game of poker and its subgames.

    Raises
    ------
    GameError
        If the game has no public tree, nothing is dealt after its start, or the betting before that is too long.
    MemoryLimitError
        If its betting is too large to be counted.
    """
    refusal = public_tree_refusal(game)
    if refusal is not None:
        raise GameError(f"{name} cannot be planned: {refusal}")
    if not sum(game.board_cards):
        raise GameError(f"nothing is dealt in {name} after the start, so it cannot be divided into subgames")
    try:
        betting = build_betting_tree(game, max_nodes=MOST_NODES)
    except MemoryLimitError as error:
        raise MemoryLimitError(
            f"the betting of {name} is too large to be planned ({error.args[0].partition(';')[0]}); plan a limit game, "
            "or one with smaller stacks"
        ) from None
    levels = _Levels(betting)
    if np.count_nonzero(levels.above == 0) > MAX_PIECE:
        raise GameError(f"the betting of {name} before its first deal is too long to be kept apart")
    return _sizes(game, name, levels)


class _Levels:
    """Nodes of the betting by level, the number of deals so far; ``above`` is that of the action before."""

    def __init__(self, betting: BettingTree) -> None:
        self.betting = betting
        level_of = np.cumsum([cards > 0 for cards in betting.game.board_cards])
        self.level: NDArray[np.int64] = level_of[betting.round].astype(np.int64)
        self.above = np.where(betting.parent < 0, 0, self.level[betting.parent])
        self.acting = np.flatnonzero(betting.player != TERMINAL)

    def decisions(self, after: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Decisions and their actions behind each betting that enters a level: (bettings, players, levels).

        Row 0 is what is behind none of them.
        """
        betting = self.betting
        entering = np.flatnonzero((self.level >= after) & (self.above < after))
        row = np.zeros(len(betting), np.int64)
        row[entering] = np.arange(1, len(entering) + 1)
        for node in np.flatnonzero(self.above >= after).tolist():  # parents come before their children
            row[node] = row[betting.parent[node]]
        counts, actions = np.zeros((2, len(entering) + 1, 2, int(self.level.max()) + 1), np.int64)
        here = self.acting
        place = (row[here], betting.player[here], self.level[here])
        np.add.at(counts, place, 1)
        np.add.at(actions, place, betting.num_children[here])
        return counts, actions


def _sizes(game: GameDefinition, name: str, levels: _Levels) -> SubgameSizes:
    rounds = tuple(cards for cards in game.board_cards if cards)
    hands = HandIndexer((game.hole_cards, *rounds), game.ranks, game.suits).sizes
    boards = (1, *HandIndexer(rounds, game.ranks, game.suits).sizes)
    counts, actions = levels.decisions(1)
    totals = actions.sum(axis=0).tolist()
    entries = [_product(one, hands) for one in totals]
    trunk = actions[0].tolist()
    behind = counts[1:].sum(axis=0).tolist()
    later = None
    if len(rounds) > 1:
        number = len(levels.decisions(2)[0]) - 1
        later = Cut(number * boards[1], _largest(game, levels, 2, hands, boards))
    return SubgameSizes(
        name=name,
        infosets=sum(_product(one, hands) for one in counts.sum(axis=0).tolist()),
        entries=(entries[0], entries[1]),
        trunk_entries=(_product(trunk[0], hands), _product(trunk[1], hands)),
        states=(_product(behind[0], boards), _product(behind[1], boards)),
        links=len(counts) - 1,
        first_deals=boards[1],
        start_hands=hands[0],
        first_hands=hands[1],
        cut=Cut((len(counts) - 1) * boards[1], _largest(game, levels, 1, hands, boards)),
        later=later,
        tree_bytes=public_tree_bytes(game),
    )


def _largest(
    game: GameDefinition, levels: _Levels, after: int, hands: tuple[int, ...], boards: tuple[int, ...]
) -> Pair:
    """Entries of each player in the largest subgame: behind a first deal at which no suits are alike."""
    rounds = tuple(cards for cards in game.board_cards if cards)
    left = len(game.deck) - rounds[0]
    most, below = [0, _most(left, game.hole_cards, 1, hands[1])], 1
    for level, cards in enumerate(rounds[1:], 2):
        below *= math.comb(left, cards)
        left -= cards
        most.append(_most(left, game.hole_cards, below, hands[level]))
    actions = levels.decisions(after)[1][1:].tolist()
    sizes = [(_product(first, most), _product(second, most)) for first, second in actions]
    return max(sizes, key=sum)


def _most(left: int, held: int, deals: int, all_hands: int) -> int:
    """Hands at the deals below one first deal, and no more than there are in the game."""
    return min(deals * math.comb(left, held), all_hands)


def _product(counts: list[int], sizes: tuple[int, ...] | list[int]) -> int:
    return sum(count * size for count, size in zip(counts, sizes, strict=True))
