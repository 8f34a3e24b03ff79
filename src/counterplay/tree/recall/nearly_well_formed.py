"""Nearly well-formed games (Lanctot et al. 2012, appendix B, definition 4; Gibson 2014, definition D.1).

Conditions (i) to (iii) are those of well-formed games.  Condition (iv) is weaker: the player may recover forgotten
information later, if the futures of the two parts are isomorphic.  There are bijections ψ of the player's information
sets below the two parts and ω of their actions, so that the own sequence after the first part, mapped by ψ and ω, is
the own sequence after the second.

Departure: ψ must map the set to itself (the definition implies that) and ω must keep its actions fixed.  Without the
latter the proof of theorem 3 compares the regrets of different actions, and a player who is paid for repeating a
forgotten choice would count as nearly well-formed, although counterfactual regret minimisation never learns it.

``verify_pair`` and ``verify_nearly_well_formed`` check given bijections.  ``nearly_well_formed`` searches for them:
entries (information set, action) of both futures are coloured by the leaves they lead to, and colours are refined
until they are stable; where several entries share a colour, one is singled out and each possible partner tried.
First ω is assumed to keep the order of actions everywhere.  What is found is verified; different colours prove that
there is no bijection; if ``budget`` refinements of one pair have not decided, the verdict is not conclusive.
"""

from __future__ import annotations

import dataclasses
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from counterplay.tree.recall.futures import Rows
from counterplay.tree.recall.leaf_matching import Aligned, Comparison, explain, intern
from counterplay.tree.recall.recall_class import Verdict, Witness
from counterplay.tree.recall.well_formed import WellFormedVerdict

BUDGET = 200

Int64: TypeAlias = NDArray[np.int64]
Correspondence: TypeAlias = Callable[[int], int] | Mapping[int, int] | NDArray[np.integer]
"""A function from numbers to numbers, or a table of one."""

_Path: TypeAlias = tuple[int, ...]  # entries of an own sequence
_Future: TypeAlias = dict[_Path, tuple[int, ...]]  # own sequence -> kinds of its leaves, sorted


@dataclasses.dataclass(frozen=True)
class Bijections:
    """φ on terminal histories, ψ on information sets and ω on entries, for an ordered pair of parts."""

    phi: Correspondence
    psi: Correspondence
    omega: Correspondence


def verify_nearly_well_formed(comparison: Comparison, bijections: Callable[[int, int], Bijections]) -> Verdict:
    """Check definition 4 for one player, with bijections given by the caller: a function of two parts of one set.

    It is called for the first part of each set with every other one; bijections can be composed and inverted, so these
    decide for all pairs.
    """
    for table in comparison.tables():
        for part in range(len(table.part)):
            leader = int(table.leader[part])
            if leader != part:
                given = bijections(int(table.part[leader]), int(table.part[part]))
                verdict = _verify(table, leader, part, given)
                if not verdict.holds:
                    return verdict
    return Verdict(True)


def verify_pair(comparison: Comparison, first: int, second: int, bijections: Bijections) -> Verdict:
    """Check the conditions of definition 4 for two parts of one set."""
    table = comparison.table_of(first, second)
    return _verify(table, table.place_of(first), table.place_of(second), bijections)


def nearly_well_formed(comparison: Comparison, budget: int = BUDGET) -> WellFormedVerdict:
    """Search for the bijections of definition 4 for one player; K is that of theorem 3.  See the module docstring."""
    largest, total = 1.0, float(comparison.num_infosets)
    for table in comparison.tables():
        for part in np.flatnonzero(~table.utility_ok).tolist():  # for the others ψ and ω are the identity
            verdict = _search(table, int(table.leader[part]), part, budget)[1]
            if not verdict.holds:
                return WellFormedVerdict(False, verdict.witness, verdict.conclusive)
        ratio = table.largest_factors()
        largest = max(largest, float(ratio.max()))
        total += float((ratio - 1.0).sum())
    return WellFormedVerdict(True, K=total, largest=largest)


def find_bijections(comparison: Comparison, first: int, second: int, budget: int = BUDGET) -> Bijections | None:
    """Bijections of definition 4 for two parts of one set, if the search finds any."""
    table = comparison.table_of(first, second)
    return _search(table, table.place_of(first), table.place_of(second), budget)[0]


def _function(given: Correspondence) -> Callable[[int], int]:
    if callable(given):
        return given
    return lambda number: int(given[number])


