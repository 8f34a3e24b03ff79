"""Groups of opponents who bet alike: what each does in a situation, whatever its cards.

Implicit modelling (Johanson 2016, section 10.2.2) puts anticipated opponents into clusters and responds to each; how is
not said.  Ours: a *situation* is the round of betting and how often it was raised in that round, and an opponent is its
frequencies of folding, calling and raising in each situation.  These are counted without looking at cards, so that logs
may hide them.  Opponents are clustered by k-means; a situation weighs as much as it occurs, and an opponent as much as
any other.  Frequencies with few decisions behind them are drawn towards those of all opponents together, by as many
decisions as make data enough elsewhere (``modelling.confidence``).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from counterplay.abstraction.cards.clustering import KMeansConfig, Points, k_means, merge_points
from counterplay.errors import GameError
from counterplay.modelling.confidence import ENOUGH
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.log_files import AnyPath, check_names, log_files
from counterplay.poker.rules import Betting

ACTIONS = "fcr"
"""Folding, calling or checking, and betting or raising any amount."""

RAISES = 2
"""Situations after so many raises of a round, or more, are one."""

RESTARTS = 20
"""Of k-means."""

UNIT = 1 << 15
"""Frequencies are clustered as integers: parts of this."""


@dataclasses.dataclass(frozen=True, eq=False)
class BettingHabits:
    """What opponents did.

    Attributes
    ----------
    names : tuple of str
        The opponents.
    counts : (opponents, situations, 3) int64
        How often each folded, called and raised in each situation.
    hands : (opponents,) int64
        The hands of each.
    """

    names: tuple[str, ...]
    counts: NDArray[np.int64]
    hands: NDArray[np.int64]

    def frequencies(self) -> NDArray[np.float64]:
        """(opponents, situations, 3) drawn towards those of all; situations that never came up are called in."""
        pooled = self.counts.sum(axis=0)
        seen = pooled.sum(axis=1, keepdims=True)
        usual = np.where(seen > 0, pooled / np.maximum(seen, 1), np.eye(len(ACTIONS))[1])
        own = self.counts.sum(axis=2, keepdims=True)
        return np.asarray((self.counts + ENOUGH * usual) / (own + ENOUGH))

    def weights(self) -> NDArray[np.float64]:
        """(situations,) the share of all decisions that are made in each."""
        seen = self.counts.sum(axis=(0, 2))
        return np.asarray(seen / max(int(seen.sum()), 1))


def betting_habits(
    logs: AnyPath | Sequence[AnyPath], rules: GameDefinition, game: str, names: Sequence[str] = ()
) -> BettingHabits:
    """What players did in logged hands: those with these names, by default all.

    Raises
    ------
    GameError
        If a file cannot be read or is of another game, a hand is broken, or nobody has such a name.
    """
    files = log_files(logs)
    for file in files:
        file.check(rules, game)
    if names:
        check_names(files, names)
    found: dict[str, NDArray[np.int64]] = {}
    hands: dict[str, int] = {}
    for file in files:
        for number, text in file.hands():
            try:
                state, players = file.played(rules, text)
            except (GameError, ValueError) as error:
                raise GameError(f"{file.path}, line {number}: {error}") from None
            for name in players:
                hands[name] = hands.get(name, 0) + 1
            for player, situation, action in decisions(state.betting):
                counts = found.setdefault(players[player], np.zeros((rules.rounds * (RAISES + 1), 3), np.int64))
                counts[situation, action] += 1
    known = tuple(dict.fromkeys(names)) if names else tuple(sorted(hands))
    empty = np.zeros((rules.rounds * (RAISES + 1), 3), np.int64)
    counts = np.array([found.get(name, empty) for name in known]).reshape(len(known), -1, 3)
    return BettingHabits(known, counts, np.array([hands.get(name, 0) for name in known], np.int64))


def decisions(betting: Betting) -> list[tuple[int, int, int]]:
    """The position, the situation and the kind of action of each decision of a hand."""
    step, found = Betting.start(betting.game), []
    for turn, actions in enumerate(betting.actions):
        raises = 0
        for action in actions:
            kind = ACTIONS.index(action[0])
            found.append((step.player, turn * (RAISES + 1) + min(raises, RAISES), kind))
            raises += kind == 2
            step = step.act(action)
    return found


def group_opponents(habits: BettingHabits, groups: int, seed: int = 0) -> list[tuple[str, ...]]:
    """The opponents of each group, the one with most hands first.

    Raises
    ------
    GameError
        If there are fewer opponents that differ than groups.
    """
    if groups < 1:
        raise GameError(f"opponents are put into at least 1 cluster; got {groups}")
    if len(habits.names) < groups:
        raise GameError(
            f"the logs have {len(habits.names)} opponents ({', '.join(habits.names)}), which cannot make {groups} "
            "clusters; ask for fewer with --clusters, or give more logs"
        )
    rows = np.rint(UNIT * habits.frequencies()).astype(np.int32).reshape(len(habits.names), -1)
    distinct, weights, place = merge_points(rows, np.ones(len(rows), np.int64))
    if len(distinct) < groups:
        raise GameError(
            f"only {len(distinct)} of {len(habits.names)} opponents bet differently, which cannot make {groups} "
            "clusters; ask for fewer with --clusters"
        )
    scale = np.repeat(np.sqrt(habits.weights()), len(ACTIONS)) / UNIT
    points = Points(distinct, scale.astype(np.float32), weights, "euclidean")
    label = k_means(points, groups, KMeansConfig(seed, RESTARTS)).label[place]
    members = [
        tuple(habits.names[number] for number in np.flatnonzero(label == group).tolist()) for group in range(groups)
    ]
    hands = dict(zip(habits.names, habits.hands.tolist(), strict=True))
    return sorted(members, key=lambda names: (-sum(hands[name] for name in names), names))
