"""Subgames solved again: the rest of a game below a public state, while everything before it stays as it was.

Burch, Johanson and Bowling 2014 (CFR-D).  A blueprint is a strategy of the whole game.  At a public state its player
has a range, what of each hand comes there; the opponent has some range too, if he plays the blueprint.

* *Unsafe*: both ranges are taken for granted, and an equilibrium of the subgame is played.  That is often stronger than
  the blueprint, but the opponent may come there with other hands: nothing bounds how exploitable the whole becomes.
* *Safe*: the opponent comes there with any hand, and may take c(I) for it instead of playing on.  c(I) is the
  counterfactual value that his best response to the blueprint gets with the information set I.  The blueprint itself
  gives him no more in any set, so the value of this gadget to him is the sum of all c(I); what a solution gives him
  beyond that is its *error*.  No set is then worth more than c(I) plus the error, so that the whole strategy is at most
  as exploitable as the blueprint plus the errors of all subgames that were replaced, each counted by the probability
  that chance and the player come there (an opponent cannot come there more often than always).

A value that is offered is counterfactual, as the source's is: the opponent compares sums over the player's hands, not
means, so that the offer needs no probability of the set.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterplay.evaluation.public_walker import PublicWalker
from counterplay.evaluation.public_walks import Opponent, plain_tables
from counterplay.kernels.public.piece_steps import RESPONSE
from counterplay.runtime.pacing import PacedSteps, Until, next_check
from counterplay.solvers.cfr import CfrConfig
from counterplay.solvers.public_cfr import PublicSolver
from counterplay.strategy.public_lookup import HandTables
from counterplay.tree.public.public_tree import CUT, LINK, SHARED, PublicTree
from counterplay.tree.public.subgame_tree import Choice, PublicPoint, SubgameTree, subgame_tree

Vector = NDArray[np.float64]
Tables = tuple[NDArray[Any], NDArray[Any]]
Where = Callable[[PublicTree, int, int], bool]
"""Whether a subgame begins at a public state (node, deal)."""


@dataclasses.dataclass(frozen=True, eq=False)
class Resolved:
    """The solution of a subgame.

    * ``subgame``: it, with the gadget if it was solved safely
    * ``tables``: weights of all its entries, one table for each player
    * ``offered``: what the opponent may take with each hand at the start instead of playing on; None if unsafe
    * ``error``: safe, what the opponent can win beyond ``offered`` by all hands; unsafe, what both players can win by
      best responses in the subgame.  In chips, times the probability of coming there
    * ``iterations``, ``seconds``: of the solver, and of everything
    * ``finished``: whether it did all iterations, or is exact enough, which at least one iteration is needed for
    """

    subgame: SubgameTree
    tables: Tables
    offered: Vector | None
    error: float
    iterations: int
    seconds: float
    finished: bool


def counterfactual_values(tree: PublicTree, player: int, table: NDArray[Any], threads: int = 1) -> Vector:
    """The counterfactual value of each hand of a player at the start, by a best response to the opponent's table."""
    walker = PublicWalker(tree, threads, kind=_float_type(table))
    none = plain_tables(np.zeros(0, table.dtype), walker.ones(player))
    return walker.walk(player, RESPONSE, none, Opponent(table))


def _float_type(table: NDArray[Any]) -> Any:
    return np.float32 if table.dtype != np.float64 else np.float64


class _Judge:
    """How far a solution of a subgame is from being one, in the measure of the subgame."""

    def __init__(self, solver: PublicSolver, player: int, offered: Vector | None) -> None:
        self.solver, self.player, self.offered = solver, player, offered
        self.walker, self.hands = solver.walker, solver.tree.hands

    def _values(self, player: int) -> Vector:
        """What the hands of a player win by a best response to the average strategy of the other one."""
        other = self.solver.strategy()[1 - player]
        none = plain_tables(np.zeros(0, other.dtype), self.walker.ones(player))
        return self.walker.walk(player, RESPONSE, none, Opponent(other))

    def error(self) -> float:
        """What the opponent gets beyond what is offered; unsafe, what both players gain by best responses."""
        if self.offered is None:
            return 2.0 * self.solver.check().exploitability
        gained = np.maximum(self._values(1 - self.player) - self.offered, 0.0)
        return float(gained @ self.hands[1 - self.player].root_weight)

    def gap(self) -> float:
        """What both players gain by best responses; in the gadget the error can be 0 long before an equilibrium.

        What the opponent takes instead of playing on is counted with the weights of his own hands: a class of hands
        stands for several, which the tree's end for it does not know.
        """
        if self.offered is None:
            return self.error()
        free, tree = 1 - self.player, self.solver.tree
        weight, reach = self.hands[free].root_weight, self.hands[free].root_reach
        taken = HandTables(self.solver.strategy()).matrix(tree, 0, 0)[:, 0] * self.offered
        ours = self._values(self.player) + (reach @ taken) / self.hands[self.player].root_reach.sum()
        return self.error() + float((self.offered - taken) @ weight + ours @ self.hands[self.player].root_weight)


