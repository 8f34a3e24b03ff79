"""Logs of bucket games of two players, counted in batches by kernels; lines that these do not know are handed back.

``modelling.hand_counts`` is the slow twin: it counts what is handed back, and every line that is counted here it would
count equally.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from counterplay.kernels.buckets.deal_batches import gather_hands, look_up
from counterplay.kernels.buckets.log_lines import NOTHING, READ, UNKNOWN, Hands, LogTables, add_decisions, read_lines
from counterplay.kernels.cards.evaluator import rank_hands
from counterplay.kernels.cards.isomorphism import index_hands
from counterplay.kernels.numba_internals import hold
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.buckets.deal_sampler import plain_tables
from counterplay.poker.cards import card_text
from counterplay.poker.three_cards import showdown_tables

NO_CARD = 255
REPLACED = "\ufffd"
"""What stands in a text for bytes that are none; a name with it cannot be compared as bytes."""


class LogBatches:
    """Counts what an opponent did in lines of a log; ``counts`` are added to."""

    def __init__(self, game: BucketGame, names: Sequence[str], counts: NDArray[np.int64]) -> None:
        rules, tree = game.definition, game.tree
        self.game = game
        self.counts = counts
        card = np.full((256, 256), NO_CARD, np.uint8)
        for number in rules.deck:
            rank, suit = card_text(number).encode()
            card[rank, suit] = number
        board = np.array(rules.board_cards, np.int64)
        self._tables = LogTables(
            tree.player, tree.round, tree.first_child, tree.num_children, tree.action, board, card, int(rules.limit),
            rules.hole_cards,
        )  # fmt: skip
        words = [name.encode() for name in names]
        self._names = np.frombuffer(b"".join(words), np.uint8)
        self._name_start = np.cumsum([0, *map(len, words)], dtype=np.int64)
        self._buckets = plain_tables(game)
        self._ranking = showdown_tables(rules)
        self._paid = tree.spent.min(axis=1).astype(np.int64)  # what the loser pays
        self._showdown = tree.showdowns()

    @staticmethod
    def fits(game: object, names: Sequence[str]) -> bool:
        """Whether logs of a form of a game can be counted here, for opponents with these names."""
        if not isinstance(game, BucketGame) or game.players != 2 or game.definition.board_cards[0] or game.zones:
            return False
        return not any(REPLACED in name for name in names)

    def count(self, block: bytes) -> tuple[int, int, int, int, list[tuple[int, bytes]]]:
        """Count lines, each of which ends with a newline.

        Returns
        -------
        lines, read, hands, unseen : int
            Lines; hands that were read; those in which the opponent plays; its decisions without known cards.
        left : list of (int, bytes)
            The lines that must be read otherwise, and their numbers, from 0.
        """
        text = np.frombuffer(block, np.uint8)
        hands = self._empty(block.count(b"\n"), len(text))
        held = hold(hands)
        lines, decisions = read_lines(hold(self._tables), text, self._names, self._name_start, held)
        self._check_values(hands)
        add = hold(self._tables), held, decisions, self._bucket(hands)
        unseen = add_decisions(*add, self.game.slot_start, self.game.slot_width, self.game.node_offset, self.counts)
        fine = hands.kind == READ
        unknown = np.flatnonzero(hands.kind == UNKNOWN).tolist()
        left = [(line, block[hands.start[line] : hands.end[line]]) for line in unknown]
        return int(lines), int(fine.sum()), int((fine & hands.sits.any(axis=1)).sum()), int(unseen), left

    def _empty(self, lines: int, most: int) -> Hands:
        cards = self.game.definition.cards_dealt
        return Hands(
            start=np.zeros(lines, np.int64), end=np.zeros(lines, np.int64), kind=np.full(lines, NOTHING, np.uint8),
            cards=np.zeros((lines, cards), np.uint8), shown=np.zeros((lines, 2), np.bool_),
            sits=np.zeros((lines, 2), np.bool_), last=np.zeros(lines, np.int32), value=np.zeros((lines, 2), np.int64),
            row=np.empty(most, np.int32), node=np.empty(most, np.int32), move=np.empty(most, np.int32),
        )  # fmt: skip

    def _check_values(self, hands: Hands) -> None:
        """Hand back the hands whose values do not follow from betting and cards, or cannot be computed."""
        kind, last, value = hands.kind, hands.last, hands.value
        paid, shows = self._paid[last], self._showdown[last]
        won = np.where(self.game.tree.folded[last] == 1, -paid, paid)  # by the first position, if the other folds
        rows = np.flatnonzero(shows & (kind == READ) & hands.shown.all(axis=1))
        ranks = np.stack([self._ranks(hands.cards[rows], position) for position in range(2)]).astype(np.int64)
        won[rows] = paid[rows] * np.sign(ranks[0] - ranks[1])
        wrong = (value[:, 0] != won) | (value[:, 1] != -won) | (shows & ~hands.shown.all(axis=1))
        kind[wrong & (kind == READ)] = UNKNOWN

    def _ranks(self, cards: NDArray[np.uint8], position: int) -> NDArray[np.uint16]:
        rules = self.game.definition
        hands = np.empty((len(cards), rules.hole_cards + rules.board_ends[-1]), np.uint8)
        gather_hands(cards, position * rules.hole_cards, rules.hole_cards, 2 * rules.hole_cards, hands)
        rank = np.empty(len(cards), np.uint16)
        rank_hands(self._ranking, hands, rank)
        return rank

    def _bucket(self, hands: Hands) -> NDArray[np.int64]:
        """The buckets of the opponent's known hands, by line, position and round."""
        rules = self.game.definition
        found = np.zeros((len(hands.kind), 2, rules.rounds), np.int64)
        turn_of = self.game.tree.round[hands.last]
        for position in range(2):
            known = (hands.kind == READ) & hands.sits[:, position] & hands.shown[:, position]
            for turn, (numbering, table, cuts) in enumerate(self._buckets[position]):
                rows = np.flatnonzero(known & (turn_of >= turn))
                seen = np.empty((len(rows), rules.hole_cards + rules.board_ends[turn]), np.uint8)
                gather_hands(
                    hands.cards[rows], position * rules.hole_cards, rules.hole_cards, 2 * rules.hole_cards, seen
                )
                index = np.empty(len(rows), np.int64)
                index_hands(numbering, seen, index)
                bucket = found[rows, position, turn - 1]  # of the round before; of the first round there is none
                look_up(index, table, cuts, bucket)
                found[rows, position, turn] = bucket
        return found
