"""Search game (Čermák 2018, section 4.5; Bošanský et al. 2014): an attacker crosses a graph between two patrols.

Rules: the attacker (first player) goes from S to G; the defender (second player) moves two units, each within one
column of the graph.  All move simultaneously, for ``moves`` rounds.  The attacker moves *quickly*, leaving a track in
the node entered, or *slowly*, without a track, and then has to wait there for a round.  The attacker is caught on the
same node as a unit or when swapping places with one.  Entering G is worth 1 to the attacker and is final before the
defender moves (no unit can reach G); a capture is worth 1 to the defender, and running out of rounds nothing.
The attacker sees nothing; the defender sees a track when a unit is on it.

The drawing of the graph is missing in our copy.  The grids follow the author's public program, where only moves into
the first column can be slow and only that column holds tracks; none of them gives the sizes printed in the thesis, so
those cannot be compared.  The attacker may not stand still, the units may; they never enter G.

* ``grid=connected`` : neighbours of the middle column are linked; ``grid=almost`` : only from its ends to its middle;
* ``grid=parallel`` : not linked (the program calls it W3).

An information set of the attacker lists the nodes entered (``~5`` slowly, ``.`` a wait), one of the defender both
units by rounds with the tracks seen: ``4,11 5*,10`` has seen a track on 5.  ``remembered=k`` is the thesis'
abstraction for the defender: the round, both positions, the tracks on them, and the k positions before.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from counterplay.game.game import TERMINAL, Game
from counterplay.game.registry import parameter, register

COMMON: dict[int, tuple[int, ...]] = {
    0: (1, 4, 5, 6), 1: (4, 5, 6), 4: (4, 5, 7), 5: (4, 5, 6, 8), 6: (5, 6, 9),
    10: (10, 11, 16), 11: (10, 11, 12, 16), 12: (11, 12, 16), 17: (4, 5, 6), 18: (10, 11, 12),
}  # fmt: skip
MIDDLE: dict[str, dict[int, tuple[int, ...]]] = {
    "connected": {7: (7, 8, 10), 8: (7, 8, 9, 11), 9: (8, 9, 12)},
    "almost": {7: (7, 8, 10), 8: (8, 11), 9: (8, 9, 12)},
    "parallel": {7: (7, 10), 8: (8, 11), 9: (9, 12)},
}
START, GOAL, UNITS = 0, 16, (17, 18)
SLOW_INTO = TRACKED = frozenset((4, 5, 6))
COLUMNS = (frozenset((4, 5, 6)), frozenset((10, 11, 12)))
WAIT = "wait"


@dataclasses.dataclass(slots=True, eq=False)
class SearchState:
    """All positions, the tracks, what both have seen, and the attacker's move while the defender chooses."""

    game: SearchGame
    rounds: int
    attacker: int
    waits: bool
    tracks: frozenset[int]
    units: tuple[int, int]
    seen: tuple[str, str]
    heading: str = ""
    player: int = 0
    won: float = 0.0

    def actions(self) -> tuple[str, ...] | tuple[tuple[int, int], ...]:
        if self.player == 1:
            return self.game.unit_moves[self.units]
        return (WAIT,) if self.waits else self.game.attacker_moves[self.attacker]

    def child(self, action: Any) -> SearchState:
        if self.player == 1:
            return self.game.arrive(self, action)
        units, seen = self.units, self.seen
        if action == f"{GOAL}":
            goal = (self.rounds + 1, GOAL, False, self.tracks, units, seen)
            return SearchState(self.game, *goal, "", TERMINAL, 1.0)
        return SearchState(self.game, self.rounds, self.attacker, self.waits, self.tracks, units, seen, action, 1)

    def infoset(self) -> str:
        return self.game.recollect(self.seen[1]) if self.player == 1 else self.seen[0]

    def utilities(self) -> tuple[float, float]:
        return (self.won, -self.won)


@register("search_game")
class SearchGame(Game):
    """Search game: an attacker crosses a graph between two patrols, quickly and leaving tracks or slowly."""

    moves: int = parameter(4, "rounds", least=1, most=100)
    grid: str = parameter("connected", "links in the middle column: connected, almost or parallel", choices=MIDDLE)
    slow: bool = parameter(True, "the attacker can move slowly")
    remembered: int = parameter(
        -1, "earlier positions that the defender remembers; -1 for everything", least=-1, most=100
    )
    zero_sum = True
    forgets: ClassVar[Mapping[str, str]] = {
        "last-moves": "remember the round, what is seen now and in the previous N rounds, and own positions"
    }

    def root(self) -> Any:
        """Before the first move."""
        return SearchState(self, 0, START, False, frozenset(), UNITS, (f"{START}", f"{UNITS[0]},{UNITS[1]}"))

    @functools.cached_property
    def edges(self) -> dict[int, tuple[int, ...]]:
        """The nodes reachable from each node."""
        return COMMON | MIDDLE[self.grid]

    @functools.cached_property
    def attacker_moves(self) -> dict[int, tuple[str, ...]]:
        """The attacker's actions by node: the node to enter, prefixed with ~ if it is entered slowly."""
        moves = {}
        for node, following in self.edges.items():
            names = []
            for to in following:
                if to != node:
                    names += [f"{to}", f"~{to}"] if self.slow and to in SLOW_INTO else [f"{to}"]
            moves[node] = tuple(names)
        return moves

    @functools.cached_property
    def unit_moves(self) -> dict[tuple[int, int], tuple[tuple[int, int], ...]]:
        """The defender's actions by the nodes of both units."""
        first, second = (
            {node: tuple(to for to in self.edges[node] if to in column) for node in (start, *column)}
            for start, column in zip(UNITS, COLUMNS, strict=True)
        )
        return {(p, q): tuple((to, too) for to in first[p] for too in second[q]) for p in first for q in second}

    def recollect(self, seen: str) -> str:
        """What the defender knows, given all that was seen."""
        return seen if self.remembered < 0 else last_rounds(seen, self.remembered)

    def arrive(self, before: SearchState, units: tuple[int, int]) -> SearchState:
        """The state after both sides have moved, the attacker elsewhere than to G."""
        heading, rounds = before.heading, before.rounds + 1
        slowly = heading.startswith("~")
        node = before.attacker if heading == WAIT else int(heading.lstrip("~"))
        tracks = before.tracks
        if node in TRACKED and not slowly and heading != WAIT:
            tracks = tracks | {node}
        swapped = any(was == node and now == before.attacker for was, now in zip(before.units, units, strict=True))
        caught = node in units or swapped
        if caught or rounds == self.moves:
            won = -1.0 if caught else 0.0
            return SearchState(self, rounds, node, slowly, tracks, units, before.seen, "", TERMINAL, won)
        first, second = (f"{unit}*" if unit in tracks else f"{unit}" for unit in units)
        entered = "." if heading == WAIT else heading
        seen = (f"{before.seen[0]} {entered}", f"{before.seen[1]} {first},{second}")
        return SearchState(self, rounds, node, slowly, tracks, units, seen)

    def forget(self, what: str, value: str) -> Callable[[str], str]:
        """``last-moves``: the round, and the entries of this round and of the previous N."""
        if self.remembered >= 0:
            return super().forget(what, value)
        return functools.partial(last_rounds, keep=self.kept_count(what, value))


def last_rounds(seen: str, keep: int) -> str:
    """The round, what is seen now and in the ``keep`` rounds before."""
    entries = seen.split()
    return f"round {len(entries)}: {' '.join(entries[-keep - 1 :])}"
