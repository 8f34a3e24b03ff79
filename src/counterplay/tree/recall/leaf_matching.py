"""Comparison of the parts of an information set, leaf by leaf.

``Comparison`` is one player's view of a game and a refinement of it; the checkers of well-formed games and their
relatives take it.  The leaves below each part are sorted by what must match: what the others did and what the player
did since (the *signature*), chance and utility, the last two relative to the largest below the part, which eliminates
the constants k and l of conditions (i) and (ii) of Lanctot et al. 2012, definition 2.  Then parts match if they are
equal row by row.

Tolerance: chances that differ by one part in 10^9, and utilities that differ by 10^-9 of the largest below the part,
count as equal.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections import Counter
from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.recall.futures import Futures, Refinement, Rows, build_futures, refine
from counterplay.tree.recall.recall_class import Witness, find_absent_mindedness

TOLERANCE = 1e-9
CHUNK_ROWS = 250_000
"""Rows compared at a time; most failures are found in the first of them."""
KEPT_ROWS = 5_000_000
"""Up to this many rows the sorted tables are kept from one checker to the next."""

Int64: TypeAlias = NDArray[np.int64]
Float64: TypeAlias = NDArray[np.float64]
Bool: TypeAlias = NDArray[np.bool_]


@dataclasses.dataclass(frozen=True, eq=False)
class Comparison:
    """The parts of one player's information sets, ready to be compared; made by ``compare``."""

    refinement: Refinement
    player: int

    @functools.cached_property
    def futures(self) -> Futures:
        """The leaves below the parts of the sets that have several."""
        return build_futures(self.refinement, self.player)

    @property
    def num_infosets(self) -> int:
        """Number of information sets of the player in the game."""
        return len(self.refinement.tree.infosets_of(self.player))

    def tables(self) -> Iterator[Aligned]:
        """The sorted leaves, some whole information sets at a time."""
        if len(self.futures) > KEPT_ROWS:
            for chunk in self.futures.chunks(CHUNK_ROWS):
                yield Aligned.of(self.refinement, chunk)
            return
        kept, chunks = self._kept
        number = 0
        while True:
            if number == len(kept):
                following = next(chunks, None)
                if following is None:
                    return
                kept.append(Aligned.of(self.refinement, following))
            yield kept[number]
            number += 1

    @functools.cached_property
    def _kept(self) -> tuple[list[Aligned], Iterator[Rows]]:
        """The tables built so far, and the source of the others."""
        return [], self.futures.chunks(CHUNK_ROWS)

    def parts_of(self, infoset: int) -> list[int]:
        """The parts of an information set, by number."""
        parts: list[int] = np.flatnonzero(self.refinement.infoset == infoset).tolist()
        return parts

    def table_of(self, *parts: int) -> Aligned:
        """The sorted leaves below some parts of one set that has several."""
        sets = {int(self.refinement.infoset[part]) for part in parts}
        if len(sets) != 1 or len(set(parts)) != len(parts) or len(parts) < 2:
            raise GameError(f"different parts of one information set are compared; got parts {parts}")
        rows = self.futures.rows_of(parts)
        if not len(rows):
            raise GameError(f"parts {parts} are not parts of an information set of player {self.player + 1}")
        return Aligned.of(self.refinement, rows)


def compare(tree: GameTree, player: int, refinement: GameTree | NDArray[np.integer] | None = None) -> Comparison:
    """One player of a game with a refinement of it, by default the coarsest with perfect recall; see ``refine``."""
    if not 0 <= player < tree.players:
        raise GameError(f"{tree.name}: player must be 0 .. {tree.players - 1}; got {player}")
    absent = find_absent_mindedness(tree, player)
    if absent is not None:
        raise GameError(
            f"{tree.name}: player {player + 1} is absent-minded ({absent.detail}); no class is defined then"
        )
    return Comparison(refine(tree, refinement), player)


