"""``CardAbstraction``: the bucket of a hand in each round, as tables and as a file.

A card abstraction maps the cards that a player sees, hole cards and board, to a bucket; betting is unchanged (Johanson
2016, sections 5.2 and 5.4).  With *imperfect recall* the bucket of a round depends on the cards alone, and earlier
buckets are forgotten.  With *perfect recall* a bucket identifies the whole sequence of buckets so far.  Where each
bucket is split into ``k`` of the next round, as the builder does, bucket ``b`` of a round comes from bucket ``b // k``
of the previous round.

A table is indexed by the index of a hand up to a permutation of suits (``counterplay.poker.isomorphism``), with its own
shape: most features ignore the order of the board cards, so river hands are indexed as (2, 5), which has 123 million
indices instead of 2,428 million.  Where the bucket also depends on the previous bucket, the table gives a *class* of
hands and ``cuts`` the bucket for each pair of a previous bucket and a class.
"""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias, TypedDict

import numpy as np
import numpy.typing as npt

import counterplay
from counterplay.errors import AbstractionError
from counterplay.poker.acpc.definition import GameDefinition, round_name, with_article
from counterplay.poker.buckets.round_buckets import look_up
from counterplay.poker.isomorphism import HandIndexer
from counterplay.runtime.array_checks import check_limits
from counterplay.runtime.header_checks import check_header
from counterplay.runtime.memory import format_bytes
from counterplay.runtime.notebook import Described
from counterplay.storage import read_container, write_container

KIND = "card-abstraction"
"""The kind in the header of a ``.cpa`` file."""

MAX_BUCKETS = 2**31 - 1
"""Buckets are numbered by int32."""

Recall: TypeAlias = Literal["perfect", "imperfect"]
Table: TypeAlias = npt.NDArray[Any]


class RoundHeader(TypedDict):
    """What the header of a file says of a round."""

    shape: list[int]
    count: int
    name: str


class CardsHeader(TypedDict):
    """What the header of a file holds."""

    deck: tuple[int, int]
    shape: list[int]
    recall: str
    rounds: list[RoundHeader]
    provenance: dict[str, Any]


