"""The agent interface: an agent sees the state of a hand and returns an action.

In poker from a competition definition an agent sees a ``MatchState`` and answers in the letters of the protocol
(``f``, ``c``, ``r``, ``r250``).  In any other game it sees a ``Decision`` and answers with one of its actions.  An
agent that always plays the same probabilities in the same situation is a ``Policy``: in games that can be compiled it
is converted to a profile, and hands are then played by a kernel.
"""

from __future__ import annotations

import dataclasses
import hashlib
import random
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from counterplay.poker.acpc.match_state import MatchState
from counterplay.strategy.strategy import Provenance
from counterplay.strategy.tabular import TabularStrategy
from counterplay.tree.history.game_tree import GameTree


@dataclasses.dataclass(frozen=True, slots=True)
class Decision:
    """A decision in a game that is not a poker definition: who acts, the infoset, the legal actions."""

    hand_id: int
    player: int
    infoset: str
    actions: tuple[str, ...]


Seen: TypeAlias = MatchState | Decision
"""What an agent sees when it must act."""


class Agent:
    """Base class of agents."""

    def act(self, seen: Seen) -> str:
        """The action to take."""
        raise NotImplementedError  # protocol

    def observe(self, state: MatchState) -> None:
        """Called by the client when a hand is over, with what this player sees of it."""

    def remarks(self) -> list[str]:
        """Lines for the report of a match that is over."""
        return []


class Policy(Agent):
    """An agent whose probabilities depend only on what it sees now; ``seed`` is that of the actions drawn.

    At a dealer's table the number that draws an action depends on the hand and its betting only, so that a match which
    is resumed in the middle is the same as one that was never interrupted.
    """

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self._random = random.Random(seed)

    def draw(self, seen: Seen) -> float:
        """The random number in [0, 1) of a decision."""
        if isinstance(seen, Decision):
            return self._random.random()
        return self.number_of(seen.hand_id, f"act {seen.betting.text()}")

    def number_of(self, hand_id: int, text: str) -> float:
        """A random number in [0, 1) that stays the same for a text throughout a hand."""
        digest = hashlib.blake2b(f"{self.seed}:{hand_id}:{text}".encode(), digest_size=8).digest()
        return (int.from_bytes(digest, "little") >> 11) / 2.0**53

    def distribution(self, seen: Seen) -> Sequence[tuple[str, float]]:
        """Actions with their probabilities, which sum to 1."""
        raise NotImplementedError  # protocol

    def act(self, seen: Seen) -> str:
        """Draw an action."""
        options = self.distribution(seen)
        if len(options) == 1:
            return options[0][0]
        left = self.draw(seen)
        for action, probability in options:
            left -= probability
            if left < 0.0:
                return action
        return max(options, key=lambda option: option[1])[0]  # reached only by rounding errors


def policy_profile(policy: Policy, tree: GameTree) -> TabularStrategy:
    """A policy as a strategy of a compiled game, for all seats."""
    values = np.zeros(tree.num_entries)
    for infoset, name in enumerate(tree.infoset_names):
        actions = tree.actions_of(infoset)
        first = int(tree.infoset_offset[infoset])
        seen = Decision(0, int(tree.infoset_player[infoset]), name, actions)
        for action, probability in policy.distribution(seen):
            values[first + actions.index(action)] += probability
    return TabularStrategy.from_tree(tree, values, Provenance(type(policy).__name__))
