"""Dominated strategies: linear programs, certificates, iterated removal (Gibson 2014, sections 2.1.2 and 2.3).

A strategy of player i is strictly dominated by a mixture if the mixture earns more whatever the others do, weakly if
it never earns less and sometimes more.  It is enough to look at the others' pure strategies.  Program (2.7) of the
thesis, after Conitzer and Sandholm 2005, minimises the total weight that matches the strategy everywhere; it is valid
only if all utilities are positive, which the thesis does not say, so ``scaled_program`` shifts them first.  The other
programs here need no shift: the largest margin for strict domination, the largest sum of gains for weak.

Every mixture that a program returns is verified by evaluating it directly, in integers where the weights and payoffs
are fractions with small denominators; what fails the verification is not reported.

In two-player games with perfect recall a behavioural strategy can be tested without listing pure strategies, by
duality over the other's realisation plans (``dominating_strategy``); that part is not in the thesis.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from counterplay.errors import GameError
from counterplay.forms import open_game
from counterplay.game.game import Game
from counterplay.lp.highs import maximise
from counterplay.lp.treeplex import least_response, plan_of, require_plans, strategy_of
from counterplay.strategy.strategy import Provenance
from counterplay.strategy.tabular import TabularStrategy
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.sequence.matrices import constraint_matrix, payoff_matrix, payoff_scale
from counterplay.tree.sequence.normal_form import NormalForm, count_strategies, format_count, normal_form

Kind = Literal["strict", "weak"]
Float64 = NDArray[np.float64]

TOLERANCE = 1e-7
"""Gains below this count as rounding errors of the linear programs."""

SLACK = 1e-9
"""How far a gain may fall below 0 before a certificate fails, when it cannot be checked exactly."""

MAX_TESTED = 3_000
"""Most pure strategies of a player that are tested for domination; some may need a linear program each."""

COLUMNS = 40
"""Number of the others' strategies added to a program at a time."""


@dataclasses.dataclass(frozen=True)
class DominatedStrategy:
    """A dominated pure strategy with its certificate.

    Attributes
    ----------
    player, strategy : int
        Which row of ``NormalForm.choices[player]``.
    kind : {"strict", "weak"}
        How it is dominated.
    round : int
        1 in the whole game; later rounds after the removals of earlier rounds.
    mixture : dict of int to float
        Weights of the dominating mixture.
    margin, gain : float
        The least and the largest gain of the mixture over the others' remaining pure strategies.
    exact : bool
        Whether the check was made in rational arithmetic.
    """

    player: int
    strategy: int
    kind: Kind
    round: int
    mixture: dict[int, float]
    margin: float
    gain: float
    exact: bool


@dataclasses.dataclass(frozen=True, eq=False)
class StrategyReport:
    """What was removed, in order, and what is left of each player's strategies."""

    form: NormalForm
    dominated: tuple[DominatedStrategy, ...]
    remaining: tuple[NDArray[np.int64], ...]


def scaled_program(table: Float64, target: Float64) -> tuple[float, Float64]:
    """Program (2.7): the least total weight p ≥ 0 with p @ table ≥ target, after a shift to positive utilities.

    ``target`` is strictly dominated by rows of ``table`` if and only if the optimum is below 1.
    """
    shift = 1.0 - min(float(table.min()), float(target.min()))
    value, weights = maximise(-np.ones(len(table)), "domination", (-(table + shift).T, -(target + shift)))
    return -value, weights


def check_kind(kind: str) -> None:
    """Refuse what is neither strict nor weak."""
    if kind not in ("strict", "weak"):
        raise GameError(f"domination is strict or weak; got {kind!r}")


def largest_margin(
    gains: Float64, target: Float64, plans: tuple[Any, Float64], what: str, bound: float = np.inf
) -> tuple[float, Float64]:
    """The largest ε, up to ``bound``, such that a plan x ≥ 0 has gains @ x ≥ target + ε, and x.

    ``plans`` are the matrix and the right side of the equations of x.
    """
    width, (matrix, right) = gains.shape[1], plans
    value, solution = maximise(
        np.append(np.zeros(width), 1.0), what,
        at_most=(np.hstack((-gains, np.ones((len(gains), 1)))), -target),
        equal=(sparse.hstack((matrix, sparse.csr_array((len(right), 1)))).tocsr(), right),
        lower=np.append(np.zeros(width), -bound), upper=np.append(np.full(width, np.inf), bound),
    )  # fmt: skip
    return value, solution[:-1]


