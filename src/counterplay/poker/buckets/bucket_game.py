"""``BucketGame``: a betting tree that all deals share, and a bucket for each hand and round.

The third compiled form of a game, for poker that is too large for a tree of histories (Gibson 2014, section 5.6;
Johanson 2016, section 3.4).  Chance is sampled in the real game, hands are mapped to buckets, and regrets are stored by
(betting, bucket, action): there is no abstract deck.  Players may have different abstractions (Johanson 2016, section
4.4).

A table is one flat array.  The decisions of a player in a round are a *slot*, and a slot has a block for each bucket
with an entry for each action of its decisions::

    entry = slot_start[slot] + bucket * slot_width[slot] + node_offset[node] + action

so that a walk, in which a player has one bucket per round, stays within a few neighbouring blocks.  The payoffs of a
terminal node depend on the chips that each player has put in, on who has folded, and at a showdown on the order of the
hands (3 orders of two hands, 13 of three): terminal nodes that agree in these share a row of ``utility``.

Buckets may depend on the betting: a *zone* is what follows some betting and has buckets of its own (dynamic experts,
Gibson 2014, definition 7.2).  The slots of a zone come after those of the zone before, 0 being everything else.  Where
a strategy is fixed (definition 7.1), decisions are chance: they have no entries, and slots that are those of the fixed
strategy's game.

The bucket tables are those of ``abstraction.cards`` (``BucketTable``); this module imports only arrays, since it is a
lower layer.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from counterplay.game.game import TERMINAL
from counterplay.game.transforms import Tilt
from counterplay.poker.acpc.definition import GameDefinition, format_definition
from counterplay.poker.betting import BettingTree, build_betting_tree
from counterplay.poker.buckets.round_buckets import (
    MAX_PLAYERS,
    Buckets,
    RoundBuckets,
    buckets_by_player,
    buckets_digest,
    hand_indexer,
    look_up,
)
from counterplay.poker.raise_sizes import BetAbstraction
from counterplay.poker.rules import Betting
from counterplay.runtime.memory import format_bytes
from counterplay.runtime.notebook import Described

if TYPE_CHECKING:
    from counterplay.kernels.walks import WalkArrays


@dataclasses.dataclass(frozen=True, eq=False)
class Zone:
    """What follows some betting, with buckets of its own."""

    part: str  # the betting, as a text that ``abstraction.experts`` reads
    buckets: Buckets  # by player and round
    cards: tuple[str, ...] = ()  # the files that the buckets are from


@dataclasses.dataclass(frozen=True, eq=False)
class FixedPlay:
    """Decisions at which a strategy is played that is not solved."""

    nodes: NDArray[np.bool_]  # (nodes,) which decisions
    game: BucketGame  # the game of the strategy: the same betting, other buckets
    strategy: NDArray[np.float64]  # its probabilities
    part: str  # the part outside which it is played, and where it is from
    file: str = ""

    def digest(self) -> bytes:
        """A fingerprint."""
        found = hashlib.sha256(f"{self.game.layout} {self.part}".encode())
        found.update(np.ascontiguousarray(self.strategy).data)
        return found.digest()


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class BucketGame(Described):
    """A betting tree with buckets.  S slots of decisions: zones x rounds x players."""

    form_name: ClassVar[str] = "buckets"
    """The form of a game that this is."""

    name: str  # the name of the game
    definition: GameDefinition  # what is played
    bets: BetAbstraction | None  # the betting abstraction of a no-limit game
    buckets: Buckets  # the buckets by player and round
    tree: BettingTree  # the betting
    # (nodes,) of a decision: where its entries begin in the block of a bucket.  Of a terminal node: its row of
    # ``utility``, the first one of a showdown
    node_offset: NDArray[np.uint32]
    # (S,) where the entries of slot ``(zone * rounds + round) * players + player`` begin
    slot_start: NDArray[np.int64]
    slot_width: NDArray[np.int64]  # (S,) how many entries of a slot each bucket has
    slot_decisions: NDArray[np.int64]  # (S,) number of decisions of a slot
    utility: NDArray[np.float64]  # (Z, players) what each player wins; a showdown has a row for each of ``weak_orders``
    # the files that the buckets are from: one for all players, or one for each; empty if from none
    cards: tuple[str, ...] = ()
    tilt: Tilt | None = None  # how utilities are tilted away from zero-sum
    zones: tuple[Zone, ...] = ()  # zones 1, 2, ..., which have buckets of their own
    zone: NDArray[np.int16] | None = None  # (nodes,) the zone of each decision; None if there is but 0
    fixed: FixedPlay | None = None  # where a strategy is fixed
    start: int = 0  # the node at which walks begin

    @classmethod
    def build(
        cls,
        definition: GameDefinition,
        buckets: Sequence[RoundBuckets] | Sequence[Sequence[RoundBuckets]],
        bets: BetAbstraction | None = None,
        name: str = "poker",
        cards: Sequence[str] = (),
        max_nodes: int = 100_000_000,
        tilt: Tilt | None = None,
    ) -> BucketGame:
        """Build the betting tree and number the entries.

        ``buckets`` are those of each round, for all players; or such a sequence for each player.  ``cards`` are the
        files that they are from, to be recorded in checkpoints and strategies.  With a ``tilt`` players are paid other
        amounts (``game.transforms``).

        Raises AbstractionError if the buckets are for other cards; MemoryLimitError if the betting tree has more than
        ``max_nodes``.
        """
        by_player = buckets_by_player(definition, buckets)
        tree = build_betting_tree(definition, bets, max_nodes)
        none, empty = np.zeros(0, np.int64), np.zeros(0, np.uint32)
        plain = cls(name, definition, bets, by_player, tree, empty, none, none, none, np.zeros(0), tuple(cards), tilt)
        return plain.laid_out()

    def laid_out(
        self, zones: Sequence[Zone] = (), zone: NDArray[np.int16] | None = None, fixed: FixedPlay | None = None,
        start: int = 0,
    ) -> BucketGame:  # fmt: skip
        """The same game with other zones, or a fixed strategy: its entries are numbered anew."""
        for one in zones:
            buckets_by_player(self.definition, one.buckets)
        plain = dataclasses.replace(self, zones=tuple(zones), zone=zone, fixed=fixed, start=start)
        tree, slots = self.tree, len(plain.slot_buckets)
        decisions = np.flatnonzero(plain.free)
        slot = plain.slots_of(decisions)
        width = np.zeros(slots, np.int64)
        count = np.bincount(slot, minlength=slots)
        offset = np.zeros(len(tree), np.uint32)
        place = walk_order(tree)
        for number in np.flatnonzero(count).tolist():
            nodes = decisions[slot == number]
            nodes = nodes[np.argsort(place[nodes])]
            sizes = tree.num_children[nodes].astype(np.int64)
            width[number] = sizes.sum()
            offset[nodes] = np.cumsum(sizes) - sizes
        first = np.concatenate(([0], np.cumsum(width * plain.slot_buckets)[:-1])).astype(np.int64)
        if fixed is not None:
            offset[fixed.nodes] = fixed.game.node_offset[fixed.nodes]
        utility = _number_ends(tree, offset, self.tilt)
        return dataclasses.replace(
            plain, node_offset=offset, slot_start=first, slot_width=width, slot_decisions=count, utility=utility
        )

    # ------------------------------------------------------------------------------------------ properties

    def _title(self) -> str:
        return f"BucketGame of {self.name}"

    def _sizes(self) -> list[tuple[str, str]]:
        counts = "/".join(str(one.count) for one in self.buckets[0])
        return [
            ("players", str(self.players)),
            ("buckets in each round", counts),
            ("betting nodes", f"{len(self.tree):,}"),
            ("infosets", f"{self.num_infosets:,}"),
            ("memory", format_bytes(self.tree_bytes)),
        ]

    @property
    def players(self) -> int:
        """Number of players."""
        return self.definition.players

    @property
    def rounds(self) -> int:
        """Number of rounds."""
        return self.definition.rounds

    @property
    def big_blind(self) -> float:
        """Chips in one big blind."""
        return float(self.definition.big_blind)

    @property
    def slot_buckets(self) -> NDArray[np.int64]:
        """Number of buckets of each slot."""
        counts = [table.count for one in self.zone_buckets for turn in zip(*one, strict=True) for table in turn]
        return np.array(counts, np.int64)

    @property
    def zone_buckets(self) -> tuple[Buckets, ...]:
        """The buckets of each zone, by player and round."""
        return (self.buckets, *(one.buckets for one in self.zones))

    @property
    def free(self) -> NDArray[np.bool_]:
        """(nodes,) the decisions that have entries."""
        acting = self.tree.player != TERMINAL
        return np.asarray(acting if self.fixed is None else acting & ~self.fixed.nodes)

    @functools.cached_property
    def deciding(self) -> tuple[int, ...]:
        """The players who decide something: where a part is solved after a fold, one fewer than there are."""
        if self.fixed is None or self.players == 2:
            return tuple(range(self.players))
        return tuple(np.unique(self.tree.player[self.free]).tolist())

    @property
    def num_entries(self) -> int:
        """Pairs of an information set and an action."""
        return int((self.slot_width * self.slot_buckets).sum())

    @property
    def num_infosets(self) -> int:
        """Pairs of a decision of the betting tree and a bucket of its player."""
        return int((self.slot_decisions * self.slot_buckets).sum())

    @functools.cached_property
    def depth(self) -> int:
        """The most actions on a path of the betting tree."""
        return len(node_levels(self.tree)) - 1

    @functools.cached_property
    def widest(self) -> int:
        """The most actions of a decision."""
        return int(self.tree.num_children.max(initial=1))

    @property
    def tree_bytes(self) -> int:
        """Bytes of the betting tree and of its layout for walks."""
        return self.tree.nbytes + self.node_offset.nbytes + 16 * len(self.tree)

    def slot_of(self, node: int) -> int:
        """The slot of a decision."""
        return int(self.slots_of(np.array([node]))[0])

    def slots_of(self, nodes: NDArray[np.integer]) -> NDArray[np.int64]:
        """The slots of decisions."""
        slot = self.tree.round[nodes].astype(np.int64) * self.players + self.tree.player[nodes]
        if self.zone is not None:
            slot += self.zone[nodes].astype(np.int64) * (self.rounds * self.players)
        return np.asarray(slot)

    def entry(self, node: int, bucket: int) -> int:
        """The first entry of an information set: a decision of the betting tree and a bucket of its player."""
        slot = self.slot_of(node)
        return int(self.slot_start[slot] + bucket * self.slot_width[slot] + int(self.node_offset[node]))

    def tables_at(self, node: int) -> tuple[RoundBuckets, ...]:
        """The buckets by round of who acts at a decision, in its zone."""
        return self.zone_buckets[0 if self.zone is None else int(self.zone[node])][int(self.tree.player[node])]

    def bucket(self, node: int, hole: Sequence[int], board: Sequence[int]) -> int:
        """The bucket of the hand of who acts at a decision; ``board`` may extend beyond the round."""
        tables, ends = self.tables_at(node), self.definition.board_ends
        first = turn = int(self.tree.round[node])
        while tables[first].cuts is not None:  # it depends on the previous bucket
            first -= 1
        found = 0
        for table, end in zip(tables[first : turn + 1], ends[first : turn + 1], strict=True):
            found = look_up(table, self._indexer(tuple(table.shape)).index((*hole, *board[:end])), found)
        return int(found)

    def blocks(self, player: int | None = None) -> Iterator[tuple[int, int, NDArray[np.int64]]]:
        """The entries of each slot and bucket: first, last, and the offsets of the decisions, with the end.

        With a ``player``, only those of the player's slots.
        """
        decisions = np.flatnonzero(self.free)
        slot = self.slots_of(decisions)
        for number, (start, width, kinds) in enumerate(
            zip(self.slot_start.tolist(), self.slot_width.tolist(), self.slot_buckets.tolist(), strict=True)
        ):
            if player not in (None, number % self.players):
                continue
            offset = np.append(np.sort(self.node_offset[decisions[slot == number]]).astype(np.int64), width)
            for bucket in range(kinds if width else 0):
                first = start + bucket * width
                yield first, first + width, offset

    def origin(self) -> dict[str, Any]:
        """What is needed besides the name to open the bucket game again."""
        cards = [*self.cards, *(f"{one.part}={file}" for one in self.zones for file in one.cards)]
        found = {"cards": cards, "bets": None if self.bets is None else self.bets.text()}
        return found if self.fixed is None else {**found, "part": self.fixed.part}

    @functools.cached_property
    def fingerprint(self) -> str:
        """Digest of the rules, the bets and all bucket tables, and of the tilt if there is one."""
        return self.layout if self.tilt is None else self._digested(repr(self.tilt))

    @functools.cached_property
    def layout(self) -> str:
        """Digest of the rules, the bets and all bucket tables: games that agree in it have the same tables."""
        return self._digested("")

    def _digested(self, tilt: str) -> str:
        digest = hashlib.sha256(format_definition(self.definition).encode())
        digest.update((self.bets.text() if self.bets is not None else "all").encode())
        digest.update(tilt.encode())
        met: dict[int, bytes] = {}
        for number, one in enumerate(self.zone_buckets):
            if number:
                digest.update(f"zone {self.zones[number - 1].part}".encode())
            for table in (table for player in one for table in player):
                if id(table) not in met:
                    met[id(table)] = buckets_digest(table)
                digest.update(met[id(table)])
        if self.fixed is not None:
            digest.update(self.fixed.digest())
        return digest.hexdigest()

    def _indexer(self, shape: tuple[int, ...]) -> Any:
        return hand_indexer(shape, self.definition.ranks, self.definition.suits)

    # ------------------------------------------------------------------------------------------ for kernels

    def walks(self) -> WalkArrays:
        """The betting tree as the sampling kernels take it, nodes in ``walk_order``; built once."""
        return self._walks

    @functools.cached_property
    def _walks(self) -> WalkArrays:
        from counterplay.kernels.walks import SLOT_BITS, WalkArrays, alias_rows

        tree, players = self.tree, self.players
        nodes = np.zeros((len(tree), 4), np.uint32)
        end, showdown = tree.player == TERMINAL, tree.showdowns()
        slot = self.slots_of(np.arange(len(tree)))
        who = np.where(end, players + 1, tree.player)
        threshold, alias = np.zeros(0), np.zeros(0, np.uint32)
        fixed = self.fixed
        if fixed is not None:
            at = np.flatnonzero(fixed.nodes)
            slot[at] = len(self.slot_start) + fixed.game.slots_of(at)
            who[at] = players
            if self.start == 0:
                threshold, alias = alias_rows(fixed.game, fixed.strategy)
        slot[end] = np.where(showdown[end], self.showdown_slot, self.fold_slot)
        place = walk_order(tree)
        nodes[place, 0] = who + (slot << SLOT_BITS)
        nodes[place, 1] = np.where(end, 0, place[tree.first_child])
        nodes[place, 2] = tree.num_children
        nodes[place, 3] = self.node_offset
        if self.start:
            kept = np.sort(place[self._below_start])
            rank = np.zeros(len(tree), np.uint32)
            rank[kept] = np.arange(len(kept))
            nodes = nodes[kept]
            nodes[:, 1] = rank[nodes[:, 1]]
        return WalkArrays(nodes.ravel(), threshold, alias, self.utility.ravel(), players)

    @functools.cached_property
    def _below_start(self) -> NDArray[np.int64]:
        """The nodes that walks can visit."""
        inside = np.zeros(len(self.tree), bool)
        inside[self.start] = True
        for level in node_levels(self.tree)[1:]:
            inside[level] |= inside[self.tree.parent[level]]
        return np.flatnonzero(inside)

    @property
    def showdown_slot(self) -> int:
        """The slot of showdowns; the deal decides them.  Before it come the slots of the fixed strategy's game."""
        return len(self.slot_start) + (0 if self.fixed is None else len(self.fixed.game.slot_start))

    @property
    def fold_slot(self) -> int:
        """The slot of terminal nodes at which all but one have folded; the deal does not matter."""
        return self.showdown_slot + 1

    @property
    def num_slots(self) -> int:
        """Slots of decisions and of terminal nodes."""
        return self.fold_slot + 1


