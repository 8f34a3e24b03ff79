"""Unexploitable errors, and trembling-hand profiles (Johanson 2016, section 10.3.1.2).

An equilibrium strategy may play badly at information sets that a good opponent never reaches, such as folding the best
hand to a bet that nobody should make.  ``unexploitable_errors`` finds them by making all hands of the others that are
possible at an information set equally likely, and comparing the actions when everybody follows the profile afterwards.
A profile in which every action has positive probability (``tremble``) reaches every information set.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import StrategyError
from counterplay.forms import open_game
from counterplay.game.game import CHANCE, Game
from counterplay.strategy.strategy import Provenance
from counterplay.strategy.tabular import TabularStrategy
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.sequence.sequence_form import chance_reach


@dataclasses.dataclass(frozen=True)
class PlayError:
    """An information set where a strategy loses to another action.

    Attributes
    ----------
    player, infoset : int
        Where.
    best : int
        The number of the best action there.
    loss : float
        What the strategy loses to it, in chips, if all hands of the others are equally likely.
    reach : float
        Counterfactual reach under the profile; 0 where nobody can punish the error.
    """

    player: int
    infoset: int
    best: int
    loss: float
    reach: float


def tremble(game: GameTree | Game | str, profile: TabularStrategy, least: float) -> TabularStrategy:
    """The profile in which every action has at least the probability ``least``: σ' = (1 - |A| e) σ + e.

    Raises
    ------
    StrategyError
        If some information set has too many actions for that.
    """
    tree = open_game(game, "history")
    sizes = np.diff(tree.infoset_offset)
    widest = int(sizes.max(initial=1))
    if not 0.0 <= least * widest <= 1.0:
        raise StrategyError(
            f"{tree.name} has sets with {widest} actions; give a least probability up to {1 / widest:g}"
        )
    share = np.repeat(1.0 - sizes * least, sizes)
    origin = Provenance("tremble", {"least": least, "of": profile.provenance.algorithm})
    return TabularStrategy.from_tree(tree, share * profile.for_tree(tree) + least, origin)


def unexploitable_errors(
    game: GameTree | Game | str, profile: TabularStrategy, threshold: float, only_unreached: bool = False
) -> list[PlayError]:
    """Information sets where the strategy loses more than ``threshold`` to an action, the worst first."""
    tree = open_game(game, "history")
    strategy = np.asarray(profile.for_tree(tree), dtype=np.float64)
    value, reach = _values_and_reach(tree, strategy)
    chance = chance_reach(tree)
    errors = []
    for infoset, nodes in enumerate(_members(tree)):
        player = int(tree.infoset_player[infoset])
        span = len(tree.actions_of(infoset))
        children = tree.first_child[nodes][:, None] + np.arange(span)
        weight = chance[nodes] / chance[nodes].sum()
        actions = weight @ value[children, player]
        first = int(tree.infoset_offset[infoset])
        loss = float(actions.max() - strategy[first : first + span] @ actions)
        others = np.delete(reach[nodes], player, axis=1).prod(axis=1).sum()
        if loss > threshold and not (only_unreached and others > 0.0):
            errors.append(PlayError(player, infoset, int(np.argmax(actions)), loss, float(others)))
    return sorted(errors, key=lambda error: -error.loss)


def _members(tree: GameTree) -> list[NDArray[np.int64]]:
    decisions = np.flatnonzero(tree.player >= 0)
    order = np.argsort(tree.infoset[decisions], kind="stable")
    bounds = np.searchsorted(tree.infoset[decisions][order], np.arange(tree.num_infosets + 1))
    return [decisions[order[bounds[i] : bounds[i + 1]]] for i in range(tree.num_infosets)]


def _values_and_reach(tree: GameTree, strategy: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """For each history: all expected values from there on, and the reach of each player and, last, of chance."""
    size = tree.num_histories
    move = np.ones(size)
    inner = np.flatnonzero(tree.parent >= 0)
    before = tree.parent[inner]
    moved = tree.player[before]
    own = moved != CHANCE
    entry = tree.infoset_offset[tree.infoset[before[own]]] + inner[own] - tree.first_child[before[own]]
    move[inner] = tree.chance_prob[inner]
    move[inner[own]] = strategy[entry]
    value = np.zeros((size, tree.players))
    ends = tree.outcome >= 0
    value[ends] = tree.utility[tree.outcome[ends]]
    reach = np.ones((size, tree.players + 1))
    deepest = int(tree.depth.max())
    for depth in range(1, deepest + 1):
        level = np.flatnonzero(tree.depth == depth)
        reach[level] = reach[tree.parent[level]]
        reach[level, tree.player[tree.parent[level]]] *= move[level]  # chance is -1, the last column
    for depth in range(deepest, 0, -1):
        level = np.flatnonzero(tree.depth == depth)
        np.add.at(value, tree.parent[level], move[level, None] * value[level])
    return value, reach