def strict_program(table: Float64, target: Float64, enough: float = -np.inf) -> tuple[float, Float64]:
    """The largest ε such that a mixture p of rows has p @ table ≥ target + ε; strictly dominated if ε > 0.

    Columns are added to the program when a solution violates them.  The search ends early, with an upper bound on ε,
    once it is known to be at most ``enough``.
    """
    active = _first_columns(table, target)
    while True:
        value, weights = largest_margin(table[:, active].T, target[active], mixtures(table), "strict domination")
        fresh = _violated(table, target + value, weights, active)
        if not len(fresh) or value <= enough:
            return value, weights
        active = np.union1d(active, fresh)


def weak_program(table: Float64, target: Float64) -> tuple[float, Float64] | None:
    """The largest sum of gains of a mixture of rows that is nowhere below ``target``; None if there is none."""
    margin, _ = strict_program(table, target, -2 * SLACK)
    if margin < -SLACK:
        return None
    active = _first_columns(table, target)
    floor = target - max(0.0, -margin)
    while True:
        rows = -table[:, active].T, -floor[active]
        value, weights = maximise(table.sum(axis=1), "weak domination", at_most=rows, equal=mixtures(table))
        fresh = _violated(table, floor, weights, active)
        if not len(fresh):
            return value - float(target.sum()), weights
        active = np.union1d(active, fresh)


def mixtures(table: Float64) -> tuple[Float64, Float64]:
    """The equation of the weights of rows: their sum is 1."""
    return np.ones((1, len(table))), np.ones(1)


def _first_columns(table: Float64, target: Float64) -> NDArray[np.int64]:
    """The columns where the strategy does best relative to the others."""
    return np.sort(np.argsort(table.max(axis=0) - target, kind="stable")[:COLUMNS])


def _violated(table: Float64, floor: Float64, weights: Float64, active: NDArray[np.int64]) -> NDArray[np.int64]:
    """The columns, worst first and not in the program yet, where a mixture is below ``floor``."""
    gains = weights @ table - floor
    gains[active] = 0.0
    worst = np.argsort(gains, kind="stable")[:COLUMNS]
    return worst[gains[worst] < -SLACK / 10]


def check_mixture(
    table: Float64, target: Float64, weights: Float64, kind: Kind
) -> tuple[Float64, float, float, bool] | None:
    """Evaluate a mixture directly: its weights, least gain, largest gain, and whether that was exact; None if it fails.

    Weights are first rounded to fractions; if that mixture dominates in exact arithmetic, those weights are returned.
    """
    weights = np.where(weights > SLACK, weights, 0.0)
    weights = weights / weights.sum()
    used = np.flatnonzero(weights)
    whole = _whole_numbers(np.vstack((table[used], target)))
    for denominator in (1, 12, 60, 1000, 10**6):
        rounded = [Fraction(weight).limit_denominator(denominator) for weight in weights[used].tolist()]
        if whole is None or sum(rounded) != 1:
            continue
        payoffs, unit = whole
        common = math.lcm(*(weight.denominator for weight in rounded))
        if common * float(np.abs(payoffs).max()) >= 2**62:
            continue
        parts = np.array([int(weight * common) for weight in rounded], np.int64)
        gains = parts @ payoffs[:-1] - common * payoffs[-1]
        least, most = Fraction(int(gains.min()), common * unit), Fraction(int(gains.max()), common * unit)
        if least >= 0 and (least if kind == "strict" else most) > 0:
            result = np.zeros(len(table))
            result[used] = [float(weight) for weight in rounded]
            return result, float(least), float(most), True
    gains_now = weights @ table - target
    low, high = float(gains_now.min()), float(gains_now.max())
    good = low > SLACK if kind == "strict" else low >= -SLACK and high > TOLERANCE
    return (weights, low, high, False) if good else None


