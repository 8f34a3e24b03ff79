"""The arrays of a changing abstraction: conversion from and to an abstraction, and the game arrays that updates use.

The solvers of this package work on the real game with perfect recall.  An abstraction is only an indirection from
real to abstract entries (``kernels.history.changing_sets.SetArrays``).
"""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from counterplay.abstraction.infosets.abstraction import Abstraction
from counterplay.abstraction.infosets.builders import initial_abstraction, null_abstraction
from counterplay.abstraction.infosets.by_name import abstraction_by_name, whole_path
from counterplay.abstraction.infosets.refinement import from_map
from counterplay.errors import SolverError
from counterplay.forms import open_game
from counterplay.game.game import TERMINAL, Game
from counterplay.kernels.history.changing_sets import GameArrays, SetArrays, update_pool
from counterplay.kernels.numba_internals import hold
from counterplay.solvers.settings import Settings
from counterplay.solvers.solver import Solver
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.sequence.sequence_form import chance_reach, sequences_at, spans

GIVEN = "given"
"""The value of the setting ``forget`` when the initial abstraction was given as an object."""

Forget: TypeAlias = Annotated[str, "the name of what to forget at first, such as initial"]


class RefiningSolver(Solver):
    """A solver whose tables are those of an abstraction that it refines.

    Parameters
    ----------
    game, config, algorithm, memory_limit
        See ``Solver``.
    abstraction : Abstraction, optional
        Where to start, instead of what ``config.forget`` names.
    """

    least_actions: int = 2
    """The fewest actions of sets that may be split."""

    def __init__(
        self,
        game: GameTree | Game | str,
        config: Settings | str | None = None,
        algorithm: str | None = None,
        memory_limit: int | None = None,
        abstraction: Abstraction | None = None,
    ) -> None:
        self._start = abstraction
        super().__init__(game, config, algorithm, memory_limit)
        del self._start  # from here on the sets change

    def _check_game(self) -> None:
        check_recall(self.tree, self.algorithm)

    def _allocate(self) -> None:
        start, forget = self._start, GIVEN
        if start is None:
            start, forget = start_abstraction(self.tree, self.config.forget), whole_path(self.config.forget)
        self.config = dataclasses.replace(self.config, forget=forget)
        self._sets = set_arrays(self.tree, start, self.least_actions)
        self._game = game_arrays(self.tree)

    @property
    def sets(self) -> SetArrays:
        """The current abstract sets; live arrays."""
        return SetArrays(*self._sets)

    def limits(self) -> dict[str, tuple[int, int]]:
        """As ``Solver.limits``: numbers of sets, entries and players."""
        sets, entries, players = self.tree.num_infosets, self.tree.num_entries, self.tree.players
        last = max(sets - 1, 0)
        found = dict.fromkeys(("set_of", "owner", "member", "position", "pool", "start"), (0, last))
        found |= {"size": (0, sets), "actions": (0, entries), "entry": (0, entries), "entry_map": (0, entries)}
        found |= {"owner": (0, players - 1), "pool_place": (-1, last), "pool_size": (0, sets), "totals": (0, entries)}
        return {**super().limits(), **{f"sets.{name}": limit for name, limit in found.items()}}

    def check_tables(self) -> None:
        """As ``Solver.check_tables``."""
        check_sets(self.tree, self.sets)

    def abstraction(self) -> Abstraction:
        """The current abstraction."""
        return as_abstraction(self.tree, self.sets, f"{self.algorithm} after {self.iterations} iterations")


def check_recall(tree: GameTree, algorithm: str) -> None:
    """Refuse a game in which somebody forgets.

    Raises
    ------
    SolverError
        The player is named.
    """
    for player in range(tree.players):
        if not tree.sequences.has_perfect_recall(player):
            raise SolverError(
                f"{algorithm} starts from the whole game and abstracts it itself, but in {tree.name} player "
                f"{player + 1} forgets; give the game without it and what to forget at first as forget=WHAT"
            )


def start_abstraction(tree: GameTree, forget: str) -> Abstraction:
    """The initial abstraction, by name (``initial``, ``nothing``, ``map=FILE`` or what the game offers)."""
    if forget in (GIVEN, "initial"):  # a checkpoint of a given abstraction contains the sets itself
        return initial_abstraction(tree)
    if forget == "nothing":
        return null_abstraction(tree)
    return abstraction_by_name(open_game(tree.name, "states"), tree, forget)


