"""Exact regret of a sequence of profiles: external regret, its decomposition, the gap to a coarse correlated
equilibrium (Gibson 2014, sections 2.2, 4.1, 5.1 and appendix B).

A ``RegretTracker`` observes one profile after another, from any source.  Because it sums what every own sequence would
have earned against the others at each step, its regrets are exact for any number of players (the product of averages
is not the average of products, so the average profile is not enough).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from counterplay.abstraction.infosets.abstraction import Abstraction
from counterplay.errors import GameError
from counterplay.evaluation.responses import check_player
from counterplay.forms import open_game
from counterplay.game.game import Game
from counterplay.kernels.history.passes import backward_best, backward_values, form_arrays, forward_reach, leaf_values
from counterplay.strategy.strategy import Provenance
from counterplay.strategy.tabular import TabularStrategy, check_strategy
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.sequence.matrices import behavioural_strategy


class RegretTracker:
    """Accumulates regrets over a sequence of profiles.

    Parameters
    ----------
    game : GameTree, Game or str
        The game in which regret is measured.
    abstraction : Abstraction, optional
        If given, the profiles are those of the abstract game, and are lifted.  This measures the regret of CFR with
        imperfect recall in the refinement (Lanctot et al. 2012, section 5; Gibson 2014, section 6.2).

    Attributes
    ----------
    steps : int
        Number of profiles seen, T.
    regret : (E,) float64
        Cumulative counterfactual regret R(I,a) of every entry.
    value : (n,) float64
        Sum over time of each player's expected value.
    """

    def __init__(self, game: GameTree | Game | str, abstraction: Abstraction | None = None) -> None:
        self.tree = open_game(game, "history")
        self.abstraction = abstraction
        if abstraction is not None and abstraction.digest != self.tree.digest:
            raise GameError(f"the abstraction {abstraction.name!r} is of {abstraction.game}, not of {self.tree.name}")
        self._form = form_arrays(self.tree.sequences)
        sequences = self.tree.sequences.num_sequences
        self.steps = 0
        self.regret = np.zeros(self.tree.num_entries)
        self.value = np.zeros(self.tree.players)
        self._leaves = np.zeros(sequences)  # what each own sequence earned at its leaves, summed over time
        self._values = np.zeros(sequences)  # counterfactual value of each sequence, summed over time
        self._plans = np.zeros(sequences)  # reach of each sequence by its own player, summed over time

    def observe(self, profile: TabularStrategy | NDArray[np.float64]) -> None:
        """Add one more profile (or the probabilities of its entries)."""
        strategy = check_strategy(self.tree, self._entries(profile))
        unit = self.tree.sequences.unit
        reach = np.ones(len(self._leaves))
        value = np.zeros(len(self._leaves))
        regret = np.zeros(len(self.regret))
        for player in range(self.tree.players):
            forward_reach(self._form, player, strategy, reach)
        self._plans += reach
        for player in range(self.tree.players):
            leaf_values(self._form, player, reach, value)
        self._leaves += value * unit
        for player in range(self.tree.players):
            backward_values(self._form, player, strategy, value, regret)
        self.value += value[self.tree.sequences.sequence_start[:-1]] * unit
        self.regret += regret * unit
        self._values += value * unit
        self.steps += 1

    def _entries(self, profile: TabularStrategy | NDArray[np.float64]) -> NDArray[np.float64]:
        """The probabilities of the entries of the game in which regret is measured."""
        if self.abstraction is None:
            return profile.for_tree(self.tree) if isinstance(profile, TabularStrategy) else profile
        if isinstance(profile, TabularStrategy):
            return self.abstraction.lift(profile, self.tree).table
        return self.abstraction.lift_strategy(profile)

    def average_profile(self) -> TabularStrategy:
        """The average profile (Gibson 2014, section 2.2): probabilities in proportion to the summed reach of the
        sequences.  Needs perfect recall.
        """
        self._need_steps()
        for player in range(self.tree.players):
            self._need_perfect_recall(player)
        strategy = behavioural_strategy(self.tree, self._plans)
        return TabularStrategy.from_tree(self.tree, strategy, Provenance("average", iterations=self.steps))

    def best_in_hindsight(self, player: int) -> tuple[float, NDArray[np.int32]]:
        """The most that one fixed strategy would have won in total, and its choice at every decision point."""
        check_player(self.tree, player)
        total = self._leaves.copy()
        choice = np.zeros(self.tree.sequences.num_decisions, np.int32)
        backward_best(self._form, player, total, choice)
        return float(total[self.tree.sequences.sequence_start[player]]), choice

    def external_regret(self, player: int) -> float:
        """R_i^T: the best fixed strategy's total minus the player's own (Gibson 2014, equation 2.2)."""
        return self.best_in_hindsight(player)[0] - float(self.value[player])

    def coarse_correlated_gap(self) -> float:
        """The distance of the uniform distribution over profiles from a coarse correlated equilibrium (eq. 2.1)."""
        self._need_steps()
        return max(self.external_regret(player) for player in range(self.tree.players)) / self.steps

    def decomposed_regret(self, player: int) -> float:
        """External regret again, as the sum over information sets reached by the best strategy in hindsight of its
        counterfactual regret there (Gibson 2014, theorem 5.1).  Equal to ``external_regret`` with perfect recall.
        """
        check_player(self.tree, player)
        form = self.tree.sequences
        self._need_perfect_recall(player)
        _, choice = self.best_in_hindsight(player)
        reached = np.zeros(form.num_sequences, bool)
        reached[form.sequence_start[player]] = True
        total = 0.0
        for decision in range(form.decision_start[player], form.decision_start[player + 1]):
            if reached[form.decision_parent[decision]]:
                reached[form.decision_first[decision] + choice[decision]] = True
                total += self.regret[form.decision_entry[decision] + choice[decision]]
        return float(total)

    def full_regret(self, player: int, strategy: NDArray[np.float64]) -> NDArray[np.float64]:
        """R_full(I, σ_i) at every decision point of the player: what following ``strategy`` from I on would have
        gained, by its definition (Gibson 2014, appendix B).
        """
        check_player(self.tree, player)
        strategy = check_strategy(self.tree, strategy)
        form = self.tree.sequences
        follow = self._leaves.copy()
        backward_values(self._form, player, strategy, follow, np.zeros_like(self.regret))
        gains = []
        for decision in range(form.decision_start[player], form.decision_start[player + 1]):
            first, entry = int(form.decision_first[decision]), int(form.decision_entry[decision])
            actions = int(form.decision_actions[decision])
            followed = float(strategy[entry : entry + actions] @ follow[first : first + actions])
            played = float(self._values[first] - self.regret[entry])  # v_i(I, σ^t) summed over time, by any action
            gains.append(followed - played)
        return np.array(gains)

    def decomposed_full_regret(self, player: int, strategy: NDArray[np.float64]) -> NDArray[np.float64]:
        """R_full(I, σ_i) as the sum of counterfactual regrets at I and below, weighted by the reach of ``strategy``
        from I (Gibson 2014, lemma B.1).  Equal to ``full_regret`` with perfect recall.
        """
        check_player(self.tree, player)
        strategy = check_strategy(self.tree, strategy)
        form = self.tree.sequences
        self._need_perfect_recall(player)
        low, high = int(form.decision_start[player]), int(form.decision_start[player + 1])
        below = np.zeros(form.num_sequences)
        total = np.zeros(high - low)
        for decision in range(high - 1, low - 1, -1):
            first, entry = int(form.decision_first[decision]), int(form.decision_entry[decision])
            span = int(form.decision_actions[decision])
            here = self.regret[entry : entry + span] + below[first : first + span]
            total[decision - low] = strategy[entry : entry + span] @ here
            below[form.decision_parent[decision]] += total[decision - low]
        return total

    def _need_steps(self) -> None:
        if self.steps == 0:
            raise GameError("no profile has been observed yet; call observe() first")

    def _need_perfect_recall(self, player: int) -> None:
        if not self.tree.sequences.has_perfect_recall(player):
            raise GameError(f"player {player + 1} of {self.tree.name} has imperfect recall; this needs perfect recall")
