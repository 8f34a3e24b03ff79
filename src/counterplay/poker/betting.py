"""The betting tree of a poker game, shared by all deals, as flat arrays; and counts of betting sequences.

A node is a decision or a terminal node.  Chance has no nodes: the cards of a round are dealt where a child's ``round``
is larger than its parent's.  Nodes are numbered by levels, so that children are adjacent and come after their parents
(Gibson 2014, section 5.6: one tree in memory for all deals).

All nodes of a level are expanded at once: a level is a matrix with one row for each node, and the rules of
``rules.Betting`` are restated over columns.  Counting keeps no tree: nodes of a level with the same future are one row
with a multiplicity, so trees far too large for memory are counted exactly.
"""

from __future__ import annotations

import dataclasses
import weakref
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError, MemoryLimitError
from counterplay.game.game import TERMINAL
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.raise_sizes import BetAbstraction
from counterplay.poker.rules import MAX_ACTIONS, Betting
from counterplay.runtime.notebook import Described

FOLD = -1
"""The ``action`` of a node that is reached by a fold."""

CALL = 0
"""The ``action`` of a node that is reached by a check or a call; a raise is the chips raised to."""

MAX_ROWS = 4_000_000
"""Most nodes of one level with different futures in counting."""

COUNTED_ROWS = 100_000
"""Most of them for which betting is counted to report the size of a game."""

Rows: TypeAlias = NDArray[np.int32]

# Columns of a level; followed by the spent chips of each position, then the once-only sizes each has used, as bits.
ROUND, PLAYER, RAISES, ACTIONS, CALLED, MAX_SPENT, MIN_RAISE, FOLDED, FIRST = range(9)


@dataclasses.dataclass(frozen=True)
class BettingCounts:
    """Numbers of nodes of a betting tree, by round.  The numbers are exact."""

    decisions: tuple[int, ...]  # decision nodes
    pairs: tuple[int, ...]  # total actions at these nodes
    continuing: tuple[int, ...]  # betting sequences that continue to the next round; 0 in the last
    # terminal nodes with one player left, and with more; those after an all-in count in the round of the last action
    folds: tuple[int, ...]
    showdowns: tuple[int, ...]
    # ``decisions`` and ``pairs`` of each position alone
    player_decisions: tuple[tuple[int, ...], ...] = ()
    player_pairs: tuple[tuple[int, ...], ...] = ()

    @property
    def terminals(self) -> int:
        """Terminal nodes."""
        return sum(self.folds) + sum(self.showdowns)

    @property
    def nodes(self) -> int:
        """Decisions and terminal nodes."""
        return sum(self.decisions) + self.terminals

    def infosets(self, buckets: Sequence[int]) -> int:
        """Information sets when each round has this number of hands (or buckets of hands)."""
        return sum(count * hands for count, hands in zip(self.decisions, buckets, strict=True))

    def entries(self, buckets: Sequence[int]) -> int:
        """Pairs of an information set and an action, as a table has them."""
        return sum(count * hands for count, hands in zip(self.pairs, buckets, strict=True))


