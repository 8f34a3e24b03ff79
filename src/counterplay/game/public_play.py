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
    """A decision.

    Attributes
    ----------
    player : int
        Who acts, 0 or 1.
    actions : tuple of str
        The legal actions.
    after : tuple of int
        The index in ``PublicPlay.points`` of the point after each action.
    """

    player: int
    actions: tuple[str, ...]
    after: tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class PlayEnd:
    """A terminal point whose payoff depends only on a class of each hand (Johanson 2016, section 2.4).

    Attributes
    ----------
    classes : pair of tuples of int
        For each player, the class of each hand, from 0.
    utility : tuple of tuples of float
        What player 0 wins, by the classes of player 0's and of player 1's hand.
    """

    classes: tuple[tuple[int, ...], tuple[int, ...]]
    utility: tuple[tuple[float, ...], ...]


@dataclasses.dataclass(frozen=True)
class PublicPlay:
    """The public play of a two-player zero-sum game with perfect recall.

    Attributes
    ----------
    hands : pair of tuples of (str, float)
        What each player can be dealt, with its probability.
    points : tuple of PlayPoint and PlayEnd
        The play; it starts at the first.
    infoset : callable
        The name of an information set, from the name of a hand and the actions taken before.
    """

    hands: tuple[tuple[tuple[str, float], ...], tuple[tuple[str, float], ...]]
    points: tuple[PlayPoint | PlayEnd, ...]
    infoset: Callable[[str, tuple[str, ...]], str]
