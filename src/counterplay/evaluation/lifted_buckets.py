"""A strategy of a bucket game, lifted to the public tree of the real game.

It plays equally wherever betting and bucket are the same (Johanson 2016, section 1.2), so its exploitability in the
real game follows from the accelerated best response: exact for games whose public tree fits into memory.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterplay.abstraction.cards import deck_shape
from counterplay.errors import GameError, StrategyError
from counterplay.evaluation.measurement import Measurement
from counterplay.evaluation.public_walker import PublicWalker
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.buckets.bucket_counts import count_bucket_game
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.buckets.hand_lookup import hand_buckets
from counterplay.poker.cards import parse_cards
from counterplay.poker.isomorphism import HandIndexer
from counterplay.poker.rules import Betting
from counterplay.runtime.memory import check_memory
from counterplay.runtime.number_text import figure
from counterplay.strategy.bucket_strategy import BucketStrategy
from counterplay.strategy.public_lookup import normalised
from counterplay.tree.public.public_tree import PublicTree

PUBLIC_INFOSETS = 200_000_000
"""Real games with more information sets, up to suits, are not measured exactly."""

BYTES = 24
"""Memory for each information set: tables of both players and vectors of the walk."""


class LiftedStrategy:
    """A ``BucketStrategy`` with the bets of the real game as a strategy of public states: a ``HandStrategy``."""

    def __init__(self, profile: BucketStrategy) -> None:
        if profile.abstract.bets is not None:
            raise StrategyError("with abstract bets the real game has other actions; its public tree does not fit")
        self.profile = profile
        self._nodes: dict[str, int] = {}
        self._buckets: dict[tuple[int, str, int], NDArray[np.int64]] = {}  # trees may number deals differently

    def __repr__(self) -> str:
        """A fingerprint of the strategy, for the files of interrupted evaluations."""
        weights = hashlib.sha256(np.ascontiguousarray(self.profile.weights).tobytes()).hexdigest()
        return f"LiftedStrategy({self.profile.abstract.fingerprint}, {weights})"

    def matrix(self, tree: PublicTree, node: int, deal: int) -> NDArray[np.float64]:
        """The probabilities at a public state: hands x actions."""
        game, text, player = self.profile.abstract, tree.node_text[node], int(tree.kind[node])
        if text not in self._nodes:
            self._nodes[text] = game.tree.find(Betting.after(game.definition, text))
        hands = tree.hands[player]
        key = player, tree.deal_text[deal], hands.count(deal)
        if key not in self._buckets:
            holes = hands.card[hands.slice(deal)][:, : game.definition.hole_cards].astype(np.uint8)
            board = np.array(parse_cards(tree.deal_text[deal]), np.uint8)
            self._buckets[key] = hand_buckets(game, player, holes, board)[-1]
        place = self._nodes[text]
        first = game.entry(place, 0) + self._buckets[key] * (game.entry(place, 1) - game.entry(place, 0))
        entries = first[:, None] + np.arange(int(tree.num_children[node]))
        return normalised(self.profile.weights[entries].astype(np.float64).T).T


class RealGame:
    """The real game of a bucket game, to measure many profiles: the bucket of each of its hands is looked up once.

    Parameters
    ----------
    game : BucketGame
        Its bets must be those of the real game.
    tree : PublicTree
        The real game.
    kind : type
        Of the tables, ``float64`` or ``float32``, which takes half the memory.
    threads : int
        Threads of a walk.
    """

    def __init__(self, game: BucketGame, tree: PublicTree, kind: Any = np.float64, threads: int = 1) -> None:
        if game.bets is not None:
            raise StrategyError("with abstract bets the real game has other actions; its public tree does not fit")
        self.game, self.tree = game, tree
        self._walker = PublicWalker(tree, threads)
        self._tables = np.zeros(tree.num_entries[0], kind), np.zeros(tree.num_entries[1], kind)
        self._buckets = self._hand_buckets(0), self._hand_buckets(1)
        self._node = {
            node: game.tree.find(Betting.after(game.definition, tree.node_text[node]))
            for node in np.flatnonzero(tree.kind < 2).tolist()
        }

    def _hand_buckets(self, player: int) -> NDArray[np.int32]:
        """The bucket of every class of hands at every deal."""
        hands, wide = self.tree.hands[player], self.game.definition.hole_cards
        found = np.zeros(int(hands.start[-1]), np.int32)
        for deal, text in enumerate(self.tree.deal_text):
            here = hands.slice(deal)
            board = np.array(parse_cards(text), np.uint8)
            found[here] = hand_buckets(self.game, player, hands.card[here, :wide].astype(np.uint8), board)[-1]
        return found

    def tables(self, strategy: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """The tables of both players for weights of the bucket game; overwritten by the next call."""
        tree = self.tree
        for player, table in enumerate(self._tables):
            start = tree.hands[player].start
            count = np.diff(start)
            for node in np.flatnonzero(tree.kind == player).tolist():
                deals = slice(int(tree.deal_low[node]), int(tree.deal_high[node]))
                actions, place = int(tree.num_children[node]), self._node[node]
                rows = self._rows(strategy, place, actions).astype(table.dtype)
                here = slice(int(start[deals.start]), int(start[deals.stop]))
                bucket = self._buckets[player][here]
                # entry of action a: base + A * start[deal] + a * hands + hand
                first = np.arange(here.start, here.stop) + np.repeat((actions - 1) * start[deals], count[deals])
                step = np.repeat(count[deals], count[deals])
                for action in range(actions):
                    table[int(tree.base[node]) + first + action * step] = rows[action][bucket]
        return self._tables

    def _rows(self, strategy: NDArray[Any], place: int, actions: int) -> NDArray[np.float64]:
        """The probabilities at a decision of the betting tree: actions x buckets."""
        game = self.game
        slot = game.slot_of(place)
        first = game.entry(place, 0) + int(game.slot_width[slot]) * np.arange(int(game.slot_buckets[slot]))
        return normalised(strategy[first + np.arange(actions)[:, None]].astype(np.float64))

    def measure(self, strategy: NDArray[Any], valued: bool = True) -> Measurement:
        """Value and best responses of a profile, given by weights of all entries of the bucket game.

        ``valued`` is whether to compute the value too; see ``PublicWalker.measure``.
        """
        if strategy.shape != (self.game.num_entries,):
            raise StrategyError(f"{self.game.name} has {self.game.num_entries} entries; got {strategy.shape}")
        return self._walker.measure(self.tables(strategy), valued=valued)


def real_infosets(game: GameDefinition) -> int:
    """Information sets of the real game up to suits, counted before anything is built."""
    deck, shape = deck_shape(game)
    return count_bucket_game(game, HandIndexer(shape, *deck).sizes).infosets


def check_real_game(game: BucketGame, memory_limit: int | None = None) -> None:
    """Refuse bucket games whose real game has no public tree, or one that is too large."""
    if game.players != 2:
        raise GameError(f"best responses in the real game are for two players; {game.name} has {game.players}")
    if game.bets is not None:
        raise GameError("the real game has other bets than the bucket game")
    number = real_infosets(game.definition)
    if number > PUBLIC_INFOSETS:
        raise GameError(f"the real game has {figure(number, 3)} information sets, too many for an exact best response")
    check_memory(f"the public tree of {game.name}", BYTES * number, memory_limit, "measure inside the bucket game")
