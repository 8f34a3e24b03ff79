"""Sampling schemes: with which probability a walk takes each of the traverser's actions.

Gibson 2014, section 5.3.2, made three by hand; each names actions that are always taken and takes the others with
probability 1/2.  A scheme of one's own is a function of an information set, called once for each and kept as an array
over the entries.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import CounterplayError, SolverError
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.tree.history.game_tree import GameTree

__all__ = ["SCHEMES", "Scheme", "betting_scheme", "scheme_array", "scheme_row"]

Scheme: TypeAlias = Callable[[int, str, tuple[str, ...]], Sequence[float]]
"""``scheme(player, infoset, actions)`` gives a probability above 0 for each of the actions."""

POKER = frozenset({"fold", "check", "call", "bet", "raise", "f", "c", "r"})
BLUFF_NAME = re.compile(r"(?:.*\))?(?:[^():/]*/)?([^():/]*):")
BID = re.compile(r"(\d+)x(\d+)")


def all_actions(player: int, infoset: str, actions: tuple[str, ...]) -> list[float]:
    """Every action always: external sampling."""
    return [1.0] * len(actions)


def ends(player: int, infoset: str, actions: tuple[str, ...]) -> list[float]:
    """The first and the last action always: in Goofspiel the lowest and the highest bid."""
    return [1.0 if place in (0, len(actions) - 1) else 0.5 for place in range(len(actions))]


def limit_poker(player: int, infoset: str, actions: tuple[str, ...]) -> list[float]:
    """Fold and raise always, call with probability 1/2; a check counts as a call, a bet as a raise."""
    return [0.5 if action in ("call", "check", "c") else 1.0 for action in actions]


def bluff(player: int, infoset: str, actions: tuple[str, ...]) -> list[float]:
    """Always: the call, one or two of the two highest faces, one to four of each face in the player's hand.

    The thesis gives no probability for the other bids; as in its other schemes it is 1/2.
    """
    match = BLUFF_NAME.match(infoset)
    if match is None:
        raise SolverError(f"the scheme bluff is for the game bluff; it cannot read the information set {infoset!r}")
    roll = match.group(1)
    hand = set(roll.split(".") if "." in roll else roll)
    bids = [BID.fullmatch(action) for action in actions]
    highest = max((int(bid.group(2)) for bid in bids if bid), default=0)
    chances = []
    for bid in bids:
        if bid is None:
            chances.append(1.0)
            continue
        quantity, face = int(bid.group(1)), bid.group(2)
        sure = (quantity <= 2 and int(face) >= highest - 1) or (quantity <= 4 and face in hand)
        chances.append(1.0 if sure else 0.5)
    return chances


SCHEMES: dict[str, Scheme] = {"all": all_actions, "goofspiel": ends, "bluff": bluff, "limit-poker": limit_poker}
"""The schemes by name."""


def preset_for(tree: GameTree) -> str:
    """The name of the scheme made for a game: that of Goofspiel, which fits any actions, where there is none."""
    if re.match(r"bluff\b", tree.name):
        return "bluff"
    labels = {label for labels in tree.label_sets for label in labels}
    return "limit-poker" if labels and labels <= POKER else "goofspiel"


def betting_scheme(game: BucketGame, scheme: str | Scheme | NDArray[np.float64]) -> NDArray[np.float64]:
    """The probability of each entry of an abstract game in a scheme; see ``scheme_array``.

    Schemes by name look at the actions alone.  One's own is called with the betting in place of an information set,
    once for each point of it: all buckets have the same probabilities.
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
    """What a scheme says at an information set; whatever goes wrong in a user's own is told in one line."""
    try:
        return [float(chance) for chance in scheme(player, infoset, actions)]
    except CounterplayError:
        raise
    except Exception as error:
        raise SolverError(f"the scheme fails at {infoset!r}: {type(error).__name__}: {error}") from error


def scheme_array(tree: GameTree, scheme: str | Scheme | NDArray[np.float64]) -> NDArray[np.float64]:
    """The probability of each entry in a scheme.

    Parameters
    ----------
    tree : GameTree
        The game.
    scheme : str, callable or array
        A name in ``SCHEMES``, ``"auto"`` for the one made for the game, a function of the player, the name of an
        information set and its actions, or the array itself.

    Raises
    ------
    SolverError
        If the scheme is unknown or a probability is not above 0 and at most 1.
    """
    if isinstance(scheme, str):
        name = preset_for(tree) if scheme == "auto" else scheme
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
