"""Domination by its definitions: all pure strategies listed, every value by a walk, one linear program.

Sources: Gibson 2014, definitions 2.5 and 4.1, program (2.7).  A pure strategy is a dict from information set key to
action, with an action for every information set of its player.  Weak domination of an action compares with the best
continuation after it, as the thesis' proposition 4.1 does.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterator, Set

import numpy as np
from scipy.optimize import linprog

from counterplay.game.game import CHANCE, TERMINAL, Game, State
from tests.reference.walks import Action, InfosetId, infosets, walk

Pure = dict[Hashable, Action]
SIGN = 1e-7


def pure_strategies(game: Game, player: int, removed: Set[tuple[InfosetId, Action]] = frozenset()) -> Iterator[Pure]:
    """Every choice of one action that is not removed at each information set of the player."""
    sets = [(key, actions) for (owner, key), actions in infosets(game).items() if owner == player]
    options = [[a for a in actions if ((player, key), a) not in removed] for key, actions in sets]
    for choice in itertools.product(*options):
        yield dict(zip((key for key, _ in sets), choice, strict=True))


def value_from(state: State, pures: list[Pure], player: int) -> float:
    """What the player gets from a history on when everybody plays purely."""
    if state.player == TERMINAL:
        return float(state.utilities()[player])
    if state.player == CHANCE:
        return sum(p * value_from(state.child(outcome), pures, player) for outcome, p in state.chance())
    return value_from(state.child(pures[state.player][state.infoset()]), pures, player)


def profiles(game: Game, player: int, removed: Set[tuple[InfosetId, Action]] = frozenset()) -> Iterator[list[Pure]]:
    """All pure strategies of the others, the player's own left empty."""
    lists = [[{}] if one == player else list(pure_strategies(game, one, removed)) for one in range(game.players)]
    for combination in itertools.product(*lists):
        yield list(combination)


def strategy_table(game: Game, player: int) -> tuple[list[Pure], np.ndarray]:
    """The player's pure strategies and what each earns against every pure strategy of the others."""
    own = list(pure_strategies(game, player))
    rows = []
    for mine in own:
        row = []
        for others in profiles(game, player):
            others[player] = mine
            row.append(value_from(game.root(), others, player))
        rows.append(row)
    return own, np.array(rows)


def dominates(gains: np.ndarray, kind: str) -> bool:
    """Whether a vector of gains over the others' pure strategies is domination."""
    if kind == "strict":
        return bool(gains.min() > SIGN)
    return bool(gains.min() >= -1e-9 and gains.max() > SIGN)


def is_dominated(table: np.ndarray, target: np.ndarray, kind: str) -> bool:
    """Whether a mixture of the rows of a table dominates ``target``."""
    rows, columns = table.shape
    if kind == "strict":
        answer = linprog(
            np.append(np.zeros(rows), -1.0), A_ub=np.hstack((-table.T, np.ones((columns, 1)))), b_ub=-target,
            A_eq=np.append(np.ones(rows), 0.0)[None, :], b_eq=[1.0], bounds=[(0, None)] * rows + [(None, None)],
        )  # fmt: skip
        return bool(-answer.fun > SIGN)
    answer = linprog(-table.sum(axis=1), A_ub=-table.T, b_ub=-target + 1e-10, A_eq=np.ones((1, rows)), b_eq=[1.0])
    return answer.status == 0 and bool(-answer.fun - target.sum() > SIGN)


def values_at(
    game: Game, infoset: InfosetId, own: list[Pure], removed: Set[tuple[InfosetId, Action]]
) -> tuple[np.ndarray, np.ndarray]:
    """V(x, y) = v_i(I, (x, y)) for the given strategies x and all pure y of the others; and whether y comes to I."""
    player, key = infoset
    members = [visit for visit in walk(game) if visit.state.player == player and visit.state.infoset() == key]
    columns, comes = [], []
    for others in profiles(game, player, removed):
        reach = []
        for visit in members:
            plays = all(
                others[one].get(where) == action
                for one in range(game.players)
                if one != player
                for where, action in visit.past[one]
            )
            reach.append(visit.chance if plays else 0.0)
        column = []
        for mine in own:
            everybody = [mine if one == player else others[one] for one in range(game.players)]
            column.append(
                sum(w * value_from(v.state, everybody, player) for w, v in zip(reach, members, strict=True) if w)
            )
        columns.append(column)
        comes.append(any(reach))
    return np.array(columns).T, np.array(comes)


def action_dominated(
    game: Game, infoset: InfosetId, action: Action, kind: str, removed: Set[tuple[InfosetId, Action]] = frozenset()
) -> bool:
    """Whether an action is dominated (definition 4.1), the removed ones being forbidden to everybody."""
    own = list(pure_strategies(game, infoset[0], removed))
    values, comes = values_at(game, infoset, own, removed)
    values = values[:, comes]
    if not values.shape[1]:
        return False
    takes = np.array([mine[infoset[1]] == action for mine in own])
    if takes.all():
        return False
    table = np.unique(values[~takes], axis=0)
    return is_dominated(table, values[takes].max(axis=0), kind)


def dominated_actions(game: Game, kind: str) -> list[set[tuple[InfosetId, Action]]]:
    """Dominated actions, round by round of iterated removal."""
    removed: set[tuple[InfosetId, Action]] = set()
    rounds = []
    while True:
        found = set()
        for infoset, actions in infosets(game).items():
            for action in actions:
                if (infoset, action) not in removed and action_dominated(game, infoset, action, kind, removed):
                    found.add((infoset, action))
        if not found:
            return rounds
        rounds.append(found)
        removed |= found
