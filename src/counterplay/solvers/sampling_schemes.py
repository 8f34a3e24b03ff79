"""Sampling schemes: the probability that a walk takes each of the traverser's actions.

A scheme is a function of an information set, called once for each and kept as an array over the entries.  Those of a
particular game (Gibson 2014, section 5.3.2) are defined with it (``Game.sampling_schemes``).
"""

from __future__ import annotations

from collections.abc import Collection

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


def betting_scheme(game: BucketGame, scheme: str | Scheme | NDArray[np.float64]) -> NDArray[np.float64]:
    """The probability of each entry of a bucket game in a scheme; see ``scheme_array``.

    Named schemes depend only on the actions.  A custom one is called with the betting in place of an information set,
    once for each decision: all buckets have the same probabilities.
    """
    if not isinstance(scheme, str) and not callable(scheme):
        chances = np.array(scheme, dtype=np.float64)
        if chances.shape != (game.num_entries,):
            raise SolverError(f"a scheme for {game.name} has {game.num_entries} numbers; got {chances.shape}")
    else:
        tree = game.tree
        decisions = np.flatnonzero(tree.num_children > 0)
        rows: dict[tuple[int, int], list[float]] = {}
        sizes = tree.num_children[decisions].tolist()
        starts = game.node_offset[decisions].tolist()
        leads = tree.action[tree.first_child[decisions]].tolist()
        slots = (tree.round[decisions].astype(np.int64) * game.players + tree.player[decisions]).tolist()
        blocks = [np.ones(width) for width in game.slot_width.tolist()]
        name = ("limit-poker" if game.definition.limit else "goofspiel") if scheme == "auto" else scheme
        if isinstance(name, str) and name not in SCHEMES:
            raise SolverError(f"unknown scheme {name!r}; there are auto, {', '.join(SCHEMES)}")
        rule = SCHEMES[name] if isinstance(name, str) else name
        for node, size, start, lead, slot in zip(decisions.tolist(), sizes, starts, leads, slots, strict=True):
            row = rows.get((size, lead)) if isinstance(name, str) else None
            if row is None:
                actions = tuple(tree.actions(node))
                row = scheme_row(rule, int(tree.player[node]), tree.text(node), actions)
                if len(row) != size:
                    raise SolverError(f"the scheme gives {len(row)} probabilities for {', '.join(actions)}")
                rows[size, lead] = row
            blocks[slot][start : start + size] = row
        kinds = game.slot_buckets.tolist()
        chances = np.concatenate([np.tile(block, count) for block, count in zip(blocks, kinds, strict=True)])
    wrong = ~((chances > 0.0) & (chances <= 1.0))
    if wrong.any():
        raise SolverError(
            f"a scheme takes every action with a probability above 0 and at most 1; got {chances[wrong][0]}"
        )
    return chances


def scheme_row(scheme: Scheme, player: int, infoset: str, actions: tuple[str, ...]) -> list[float]:
    """The probabilities of a scheme at an information set; errors in a custom scheme are reported in one line."""
    try:
        return [float(chance) for chance in scheme(player, infoset, actions)]
    except CounterplayError:
        raise
    except Exception as error:
        raise SolverError(f"the scheme fails at {infoset!r}: {type(error).__name__}: {error}") from error


def _default_of(tree: GameTree) -> str:
    return default_scheme(tree, {label for labels in tree.label_sets for label in labels})


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
        name = _default_of(tree) if scheme == "auto" else scheme
        if name not in SCHEMES:
            raise SolverError(f"unknown scheme {name!r}; there are auto, {', '.join(SCHEMES)}")
        scheme = SCHEMES[name]
    if callable(scheme):
        chances = np.empty(tree.num_entries)
        for infoset in range(tree.num_infosets):
            actions = tree.actions_of(infoset)
            row = scheme_row(scheme, int(tree.infoset_player[infoset]), tree.infoset_names[infoset], actions)
            if len(row) != len(actions):
                raise SolverError(
                    f"the scheme gives {len(row)} probabilities at {tree.infoset_names[infoset]!r}, "
                    f"which has the {len(actions)} actions {', '.join(actions)}"
                )
            chances[tree.infoset_offset[infoset] : tree.infoset_offset[infoset + 1]] = row
    else:
        chances = np.array(scheme, dtype=np.float64)
        if chances.shape != (tree.num_entries,):
            raise SolverError(f"a scheme for {tree.name} has {tree.num_entries} numbers; got {chances.shape}")
    wrong = ~((chances > 0.0) & (chances <= 1.0))
    if wrong.any():
        entry = int(np.flatnonzero(wrong)[0])
        infoset = int(np.searchsorted(tree.infoset_offset, entry, side="right")) - 1
        raise SolverError(
            f"a scheme takes every action with a probability above 0 and at most 1; got {chances[entry]} "
            f"at {tree.infoset_names[infoset]!r}"
        )
    return chances
