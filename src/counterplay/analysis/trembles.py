"""Unexploitable errors, and trembling-hand profiles (Johanson 2016, section 10.3.1.2).

An equilibrium strategy may play badly at information sets that a good opponent never reaches, such as folding the best
hand to a bet that nobody should make.  ``unexploitable_errors`` finds them by making all hands of the others that are
possible at an information set equally likely, and comparing the actions when everybody follows the profile afterwards.
A profile in which every action has positive probability (``tremble``) reaches every information set.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from counterplay.errors import StrategyError
from counterplay.evaluation.history_values import history_values, infoset_members, others_reach
from counterplay.forms import open_game
from counterplay.game.game import Game
from counterplay.strategy.strategy import Provenance
from counterplay.strategy.tabular import TabularStrategy
from counterplay.tree.history.game_tree import GameTree


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
    _, reach, value = history_values(tree, strategy)
    errors = []
    for infoset, nodes in enumerate(infoset_members(tree)):
        player = int(tree.infoset_player[infoset])
        span = len(tree.actions_of(infoset))
        children = tree.first_child[nodes][:, None] + np.arange(span)
        weight = reach[nodes, -1] / reach[nodes, -1].sum()
        actions = weight @ value[children, player]
        first = int(tree.infoset_offset[infoset])
        loss = float(actions.max() - strategy[first : first + span] @ actions)
        others = others_reach(reach[nodes], player).sum()
        if loss > threshold and not (only_unreached and others > 0.0):
            errors.append(PlayError(player, infoset, int(np.argmax(actions)), loss, float(others)))
    return sorted(errors, key=lambda error: -error.loss)