@dataclasses.dataclass(frozen=True, eq=False)
class Aligned:
    """Rows of ``Futures`` sorted so that the parts of a set can be compared row by row.

    P parts, R rows.  ``signature``, ``chance`` and ``utility`` are numbers that are equal when X_{-i} and X_i, the
    relative chances and the relative utilities are.
    """

    refinement: Refinement
    rows: Rows
    signature: Int64
    chance: Int64
    utility: Int64
    part: Int64  # (P,) parts
    start: Int64  # (P+1,) rows of each
    leader: Int64  # (P,) the first part of the same set, as an index into part
    set_start: Int64  # the parts of each set
    top_chance: Float64  # (P,) largest chance below the part
    top_utility: Float64  # (P,) largest absolute utility
    signature_ok: Bool  # (P,) signatures match those of the leader
    chance_ok: Bool  # signatures and relative chances do
    utility_ok: Bool  # and relative utilities

    @classmethod
    def of(cls, refinement: Refinement, rows: Rows) -> Aligned:
        heads = np.flatnonzero(np.diff(rows.part, prepend=-1))
        start = np.append(heads, len(rows))
        which = np.repeat(np.arange(len(heads)), np.diff(start))
        top_chance = np.maximum.reduceat(rows.chance, heads)
        top_utility = np.maximum.reduceat(np.abs(rows.utility), heads)
        chance = cluster(_relative(rows.chance, top_chance[which]), relative=True)
        utility = cluster(_relative(rows.utility, top_utility[which]))
        signature = intern(rows.others, rows.own)
        order = np.lexsort((rows.utility, chance, signature, which))
        rows = rows.take(order)
        signature, chance, utility = signature[order], chance[order], utility[order]
        part = rows.part[heads]
        set_start = np.flatnonzero(np.diff(refinement.infoset[part], prepend=-1))
        leader = np.repeat(set_start, np.diff(np.append(set_start, len(part))))
        lengths = np.diff(start)
        same_length = lengths == lengths[leader]
        # Rows of parts of another length are compared with themselves; they fail anyway.
        partner = np.arange(len(rows)) + np.where(same_length, start[leader] - heads, 0)[which]
        verdicts = []
        fine = same_length
        for column in (signature, chance, utility):
            fine = fine & np.logical_and.reduceat(column == column[partner], heads)
            verdicts.append(fine)
        return cls(refinement, rows, signature, chance, utility, part, start, leader, set_start, top_chance,
                   top_utility, *verdicts)  # fmt: skip

    def parts_of(self, number: int) -> range:
        """The parts of a set, as indices."""
        ends = np.append(self.set_start, len(self.part))
        return range(int(ends[number]), int(ends[number + 1]))

    def largest_factors(self) -> Float64:
        """The largest k·l of two parts of each set whose parts match."""
        weight = self.top_chance * np.where(self.top_utility > 0.0, self.top_utility, 1.0)
        weight[weight == 0.0] = 1.0  # chance never comes here; l is 1
        largest: Float64 = np.maximum.reduceat(weight, self.set_start) / np.minimum.reduceat(weight, self.set_start)
        return largest

    def place_of(self, part: int) -> int:
        """The index of a part."""
        return int(np.flatnonzero(self.part == part)[0])

    def set_name(self, number: int) -> str:
        """The name of the information set with this number."""
        part = self.part[self.set_start[number]]
        return self.refinement.tree.infoset_names[int(self.refinement.infoset[part])]

    def rows_of(self, part: int) -> slice:
        """The rows of a part."""
        return slice(int(self.start[part]), int(self.start[part + 1]))


def _relative(values: Float64, top: Float64) -> Float64:
    scaled: Float64 = np.divide(values, top, out=np.zeros_like(values), where=top > 0.0)
    return scaled


