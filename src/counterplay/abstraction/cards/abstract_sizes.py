"""How large an abstract game is, before anything is built (Johanson 2016, section 5.4, table 5.2).

Every point of the betting where somebody acts has one information set for each bucket of its round.  Two slips of the
thesis are not made again: its table 5.2 prints 700 instead of 7,000 information sets for the second round of ten
buckets, and so 57,330,780 instead of 57,337,080 in all; and a river bucket costs as much as 708.75 buckets before the
flop, not 567.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from counterplay.errors import AbstractionError
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.betting import BettingCounts, count_betting
from counterplay.poker.raise_sizes import BetAbstraction

__all__ = ["AbstractSize", "abstract_size", "count_states", "deals_by_round"]


@dataclasses.dataclass(frozen=True)
class AbstractSize:
    """How large a game with buckets is.  All tuples are by round.

    Attributes
    ----------
    buckets : tuple of int
        Buckets; sequences of them where they are remembered.
    decisions, pairs : tuple of int
        Points of the betting where somebody acts, and actions at them in all.
    """

    buckets: tuple[int, ...]
    decisions: tuple[int, ...]
    pairs: tuple[int, ...]

    @property
    def infosets(self) -> tuple[int, ...]:
        """Information sets of all players."""
        return tuple(points * count for points, count in zip(self.decisions, self.buckets, strict=True))

    @property
    def entries(self) -> tuple[int, ...]:
        """Pairs of an information set and an action."""
        return tuple(points * count for points, count in zip(self.pairs, self.buckets, strict=True))

    def bytes(self, per_entry: int = 16) -> int:
        """Memory of the tables: 16 bytes for regret and average as float64, 4 for Pure CFR without an average."""
        return per_entry * sum(self.entries)


def abstract_size(game: GameDefinition, buckets: Sequence[int], bets: BetAbstraction | None = None) -> AbstractSize:
    """The size of a game when each round has so many buckets.

    Raises
    ------
    AbstractionError
        If there is not one number for each round.
    MemoryLimitError
        If the betting is too large to be counted; give an abstraction of the bets.
    """
    if len(buckets) != game.rounds:
        raise AbstractionError(f"the game has {game.rounds} rounds; got buckets for {len(buckets)}: {tuple(buckets)}")
    counts = count_betting(game, bets)
    return AbstractSize(tuple(buckets), counts.decisions, counts.pairs)


def deals_by_round(game: GameDefinition) -> tuple[int, ...]:
    """How many deals of all hole cards and the board so far there are, by round."""
    left, deals = game.ranks * game.suits, 1
    for _ in range(game.players):
        deals *= math.comb(left, game.hole_cards)
        left -= game.hole_cards
    found = []
    for cards in game.board_cards:
        deals *= math.comb(left, cards)
        left -= cards
        found.append(deals)
    return tuple(found)


def count_states(counts: BettingCounts, deals: Sequence[int], all_nodes: bool = False) -> int:
    """Game states: decision points by deal; with ``all_nodes`` also ends of rounds and hands, and chance.

    Johanson 2016 has both: 3.16e17 states of heads-up limit hold'em (chapter 9) are its decisions, 9.17e17 (chapters 2
    and 6) count every node of the betting, and two of chance wherever a round begins.
    """
    if not all_nodes:
        return sum(points * number for points, number in zip(counts.decisions, deals, strict=True))
    total = 0
    entering = 1
    for turn, number in enumerate(deals):
        nodes = counts.decisions[turn] + counts.folds[turn] + counts.showdowns[turn] + counts.continuing[turn]
        total += number * (nodes + 2 * entering)
        entering = counts.continuing[turn]
    return total
