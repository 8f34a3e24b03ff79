"""Responses to a fixed strategy of the opponent that give little away to any other one, by linear programs.

Johanson 2016, sections 6.1, 6.4 and 6.5, on the sequence form of a two-player zero-sum game with perfect recall.  With
the plan x of the player, the plan r of the fixed strategy, and all plans y of the opponent:

* *epsilon-safe best response*:  ``max x'A r``  such that  ``min_y x'A y >= value - epsilon``.  The strategies that give
  away at most epsilon are a polytope, so any other linear objective has its best one too (``SafePlans``).
* *restricted Nash response*, a coin for each game:  ``max  p x'A r + (1 - p) min_y x'A y``.
* *data biased response*, a coin for each information set:  ``max min_y x'A y``  over the plans y with
  ``y(I a) >= c(I) r(a | I) y(before I)``.  These bounds have multipliers w >= 0, which are further variables of the
  player's program: ``A'x - F'q - G'w >= 0``, where ``G y >= 0`` are the bounds.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import block_diag, csr_array, hstack, vstack

from counterplay.errors import GameError, SolverError
from counterplay.lp.highs import LinearModel, solve_model
from counterplay.lp.treeplex import plan_of, strategy_of
from counterplay.lp.zero_sum import require_zero_sum, sequence_program
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.sequence.matrices import payoff_matrix, payoff_scale
from counterplay.tree.sequence.sequence_form import spans

Float64 = NDArray[np.float64]

VALUE_SLACK = 1e-10
"""Tolerance of what a safe strategy gives away, relative to the largest payoff, for rounding errors."""


class SafePlans:
    """The plans of a player that give away little: the player's program, with what it guarantees as a constraint.

    Parameters
    ----------
    tree : GameTree
        A two-player zero-sum game with perfect recall.
    player : int
        Whose plans.

    Attributes
    ----------
    value : float
        What the game is worth to the player, in chips.
    """

    def __init__(self, tree: GameTree, player: int) -> None:
        require_zero_sum(tree, "the linear program")
        if player not in (0, 1):
            raise GameError(f"{tree.name} has players 0 and 1; got {player}")
        self.tree, self.player = tree, player
        form = tree.sequences
        scale = payoff_scale(form.leaf_payoff)
        model = sequence_program(tree, player, scale=scale)
        solution = solve_model(model)
        assert solution is not None  # there is no time limit
        self._chip = scale / form.unit
        self.value = solution.value / self._chip
        slack = VALUE_SLACK * max(1.0, float(np.abs(model.matrix.data).max()))
        self._program = dataclasses.replace(
            model, cost=np.zeros_like(model.cost), matrix=vstack([model.matrix, csr_array(model.cost[None, :])], "csr"),
            row_lower=np.append(model.row_lower, solution.value - slack), row_upper=np.append(model.row_upper, np.inf),
        )  # fmt: skip

    def best(self, objective: Float64, epsilon: float = 0.0, largest: bool = True) -> tuple[float, Float64]:
        """The largest (or least) objective of plans that give away at most ``epsilon`` chips, and such a plan.

        ``objective`` (S_player,) is the weight of each of the player's sequences.
        """
        sequences = self.tree.sequences.sequences_of(self.player)
        if objective.shape != (sequences,):
            raise SolverError(
                f"the objective needs a number for each of the {sequences} sequences of player {self.player + 1}; got "
                f"an array of shape {objective.shape}"
            )
        check_epsilon(epsilon)
        cost, scale = np.zeros_like(self._program.cost), payoff_scale(objective)
        cost[:sequences] = scale * objective
        lower = self._program.row_lower.copy()
        lower[-1] -= epsilon * self._chip
        solution = solve_model(dataclasses.replace(self._program, cost=cost, row_lower=lower, maximise=largest))
        assert solution is not None
        return solution.value / scale, solution.primal[:sequences]


def check_epsilon(epsilon: float) -> None:
    """Refuse what a strategy cannot give away."""
    if not epsilon >= 0.0:
        raise SolverError(f"epsilon is what may be given away, in chips, 0 or more; got {epsilon:g}")


def safe_profile(tree: GameTree, opponent: Float64, epsilon: float = np.inf) -> Float64:
    """The strategy (E,) of both seats that wins most from ``opponent`` (E,) with an exploitability of at most epsilon.

    Exploitability is the mean of both seats, so that what is given away is divided between them as it pays.  Of all
    that win as much, it is one that gives away least; by default a best response, whatever it gives away.
    """
    require_zero_sum(tree, "the linear program")
    check_epsilon(epsilon)
    form = tree.sequences
    chip = payoff_scale(form.leaf_payoff) / form.unit
    seats = [sequence_program(tree, seat, scale=chip * form.unit) for seat in range(2)]
    plans = [form.sequences_of(seat) for seat in range(2)]
    values = [sequence_values(tree, seat, opponent) for seat in range(2)]
    scale = payoff_scale(np.concatenate(values))
    won = np.concatenate([_padded(scale * one, len(seat.cost)) for one, seat in zip(values, seats, strict=True)])
    sure = np.concatenate([seat.cost for seat in seats])
    slack = [VALUE_SLACK * max(1.0, float(np.abs(row).max())) for row in (np.append(seats[0].matrix.data, chip), won)]
    lower = np.concatenate([seat.row_lower for seat in seats])
    upper = np.concatenate([seat.row_upper for seat in seats])
    rows = [block_diag([seat.matrix for seat in seats]), csr_array(sure[None, :]), csr_array(won[None, :])]
    model = LinearModel(
        won, vstack(rows, "csr"),
        np.concatenate((lower, [-2.0 * epsilon * chip - slack[0], -np.inf])), np.append(upper, (np.inf, np.inf)),
        np.concatenate([seat.lower for seat in seats]), np.concatenate([seat.upper for seat in seats]), maximise=True,
    )  # fmt: skip
    most = solve_model(model)
    assert most is not None
    bounds = model.row_lower.copy()
    bounds[-2:] = -np.inf, most.value - slack[1]
    safest = solve_model(dataclasses.replace(model, cost=sure, row_lower=bounds))
    assert safest is not None
    first = safest.primal[: plans[0]]
    second = safest.primal[len(seats[0].cost) :][: plans[1]]
    return strategy_of(tree, 1, second, strategy_of(tree, 0, first, opponent))


def _padded(values: Float64, size: int) -> Float64:
    return np.concatenate((values, np.zeros(size - len(values))))


def sequence_values(tree: GameTree, player: int, opponent: Float64) -> Float64:
    """What each of a player's sequences wins from the opponent's strategy, in chips (S_player,)."""
    return np.asarray(payoff_matrix(tree.sequences, player) @ plan_of(tree, 1 - player, opponent), np.float64)


def restricted_response(
    tree: GameTree, player: int, opponent: Float64, confidence: float | Float64
) -> tuple[float, Float64]:
    """The solution of a restricted game: its value to the player, and ``opponent`` (E,) with the player's response.

    A number is the probability of a coin for each game (restricted Nash response), an array (E,), the same in all
    entries of an information set, that of one for each information set (data biased response).
    """
    require_zero_sum(tree, "the linear program")
    form = tree.sequences
    scale = payoff_scale(form.leaf_payoff)
    model = sequence_program(tree, player, scale=scale)
    plan = form.sequences_of(player)
    if np.ndim(confidence):
        model = _with_bounds(model, tree, 1 - player, np.asarray(confidence) * opponent)
    else:
        cost = (1.0 - float(confidence)) * model.cost
        cost[:plan] = float(confidence) * sequence_values(tree, player, opponent) * (scale / form.unit)
        model = dataclasses.replace(model, cost=cost)
    solution = solve_model(model, presolve=not np.ndim(confidence))  # presolve prints where bounds leave no choice
    assert solution is not None
    return solution.value / scale * form.unit, strategy_of(tree, player, solution.primal[:plan], opponent)


def _with_bounds(model: LinearModel, tree: GameTree, player: int, least: Float64) -> LinearModel:
    """The other player's program when a player's probabilities are at least ``least`` (E,): a column for each bound."""
    form = tree.sequences
    low, high = int(form.decision_start[player]), int(form.decision_start[player + 1])
    actions = form.decision_actions[low:high].astype(np.int64)
    sequences = spans(form.decision_first[low:high], actions) - int(form.sequence_start[player])
    before = np.repeat(form.decision_parent[low:high] - int(form.sequence_start[player]), actions)
    bounds = np.arange(len(sequences))
    rows = model.matrix.shape[0] - form.sequences_of(player)  # those of the plan
    weights = least[spans(form.decision_entry[low:high], actions)]
    columns = csr_array(
        (np.concatenate((np.full(len(bounds), -1.0), weights)),
         (rows + np.concatenate((sequences, before)), np.concatenate((bounds, bounds)))),
        shape=(model.matrix.shape[0], len(bounds)),
    )  # fmt: skip
    nothing = np.zeros(len(bounds))
    return dataclasses.replace(
        model, cost=np.append(model.cost, nothing), matrix=hstack([model.matrix, columns], "csr"),
        lower=np.append(model.lower, nothing), upper=np.append(model.upper, np.full(len(bounds), np.inf)),
    )  # fmt: skip
