"""``BucketStrategy``: a profile of an abstract game, played with real cards.

A profile of millions of information sets has no name for each: what a player does is looked up by the point of the
betting and the bucket of his cards.  Files hold the probabilities alone, in one or two bytes each (Gibson 2014,
section 8.2: rounded to the nearest 1/256), and name the card abstraction that they belong to; reading scales each
distribution to sum to 1 again.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from counterplay.abstraction.cards.bucket_games import infoset_places
from counterplay.errors import StrategyError
from counterplay.forms import open_game
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.storage import read_container, write_container
from counterplay.strategy.tabular import Provenance, TabularStrategy, normalise
from counterplay.tree.history.game_tree import GameTree

__all__ = ["KIND", "BucketStrategy", "Storage"]

KIND = "abstract-profile"
"""What the header of such a file says it is."""

Storage = Literal["uint8", "uint16", "float32", "float64"]
"""How a probability is kept: whole numbers are 256ths and 65536ths, less one at the top."""


@dataclasses.dataclass(frozen=True, eq=False)
class BucketStrategy:
    """A strategy for every player of an abstract game.

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
        """A profile from weights of all entries."""
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

    def strategy_at(self, node: int, hole: Sequence[int], board: Sequence[int]) -> dict[str, float]:
        """The probabilities of the actions at a decision of the betting tree, by the player's real cards."""
        tree = self.abstract.tree
        bucket = self.abstract.bucket(int(tree.player[node]), int(tree.round[node]), hole, board)
        return dict(zip(tree.actions(node), self.row(node, bucket).tolist(), strict=True))

    def strategy(self) -> NDArray[np.float64]:
        """The probabilities of all entries."""
        found = np.empty(self.abstract.num_entries)
        for first, last, offset in self.abstract.blocks():
            found[first:last] = normalise(self.weights[first:last], offset)
        return found

    def lifted(self, tree: GameTree) -> TabularStrategy:
        """The profile of the compiled real game that plays alike wherever betting and bucket are the same."""
        nodes, buckets = infoset_places(tree, self.abstract)
        rows = [self.row(node, bucket) for node, bucket in zip(nodes, buckets, strict=True)]
        return TabularStrategy.from_tree(tree, np.concatenate([np.zeros(0), *rows]), self.provenance)

    # ------------------------------------------------------------------------------------------ files

    def save(self, path: str | os.PathLike[str], storage: Storage = "uint16") -> None:
        """Write the profile to a file, atomically; the card abstraction stays in its own."""
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
    def load(
        cls,
        path: str | os.PathLike[str],
        game: BucketGame | None = None,
        cards: Sequence[str | os.PathLike[str]] | None = None,
        verify: bool = True,
    ) -> BucketStrategy:
        """Open a profile file by memory map.

        Parameters
        ----------
        path : path
            The file.
        game : BucketGame, optional
            Its game; by default that is made again from the card files.
        cards : sequence of paths, optional
            Where the card files are now; by default where they were, or beside the profile.
        verify : bool
            Whether to compare the checksum, which reads the whole file.

        Raises
        ------
        StrategyError
            If the file is damaged, or does not fit the game or the cards.
        """
        header, arrays = read_container(path, KIND, verify)
        try:
            if game is None:
                files = [_found(card, Path(path)) for card in header["cards"]] if cards is None else cards
                if not files:
                    raise StrategyError(f"{path} names no card abstraction; give the abstract game")
                game = open_game(header["game"], "buckets", cards=files, bets=header["bets"])
            weights, fingerprint = arrays["weights"], header["fingerprint"]
            origin = Provenance(**header["provenance"])
        except (KeyError, TypeError) as error:
            raise StrategyError(f"{path} is damaged: {type(error).__name__}: {error}") from None
        if fingerprint != game.fingerprint:
            raise StrategyError(f"{path} was made with another card abstraction or for another game than {game.name}")
        if weights.shape != (game.num_entries,):
            raise StrategyError(f"{path} is damaged: it has {weights.shape} weights; {game.num_entries} are needed")
        return cls(game, weights, origin)


def packed(weights: NDArray[Any], storage: Storage) -> NDArray[Any]:
    """Probabilities as a file holds them; whole numbers stand for 256ths or 65536ths."""
    if storage not in ("uint8", "uint16", "float32", "float64"):
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
    """Where a card file is: where it was, or beside the profile."""
    beside = profile.parent / Path(card).name
    for place in (Path(card), beside):
        if place.is_file():
            return str(place)
    raise StrategyError(f"{profile} needs the card abstraction {card}; put it there, or beside the strategy")