@dataclasses.dataclass(frozen=True, repr=False)
class BettingTree(Described):
    """The betting tree of a game as arrays over its nodes; node 0 is the start."""

    game: GameDefinition  # what is played
    # parent, first_child: -1 for the start, and for terminal nodes
    parent: NDArray[np.int32]
    first_child: NDArray[np.int32]
    # number of actions; the child of action ``a`` is ``first_child + a``.  Order: fold, call, raises upwards.
    num_children: NDArray[np.int32]
    action: NDArray[np.int32]  # what leads to the node: ``FOLD``, ``CALL``, or the total chips that a raise reaches
    player: NDArray[np.int8]  # the position that acts, or ``TERMINAL``
    # the betting round of the node; of a terminal node, the round whose board is dealt (the last at a showdown)
    round: NDArray[np.int8]
    folded: NDArray[np.int16]  # bit ``p`` is set when position ``p`` has folded
    spent: NDArray[np.int32]  # (nodes, positions) chips put in so far

    def _title(self) -> str:
        return "BettingTree"

    def _sizes(self) -> list[tuple[str, str]]:
        return [("players", str(self.game.players)), ("nodes", f"{len(self):,}")]

    def __len__(self) -> int:
        """The number of nodes."""
        return len(self.parent)

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        columns = (self.parent, self.first_child, self.num_children, self.action, self.player, self.round)
        return sum(column.nbytes for column in (*columns, self.folded, self.spent))

    def children(self, node: int) -> range:
        """The nodes after each action of a node."""
        return range(int(self.first_child[node]), int(self.first_child[node]) + int(self.num_children[node]))

    def showdowns(self) -> NDArray[np.bool_]:
        """Which nodes are showdowns."""
        live = self.game.players - np.bitwise_count(self.folded).astype(np.int64)
        return np.asarray((self.player == TERMINAL) & (live > 1))

    def actions(self, node: int) -> list[str]:
        """The actions at a node, written as in the protocol."""
        return [self._letter(child) for child in self.children(node)]

    def _letter(self, node: int) -> str:
        action = int(self.action[node])
        return {FOLD: "f", CALL: "c"}.get(action, "r" if self.game.limit else f"r{action}")

    def text(self, node: int) -> str:
        """The betting string that leads to a node, as ``Betting.text`` writes it."""
        letters = []
        while node > 0:
            above = int(self.parent[node])
            slashes = "/" * (int(self.round[node]) - int(self.round[above]))
            letters.append(self._letter(node) + slashes)
            node = above
        return "".join(reversed(letters))

    def find(self, betting: Betting) -> int:
        """The node of a betting whose actions are all in the tree.

        Raises GameError if the tree lacks one of the actions.
        """
        node = 0
        for action in (action for actions in betting.actions for action in actions):
            choices = self.actions(node)
            if action not in choices:
                known = ", ".join(choices) or "nothing"
                raise GameError(f"the betting tree has no {action!r} after {self.text(node)!r}; it has {known}")
            node = int(self.first_child[node]) + choices.index(action)
        return node


def count_betting(
    game: GameDefinition, bets: BetAbstraction | None = None, after: str = "", max_rows: int = MAX_ROWS,
    folded: bool = False,
) -> BettingCounts:  # fmt: skip
    """Count the nodes of a betting tree, or of its part after the betting string ``after``.

    With ``folded`` decisions are counted only after somebody has folded.
    A game with more than ``max_rows`` nodes with different futures at one depth is refused.
    """
    rules = _Rules(game, bets)
    rows = rules.start(after)
    copies = np.ones(1, dtype=object)
    totals = {name: [0] * game.rounds for name in ("decisions", "pairs", "continuing", "folds", "showdowns")}
    acting = [([0] * game.rounds, [0] * game.rounds) for _ in range(game.players)]
    while len(rows):
        if len(rows) > max_rows or rules.estimate(rows) > 4 * max_rows:
            raise MemoryLimitError(
                f"the betting has over {max_rows:,} nodes with different futures at one depth; count a smaller game, "
                "or use a betting abstraction"
            )
        counts, children, _ = rules.expand(rows)
        counted = (rows[:, FOLDED] != 0) | (not folded)
        _add(totals["decisions"], rows[counted, ROUND], copies[counted])
        _add(totals["pairs"], rows[counted, ROUND], (copies * counts)[counted])
        for position, (decisions, pairs) in enumerate(acting):
            own = counted & (rows[:, PLAYER] == position)
            _add(decisions, rows[own, ROUND], copies[own])
            _add(pairs, rows[own, ROUND], (copies * counts)[own])
        copies = np.repeat(copies, counts)
        before = np.repeat(rows[:, ROUND], counts)
        ended = children[:, PLAYER] == TERMINAL
        alone = np.bitwise_count(children[:, FOLDED]) + 1 >= game.players
        _add(totals["folds"], before[ended & alone], copies[ended & alone])
        _add(totals["showdowns"], before[ended & ~alone], copies[ended & ~alone])
        on = ~ended & (children[:, ROUND] > before)
        _add(totals["continuing"], before[on], copies[on])
        rows, copies = _merged(children[~ended], copies[~ended])
    return BettingCounts(
        **{name: tuple(column) for name, column in totals.items()},
        player_decisions=tuple(tuple(decisions) for decisions, _ in acting),
        player_pairs=tuple(tuple(pairs) for _, pairs in acting),
    )