def set_bytes(tree: GameTree) -> int:
    """Bytes of the arrays of ``set_arrays``."""
    return 4 * tree.num_entries + tree.num_infosets * (9 * 4 + 1) + 8 * tree.players + 16


def set_arrays(tree: GameTree, abstraction: Abstraction, least_actions: int) -> tuple[NDArray[Any], ...]:
    """The fields of ``SetArrays`` for an abstraction of a tree."""
    abstraction._check(tree)
    infosets, sets = tree.num_infosets, abstraction.num_sets
    sizes = np.asarray(abstraction.sizes)
    actions = np.array([len(row) for row in abstraction.set_actions], np.int64)
    member = np.argsort(abstraction.infoset_map, kind="stable").astype(np.int32)
    position = np.empty(infosets, np.int32)
    position[member] = np.arange(infosets)

    def padded(values: Any, kind: Any) -> NDArray[Any]:
        array = np.zeros(infosets, kind)
        array[:sets] = values
        return array

    arrays = SetArrays(
        set_of=abstraction.infoset_map.astype(np.int32).copy(),
        entry_map=abstraction.entry_map.astype(np.uint32),
        entry=padded(np.cumsum(actions) - actions, np.int32),
        actions=padded(actions, np.int32),
        owner=padded(abstraction.set_player, np.int8),
        start=padded(np.cumsum(sizes) - sizes, np.int32),
        size=padded(sizes, np.int32),
        member=member,
        position=position,
        pool=np.zeros(infosets, np.int32),
        pool_place=np.full(infosets, -1, np.int32),
        pool_size=np.zeros(tree.players, np.int64),
        totals=np.array([sets, actions.sum()], np.int64),
    )
    held = hold(arrays)
    for number in range(sets):
        update_pool(held, tree.player_infosets, least_actions, number)
    return tuple(arrays)


def set_tables(sets: SetArrays) -> dict[str, NDArray[Any]]:
    """The arrays as a checkpoint holds them, the live ones; unsigned numbers seen as signed ones."""
    arrays = sets._asdict()
    return {f"sets.{name}": arrays[name].view(np.int32) if name == "entry_map" else arrays[name] for name in arrays}


def check_sets(tree: GameTree, sets: SetArrays) -> None:
    """Refuse sets that are no partition of the information sets, or do not fit the game.

    Each number is within its limits (``RefiningSolver.limits``).  Raises ValueError.
    """
    count, entries = sets.totals.tolist()
    if not min(tree.num_infosets, 1) <= count <= tree.num_infosets:
        raise ValueError(f"there are {count} sets of {tree.num_infosets} information sets")
    start, size, actions = (array[:count].astype(np.int64) for array in (sets.start, sets.size, sets.actions))
    order = np.lexsort((size, start))
    numbers = np.arange(tree.num_infosets)
    fits = {
        "set_of": int(sets.set_of.max(initial=-1)) < count,
        "size": size.min(initial=1) >= 1 and size.sum() == tree.num_infosets,
        "start": np.array_equal(start[order], np.cumsum(size[order]) - size[order]),
        "position": np.array_equal(sets.position[sets.member], numbers),
        "entry": np.array_equal(sets.entry[:count], np.cumsum(actions) - actions) and actions.sum() == entries,
    }
    for name, fit in fits.items():
        if not fit:
            raise ValueError(f"the sets are no partition of the information sets: array 'sets.{name}' is wrong")
    if not np.array_equal(sets.set_of[sets.member], np.repeat(order, size[order])):
        raise ValueError("the sets are no partition of the information sets: array 'sets.member' is wrong")
    real = np.diff(tree.infoset_offset)
    if not (np.array_equal(actions[sets.set_of], real)
            and np.array_equal(sets.owner[sets.set_of], tree.infoset_player)):  # fmt: skip
        raise ValueError("the sets do not fit the game: array 'sets.owner' or 'sets.actions' is wrong")
    places, infoset = action_places(tree, sets), np.repeat(numbers, real)
    if not np.array_equal(places[np.lexsort((places, infoset))], spans(np.zeros(len(real), np.int64), real)):
        raise ValueError("the sets do not fit the game: array 'sets.entry_map' is wrong")


