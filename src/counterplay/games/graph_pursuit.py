"""Graph pursuit GPx (Čermák 2018, section 5.3.2.3): an attacker runs for a goal, two units of a defender hunt.

Rules: the attacker (first player) and both units are on nodes of a directed graph.  In each of ``moves`` rounds all
three must move along an edge, simultaneously.  The attacker is caught when a unit is on the same node after the move,
or when the two have swapped places; that ends the game.  The attacker wins 2 at the goal, -1 when caught elsewhere,
and ``tie`` otherwise; the game is zero-sum.

Before each move the attacker sees the nodes of the units within ``view`` steps of the attacker, and the defender sees
the attacker when a unit is within ``view`` steps; distances are counted along the edges from the attacker's node.
Everything seen is remembered.

Departures and choices.  The figure with the graph is missing in our copy; the graph, the distances and the order of
the defender's actions (first unit outermost) follow the author's public program.  In the text the game ends at the
goal, but the sizes of the thesis (100 sets are 1.1 % of GP5 and 0.09 % of GP6) need a goal that the attacker can pass
through, so that only being there at the end counts; ``goal_absorbing=true`` follows the text, and makes the game a sure
win.  The author's program pays the attacker 1 when the rounds run out, where the text says 0: ``tie=1``, and the
published sizes of abstractions and programs are those of that game.  Being caught on the goal counts as the goal, or
as caught with ``goal_first=false``.

An information set lists one entry for each round, own position first: ``0 4 5[9]`` has seen a unit on 9 from 5; the
defender's ``7,13 3,9[5]`` has seen the attacker on 5.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from counterplay.game.game import TERMINAL, Game
from counterplay.game.registry import parameter, register
from counterplay.games.search_game import last_rounds

EDGES: dict[int, tuple[int, ...]] = {
    0: (1, 4), 1: (2, 5), 2: (1, 3, 6), 3: (2, 7), 4: (5, 8), 5: (1, 4, 6, 9, 10), 6: (2, 10), 7: (3, 6),
    8: (4, 9), 9: (8, 10), 10: (7, 13), 12: (8, 13), 13: (9, 12),
}  # fmt: skip
START, GOAL, UNITS = 0, 10, (7, 13)


@dataclasses.dataclass(slots=True, eq=False)
class PursuitState:
    """All positions, what both sides have seen, and the attacker's move while the defender chooses."""

    game: GraphPursuit
    rounds: int
    attacker: int
    units: tuple[int, int]
    seen: tuple[str, str]
    heading: int = -1
    player: int = 0
    won: float = 0.0

    def actions(self) -> tuple[int, ...] | tuple[tuple[int, int], ...]:
        return EDGES[self.attacker] if self.player == 0 else self.game.unit_moves[self.units]

    def child(self, action: Any) -> PursuitState:
        if self.player == 0:
            return PursuitState(self.game, self.rounds, self.attacker, self.units, self.seen, action, 1)
        return self.game.arrive(self, action)

    def infoset(self) -> str:
        return self.seen[self.player]

    def utilities(self) -> tuple[float, float]:
        return (self.won, -self.won)


@register("graph_pursuit")
class GraphPursuit(Game):
    """Graph pursuit: an attacker runs for a goal while two units of the defender hunt, all with a short view."""

    moves: int = parameter(4, "rounds", least=1, most=100)
    view: int = parameter(2, "how many steps from the attacker a unit is seen and sees", least=0, most=100)
    tie: float = parameter(0.0, "what the attacker wins when the rounds run out away from the goal",
                           check=(lambda tie: -1.0 <= tie <= 2.0, "between -1 (caught) and 2 (goal)"))  # fmt: skip
    goal_absorbing: bool = parameter(False, "the game ends when the attacker is on the goal")
    goal_first: bool = parameter(True, "an attacker caught on the goal has won")
    zero_sum = True
    forgets: ClassVar[Mapping[str, str]] = {
        "last-moves": "remember the round, what is seen now and in the previous N rounds, and own positions"
    }

    def root(self) -> Any:
        """Before the first move."""
        return PursuitState(self, 0, START, UNITS, self.observe(("", ""), START, UNITS))

    @functools.cached_property
    def unit_moves(self) -> dict[tuple[int, int], tuple[tuple[int, int], ...]]:
        """The defender's actions by the nodes of both units."""
        return {(p, q): tuple((to, too) for to in EDGES[p] for too in EDGES[q]) for p in EDGES for q in EDGES}

    @functools.cached_property
    def in_view(self) -> dict[int, frozenset[int]]:
        """The nodes within ``view`` steps of each node."""
        reached = {}
        for node in EDGES:
            found = {node}
            for _ in range(self.view):
                found |= {to for near in found for to in EDGES[near]}
            reached[node] = frozenset(found)
        return reached

    def observe(self, seen: tuple[str, str], attacker: int, units: tuple[int, int]) -> tuple[str, str]:
        """What both sides have seen, with what they see from here."""
        view = self.in_view[attacker]
        near = [str(unit) for unit in units if unit in view]
        first = f"{seen[0]} {attacker}" if seen[0] else f"{attacker}"
        second = f"{seen[1]} {units[0]},{units[1]}" if seen[1] else f"{units[0]},{units[1]}"
        return (f"{first}[{','.join(near)}]", f"{second}[{attacker}]") if near else (first, second)

    def arrive(self, before: PursuitState, units: tuple[int, int]) -> PursuitState:
        """The state after both sides have moved."""
        node, rounds = before.heading, before.rounds + 1
        swapped = any(was == node and now == before.attacker for was, now in zip(before.units, units, strict=True))
        caught = node in units or swapped
        if not (caught or rounds == self.moves or (self.goal_absorbing and node == GOAL)):
            return PursuitState(self, rounds, node, units, self.observe(before.seen, node, units))
        won = -1.0 if caught else self.tie
        if node == GOAL and (self.goal_first or not caught):
            won = 2.0
        return PursuitState(self, rounds, node, units, before.seen, -1, TERMINAL, won)

    def forget(self, what: str, value: str) -> Callable[[str], str]:
        """``last-moves``: the round, and the entries of this round and of the previous N."""
        return functools.partial(last_rounds, keep=self.kept_count(what, value))