def count_actions(game: GameDefinition, bets: BetAbstraction | None = None, after: str = "") -> int:
    """The number of actions of a betting tree at the decision after a betting string; 0 if the hand is over."""
    rules = _Rules(game, bets)
    rows = rules.start(after)
    return int(rules.expand(rows)[0].sum()) if len(rows) else 0


def build_betting_tree(
    game: GameDefinition, bets: BetAbstraction | None = None, max_nodes: int = 100_000_000
) -> BettingTree:
    """Build the betting tree of a game, or return the one that is still in use: that of three players takes 0.8 GB.

    Raises MemoryLimitError if the tree has more than ``max_nodes`` nodes; it is counted first.
    """
    nodes = count_betting(game, bets).nodes
    if nodes > max_nodes:
        raise MemoryLimitError(
            f"the betting tree has {nodes:,} nodes and {max_nodes:,} are allowed; use a betting abstraction"
        )
    shared = _in_use.get((game, bets))
    if shared is not None:
        return shared
    rules = _Rules(game, bets)
    rows = rules.start("")
    tree = _empty_tree(game, nodes)
    tree.parent[0], tree.action[0] = -1, CALL
    size, first = 1, 0
    while len(rows):
        level = slice(first, first + len(rows))
        _store(tree, level, rows)
        acting = np.flatnonzero(rows[:, PLAYER] != TERMINAL)
        counts, children, actions = rules.expand(rows[acting])
        tree.num_children[first + acting] = counts
        tree.first_child[first + acting] = size + np.concatenate(([0], np.cumsum(counts)[:-1]))[: len(counts)]
        below = slice(size, size + len(children))
        tree.parent[below] = np.repeat(first + acting, counts)
        tree.action[below] = actions
        first, size, rows = size, size + len(children), children
    _in_use[game, bets] = tree
    return tree


_in_use: weakref.WeakValueDictionary[tuple[GameDefinition, BetAbstraction | None], BettingTree] = (
    weakref.WeakValueDictionary()
)
"""The trees that somebody holds, by what they are of: strategies and solvers of one game share theirs."""


def _empty_tree(game: GameDefinition, nodes: int) -> BettingTree:
    def whole(kind: Any, value: int = 0) -> Any:
        return np.full(nodes, value, dtype=kind)

    return BettingTree(
        game, whole(np.int32), whole(np.int32, -1), whole(np.int32), whole(np.int32), whole(np.int8), whole(np.int8),
        whole(np.int16), np.zeros((nodes, game.players), dtype=np.int32),
    )  # fmt: skip


def _store(tree: BettingTree, level: slice, rows: Rows) -> None:
    tree.player[level] = rows[:, PLAYER]
    tree.round[level] = rows[:, ROUND]
    tree.folded[level] = rows[:, FOLDED]
    tree.spent[level] = rows[:, FIRST : FIRST + tree.game.players]


def _add(totals: list[int], rounds: NDArray[np.int32], copies: NDArray[Any]) -> None:
    for number in range(len(totals)):
        totals[number] += int(copies[rounds == number].sum())


