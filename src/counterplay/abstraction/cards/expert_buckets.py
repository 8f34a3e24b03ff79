"""Bucket games with experts: buckets that depend on the betting, and games in which only a part is still to be solved.

Gibson 2014, definitions 7.1 and 7.2.  ``with_experts`` gives parts of the betting buckets of their own: a dynamic
expert abstract game, solved once.  ``part_bucket_game`` is the game of a static expert or a graft: outside a part the
players who have an expert there play a base strategy, and need no entries.  Where all players have an expert after one
betting, walks begin there: a deal is drawn in proportion to the probability with which the base strategy plays that
betting with its hands (*folded prefix*), which spares the walks that would never get there.  The fixed point is the
same: what the base does before the part multiplies counterfactual values by a factor of the deal alone.
"""

from __future__ import annotations

import dataclasses
import itertools
import os
import re
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from counterplay.abstraction.experts import FOLDED, BettingSequences, Part, label_parts, read_parts
from counterplay.errors import AbstractionError
from counterplay.game.game import TERMINAL
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.betting import build_betting_tree, count_actions, count_betting
from counterplay.poker.buckets.bucket_game import BucketGame, FixedPlay, Zone
from counterplay.poker.buckets.prefix_sampler import prefix_steps
from counterplay.poker.buckets.round_buckets import RoundBuckets, buckets_by_player
from counterplay.poker.raise_sizes import BetAbstraction
from counterplay.poker.rules import Betting

CARDS_OF_PART = re.compile(r"((?:only:)?(?![/.])[a-zA-Z0-9/,.]*(?:@[0-9+]+)?)=(.+)", re.DOTALL)
"""The card abstraction of a part, as in ``rf=fine.cards``; what begins as a path does is none."""


def split_cards(cards: Sequence[str | os.PathLike[str]]) -> tuple[list[str], dict[str, list[str]]]:
    """The files of card abstractions for all betting, and those of parts, which are written ``rf=fine.cards``."""
    base: list[str] = []
    experts: dict[str, list[str]] = {}
    for text in (os.fspath(card) for card in cards):
        found = None if os.path.exists(text) else CARDS_OF_PART.fullmatch(text)
        if found is None:
            base.append(text)
        else:
            experts.setdefault(found[1], []).append(found[2])
    return base, experts


def with_experts(game: BucketGame, experts: Sequence[tuple[Part | str, Sequence[Any], Sequence[str]]]) -> BucketGame:
    """A bucket game in which parts of the betting have buckets of their own.

    Parameters
    ----------
    game : BucketGame
        The game with the base buckets; its own parts stay, but for what lies in new ones.  One of which nothing is
        left is dropped.
    experts : sequence of (part, buckets, files)
        The buckets of each part by round, for all players or for each, and the files that they are from.

    Raises
    ------
    AbstractionError
        If the parts are no grafting partition, or buckets are for other cards.
    """
    parts = read_parts(part for part, _, _ in experts)
    labels = label_parts(game.tree, parts)
    zone = np.zeros(len(game.tree), np.int16) if game.zone is None else game.zone.copy()
    inside = labels > 0
    zone[inside] = len(game.zones) + labels[inside]
    zones = [
        *game.zones,
        *(
            Zone(part.text, buckets_by_player(game.definition, buckets), tuple(files))
            for part, (_, buckets, files) in zip(parts, experts, strict=True)
        ),
    ]
    held = np.unique(zone[game.tree.player != TERMINAL])
    kept = held[held > 0]
    number = np.zeros(len(zones) + 1, np.int16)
    number[kept] = np.arange(1, len(kept) + 1)
    return game.laid_out([zones[one - 1] for one in kept.tolist()], number[zone], game.fixed, game.start)


Points: TypeAlias = tuple[tuple[int, ...], ...]
"""Numbers by player and round."""


def part_points(
    rules: GameDefinition, parts: Iterable[Part | str], bets: BetAbstraction | None = None
) -> list[tuple[Points, Points]]:
    """The decisions of parts that have an expert, and their actions, by player and round; counted, nothing is built.

    Raises
    ------
    AbstractionError, GameError
        If the game has no such player or betting, or two parts share a decision.
    """
    found = read_parts(parts)
    lines = [_lines(rules, part) for part in found]
    for number, part in enumerate(found):
        for before, other in enumerate(found[:number]):
            shared = _shared(lines[before], other.below, lines[number], part.below)
            if shared and set(part.members(rules.players)) & set(other.members(rules.players)):
                raise AbstractionError(f"the parts {other.text!r} and {part.text!r} overlap: both hold {shared!r}")
    return [_points(rules, part, list(own), bets) for part, own in zip(found, lines, strict=True)]


