"""A strategy of a bucket game, lifted to the public tree of the real game.

It plays equally wherever betting and bucket are the same (Johanson 2016, section 1.2), so its exploitability in the
real game follows from the accelerated best response: exact for games whose public tree fits into memory.
"""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from counterplay.abstraction.cards import deck_shape
from counterplay.errors import GameError, StrategyError
from counterplay.evaluation.measurement import Measurement
from counterplay.evaluation.public_walker import PublicWalker
from counterplay.evaluation.public_walks import (
    NO_RESPONSE,
    NO_ROWS,
    BucketRows,
    Opponent,
    PublicWalks,
    leaf_lanes,
    plain_tables,
)
from counterplay.kernels.numba_internals import WIDE, hold, row_space
from counterplay.kernels.public.bucketed_hands import ANY_ACTION, learn_from_leaves
from counterplay.kernels.public.piece_steps import RESPONSE, UPDATE, Rule, Tables
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
from counterplay.strategy.joint_buckets import joint_buckets
from counterplay.strategy.public_lookup import normalised
from counterplay.strategy.public_strategy import PublicStrategy
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
    """The real game of a bucket game, in which players play by buckets: the bucket of each hand is looked up once.

    Parameters
    ----------
    game : BucketGame
        Its bets must be those of the real game.
    tree : PublicTree
        The real game.
    kind : type
        Of the vectors over hands, ``float64`` or ``float32``.
    threads : int
        Threads of a walk.
    """

    def __init__(self, game: BucketGame, tree: PublicTree, kind: Any = np.float64, threads: int = 1) -> None:
        if game.bets is not None:
            raise StrategyError("with abstract bets the real game has other actions; its public tree does not fit")
        self.game, self.tree, self.kind = game, tree, np.dtype(kind)
        self.rows = bucket_rows(game, tree, 0), bucket_rows(game, tree, 1)
        self._walker = PublicWalker(tree, threads, kind=kind, rows=self.rows)
        self._one_sided: dict[int, PublicWalks] = {}

    def measure(self, strategy: NDArray[Any], valued: bool = True) -> Measurement:
        """Value and best responses of a profile, given by weights of all entries of the bucket game.

        ``valued`` is whether to compute the value too; see ``PublicWalker.measure``.
        """
        table = self.table(strategy)
        return self._walker.measure((self._shares(0, table), self._shares(1, table)), valued=valued)

    def respond(self, player: int, table: NDArray[Any], response: NDArray[np.uint8]) -> float:
        """What the best response of a player to a ``table`` wins; ``response`` takes the action of each hand.

        Where the opponent never lets the player act, it is ANY_ACTION.
        """
        response.fill(ANY_ACTION)
        walker, shares = self._walker, self._shares(1 - player, table)
        own = plain_tables(shares[:0], walker.ones(player))._replace(response=response, learned=np.zeros(0))
        return walker.total(player, walker.walk(player, RESPONSE, hold(own), Opponent(shares)))

    def answer(
        self,
        player: int,
        table: NDArray[Any],
        opponent: NDArray[np.uint8] | Opponent | None,
        rule: Rule,
        regret: NDArray[np.float64],
        average: NDArray[np.float64],
    ) -> None:
        """Add what a player who plays a ``table`` regrets against an opponent, and what he plays, by bucket.

        The opponent plays a response of ``respond``, tables of the real game, or the same ``table`` (None).  Of
        ``rule`` the weight of what is played in the average matters, and the tie of the opponent's tables; an empty
        ``average`` takes nothing.
        """
        rows, tree, shares = self.rows[player], self.tree, self._shares(player, table)
        sums, played, response = row_space(-(-rows.num_sums // WIDE)), Opponent(shares[:0]), NO_RESPONSE
        walker: PublicWalks = self._walker
        if isinstance(opponent, Opponent):
            walker, played = self._beside(player), opponent
        elif opponent is None:
            played = Opponent(self._shares(1 - player, table))
        else:
            response = opponent
        own = plain_tables(shares, walker.ones(player))._replace(response=response, learned=sums)
        rule = rule._replace(weight=rule.weight if len(average) else 0.0)
        walker.walk(player, UPDATE, hold(own), played, rule=rule)
        learn_from_leaves(
            tree.kind, tree.first_child, tree.num_children, tree.piece_size, player, rows.row, rows.wide, rows.buckets,
            rows.leaf, rows.entered, table, sums, rule.weight, regret, average,
        )  # fmt: skip

    def oppose(self, player: int, table: NDArray[Any], tables: Tables, rule: Rule) -> None:
        """Update the tables of the real game of the opponent of a player who plays a ``table``."""
        self._beside(player).walk(1 - player, UPDATE, tables, Opponent(self._shares(player, table)), rule=rule)

    def _beside(self, player: int) -> PublicWalks:
        """Walks in which only this player plays by buckets."""
        if player not in self._one_sided:
            rows = (self.rows[0], NO_ROWS) if player == 0 else (NO_ROWS, self.rows[1])
            self._one_sided[player] = PublicWalks(self.tree, self._walker.threads, kind=self.kind, rows=rows)
        return self._one_sided[player]

    def responses(self, player: int) -> int:
        """Number of pairs of a hand and a public state where a player acts."""
        tree, start = self.tree, self.tree.hands[player].start
        nodes = np.flatnonzero(tree.kind == player)
        return int((start[tree.deal_high[nodes]] - start[tree.deal_low[nodes]]).sum())

    def table(self, strategy: NDArray[Any]) -> NDArray[Any]:
        """The probabilities of a profile."""
        if strategy.shape != (self.game.num_entries,):
            raise StrategyError(f"{self.game.name} has {self.game.num_entries} entries; got {strategy.shape}")
        return BucketStrategy.of_game(self.game, strategy).strategy().astype(self.kind)

    def _shares(self, player: int, table: NDArray[Any]) -> NDArray[Any]:
        return self.rows[player].shares(self.tree, player, table, self.kind)


class TablePlayer(NamedTuple):
    """A strategy as walks over the real game take it, by seat: how it plays by buckets, and its tables."""

    rows: tuple[BucketRows, BucketRows]
    tables: tuple[NDArray[Any], NDArray[Any]]


class HeadToHead:
    """Exact values between strategies of one real game, by the buckets of different bucket games or by hands.

    Parameters
    ----------
    tree : PublicTree
        The real game, two players.
    kind : type
        Of the vectors over hands, ``float64`` or ``float32``.
    threads : int
        Threads of a walk.
    """

    def __init__(self, tree: PublicTree, kind: Any = np.float64, threads: int = 1) -> None:
        self.tree, self.kind = tree, np.dtype(kind)
        self._rows: dict[str, tuple[BucketRows, BucketRows]] = {}
        self._walker = PublicWalker(tree, threads, kind=kind, rows=(NO_ROWS, NO_ROWS))

    def player(self, strategy: BucketStrategy | PublicStrategy) -> TablePlayer:
        """A strategy as ``value`` takes it; the buckets of all hands are looked up once for each bucket game."""
        if isinstance(strategy, PublicStrategy):
            one, two = (table.astype(self.kind) for table in strategy.for_tree(self.tree))
            return TablePlayer((NO_ROWS, NO_ROWS), (one, two))
        strategy = joint_buckets(strategy)
        game = strategy.abstract
        if game.bets is not None:
            raise StrategyError("with abstract bets the real game has other actions; its public tree does not fit")
        if game.fingerprint not in self._rows:
            first, second = (bucket_rows(game, self.tree, seat)._replace(mass=NO_ROWS.mass) for seat in (0, 1))
            self._rows[game.fingerprint] = first, second  # values need no masses
        first, second = self._rows[game.fingerprint]
        table = strategy.strategy()
        shares = first.shares(self.tree, 0, table, self.kind), second.shares(self.tree, 1, table, self.kind)
        return TablePlayer((first, second), shares)

    def value(self, seat: int, own: TablePlayer, other: TablePlayer) -> float:
        """What a strategy wins in a seat from another in the other seat, in chips per game."""
        players = (own, other) if seat == 0 else (other, own)
        self._walker.load(self.tree, rows=(players[0].rows[0], players[1].rows[1]))
        return self._walker.value(seat, own.tables[seat], other.tables[1 - seat])

    def mean(self, own: TablePlayer, other: TablePlayer) -> float:
        """What a strategy wins from another, in chips per game, when each has either seat equally often."""
        return (self.value(0, own, other) + self.value(1, own, other)) / 2


def bucket_rows(game: BucketGame, tree: PublicTree, player: int) -> BucketRows:
    """How a player of the real game plays by the buckets of a bucket game."""
    return BucketRows(*deal_buckets(game, tree, player), *bucket_places(game, tree, player))


def bucket_places(game: BucketGame, tree: PublicTree, player: int) -> tuple[NDArray[np.int64], ...]:
    """The fields of ``BucketRows`` about nodes: where a player's entries, shares, sums and responses lie."""
    row, step, buckets, leaf, entered, response_at = np.zeros((6, tree.num_nodes), np.int64)
    mine, start = np.flatnonzero(tree.kind == player), tree.hands[player].start
    for node in mine.tolist():
        place = game.tree.find(Betting.after(game.definition, tree.node_text[node]))
        row[node], step[node] = game.entry(place, 0), game.entry(place, 1) - game.entry(place, 0)
    shares, roots = 0, np.flatnonzero(tree.piece_size)
    for root in roots.tolist():
        board = len(parse_cards(tree.deal_text[tree.deal_low[root]]))
        turn = sum(end <= board for end in game.definition.board_ends) - 1
        count = game.buckets[player][turn].count
        buckets[root : root + int(tree.piece_size[root])] = count
        for leaves in leaf_lanes(tree, root):
            number = np.arange(len(leaves))
            leaf[leaves] = shares + number // WIDE * WIDE * count + number % WIDE
            shares += -(-len(leaves) // WIDE) * WIDE * count
    entered[roots] = shares + np.cumsum(buckets[roots]) - buckets[roots]
    size = start[tree.deal_high[mine]] - start[tree.deal_low[mine]]
    response_at[mine] = np.cumsum(size) - size - start[tree.deal_low[mine]]
    return row, step, buckets, leaf, entered, response_at


def deal_buckets(game: BucketGame, tree: PublicTree, player: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """The bucket of each class of hands of a player at every deal, and how likely hand and deal are."""
    hands, wide = tree.hands[player], game.definition.hole_cards
    bucket, mass = np.zeros(int(hands.start[-1]), np.int32), np.zeros(int(hands.start[-1]))
    mass[hands.slice(0)] = hands.root_weight
    for deal, text in enumerate(tree.deal_text):
        here = hands.slice(deal)
        board = np.array(parse_cards(text), np.uint8)
        bucket[here] = hand_buckets(game, player, hands.card[here, :wide].astype(np.uint8), board)[-1]
        if deal:
            above = int(hands.start[tree.deal_parent[deal]]) + hands.parent[here].astype(np.int64)
            mass[here] = mass[above] * float(tree.deal_weight[deal]) * hands.multiplicity[here]
            mass[here] /= hands.multiplicity[above]
    return bucket, mass


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
