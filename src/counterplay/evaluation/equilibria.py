"""Which equilibrium, and how near to one: polytopes of zero-sum equilibria, correlated gaps, supports.

* ``domination_value``: how much a strategy gives up against the equilibria of the other player (Waugh; Gibson 2014,
  section 3.5.1).  Equilibrium strategies of a zero-sum game are the plans that secure its value, a polytope, so the
  worst of them for a given strategy is a linear program.
* ``undominated_equilibrium``: among the equilibrium strategies the one that earns most against the uniform strategy.
  Whatever weakly dominated it would be an equilibrium strategy too and earn more, so nothing does.
* ``correlated_gap`` and ``coarse_correlated_gap`` of a distribution over profiles (Gibson 2014, section 2.1.2): what a
  player gains by deviating after being told the own strategy, or before.  Exact for any number of players.
* ``support_sizes`` and ``purity`` of a profile.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from counterplay.errors import GameError
from counterplay.evaluation.responses import as_tree, expected_values, own_leaf_values
from counterplay.evaluation.treeplex import (
    payoff_matrix,
    plan_constraints,
    plan_of,
    require_plans,
    solve_program,
    strategy_of,
)  # fmt: skip
from counterplay.game.base import Game
from counterplay.kernels.jit import form_arrays
from counterplay.kernels.passes import backward_best
from counterplay.strategy.profile import Profile, Provenance
from counterplay.tree.arrays import GameTree

__all__ = [
    "Purity", "coarse_correlated_gap", "correlated_gap", "domination_value", "equilibrium_plan", "purity",
    "secured_value", "support_sizes", "undominated_equilibrium",
]  # fmt: skip

Float64 = NDArray[np.float64]

SUPPORT = 1e-9
"""Probabilities up to this count as 0 in supports."""


def _secure(
    tree: GameTree, player: int, goal: Float64 | None, value: float | None
) -> tuple[float, Float64]:  # fmt: skip
    """The plan that secures most; or, among those that secure ``value``, the best by a goal."""
    matrix, right = plan_constraints(tree, player)
    dual, dual_right = plan_constraints(tree, 1 - player)
    columns = payoff_matrix(tree, player).T.tocsr()
    plans, duals = matrix.shape[1], dual.shape[0]
    upper = sparse.hstack((-columns, dual.T)).tocsr()
    limit = np.zeros(upper.shape[0])
    secured = np.concatenate((np.zeros(plans), dual_right))
    objective = secured
    if goal is not None and value is not None:
        upper = sparse.vstack((upper, sparse.csr_array(-secured[None, :]))).tocsr()
        limit = np.append(limit, -value)
        objective = np.concatenate((goal, np.zeros(duals)))
    best, solution = solve_program(
        objective,
        "an equilibrium",
        A_ub=upper,
        b_ub=limit,
        A_eq=sparse.hstack((matrix, sparse.csr_array((len(right), duals)))).tocsr(),
        b_eq=right,
        bounds=[(0, None)] * plans + [(None, None)] * duals,
    )
    return best, solution[:plans]


def secured_value(game: GameTree | Game | str, player: int) -> float:
    """The most that a player of a two-player zero-sum game with perfect recall can be sure of: the game value."""
    tree = as_tree(game)
    require_plans(tree, zero_sum=True)
    return _secure(tree, player, None, None)[0]


def equilibrium_plan(game: GameTree | Game | str, player: int, goal: Float64) -> tuple[float, Float64]:
    """The equilibrium strategy of a player that is best by a linear goal over the own sequences: its goal, its plan."""
    tree = as_tree(game)
    require_plans(tree, zero_sum=True)
    value = _secure(tree, player, None, None)[0]
    slack = 1e-12 * max(1.0, abs(value))  # the value itself is only known up to rounding
    return _secure(tree, player, goal, value - slack)


def domination_value(game: GameTree | Game | str, profile: Profile, player: int) -> float:
    """Dom_i(σ_i): what the other player's best equilibrium strategy gains over the game value against σ_i.

    0 for equilibrium strategies; undominated strategies can have a positive value (Gibson 2014, figure 2.1).
    """
    tree = as_tree(game)
    require_plans(tree, zero_sum=True)
    own = plan_of(tree, player, np.asarray(profile.for_tree(tree), dtype=np.float64))
    taken, _ = equilibrium_plan(tree, 1 - player, payoff_matrix(tree, 1 - player) @ own)
    return taken + secured_value(tree, player)


def undominated_equilibrium(game: GameTree | Game | str) -> Profile:
    """An equilibrium of a two-player zero-sum game with perfect recall in which no strategy is weakly dominated."""
    tree = as_tree(game)
    require_plans(tree, zero_sum=True)
    strategy = Profile.uniform(tree).probabilities
    result = strategy
    for player in (0, 1):
        even = plan_of(tree, 1 - player, strategy)
        _, plan = equilibrium_plan(tree, player, payoff_matrix(tree, player) @ even)
        result = strategy_of(tree, player, plan, result)
    return Profile.from_tree(tree, result, Provenance("undominated equilibrium"))


def correlated_gap(
    game: GameTree | Game | str, profiles: Sequence[Profile], weights: Sequence[float] | None = None
) -> float:
    """How far a distribution over profiles is from a correlated equilibrium.

    A profile is drawn and every player is told the own strategy of it; the gap is the largest expected gain of a
    player who may then play something else.  Profiles with equal strategies of a player are one recommendation.  With
    imperfect recall the gain is that of a player who remembers, an upper bound.
    """
    return _gap(game, profiles, weights, told=True)


def coarse_correlated_gap(
    game: GameTree | Game | str, profiles: Sequence[Profile], weights: Sequence[float] | None = None
) -> float:
    """How far a distribution over profiles is from a coarse correlated equilibrium (Gibson 2014, equation 2.1)."""
    return _gap(game, profiles, weights, told=False)


def _gap(
    game: GameTree | Game | str, profiles: Sequence[Profile], weights: Sequence[float] | None, told: bool
) -> float:
    tree = as_tree(game)
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
            key = strategy[low:high].tobytes() if told else b""
            leaves = share * own_leaf_values(tree, strategy, player)
            groups[key] = groups[key] + leaves if key in groups else leaves
            earned += share * expected_values(tree, profile)[player]
        total = 0.0
        for leaves in groups.values():
            backward_best(form, player, leaves, np.zeros(tree.sequences.num_decisions, np.int32))
            total += float(leaves[start]) * tree.sequences.unit
        gaps.append(total - earned)
    return max(gaps)


def support_sizes(game: GameTree | Game | str, profile: Profile) -> NDArray[np.int64]:
    """How many actions each information set is played with."""
    tree = as_tree(game)
    played = np.asarray(profile.for_tree(tree)) > SUPPORT
    return np.add.reduceat(played.astype(np.int64), tree.infoset_offset[:-1]) if len(played) else np.zeros(0, np.int64)


@dataclasses.dataclass(frozen=True)
class Purity:
    """How pure a player's strategy is.

    Attributes
    ----------
    infosets, reached : int
        Information sets of the player, and those that the own strategy comes to.
    pure : int
        Of the reached ones, those with one action.
    support : int
        Number of pure strategies in the support, choices at sets that are not reached left out.  Exact with perfect
        recall; otherwise the number of plans that the player would have with perfect recall.
    """

    infosets: int
    reached: int
    pure: int
    support: int

    @property
    def share(self) -> float:
        """Share of the reached information sets that are played purely."""
        return self.pure / self.reached if self.reached else 1.0


def purity(game: GameTree | Game | str, profile: Profile, player: int) -> Purity:
    """How pure a player's strategy is."""
    tree = as_tree(game)
    form = tree.sequences
    strategy = np.asarray(profile.for_tree(tree), dtype=np.float64)
    low = int(form.sequence_start[player])
    plays = np.zeros(form.sequences_of(player), bool)
    plays[0] = True
    decisions = range(int(form.decision_start[player]), int(form.decision_start[player + 1]))
    for decision in decisions:
        first, span = int(form.decision_first[decision]) - low, int(form.decision_actions[decision])
        entry = int(form.decision_entry[decision])
        before = plays[int(form.decision_parent[decision]) - low]
        plays[first : first + span] = before & (strategy[entry : entry + span] > SUPPORT)
    ways = [int(played) for played in plays]
    reached: dict[int, int] = {}
    for decision in reversed(decisions):
        first, span = int(form.decision_first[decision]) - low, int(form.decision_actions[decision])
        parent = int(form.decision_parent[decision]) - low
        if plays[parent]:
            ways[parent] *= sum(ways[first : first + span])
            reached[int(form.decision_infoset[decision])] = int(plays[first : first + span].sum())
    pure = sum(size == 1 for size in reached.values())
    return Purity(len(tree.infosets_of(player)), len(reached), pure, ways[0])