def check_pool(tree: GameTree, sets: SetArrays, least_actions: int) -> None:
    """Refuse a pool that does not hold the sets that can be split, each once.  Raises ValueError."""
    count = int(sets.totals[0])
    able = (sets.size[:count] > 1) & (sets.actions[:count] >= least_actions)
    place = np.full(count, -1, np.int64)
    for player in range(tree.players):
        first, size = int(tree.player_infosets[player]), int(sets.pool_size[player])
        wanted = np.flatnonzero(able & (sets.owner[:count] == player))
        inside = sets.pool[first : first + size]
        if not np.array_equal(np.sort(inside), wanted):
            raise ValueError("array 'sets.pool' does not hold the sets that can be split")
        place[inside] = first + np.arange(size)
    if not np.array_equal(sets.pool_place[:count], place):
        raise ValueError("array 'sets.pool_place' does not fit 'sets.pool'")


def action_places(tree: GameTree, sets: SetArrays) -> NDArray[np.int64]:
    """The position of each real entry among the actions of its abstract set."""
    first = sets.entry[sets.set_of].astype(np.int64)
    return np.asarray(sets.entry_map.astype(np.int64) - np.repeat(first, np.diff(tree.infoset_offset)))


def as_abstraction(tree: GameTree, sets: SetArrays, name: str) -> Abstraction:
    """The abstraction that the arrays represent."""
    return from_map(tree, sets.set_of, action_places(tree, sets), name)


def game_bytes(tree: GameTree) -> int:
    """Bytes of the arrays of ``game_arrays``."""
    decisions = int(np.count_nonzero(tree.player >= 0))
    ids = 8 * (tree.num_infosets + 1 + tree.players + 1) + 8 * tree.num_infosets
    return ids + 8 * (tree.num_infosets + 1) + decisions * (4 * (tree.players - 1) + 8)


def game_arrays(tree: GameTree) -> tuple[NDArray[Any], ...]:
    """The fields of ``GameArrays`` for a tree with perfect recall, where a decision point is an information set."""
    infoset_of = tree.sequences.decision_infoset
    decision_of = np.empty(tree.num_infosets, np.int32)
    decision_of[infoset_of] = np.arange(tree.num_infosets)
    return tuple(
        GameArrays(tree.infoset_offset, tree.player_infosets, decision_of, infoset_of, *histories_by_infoset(tree))
    )


def histories_by_infoset(tree: GameTree) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    """The decisions of each information set: where they start, the others' sequences, the probability of chance."""
    own = sequences_at(tree)
    nodes = np.flatnonzero(tree.player >= 0)
    nodes = nodes[np.argsort(tree.infoset[nodes], kind="stable")]
    start = np.searchsorted(tree.infoset[nodes], np.arange(tree.num_infosets + 1)).astype(np.int64)
    others = np.empty((len(nodes), tree.players - 1), np.int32)
    mover = tree.player[nodes]
    for player in range(tree.players):
        here = mover == player
        rest = [other for other in range(tree.players) if other != player]
        for column, other in enumerate(rest):
            others[here, column] = own[other][nodes[here]]
    return start, others, chance_reach(tree)[nodes]


def utility_ranges(tree: GameTree) -> NDArray[np.float64]:
    """Δ_I: the range of its player's utilities below each information set."""
    terminals = tree.player == TERMINAL
    result = np.zeros(tree.num_infosets)
    levels = [np.flatnonzero(tree.depth == depth) for depth in range(int(tree.depth.max()), 0, -1)]
    for player in range(tree.players):
        worst, best = np.full(tree.num_histories, np.inf), np.full(tree.num_histories, -np.inf)
        worst[terminals] = best[terminals] = tree.utility[tree.outcome[terminals], player]
        for level in levels:
            np.minimum.at(worst, tree.parent[level], worst[level])
            np.maximum.at(best, tree.parent[level], best[level])
        nodes = np.flatnonzero(tree.player == player)
        low, high = np.full(tree.num_infosets, np.inf), np.full(tree.num_infosets, -np.inf)
        np.minimum.at(low, tree.infoset[nodes], worst[nodes])
        np.maximum.at(high, tree.infoset[nodes], best[nodes])
        own = tree.infoset_player == player
        result[own] = (high - low)[own]
    return result
