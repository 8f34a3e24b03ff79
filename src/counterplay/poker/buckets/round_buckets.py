"""The buckets of hands, by player and round: what they are, checks, and looking one up."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import AbstractionError, GameError
from counterplay.poker.acpc.definition import GameDefinition, with_article
from counterplay.poker.evaluator import MAX_HAND
from counterplay.poker.isomorphism import HandIndexer

MAX_PLAYERS = 6
"""The hands of six players have 4,683 orders."""


class RoundBuckets(Protocol):
    """The buckets of a round, as ``abstraction.cards.BucketTable`` has them."""

    @property
    def shape(self) -> tuple[int, ...]:
        """How the cards are grouped when a hand is indexed by ``HandIndexer``."""

    @property
    def count(self) -> int:
        """Number of buckets."""

    @property
    def table(self) -> NDArray[Any] | None:
        """The class of each index; None where every index is a class."""

    @property
    def cuts(self) -> NDArray[Any] | None:
        """The bucket by the bucket of the previous round and the class; None where classes are buckets."""


Buckets = tuple[tuple[RoundBuckets, ...], ...]
"""By player and round."""


@functools.lru_cache(maxsize=32)
def hand_indexer(shape: tuple[int, ...], ranks: int, suits: int) -> HandIndexer:
    """An indexer, built once."""
    return HandIndexer(shape, ranks, suits)


def buckets_by_player(game: GameDefinition, buckets: Sequence[Any]) -> Buckets:
    """The buckets of each player, after checking that they are for the game's cards."""
    if game.players > MAX_PLAYERS:
        raise GameError(f"a bucket game has at most {MAX_PLAYERS} players; got {game.players}")
    if game.hole_cards + game.board_ends[-1] > MAX_HAND:
        held = game.hole_cards + game.board_ends[-1]
        raise GameError(f"hands of a bucket game have at most {MAX_HAND} cards; got {held}")
    rows = list(buckets)
    each = [tuple(row) for row in rows] if rows and isinstance(rows[0], Sequence) else [tuple(rows)] * game.players
    if len(each) != game.players:
        raise AbstractionError(f"the game has {game.players} players; got the buckets of {len(each)}")
    for tables in each:
        if len(tables) != game.rounds:
            raise AbstractionError(f"the game has {game.rounds} rounds; got the buckets of {len(tables)}")
        for number, table in enumerate(tables):
            cards, name = game.hole_cards + game.board_ends[number], with_article(game.round_name(number))
            if sum(table.shape) != cards:
                raise AbstractionError(f"hands of {name} have {cards} cards; its buckets are for {table.shape}")
            size = hand_indexer(tuple(table.shape), game.ranks, game.suits).size()
            if table.table is not None and table.table.shape != (size,):
                raise AbstractionError(
                    f"the buckets of {name} must be a table of {size} hands of {game.ranks} ranks and "
                    f"{game.suits} suits; got {table.table.shape}"
                )
            _check_range(table, name, size)
    return tuple(each)


def _check_range(table: RoundBuckets, name: str, size: int) -> None:
    """Refuse buckets that do not exist: kernels do not check them."""
    last = table.cuts if table.cuts is not None else table.table
    if last is None:
        low, high = 0, size - 1
    else:
        low, high = (int(last.min()), int(last.max())) if last.size else (0, 0)
    if low < 0 or high >= table.count:
        raise AbstractionError(f"buckets of {name} are 0 to {table.count - 1}; got {low} to {high}")
    if table.cuts is not None:
        classes = size - 1 if table.table is None else int(table.table.max())
        if classes >= table.cuts.shape[1]:
            raise AbstractionError(f"{name} has {table.cuts.shape[1]} classes of hands; got {classes + 1}")


def look_up(table: RoundBuckets, index: Any, before: Any) -> Any:
    """The bucket of a hand by its index, or of many, after the bucket of the previous round."""
    found = index if table.table is None else table.table[index]
    return found if table.cuts is None else table.cuts[before, found]


def buckets_digest(table: RoundBuckets) -> bytes:
    digest = hashlib.sha256(f"{tuple(table.shape)} {table.count}".encode())
    for array in (table.table, table.cuts):
        digest.update(b"none" if array is None else np.ascontiguousarray(array).data)
    return digest.digest()
