"""Sampling schemes: the probability that a walk takes each of the traverser's actions.

A scheme is a function of an information set, called once for each and kept as an array over the entries.  Those of a
particular game (Gibson 2014, section 5.3.2) are defined with it (``Game.sampling_schemes``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import CounterplayError, SolverError
from counterplay.game.game import Game, Scheme
from counterplay.game.registry import sampling_schemes
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.tree.history.game_tree import GameTree

POKER = frozenset({"fold", "check", "call", "bet", "raise", "f", "c", "r"})


def all_actions(player: int, infoset: str, actions: tuple[str, ...]) -> list[float]:
    """Every action always: external sampling."""
    return [1.0] * len(actions)


SCHEMES: dict[str, Scheme] = {"all": all_actions, **sampling_schemes()}
"""The schemes by name: those defined by games, and external sampling."""


def default_scheme(game: Game | GameTree, actions: Collection[str]) -> str:
    """The name of the scheme of a game; without one it is chosen by the names of some or all of its actions.

    That of Goofspiel fits any actions.
    """
    return game.sampling_scheme or ("limit-poker" if actions and POKER.issuperset(actions) else "goofspiel")


def scheme_named(name: str, default: str) -> Scheme:
    """The scheme of a name, ``auto`` for a default one."""
    if name != "auto" and name not in SCHEMES:
        raise SolverError(f"unknown scheme {name!r}; there are auto, {', '.join(SCHEMES)}")
    return SCHEMES[default if name == "auto" else name]


def scheme_row(scheme: Scheme, player: int, infoset: str, actions: tuple[str, ...]) -> list[float]:
    """The probabilities of a scheme at an information set; errors in a custom scheme are reported in one line."""
    try:
        row = [float(chance) for chance in scheme(player, infoset, actions)]
    except CounterplayError:
        raise
    except Exception as error:
        raise SolverError(f"the scheme fails at {infoset!r}: {type(error).__name__}: {error}") from error
    if len(row) != len(actions):
        raise SolverError(
            f"the scheme gives {len(row)} probabilities at {infoset!r}, "
            f"which has the {len(actions)} actions {', '.join(actions)}"
        )
    _check_chances(row, f"at {infoset!r}")
    return row


def _check_chances(chances: Iterable[float], where: str) -> None:
    for chance in chances:
        if not 0.0 < chance <= 1.0:
            raise SolverError(
                f"a scheme takes every action with a probability above 0 and at most 1; got {chance} {where}"
            )


def _given_array(game: GameTree | BucketGame, scheme: NDArray[np.float64]) -> NDArray[np.float64]:
    """A scheme that was given as an array over the entries of a game."""
    chances = np.array(scheme, dtype=np.float64)
    if chances.shape != (game.num_entries,):
        raise SolverError(f"a scheme for {game.name} has {game.num_entries} numbers; got {chances.shape}")
    _check_chances(np.unique(chances).tolist(), f"in that for {game.name}")
    return chances


def betting_scheme(game: BucketGame, scheme: str | Scheme | NDArray[np.float64]) -> NDArray[np.float64]:
    """The probability of each entry of a bucket game in a scheme; see ``scheme_array``.

    Named schemes depend only on the actions.  A custom one is called with the betting in place of an information set,
    once for each decision: all buckets have the same probabilities.
    """
    if not isinstance(scheme, str) and not callable(scheme):
        return _given_array(game, scheme)
    named = isinstance(scheme, str)
    default = "limit-poker" if game.definition.limit else "goofspiel"
    rule = scheme_named(scheme, default) if isinstance(scheme, str) else scheme
    tree = game.tree
    decisions = np.flatnonzero(game.free)
    rows: dict[tuple[int, int], list[float]] = {}
    sizes = tree.num_children[decisions].tolist()
    starts = game.node_offset[decisions].tolist()
    leads = tree.action[tree.first_child[decisions]].tolist()
    slots = game.slots_of(decisions).tolist()
    blocks = [np.ones(width) for width in game.slot_width.tolist()]
    for node, size, start, lead, slot in zip(decisions.tolist(), sizes, starts, leads, slots, strict=True):
        row = rows.get((size, lead)) if named else None
        if row is None:
            row = scheme_row(rule, int(tree.player[node]), tree.text(node), tuple(tree.actions(node)))
            rows[size, lead] = row
        blocks[slot][start : start + size] = row
    kinds = game.slot_buckets.tolist()
    return np.concatenate([np.tile(block, count) for block, count in zip(blocks, kinds, strict=True)])


def scheme_array(tree: GameTree, scheme: str | Scheme | NDArray[np.float64]) -> NDArray[np.float64]:
    """The probability of each entry in a scheme.

    Parameters
    ----------
    tree : GameTree
        The game.
    scheme : str, callable or array
        A name in ``SCHEMES``, ``"auto"`` for the one of the game, a function of the player, the name of an
        information set and its actions, or the array itself.

    Raises
    ------
    SolverError
        If the scheme is unknown or a probability is not above 0 and at most 1.
    """
    if isinstance(scheme, str):
        scheme = scheme_named(scheme, default_scheme(tree, {label for labels in tree.label_sets for label in labels}))
    if not callable(scheme):
        return _given_array(tree, scheme)
    chances = np.empty(tree.num_entries)
    for infoset in range(tree.num_infosets):
        player, name = int(tree.infoset_player[infoset]), tree.infoset_names[infoset]
        row = scheme_row(scheme, player, name, tree.actions_of(infoset))
        chances[tree.infoset_offset[infoset] : tree.infoset_offset[infoset + 1]] = row
    return chances