def _whole_numbers(values: Float64) -> tuple[NDArray[np.int64], int] | None:
    """Payoffs as multiples of one over an integer; None if they are not fractions with small denominators."""
    distinct = np.unique(values)
    if len(distinct) > 20_000:
        return None
    fractions = [Fraction(value).limit_denominator(10**6) for value in distinct.tolist()]
    near = np.array([float(one) for one in fractions])
    unit = math.lcm(*(one.denominator for one in fractions))
    if (
        unit > 10**9
        or unit * float(np.abs(distinct).max(initial=0.0)) >= 2**62
        or (np.abs(near - distinct) > 1e-12 * np.maximum(1.0, np.abs(distinct))).any()
    ):
        return None
    numbers = np.array([int(one * unit) for one in fractions], np.int64)
    return numbers[np.searchsorted(distinct, values)], unit


def find_dominated(
    form: NormalForm, player: int, remaining: Sequence[NDArray[np.int64]], kind: Kind = "strict", pure: bool = False,
    round_number: int = 1,
) -> list[DominatedStrategy]:  # fmt: skip
    """The player's dominated strategies in the game of the ``remaining`` strategies of each player.

    With ``pure`` only dominating pure strategies are searched for; the round is recorded in the results.
    """
    cells = form.payoffs[player][np.ix_(*remaining)]
    table = np.moveaxis(cells, player, 0).reshape(len(remaining[player]), -1)
    scale = payoff_scale(table)
    table = np.unique(scale * table, axis=1)
    best = table.max(axis=0)
    found = []
    for row, target in enumerate(table):
        gains = table - target
        sure = gains.min(axis=1) >= -SLACK if kind == "weak" else gains.min(axis=1) > TOLERANCE
        if kind == "weak":
            sure &= gains.max(axis=1) > TOLERANCE
        weights: Float64 | None = None
        if sure.any():
            weights = np.zeros(len(table))
            weights[int(np.flatnonzero(sure)[0])] = 1.0
        elif not pure and not _is_best_somewhere(table, best, row, kind):
            weights = _mixture(table, target, row, kind)
        checked = None if weights is None else check_mixture(table, target, weights, kind)
        if checked is not None:
            proven, least, most, exact = checked
            names = remaining[player]
            mixture = {int(names[other]): float(proven[other]) for other in np.flatnonzero(proven)}
            found.append(DominatedStrategy(
                player, int(names[row]), kind, round_number, mixture, least / scale, most / scale, exact,
            ))  # fmt: skip
    return found


def _is_best_somewhere(table: Float64, best: Float64, row: int, kind: Kind) -> bool:
    """A quick proof that no mixture dominates: a best (for weak: the only best) reply to a pure strategy."""
    top = table[row] >= best
    if kind == "strict":
        return bool(top.any())
    rivals = np.delete(table, row, axis=0)
    return not len(rivals) or bool((top & (table[row] > rivals.max(axis=0) + SLACK)).any())


def _mixture(table: Float64, target: Float64, row: int, kind: Kind) -> Float64 | None:
    others = np.delete(np.arange(len(table)), row)
    if kind == "strict":
        value, part = strict_program(table[others], target, TOLERANCE)
    else:
        answer = weak_program(table[others], target)
        if answer is None:
            return None
        value, part = answer
    if value <= TOLERANCE:
        return None
    weights = np.zeros(len(table))
    weights[others] = part
    return weights


def dominated_strategies(
    game: NormalForm | GameTree | Game | str, kind: Kind = "strict", iterated: bool = True, reduced: bool = True,
    pure: bool = False,
) -> StrategyReport:  # fmt: skip
    """The dominated pure strategies of all players, with certificates.

    Each round tests every remaining strategy of every player in the game that earlier rounds have left, and then
    removes all that were found.  Strict removal has the same result in any order; weak removal need not (Gibson
    2014, figure 2.4), and this is one order of many.

    Raises
    ------
    GameError
        If the game has too many pure strategies; the message says how many.
    """
    check_kind(kind)
    form = game if isinstance(game, NormalForm) else _listed(open_game(game, "history"), reduced)
    remaining = [np.arange(size) for size in form.shape]
    dominated: list[DominatedStrategy] = []
    round_number = 0
    while True:
        round_number += 1
        found = [find_dominated(form, player, remaining, kind, pure, round_number) for player in range(form.players)]
        for player, here in enumerate(found):
            dominated += here
            remaining[player] = np.setdiff1d(remaining[player], [one.strategy for one in here])
        if not any(found) or not iterated:
            return StrategyReport(form, tuple(dominated), tuple(remaining))


