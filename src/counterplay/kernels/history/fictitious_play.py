"""The loop of fictitious play in behavioural strategies, many iterations at a call.

One update of a player (Čermák 2018, section 3.4.3): a pure best response to the others' averages, mixed into the
player's own average so that the result plays like the mixture of the two (lemma 3.4.1).
"""

from __future__ import annotations

import numpy as np

from counterplay.kernels.history.passes import FormArrays, backward_best, forward_reach, leaf_values
from counterplay.kernels.jit import kernel


@kernel
def iterate_fictitious_play(
    form: FormArrays,  # IN
    offset: np.ndarray,  # IN  (I+1,) int64: infoset_offset
    player_infosets: np.ndarray,  # IN  (n+1,) int64
    alternating: bool,  # IN  each player sees the new averages of those before
    iterations: int,  # IN  how many to do
    clock: np.ndarray,  # IN OUT (1,) int64: iterations done so far
    average: np.ndarray,  # IN OUT (E,) float64: the average profile
    reach: np.ndarray,  # scratch (S,) float64
    value: np.ndarray,  # scratch (S,) float64
    played: np.ndarray,  # scratch (S,) float64
    weight: np.ndarray,  # scratch (E,) float64, zeros in and out
    choice: np.ndarray,  # scratch (D,) int32
) -> None:
    """Run iterations of fictitious play; in each, every player is updated once."""
    players = len(player_infosets) - 1
    for _ in range(iterations):
        new = 1.0 / (clock[0] + 2.0)  # the strategy at the start counts as one
        for player in range(players):
            forward_reach(form, player, average, reach)
        for player in range(players):
            leaf_values(form, player, reach, value)
            backward_best(form, player, value, choice)
            if alternating:
                mix_choice(form, offset, player_infosets, player, new, choice, reach, average, played, weight)
                forward_reach(form, player, average, reach)
        if not alternating:
            for player in range(players):
                mix_choice(form, offset, player_infosets, player, new, choice, reach, average, played, weight)
        clock[0] += 1


@kernel
def mix_choice(
    form: FormArrays,  # IN
    offset: np.ndarray,  # IN  (I+1,) int64
    player_infosets: np.ndarray,  # IN  (n+1,) int64
    player: int,  # IN
    new: float,  # IN  share of the pure strategy in the mixture
    choice: np.ndarray,  # IN  (D,) int32: the pure strategy, by decision point
    reach: np.ndarray,  # IN  (S,) float64: reach of the average
    average: np.ndarray,  # IN OUT (E,) float64, the player's entries
    played: np.ndarray,  # scratch (S,) float64
    weight: np.ndarray,  # scratch (E,) float64, zeros in and out
) -> None:
    """Mix a pure strategy into a behavioural one (Čermák 2018, lemma 3.4.1).

    Both are weighted at each information set by their own reach of it, which is the sum over the set's decision
    points.  Where neither reaches, nothing changes.
    """
    played[form.sequence_start[player]] = 1.0
    for decision in range(form.decision_start[player], form.decision_start[player + 1]):
        before = form.decision_parent[decision]
        first = form.decision_first[decision]
        entry = form.decision_entry[decision]
        for action in range(form.decision_actions[decision]):
            pure = played[before] if action == choice[decision] else 0.0
            played[first + action] = pure
            weight[entry + action] += new * pure + (1.0 - new) * reach[before] * average[entry + action]
    for infoset in range(player_infosets[player], player_infosets[player + 1]):
        total = 0.0
        for entry in range(offset[infoset], offset[infoset + 1]):
            total += weight[entry]
        for entry in range(offset[infoset], offset[infoset + 1]):
            if total > 0.0:
                average[entry] = weight[entry] / total
            weight[entry] = 0.0