@dataclasses.dataclass(frozen=True, eq=False)
class BucketTable:
    """The buckets of one round."""

    # how the cards seen so far are grouped when a hand is indexed: (2, 3, 1), or (2, 4) where order does not matter
    shape: tuple[int, ...]
    count: int  # number of buckets of the round; with perfect recall, of sequences of buckets
    table: Table | None = None  # the class of each index of ``HandIndexer(shape)``; None where every index is a class
    cuts: Table | None = None  # the bucket of a class after a previous bucket; None where classes are buckets
    name: str = ""  # how the buckets were made, such as ``KE570``

    @property
    def bytes(self) -> int:
        """Memory of the arrays."""
        return sum(0 if array is None else array.nbytes for array in (self.table, self.cuts))


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class CardAbstraction(Described):
    """Buckets of hands by round, for one deck and shape of the rounds.

    Attributes
    ----------
    deck : (ranks, suits)
        The deck, see ``counterplay.poker.cards.deck``.
    shape : tuple of int
        Hole cards, then the board cards that each later round deals: (2, 3, 1, 1) is hold'em.
    rounds : tuple of BucketTable
        One for each round.
    recall : "perfect" or "imperfect"
        Whether a bucket identifies all earlier buckets.
    provenance : mapping
        How it was made: families, seed, version, seconds.
    """

    deck: tuple[int, int]
    shape: tuple[int, ...]
    rounds: tuple[BucketTable, ...]
    recall: Recall = "imperfect"
    provenance: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.rounds) != len(self.shape):
            raise AbstractionError(f"the shape {self.shape} needs {len(self.shape)} tables; got {len(self.rounds)}")
        if self.recall not in ("perfect", "imperfect"):
            raise AbstractionError(f"recall is perfect or imperfect; got {self.recall!r}")
        for turn, (table, indexer) in enumerate(zip(self.rounds, self._indexers, strict=True)):
            before = self.rounds[turn - 1] if turn else None
            name = with_article(round_name(self.shape, turn))
            check_table(table, name, sum(self.shape[: turn + 1]), indexer, before)

    def _title(self) -> str:
        return f"CardAbstraction {'/'.join(table.name or str(table.count) for table in self.rounds)}"

    def _sizes(self) -> list[tuple[str, str]]:
        return [
            ("ranks and suits", " x ".join(map(str, self.deck))),
            ("recall", self.recall),
            ("buckets", "/".join(f"{table.count:,}" for table in self.rounds)),
            ("memory", format_bytes(sum(table.bytes for table in self.rounds))),
        ]

    # ------------------------------------------------------------------------------------------ simple cases

    @classmethod
    def lossless(cls, deck: tuple[int, int], shape: Sequence[int]) -> CardAbstraction:
        """A bucket for each hand up to a permutation of suits, with perfect recall: nothing is lost."""
        sizes = HandIndexer(tuple(shape), *deck).sizes
        rounds = [BucketTable(tuple(shape[: turn + 1]), size, name="lossless") for turn, size in enumerate(sizes)]
        return cls(deck, tuple(shape), tuple(rounds), "perfect", {"version": counterplay.__version__})

    @classmethod
    def single(cls, deck: tuple[int, int], shape: Sequence[int]) -> CardAbstraction:
        """One bucket for all hands in every round."""
        rounds = []
        for turn in range(len(shape)):
            whole = (sum(shape[: turn + 1]),) if turn == 0 else (shape[0], sum(shape[1 : turn + 1]))
            size = HandIndexer(whole, *deck).size()
            rounds.append(BucketTable(whole, 1, np.zeros(size, dtype=np.uint8), name="1"))
        return cls(deck, tuple(shape), tuple(rounds), "imperfect", {"version": counterplay.__version__})

    # ------------------------------------------------------------------------------------------ lookup

    @functools.cached_property
    def _indexers(self) -> tuple[HandIndexer, ...]:
        return tuple(HandIndexer(table.shape, *self.deck) for table in self.rounds)

    def counts(self) -> tuple[int, ...]:
        """Number of buckets of each round; with perfect recall, of sequences of buckets."""
        return tuple(table.count for table in self.rounds)

    def buckets(self, hole: npt.ArrayLike, board: npt.ArrayLike) -> npt.NDArray[np.int32]:
        """The buckets of many deals of one player: (N, rounds), a column for each round that the board reaches.

        ``hole`` has a row of own cards for each deal, ``board`` a row of board cards in the order of the rounds, up to
        any round: 0, 3, 4 or 5 in hold'em.
        """
        own, shared = np.asarray(hole), np.asarray(board)
        if own.ndim != 2 or shared.ndim != 2 or len(own) != len(shared) or own.shape[1] != self.shape[0]:
            raise AbstractionError(
                f"deals are rows of {self.shape[0]} hole cards and rows of board cards, as many of each; "
                f"got arrays of shape {own.shape} and {shared.shape}"
            )
        ends = np.cumsum((0, *self.shape[1:])).tolist()
        if shared.shape[1] not in ends:
            raise AbstractionError(f"a board of the shape {self.shape} has one of {ends} cards; got {shared.shape[1]}")
        cards = np.hstack([own, shared]) if shared.size else own
        reached = ends.index(shared.shape[1]) + 1
        found = np.empty((len(own), reached), dtype=np.int32)
        for turn in range(reached):
            index = self._indexers[turn].indices(cards[:, : self.shape[0] + ends[turn]])
            found[:, turn] = look_up(self.rounds[turn], index, found[:, turn - 1] if turn else None)
        return found

    def check_game(self, game: GameDefinition) -> None:
        """Refuse a game with other cards.  Raises AbstractionError if its deck or its rounds differ."""
        deck, shape = deck_shape(game)
        if (deck, shape) != (self.deck, self.shape):
            raise AbstractionError(
                f"this card abstraction is for {_cards_text(self.deck, self.shape)}; "
                f"the game has {_cards_text(deck, shape)}; build one for it with `counterplay abstract`"
            )

    # ------------------------------------------------------------------------------------------ files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a ``.cpa`` file, atomically; docs/card-abstraction.md describes its contents."""
        header = {
            "deck": list(self.deck), "shape": list(self.shape), "recall": self.recall,
            "rounds": [{"shape": list(table.shape), "count": table.count, "name": table.name} for table in self.rounds],
            "provenance": dict(self.provenance),
        }  # fmt: skip
        parts = {f"table_{turn}": table.table for turn, table in enumerate(self.rounds)}
        parts |= {f"cuts_{turn}": table.cuts for turn, table in enumerate(self.rounds)}
        arrays = {name: array for name, array in parts.items() if array is not None}
        write_container(path, KIND, header, arrays)

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], game: GameDefinition | None = None, verify: bool = True
    ) -> CardAbstraction:
        """Read a ``.cpa`` file, which must fit the ``game`` if one is given; the tables are memory maps.

        ``verify`` compares the checksum and checks every bucket, which reads the whole file.

        Raises StrategyError if the file is damaged, truncated or of another kind; AbstractionError if its tables do
        not fit its cards, or it is for other cards than the game's.
        """
        header, arrays = read_container(path, KIND, verify)
        check_header(path, header, CardsHeader)
        try:
            rounds = tuple(
                BucketTable(
                    tuple(entry["shape"]), entry["count"], arrays.get(f"table_{turn}"), arrays.get(f"cuts_{turn}"),
                    entry["name"],
                )
                for turn, entry in enumerate(header["rounds"])
            )  # fmt: skip
            made = cls(tuple(header["deck"]), tuple(header["shape"]), rounds, header["recall"], header["provenance"])
            if verify:
                for turn, table in enumerate(made.rounds):
                    check_buckets(table, turn)
        except (KeyError, TypeError) as error:
            raise AbstractionError(f"{path} is damaged: its header lacks {error}") from None
        except ValueError as error:
            raise AbstractionError(f"{path} is damaged: {error}") from None
        except AbstractionError as error:
            raise AbstractionError(f"{path} is damaged: {error}") from error
        if game is not None:
            made.check_game(game)
        return made


