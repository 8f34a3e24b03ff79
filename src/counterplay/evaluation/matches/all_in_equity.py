"""Equities of all hands against a known one, in every round of a hand of poker: how often they win if nothing is bet.

The *edge* of a hand is twice its equity less 1: +1 for a sure winner, 0 for a tie.  Given both hands it is a
martingale: its mean over the cards to come is its value now, which makes luck easy to measure (Johanson 2016, section
7.2.3, for bet-call DIVAT).

Ranks are computed once for all boards that can follow the first cards on the table, up to a renaming of suits, and
every question about such a hand is answered by comparing ranks.  Equities before there is a board are those of all
pairs of hands, summed over all boards; they are computed once for a deck and kept in the user's cache folder.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError
from counterplay.evaluation.matches.game_hands import GameHands
from counterplay.kernels.cards.win_counts import add_pairs, add_wins
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.isomorphism import HandIndexer
from counterplay.runtime.array_cache import cached_arrays, default_cache
from counterplay.runtime.progress import Progress, ProgressCallback
from counterplay.storage import Arrays

Float64 = NDArray[np.float64]

KIND = "all-in-equities"

BOARDS = 32
"""First boards whose ranks are kept, 3 MB each in hold'em."""


class AllInEquity(GameHands):
    """Edges of hands of a two-player poker game."""

    def __init__(self, rules: GameDefinition, progress: ProgressCallback | None = None) -> None:
        if rules.players != 2 or rules.hole_cards > 2:
            raise GameError("equities are for two players with one or two hole cards each")
        super().__init__(rules)
        self.progress = progress
        self.first = next((end for end in rules.board_ends if end), 0)
        # the first cards on the table with other suits, the same for all that differ by suits, and which renaming it is
        self.renamed = functools.lru_cache(maxsize=1 << 15)(self._renamed)
        self._runouts = functools.lru_cache(maxsize=BOARDS)(self.runouts)

    def edges(self, other: int, board: Sequence[int]) -> list[Float64]:
        """The edges of all hands against one, in each round that a board reaches; of no use for impossible hands."""
        found = [self.pairs[other]] * self._bare(len(board))
        ends = [end for end in self.rules.board_ends[len(found) :] if end <= len(board)]
        return found + (self._on_board(other, board, ends) if ends else [])

    def _on_board(self, other: int, board: Sequence[int], ends: Sequence[int]) -> list[Float64]:
        """The same in the rounds that have a board."""
        first, best = self.renamed(tuple(board[: self.first]))
        runouts, renamed = self._runouts(first), self.names.hand[best]
        found = []
        for end in ends:
            dealt = np.uint64(sum(1 << int(self.names.card[best, card]) for card in board[self.first : end]))
            count = np.zeros(len(self.holes), np.uint16)
            add_wins(runouts.rank, np.flatnonzero(runouts.cards & dealt == dealt), int(renamed[other]), count)
            found.append(count[renamed] / self._boards(end) - 1.0)
        return found

    def _renamed(self, board: tuple[int, ...]) -> tuple[tuple[int, ...], int]:
        image = np.sort(self.names.card[:, list(board)], axis=1)
        best = int(np.lexsort(image.T[::-1])[0]) if board else 0
        return tuple(image[best].tolist()), best

    def _boards(self, end: int) -> int:
        """How many boards can follow when both hands are known."""
        return math.comb(len(self.rules.deck) - 2 * self.rules.hole_cards - end, self.total - end)

    def edge(self, own: Sequence[int], other: Sequence[int], board: Sequence[int]) -> list[float]:
        """The edge of one hand, by its cards, against another in each round; ``edges`` is for all hands at once."""
        found = [float(self.pairs[self.number(sorted(other)), self.number(sorted(own))])] * self._bare(len(board))
        for end in self.rules.board_ends[len(found) :]:
            if end > len(board):
                break
            rank = self.ranked(board[:end], np.array([own, other], np.uint8), (*own, *other)).rank.astype(np.int64)
            found.append(float(np.sign(rank[:, 0] - rank[:, 1]).mean()))
        return found

    def _bare(self, cards: int) -> int:
        """In how many rounds there is no board, of those that a number of board cards reaches."""
        return sum(end == 0 for end in self.rules.board_ends if end <= cards)

    @functools.cached_property
    def pairs(self) -> Float64:
        """The edge of the second of two hands against the first before there is a board: (H, H)."""
        folder, rules = default_cache(), self.rules
        three = "-three" if rules.three_card_hands else ""
        name = f"all-in-{rules.ranks}x{rules.suits}-{rules.hole_cards}-{self.first}-{self.total}{three}.equities"
        small = math.comb(len(rules.deck), self.total) < 100_000
        count = (
            self._count_pairs()
            if folder is None or small
            else cached_arrays(folder / name, KIND, lambda: {"count": self._count_pairs()}, self._check)["count"]
        )
        return np.asarray(count / self._boards(0) - 1.0)

    def _check(self, arrays: Arrays) -> None:
        if arrays["count"].shape != (len(self.holes),) * 2 or arrays["count"].dtype != np.int32:
            raise ValueError("equities of another deck")

    def _count_pairs(self) -> NDArray[np.int32]:
        """Twice the number of boards on which the second of two hands wins, and those of ties: (H, H)."""
        size = len(self.holes)
        count = np.zeros((size, size), np.int64)
        indexer = HandIndexer((self.first,), self.rules.ranks, self.rules.suits) if self.first else None
        boards = [()] if indexer is None else indexer.hands(np.arange(indexer.size())).tolist()
        orbits = [1] if indexer is None else indexer.orbits(np.arange(indexer.size())).tolist()
        for number, (board, weight) in enumerate(zip(boards, orbits, strict=True)):
            live = np.flatnonzero(self.free(*board))
            rank = np.ascontiguousarray(self.runouts(tuple(board)).rank[:, live])
            add_pairs(rank, live, weight, self._boards(self.first), count, np.empty(len(live), np.uint16))
            if self.progress is not None:
                self.progress(Progress(number + 1, total=len(boards), stage="boards, once for this deck"))
        every = np.zeros_like(count)  # boards that differ by a renaming of suits were counted once
        for renamed in self.names.hand:
            every += count[np.ix_(renamed, renamed)]
        return (every // (len(self.names.hand) * math.comb(self.total, self.first))).astype(np.int32)


@functools.lru_cache(maxsize=4)
def _equity(rules: GameDefinition) -> AllInEquity:
    return AllInEquity(rules)


def game_equity(rules: GameDefinition, progress: ProgressCallback | None = None) -> AllInEquity:
    """The equities of a game; computed once."""
    found = _equity(rules)
    found.progress = progress
    return found


@functools.lru_cache(maxsize=4)
def game_hands(rules: GameDefinition) -> GameHands:
    """The hands of a game; computed once, and of two players with their equities."""
    return game_equity(rules) if rules.players == 2 else GameHands(rules)
