"""Equilibria of games with imperfect recall through their refinement (Čermák 2018, section 4.2.1).

A game with A-loss recall has a Nash equilibrium in behavioural strategies if and only if its coarsest perfect-recall
refinement has one that plays alike in all parts of each information set (theorem 4.2.1); without A-loss recall such an
equilibrium of the refinement still is one of the game, but there may be others (corollary 4.2.1).
"""

from __future__ import annotations

import dataclasses

from counterplay.abstraction import abstraction_between
from counterplay.evaluation.responses import best_response, expected_values
from counterplay.strategy.profile import Profile
from counterplay.tree.arrays import GameTree
from counterplay.tree.partition import perfect_recall_refinement

__all__ = ["LiftedEquilibrium", "equilibrium_from_refinement"]


@dataclasses.dataclass(frozen=True, eq=False)
class LiftedEquilibrium:
    """A profile taken over from the refinement, and what each player could still gain by a pure deviation."""

    profile: Profile
    gains: tuple[float, ...]

    @property
    def epsilon(self) -> float:
        """The profile is an ε-Nash equilibrium of the game for this ε."""
        return max(self.gains)


def equilibrium_from_refinement(tree: GameTree, profile: Profile, tolerance: float = 1e-6) -> LiftedEquilibrium:
    """Take a profile of ``perfect_recall_refinement(tree)`` over to the game, and verify it there.

    Parameters
    ----------
    tree : GameTree
        The game in which somebody forgets.
    profile : Profile
        A profile of its coarsest perfect-recall refinement, such as an equilibrium.
    tolerance : float
        How far the strategies of the parts of one information set may be apart.

    Raises
    ------
    StrategyError
        If the profile plays differently in two parts of an information set; they are named.
    """
    abstraction = abstraction_between(perfect_recall_refinement(tree), tree)
    taken = abstraction.restrict(profile, tree, tolerance)
    values = expected_values(tree, taken)
    gains = [best_response(tree, taken, player, method="exact").value - value for player, value in enumerate(values)]
    return LiftedEquilibrium(taken, tuple(gains))
