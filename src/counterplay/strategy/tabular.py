"""``TabularStrategy``: a row of probabilities for each infoset, for any game.

It carries the keys of its infosets and their actions, so it can be read, saved and checked without compiling its game.
"""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from counterplay.errors import StrategyError
from counterplay.forms import GameLike, open_game
from counterplay.runtime.array_checks import check_like, check_limits
from counterplay.runtime.header_checks import check_header
from counterplay.runtime.seeds import check_seed
from counterplay.storage import Arrays, pack_texts, unpack_texts, write_container
from counterplay.strategy.strategy import Provenance, Row, Strategy
from counterplay.tree.history.game_tree import GameTree

if TYPE_CHECKING:
    from counterplay.poker.rules import Betting
    from counterplay.strategy.hand_table import HandTable
    from counterplay.strategy.poker_hands import Seen

SEEN = "seen:"
"""How the digest of a strategy starts that covers only the infosets that a run has visited."""


class TabularHeader(TypedDict):
    """What the header of a file holds."""

    game: str
    digest: str
    players: int
    label_sets: list[list[str]]
    provenance: Provenance


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class TabularStrategy(Strategy):
    """A strategy by infosets.

    Attributes
    ----------
    game : str
        The name that opens the game again.
    digest : str
        Fingerprint of the game's information sets (``GameTree.digest``); ``seen:`` and the fingerprint of those that
        are here, where the game was never seen as a whole.
    players : int
        Number of players.
    infoset_player : (I,) int8
        Whose information set it is.
    infoset_offset : (I+1,) int64
        The entries of information set ``I`` start at ``infoset_offset[I]``.
    infoset_names : tuple of str
        The names of the information sets.
    actions : tuple of tuple of str
        The action labels of each information set.
    table : (E,) float64
        The probability of each entry.
    provenance : Provenance
        Where it came from.
    """

    game: str
    digest: str
    players: int
    infoset_player: NDArray[np.int8]
    infoset_offset: NDArray[np.int64]
    infoset_names: tuple[str, ...]
    actions: tuple[tuple[str, ...], ...]
    table: NDArray[np.float64]
    provenance: Provenance = dataclasses.field(default_factory=lambda: Provenance("by hand"))

    @classmethod
    def from_tree(
        cls, tree: GameTree, probabilities: ArrayLike, provenance: Provenance | None = None
    ) -> TabularStrategy:
        """A profile of a compiled game from the probabilities of its entries.

        Raises StrategyError if they are not one distribution for each information set.
        """
        values = check_strategy(tree, probabilities).copy()  # what the caller does to the array is not ours
        actions = tuple(tree.actions_of(infoset) for infoset in range(tree.num_infosets))
        return cls(
            tree.name, tree.digest, tree.players, tree.infoset_player, tree.infoset_offset, tree.infoset_names, actions,
            values, provenance or Provenance("by hand"),
        )  # fmt: skip

    @classmethod
    def uniform(cls, game: GameLike) -> TabularStrategy:
        """The profile that plays every action with the same probability; the game, or its name, as in ``open_game``."""
        tree = open_game(game, "history")
        sizes = np.diff(tree.infoset_offset)
        return cls.from_tree(tree, np.repeat(1.0 / sizes, sizes), Provenance("uniform"))

    @classmethod
    def random(cls, game: GameLike, seed: int) -> TabularStrategy:
        """A profile drawn uniformly from all distributions at each information set; the game as in ``uniform``."""
        seed = check_seed(seed, StrategyError)
        tree = open_game(game, "history")
        weights = np.random.default_rng(seed).exponential(size=tree.num_entries)
        return cls.from_tree(tree, normalise(weights, tree.infoset_offset), Provenance("random", seed=seed))

    @classmethod
    def from_table(cls, game: GameLike, table: Mapping[tuple[int, str], Mapping[str, float]]) -> TabularStrategy:
        """A profile from ``{(player, information set name): {action: probability}}``; sets left out are uniform."""
        tree = open_game(game, "history")
        values = cls.uniform(tree).table.copy()
        for (player, name), row in table.items():
            infoset = tree.find_infoset(player, name)
            values[tree.infoset_offset[infoset] : tree.infoset_offset[infoset + 1]] = 0.0
            for action, probability in row.items():
                values[tree.entry(player, name, action)] = probability
        return cls.from_tree(tree, values)

    @property
    def num_infosets(self) -> int:
        """Number of infosets."""
        return len(self.infoset_names)

    @functools.cached_property
    def _numbers(self) -> dict[tuple[int, str], int]:
        """The number of each infoset by player and key."""
        return {key: row for row, key in enumerate(zip(self.infoset_player.tolist(), self.infoset_names, strict=True))}

    def probabilities(self, player: int, infoset: str) -> dict[str, float]:
        """As ``Strategy.probabilities``."""
        number = self._numbers.get((player, infoset))
        if number is None:
            raise StrategyError(f"the strategy of {self.game} has no infoset {infoset!r} of player {player + 1}")
        return self._row(number)

    def infosets(self) -> Iterator[Row]:
        """As ``Strategy.infosets``."""
        for infoset, name in enumerate(self.infoset_names):
            yield int(self.infoset_player[infoset]), name, self._row(infoset)

    def _row(self, infoset: int) -> dict[str, float]:
        first, last = int(self.infoset_offset[infoset]), int(self.infoset_offset[infoset + 1])
        return dict(zip(self.actions[infoset], self.table[first:last].tolist(), strict=True))

    def hands(self, node: str = "", board: str | None = None) -> HandTable:
        """As ``Strategy.hands``; a game that is not made from a poker definition is compiled for it."""
        from counterplay.poker.poker_game import PokerGame, infoset_name
        from counterplay.strategy.poker_hands import poker_hand_table
        from counterplay.strategy.public_lookup import HandTables, PublicIndex, hand_table
        from counterplay.tree.public.from_histories import split_public

        game = open_game(self.game, "states")
        if isinstance(game, PokerGame):
            isomorphic = game.isomorphic

            def rows(betting: Betting, seen: list[Seen]) -> list[dict[str, float]]:
                names = [infoset_name(cards, betting.text(), isomorphic) for cards in seen]
                return [self.probabilities(betting.player, name) for name in names]

            return poker_hand_table(game.definition, rows, node, board)
        split = split_public(open_game(game, "history"))
        return hand_table(PublicIndex(split.public), HandTables(split.tables(self.for_tree(split.game))), node, board)

    def for_tree(self, tree: GameTree) -> NDArray[np.float64]:
        """The probabilities for the entries of a tree, after checking that it is the same game.

        A profile that covers only part of its game plays uniformly elsewhere.  Raises StrategyError if the tree has
        other information sets or actions.
        """
        if self.partial:
            return self._spread(tree)
        if self.digest != tree.digest:
            raise StrategyError(
                f"this profile was made for {self.game} ({len(self.infoset_names)} information sets); "
                f"it does not fit {tree.name} ({tree.num_infosets} information sets)"
            )
        return self.table

    @property
    def partial(self) -> bool:
        """Whether it covers only the information sets that a run came by."""
        return self.digest.startswith(SEEN)

    def _spread(self, tree: GameTree) -> NDArray[np.float64]:
        """The probabilities for the entries of a tree, by the names of information sets; uniform where none is."""
        sizes = np.diff(tree.infoset_offset)
        values = np.repeat(1.0 / sizes, sizes)
        met = 0
        for infoset, key in enumerate(zip(tree.infoset_player.tolist(), tree.infoset_names, strict=True)):
            number = self._numbers.get(key)
            if number is None:
                continue
            if self.actions[number] != tree.actions_of(infoset):
                break
            first, last = self.infoset_offset[number : number + 2]
            values[tree.infoset_offset[infoset] : tree.infoset_offset[infoset + 1]] = self.table[first:last]
            met += 1
        if met != len(self._numbers) or self.players != tree.players:
            raise StrategyError(
                f"this profile was made for {self.game}; {tree.name} lacks information sets of it, or has other actions"
            )
        return values

    def save(self, path: str | os.PathLike[str]) -> None:
        """As ``Strategy.save``."""
        header = {
            "game": self.game,
            "digest": self.digest,
            "players": self.players,
            "label_sets": sorted(set(self.actions)),
            "provenance": dataclasses.asdict(self.provenance),
        }
        number = {labels: i for i, labels in enumerate(sorted(set(self.actions)))}
        arrays: dict[str, NDArray[Any]] = {
            "probabilities": self.table,
            "infoset_player": self.infoset_player,
            "infoset_offset": self.infoset_offset,
            "infoset_labels": np.array([number[labels] for labels in self.actions], np.int32),
            **pack_texts("name", self.infoset_names),
        }
        write_container(path, "profile", header, arrays)

    @classmethod
    def from_file(cls, path: Path, header: Mapping[str, Any], arrays: Arrays, verify: bool = True) -> TabularStrategy:
        """The strategy in the header and arrays of a file; ``load_strategy`` calls it."""
        check_header(path, header, TabularHeader)
        try:
            labels = [tuple(row) for row in header["label_sets"]]
            check_limits("infoset_labels", arrays["infoset_labels"], 0, len(labels) - 1)
            check_limits("infoset_player", arrays["infoset_player"], 0, header["players"] - 1)
            actions = tuple(labels[number] for number in arrays["infoset_labels"].tolist())
            profile = cls(
                header["game"], header["digest"], header["players"], arrays["infoset_player"], arrays["infoset_offset"],
                unpack_texts("name", arrays), actions, arrays["probabilities"], Provenance(**header["provenance"]),
            )  # fmt: skip
        except (KeyError, TypeError, ValueError) as error:
            raise StrategyError(f"{path} is damaged: {type(error).__name__}: {error}") from None
        profile._check_arrays(path)
        if verify:
            try:
                _check_distributions(profile.table, profile.infoset_offset, profile.infoset_names)
            except StrategyError as error:
                raise StrategyError(f"{path} is damaged: {error}") from None
        return profile

    def _check_arrays(self, path: Path) -> None:
        """Refuse arrays that do not fit together: kernels trust them."""
        sizes = [len(labels) for labels in self.actions]
        offset = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        wanted = {
            "infoset_player": (np.int8, (len(self.infoset_names),)),
            "infoset_offset": (np.int64, offset.shape),
            "probabilities": (np.float64, (int(offset[-1]),)),
        }
        for name, (dtype, shape) in wanted.items():
            try:
                check_like(name, self.table if name == "probabilities" else getattr(self, name), shape, dtype)
            except ValueError as error:
                raise StrategyError(f"{path} is damaged: {error}") from None
        if not np.array_equal(self.infoset_offset, offset) or 0 in sizes:
            raise StrategyError(f"{path} is damaged: its information sets and their actions do not fit together")