def _verify(table: Aligned, first: int, second: int, bijections: Bijections) -> Verdict:
    """Check every leaf below the first part, and that φ, ψ and ω are one to one."""
    refinement, rows = table.refinement, table.rows
    tree = refinement.tree
    phi, psi, omega = _function(bijections.phi), _function(bijections.psi), _function(bijections.omega)
    infoset_of = np.repeat(np.arange(tree.num_infosets), np.diff(tree.infoset_offset))
    here, there = table.rows_of(first), table.rows_of(second)
    row_of = {int(leaf): there.start + place for place, leaf in enumerate(rows.leaf[there])}

    def failed(condition: str, leaf: int, why: str) -> Verdict:
        name = tree.infoset_names[refinement.infoset[table.part[first]]]
        one, other = (refinement.history(int(table.part[part])) for part in (first, second))
        return Verdict(False, Witness(condition, name, one, other, leaf=tuple(tree.history(leaf)), detail=why))

    used: set[int] = set()
    sets: dict[int, int] = {}
    for row in range(here.start, here.stop):
        leaf = int(rows.leaf[row])
        partner = row_of.get(phi(leaf))
        if partner is None or partner in used:
            return failed("bijection", leaf, "φ does not map the leaves one to one below the second part")
        used.add(partner)
        if table.utility[row] != table.utility[partner]:
            return failed("(i)", leaf, "the utilities of a leaf and its image have another ratio than k")
        if table.chance[row] != table.chance[partner]:
            return failed("(ii)", leaf, "the chances of a leaf and its image have another ratio than l")
        if rows.others[row] != rows.others[partner]:
            return failed("(iii)", leaf, "the other players' sequences of a leaf and its image differ")
        entries, images = rows.spelled(int(rows.own[row])), rows.spelled(int(rows.own[partner]))
        if [omega(entry) for entry in entries] != images or entries[0] != images[0]:
            return failed("(iv)", leaf, "ω does not take the own sequence of a leaf to that of its image")
        for entry, image in zip(entries, images, strict=True):
            sets[int(infoset_of[entry])] = int(infoset_of[image])
            if psi(int(infoset_of[entry])) != infoset_of[image]:
                return failed("(iv)", leaf, "ψ does not agree with ω")
    if len(used) != there.stop - there.start or len(set(sets.values())) != len(sets):
        return failed("bijection", int(rows.leaf[here.start]), "φ or ψ is not one to one onto the second part")
    return Verdict(True)


def _search(table: Aligned, first: int, second: int, budget: int) -> tuple[Bijections | None, Verdict]:
    """Bijections between two parts, and the verdict about them."""
    rows = table.rows
    here, there = table.rows_of(first), table.rows_of(second)
    kind = intern(rows.others, table.chance, table.utility)
    if not np.array_equal(np.sort(kind[here]), np.sort(kind[there])):
        others = dataclasses.replace(rows, own=np.zeros_like(rows.own))  # own sequences are ignored
        shown = dataclasses.replace(table, rows=others, signature=intern(rows.others))
        return None, Verdict(False, explain(shown, first, second))
    futures = tuple(_future(rows, kind, side) for side in (here, there))
    sizes = np.diff(table.refinement.tree.infoset_offset)
    infoset_of = np.repeat(np.arange(len(sizes)), sizes)
    own_set = int(table.refinement.infoset[table.part[first]])
    conclusive = True
    for ordered in (True, False):
        matcher = _Matcher(futures, infoset_of, table.refinement.tree.infoset_offset, own_set, ordered, budget)
        omega = matcher.solve(matcher.start)
        if omega is not None:
            psi = {int(infoset_of[entry]): int(infoset_of[image]) for entry, image in omega.items()}
            found = Bijections(_leaf_bijection(rows, kind, here, there, omega), psi, omega)
            return found, Verdict(True)
        conclusive = matcher.left > 0
    detail = f"no match of the own futures of the two parts was found in {budget} refinements"
    if conclusive:
        detail = "the own futures of the two parts are not alike, whatever sets and actions are matched"
    witness = dataclasses.replace(explain(table, first, second), condition="(iv)", detail=detail)
    return None, Verdict(False, witness, conclusive)


def _future(rows: Rows, kind: Int64, side: slice) -> _Future:
    """The own sequences below a part, each with the kinds of its leaves."""
    leaves: dict[int, list[int]] = defaultdict(list)
    for own, what in zip(rows.own[side].tolist(), kind[side].tolist(), strict=True):
        leaves[own].append(what)
    return {tuple(rows.spelled(own)): tuple(sorted(kinds)) for own, kinds in leaves.items()}


