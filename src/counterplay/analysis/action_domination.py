"""Dominated actions (Gibson 2014, section 4.2, definition 4.1) with certificates, and iterated removal.

Action a at information set I is strictly dominated if some strategy does better from I on than every strategy that
takes a there, against all strategies of the others that reach I; weakly if it never does worse, even than the best
continuation after a, and sometimes better.  (Read literally, the definition of weak domination would let a's own best
continuation dominate a because a can also be followed by a mistake; like the thesis' proposition 4.1 we compare with
the best continuation.)  A dominating strategy never needs a itself, so it is searched among the other actions.

Two methods, both by linear programs over the owner's plan from I on:

* list the others' pure strategies up to what they do off the paths through I; exact for strict and weak domination,
  any number of players;
* if those are too many, list the plans that start with a and the pure strategies of all others but one; the worst reply
  of that player is found by a backward pass, and constraints are added until none is violated.  Exact for strict
  domination; weak domination is then only reported if a strategy of the others was found against which it gains.

What neither can decide is reported as undecided.  ``dominated_gambit`` is the narrower notion of the Gambit program
(section 4.2): another action at I that is better at every history of I whatever everybody does later.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from counterplay.analysis.action_cuts import decide_by_cuts
from counterplay.analysis.action_problem import ActionProblem, TreeIndex
from counterplay.analysis.domination import SLACK, TOLERANCE, Kind, check_kind, largest_margin
from counterplay.errors import GameError
from counterplay.forms import open_game
from counterplay.game.game import CHANCE, TERMINAL, Game
from counterplay.lp.highs import maximise
from counterplay.strategy.strategy import Provenance
from counterplay.strategy.tabular import TabularStrategy
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.sequence.matrices import payoff_scale

Float64 = NDArray[np.float64]

MAX_RESPONSES = 50_000
"""Most joint pure strategies of the others, and most own plans, that are listed for one information set."""

MAX_INFOSETS = 5_000
"""Most information sets examined in one call."""


@dataclasses.dataclass(frozen=True, eq=False)
class DominatedAction:
    """A dominated action with its certificate.

    Attributes
    ----------
    player, infoset, action : int
        Where, and the number of the action there.
    entry : int
        The entry of the action (``GameTree.infoset_offset``).
    kind : {"strict", "weak"}
        How it is dominated.
    round : int
        1 in the whole game; later rounds after the removals of earlier rounds.
    margin : float
        The least gain, in counterfactual value, over all strategies of the others that reach I.
    gain : float
        The largest gain found.
    response : dict of int to float
        The dominating strategy from I on: probabilities of the owner's entries at and below I that it can reach.
    """

    player: int
    infoset: int
    action: int
    entry: int
    kind: Kind
    round: int
    margin: float
    gain: float
    response: dict[int, float]


@dataclasses.dataclass(frozen=True, eq=False)
class ActionReport:
    """Dominated actions in the order of removal, and entries that neither method could decide."""

    tree: GameTree
    dominated: tuple[DominatedAction, ...]
    undecided: tuple[int, ...] = ()

    @property
    def entries(self) -> list[int]:
        """The entries of the dominated actions."""
        return [one.entry for one in self.dominated]


def dominated_actions(
    game: GameTree | Game | str, kind: Kind = "strict", iterated: bool = True, infosets: Iterable[int] | None = None,
    limit: int = MAX_RESPONSES,
) -> ActionReport:  # fmt: skip
    """The dominated actions of a game.

    Parameters
    ----------
    game : GameTree, Game or str
        The game.  Players who forget are left out.
    kind : {"strict", "weak"}
        How dominated; weakly dominated includes strictly.
    iterated : bool
        Remove what is dominated and repeat, until nothing is found.
    infosets : iterable of int, optional
        Examine only these.
    limit : int
        Most joint pure strategies of the others that are listed for an information set.
    """
    check_kind(kind)
    tree = open_game(game, "history")
    index = TreeIndex(tree)
    wanted = list(range(tree.num_infosets)) if infosets is None else list(infosets)
    if len(wanted) > MAX_INFOSETS:
        raise GameError(
            f"{tree.name} has {len(wanted):,} information sets; at most {MAX_INFOSETS:,} are examined, so name some"
        )
    wanted = [one for one in wanted if tree.sequences.has_perfect_recall(int(tree.infoset_player[one]))]
    removed = np.zeros(tree.num_entries, bool)
    dominated: list[DominatedAction] = []
    round_number = 0
    while True:
        round_number += 1
        found: list[DominatedAction] = []
        undecided: list[int] = []
        for infoset in wanted:
            here, unsettled = _dominated_here(ActionProblem(index, infoset, removed), kind, limit, round_number)
            found += here
            undecided += unsettled
        dominated += found
        removed[[one.entry for one in found]] = True
        if not found or not iterated:
            return ActionReport(tree, tuple(dominated), tuple(undecided))


def _dominated_here(
    problem: ActionProblem, kind: Kind, limit: int, round_number: int
) -> tuple[list[DominatedAction], list[int]]:
    """The dominated actions of one information set, and the entries of those that were not decided."""
    tree, infoset = problem.index.tree, problem.infoset
    actions = problem.actions()
    if len(actions) < 2 or not problem.ways:
        return [], []
    listed = problem.responses(limit)
    dominated: list[DominatedAction] = []
    undecided: list[int] = []
    first = int(tree.infoset_offset[infoset])
    for action, position in actions:
        if len(actions) - len(dominated) < 2:
            break  # the last one dominates the others
        plan: Float64 | None
        if listed is not None:
            leaves = listed[0]
            target = problem.best_plans(position, leaves)
            plan = _dominating_plan(problem, position, leaves, target, kind)
            if plan is None:
                continue
            gains = leaves @ plan - target
            margin, gain = float(gains.min()), float(gains.max())
        else:
            answer = decide_by_cuts(problem, position, kind, limit)
            if answer.plan is None:
                if not answer.settled:
                    undecided.append(first + action)
                continue
            plan, margin, gain = answer.plan, answer.margin, answer.gain
        good = margin > TOLERANCE if kind == "strict" else margin >= -SLACK and gain > TOLERANCE
        if good:
            response = _behaviour(problem, plan)
            how: Kind = "strict" if margin > TOLERANCE else "weak"
            entry = first + action
            least, most = margin / problem.scale, gain / problem.scale
            dominated.append(
                DominatedAction(problem.player, infoset, action, entry, how, round_number, least, most, response)
            )
    return dominated, undecided


def _dominating_plan(
    problem: ActionProblem, position: int, leaves: Float64, target: Float64, kind: Kind
) -> Float64 | None:
    """A plan from I on, without the action, with the largest least gain over ``target``; for weak domination the one
    with the largest sum of gains among those that never lose.
    """
    columns = problem.other_columns(position)
    plans = problem.plan_rows(position, columns)
    gains = leaves[:, columns]
    value, solution = largest_margin(gains, target, plans, "a dominated action")
    if value < -SLACK or (kind == "strict" and value <= TOLERANCE):
        return None
    if kind == "weak" and value <= TOLERANCE:
        floor = -target + max(0.0, -value)
        _, solution = maximise(gains.sum(axis=0), "a dominated action", at_most=(-gains, floor), equal=plans)
    plan = np.zeros(len(problem.sequences))
    plan[columns] = np.maximum(solution, 0.0)
    return problem.snapped(position, plan)


def _behaviour(problem: ActionProblem, plan: Float64) -> dict[int, float]:
    """The probabilities of the owner's entries at and below I that a plan can reach."""
    result: dict[int, float] = {}
    for parent, children in [(None, problem.top), *problem.decisions]:
        before = 1.0 if parent is None else float(plan[parent])
        if before > 0.0:
            for child in children:
                result[problem.index.entry_of(problem.sequences[child])] = float(plan[child]) / before
    return result


