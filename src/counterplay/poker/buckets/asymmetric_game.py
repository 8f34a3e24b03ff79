"""Bucket games in which the opponent sees the cards differently: an abstraction of one's own, another for the opponent.

Johanson 2016, sections 4.4 and 11.3.3.  An agent plays both seats in its own abstraction, and is solved in each against
an opponent in the other one: two bucket games, and of each the own seat is kept.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import ClassVar

from counterplay.errors import GameError
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.buckets.round_buckets import RoundBuckets

NONE = "none"
"""In place of the file of a card abstraction: every hand up to renaming suits is a bucket of its own."""


@dataclasses.dataclass(frozen=True, eq=False)
class AsymmetricGame:
    """The bucket games of an agent and an opponent with different abstractions, two players."""

    form_name: ClassVar[str] = BucketGame.form_name
    own: BucketGame  # both seats in the agent's abstraction: the game whose strategy is found
    seats: tuple[BucketGame, BucketGame]  # by seat of the agent: the opponent has the other abstraction
    opponent: str  # the file of the opponent's abstraction, or NONE

    @classmethod
    def build(cls, own: BucketGame, opponent: Sequence[RoundBuckets], cards: str = "") -> AsymmetricGame:
        """The games of an agent with the buckets of ``own`` and an opponent with others, from the file ``cards``."""
        if own.players != 2:
            raise GameError(f"an opponent with other cards is for two players; {own.name} has {own.players}")
        mine, files = own.buckets[0], (*own.cards[:1], cards) if own.cards and cards else ()

        def against(seat: int) -> BucketGame:
            turn = slice(None) if seat == 0 else slice(None, None, -1)
            both = [mine, tuple(opponent)][turn]
            return BucketGame.build(own.definition, both, own.bets, own.name, files[turn], tilt=own.tilt)

        return cls(own, (against(0), against(1)), cards)

    @property
    def name(self) -> str:
        """The name of the game."""
        return self.own.name