def _lines(rules: GameDefinition, part: Part) -> dict[str, tuple[str, ...]]:
    """The actions of the sequences of a part, by their text; without those that follow another one."""
    each: dict[str, tuple[str, ...]] = {}
    for text in part.sequences:
        if text == FOLDED:
            each[text] = (text,)
            continue
        betting = Betting.after(rules, text)
        if not betting.finished:
            each[betting.text()] = tuple(itertools.chain.from_iterable(betting.actions))
    if part.below:
        each = {text: one for text, one in each.items()
                if not any(one != other and one[: len(other)] == other for other in each.values())}  # fmt: skip
    return each


def _shared(one: dict[str, tuple[str, ...]], below: bool, other: dict[str, tuple[str, ...]], under: bool) -> str:
    """A decision that two parts have in common; nothing if there is none."""
    for held, all_below, another in ((one, below, other), (other, under, one)):
        if FOLDED in another:
            return next((text for text, line in held.items() if all_below or "f" in line), "")
    for (first, line), (second, after) in itertools.product(one.items(), other.items()):
        if line == after or (below and after[: len(line)] == line):
            return second
        if under and line[: len(after)] == after:
            return first
    return ""


def _points(rules: GameDefinition, part: Part, lines: list[str], bets: BetAbstraction | None) -> tuple[Points, Points]:
    """The decisions and actions of a part."""
    members = part.members(rules.players)
    found = np.zeros((2, rules.players, rules.rounds), object)
    if bets is not None and bets.once:  # what is left of these depends on what was bet before
        tree = build_betting_tree(rules, bets)
        nodes = np.flatnonzero(BettingSequences(tree).inside(part) & (tree.player != TERMINAL))
        where = tree.player[nodes], tree.round[nodes]
        np.add.at(found[0], where, 1)
        np.add.at(found[1], where, tree.num_children[nodes].astype(object))
        lines = []
    for text in lines:
        if part.below:
            counts = count_betting(rules, bets, folded=True) if text == FOLDED else count_betting(rules, bets, text)
            found += np.array([counts.player_decisions, counts.player_pairs], object)
        else:
            betting = Betting.after(rules, text)
            found[:, betting.player, betting.round] += np.array([1, count_actions(rules, bets, text)], object)
    rows = [
        tuple(tuple(map(int, row)) if player in members else (0,) * rules.rounds for player, row in enumerate(one))
        for one in found
    ]
    return rows[0], rows[1]


def part_bucket_game(
    base: BucketGame, strategy: NDArray[np.float64], part: Part | str,
    buckets: Sequence[RoundBuckets] | Sequence[Sequence[RoundBuckets]] | None = None, cards: Sequence[str] = (),
    file: str = "",
) -> BucketGame:  # fmt: skip
    """The bucket game of a part, outside which a strategy of another bucket game of the same betting is played.

    Parameters
    ----------
    base : BucketGame
        The game of the base strategy; players without an expert have its buckets outside the part.
    strategy : (E,) float64
        The probabilities of the base strategy.
    part : Part or str
        What is solved, and for whom.
    buckets, cards
        The buckets inside the part and the files that they are from; by default those of the base.
    file : str
        Where the base strategy is from, for checkpoints.

    Raises
    ------
    AbstractionError
        If the game has no such part, nothing lies outside it, or the base strategy never plays towards it.
    """
    part = Part.parse(part)
    inside = label_parts(base.tree, [part]) == 1
    members = part.members(base.players)
    fixed = (base.tree.player >= 0) & ~inside & np.isin(base.tree.player, members)
    if not fixed.any():
        raise AbstractionError(f"nothing lies outside the part {part.text!r}; solve the game itself")
    plain = dataclasses.replace(base, fixed=None, start=0)
    if buckets is not None:
        inner = with_experts(plain, [(part, buckets, tuple(cards))])
        zones, zone = inner.zones, inner.zone
    else:
        zones, zone = base.zones, base.zone
    start = 0
    if len(members) == base.players and len(part.sequences) == 1 and part.below:
        start = BettingSequences(base.tree).find(part.sequences[0])
    play = FixedPlay(fixed, base, strategy, part.text, file)
    found = plain.laid_out(zones, zone, play, start)
    if start and not all(chances.any() for _, chances in prefix_steps(found)):
        raise AbstractionError(f"the base strategy never plays {part.sequences[0]!r}; an expert there learns nothing")
    return found
