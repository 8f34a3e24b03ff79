"""Constructors of abstractions: identity, by a key, by a table of names, the initial abstraction, from two trees.

Sources: abstraction by a function of the information set's key, Lanctot et al. 2012, section 2; the initial
abstraction, Čermák 2018, section 5.2.1.1; maps between two games on one tree, section 2.2.2.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from counterplay.abstraction.infosets.abstraction import Abstraction, places
from counterplay.errors import AbstractionError
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.history.history_arrays import NULL

Match = Literal["label", "position"]
"""How the actions of merged sets are matched: by their labels, or the k-th with the k-th."""


def from_classes(
    tree: GameTree, classes: Sequence[Hashable], name: str, match: Match = "label",
    names: Mapping[Hashable, str] | None = None,
) -> Abstraction:  # fmt: skip
    """Merge the information sets of each class, with ``names`` of the classes; by default the class as text.

    ``classes`` has the class of each information set; sets of different players are never merged.

    Raises AbstractionError if merged sets have different numbers of actions, or different labels when those are
    matched; both sets are named.
    """
    if len(classes) != tree.num_infosets:
        raise AbstractionError(f"{name}: {len(classes)} classes for the {tree.num_infosets} sets of {tree.name}")
    number: dict[tuple[int, Hashable], int] = {}
    leaders: list[int] = []
    infoset_map = np.empty(tree.num_infosets, np.int32)
    action_map = np.empty(tree.num_entries, np.int32)
    for infoset, (player, key) in enumerate(zip(tree.infoset_player.tolist(), classes, strict=True)):
        abstract = number.setdefault((player, key), len(leaders))
        if abstract == len(leaders):
            leaders.append(infoset)
        infoset_map[infoset] = abstract
        places = _match_actions(tree, leaders[abstract], infoset, match, name)
        action_map[tree.infoset_offset[infoset] : tree.infoset_offset[infoset + 1]] = places
    texts = [str(key) if names is None else names[key] for _, key in number]
    set_names = _distinct(texts, [player for player, _ in number])
    set_actions = tuple(tree.actions_of(leader) for leader in leaders)
    players = tree.infoset_player[leaders].astype(np.int8)
    return Abstraction(name, tree.name, tree.digest, infoset_map, action_map, players, set_names, set_actions)


def null_abstraction(tree: GameTree) -> Abstraction:
    """The abstraction that merges nothing."""
    return from_classes(tree, tree.infoset_names, "nothing")


def abstract_by_key(
    tree: GameTree, key: Callable[[int, str], Hashable], name: str, match: Match = "label"
) -> Abstraction:
    """Merge the information sets whose ``key(player, infoset_name)`` is equal.

    >>> import counterplay as cp
    >>> tree = cp.compile_game("leduc")
    >>> blind = abstract_by_key(tree, lambda player, infoset: infoset[1:], "own card", match="position")
    >>> (tree.num_infosets, blind.num_sets)
    (288, 96)
    """
    pairs = zip(tree.infoset_player.tolist(), tree.infoset_names, strict=True)
    return from_classes(tree, [key(player, infoset) for player, infoset in pairs], name, match)


def abstract_by_table(
    tree: GameTree, table: Mapping[tuple[int, str], Hashable], name: str, match: Match = "label"
) -> Abstraction:
    """Merge information sets by a table ``{(player, infoset name): class}``; sets left out are not merged.

    Raises AbstractionError if the table names a set that the game does not have.
    """
    known = set(zip(tree.infoset_player.tolist(), tree.infoset_names, strict=True))
    for player, infoset in table:
        if (player, infoset) not in known:
            raise AbstractionError(f"{name}: {tree.name} has no information set {infoset!r} of player {player + 1}")
    classes: list[Hashable] = []
    names: dict[Hashable, str] = {}
    for pair in zip(tree.infoset_player.tolist(), tree.infoset_names, strict=True):
        key = ("class", table[pair]) if pair in table else ("alone", pair)
        names.setdefault(key, str(table[pair]) if pair in table else pair[1])
        classes.append(key)
    return from_classes(tree, classes, name, match, names)


def own_moves(tree: GameTree) -> NDArray[np.int64]:
    """Number of own moves before each information set.

    Raises AbstractionError if the histories of a set differ in that number.
    """
    form = tree.sequences
    length = np.zeros(form.num_sequences, np.int64)
    moves = np.full(tree.num_infosets, NULL, np.int64)
    for decision in range(form.num_decisions):
        before = length[form.decision_parent[decision]]
        first, infoset = form.decision_first[decision], form.decision_infoset[decision]
        length[first : first + form.decision_actions[decision]] = before + 1
        if moves[infoset] not in (NULL, before):
            raise AbstractionError(
                f"{tree.name}: a player reaches the information set {tree.infoset_names[infoset]!r} after "
                f"{moves[infoset]} and after {before} own moves"
            )
        moves[infoset] = before
    return moves


def initial_abstraction(tree: GameTree) -> Abstraction:
    """Merge a player's information sets after the same number of own moves with the same number of actions.

    The k-th action of one is the k-th action of the other (Čermák 2018, section 5.2.1.1).
    """
    actions = np.diff(tree.infoset_offset).tolist()
    classes = list(zip(own_moves(tree).tolist(), actions, strict=True))
    names: dict[Hashable, str] = {key: f"{key[0]} moves, {key[1]} actions" for key in classes}
    return from_classes(tree, classes, "initial", "position", names)


def abstraction_between(fine: GameTree, coarse: GameTree) -> Abstraction:
    """The maps Φ and Ξ between two games on the same histories, one of which merges sets of the other.

    Raises AbstractionError if the histories differ, or a set of ``fine`` lies in two sets of ``coarse``; the set is
    named.
    """
    if not (np.array_equal(fine.parent, coarse.parent) and np.array_equal(fine.player, coarse.player)):
        raise AbstractionError(f"{fine.name} and {coarse.name} are not on the same histories")
    decisions = np.flatnonzero(fine.player >= 0)
    infoset_map = np.full(fine.num_infosets, NULL, np.int32)
    infoset_map[fine.infoset[decisions]] = coarse.infoset[decisions]
    wrong = decisions[infoset_map[fine.infoset[decisions]] != coarse.infoset[decisions]]
    if len(wrong):
        infoset = fine.infoset_names[fine.infoset[wrong[0]]]
        raise AbstractionError(f"{coarse.name} does not abstract {fine.name}: it splits the set {infoset!r}")
    return Abstraction(
        coarse.name, fine.name, fine.digest, infoset_map, places(fine.infoset_offset).astype(np.int32),
        coarse.infoset_player, coarse.infoset_names, tuple(map(coarse.actions_of, range(coarse.num_infosets))),
    )  # fmt: skip


def _match_actions(tree: GameTree, leader: int, infoset: int, match: Match, name: str) -> list[int]:
    """The positions of a set's actions among those of the first set of its class."""
    first, other = tree.actions_of(leader), tree.actions_of(infoset)
    if match not in ("label", "position"):
        raise AbstractionError(f"actions are matched by label or by position; got {match!r}")
    if len(first) != len(other) or (match == "label" and set(first) != set(other)):
        what = "numbers of actions" if len(first) != len(other) else "actions"
        raise AbstractionError(
            f"{name}: {tree.infoset_names[leader]!r} ({', '.join(first)}) and {tree.infoset_names[infoset]!r} "
            f"({', '.join(other)}) cannot be merged: they have different {what}"
        )
    return list(range(len(first))) if match == "position" else [first.index(label) for label in other]


def _distinct(texts: list[str], players: list[int]) -> tuple[str, ...]:
    """Names, made unique for each player."""
    taken = set(zip(players, texts, strict=True))
    met: set[tuple[int, str]] = set()
    names = []
    for player, text in zip(players, texts, strict=True):
        name, count = text, 1
        while (player, name) in met or (count > 1 and (player, name) in taken):
            count += 1
            name = f"{text} #{count}"
        met.add((player, name))
        names.append(name)
    return tuple(names)
