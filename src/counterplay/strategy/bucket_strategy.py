"""``BucketStrategy``: a strategy of a bucket game, looked up by the betting and the bucket of the cards.

An infoset is named by real cards, as ``AsKs/2c7dTh:rc/``, or by its bucket, as ``17:rc/``.  Files hold only the
probabilities, in one or two bytes each (Gibson 2014, section 8.2: rounded to the nearest 1/256), and name the
card abstraction that they belong to; reading scales each distribution to sum to 1 again.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypedDict, get_args

import numpy as np
from numpy.typing import NDArray

from counterplay.abstraction.cards.bucket_games import infoset_places
from counterplay.abstraction.cards.expert_buckets import split_cards
from counterplay.errors import GameError, StrategyError
from counterplay.forms import open_game
from counterplay.game.game import TERMINAL
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.buckets.hand_lookup import hand_buckets
from counterplay.poker.rules import Betting
from counterplay.runtime.array_checks import check_weights
from counterplay.runtime.header_checks import check_header
from counterplay.storage import Arrays, write_container
from counterplay.strategy.hand_table import HandTable
from counterplay.strategy.poker_hands import Seen, parse_infoset, poker_hand_table
from counterplay.strategy.strategy import Provenance, Row, Strategy
from counterplay.strategy.tabular import TabularStrategy, normalise
from counterplay.tree.history.game_tree import GameTree

KIND = "abstract-profile"
"""The kind in the header of such a file."""

AnyPath: TypeAlias = str | os.PathLike[str]

Storage = Literal["uint8", "uint16", "float32", "float64"]
"""How a probability is kept: integers are 256ths and 65536ths, less one at the top."""


class BucketHeader(TypedDict):
    """What the header of a file holds."""

    game: str
    fingerprint: str
    cards: list[str]
    bets: str | None
    provenance: Provenance


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class BucketStrategy(Strategy):
    """A strategy for every player of a bucket game.

    Attributes
    ----------
    abstract : BucketGame
        The game: betting tree and buckets.
    weights : (E,) array
        A weight for each entry, laid out as the tables of the game; at each information set in proportion to the
        probabilities.
    provenance : Provenance
        Where it came from.
    """

    abstract: BucketGame
    weights: NDArray[Any]
    provenance: Provenance

    @classmethod
    def of_game(cls, game: BucketGame, weights: NDArray[Any], provenance: Provenance | None = None) -> BucketStrategy:
        """A strategy from weights of all entries."""
        if weights.shape != (game.num_entries,):
            raise StrategyError(f"{game.name} has {game.num_entries} entries; got an array of {weights.shape}")
        return cls(game, weights, provenance or Provenance("by hand"))

    @property
    def game(self) -> str:
        """The name of the real game."""
        return self.abstract.name

    @property
    def players(self) -> int:
        """Number of players."""
        return self.abstract.players

    def row(self, node: int, bucket: int) -> NDArray[np.float64]:
        """The probabilities of the actions at a decision of the betting tree with a bucket."""
        first = self.abstract.entry(node, bucket)
        weights = self.weights[first : first + int(self.abstract.tree.num_children[node])].astype(np.float64)
        total = weights.sum()
        return np.asarray(weights / total if total > 0.0 else np.full(len(weights), 1.0 / len(weights)))

    @property
    def num_infosets(self) -> int:
        """Number of decisions x buckets."""
        return self.abstract.num_infosets

    def probabilities(self, player: int, infoset: str) -> dict[str, float]:
        """As ``Strategy.probabilities``, by real cards or by bucket."""
        game = self.abstract
        cards, colon, text = infoset.partition(":")
        try:
            by_bucket = bool(colon) and cards.isdigit()
            hole, board, text = ((), (), text) if by_bucket else parse_infoset(infoset)
            betting = Betting.after(game.definition, text)
            node, turn = game.tree.find(betting), betting.round
            if betting.player != player:
                raise GameError(f"player {player + 1} does not act there")
            if by_bucket:
                bucket = int(cards)
                if bucket >= game.tables_at(node)[turn].count:
                    raise GameError(f"there are {game.tables_at(node)[turn].count} buckets in this round")
                return self._named(node, bucket)
            if len(hole) != game.definition.hole_cards or len(board) != game.definition.board_ends[turn]:
                raise GameError("the cards are not those of this round")
            return self.with_cards(node, hole, board)
        except GameError as error:
            raise StrategyError(f"the strategy of {self.game} has no infoset {infoset!r}: {error}") from None

    def infosets(self) -> Iterator[Row]:
        """As ``Strategy.infosets``: every decision of the betting tree with every bucket, as ``17:rc/``."""
        tree = self.abstract.tree
        for node in np.flatnonzero(tree.player != TERMINAL).tolist():
            player, text = int(tree.player[node]), tree.text(node)
            for bucket in range(self.abstract.tables_at(node)[int(tree.round[node])].count):
                yield player, f"{bucket}:{text}", self._named(node, bucket)

    def _named(self, node: int, bucket: int) -> dict[str, float]:
        return dict(zip(self.abstract.tree.actions(node), self.row(node, bucket).tolist(), strict=True))

    def hands(self, node: str = "", board: str | None = None) -> HandTable:
        """As ``Strategy.hands``; the probabilities of a hand are those of its bucket."""
        game = self.abstract

        def rows(betting: Betting, seen: list[Seen]) -> list[dict[str, float]]:
            holes = np.array([cards[0] for cards in seen], np.uint8)
            dealt = np.array([card for cards in seen[0][1:] for card in cards], np.uint8)
            place = game.tree.find(betting)
            zone = 0 if game.zone is None else int(game.zone[place])
            buckets = hand_buckets(game, betting.player, holes, dealt, zone)[-1].tolist()
            known = {bucket: self._named(place, bucket) for bucket in set(buckets)}
            return [known[bucket] for bucket in buckets]

        return poker_hand_table(game.definition, rows, node, board)

    def with_cards(self, node: int, hole: Sequence[int], board: Sequence[int]) -> dict[str, float]:
        """The probabilities of the actions at a decision of the betting tree, by the player's real cards."""
        return self._named(node, self.abstract.bucket(node, hole, board))

    def strategy(self) -> NDArray[np.float64]:
        """The probabilities of all entries."""
        found = np.empty(self.abstract.num_entries)
        for first, last, offset in self.abstract.blocks():
            found[first:last] = normalise(self.weights[first:last], offset)
        return found

    def lifted(self, tree: GameTree) -> TabularStrategy:
        """The profile of the compiled real game that plays equally wherever betting and bucket are the same."""
        nodes, buckets = infoset_places(tree, self.abstract)
        rows = [self.row(node, bucket) for node, bucket in zip(nodes, buckets, strict=True)]
        return TabularStrategy.from_tree(tree, np.concatenate([np.zeros(0), *rows]), self.provenance)

    # ------------------------------------------------------------------------------------------ files

    def save(self, path: str | os.PathLike[str], storage: Storage = "uint16") -> None:
        """As ``Strategy.save``; the card abstraction stays in its own file."""
        game = self.abstract
        header = {
            "game": game.name,
            "fingerprint": game.fingerprint,
            **game.origin(),
            "storage": storage,
            "provenance": dataclasses.asdict(self.provenance),
        }
        write_container(path, KIND, header, {"weights": packed(self.weights, storage)})

    @classmethod
    def from_file(
        cls,
        path: Path,
        header: Mapping[str, Any],
        arrays: Arrays,
        cards: BucketGame | Sequence[AnyPath] | None = None,
        verify: bool = True,
    ) -> BucketStrategy:
        """The strategy in the header and arrays of a file; ``load_strategy`` calls it, and says what ``cards`` are."""
        check_header(path, header, BucketHeader)
        try:
            if isinstance(cards, BucketGame):
                game = cards
            else:
                files = [_found(card, path) for card in header["cards"]] if cards is None else cards
                if not files:
                    raise StrategyError(f"{path} names no card abstraction; give the bucket game")
                game = open_game(header["game"], "buckets", cards=files, bets=header["bets"])
            weights, fingerprint = arrays["weights"], header["fingerprint"]
            check_weights("weights", weights, get_args(Storage), verify, least=0.0)
            origin = Provenance(**header["provenance"])
        except (KeyError, TypeError, ValueError) as error:
            raise StrategyError(f"{path} is damaged: {type(error).__name__}: {error}") from None
        if fingerprint != game.fingerprint:
            raise StrategyError(f"{path} was made with another card abstraction or for another game than {game.name}")
        if weights.shape != (game.num_entries,):
            raise StrategyError(f"{path} is damaged: it has {weights.shape} weights; {game.num_entries} are needed")
        return cls(game, weights, origin)


def packed(weights: NDArray[Any], storage: Storage) -> NDArray[Any]:
    """Probabilities as stored in a file; integers are 256ths or 65536ths."""
    if storage not in get_args(Storage):
        raise StrategyError(f"probabilities are kept as uint8, uint16, float32 or float64; got {storage!r}")
    if weights.dtype == storage:
        return weights
    shares = weights / _top(weights) if weights.dtype.kind == "u" else weights
    if storage.startswith("float"):
        return shares.astype(storage)
    top = 1 << (8 * np.dtype(storage).itemsize)
    return np.asarray(np.minimum(np.rint(shares * top), top - 1), dtype=storage)


def _top(weights: NDArray[Any]) -> int:
    return 1 << (8 * weights.dtype.itemsize)


def _found(card: str, profile: Path) -> str:
    """Where a card file is: where it was, or next to the strategy; that of a part is written ``rf=FILE``."""
    for part, files in split_cards([card])[1].items():
        return f"{part}={_found(files[0], profile)}"
    beside = profile.parent / Path(card).name
    for place in (Path(card), beside):
        if os.path.isfile(place):  # also if no file can have that name
            return str(place)
    raise StrategyError(f"{profile} needs the card abstraction {card}; put it there, or next to the strategy")
