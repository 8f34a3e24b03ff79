"""Which betting sequences matter, from logs of matches: the parts of the three-player agents of 2012 and 2013.

Gibson (2014, sections 8.3 and 8.4) values a betting sequence by how often an agent had to decide there, as a fraction
of its hands, times the pot, in chips where the big blind is 10.  A sequence is *important* if its value is above a
threshold, or if an important one begins with it.  The important sequences are a part of the game, with finer cards than
the rest: the start of the game, where a third of all decisions of three players begin with a pot of 15, is worth 5.

What follows an important sequence is important itself or belongs to the base, so this is a grafting partition.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterplay.abstraction.experts import Part
from counterplay.errors import AbstractionError, GameError
from counterplay.kernels.buckets.bucket_matches import play_buckets
from counterplay.poker.acpc.dealing import deal_array
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.buckets.bucket_game import BucketGame, node_levels, walk_order
from counterplay.poker.buckets.deal_sampler import DealSampler
from counterplay.poker.log_files import AnyPath, LogFile, check_names, log_files
from counterplay.poker.poker_game import standard_name
from counterplay.poker.rules import Betting

BIG_BLIND = 10
"""Chips of the big blind in which pots are counted, as in the competition's limit games."""

BATCH = 1 << 12
"""Hands that are dealt at a time."""


@dataclasses.dataclass(frozen=True)
class SequenceValues:
    """What the betting sequences of logged hands are worth to a player.

    Attributes
    ----------
    hands : int
        Hands in which the player sat.
    decisions : mapping
        How often the player had to decide, by the betting before it, such as ``rc/`` at the beginning of the second
        round.
    pots : mapping
        The chips in the pot there, big blind 10.
    """

    hands: int
    decisions: Mapping[str, int]
    pots: Mapping[str, float]

    def values(self) -> dict[str, float]:
        """The value of each sequence, the largest first."""
        found = {text: count * self.pots[text] / self.hands for text, count in self.decisions.items()}
        return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))

    def important(self, threshold: float) -> tuple[str, ...]:
        """The sequences whose value is above a threshold, and all that they begin with, the shortest first.

        Raises
        ------
        AbstractionError
            If the threshold is no number of at least 0, or no value is above it.
        """
        if not (isinstance(threshold, int | float) and math.isfinite(threshold) and threshold >= 0.0):
            raise AbstractionError(f"the threshold of importance is a number of at least 0; got {threshold!r}")
        found: set[str] = set()
        for text, value in self.values().items():
            if value > threshold:
                found.update(beginnings(text))
        if not found:
            most = max(self.values().values(), default=0.0)
            raise AbstractionError(f"no betting is worth more than {threshold:g}; the most is {most:.4g}")
        return tuple(sorted(found, key=lambda text: (len(text.replace("/", "")), text)))

    def part(self, threshold: float) -> Part:
        """The decisions after important sequences, of all players, as a part of the game."""
        return Part(self.important(threshold), below=False)


def beginnings(text: str) -> list[str]:
    """All sequences that a betting begins with, itself and the empty one included, as ``Betting.text`` writes them.

    >>> beginnings("rc/")
    ['', 'r', 'rc/']
    """
    return [*(text[:place] for place, letter in enumerate(text) if letter != "/" and not letter.isdigit()), text]


def check_logs(logs: AnyPath | Sequence[AnyPath], names: Sequence[str], game: GameDefinition) -> list[LogFile]:
    """The files, after a look at their first hands.

    Raises
    ------
    GameError
        If a file cannot be read or is of another game, or nobody has one of the names.
    """
    files = log_files(logs)
    for file in files:
        file.check(game, standard_name(game) or "the game")
    check_names(files, names)
    return files


def sequence_values(
    logs: AnyPath | Sequence[AnyPath], player: str | Sequence[str], game: GameDefinition, broken: str = "refuse"
) -> SequenceValues:
    """Count the decisions of a player in logged hands by the betting before them.

    Parameters
    ----------
    logs : path or sequence of paths
        Logs of the competition, or hand histories (``.phh``, ``.phhs``).
    player : str or sequence of str
        A name in the logs, or several of one player.
    game : GameDefinition
        What was played.
    broken : {"refuse", "skip"}
        Whether a broken hand is refused or left out.

    Raises
    ------
    GameError
        If a file cannot be read or is of another game, nobody has that name, or a hand is broken.
    """
    names = [player] if isinstance(player, str) else list(player)
    if broken not in ("refuse", "skip"):
        raise GameError(f"broken hands are refused or skipped; got {broken!r}")
    files = check_logs(logs, names, game)
    unit = BIG_BLIND / float(game.big_blind)
    hands = 0
    decisions: dict[str, int] = {}
    pots: dict[str, float] = {}
    for file in files:
        for number, text in file.hands():
            try:
                state, seats = file.played(game, text)
            except (GameError, ValueError) as error:
                if broken == "skip":
                    continue
                raise GameError(f"{file.path}, line {number}: {error}; correct the line or take it out") from None
            if not set(names) & set(seats):
                continue
            hands += 1
            step = Betting.start(game)
            for action in (action for turn in state.betting.actions for action in turn):
                if seats[step.player] in names:
                    before = step.text()
                    decisions[before] = decisions.get(before, 0) + 1
                    pots[before] = unit * step.pot
                step = step.act(action)
    return SequenceValues(hands, decisions, pots)


def self_play_values(game: BucketGame, strategy: NDArray[Any], hands: int, seed: int = 0) -> SequenceValues:
    """The same from hands that a strategy of a bucket game plays against itself, in all seats."""
    tree, players = game.tree, game.players
    dealt = deal_array(game.definition, seed % 2**32, hands).astype(np.uint8)
    sampler, walks, table = DealSampler(game, min(hands, BATCH)), game.walks(), np.arange(players)[None]
    counts = np.zeros(len(tree), np.int64)
    for start in range(0, hands, BATCH):
        some = dealt[start : start + BATCH]
        scores, ends = np.empty((len(some), players)), np.empty((len(some), 1), np.int32)
        cards = sampler.shifts(some)
        play_buckets(
            (walks.nodes,) * players, (cards,) * players, (strategy,) * players, walks.utility, table, np.uint64(seed),
            start, scores, ends,
        )  # fmt: skip
        counts += np.bincount(ends.ravel(), minlength=len(tree))
    counts = counts[walk_order(tree)]  # by the nodes of the tree, not in the order of walks
    for level in reversed(node_levels(tree)[1:]):
        np.add.at(counts, tree.parent[level], counts[level])
    met = np.flatnonzero((counts > 0) & (tree.player >= 0))
    pots = tree.spent[met].sum(axis=1) * (BIG_BLIND / float(game.definition.big_blind))
    texts = [tree.text(node) for node in met.tolist()]
    return SequenceValues(
        hands * players,
        dict(zip(texts, counts[met].tolist(), strict=True)),
        dict(zip(texts, pots.tolist(), strict=True)),
    )