def deck_shape(game: GameDefinition) -> tuple[tuple[int, int], tuple[int, ...]]:
    """The deck (ranks, suits) of a game, and its shape: hole cards, then the board cards of each later round."""
    first, *later = game.board_cards
    if first or not all(later):
        raise AbstractionError(
            "a card abstraction needs a first round without board cards and later rounds with some; "
            f"the game deals {game.board_cards}"
        )
    return (game.ranks, game.suits), (game.hole_cards, *later)


def _cards_text(deck: tuple[int, int], shape: tuple[int, ...]) -> str:
    return f"{deck[0]} ranks, {deck[1]} suits and rounds of {', '.join(map(str, shape))} cards"


def check_table(table: BucketTable, name: str, cards: int, indexer: HandIndexer, before: BucketTable | None) -> None:
    """Refuse the table of a round for another number of hands, or of other types, by an AbstractionError."""
    if sum(table.shape) != cards:
        raise AbstractionError(f"hands of {name} have {cards} cards; its table is for {table.shape}")
    if not 1 <= table.count <= MAX_BUCKETS:
        raise AbstractionError(f"a round has 1 to {MAX_BUCKETS:,} buckets; {name} has {table.count:,}")
    classes = indexer.size()
    for array in (table.table, table.cuts):
        if array is not None and array.dtype.kind not in "iu":
            raise AbstractionError(f"buckets of {name} must be integers; got {array.dtype}")
    if table.table is not None:
        if table.table.shape != (classes,):
            raise AbstractionError(
                f"the table of {name} must have {classes:,} entries for the shape {table.shape}; "
                f"got an array of shape {table.table.shape}"
            )
    elif table.cuts is None and table.count != classes:
        raise AbstractionError(f"{name} without a table has {classes:,} buckets; got {table.count:,}")
    fitting = table.cuts is None or (before is not None and table.cuts.ndim == 2 and len(table.cuts) == before.count)
    if table.cuts is not None and fitting and table.table is None and table.cuts.shape[1] < classes:
        raise AbstractionError(f"the cuts of {name} need {classes:,} columns; got {table.cuts.shape[1]:,}")
    if table.cuts is not None and not fitting:
        raise AbstractionError(
            f"the cuts of {name} need a row for each bucket of the previous round; got {table.cuts.shape}"
        )


def check_buckets(table: BucketTable, turn: int) -> None:
    """Refuse classes and buckets that do not exist: kernels trust them.  Raises ValueError."""
    if table.cuts is not None:
        check_limits(f"cuts_{turn}", table.cuts, 0, table.count - 1)
    if table.table is not None:
        check_limits(f"table_{turn}", table.table, 0, (table.count if table.cuts is None else table.cuts.shape[1]) - 1)
