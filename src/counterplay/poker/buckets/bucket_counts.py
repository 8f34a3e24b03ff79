"""Sizes of bucket games, counted from the rules (Johanson 2016, section 5.4, table 5.2).

Every decision of the betting has one information set for each bucket of its round.  Two errors of the thesis are not
repeated: its table 5.2 prints 700 instead of 7,000 information sets for the second round of ten buckets, and so
57,330,780 instead of 57,337,080 in all; and a river bucket costs as much as 708.75 buckets before the flop, not 567.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import TypeAlias

from counterplay.errors import AbstractionError
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.betting import BettingCounts, count_betting
from counterplay.poker.raise_sizes import BetAbstraction

Points: TypeAlias = Sequence[Sequence[int]]
"""Numbers by player and round."""


@dataclasses.dataclass(frozen=True)
class BucketGameSize:
    """The size of a bucket game."""

    betting: BettingCounts  # the betting tree
    buckets: tuple[tuple[int, ...], ...]  # buckets by player and round; sequences of them where they are remembered
    # parts of the betting with other buckets: their decisions and pairs by player and round, and their buckets
    experts: tuple[tuple[Points, Points, tuple[tuple[int, ...], ...]], ...] = ()

    @property
    def infosets_by_round(self) -> tuple[int, ...]:
        """Information sets of all players."""
        return self._by_round(self.betting.player_decisions, 0)

    @property
    def entries_by_round(self) -> tuple[int, ...]:
        """Pairs of an information set and an action."""
        return self._by_round(self.betting.player_pairs, 1)

    @property
    def infosets(self) -> int:
        """Information sets of all players in all rounds."""
        return sum(self.infosets_by_round)

    @property
    def entries(self) -> int:
        """Pairs of an information set and an action in all rounds."""
        return sum(self.entries_by_round)

    @property
    def tree_bytes(self) -> int:
        """Approximate peak of memory while the betting tree is laid out for walks."""
        return self.betting.nodes * (20 + 4 * len(self.buckets) + 4 + 16 + 40)

    def table_bytes(self, per_entry: int = 16) -> int:
        """Memory of the tables: 16 bytes for regret and average as float64, 4 for Pure CFR without an average."""
        return per_entry * self.entries

    def _by_round(self, points: Points, which: int) -> tuple[int, ...]:
        rows = [_products(points, self.buckets)]
        for expert in self.experts:
            rows.append(_products(expert[which], expert[2]))
            rows.append(tuple(-number for number in _products(expert[which], self.buckets)))
        return tuple(map(sum, zip(*rows, strict=True)))


def _products(points: Points, buckets: Points) -> tuple[int, ...]:
    """Decisions or pairs times buckets, by round."""
    rows = [[count * kinds for count, kinds in zip(*pair, strict=True)] for pair in zip(points, buckets, strict=True)]
    return tuple(map(sum, zip(*rows, strict=True)))


def count_bucket_game(
    game: GameDefinition, buckets: Sequence[int] | Sequence[Sequence[int]], bets: BetAbstraction | None = None
) -> BucketGameSize:
    """The size of a game with given numbers of buckets by round, for all players or for each.

    Raises AbstractionError if there is not one number for each round; MemoryLimitError if the betting is too large to
    be counted; use a betting abstraction.
    """
    rows = [row if isinstance(row, Sequence) else () for row in buckets]
    each = [tuple(row) for row in rows] if any(rows) else [tuple(buckets)] * game.players
    for row in each:
        if len(row) != game.rounds:
            raise AbstractionError(f"the game has {game.rounds} rounds; got buckets for {len(row)}: {row}")
    return BucketGameSize(count_betting(game, bets), tuple(each))  # type: ignore[arg-type]


def deals_by_round(game: GameDefinition) -> tuple[int, ...]:
    """Numbers of deals of all hole cards and the board so far, by round."""
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
    """Game states: decision points by deal; with ``all_nodes`` also terminal nodes, ends of rounds, and chance.

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