def constructed_dominator(
    game: GameTree | Game | str, profile: TabularStrategy, dominated: DominatedAction
) -> TabularStrategy:
    """The strategy that weakly dominates one which plays a weakly dominated action (Gibson 2014, proposition 4.1).

    It follows the given strategy outside of I and what follows; from I on it follows the dominating strategy with the
    weight of the dominated action and the given one without that action with the rest.  Weights below I are products
    of reaches from I.  Where the thesis writes the reach of the given strategy we take the reach without the dominated
    action, which makes the result the mixture of the two plans in the proof.

    Returns
    -------
    TabularStrategy
        The given profile with the owner's strategy replaced.
    """
    tree = open_game(game, "history")
    form, index = tree.sequences, TreeIndex(tree)
    strategy = np.asarray(profile.for_tree(tree), dtype=np.float64)
    top = index.decision_at[dominated.infoset]
    weight = float(strategy[dominated.entry])
    without = strategy.copy()
    row = slice(int(tree.infoset_offset[dominated.infoset]), int(tree.infoset_offset[dominated.infoset + 1]))
    without[dominated.entry] = 0.0
    if weight < 1.0:
        without[row] /= without[row].sum()
    better = strategy.copy()
    for entry, probability in dominated.response.items():
        better[entry] = probability
    result = strategy.copy()
    waiting = [(top, weight, 1.0 - weight)]
    while waiting:
        decision, follow, keep = waiting.pop()
        first, entry = int(form.decision_first[decision]), int(form.decision_entry[decision])
        span = int(form.decision_actions[decision])
        here = slice(entry, entry + span)
        if follow + keep > 0.0:
            result[here] = (follow * better[here] + keep * without[here]) / (follow + keep)
        for action in range(span):
            after = (follow * better[entry + action], keep * without[entry + action])
            waiting += [(below, *after) for below in index.following[first + action]]
    return TabularStrategy.from_tree(tree, result, Provenance("constructed dominator"))


