"""``stitch``: a base strategy and experts for parts of the betting as one strategy.

Gibson 2014, definitions 2.8 and 7.1: the base plays in part 0, expert j in part j.  The result is a strategy like any
other: by infosets, a table whose rows are those of the base or of an expert; by buckets, one whose buckets depend on
the betting (``poker.buckets.bucket_game``), so that every expert keeps its own card abstraction.  What it plays is what
its parts play, to the bit.

The base may be stitched itself, and parts may lie inside its parts, as in the agent of 2010 (section 8.1): its base has
other cards once a player has folded, and its experts play after some folds.  Condition 3 of grafting partitions then
holds for each stitch, whose base is one strategy whatever it is made of, and not for all parts at once: what follows an
expert of the base may lie in an expert of the second stitch, which should be solved with the stitched base.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterplay.abstraction.cards.expert_buckets import with_experts
from counterplay.abstraction.experts import Part, infoset_labels, label_parts, read_parts
from counterplay.errors import AbstractionError, StrategyError
from counterplay.forms import open_game
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.strategy.bucket_strategy import BucketStrategy, packed
from counterplay.strategy.public_strategy import PublicStrategy
from counterplay.strategy.strategy import Provenance, Strategy, not_a_strategy
from counterplay.strategy.tabular import TabularStrategy
from counterplay.tree.history.game_tree import GameTree

CHUNK = 1 << 22
"""Entries that are copied at a time."""


def stitch(base: Strategy, experts: Mapping[Any, Strategy], game: Any = None) -> Strategy:
    """One strategy from a base and experts.

    Parameters
    ----------
    base : Strategy
        What is played outside the parts.
    experts : mapping
        By part, as text such as ``rf``, ``kk/b@1`` (``abstraction.experts``) or ``Part``: what is played there, a
        strategy of the whole game, of which the rest is not used.
    game : GameTree, Game or str, optional
        The game of strategies by infosets, by default that of the base.

    Raises
    ------
    AbstractionError
        If the parts are no grafting partition of the game.
    StrategyError
        If the strategies are of different games, or some are by buckets and others are not.
    """
    parts = read_parts(experts)
    for part, expert in zip(parts, experts.values(), strict=True):
        if not isinstance(expert, Strategy):
            raise not_a_strategy(expert)
        if expert.players != base.players or (expert.game != base.game and isinstance(expert, BucketStrategy)):
            raise StrategyError(f"the expert of {part.text!r} is for {expert.game}, the base for {base.game}")
        if isinstance(base, BucketStrategy) != isinstance(expert, BucketStrategy):
            raise StrategyError(f"base and experts are all by buckets or none; the expert of {part.text!r} is not")
    names = {part.text: str(expert.provenance) for part, expert in zip(parts, experts.values(), strict=True)}
    origin = base.provenance
    settings = {"base": str(origin), "experts": names}
    seconds = sum(one.provenance.seconds for one in (base, *experts.values()))
    provenance = Provenance("stitched", settings, origin.seed, origin.iterations, seconds)
    if isinstance(base, BucketStrategy):
        return _stitch_buckets(base, dict(zip(parts, experts.values(), strict=True)), provenance)  # type: ignore[arg-type]
    tree = open_game(base.game if game is None else game, "history")
    labels = np.repeat(infoset_labels(tree, label_parts(tree, parts)), np.diff(tree.infoset_offset))
    tables = [_table(one, tree) for one in (base, *experts.values())]
    table = tables[0].copy()
    for number, other in enumerate(tables):
        table[labels == number] = other[labels == number]
    return TabularStrategy.from_tree(tree, table, provenance)


def _table(strategy: Strategy, tree: GameTree) -> NDArray[np.float64]:
    """A strategy by infosets, or on a public tree, as probabilities of all entries."""
    found = strategy.tabular if isinstance(strategy, PublicStrategy) else strategy
    if not isinstance(found, TabularStrategy):
        raise not_a_strategy(strategy, "a strategy by infosets")
    return found.for_tree(tree)


def _stitch_buckets(
    base: BucketStrategy, experts: Mapping[Part, BucketStrategy], provenance: Provenance
) -> BucketStrategy:
    """A strategy whose buckets are those of the base, and in each part those of its expert."""
    game, each = base.abstract, tuple(experts.values())
    labels = label_parts(game.tree, tuple(experts))
    zones = []
    for number, (part, expert) in enumerate(experts.items(), 1):
        other = expert.abstract
        if (other.definition, other.bets, other.tilt) != (game.definition, game.bets, game.tilt):
            raise StrategyError(f"the expert of {part.text!r} is for other rules or bets than the base")
        inside = np.flatnonzero(labels == number)
        held = np.zeros(1, np.int16) if other.zone is None else np.unique(other.zone[inside])
        if other.fixed is not None and not other.free[inside].all():
            raise AbstractionError(
                f"the expert of {part.text!r} was solved for {other.fixed.part!r} and plays there only"
            )
        if len(held) > 1:
            raise AbstractionError(
                f"the expert of {part.text!r} is itself stitched inside that part; name the parts of its experts"
            )
        zone = int(held[0])
        files = other.cards if zone == 0 else other.zones[zone - 1].cards
        zones.append((part, other.zone_buckets[zone], files))
    whole = dataclasses.replace(game, fixed=None, start=0)
    found = with_experts(whole, zones)
    storage = max((one.weights.dtype for one in (base, *each)), key=lambda kind: (kind.kind == "f", kind.itemsize))
    weights = np.zeros(found.num_entries, storage)
    for number, one in enumerate((base, *each)):
        _copy(one.abstract, packed(one.weights, storage.name), found, weights, labels == number)  # type: ignore[arg-type]
    return BucketStrategy.of_game(found, weights, provenance)


def _copy(
    source: BucketGame, weights: NDArray[Any], target: BucketGame, found: NDArray[Any], chosen: NDArray[np.bool_]
) -> None:
    """Copy the rows of some decisions from one bucket game to another with the same buckets there."""
    nodes = np.flatnonzero(chosen & target.free)
    own, new = source.slots_of(nodes), target.slots_of(nodes)
    for before, after in {*zip(own.tolist(), new.tolist(), strict=True)}:
        some = nodes[(own == before) & (new == after)]
        sizes = source.tree.num_children[some].astype(np.int64)
        step = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        columns = [np.repeat(game.node_offset[some].astype(np.int64), sizes) + step for game in (source, target)]
        starts = [int(game.slot_start[slot]) for game, slot in ((source, before), (target, after))]
        widths = [int(game.slot_width[slot]) for game, slot in ((source, before), (target, after))]
        buckets, chunk = int(source.slot_buckets[before]), max(1, CHUNK // max(1, len(step)))
        for first in range(0, buckets, chunk):
            rows = np.arange(first, min(first + chunk, buckets))[:, None]
            at, to = (start + rows * width + one for start, width, one in zip(starts, widths, columns, strict=True))
            found[to] = weights[at]
