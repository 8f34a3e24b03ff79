"""Exact means and variances of sampled counterfactual values, over all samples of a small game.

A walk from a history returns a random number X.  Its mean and second moment follow from those of the next histories:
chance and opponents sample one branch; the traverser samples a set of branches independently, and adds them with the
weights of the strategy (Gibson 2014, sections 2.2.3, 5.3, 5.4, 5.5 and appendix C.4).  With perfect recall a walk
visits at most one history of each information set of the traverser, so the moments of v̂(I→a) are sums over its
histories.  Chance sampling visits several, which are dependent: for its estimates only means are given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError
from counterplay.game.game import CHANCE, TERMINAL
from counterplay.tree.history.game_tree import GameTree

if TYPE_CHECKING:
    from counterplay.solvers.mccfr import MccfrConfig

Float64 = NDArray[np.float64]
Pair = tuple[float, float]
"""Mean and second moment."""


def exact_moments(
    tree: GameTree, config: MccfrConfig, strategy: Float64, player: int, scheme: Float64, average: Float64
) -> tuple[Float64, Float64]:
    """Exact mean and variance of v̂(I→a) for every entry of a player at a fixed profile; 0 at others' entries.

    Parameters
    ----------
    tree : GameTree
        A small game, with perfect recall of the player.
    config : MccfrConfig
        What is sampled.
    strategy : (E,) float64
        The profile.
    player : int
        The traverser.
    scheme : (E,) float64
        Sampling probabilities, for the samplings that take them.
    average : (E,) float64
        The cumulative profile that average strategy sampling uses.

    Returns
    -------
    mean, variance : (E,) float64
        The variance is NaN for chance sampling.
    """
    if tree.recall[player] != "perfect":
        raise GameError(f"exact moments need perfect recall; player {player + 1} of {tree.name} has not")
    walk = _Moments(tree, config, strategy, player, scheme, average)
    walk.below(0, 1.0, 1.0)
    variance = np.maximum(walk.second - walk.mean**2, 0.0)
    if config.sampling == "chance":
        low, high = tree.infoset_offset[tree.player_infosets[[player, player + 1]]]
        variance[low:high] = np.nan
    return walk.mean, variance


class _Moments:
    """The enumeration of all samples."""

    def __init__(
        self, tree: GameTree, config: MccfrConfig, strategy: Float64, player: int, scheme: Float64, average: Float64
    ) -> None:
        self.tree, self.config, self.player = tree, config, player
        self.strategy: list[float] = strategy.tolist()
        self.scheme: list[float] = scheme.tolist()
        self.average: list[float] = average.tolist()
        self.mean = np.zeros(tree.num_entries)
        self.second = np.zeros(tree.num_entries)

    def below(self, history: int, visited: float, own: float) -> Pair:
        """Moments of what a walk returns from a history that it visits with some probability; ``own`` is q_i."""
        tree, config = self.tree, self.config
        mover, first = int(tree.player[history]), int(tree.first_child[history])
        if mover == TERMINAL:
            utility = float(tree.utility[tree.outcome[history], self.player])
            if config.sampling != "probing":
                utility /= own
            return utility, utility * utility
        children = range(first, first + int(tree.num_children[history]))
        if mover == CHANCE:
            return self._drawn(children, tree.chance_prob[first : first + len(children)].tolist(), visited, own)
        entry = int(tree.infoset_offset[tree.infoset[history]])
        chances = self.strategy[entry : entry + len(children)]
        if mover != self.player:
            return self._drawn(children, chances, visited, own)
        taken = self._taken(entry, chances)
        divisor = own if config.sampling == "probing" else 1.0
        parts = []
        for place, child in enumerate(children):
            share = taken[place]
            mean, second = self.below(child, visited * share, own * share) if share > 0.0 else (0.0, 0.0)
            other_mean, other_second = self._left_out(child) if share < 1.0 else (0.0, 0.0)
            part = share * mean + (1 - share) * other_mean, share * second + (1 - share) * other_second
            parts.append(part)
            self.mean[entry + place] += visited * part[0] / divisor
            self.second[entry + place] += visited * part[1] / divisor**2
        return self._joined(chances, parts)

    def _drawn(self, children: range, chances: list[float], visited: float, own: float) -> Pair:
        """One branch is sampled; for chance sampling, which walks all, the means are the same."""
        mean = second = 0.0
        for child, chance in zip(children, chances, strict=True):
            if chance > 0.0:
                part = self.below(child, visited * chance, own)
                mean += chance * part[0]
                second += chance * part[1]
        return mean, second

    def _taken(self, entry: int, chances: list[float]) -> list[float]:
        """The probability that each action of the traverser is walked."""
        config, count = self.config, len(chances)
        if config.sampling == "outcome":
            return [config.exploration / count + (1.0 - config.exploration) * chance for chance in chances]
        if config.sampling in ("scheme", "probing"):
            return self.scheme[entry : entry + count]
        if config.sampling == "average-strategy":
            sums = self.average[entry : entry + count]
            known = config.beta + sum(sums)
            if known > 0.0 and not np.isinf(known):
                return [min(1.0, max(config.epsilon, (config.beta + config.tau * one) / known)) for one in sums]
        return [1.0] * count

    def _joined(self, chances: list[float], parts: list[Pair]) -> Pair:
        """What a decision of the traverser returns, from what its actions return."""
        mean = sum(chance * part[0] for chance, part in zip(chances, parts, strict=True))
        if self.config.sampling == "pure":  # the value of one action
            return mean, sum(chance * part[1] for chance, part in zip(chances, parts, strict=True))
        if self.config.sampling == "outcome":  # only one of them is not 0
            return mean, sum(chance**2 * part[1] for chance, part in zip(chances, parts, strict=True))
        spread = sum(chance**2 * (part[1] - part[0] ** 2) for chance, part in zip(chances, parts, strict=True))
        return mean, mean**2 + spread

    def _left_out(self, history: int) -> Pair:
        """The value of an action that is not walked."""
        config = self.config
        if config.sampling != "probing":
            return 0.0, 0.0
        mean, second = self._probe(history)
        count, share = config.probes, config.probe_share
        return mean, second / (count * share) + (count - 1) / count * mean**2

    def _probe(self, history: int) -> Pair:
        """Moments of one rollout."""
        tree, explore = self.tree, self.config.probe_exploration
        mover, first = int(tree.player[history]), int(tree.first_child[history])
        if mover == TERMINAL:
            utility = float(tree.utility[tree.outcome[history], self.player])
            return utility, utility * utility
        count = int(tree.num_children[history])
        if mover == CHANCE:
            chances = tree.chance_prob[first : first + count].tolist()
        else:
            entry = int(tree.infoset_offset[tree.infoset[history]])
            chances = self.strategy[entry : entry + count]
        mean = second = 0.0
        for place, chance in enumerate(chances):
            if chance > 0.0:
                part = self._probe(first + place)
                weight = 1.0
                if mover == self.player and explore > 0.0:
                    weight = chance / (explore / count + (1.0 - explore) * chance)
                mean += chance * part[0]
                second += chance * weight * part[1]
        return mean, second
