"""A game in which only a part is still to be solved: whatever lies outside it is chance.

Gibson 2014, definitions 2.8 and 7.1: for the players S who have an expert in a part, every history outside it becomes a
chance history whose probabilities are those of a base strategy.  The other players are free everywhere.  With S one
player this is the game of a graft, with S all players that of a static expert.

A part game is a tree like any other, with fewer information sets, and takes every algorithm.  ``lift`` is the inverse:
the solution where it was free, the base elsewhere.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from counterplay.abstraction.experts import Part, infoset_labels, label_parts, validate_partition
from counterplay.abstraction.infosets.abstraction import Abstraction
from counterplay.errors import AbstractionError
from counterplay.game.game import CHANCE
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.history.history_arrays import NULL

Float64 = NDArray[np.float64]


@dataclasses.dataclass(frozen=True, eq=False)
class PartGame:
    """A game outside a part of which a base strategy is played.

    Attributes
    ----------
    whole : GameTree
        The game.
    name : str
        What the part is called.
    free : (I,) bool
        The information sets at which players still choose.
    base : (E,) float64
        The probabilities of the base strategy.
    """

    whole: GameTree
    name: str
    free: NDArray[np.bool_]
    base: Float64

    @classmethod
    def of(cls, whole: GameTree, part: Part | str, base: ArrayLike) -> PartGame:
        """The game of a part of the betting; the base as probabilities of the entries of ``whole``.

        Raises
        ------
        AbstractionError
            If the game has no such part, nothing lies outside it, or the base is for another game.
        """
        part = Part.parse(part)
        return cls.of_labels(whole, label_parts(whole, [part]), 1, part.members(whole.players), base, part.text)

    @classmethod
    def of_labels(
        cls, whole: GameTree, labels: NDArray[np.integer], number: int, players: Sequence[int], base: ArrayLike,
        name: str,
    ) -> PartGame:  # fmt: skip
        """The game of one part of any grafting partition, such as one by private cards.

        Parameters
        ----------
        whole : GameTree
            The game.
        labels : (H,) integers
            The part of each history; see ``validate_partition``.
        number : int
            Which part is solved.
        players : sequence of int
            Who has an expert there.
        base : (E,) array
            The probabilities of the base strategy.
        name : str
            What to call the part.
        """
        validate_partition(whole, labels)
        probabilities = np.ascontiguousarray(base, np.float64)
        if probabilities.shape != (whole.num_entries,):
            raise AbstractionError(
                f"a base strategy of {whole.name} has {whole.num_entries} probabilities; got {probabilities.shape}"
            )
        inside = infoset_labels(whole, labels) == number
        free = inside | ~np.isin(whole.infoset_player, players)
        if free.all():
            raise AbstractionError(f"nothing lies outside the part {name!r}; solve the game itself")
        return cls(whole, name, free, probabilities)

    @functools.cached_property
    def _entries(self) -> NDArray[np.bool_]:
        """(E,) the entries of ``free``."""
        return np.repeat(self.free, np.diff(self.whole.infoset_offset))

    @functools.cached_property
    def tree(self) -> GameTree:
        """The game to be solved: the same histories, those of the base strategy as chance."""
        whole, free = self.whole, self.free
        number = np.where(free, np.cumsum(free) - 1, NULL).astype(np.int32)
        decided = whole.infoset != NULL
        fixed = np.zeros(whole.num_histories, bool)
        fixed[decided] = ~free[whole.infoset[decided]]
        infoset = np.full(whole.num_histories, NULL, np.int32)
        infoset[decided] = number[whole.infoset[decided]]
        event, chance_prob = whole.event.copy(), whole.chance_prob.copy()
        event[fixed] = len(whole.event_labels) + whole.infoset_labels[whole.infoset[fixed]]
        moved = np.flatnonzero(fixed[whole.parent] & (whole.parent != NULL))
        above = whole.parent[moved]
        entry = whole.infoset_offset[whole.infoset[above]] + (moved - whole.first_child[above])
        chance_prob[moved] = self.base[entry]
        owners, sizes = whole.infoset_player[free], np.diff(whole.infoset_offset)[free]
        return dataclasses.replace(
            whole,
            name=f"{whole.name} in part {self.name}",
            player=np.where(fixed, CHANCE, whole.player).astype(np.int8),
            infoset=infoset,
            event=event,
            chance_prob=chance_prob,
            infoset_player=owners,
            infoset_offset=np.concatenate(([0], np.cumsum(sizes, dtype=np.int64))),
            infoset_labels=whole.infoset_labels[free],
            player_infosets=np.concatenate(([0], np.cumsum(np.bincount(owners, minlength=whole.players)))),
            infoset_names=tuple(name for name, kept in zip(whole.infoset_names, free.tolist(), strict=True) if kept),
            event_labels=(*whole.event_labels, *whole.label_sets),
        )

    def lift(self, solved: ArrayLike) -> Float64:
        """Probabilities of the entries of ``tree`` as those of ``whole``: the base where nothing was solved."""
        found = self.base.copy()
        found[self._entries] = solved
        return found

    def restrict(self, abstraction: Abstraction) -> Abstraction:
        """An abstraction of ``whole`` as one of ``tree``.  Raises AbstractionError if it is of another game."""
        whole, tree = self.whole, self.tree
        if abstraction.digest != whole.digest:
            raise AbstractionError(
                f"the abstraction {abstraction.name!r} was made for {abstraction.game}, not for {whole.name}"
            )
        used, renumbered = np.unique(abstraction.infoset_map[self.free], return_inverse=True)
        return Abstraction(
            abstraction.name, tree.name, tree.digest, renumbered.astype(np.int32),
            abstraction.action_map[self._entries], abstraction.set_player[used],
            tuple(abstraction.set_names[one] for one in used.tolist()),
            tuple(abstraction.set_actions[one] for one in used.tolist()),
        )  # fmt: skip
