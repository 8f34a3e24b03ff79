"""A best response by branch and bound (Čermák 2018, section 3.3, pointing to the double oracle algorithm).

Decision points are visited in depth first order.  What an action is worth is known in part: its leaves, and the
decision points after it that are solved; for each of the others there is a bound, the ceilings of its pairs weighted
by the other player's reach.  An action is given up when even the bounds do not beat the best action so far, and
decision points that the other player never comes to are not visited at all.  The value is that of the plain best
response (``passes.backward_best``), and the first of several best actions is chosen, as there.
"""

from __future__ import annotations

import numpy as np

from counterplay.kernels.history.passes import FormArrays
from counterplay.kernels.jit import kernel


@kernel
def pruned_best_response(
    form: FormArrays,  # IN
    player: int,  # IN  who responds
    reach: np.ndarray,  # IN  (S,) float64: the other player's reach of each own sequence
    pair_start: np.ndarray,  # IN  (D+1,) int64
    pair_other: np.ndarray,  # IN  (M,) int32
    pair_histories: np.ndarray,  # IN  (M,) int32
    pair_ceiling: np.ndarray,  # IN  (M,) float64
    after_start: np.ndarray,  # IN  (S+1,) int64
    after: np.ndarray,  # IN  (D,) int32
    choice: np.ndarray,  # OUT (D,) int32: the action at the decision points that were visited
    bound: np.ndarray,  # scratch (D,) float64: bounds of decision points; NaN where the other player never comes
    seen: np.ndarray,  # scratch (D,) int64: histories of decision points to which the other player comes
    used: np.ndarray,  # OUT (S,) bool: the player's sequences that the response uses where the other player comes
    stack: np.ndarray,  # scratch (4, depth) int64
    sums: np.ndarray,  # scratch (3, depth) float64
    counts: np.ndarray,  # OUT (3,) int64: histories visited, decision points visited, decision points used
) -> float:
    """The value of a best response, in units."""
    counts[:] = 0
    top = 0
    point, action, child, sequence = stack[0], stack[1], stack[2], stack[3]
    known, open_bound, best = sums[0], sums[1], sums[2]
    point[0], action[0], sequence[0], best[0] = -1, 0, form.sequence_start[player], -np.inf
    _begin(form, sequence[0], reach, pair_start, pair_other, pair_histories, pair_ceiling, after_start,
           after, bound, seen, known, open_bound, child, top)  # fmt: skip
    while True:
        here = sequence[top]
        given_up = known[top] + open_bound[top] <= best[top]
        if not given_up and child[top] < after_start[here + 1]:
            down = after[child[top]]
            if np.isnan(bound[down]):
                child[top] += 1
                continue
            top += 1
            point[top], action[top], best[top] = down, 0, -np.inf
            sequence[top] = form.decision_first[down]
            counts[0] += seen[down]
            counts[1] += 1
        else:
            if not given_up and known[top] > best[top]:
                best[top] = known[top]
                if top > 0:
                    choice[point[top]] = action[top]
            if top == 0:
                break
            action[top] += 1
            sequence[top] += 1
            if action[top] == form.decision_actions[point[top]]:
                up = top - 1
                known[up] += best[top]
                open_bound[up] -= bound[point[top]]
                child[up] += 1
                top = up
                continue
        _begin(form, sequence[top], reach, pair_start, pair_other, pair_histories, pair_ceiling,
               after_start, after, bound, seen, known, open_bound, child, top)  # fmt: skip
    _mark_used(form, player, after_start, after, choice, bound, used, counts)
    return float(best[0])


@kernel
def _begin(
    form: FormArrays,  # IN
    here: int,  # IN  the sequence that is now looked at
    reach: np.ndarray,  # IN
    pair_start: np.ndarray,  # IN
    pair_other: np.ndarray,  # IN
    pair_histories: np.ndarray,  # IN
    pair_ceiling: np.ndarray,  # IN
    after_start: np.ndarray,  # IN
    after: np.ndarray,  # IN
    bound: np.ndarray,  # OUT, of the decision points after the sequence
    seen: np.ndarray,  # OUT, likewise
    known: np.ndarray,  # OUT, at top: what its own leaves pay
    open_bound: np.ndarray,  # OUT, at top: the sum of the bounds
    child: np.ndarray,  # OUT, at top: the first decision point after it
    top: int,  # IN
) -> None:
    total = 0.0
    for leaf in range(form.leaf_start[here], form.leaf_start[here + 1]):
        total += form.leaf_payoff[leaf] * reach[form.leaf_others[leaf, 0]]
    known[top] = total
    child[top] = after_start[here]
    bounds = 0.0
    for number in range(after_start[here], after_start[here + 1]):
        down = after[number]
        total = 0.0
        histories = 0
        for pair in range(pair_start[down], pair_start[down + 1]):
            weight = reach[pair_other[pair]]
            if weight > 0.0:
                total += weight * pair_ceiling[pair]
                histories += pair_histories[pair]
        seen[down] = histories
        bound[down] = total if histories > 0 else np.nan
        if histories > 0:
            bounds += total
    open_bound[top] = bounds


@kernel
def _mark_used(
    form: FormArrays,  # IN
    player: int,  # IN
    after_start: np.ndarray,  # IN
    after: np.ndarray,  # IN
    choice: np.ndarray,  # IN
    bound: np.ndarray,  # IN
    used: np.ndarray,  # OUT
    counts: np.ndarray,  # OUT
) -> None:
    """The sequences of the response, from the empty one on."""
    for sequence in range(form.sequence_start[player], form.sequence_start[player + 1]):
        used[sequence] = False
    used[form.sequence_start[player]] = True
    for decision in range(form.decision_start[player], form.decision_start[player + 1]):
        if used[form.decision_parent[decision]] and not np.isnan(bound[decision]):
            used[form.decision_first[decision] + choice[decision]] = True
            counts[2] += 1


@kernel
def mark_wide_response(
    form: FormArrays,  # IN
    player: int,  # IN  who responds
    reach: np.ndarray,  # IN  (S,) float64: the other player's reach of each own sequence
    pair_start: np.ndarray,  # IN  (D+1,) int64
    pair_other: np.ndarray,  # IN  (M,) int32
    choice: np.ndarray,  # IN  (D,) int32: a best action at every decision point
    used: np.ndarray,  # IN OUT (S,) bool: sequences allowed in; with the responses that follow each of them out
) -> None:
    """The response after every sequence that is marked, not only after those that the response itself plays."""
    for decision in range(form.decision_start[player], form.decision_start[player + 1]):
        if not used[form.decision_parent[decision]]:
            continue
        for pair in range(pair_start[decision], pair_start[decision + 1]):
            if reach[pair_other[pair]] > 0.0:
                used[form.decision_first[decision] + choice[decision]] = True
                break
