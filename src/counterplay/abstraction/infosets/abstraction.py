"""``Abstraction``: a partition of the information sets of a game, and its inverse on strategies.

An abstraction merges information sets (Gibson 2014, definition 2.6; Lanctot et al. 2012, section 2).  It is the pair
of maps of Čermák 2018, section 2.2.2: Φ takes an information set of the real game to one of the abstract game, Ξ an
action to an action; ``lift`` is their inverse on strategies, b(I, a) = b'(Φ(I), Ξ(a)).  The histories do not change,
so the abstract game is played on the real tree.

Abstractions that drop actions (A' ⊂ A) are betting abstractions and belong to the poker rules.
"""

from __future__ import annotations

import dataclasses
import functools
import os
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import AbstractionError, GameError, StrategyError
from counterplay.runtime.array_checks import check_like, check_limits
from counterplay.runtime.header_checks import check_header
from counterplay.runtime.notebook import Described
from counterplay.storage import pack_texts, read_container, unpack_texts, write_container
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.history.history_arrays import NULL, infosets_digest
from counterplay.tree.history.repartition import reorder_actions, repartition

if TYPE_CHECKING:
    from counterplay.strategy.tabular import TabularStrategy


class AbstractionHeader(TypedDict):
    """What the header of a file holds."""

    name: str
    game: str
    digest: str
    label_sets: list[list[str]]


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Abstraction(Described):
    """A partition of a game's information sets with a map of actions.  I real sets, E real entries, S abstract sets."""

    name: str  # what was done, such as ``last-bids=2``
    game: str  # the name of the real game
    digest: str  # fingerprint of the real game's information sets (``GameTree.digest``)
    infoset_map: NDArray[np.int32]  # (I,) Φ: the abstract set of each real information set
    action_map: NDArray[np.int32]  # (E,) Ξ: the position of each real entry among the actions of its abstract set
    set_player: NDArray[np.int8]  # (S,) whose abstract set it is; the first player's come first
    set_names: tuple[str, ...]  # the names of the abstract sets
    set_actions: tuple[tuple[str, ...], ...]  # the action labels of the abstract sets

    def __post_init__(self) -> None:
        sets = len(self.set_names)
        if not len(self.set_player) == len(self.set_actions) == sets:
            raise AbstractionError(f"{self.name}: players, names and actions of abstract sets differ in number")
        used = np.unique(self.infoset_map)
        if not np.array_equal(used, np.arange(sets)):
            raise AbstractionError(f"{self.name}: the map must use every abstract set 0 .. {sets - 1}, and no other")
        if np.any(np.diff(self.set_player) < 0):
            raise AbstractionError(f"{self.name}: abstract sets must be numbered player by player")
        if len(self.action_map) != self._real_offset[-1]:
            raise AbstractionError(
                f"{self.name}: the map has {len(self.action_map)} actions; its sets have {self._real_offset[-1]}"
            )
        owner = np.repeat(np.arange(len(self.infoset_map)), np.diff(self._real_offset))
        order = np.lexsort((self.action_map, owner))
        wrong = self.action_map[order] != places(self._real_offset)
        if wrong.any():
            real = int(owner[np.flatnonzero(wrong)[0]])
            row = self.action_map[self._real_offset[real] : self._real_offset[real + 1]].tolist()
            raise AbstractionError(
                f"{self.name}: the actions of information set {real} (merged into "
                f"{self.set_names[self.infoset_map[real]]!r}) must have different positions; got {row}"
            )

    def _title(self) -> str:
        return f"Abstraction {self.name} of {self.game}"

    def _sizes(self) -> list[tuple[str, str]]:
        return [("infosets", f"{len(self.infoset_map):,}"), ("abstract infosets", f"{self.num_sets:,}")]

    @property
    def num_sets(self) -> int:
        """Number of abstract information sets S."""
        return len(self.set_names)

    @property
    def num_entries(self) -> int:
        """Number of (abstract set, action) entries."""
        return sum(map(len, self.set_actions))

    @functools.cached_property
    def sizes(self) -> NDArray[np.int64]:
        """How many real information sets each abstract set holds."""
        return np.bincount(self.infoset_map, minlength=self.num_sets)

    @property
    def abstracted(self) -> NDArray[np.int64]:
        """The abstract sets that hold more than one real information set."""
        return np.flatnonzero(self.sizes > 1)

    def members(self, abstract_set: int) -> NDArray[np.int64]:
        """Φ⁻¹: the real information sets of an abstract set."""
        return np.flatnonzero(self.infoset_map == abstract_set)

    @functools.cached_property
    def abstract_digest(self) -> str:
        """Fingerprint of the abstract game's information sets."""
        return infosets_digest(self.set_player.tolist(), self.set_names, self.set_actions)

    @property
    def abstract_name(self) -> str:
        """The name of the abstract game."""
        return f"{self.game} forgetting {self.name}"

    def apply(self, tree: GameTree) -> GameTree:
        """The abstract game: the histories of the real one with merged information sets.

        Raises AbstractionError if the tree is not the game that this abstraction was made for, or a merged set would
        join different players or numbers of actions; the set is named.
        """
        self._check(tree)
        if not np.array_equal(self.action_map, places(tree.infoset_offset)):
            tree = reorder_actions(tree, self.action_map)
        decided = tree.infoset != NULL  # empty in a game without decisions
        part = np.full(tree.num_histories, NULL, np.int64)
        part[decided] = self.infoset_map[tree.infoset[decided]]
        try:
            return repartition(tree, part, self.set_names, self.abstract_name, self.set_actions)
        except GameError as error:
            raise AbstractionError(str(error)) from None

    def lift_strategy(self, strategy: NDArray[np.float64]) -> NDArray[np.float64]:
        """Probabilities of abstract entries as probabilities of real ones: b(I, a) = b'(Φ(I), Ξ(a))."""
        return np.asarray(strategy[self.entry_map], dtype=np.float64)

    def lift(self, profile: TabularStrategy, tree: GameTree) -> TabularStrategy:
        """A profile of the abstract game as a profile of the real game ``tree``.

        Raises StrategyError if the profile does not belong to the abstract game; AbstractionError if the tree is not
        the real game.
        """
        self._check(tree)
        if profile.digest != self.abstract_digest:
            raise StrategyError(f"this profile was made for {profile.game}; it does not fit {self.abstract_name}")
        settings = {**profile.provenance.settings, "abstraction": self.name}
        origin = dataclasses.replace(profile.provenance, settings=settings)
        return type(profile).from_tree(tree, self.lift_strategy(profile.table), origin)

    def restrict(self, profile: TabularStrategy, abstract_tree: GameTree, tolerance: float = 1e-9) -> TabularStrategy:
        """A profile of the real game as one of the abstract game, if it plays equally in all merged sets.

        Raises StrategyError if it does not; the abstract set is named.
        """
        if profile.digest != self.digest:
            raise StrategyError(f"this profile was made for {profile.game}; it does not fit {self.game}")
        self._check_actions(profile.infoset_offset, profile.game)
        strategy = np.full(self.num_entries, np.nan)
        strategy[self.entry_map[::-1]] = profile.table[::-1]  # so that the first member's row is kept
        wrong = np.abs(strategy[self.entry_map] - profile.table) > tolerance
        if wrong.any():
            real = int(np.searchsorted(self._real_offset, np.flatnonzero(wrong)[0], side="right")) - 1
            merged = int(self.infoset_map[real])
            raise StrategyError(
                f"the profile plays differently at {profile.infoset_names[self.members(merged)[0]]!r} and "
                f"{profile.infoset_names[real]!r}, which {self.abstract_name} does not distinguish"
            )
        return type(profile).from_tree(abstract_tree, strategy, profile.provenance)

    @functools.cached_property
    def entry_map(self) -> NDArray[np.int64]:
        """The abstract entry of each real entry."""
        ends = np.cumsum([0, *map(len, self.set_actions)], dtype=np.int64)
        return np.repeat(ends[self.infoset_map], np.diff(self._real_offset)) + self.action_map

    def then(self, other: Abstraction) -> Abstraction:
        """Compose this abstraction with one of the abstract game."""
        if other.digest != self.abstract_digest:
            raise AbstractionError(f"{other.name} abstracts {other.game}, not {self.abstract_name}")
        other._check_actions(np.append(0, np.cumsum([len(row) for row in self.set_actions])), self.abstract_name)
        return dataclasses.replace(
            other, name=f"{self.name}, {other.name}", game=self.game, digest=self.digest,
            infoset_map=other.infoset_map[self.infoset_map], action_map=other.action_map[self.entry_map],
        )  # fmt: skip

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the abstraction to a file, atomically."""
        rows = sorted(set(self.set_actions))
        number = {row: i for i, row in enumerate(rows)}
        header = {"name": self.name, "game": self.game, "digest": self.digest, "label_sets": rows}
        arrays: dict[str, NDArray[Any]] = {
            "infoset_map": self.infoset_map,
            "action_map": self.action_map,
            "set_player": self.set_player,
            "set_labels": np.array([number[row] for row in self.set_actions], np.int32),
            **pack_texts("name", self.set_names),
        }
        write_container(path, "abstraction", header, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Abstraction:
        """Open an abstraction file.

        Raises StrategyError if the file is damaged, foreign or too new; the message says which.
        """
        header, arrays = read_container(path, "abstraction")
        check_header(path, header, AbstractionHeader)
        try:
            labels = [tuple(row) for row in header["label_sets"]]
            check_limits("set_labels", arrays["set_labels"], 0, len(labels) - 1)
            check_limits("set_player", arrays["set_player"], 0, 127)
            check_limits("infoset_map", arrays["infoset_map"], 0, len(arrays["set_labels"]) - 1)
            for name in ("infoset_map", "action_map", "set_player", "set_labels"):
                check_like(name, arrays[name], (arrays[name].size,), np.int8 if name == "set_player" else np.int32)
            return cls(
                header["name"], header["game"], header["digest"], arrays["infoset_map"], arrays["action_map"],
                arrays["set_player"], unpack_texts("name", arrays),
                tuple(labels[row] for row in arrays["set_labels"].tolist()),
            )  # fmt: skip
        except (KeyError, TypeError, ValueError) as error:
            raise StrategyError(f"{path} is damaged: {type(error).__name__}: {error}") from None
        except AbstractionError as error:
            raise AbstractionError(f"{path} is damaged: {error}") from None

    @functools.cached_property
    def _real_offset(self) -> NDArray[np.int64]:
        sizes = np.array([len(row) for row in self.set_actions], np.int64)
        return np.append(0, np.cumsum(sizes[self.infoset_map]))

    def _check(self, tree: GameTree) -> None:
        if tree.digest == self.digest:
            self._check_actions(tree.infoset_offset, tree.name)
            return
        mine, theirs = len(self.infoset_map), tree.num_infosets
        raise AbstractionError(
            f"the abstraction {self.name!r} was made for {self.game} ({mine} information sets); "
            f"it does not fit {tree.name} ({theirs} information sets)"
        )

    def _check_actions(self, offset: NDArray[np.int64], game: str) -> None:
        """Refuse a game whose information sets have other numbers of actions, which a forged file can hold."""
        if not np.array_equal(self._real_offset, offset):
            raise AbstractionError(
                f"the abstraction {self.name!r} has other numbers of actions than {game}: its file is damaged; make it "
                "again"
            )


def places(offset: NDArray[np.int64]) -> NDArray[np.int64]:
    """The position of each entry among the actions of its information set."""
    return np.asarray(np.arange(offset[-1]) - np.repeat(offset[:-1], np.diff(offset)))