def dominated_gambit(
    game: GameTree | Game | str, kind: Kind = "strict", iterated: bool = False, limit: int = 100_000
) -> list[tuple[int, int]]:
    """Entries dominated in the narrower sense of Gambit, each with the entry of a dominating action.

    Action b dominates a at I if at every history of I and for all later pure strategies of all players, b pays the
    acting player more than a (weakly: never less, and more at some).

    Raises
    ------
    GameError
        If more than ``limit`` pure strategies follow some history.
    """
    tree = open_game(game, "history")
    index = TreeIndex(tree)
    removed = np.zeros(tree.num_entries, bool)
    result: list[tuple[int, int]] = []
    while True:
        found = [
            pair
            for infoset in range(tree.num_infosets)
            for pair in _gambit_here(index, infoset, removed, kind, limit)
        ]  # fmt: skip
        result += found
        removed[[pair[0] for pair in found]] = True
        if not found or not iterated:
            return result


def _gambit_here(
    index: TreeIndex, infoset: int, removed: NDArray[np.bool_], kind: Kind, limit: int
) -> list[tuple[int, int]]:
    tree = index.tree
    first = int(tree.infoset_offset[infoset])
    left = [move for move in range(len(tree.actions_of(infoset))) if not removed[first + move]]
    if len(left) < 2:
        return []
    least = np.full((len(left), len(left)), np.inf)
    most = np.full((len(left), len(left)), -np.inf)
    for node in index.members[infoset].tolist():
        values = _values_by_profile(tree, node, left, removed, limit)
        differences = values[:, None, :] - values[None, :, :]  # (b, a, profile)
        least = np.minimum(least, differences.min(axis=2))
        most = np.maximum(most, differences.max(axis=2))
    slack = SLACK / payoff_scale(tree.utility)
    better = least > slack if kind == "strict" else (least >= -slack) & (most > slack)
    found = []
    for a in range(len(left)):
        winners = np.flatnonzero(better[:, a])
        if len(winners):
            found.append((first + left[a], first + left[int(winners[0])]))
    return found


def _values_by_profile(tree: GameTree, node: int, moves: list[int], removed: NDArray[np.bool_], limit: int) -> Float64:
    """The acting player's value after each action at a history, for all pure profiles of what follows."""
    player = int(tree.player[node])
    order: list[int] = [int(tree.first_child[node]) + move for move in moves]
    for one in order:  # grows during the loop
        order.extend(range(int(tree.first_child[one]), int(tree.first_child[one]) + int(tree.num_children[one]))
                     if tree.num_children[one] else ())  # fmt: skip
    sets = sorted({int(tree.infoset[one]) for one in order if tree.player[one] >= 0})
    options = [
        [move for move in range(len(tree.actions_of(one))) if not removed[tree.infoset_offset[one] + move]]
        for one in sets
    ]
    count = prod(len(row) for row in options)
    if count > limit:
        where = tree.infoset_names[tree.infoset[node]]
        raise GameError(f"{count:,} pure profiles follow {where!r} of {tree.name}; at most {limit:,} are compared")
    chosen = np.array(list(product(*options)), np.int64).reshape(count, len(sets))
    place = {one: number for number, one in enumerate(sets)}
    value: dict[int, Float64] = {}
    for one in reversed(order):
        kind = int(tree.player[one])
        children = range(int(tree.first_child[one]), int(tree.first_child[one]) + int(tree.num_children[one]))
        if kind == TERMINAL:
            value[one] = np.full(count, tree.utility[tree.outcome[one], player])
        elif kind == CHANCE:
            value[one] = np.sum([tree.chance_prob[child] * value.pop(child) for child in children], axis=0)
        else:
            stacked = np.stack([value.pop(child) for child in children])
            value[one] = stacked[chosen[:, place[int(tree.infoset[one])]], np.arange(count)]
    return np.stack([value[int(tree.first_child[node]) + move] for move in moves])