def _listed(tree: GameTree, reduced: bool) -> NormalForm:
    """The normal form, unless it has too many strategies to test each."""
    counts = [count_strategies(tree, player, reduced) for player in range(tree.players)]
    if max(counts) > MAX_TESTED:
        sizes = " x ".join(format_count(count) for count in counts)
        raise GameError(f"{tree.name} has {sizes} pure strategies; at most {MAX_TESTED:,} of a player are tested")
    return normal_form(tree, reduced)


@dataclasses.dataclass(frozen=True, eq=False)
class DominatingStrategy:
    """A behavioural strategy that dominates another one.

    Attributes
    ----------
    player : int
        Whose.
    kind : {"strict", "weak"} or None
        How it dominates; None if it does not.
    margin : float
        The least gain against any strategy of the other player.
    gain : float
        The gain against the uniform strategy.
    profile : TabularStrategy
        The given profile with the player's strategy replaced.
    """

    player: int
    kind: Kind | None
    margin: float
    gain: float
    profile: TabularStrategy


def dominating_strategy(game: GameTree | Game | str, profile: TabularStrategy, player: int) -> DominatingStrategy:
    """The strategy that dominates the player's in ``profile`` by most, in a two-player game with perfect recall.

    The least gain over the other's plans y is a linear program, min over y of c @ y; its dual turns "for all y" into
    constraints, so that the whole test is one program of the size of the game, whatever the number of pure strategies.
    """
    tree = open_game(game, "history")
    require_plans(tree)
    strategy = np.ascontiguousarray(profile.for_tree(tree), dtype=np.float64)
    own = plan_of(tree, player, strategy)
    scale = payoff_scale(payoff_matrix(tree.sequences, player).data)
    payoff = payoff_matrix(tree.sequences, player, unit=scale * tree.sequences.unit)
    even = plan_of(tree, 1 - player, TabularStrategy.uniform(tree).table)
    plan = _best_margin(tree, player, own, payoff, None)
    margin = least_response(tree, 1 - player, payoff.T @ (plan - own))
    if margin <= TOLERANCE:
        plan = _best_margin(tree, player, own, payoff, payoff @ even)
        margin = least_response(tree, 1 - player, payoff.T @ (plan - own))
    gain = float((plan - own) @ (payoff @ even))
    kind: Kind | None = None
    if margin > TOLERANCE:
        kind = "strict"
    elif margin >= -TOLERANCE and gain > TOLERANCE:
        kind = "weak"
    better = strategy_of(tree, player, plan, strategy) if kind else strategy
    return DominatingStrategy(
        player, kind, margin / scale, gain / scale, TabularStrategy.from_tree(tree, better, Provenance("dominating"))
    )


def _best_margin(
    tree: GameTree, player: int, own: Float64, payoff: sparse.csr_array, objective: Float64 | None
) -> Float64:
    """The plan with the largest least gain; or, with an objective, the best one by it whose least gain is 0."""
    matrix, right = constraint_matrix(tree.sequences, player)
    dual, dual_right = constraint_matrix(tree.sequences, 1 - player)
    plans, duals = matrix.shape[1], dual.shape[0]
    columns = payoff.T.tocsr()
    upper = sparse.hstack((-columns, dual.T)).tocsr()
    limit = -(columns @ own)
    if objective is None:
        goal = np.concatenate((np.zeros(plans), dual_right))
    else:
        goal = np.concatenate((objective, np.zeros(duals)))
        floor = sparse.csr_array(np.concatenate((np.zeros(plans), -dual_right))[None, :])
        upper, limit = sparse.vstack((upper, floor)).tocsr(), np.append(limit, 0.0)
    equal = sparse.hstack((matrix, sparse.csr_array((len(right), duals)))).tocsr(), right
    lower = np.concatenate((np.zeros(plans), np.full(duals, -np.inf)))
    return maximise(goal, "domination", (upper, limit), equal, lower)[1][:plans]
