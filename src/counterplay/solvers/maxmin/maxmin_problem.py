"""The maxmin problem of a player who forgets, as arrays (Čermák 2018, sections 4.3.1 and 4.4).

The maximiser may have imperfect recall without absent-mindedness.  Decision points (``SequenceForm``) are the
information sets of the coarsest perfect-recall refinement, so plans r of the maximiser are weights of its sequences; a
plan represents a behavioural strategy of the game if and only if

    r(σ a) = x(I, a) r(σ)     at every set I with several decision points, for every sequence σ before I and action a

(4.1g).  Such a pair of a sequence and an action is a *term*.  An A-loss minimiser is replaced by its refinement, which
does not change the maxmin value (proposition 4.4.1); otherwise pure strategies of the minimiser are used (section
4.3.2).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError, SolverError
from counterplay.evaluation.forgetful_response import best_pure_choices
from counterplay.game.game import TERMINAL
from counterplay.kernels.history.passes import backward_best, form_arrays, forward_reach, leaf_values
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.sequence.matrices import decision_levels, payoff_scale
from counterplay.tree.sequence.sequence_form import sequences_at, spans

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]

MAX_DIGITS = 12
"""Most decimals of a probability that are distinguished."""

MAX_PAYOFF = 2.0**10
"""Larger payoffs are scaled: with products that hold to 1e-9 they would be wrong by chips."""


class MaxminProblem:
    """The maximiser, the payoffs, and the products that have to hold.

    Sequences are numbered as in ``SequenceForm``.  Actions of forgetful sets are numbered from 0, set by set: *places*.

    * ``tree``, ``form``, ``arrays``: the game, its sequence form, and that for kernels
    * ``player``, ``other``: the maximiser and the minimiser
    * ``a_loss``: whether the minimiser has A-loss recall (or better)
    * ``sets`` (K,) int64: the maximiser's information sets with several decision points and several actions
    * ``place_start`` (K+1,) int64: the places of set k are ``place_start[k] .. place_start[k + 1] - 1``
    * ``place_entry``: the entry of the tree of each place
    * ``term_place``, ``term_before``, ``term_after`` (T,) int64: the terms: the place of the action, the sequence
      before, and the sequence with the action
    * ``term_set``, ``term_point`` (T,) int64: the set of a term, and its decision point, numbered from 0 in the order
      of terms
    * ``low``, ``high`` (S,) float64: smallest and largest payoff of the maximiser below each of its sequences; NaN for
      the other player's
    * ``depth``: the most of ``sets`` on one path
    * ``scale``: the largest utility, which ε is relative to
    * ``factor``: the factor of the payoffs of the sequence form in programs, so that tolerances are negligible
    * ``unit``: the value of 1 in the objective of a program, in chips
    """

    def __init__(self, tree: GameTree, player: int) -> None:
        check_maxmin(tree, player)
        self.tree, self.player, self.other = tree, player, 1 - player
        self.form = form = tree.sequences
        self.arrays = form_arrays(form)
        self.a_loss = tree.recall[self.other] in ("perfect", "a-loss")
        self.scale = float(np.abs(tree.utility[:, player]).max(initial=0.0)) or 1.0
        self.factor = payoff_scale(form.leaf_payoff, MAX_PAYOFF)
        self.unit = form.unit / self.factor
        self.levels = self.levels_of(player)
        self._number_terms()
        self._measure_subtrees()

    def _number_terms(self) -> None:
        form, tree = self.form, self.tree
        own = np.arange(form.decision_start[self.player], form.decision_start[self.player + 1])
        infosets = form.decision_infoset[own]
        several = np.bincount(infosets, minlength=tree.num_infosets) > 1
        several &= np.diff(tree.infoset_offset) > 1
        self.sets: Int64 = np.flatnonzero(several).astype(np.int64)
        sizes = np.diff(tree.infoset_offset)[self.sets]
        self.place_start: Int64 = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        self.place_entry = spans(tree.infoset_offset[self.sets], sizes)
        self.place_set: Int64 = np.repeat(np.arange(len(self.sets)), sizes)
        number = np.full(tree.num_infosets, -1, np.int64)
        number[self.sets] = np.arange(len(self.sets))
        points = own[several[infosets]]
        points = points[np.argsort(number[form.decision_infoset[points]], kind="stable")]
        which, actions = number[form.decision_infoset[points]], form.decision_actions[points]
        self.term_place = spans(self.place_start[which], actions)
        self.term_after = spans(form.decision_first[points], actions)
        self.term_before: Int64 = np.repeat(form.decision_parent[points], actions).astype(np.int64)
        self.term_set: Int64 = np.repeat(which, actions)
        self.term_point: Int64 = np.repeat(np.arange(len(points)), actions)
        self.set_of_decision = np.full(form.num_decisions, -1, np.int64)
        self.set_of_decision[points] = which
        deep = np.zeros(form.num_sequences, np.int64)
        for level in self.levels:
            counted = deep[form.decision_parent[level]] + (self.set_of_decision[level] >= 0)
            deep[spans(form.decision_first[level], form.decision_actions[level])] = np.repeat(
                counted, form.decision_actions[level]
            )
        self.depth = int(deep.max(initial=0))

    def _measure_subtrees(self) -> None:
        form, tree = self.form, self.tree
        self.low, self.high = np.full(form.num_sequences, np.inf), np.full(form.num_sequences, -np.inf)
        terminals = np.flatnonzero(tree.player == TERMINAL)
        at = sequences_at(tree)[self.player][terminals]
        utility = tree.utility[tree.outcome[terminals], self.player]
        np.minimum.at(self.low, at, utility)
        np.maximum.at(self.high, at, utility)
        for level in reversed(self.levels):
            before = np.repeat(form.decision_parent[level], form.decision_actions[level])
            after = spans(form.decision_first[level], form.decision_actions[level])
            np.minimum.at(self.low, before, self.low[after])
            np.maximum.at(self.high, before, self.high[after])

    def levels_of(self, player: int) -> list[NDArray[np.integer]]:
        """The decision points of a player by their depth."""
        low, high = self.form.decision_start[player], self.form.decision_start[player + 1]
        return [level[(level >= low) & (level < high)] for level in decision_levels(self.form)]

    @property
    def places(self) -> int:
        """Number of actions of forgetful sets."""
        return int(self.place_start[-1])

    def error_bound(self, digits: int) -> float:
        """A bound on the loss when plans of a program with a number of digits are corrected (theorem 4.3.2)."""
        if not len(self.sets):
            return 0.0
        root = self.form.sequence_start[self.player]
        most = int(np.diff(self.place_start).max())
        return 10.0**-digits * self.depth * most * float(self.high[root] - self.low[root]) / 2

    def digits(self, epsilon: float) -> Int64:
        """The digits of each place that are enough for an error of ``epsilon`` in chips (theorem 4.4.1)."""
        if not len(self.sets):
            return np.zeros(0, np.int64)
        spread = np.zeros(len(self.sets))
        gap = self.high[self.term_before] - self.low[self.term_before]
        np.maximum.at(spread, self.term_set, gap)
        sizes = np.diff(self.place_start)
        with np.errstate(divide="ignore"):
            needed = np.ceil(np.log10(sizes * self.depth * spread / (2 * epsilon)))
        return np.clip(needed, 1, MAX_DIGITS).astype(np.int64)[self.place_set]

    def worst_case(self, strategy: Float64) -> float:
        """The guaranteed value of the maximiser's probabilities, in chips.  Other players' entries do not matter."""
        reach = np.ones(self.form.num_sequences)
        forward_reach(self.arrays, self.player, strategy, reach)
        return -self.response(reach)[0]

    def response(self, plan: Float64) -> tuple[float, Float64, NDArray[np.int32]]:
        """The minimiser's best response to a plan of the maximiser.

        Returns
        -------
        float
            What it is worth to the minimiser, in chips.
        (S,) float64
            The values of the minimiser's sequences in units.
        (D,) int32
            Its choice at every decision point.
        """
        value = np.zeros(self.form.num_sequences)
        choice = np.zeros(self.form.num_decisions, np.int32)
        leaf_values(self.arrays, self.other, plan, value)
        if not self.a_loss:
            return self._pure_response(value, choice)
        backward_best(self.arrays, self.other, value, choice)
        return float(value[self.form.sequence_start[self.other]]) * self.form.unit, value, choice

    def _pure_response(self, value: Float64, choice: NDArray[np.int32]) -> tuple[float, Float64, NDArray[np.int32]]:
        form = self.form
        pure = best_pure_choices(self.tree, self.other, value)
        low, high = form.decision_start[self.other], form.decision_start[self.other + 1]
        first = int(self.tree.player_infosets[self.other])
        choice[low:high] = pure[form.decision_infoset[low:high] - first]
        total = float(value[self.pure_plan(choice)].sum())
        return total * form.unit, value, choice

    def pure_plan(self, choice: NDArray[np.int32]) -> Int64:
        """The minimiser's sequences that a pure choice at every decision point plays."""
        form = self.form
        played = np.zeros(form.num_sequences, bool)
        played[form.sequence_start[self.other]] = True
        for decision in range(int(form.decision_start[self.other]), int(form.decision_start[self.other + 1])):
            if played[form.decision_parent[decision]]:
                played[form.decision_first[decision] + choice[decision]] = True
        return np.flatnonzero(played)


def check_maxmin(tree: GameTree, player: int) -> None:
    """Refuse games without a maxmin strategy in this sense."""
    what = "a maxmin strategy"
    if tree.players != 2:
        raise GameError(f"{what} is for two players; {tree.name} has {tree.players}")
    if not tree.facts.zero_sum:
        raise GameError(f"{what} is for zero-sum games, but utilities of {tree.name} do not add up to 0")
    if player not in (0, 1) or isinstance(player, bool):
        raise SolverError(f"the maximiser is player 0 or 1; got {player!r}")
    for one in range(2):
        if tree.recall[one] == "absent-minded":
            raise GameError(
                f"{what} needs players who never reach an information set twice on a path, but player {one + 1} "
                f"of {tree.name} is absent-minded; in a small game randomised_response (evaluation) may help"
            )