def _leaf_bijection(rows: Rows, kind: Int64, here: slice, there: slice, omega: dict[int, int]) -> dict[int, int]:
    """φ: leaves of one own sequence and one kind, in their order."""
    places: dict[tuple[_Path, int], list[int]] = defaultdict(list)
    spelled: dict[int, _Path] = {}
    for row in range(there.stop - 1, there.start - 1, -1):
        own = int(rows.own[row])
        path = spelled.get(own) or spelled.setdefault(own, tuple(rows.spelled(own)))
        places[path, int(kind[row])].append(int(rows.leaf[row]))
    phi = {}
    images: dict[int, _Path] = {}
    for row in range(here.start, here.stop):
        own = int(rows.own[row])
        path = images.get(own) or images.setdefault(own, tuple(omega[entry] for entry in rows.spelled(own)))
        phi[int(rows.leaf[row])] = places[path, int(kind[row])].pop()
    return phi


class _Matcher:
    """Colour refinement with trials, on the entries of two futures; a node is (side, entry)."""

    def __init__(
        self, futures: tuple[_Future, ...], infoset_of: Int64, offset: Int64, own_set: int, ordered: bool, budget: int
    ) -> None:
        self.futures = futures
        self.ordered = ordered
        self.left = budget
        self.numbers: dict[Hashable, int] = {}
        self.start: dict[tuple[int, int], int] = {}
        self.siblings: dict[tuple[int, int], list[tuple[int, int]]] = {}
        self.set_of: dict[tuple[int, int], tuple[int, int]] = {}
        for side, future in enumerate(futures):
            for entry in {entry for path in future for entry in path}:
                infoset = int(infoset_of[entry])
                size = int(offset[infoset + 1] - offset[infoset])
                place = entry - int(offset[infoset])
                seen = place if ordered or infoset == own_set else -1
                self.start[side, entry] = self._number(("entry", infoset == own_set, size, seen))
                self.set_of[side, entry] = (side, infoset)
                self.siblings.setdefault((side, infoset), []).append((side, entry))

    def _number(self, what: Hashable) -> int:
        return self.numbers.setdefault(what, len(self.numbers))

    def solve(self, colours: dict[tuple[int, int], int]) -> dict[int, int] | None:
        """ω that goes with the colours, or None if there is none or the budget is used up (``left`` is 0 then)."""
        if self.left <= 0:
            return None
        self.left -= 1
        stable = self._refine(colours)
        if stable is None:
            return None
        classes: dict[int, tuple[list[int], list[int]]] = {}
        for (side, entry), colour in stable.items():
            classes.setdefault(colour, ([], []))[side].append(entry)
        open_classes = [pair for pair in classes.values() if len(pair[0]) > 1]
        if not open_classes:
            forced = {pair[0][0]: pair[1][0] for pair in classes.values()}
            return forced if self._fits(forced) else None
        lefts, rights = min(open_classes, key=lambda pair: (len(pair[0]), min(pair[0])))
        chosen = min(lefts)
        mark = self._number(("chosen", stable[0, chosen], self.left))
        for candidate in sorted(rights, key=lambda entry: (entry != chosen, entry)):
            omega = self.solve({**stable, (0, chosen): mark, (1, candidate): mark})
            if omega is not None:
                return omega
        return None

    def _refine(self, colours: dict[tuple[int, int], int]) -> dict[tuple[int, int], int] | None:
        """Stable colours, or None when the two sides differ."""
        while True:
            through: dict[tuple[int, int], list[int]] = defaultdict(list)
            for side, future in enumerate(self.futures):
                for path, kinds in future.items():
                    colour = self._number(("path", kinds, tuple(colours[side, entry] for entry in path)))
                    for place, entry in enumerate(path):
                        through[side, entry].append(self._number((place, colour)))
            fresh = {node: self._number(("node", colours[node], tuple(sorted(through[node])))) for node in colours}
            of_set = {
                infoset: self._number(("set", tuple(sorted(fresh[node] for node in nodes))))
                for infoset, nodes in self.siblings.items()
            }
            fresh = {node: self._number(("in", fresh[node], of_set[self.set_of[node]])) for node in fresh}
            sides = [Counter(colour for (side, _), colour in fresh.items() if side == wanted) for wanted in (0, 1)]
            if sides[0] != sides[1]:
                return None
            if len(set(fresh.values())) == len(set(colours.values())):
                return fresh
            colours = fresh

    def _fits(self, omega: dict[int, int]) -> bool:
        """Whether ω takes one future to the other, leaf for leaf and set for set."""
        image = {tuple(omega[entry] for entry in path): kinds for path, kinds in self.futures[0].items()}
        sets: dict[int, int] = {}
        for entry, other in omega.items():
            infoset, there = self.set_of[0, entry][1], self.set_of[1, other][1]
            if sets.setdefault(infoset, there) != there:
                return False
        return image == self.futures[1] and len(set(sets.values())) == len(sets)
