"""Value functions of poker that are linear in the edge of a hand: of bet-call DIVAT, DIVAT and AIVAT.

The value of a betting node for the first position is taken to be α + β e, with e the edge of its hand against the
other one (``AllInEquity``).  The edge is a martingale, so the expectation of such a value over the cards to come needs
no enumeration, and estimates that are corrected by it stay unbiased whatever α and β are.

* *bet-call* (Johanson 2016, section 7.2.3): everybody bets once and calls in every round that is left, so α = 0 and β
  is what each will have put in.  In no-limit games, which have no bet sizes, nobody bets any more.
* *fitted*: α and β are those that fit best what a strategy wins from itself in sampled deals, every deal weighted with
  the probability that the node is reached.  Nodes that are hardly reached keep bet-call's.  This is our own stated
  value function of DIVAT, for which the source used an expert's that it does not give, and the one of AIVAT.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from counterplay.evaluation.matches.all_in_equity import AllInEquity
from counterplay.game.game import TERMINAL
from counterplay.poker.betting import BettingTree
from counterplay.poker.buckets.bucket_game import node_levels
from counterplay.poker.buckets.hand_lookup import dealt_buckets
from counterplay.strategy.bucket_strategy import BucketStrategy
from counterplay.strategy.joint_buckets import joint_buckets

Float64 = NDArray[np.float64]

DEALS = 4096
"""Deals from which values are fitted."""

BATCH = 256
TRUST = 2.0
"""How many deals bet-call counts for."""


class EdgeValues(NamedTuple):
    """Values of betting nodes, for the first position: base + slope x edge; (N,) each."""

    base: Float64
    slope: Float64


def bet_call_values(tree: BettingTree) -> EdgeValues:
    """The values if everybody bets once and calls in every round that is left."""
    rules = tree.game
    sizes = np.array(rules.raise_sizes if rules.limit else (0,) * rules.rounds, np.float64)
    later = np.append(np.cumsum(sizes[::-1])[::-1], 0.0)  # bets from a round on
    turn, most = tree.round.astype(np.int64), tree.spent.max(axis=1).astype(np.float64)
    opens = np.ones(len(tree), np.bool_)  # the first decision of a round: its own bet is still to come
    opens[1:] = turn[1:] > turn[tree.parent[1:]]
    slope = np.minimum(most + np.where(opens, later[turn], later[turn + 1]), min(rules.stacks))
    return _at_ends(tree, EdgeValues(np.zeros(len(tree)), slope))


def fitted_values(strategy: BucketStrategy, equity: AllInEquity, deals: int = DEALS, seed: int = 0) -> EdgeValues:
    """The values that fit best what a strategy wins from itself."""
    strategy = joint_buckets(strategy)
    game = strategy.abstract
    tree, table = game.tree, strategy.strategy()
    sums = np.zeros((5, len(tree)))
    random = np.random.default_rng(seed)
    for first in range(0, deals, BATCH):
        some = min(BATCH, deals - first)
        cards = random.permuted(np.tile(np.array(game.definition.deck, np.uint8), (some, 1)), axis=1)
        cards = cards[:, : game.definition.cards_dealt]
        edges = _edges(equity, cards)
        chance, won = _played(strategy, table, cards, edges)
        seen = edges[:, tree.round.astype(np.int64)].T
        for place, product in enumerate((np.ones(1), seen, seen * seen, won, seen * won)):
            sums[place] += (chance * product).sum(axis=1)
    return _fitted(tree, sums)


def _fitted(tree: BettingTree, sums: Float64) -> EdgeValues:
    """Least squares from the sums of w, w e, w e², w v and w e v, drawn to bet-call's values."""
    start = bet_call_values(tree)
    weight, one, two, value, product = sums
    # an edge that is +1 or -1 equally often, with bet-call's value, counts for TRUST deals
    weight, two, product = weight + TRUST, two + TRUST, product + TRUST * start.slope
    spread = weight * two - one * one
    slope = (weight * product - one * value) / spread
    return _at_ends(tree, EdgeValues((value - slope * one) / weight, slope))


def _at_ends(tree: BettingTree, values: EdgeValues) -> EdgeValues:
    """The same with the winnings themselves at terminal nodes."""
    end, showdown = tree.player == TERMINAL, tree.showdowns()
    paid = tree.spent.min(axis=1).astype(np.float64)
    folds = np.where(tree.folded & 1, -paid, paid)
    base = np.where(end, np.where(showdown, 0.0, folds), values.base)
    return EdgeValues(base, np.where(end, np.where(showdown, paid, 0.0), values.slope))


def _edges(equity: AllInEquity, cards: NDArray[np.uint8]) -> Float64:
    """The edges of the first hand of deals in each round: (deals, rounds)."""
    hole = equity.rules.hole_cards
    return np.array([equity.edge(row[:hole], row[hole : 2 * hole], row[2 * hole :]) for row in cards.tolist()])


def _played(
    strategy: BucketStrategy, table: Float64, cards: NDArray[np.uint8], edges: Float64
) -> tuple[Float64, Float64]:
    """How likely each node is in deals, and what the first position wins from there on: (N, deals) each."""
    game = strategy.abstract
    tree, rules, hole = game.tree, game.definition, game.definition.hole_cards
    board = cards[:, 2 * hole :]
    seen = [np.hstack([cards[:, player * hole : (player + 1) * hole], board]) for player in range(2)]
    shift = np.stack([
        game.slot_start[2 * turn + player]
        + dealt_buckets(game, player, seen[player], turn) * game.slot_width[2 * turn + player]
        for turn in range(rules.rounds) for player in range(2)
    ])  # fmt: skip
    chosen = np.ones((len(tree), len(cards)))
    parent = tree.parent[1:].astype(np.int64)
    slot = 2 * tree.round[parent].astype(np.int64) + tree.player[parent]
    place = game.node_offset[parent].astype(np.int64) + np.arange(1, len(tree)) - tree.first_child[parent]
    chosen[1:] = table[shift[slot] + place[:, None]]
    chance = np.ones_like(chosen)
    values = _at_ends(tree, EdgeValues(np.zeros(len(tree)), np.zeros(len(tree))))
    won = values.base[:, None] + values.slope[:, None] * np.sign(np.round(edges[:, -1], 9))[None]
    levels = node_levels(tree)
    for level in levels[1:]:
        chance[level] = chance[tree.parent[level]] * chosen[level]
    for level in reversed(levels[1:]):
        np.add.at(won, tree.parent[level], chosen[level] * won[level])
    return chance, won
