"""Exact expected winnings of profiles against each other, over all seatings: what matches must come close to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from counterplay.agents.matches import seatings_of
from counterplay.agents.tournaments import TournamentConfig
from counterplay.evaluation import expected_values
from counterplay.strategy import TabularStrategy
from counterplay.tree import GameTree


def seated(tree: GameTree, profiles: Sequence[TabularStrategy], seating: Sequence[int]) -> TabularStrategy:
    """The profile in which each position plays the strategy of the agent that sits there."""
    values = np.empty(tree.num_entries)
    for position, agent in enumerate(seating):
        low, high = tree.infoset_offset[tree.player_infosets[position : position + 2]]
        values[low:high] = profiles[agent].table[low:high]
    return TabularStrategy.from_tree(tree, values)


def exact_scores(tree: GameTree, profiles: Sequence[TabularStrategy]) -> list[float]:
    """Expected chips a hand of each agent, mean over all seatings."""
    seatings = seatings_of(tree.players)
    won = [0.0] * len(profiles)
    for seating in seatings:
        for position, value in enumerate(expected_values(seated(tree, profiles, seating), tree)):
            won[seating[position]] += value / len(seatings)
    return won


def config(
    game: str = "kuhn", entries: str = "always-call always-raise always-fold uniform", deals: int = 1000, **more: object
) -> TournamentConfig:
    """A small tournament."""
    return TournamentConfig(game, tuple(entries.split()), deals, **more)  # type: ignore[arg-type]