@functools.lru_cache(maxsize=MAX_PLAYERS)
def weak_orders(players: int) -> tuple[tuple[int, ...], ...]:
    """The orders that hands can have, with ties: for each player the number of hands beaten.

    >>> weak_orders(2)
    ((0, 0), (0, 1), (1, 0))
    >>> len(weak_orders(3))
    13
    """
    found = set()
    for ranks in itertools.product(range(players), repeat=players):
        found.add(tuple(sum(other < own for other in ranks) for own in ranks))
    return tuple(sorted(found))


def node_levels(tree: BettingTree) -> list[slice]:
    """The nodes of each level; nodes are numbered by levels."""
    levels, low, high = [], 0, 1
    while low < high:
        levels.append(slice(low, high))
        low, high = high, high + int(tree.num_children[low:high].sum())
    return levels


def walk_order(tree: BettingTree) -> NDArray[np.int64]:
    """The position of each node in an order that keeps subtrees together: siblings, then the subtree of each in turn.

    Walks descend; with nodes ordered by levels they would find every node of a large tree in another page.
    """
    levels = node_levels(tree)
    below = np.zeros(len(tree), np.int64)  # nodes below a node
    for above, level in zip(reversed(levels[:-1]), reversed(levels[1:]), strict=True):
        total = np.concatenate(([0], np.cumsum(1 + below[level])))
        first = np.concatenate(([0], np.cumsum(tree.num_children[above])))
        below[above] = total[first[1:]] - total[first[:-1]]
    place = np.zeros(len(tree), np.int64)
    block = np.ones(len(tree), np.int64)  # where the children of a node begin
    for level in levels[1:]:
        parent = tree.parent[level]
        number = np.arange(level.start, level.stop) - tree.first_child[parent]
        before = np.cumsum(below[level]) - below[level]
        before -= before[np.arange(len(parent)) - number]
        place[level] = block[parent] + number
        block[level] = block[parent] + tree.num_children[parent] + before
    return place