def check_strategy(tree: GameTree, probabilities: ArrayLike) -> NDArray[np.float64]:
    """Probabilities of the entries of a tree as a flat array, after checking them: kernels trust what they get.

    Raises StrategyError if they are not one distribution for each information set.
    """
    try:
        values = np.ascontiguousarray(probabilities, dtype=np.float64)
    except (TypeError, ValueError):
        raise StrategyError(f"a strategy is an array of probabilities; got {type(probabilities).__name__}") from None
    if values.shape != (tree.num_entries,):
        raise StrategyError(f"{tree.name} has {tree.num_entries} entries; got an array of shape {values.shape}")
    _check_distributions(values, tree.infoset_offset, tree.infoset_names)
    return values


def normalise(weights: NDArray[np.floating[Any]], offset: NDArray[np.int64]) -> NDArray[np.float64]:
    """Weights of entries scaled to one distribution for each information set; uniform where all are 0."""
    if len(offset) == 1:
        return np.zeros(0)
    values = weights.astype(np.float64)
    totals = np.add.reduceat(values, offset[:-1])
    sizes = np.diff(offset)
    values[np.repeat(totals == 0.0, sizes)] = 1.0
    totals = np.where(totals == 0.0, sizes, totals)
    return np.asarray(values / np.repeat(totals, sizes), dtype=np.float64)


def _check_distributions(values: NDArray[np.float64], offset: NDArray[np.int64], names: tuple[str, ...]) -> None:
    if not len(values):
        return
    totals = np.add.reduceat(values, offset[:-1])
    wrong = ~(np.abs(totals - 1.0) <= 1e-6)
    low = np.minimum.reduceat(values, offset[:-1])
    wrong |= ~(low >= 0.0)
    if wrong.any():
        infoset = int(np.flatnonzero(wrong)[0])
        row = values[offset[infoset] : offset[infoset + 1]].tolist()
        raise StrategyError(f"probabilities at {names[infoset]!r} must be at least 0 and sum to 1; got {row}")
