"""Equilibria of two-player zero-sum games with perfect recall by the linear program of the sequence form.

Koller, Megiddo and von Stengel 1996; Gibson 2014, section 2.3; Čermák 2018, section 3.4.1; Johanson 2016, section 9.2.
With plans x and y, ``E x = e`` and ``F y = f``, the first player's program is

    max  f q   such that   E x = e,   A' x - F' q >= 0,   x >= 0,

where q has a number for each information set of the second player: what that player cannot keep the first one from
getting there.  The multipliers of the inequalities are an optimal plan y of the second player, so one program gives
both strategies.  The bound x <= 1 of the thesis follows from the rest and is left out.

Payoffs are in units of ``SequenceForm.unit``, which makes them integers in games of cards and dice.
"""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import block_array

from counterplay.errors import GameError
from counterplay.lp.highs import LinearModel, Method, solve_model
from counterplay.lp.rational import check_size, prove_optimal
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.sequence.matrices import constraint_matrix, payoff_matrix, payoff_scale, require_perfect_recall

Float64 = NDArray[np.float64]

ROUNDING = 1e-12
"""By how much sums of utilities may differ where they are constant, relative to the largest utility."""

LARGE_PROGRAM = 2_000_000
"""Coefficients from which the interior-point method is chosen: the simplex method needs too many steps."""


@dataclasses.dataclass(frozen=True, eq=False)
class ZeroSumSolution:
    """An equilibrium.

    * ``value``: what the game is worth to the first player
    * ``plan`` (S,): the weight of each sequence of both players
    * ``exact_value``: the value as a fraction, if requested
    * ``exact_plan``: the plan in fractions, likewise
    """

    value: float
    plan: Float64
    exact_value: Fraction | None = None
    exact_plan: list[Fraction] | None = None


def require_zero_sum(tree: GameTree, what: str) -> None:
    """Refuse games that are not for two players, not zero-sum or without perfect recall; says what to use instead."""
    if tree.players != 2:
        raise GameError(f"{what} is for two players; {tree.name} has {tree.players}, which CFR variants take")
    if not tree.facts.zero_sum:
        raise GameError(f"{what} is for zero-sum games, but utilities of {tree.name} do not add up to 0")
    require_perfect_recall(tree, what)


def zero_sum_tree(tree: GameTree, what: str) -> GameTree:
    """The game itself if it is zero-sum; where utilities add up to another constant, with the second player's shifted.

    That changes neither equilibria nor what the first player gets.  Raises GameError as ``require_zero_sum`` does.
    """
    totals = tree.utility.sum(axis=1)
    if tree.players == 2 and len(totals) and not tree.facts.zero_sum:
        size = float(np.abs(tree.utility).max())
        if float(np.ptp(totals)) <= ROUNDING * size:
            shifted = np.stack((tree.utility[:, 0], -tree.utility[:, 0]), axis=1)
            tree = dataclasses.replace(tree, utility=shifted)
    require_zero_sum(tree, what)
    return tree


def sequence_program(
    tree: GameTree, player: int = 0, keep: NDArray[np.bool_] | None = None, scale: float = 1.0
) -> LinearModel:
    """The program of a player who maximises: the variables are the plan and then q, in units of the sequence form.

    The game has two players, is zero-sum and has perfect recall.  ``keep`` (S_other,) says which sequences the other
    player may use; all by default.  ``scale`` is what payoffs are multiplied with (see ``payoff_scale``); q is in the
    same measure, plans are not touched.
    """
    form = tree.sequences
    equations, right = constraint_matrix(form, player)
    other, _ = constraint_matrix(form, 1 - player)
    # Player i's payoffs by the other's sequences are the other's own leaves, negated: no transposing of large matrices.
    payoffs = -payoff_matrix(form, 1 - player, unit=scale)
    responses = -other.T.tocsr()
    if keep is not None:
        payoffs, responses = payoffs[keep], responses[keep]
    plan, free = equations.shape[1], other.shape[0]
    cost = np.zeros(plan + free)
    cost[plan] = 1.0
    inequalities = payoffs.shape[0]
    return LinearModel(
        cost=cost,
        matrix=block_array([[equations, None], [payoffs, responses]], format="csr"),
        row_lower=np.concatenate((right, np.zeros(inequalities))),
        row_upper=np.concatenate((right, np.full(inequalities, np.inf))),
        lower=np.concatenate((np.zeros(plan), np.full(free, -np.inf))),
        upper=np.full(plan + free, np.inf),
        maximise=True,
    )