def _merged(rows: Rows, copies: NDArray[Any]) -> tuple[Rows, NDArray[Any]]:
    """Merge equal rows and add their multiplicities."""
    if not len(rows):
        return rows, copies
    whole = np.ascontiguousarray(rows).view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    order = np.argsort(whole, kind="stable")
    ordered = whole[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    return rows[order[starts]], np.add.reduceat(copies[order], starts)


class _Rules:
    """The rules of ``Betting`` over the rows of a level."""

    def __init__(self, game: GameDefinition, bets: BetAbstraction | None) -> None:
        if game.limit and bets is not None:
            raise GameError("raises of a limit game have one size; leave out the betting abstraction")
        self.game = game
        self.bets = bets
        self.players = game.players
        self.stacks = np.array(game.stacks, dtype=np.int64)
        self.first = np.array(game.first_players)
        self.max_raises = np.array(game.max_raises)
        self.raise_sizes = np.array(game.raise_sizes or (0,) * game.rounds, dtype=np.int64)
        self.once = bets.once if bets is not None else ()

    def start(self, after: str) -> Rows:
        """The level with the single node after a betting string."""
        betting = Betting.after(self.game, after)
        if self.once and after:
            raise GameError(f"with once-only sizes, counting must begin at the start; got {after!r}")
        row = [betting.round, betting.player, betting.raises, len(betting.actions[-1]), betting.called]
        row += [betting.max_spent, betting.min_raise_to, betting.folded, *betting.spent, *[0] * self.players]
        rows = np.array([row], dtype=np.int32)
        return rows if betting.player != TERMINAL else rows[:0]

    def estimate(self, rows: Rows) -> int:
        """An upper bound on the number of children of the rows."""
        if self.game.limit or self.bets is not None:
            return len(rows) * 8
        least, most = self._span(rows)
        return int((np.maximum(most - least + 1, 0) + 2).sum())

    def expand(self, rows: Rows) -> tuple[NDArray[np.int64], Rows, NDArray[np.int32]]:
        """The number of actions of each row; the rows after them, in order; and the actions."""
        at = np.arange(len(rows))
        spent = rows[at, FIRST + rows[:, PLAYER]]
        folds = np.flatnonzero(spent < rows[:, MAX_SPENT])
        raisers, sizes, bits = self._raises(rows)
        source = np.concatenate((folds, at, raisers))
        action = np.concatenate((np.full(len(folds), FOLD), np.full(len(at), CALL), sizes)).astype(np.int64)
        used = np.concatenate((np.zeros(len(folds) + len(at), np.int64), bits))
        order = np.lexsort((action, source))
        source, action, used = source[order], action[order], used[order]
        counts = np.bincount(source, minlength=len(rows))
        return counts, self._apply(rows[source], action, used), action.astype(np.int32)

    def _span(self, rows: Rows) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The least and the most that a raise may reach in each row; the most is -1 where none is legal."""
        stack = self.stacks[rows[:, PLAYER]]
        turn = rows[:, ROUND]
        legal = (rows[:, RAISES] < self.max_raises[turn]) & (rows[:, ACTIONS] + self.players <= MAX_ACTIONS)
        legal &= (self._able(rows) > 1) & (stack > rows[:, MAX_SPENT])
        if self.game.limit:
            least = most = np.minimum(rows[:, MAX_SPENT] + self.raise_sizes[turn], stack)
        else:
            least, most = np.minimum(rows[:, MIN_RAISE], stack), stack
        return least, np.where(legal, most, -1)

    def _raises(self, rows: Rows) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Rows that can raise, one entry a size; the sizes; and the bit of a size that may be used once."""
        least, most = self._span(rows)
        where = np.flatnonzero(most >= 0)
        if self.bets is not None:
            return self._abstract_raises(rows[where], where, least[where], most[where])
        counts = (most - least + 1)[where]
        source = np.repeat(where, counts)
        steps = np.arange(len(source)) - np.repeat(np.cumsum(counts) - counts, counts)
        sizes = least[source] + steps
        return source, sizes, np.zeros(len(sizes), np.int64)

    def _abstract_raises(
        self, rows: Rows, where: NDArray[np.int64], least: NDArray[np.int64], most: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """The same with the sizes of the abstraction."""
        assert self.bets is not None
        player = rows[:, PLAYER]
        at = np.arange(len(rows))
        owed = rows[:, MAX_SPENT] - rows[at, FIRST + player]
        pot = rows[:, FIRST : FIRST + self.players].sum(axis=1, dtype=np.int64) + owed
        used = rows[at, FIRST + self.players + player]
        sources, sizes, bits = [where[:0]], [where[:0]], [where[:0]]
        for number, raises in {(int(n), int(r)) for n, r in np.unique(rows[:, [ROUND, RAISES]], axis=0)}:
            chosen = np.flatnonzero((rows[:, ROUND] == number) & (rows[:, RAISES] == raises))
            for size in self.bets.at(number, raises):
                bit = 1 << self.once.index(size) if size.once else 0
                here = chosen[used[chosen] & bit == 0]
                if size.kind == "pot":
                    to = rows[here, MAX_SPENT] + np.floor(pot[here] * size.amount + 1e-9).astype(np.int64)
                else:
                    fixed = {"chips": int(size.amount), "min": 0, "allin": int(self.stacks.max())}[size.kind]
                    to = np.full(len(here), fixed, dtype=np.int64)
                sources.append(here)
                sizes.append(np.clip(to, least[here], most[here]))
                bits.append(np.full(len(here), bit, dtype=np.int64))
        source, size_of, bit_of = np.concatenate(sources), np.concatenate(sizes), np.concatenate(bits)
        order = np.lexsort((bit_of, size_of, source))  # of equal sizes the one that can always be used is kept
        source, size_of, bit_of = source[order], size_of[order], bit_of[order]
        new = np.concatenate(([True], (source[1:] != source[:-1]) | (size_of[1:] != size_of[:-1])))[: len(source)]
        return where[source[new]], size_of[new], bit_of[new]

    def _able(self, rows: Rows) -> NDArray[np.int64]:
        """The number of players who have neither folded nor put in all their chips."""
        able = np.zeros(len(rows), np.int64)
        for position in range(self.players):
            able += self._can_act(rows, position)
        return able

    def _can_act(self, rows: Rows, position: Any) -> NDArray[np.bool_]:
        spent = rows[np.arange(len(rows)), FIRST + position]
        return np.asarray((rows[:, FOLDED] >> position & 1 == 0) & (spent < self.stacks[position]))

    def _apply(self, rows: Rows, action: NDArray[np.int64], bits: NDArray[np.int64]) -> Rows:
        """The rows after one action each; modifies ``rows``."""
        at = np.arange(len(rows))
        player = rows[:, PLAYER].copy()
        stack = self.stacks[player]
        fold, call, raising = action == FOLD, action == CALL, action > 0
        rows[:, FOLDED] |= np.where(fold, 1 << player, 0)
        now = np.where(raising, action, np.minimum(rows[:, MAX_SPENT], stack))
        rows[at, FIRST + player] = np.where(fold, rows[at, FIRST + player], now)
        if not self.game.limit:
            higher = np.maximum(rows[:, MIN_RAISE], 2 * action - rows[:, MAX_SPENT])
            rows[:, MIN_RAISE] = np.where(raising, higher, rows[:, MIN_RAISE])
        rows[:, MAX_SPENT] = np.where(raising, action, rows[:, MAX_SPENT])
        rows[:, RAISES] += raising
        rows[:, ACTIONS] += 1
        rows[:, CALLED] = np.where(raising, now < stack, rows[:, CALLED] + (call & (now < stack)))
        rows[at, FIRST + self.players + player] |= bits.astype(np.int32)
        return self._go_on(rows)

    def _go_on(self, rows: Rows) -> Rows:
        """To the next player, the next round, or the end of the hand."""
        last = self.game.rounds - 1
        alone = np.bitwise_count(rows[:, FOLDED]) + 1 >= self.players
        able = self._able(rows)
        over = ~alone & (rows[:, CALLED] >= able)
        on = over & (able > 1) & (rows[:, ROUND] < last)
        ended = alone | (over & ~on)
        rows[over & ~on, ROUND] = last
        turn = rows[on, ROUND] + 1
        rows[on, ROUND] = turn
        rows[on, RAISES : CALLED + 1] = 0
        rows[on, MIN_RAISE] = rows[on, MAX_SPENT] + self.game.big_blind if not self.game.limit else 0
        rows[on, FIRST + self.players :] = 0
        start = rows[:, PLAYER] + 1
        start[on] = self.first[turn]
        following = np.full(len(rows), TERMINAL)
        for step in range(self.players - 1, -1, -1):
            position = (start + step) % self.players
            able_here = self._can_act(rows, position)
            following[able_here] = position[able_here]
        rows[:, PLAYER] = np.where(ended, TERMINAL, following)
        return rows
