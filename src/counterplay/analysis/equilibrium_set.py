"""The set of equilibria of a two-player zero-sum game with perfect recall: linear optimisation over it.

The equilibrium strategies of a player are the realisation plans that guarantee the game's value: the first player's
program (``linear_program``) with its objective turned into a constraint, ``f q >= value``.  They form a polytope, so
any linear question about them is a linear program: which equilibrium earns most against a given opponent, how often an
action is played at least and at most, and the domination value of a strategy (Gibson 2014, section 3.5.1, due to
Waugh): the most that an opponent who plays an equilibrium can gain from it.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError
from counterplay.lp.safe_response import SafePlans, sequence_values
from counterplay.lp.treeplex import strategy_of
from counterplay.strategy.strategy import Provenance
from counterplay.strategy.tabular import TabularStrategy
from counterplay.tree.history.game_tree import GameTree

Float64 = NDArray[np.float64]


@dataclasses.dataclass(frozen=True, eq=False)
class ExtremeEquilibrium:
    """An equilibrium strategy of a player that is best or worst by a measure; the other player's sets are uniform."""

    player: int
    objective: float
    profile: TabularStrategy


class Equilibria:
    """The equilibrium strategies of both players of a two-player zero-sum game with perfect recall.

    Parameters
    ----------
    tree : GameTree
        The game.

    Attributes
    ----------
    value : float
        The value of the game to the first player.
    """

    def __init__(self, tree: GameTree) -> None:
        self.tree = tree
        self._plans = [SafePlans(tree, player) for player in range(2)]
        self.value = self._plans[0].value

    def extreme(self, player: int, objective: Float64, largest: bool = True) -> ExtremeEquilibrium:
        """The equilibrium strategy of a player that is best by a linear measure of its realisation plan.

        Parameters
        ----------
        player : int
            Whose strategies are compared.
        objective : (S_player,) float64
            The weight of each sequence of the player.
        largest : bool
            Maximise, or else minimise.
        """
        if player not in (0, 1):
            raise GameError(f"{self.tree.name} has players 0 and 1; got {player}")
        best, plan = self._plans[player].best(objective, largest=largest)
        table = strategy_of(self.tree, player, plan, TabularStrategy.uniform(self.tree).table)
        return ExtremeEquilibrium(player, best, TabularStrategy.from_tree(self.tree, table, Provenance("equilibrium")))

    def against(self, player: int, opponent: TabularStrategy, largest: bool = True) -> ExtremeEquilibrium:
        """The equilibrium strategy of a player that earns most (or least) against a given strategy of the other."""
        return self.extreme(player, sequence_values(self.tree, player, opponent.for_tree(self.tree)), largest)

    def reach_range(self, player: int, infoset: str, action: str) -> tuple[float, float]:
        """The smallest and largest own reach of an action over all equilibrium strategies: probability of reaching the
        information set by own choices and taking the action.
        """
        form = self.tree.sequences
        entry = self.tree.entry(player, infoset, action)
        number = self.tree.find_infoset(player, infoset)
        decision = int(np.flatnonzero(form.decision_infoset == number)[0])
        place = int(form.decision_first[decision]) + entry - int(form.decision_entry[decision])
        objective = np.zeros(form.sequences_of(player))
        objective[place - int(form.sequence_start[player])] = 1.0
        least, most = (self.extreme(player, objective, largest).objective for largest in (False, True))
        return least, most

    def domination_value(self, player: int, profile: TabularStrategy) -> float:
        """How much more than the value the opponent can get from a player's strategy while playing an equilibrium.

        Dom_i(σ_i) = max over equilibrium strategies of the other of u_-i(σ_i, ·), plus what the game is worth to i
        (Gibson 2014, section 3.5.1).  It is 0 for every equilibrium strategy, and at most the strategy's
        exploitability.
        """
        other = 1 - player
        worth = self.value if player == 0 else -self.value
        return self.against(other, profile).objective + worth
