"""What a strategy does with every private hand at each decision of a hand of poker.

A strategy of a bucket game with the bets of the real game is looked up in its table, all hands at once; any other one
by the names of its infosets, hand by hand, which is slow in games with many hands.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError, StrategyError
from counterplay.forms import open_game
from counterplay.game.game import TERMINAL
from counterplay.poker.acpc.dealing import Deal
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.acpc.infoset_names import LETTERS, namer, same_rules
from counterplay.poker.acpc.match_state import MatchState
from counterplay.poker.betting import BettingTree, build_betting_tree
from counterplay.poker.buckets.hand_lookup import hand_buckets
from counterplay.poker.cards import parse_cards
from counterplay.poker.rules import Betting
from counterplay.strategy.bucket_strategy import BucketStrategy
from counterplay.strategy.strategy import Strategy
from counterplay.tree.public.public_tree import PublicTree

Float64 = NDArray[np.float64]

ROWS_KEPT = 1 << 24
"""Numbers of rows by bucket that are kept."""

BOARDS_KEPT = 8
"""Boards whose buckets of all hands are kept."""

REMEMBERED = 1 << 14
"""Decisions on a board whose probabilities are kept, of strategies that are looked up by names."""


class HandRows(Protocol):
    """A strategy at the decisions of a betting tree."""

    tree: BettingTree

    def on_board(self, player: int, board: Sequence[int]) -> BoardRows:
        """The strategy of a player on a board, which may extend beyond a decision."""


class BoardRows(Protocol):
    """The strategy of a player on a board."""

    def rows(self, node: int) -> Float64:
        """The probabilities of the actions at a decision, for every hand: (H, A); 0 for impossible hands."""


def hand_rows(strategy: Strategy, rules: GameDefinition, holes: NDArray[np.uint8]) -> HandRows:
    """A strategy for hands of a game.

    Raises
    ------
    GameError
        If it is a strategy of another game, or of fewer bets than the game has.
    """
    if isinstance(strategy, BucketStrategy):
        game = strategy.abstract
        if not same_rules(game.definition, rules):
            raise GameError(f"a strategy for {strategy.game} is one of other rules than those of the hands")
        if game.bets is not None:
            raise GameError(
                "this strategy translates bets, so that the probabilities of real bets are not known; estimators need "
                "a strategy with all bets of its game (money is reported without a strategy)"
            )
        return BucketRows(strategy, holes)
    return NamedRows(strategy, rules, holes)


class BucketRows:
    """A bucket strategy."""

    def __init__(self, strategy: BucketStrategy, holes: NDArray[np.uint8]) -> None:
        self.strategy, self.game = strategy, strategy.abstract
        self.tree = self.game.tree
        self.holes = np.ascontiguousarray(holes[:, : self.game.definition.hole_cards])
        self._weights = np.asarray(strategy.weights)  # plain, even if the file is mapped
        widest = int(self.game.slot_buckets.max()) * self.game.widest
        self.by_bucket = functools.lru_cache(maxsize=max(64, ROWS_KEPT // widest))(self._by_bucket)
        self.buckets = functools.lru_cache(maxsize=BOARDS_KEPT)(self._buckets)

    def _by_bucket(self, node: int) -> Float64:
        """The probabilities of the actions at a decision by bucket, and a row of 0 at the end."""
        game, slot = self.game, self.game.slot_of(node)
        first = game.slot_start[slot] + np.arange(game.slot_buckets[slot]) * game.slot_width[slot]
        actions = int(game.node_offset[node]) + np.arange(int(game.tree.num_children[node]))
        row = self._weights[first[:, None] + actions].astype(np.float64)
        total = row.sum(axis=1, keepdims=True)
        row = np.divide(row, total, out=np.full_like(row, 1.0 / row.shape[1]), where=total > 0.0)
        return np.vstack([row, np.zeros(row.shape[1])])

    def on_board(self, player: int, board: Sequence[int]) -> BoardRows:
        """As ``HandRows.on_board``."""
        return _BucketBoard(self, self.buckets(player, tuple(board)))

    def _buckets(self, player: int, board: tuple[int, ...]) -> list[list[NDArray[np.int64]]]:
        cards, zones = np.array(board, np.uint8), range(len(self.game.zone_buckets))
        return [hand_buckets(self.game, player, self.holes, cards, zone) for zone in zones]


class _BucketBoard:
    def __init__(self, rows: BucketRows, buckets: list[list[NDArray[np.int64]]]) -> None:
        self._rows, self._buckets = rows, buckets

    def rows(self, node: int) -> Float64:
        zone = 0 if self._rows.game.zone is None else int(self._rows.game.zone[node])
        bucket = self._buckets[zone][int(self._rows.tree.round[node])]  # -1, the last row, for impossible hands
        return np.asarray(self._rows.by_bucket(node)[bucket])


class MixedRows:
    """The strategy of who draws one of several strategies before each hand and plays it to the end.

    At a decision each strategy is weighted with the probability that it was drawn and came there (Kuhn 1953: the reach
    of the draw is the mean of the reaches).  Where none comes, it plays like the first.

    Parameters
    ----------
    rows : sequence of HandRows
        The strategies.
    shares : (strategies,) array
        The probabilities of the draw.
    """

    def __init__(self, rows: Sequence[HandRows], shares: Float64) -> None:
        self.parts = [(one, float(share)) for one, share in zip(rows, shares, strict=True) if share > 0.0]
        self.tree = rows[0].tree
        self._board: dict[tuple[int, tuple[int, ...]], BoardRows] = {}

    def on_board(self, player: int, board: Sequence[int]) -> BoardRows:
        """As ``HandRows.on_board``."""
        key = (player, tuple(board))
        if key not in self._board:
            self._board[key] = _MixedBoard(self.tree, player, [(one.on_board(*key), part) for one, part in self.parts])
        return self._board[key]


class _MixedBoard:
    def __init__(self, tree: BettingTree, player: int, parts: Sequence[tuple[BoardRows, float]]) -> None:
        self._tree, self._player = tree, player
        self._boards = [board for board, _ in parts]
        self._start = np.array([[part] for _, part in parts])
        self.rows = functools.cache(self._rows)
        self._reach = functools.cache(self._reached)

    def _rows(self, node: int) -> Float64:
        reach = self._reach(node)
        rows = np.array([board.rows(node) for board in self._boards])
        total = reach.sum(axis=0)
        mixed = (reach[:, :, None] * rows).sum(axis=0)
        return np.asarray(np.divide(mixed, total[:, None], out=rows[0], where=total[:, None] > 0.0))

    def _reached(self, node: int) -> Float64:
        """The probabilities that each was drawn and plays as far as a decision, for every hand: (strategies, H)."""
        before = int(self._tree.parent[node])
        if before < 0:
            return self._start
        reach = self._reach(before)
        if self._tree.player[before] != self._player:
            return reach
        step = node - int(self._tree.first_child[before])
        return np.asarray(reach * np.array([board.rows(before)[:, step] for board in self._boards]))


class NamedRows:
    """A strategy of any storage, by the names of its infosets."""

    def __init__(self, strategy: Strategy, rules: GameDefinition, holes: NDArray[np.uint8]) -> None:
        self.strategy, self.rules = strategy, rules
        self.holes = [tuple(hole[: rules.hole_cards]) for hole in holes.tolist()]
        self.tree = build_betting_tree(rules)
        self.namer = namer(open_game(strategy.game, "states"), rules)
        self.looked_up = functools.lru_cache(maxsize=REMEMBERED)(self._look_up)

    def on_board(self, _player: int, board: Sequence[int]) -> BoardRows:
        """As ``HandRows.on_board``."""
        return _NamedBoard(self, tuple(board))

    def _look_up(self, node: int, board: tuple[int, ...]) -> Float64:
        betting = Betting.after(self.rules, self.tree.text(node))
        actions = self.tree.actions(node)
        found = np.zeros((len(self.holes), len(actions)))
        for number, hole in enumerate(self.holes):
            if set(hole) & set(board):
                continue
            dealt = tuple(hole if position == betting.player else () for position in range(self.rules.players))
            name = self.namer(MatchState(0, betting, Deal(dealt, board)))
            try:
                row = self.strategy.probabilities(betting.player, name)
            except StrategyError:
                if not getattr(self.strategy, "partial", False):
                    raise
                row = dict.fromkeys(actions, 1.0 / len(actions))  # not visited by its run
            for action, probability in row.items():
                found[number, actions.index(LETTERS.get(action, action))] = probability
        return found


class _NamedBoard:
    def __init__(self, rows: NamedRows, board: tuple[int, ...]) -> None:
        self._rows, self._board = rows, board

    def rows(self, node: int) -> Float64:
        end = self._rows.rules.board_ends[int(self._rows.tree.round[node])]
        return self._rows.looked_up(node, self._board[:end])


def share_buckets(rows: Sequence[HandRows]) -> None:
    """Let strategies of the same buckets look up a board once."""
    first: dict[str, BucketRows] = {}
    for one in rows:
        if isinstance(one, BucketRows):
            one.buckets = first.setdefault(one.game.fingerprint, one).buckets


class PublicRows:
    """A strategy at the public states of a tree: a ``HandStrategy``.

    Parameters
    ----------
    rows : HandRows
        For all hands of ``holes``.
    holes : (H, 2) array
        As ``board_tree.hole_hands`` lists them.
    """

    def __init__(self, rows: HandRows, holes: NDArray[np.uint8]) -> None:
        self._rows = rows
        self._number = np.zeros((64, 64), np.int64)
        self._number[holes[:, 0], holes[:, 1]] = np.arange(len(holes))
        self._node: dict[str, int] = {}
        self._board: dict[tuple[int, str], BoardRows] = {}

    def matrix(self, tree: PublicTree, node: int, deal: int) -> Float64:
        """The probabilities at a public state: hands x actions."""
        text, player = tree.node_text[node], int(tree.kind[node])
        if text not in self._node:
            self._node[text] = self._rows.tree.find(Betting.after(self._rows.tree.game, text))
        if (player, tree.deal_text[deal]) not in self._board:
            board = parse_cards(tree.deal_text[deal])
            self._board[player, tree.deal_text[deal]] = self._rows.on_board(player, board)
        hands = tree.hands[player]
        cards = hands.card[hands.slice(deal)]
        found = self._board[player, tree.deal_text[deal]].rows(self._node[text])
        return np.asarray(found[self._number[cards[:, 0], cards[:, 1]]])


def hand_reach(rows: HandRows, node: int, board: Sequence[int], player: int, holes: NDArray[np.uint8]) -> Float64:
    """How likely a player comes to a decision with each hand by the own actions: (H,); 0 for hands on the board."""
    tree, found = rows.tree, np.where(np.isin(holes, board).any(axis=1), 0.0, 1.0)
    on_board = rows.on_board(player, board)
    for before, after in itertools.pairwise(path_to(tree, node)):
        if tree.player[before] == player:
            found *= on_board.rows(before)[:, after - int(tree.first_child[before])]
    return found


def path_to(tree: BettingTree, node: int) -> list[int]:
    """The nodes from the start of a betting tree to a node."""
    found = [node]
    while tree.parent[found[-1]] >= 0:
        found.append(int(tree.parent[found[-1]]))
    return found[::-1]


def won_at(tree: BettingTree, node: int, position: int) -> float:
    """What a position of two wins at a terminal node; at a showdown, if its hand is better."""
    assert tree.player[node] == TERMINAL
    paid = float(tree.spent[node].min())
    return -paid if tree.folded[node] >> position & 1 else paid