def resolve(
    source: PublicTree, point: PublicPoint, player: int, blueprint: NDArray[Any] | None, until: Until,
    config: CfrConfig | str = "cfr+",
) -> Resolved:  # fmt: skip
    """Solve the rest of a game for a player.

    Parameters
    ----------
    source, point : PublicTree, PublicPoint
        The game, and where the subgame begins, with both ranges.
    player : {0, 1}
        Who plays the solution; an unsafe one serves both.
    blueprint : array, optional
        The player's table of the source, for safe solving; only its part in the subgame is read.  Without one the
        subgame is solved from both ranges.
    until : Until
        When to stop; ``exploitability`` is what both players together can gain in the subgame, and seconds count from
        now.
    config : CfrConfig or str
        The settings of the solver.
    """
    clock = time.perf_counter()
    offered = None
    if blueprint is None:
        subgame = subgame_tree(source, point)
    else:
        free = 1 - player
        plain = subgame_tree(source, point, free)
        threads = 1 if isinstance(config, str) else config.threads
        offered = counterfactual_values(plain.tree, free, plain.taken(player, blueprint), threads)
        subgame = subgame_tree(source, point, free, Choice(free, offered))
    solver = PublicSolver(subgame.tree, config)
    judge, steps, finished = _Judge(solver, player, offered), PacedSteps(solver), False
    goal = 0.0 if until.exploitability is None else until.exploitability
    check = 1.0 if goal else math.inf
    most = math.inf if until.iterations is None else until.iterations
    while not finished and (until.seconds is None or time.perf_counter() - clock < until.seconds):
        steps.step(int(min(steps.pace.iterations, min(check, most) - solver.iterations)))
        if solver.iterations == check:
            finished = judge.gap() <= goal
            check = next_check(solver.iterations, solver.check_ratio)
        finished = finished or solver.iterations == most
    error = judge.error()
    if not finished and solver.iterations and error <= goal:  # time ran out between two checks
        finished = judge.gap() <= goal
    seconds = time.perf_counter() - clock
    return Resolved(subgame, solver.strategy(), offered, error, solver.iterations, seconds, finished)


@dataclasses.dataclass(frozen=True, eq=False)
class Replaced:
    """A strategy whose subgames were solved again.

    * ``tables``: of the whole game, one for each player
    * ``errors``: of each player's solutions, added up; unsafe, half of the error of each solution
    * ``subgames``: how many public states there were
    """

    tables: Tables
    errors: tuple[float, float]
    subgames: int


def resolve_below(
    tree: PublicTree, tables: Tables, where: Where, until: Until, safe: bool = True, config: CfrConfig | str = "cfr+",
) -> Replaced:  # fmt: skip
    """Replace every subgame below some public states, for both players.

    Parameters
    ----------
    tree, tables : PublicTree, pair of arrays
        A game and a strategy of it, the blueprint.
    where : callable
        At which public states subgames begin; those below another one are part of it.
    until : Until
        Of each solution.
    safe : bool
        Whether the opponent may take what the blueprint gives him.
    """
    into = tables[0].astype(np.float64), tables[1].astype(np.float64)
    errors, subgames = [0.0, 0.0], 0
    for point in public_points(tree, tables, where):
        subgames += 1
        for player in (0, 1) if safe else (None,):
            mine = point.reach if player is None else (point.reach[player],)
            if not all(np.any(reach > 0.0) for reach in mine):
                continue  # what is played where nobody comes is the blueprint's
            found = resolve(tree, point, player or 0, tables[player or 0] if safe else None, until, config)
            for seat in (0, 1):
                if player in (None, seat):
                    found.subgame.put(seat, found.tables[seat], into[seat])
                    errors[seat] += found.error if safe else found.error / 2
    return Replaced(into, (errors[0], errors[1]), subgames)


def after_deals(deals: int) -> Where:
    """The first decisions after so many public deals."""

    def begins(tree: PublicTree, _node: int, deal: int) -> bool:
        count = 0
        while tree.deal_parent[deal] >= 0:
            deal, count = int(tree.deal_parent[deal]), count + 1
        return count == deals

    return begins


def public_points(tree: PublicTree, tables: Tables, where: Where) -> Iterator[PublicPoint]:
    """The decisions at which subgames begin, with the ranges of a strategy; none is below another."""
    played = HandTables(tables)
    start = [hands.root_reach for hands in tree.hands], [hands.root_weight for hands in tree.hands]
    first, second = start[0]
    waiting = [PublicPoint(0, 0, (first, second), (first, second), (start[1][0], start[1][1]))]
    while waiting:
        point = waiting.pop()
        node, deal, kind = point.node, point.deal, int(tree.kind[point.node])
        if kind > LINK:
            continue
        if kind == LINK:
            waiting.extend(_dealt(tree, point))
        elif where(tree, node, deal):
            yield point
        else:
            rows = played.matrix(tree, node, deal).T
            for action, row in enumerate(rows):
                reach = point.reach[0] * (row if kind == 0 else 1.0), point.reach[1] * (row if kind == 1 else 1.0)
                waiting.append(point._replace(node=int(tree.first_child[node]) + action, reach=reach))


def _dealt(tree: PublicTree, point: PublicPoint) -> Iterator[PublicPoint]:
    """What can follow a link."""
    node, deal, link = point.node, point.deal, int(tree.link_deal[point.node])
    below = int(tree.first_child[node])
    if link == CUT:
        yield point._replace(node=below)
        return
    first = int(tree.deal_first[deal]) if link == SHARED else link
    count = int(tree.deal_count[deal]) if link == SHARED else int(tree.num_children[node])
    for after in range(first, first + count):
        pairs: list[list[Vector]] = [[], [], []]
        for player, hands in enumerate(tree.hands):
            here, before = hands.slice(after), hands.slice(deal)
            above = hands.parent[here].astype(np.int64)
            each = hands.multiplicity[here] / hands.multiplicity[before][above] * float(tree.deal_weight[after])
            pairs[0].append(point.reach[player][above])
            pairs[1].append(point.chance[player][above])
            pairs[2].append(point.mass[player][above] * each)
        reach, chance, mass = ((one, two) for one, two in pairs)
        yield PublicPoint(below if link == SHARED else int(tree.deal_root[after]), after, reach, chance, mass)
