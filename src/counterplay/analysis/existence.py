"""Equilibria of games with imperfect recall through their refinement (Čermák 2018, section 4.2.1).

A game with A-loss recall has a Nash equilibrium in behavioural strategies if and only if its coarsest perfect-recall
refinement has one that plays equally in all parts of each information set (theorem 4.2.1); without A-loss recall such
an equilibrium of the refinement still is one of the game, but there may be others (corollary 4.2.1).

A zero-sum game has one if and only if the maxmin values of both players sum to 0: the strategies of an equilibrium
guarantee its value to their players, and maxmin strategies whose values sum to 0 are best responses to each other.
With A-loss recall these values are then that of the refinement, as stated in the thesis; the sum also decides without
A-loss recall.
"""

from __future__ import annotations

import dataclasses
import math

from counterplay.abstraction import abstraction_between
from counterplay.evaluation import best_response, expected_values
from counterplay.forms import open_game
from counterplay.game.game import Game
from counterplay.runtime.pacing import Until
from counterplay.strategy.strategy import Provenance
from counterplay.strategy.tabular import TabularStrategy
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.history.repartition import perfect_recall_refinement


@dataclasses.dataclass(frozen=True, eq=False)
class LiftedEquilibrium:
    """A profile carried over from the refinement, and what each player could still gain by a pure deviation."""

    profile: TabularStrategy
    gains: tuple[float, ...]

    @property
    def epsilon(self) -> float:
        """The profile is an ε-Nash equilibrium of the game for this ε."""
        return max(self.gains)


def equilibrium_from_refinement(tree: GameTree, profile: TabularStrategy, tolerance: float = 1e-6) -> LiftedEquilibrium:
    """Carry a profile of ``perfect_recall_refinement(tree)`` over to the game, and verify it there.

    Parameters
    ----------
    tree : GameTree
        The game in which somebody forgets.
    profile : TabularStrategy
        A profile of its coarsest perfect-recall refinement, such as an equilibrium.
    tolerance : float
        Largest difference between the strategies of the parts of one information set.

    Raises
    ------
    StrategyError
        If the profile plays differently in two parts of an information set; they are named.
    """
    abstraction = abstraction_between(perfect_recall_refinement(tree), tree)
    taken = abstraction.restrict(profile, tree, tolerance)
    values = expected_values(taken, tree)
    gains = [best_response(taken, player, tree, method="exact").value - value for player, value in enumerate(values)]
    return LiftedEquilibrium(taken, tuple(gains))


@dataclasses.dataclass(frozen=True, eq=False)
class Existence:
    """Whether a zero-sum game has a Nash equilibrium in behavioural strategies.

    Attributes
    ----------
    exists : bool or None
        None if the bounds do not decide.
    bounds : tuple of pairs of floats
        Lower and upper bound on the maxmin value of each player.
    refinement_value : float
        The value of the coarsest perfect-recall refinement to player 1.
    profile : TabularStrategy or None
        An equilibrium if there is one, up to the gap between the bounds.
    """

    exists: bool | None
    bounds: tuple[tuple[float, float], tuple[float, float]]
    refinement_value: float
    profile: TabularStrategy | None


def equilibrium_exists(game: GameTree | Game | str, epsilon: float = 1e-6, seconds: float | None = None) -> Existence:
    """Decide whether a small two-player zero-sum game has a Nash equilibrium in behavioural strategies.

    Parameters
    ----------
    game : GameTree, Game or str
        A game in which players may forget, without absent-mindedness.
    epsilon : float
        Accuracy of the maxmin values, relative to the largest utility.
    seconds : float, optional
        The time limit for each player.
    """
    from counterplay.lp.zero_sum import solve_zero_sum  # large libraries, which others need not wait for
    from counterplay.solvers.maxmin import MaxminConfig, MaxminSolver

    tree = open_game(game, "history")
    solvers = [MaxminSolver(tree, MaxminConfig(player=player, epsilon=epsilon)) for player in (1, 2)]
    limit = Until(iterations=10**9) if seconds is None else Until(seconds=seconds)
    results = [solver.run(limit) for solver in solvers]
    bounds = [solver.value_bounds or (-math.inf, math.inf) for solver in solvers]
    low, high = (bounds[0][side] + bounds[1][side] for side in range(2))
    refined = solve_zero_sum(perfect_recall_refinement(tree))
    assert refined is not None
    tolerance = 2.0 * epsilon * max(abs(tree.facts.min_utility), abs(tree.facts.max_utility))
    exists = True if low >= -tolerance else False if high < -tolerance else None
    profile = None
    if exists:
        middle = int(tree.infoset_offset[tree.player_infosets[1]])
        probabilities = results[0].profile.table.copy()
        probabilities[middle:] = results[1].profile.table[middle:]
        profile = TabularStrategy.from_tree(tree, probabilities, Provenance("maxmin"))
    return Existence(exists, (bounds[0], bounds[1]), refined.value, profile)
