"""A game's description of its public play, from which its public tree is built without visiting histories.

For games in which chance deals each player one private hand at the start, independently, and every action after that is
public.  The play is a graph of *points*: a point is the part of the play that determines what can follow.  Paths to the
same point are separate nodes of the public tree, which is the unfolding of the graph; so a graph of a few dozen points
can represent millions of public states.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable


@dataclasses.dataclass(frozen=True)
class PlayPoint:
    """A decision."""

    player: int  # who acts, 0 or 1
    actions: tuple[str, ...]  # the legal actions
    after: tuple[int, ...]  # the index in ``PublicPlay.points`` of the point after each action


@dataclasses.dataclass(frozen=True)
class PlayEnd:
    """A terminal point whose payoff depends only on a class of each hand (Johanson 2016, section 2.4)."""

    classes: tuple[tuple[int, ...], tuple[int, ...]]  # for each player, the class of each hand, from 0
    utility: tuple[tuple[float, ...], ...]  # what player 0 wins, by the classes of player 0's and of player 1's hand


@dataclasses.dataclass(frozen=True)
class PublicPlay:
    """The public play of a two-player zero-sum game with perfect recall."""

    # what each player can be dealt, with its probability
    hands: tuple[tuple[tuple[str, float], ...], tuple[tuple[str, float], ...]]
    points: tuple[PlayPoint | PlayEnd, ...]  # the play; it starts at the first
    # the name of an information set, from the name of a hand and the actions taken before
    infoset: Callable[[str, tuple[str, ...]], str]
