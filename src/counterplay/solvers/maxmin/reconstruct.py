"""From the solution of a relaxation to a strategy that can be played (Čermák 2018, sections 4.3.5 and 4.4.2.1).

At a forgetful set every sequence σ with positive weight induces a strategy r(σa) / r(σ).  The strategy that is played
is a mixture of these (so that theorem 4.3.2 bounds the loss), chosen by the linear program (4.15): it minimises

    Σ_σ r(σ) Σ_a L(σ, a),    L(σ, a) >= [b_σ(a) - b(a)] high(σa),   L(σ, a) >= [b(a) - b_σ(a)] (-low(σa)),   L >= 0

with the utilities below σ counted from the middle of their range, so that both bounds are meaningful for any
utilities.  r(σ) L(σ, a) is the blame of an action for the gap; its sum over sequences selects the action to branch on
(the thesis sums L alone, and so counts sequences that are rarely played).
"""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from counterplay.lp.highs import LinearModel, solve_model
from counterplay.solvers.maxmin.maxmin_problem import MaxminProblem
from counterplay.tree.sequence.matrices import payoff_scale
from counterplay.tree.sequence.sequence_form import spans

Float64 = NDArray[np.float64]

PLAYED = 1e-9
"""Sequences of less weight do not count."""

LARGE = 20_000
"""With more terms in disagreement the mean of the induced strategies is taken, and no program solved."""


@dataclasses.dataclass(frozen=True, eq=False)
class Reconstruction:
    """A strategy reconstructed from a plan.

    * ``strategy`` (E,) float64: probabilities of the maximiser's entries; 0 elsewhere
    * ``blame`` (places,) float64: the blame of each action of a forgetful set for the gap
    """

    strategy: Float64
    blame: Float64


def reconstruct(problem: MaxminProblem, plan: Float64, fallback: Float64) -> Reconstruction:
    """Reconstruct a strategy from a plan.

    Parameters
    ----------
    problem : MaxminProblem
        Who maximises what.
    plan : (S,) float64
        Weights of the maximiser's sequences.
    fallback : (E,) float64
        The strategy at sets that the plan does not reach.
    """
    form, tree = problem.form, problem.tree
    own = np.arange(form.decision_start[problem.player], form.decision_start[problem.player + 1])
    counts = form.decision_actions[own]
    after, entries = spans(form.decision_first[own], counts), spans(form.decision_entry[own], counts)
    weights = np.zeros(tree.num_entries)
    np.add.at(weights, entries, plan[after])  # the mean of the induced strategies by weight of sequences
    low, high = (int(tree.infoset_offset[tree.player_infosets[one]]) for one in (problem.player, problem.player + 1))
    strategy = np.zeros(tree.num_entries)
    strategy[low:high] = _normalised(problem, weights, fallback)[low:high]
    blame = np.zeros(problem.places)
    if not len(problem.sets):
        return Reconstruction(strategy, blame)
    weight = plan[problem.term_before]
    # Where a restricted game stops, the sequence before has weight and those after it have none.
    following = np.bincount(problem.term_point, plan[problem.term_after])[problem.term_point]
    played = (weight > PLAYED) & (following > weight / 2)
    share = np.where(played, plan[problem.term_after] / np.where(played, weight, 1.0), 0.0)
    least, most = np.full(problem.places, np.inf), np.full(problem.places, -np.inf)
    np.minimum.at(least, problem.term_place[played], share[played])
    np.maximum.at(most, problem.term_place[played], share[played])
    apart = np.zeros(len(problem.sets), bool)
    apart[problem.place_set[most - least > PLAYED]] = True
    terms = np.flatnonzero(played & apart[problem.term_set])
    if not len(terms):
        return Reconstruction(strategy, blame)
    middle = (problem.low[problem.term_before[terms]] + problem.high[problem.term_before[terms]]) / 2
    gain = np.maximum(problem.high[problem.term_after[terms]] - middle, 0.0)
    loss = np.maximum(middle - problem.low[problem.term_after[terms]], 0.0)
    if len(terms) <= LARGE:
        chosen = _mixture(problem, terms, weight[terms], share[terms], gain, loss)
        places = np.flatnonzero(apart[problem.place_set])
        strategy[problem.place_entry[places]] = chosen[places]
    played_share = strategy[problem.place_entry[problem.term_place[terms]]]
    gap = share[terms] - played_share
    np.add.at(blame, problem.term_place[terms], weight[terms] * np.maximum(np.maximum(gap * gain, -gap * loss), 0.0))
    return Reconstruction(strategy, blame)


def _normalised(problem: MaxminProblem, weights: Float64, fallback: Float64) -> Float64:
    offset = problem.tree.infoset_offset
    sizes = np.diff(offset)
    totals = np.add.reduceat(weights, offset[:-1]) if len(sizes) else weights
    idle = np.repeat(totals <= PLAYED, sizes)
    return np.where(idle, fallback, weights / np.repeat(np.where(totals > 0.0, totals, 1.0), sizes))


def _mixture(
    problem: MaxminProblem, terms: NDArray[np.int64], weight: Float64, share: Float64, gain: Float64, loss: Float64
) -> Float64:
    """The mixtures of induced strategies that (4.15) chooses, by place; one program for all sets."""
    place = problem.term_place[terms]
    scale = payoff_scale(np.maximum(gain, loss))
    gain, loss = scale * gain, scale * loss
    # Each decision point induces one strategy, which has the weight α in the mixture.
    _, fresh, alpha = np.unique(problem.term_point[terms], return_index=True, return_inverse=True)
    number = len(fresh)
    sets, set_row = np.unique(problem.term_set[terms[fresh]], return_inverse=True)
    places, b = np.unique(place, return_inverse=True)
    n = np.arange(len(terms))
    b_column, error = number + np.arange(len(places)), number + len(places) + n
    first, second, third = len(sets), len(sets) + len(places), len(sets) + len(places) + len(terms)
    parts = [
        (set_row, np.arange(number), np.ones(number)),  # the α of a set add up to 1
        (first + b, alpha, share), (first + np.arange(len(places)), b_column, -np.ones(len(places))),
        (second + n, error, np.ones(len(n))), (second + n, b_column[b], gain),
        (third + n, error, np.ones(len(n))), (third + n, b_column[b], -loss),
    ]  # fmt: skip
    rows, columns, values = (np.concatenate([part[which] for part in parts]) for which in range(3))
    right = np.concatenate((np.ones(len(sets)), np.zeros(len(places)), share * gain, -share * loss))
    open_ended = np.arange(len(right)) >= second
    width = number + len(places) + len(terms)
    cost = np.zeros(width)
    cost[error] = weight
    solution = solve_model(
        LinearModel(
            cost, coo_array((values, (rows, columns)), shape=(len(right), width)).tocsr(), right,
            np.where(open_ended, np.inf, right), np.zeros(width), np.full(width, np.inf),
        )
    )  # fmt: skip
    assert solution is not None
    mixed = np.zeros(problem.places)
    np.add.at(mixed, place, np.maximum(solution.primal[:number], 0.0)[alpha] * share)
    totals = np.add.reduceat(mixed, problem.place_start[:-1])
    return np.asarray(mixed / np.where(totals > 0.0, totals, 1.0)[problem.place_set], dtype=np.float64)