def _number_ends(tree: BettingTree, offset: NDArray[np.uint32], tilt: Tilt | None) -> NDArray[np.float64]:
    """Give every terminal node its row of the utilities, which are returned; equal payoffs share rows."""
    end, showdown = tree.player == TERMINAL, tree.showdowns()
    orders = weak_orders(tree.game.players)
    rows: list[tuple[float, ...]] = []
    for kind, ranks in ((end & ~showdown, [None]), (showdown, list(orders))):
        nodes = np.flatnonzero(kind)
        first, number = _alike(tree, nodes)
        offset[nodes] = len(rows) + number * len(ranks)
        for node in nodes[first].tolist():
            spent = tuple(tree.spent[node].tolist())
            betting = Betting(
                tree.game, tree.game.rounds - 1, spent, max(spent), 0, int(tree.folded[node]), (), 0, 0, TERMINAL
            )  # fmt: skip
            rows += [_paid(betting, tuple(map(float, betting.values(order))), tilt) for order in ranks]
    return np.array(rows, np.float64).reshape(len(rows), tree.game.players)


def _paid(betting: Betting, won: tuple[float, ...], tilt: Tilt | None) -> tuple[float, ...]:
    """What players are paid who win or lose these amounts."""
    if tilt is None:
        return won
    folded = [bool(betting.folded >> player & 1) for player in range(len(won))]
    alone = sum(folded) == len(won) - 1
    return tuple(chips * tilt.factor(chips, out, alone) for chips, out in zip(won, folded, strict=True))


def _alike(tree: BettingTree, nodes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number nodes by chips and folded players: the first node of each number, and the number of each node."""
    base = int(tree.spent[nodes].max(initial=0)) + 1
    players = tree.game.players
    if base**players << players < 1 << 62:
        key = tree.folded[nodes].astype(np.int64)
        for position in range(players):
            key = key * base + tree.spent[nodes, position]
        _, first, number = np.unique(key, return_index=True, return_inverse=True)
    else:
        key = np.column_stack((tree.folded[nodes], tree.spent[nodes]))
        _, first, number = np.unique(key, axis=0, return_index=True, return_inverse=True)
    return first.astype(np.int64), number.astype(np.int64).ravel()