def cluster(values: Float64, relative: bool = False) -> Int64:
    """Numbers in the order of values, the same for neighbours within the tolerance."""
    distinct, inverse = np.unique(values, return_inverse=True)
    scale = np.abs(distinct[1:]) if relative else 1.0
    fresh = np.diff(distinct) > TOLERANCE * scale
    numbers: Int64 = np.concatenate(([0], np.cumsum(fresh)))[inverse]
    return numbers


def intern(*columns: Int64) -> Int64:
    """A number for each row, the same for equal rows."""
    number = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        number = np.unique(number * (int(column.max(initial=0)) + 1) + column, return_inverse=True)[1].astype(np.int64)
    return number


def explain(table: Aligned, first: int, second: int, conditions: int = 4) -> Witness:
    """Which condition two parts of a set violate, with a leaf that has no partner.

    ``conditions`` says how many of (iii), (iv), (ii), (i) had to hold.  A smallest set of conditions is named without
    which the others hold: preferably those that fail on their own, then (ii), (i), (iii), (iv).  If the parts have
    different numbers of leaves, it is (iii) or (iv) if there are sequences on one side only, and ``bijection``
    otherwise.
    """
    rows, spans = table.rows, (table.rows_of(first), table.rows_of(second))
    columns = {"(iii)": rows.others, "(iv)": rows.own, "(ii)": table.chance, "(i)": table.utility}
    tests = dict(list(columns.items())[:conditions])

    def differ(kept: list[Int64]) -> bool:
        return _counts(kept, spans[0]) != _counts(kept, spans[1])

    if spans[0].stop - spans[0].start != spans[1].stop - spans[1].start:  # then all counts differ
        broken = [name for name in list(tests)[:2] if set(tests[name][spans[0]]) != set(tests[name][spans[1]])]
        shown = [tests[name] for name in broken or list(tests)[:2]]
    else:
        alone = {name for name, column in tests.items() if differ([column])}
        names = sorted(tests, key=lambda name: (name not in alone, ["(ii)", "(i)", "(iii)", "(iv)"].index(name)))
        broken = next(
            list(given_up)
            for size in range(1, len(names) + 1)
            for given_up in itertools.combinations(names, size)
            if size == len(names) or not differ([tests[name] for name in names if name not in given_up])
        )
        shown = [tests[name] for name in broken]
        if not differ(shown):  # the condition fails only where the others hold
            shown = list(tests.values())
    counts = [_counts(shown, span) for span in spans]
    unlike = [key for key in counts[0] | counts[1] if counts[0][key] != counts[1][key]]
    key = min(unlike, key=lambda key: counts[0][key] > 0 and counts[1][key] > 0)  # preferably one that is missing
    side = 0 if counts[0][key] > counts[1][key] else 1
    span = spans[side]
    row = next(row for row in range(span.start, span.stop) if tuple(int(column[row]) for column in shown) == key)
    refinement = table.refinement
    leaf = tuple(refinement.tree.history(int(rows.leaf[row])))
    condition = ",".join(sorted(broken, key=["(i)", "(ii)", "(iii)", "(iv)"].index)) or "bijection"
    return Witness(
        condition,
        refinement.tree.infoset_names[int(refinement.infoset[table.part[second]])],
        refinement.history(int(table.part[first])),
        refinement.history(int(table.part[second])),
        leaf=leaf,
        detail=f"{_MEANING.get(condition, 'the futures')} of the two parts do not match: {counts[side][key]} of the "
        f"{span.stop - span.start} leaves below the {('first', 'second')[side]} are like {'/'.join(leaf)}, "
        f"{counts[1 - side][key]} of the {spans[1 - side].stop - spans[1 - side].start} below the other",
    )


_MEANING = {
    "(i)": "the utilities",
    "(ii)": "the chances",
    "(iii)": "the other players' sequences",
    "(iv)": "the player's own sequences after the set",
}


def _counts(columns: list[Int64], rows: slice) -> Counter[tuple[int, ...]]:
    return Counter(zip(*(column[rows].tolist() for column in columns), strict=True))
