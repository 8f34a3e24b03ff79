"""Equilibrium selection and distances to equilibria: undominated equilibria, correlated gaps, supports.

* ``undominated_equilibrium``: among the equilibrium strategies (``analysis/equilibrium_set.py``, which also has the
  domination value) the one that earns most against the uniform strategy.  A strategy that weakly dominated it would be
  an equilibrium strategy too and earn more, so there is none.
* ``correlated_gap`` and ``coarse_correlated_gap`` of a distribution over profiles (Gibson 2014, section 2.1.2): what a
  player gains by deviating after learning the recommended strategy, or before.  Exact for any number of players.
* ``support_sizes`` and ``purity`` of a profile.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from counterplay.analysis.equilibrium_set import Equilibria
from counterplay.errors import GameError
from counterplay.evaluation import expected_values
from counterplay.evaluation.responses import own_leaf_values
from counterplay.forms import open_game
from counterplay.game.game import Game
from counterplay.kernels.history.passes import backward_best, form_arrays
from counterplay.strategy.strategy import Provenance
from counterplay.strategy.tabular import TabularStrategy
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.sequence.matrices import realisation_plan

Float64 = NDArray[np.float64]

SUPPORT = 1e-9
"""Probabilities up to this count as 0 in supports."""


def undominated_equilibrium(game: GameTree | Game | str) -> TabularStrategy:
    """An equilibrium of a two-player zero-sum game with perfect recall in which no strategy is weakly dominated."""
    tree = open_game(game, "history")
    equilibria = Equilibria(tree)
    uniform = TabularStrategy.uniform(tree)
    result = uniform.table.copy()
    for player in (0, 1):
        low, high = tree.infoset_offset[tree.player_infosets[[player, player + 1]]]
        result[low:high] = equilibria.against(player, uniform).profile.table[low:high]
    return TabularStrategy.from_tree(tree, result, Provenance("undominated equilibrium"))


def correlated_gap(
    game: GameTree | Game | str, profiles: Sequence[TabularStrategy], weights: Sequence[float] | None = None
) -> float:
    """The distance of a distribution over profiles from a correlated equilibrium.

    A profile is drawn and every player learns their own strategy in it; the gap is the largest expected gain of a
    player who may then deviate.  Profiles with equal strategies of a player are one recommendation.  With imperfect
    recall the gain is that of a player who remembers, an upper bound.
    """
    return _gap(game, profiles, weights, recommended=True)


def coarse_correlated_gap(
    game: GameTree | Game | str, profiles: Sequence[TabularStrategy], weights: Sequence[float] | None = None
) -> float:
    """The distance of a distribution over profiles from a coarse correlated equilibrium (Gibson 2014, equation 2.1)."""
    return _gap(game, profiles, weights, recommended=False)


def _gap(
    game: GameTree | Game | str, profiles: Sequence[TabularStrategy], weights: Sequence[float] | None, recommended: bool
) -> float:
    tree = open_game(game, "history")
    shares = [1 / len(profiles)] * len(profiles) if weights is None else [float(weight) for weight in weights]
    if not profiles or len(shares) != len(profiles) or min(shares) < 0 or not math.isclose(sum(shares), 1.0):
        raise GameError(f"{len(profiles)} profiles need as many weights that sum to 1; got {shares}")
    form = form_arrays(tree.sequences)
    gaps = []
    for player in range(tree.players):
        low, high = tree.infoset_offset[tree.player_infosets[[player, player + 1]]]
        start = int(tree.sequences.sequence_start[player])
        groups: dict[bytes, Float64] = {}
        earned = 0.0
        for profile, share in zip(profiles, shares, strict=True):
            strategy = np.ascontiguousarray(profile.for_tree(tree), dtype=np.float64)
            key = strategy[low:high].tobytes() if recommended else b""
            leaves = share * own_leaf_values(tree, strategy, player)
            groups[key] = groups[key] + leaves if key in groups else leaves
            earned += share * expected_values(profile, tree)[player]
        total = 0.0
        for leaves in groups.values():
            backward_best(form, player, leaves, np.zeros(tree.sequences.num_decisions, np.int32))
            total += float(leaves[start]) * tree.sequences.unit
        gaps.append(total - earned)
    return max(gaps)


def support_sizes(game: GameTree | Game | str, profile: TabularStrategy) -> NDArray[np.int64]:
    """Number of actions played at each information set."""
    tree = open_game(game, "history")
    played = np.asarray(profile.for_tree(tree)) > SUPPORT
    return np.add.reduceat(played.astype(np.int64), tree.infoset_offset[:-1]) if len(played) else np.zeros(0, np.int64)


@dataclasses.dataclass(frozen=True)
class Purity:
    """How pure a player's strategy is.

    Attributes
    ----------
    infosets, reached : int
        Information sets of the player, and those that the strategy reaches.
    pure : int
        Of the reached ones, those with one action.
    support : int
        Number of pure strategies in the support, without choices at unreached sets.  Exact with perfect
        recall; otherwise the number of plans that the player would have with perfect recall.
    """

    infosets: int
    reached: int
    pure: int
    support: int

    @property
    def share(self) -> float:
        """Fraction of the reached information sets that are played purely."""
        return self.pure / self.reached if self.reached else 1.0


def purity(game: GameTree | Game | str, profile: TabularStrategy, player: int) -> Purity:
    """How pure a player's strategy is."""
    tree = open_game(game, "history")
    if player not in range(tree.players):
        raise GameError(f"{tree.name} has players 0 to {tree.players - 1}; got {player}")
    form = tree.sequences
    support = np.asarray(profile.for_tree(tree)) > SUPPORT
    plays = realisation_plan(tree, support.astype(np.float64)) > 0.0
    ways = [int(played) for played in plays]
    reached: dict[int, int] = {}
    for decision in reversed(range(int(form.decision_start[player]), int(form.decision_start[player + 1]))):
        first, parent = int(form.decision_first[decision]), int(form.decision_parent[decision])
        here = slice(first, first + int(form.decision_actions[decision]))
        if plays[parent]:
            ways[parent] *= sum(ways[here])
            reached[int(form.decision_infoset[decision])] = int(plays[here].sum())
    pure = sum(size == 1 for size in reached.values())
    return Purity(len(tree.infosets_of(player)), len(reached), pure, ways[int(form.sequence_start[player])])