def program_rows(tree: GameTree) -> int:
    """How many rows the first player's program has."""
    return 1 + int(tree.sequences.decision_start[1]) + tree.sequences.sequences_of(1)


def solve_zero_sum(
    tree: GameTree,
    method: Literal["auto", "simplex", "ipm"] = "auto",
    crossover: bool = False,
    exact: bool = False,
    seconds: float | None = None,
) -> ZeroSumSolution | None:
    """Solve a two-player constant-sum game with perfect recall; None when the time was not enough.

    Parameters
    ----------
    method : {"auto", "simplex", "ipm"}
        How: simplex, or interior point, which is chosen for programs with millions of coefficients.
    crossover : bool
        After the interior-point method, go to a vertex: exact to the last digits, at a price.
    exact : bool
        Solve the final basis again in fractions; for small games.
    """
    tree = zero_sum_tree(tree, "the linear program")
    form = tree.sequences
    scale = payoff_scale(form.leaf_payoff)
    model = sequence_program(tree, scale=scale)
    if exact:
        check_size(model.matrix.shape[0])
    small = method == "auto" and len(form.leaf_payoff) // 2 < LARGE_PROGRAM
    chosen: Method = "simplex" if exact or method == "simplex" or small else "ipm"
    solution = solve_model(model, chosen, crossover or exact, seconds)
    if solution is None:
        return None
    first = form.sequences_of(0)
    rows = 1 + int(form.decision_start[1])
    plan = np.concatenate((solution.primal[:first], -solution.dual[rows:]))
    if not exact:
        return ZeroSumSolution(solution.value / scale * form.unit, plan)
    proven = prove_optimal(model if scale == 1.0 else sequence_program(tree), solution, seconds)
    unit = Fraction(1, round(1 / form.unit))
    fractions = [*proven.primal[:first], *(-value for value in proven.dual[rows:])]
    value = proven.value * unit
    return ZeroSumSolution(float(value), np.array([float(weight) for weight in fractions]), value, fractions)


@dataclasses.dataclass(frozen=True, eq=False)
class RestrictedMaxmin:
    """The best that a player can do against an opponent who may use some sequences only.

    ``value`` is the player's, ``plan`` has the weights of all sequences: the maxmin plan of the player, and the
    opponent's best mixture of the sequences allowed.
    """

    player: int
    value: float
    plan: Float64


def maxmin_restricted(tree: GameTree, player: int, allowed: NDArray[np.bool_]) -> RestrictedMaxmin:
    """Maximise what a player of a zero-sum game is sure of against an opponent who is restricted to given sequences.

    ``allowed`` (S,) says which sequences of the opponent may be used; those of ``player`` are ignored.  Raises
    GameError if the opponent has a reachable information set without an action.
    """
    require_zero_sum(tree, "the linear program")
    if player not in (0, 1):
        raise GameError(f"{tree.name} has players 0 and 1; got {player}")
    form = tree.sequences
    if allowed.shape != (form.num_sequences,) or allowed.dtype != np.bool_:
        raise GameError(f"allowed must be {form.num_sequences} truth values, one for each sequence of {tree.name}")
    other = 1 - player
    keep = _reachable(tree, other, allowed)
    low = int(form.sequence_start[other])
    scale = payoff_scale(form.leaf_payoff)
    solution = solve_model(sequence_program(tree, player, keep[low : low + form.sequences_of(other)], scale))
    assert solution is not None
    rows = 1 + int(form.decision_start[player + 1] - form.decision_start[player])
    plan = np.zeros(form.num_sequences)
    own = int(form.sequence_start[player])
    plan[own : own + form.sequences_of(player)] = solution.primal[: form.sequences_of(player)]
    plan[keep] = -solution.dual[rows:]
    return RestrictedMaxmin(player, solution.value / scale * form.unit, plan)


def _reachable(tree: GameTree, player: int, allowed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The allowed sequences all of whose beginnings are allowed too, of one player."""
    form = tree.sequences
    keep = np.zeros(form.num_sequences, bool)
    keep[form.sequence_start[player]] = True
    for decision in range(int(form.decision_start[player]), int(form.decision_start[player + 1])):
        if keep[form.decision_parent[decision]]:
            first = int(form.decision_first[decision])
            span = slice(first, first + int(form.decision_actions[decision]))
            keep[span] = allowed[span]
            if not keep[span].any():
                name = tree.infoset_names[form.decision_infoset[decision]]
                raise GameError(f"no action is allowed at {name!r} of player {player + 1}; allow at least one")
    return keep
