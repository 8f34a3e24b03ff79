"""Chance-relaxed skew well-formed games (Čermák 2018, definition 2.2.5, after Kroer and Sandholm 2016).

Only the sequences of the bijection α have to match, conditions (iii) and (iv) of well-formed games.  The other
differences are measured at each leaf z of the first of two parts I', I'', with chance probability C:

    ε^R(z) = |u_i(z) - k u_i(α(z))|,    ε^C(z) = |C(z[I'], z) - C(α(z)[I''], α(z))|,
    ε^D(z) = |C(z[I']) / C(I') - C(α(z)[I'']) / C(I'')|.

The source leaves α and k open, and the three errors may have different minimisers.  Here k minimises the largest ε^R
over all α, and α, for that k, minimises the largest ε^R + W (ε^C + ε^D), where W is the largest absolute utility below
the set, so that all three are in chips.  Leaves with the same sequences form a group, and α is a bottleneck assignment
in each.  Sorting nearly always finds it; where a lower bound shows that it may not have, the assignment is solved,
unless the group is larger than ``LARGEST_GROUP`` or there are too many pairs: then the errors are those of the sorted
matching, and ``exact`` is False.
"""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from counterplay.tree.recall.leaf_matching import TOLERANCE, Aligned, Comparison, cluster, explain
from counterplay.tree.recall.recall_class import Verdict
from counterplay.tree.recall.well_formed import WORK, best_scale

LARGEST_GROUP = 200

Int64: TypeAlias = NDArray[np.int64]
Float64: TypeAlias = NDArray[np.float64]


@dataclasses.dataclass(frozen=True)
class ErrorTerms:
    """The largest errors of the leaves of a pair of parts, of a set, or of all; ``combined`` is what α minimises."""

    reward: float = 0.0
    chance: float = 0.0
    distribution: float = 0.0
    combined: float = 0.0
    k: float = 1.0
    exact: bool = True

    def worst(self, other: ErrorTerms) -> ErrorTerms:
        """The larger of each; k is then meaningless and 1."""
        return ErrorTerms(
            max(self.reward, other.reward), max(self.chance, other.chance),
            max(self.distribution, other.distribution), max(self.combined, other.combined),
            exact=self.exact and other.exact,
        )  # fmt: skip


@dataclasses.dataclass(frozen=True)
class ChanceRelaxedVerdict(Verdict):
    """Whether a player's sets are chance-relaxed skew well-formed, and the errors ε^R, ε^C, ε^D.

    ``errors_by_infoset`` has the sets whose errors are not all 0.
    """

    errors: ErrorTerms | None = None
    errors_by_infoset: dict[str, ErrorTerms] = dataclasses.field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The verdict for JSON."""
        shown = super().to_dict()
        if self.errors is not None:
            names = ("reward", "chance", "distribution", "exact")
            shown["errors"] = {name: getattr(self.errors, name) for name in names}
        return shown


def chance_relaxed(comparison: Comparison, work: float = WORK) -> ChanceRelaxedVerdict:
    """Check the definition for one player and find the errors.

    ``work`` is roughly how many numbers to examine; the remaining pairs of sets are matched by sorting, with k = 1,
    and the errors are not ``exact``.
    """
    total, left = ErrorTerms(), work
    by_infoset = {}
    for table in comparison.tables():
        bad = np.flatnonzero(~table.signature_ok)
        if len(bad):
            return ChanceRelaxedVerdict(False, explain(table, int(table.leader[bad[0]]), int(bad[0]), 2))
        for number in _uneven_sets(table):
            leaves = [_Leaves.of(table, part) for part in table.parts_of(number)]
            different = list({one.key(): one for one in leaves}.values())
            cost = 30.0 * len(different) * (len(different) - 1) * (200 + len(leaves[0].utility))
            if cost <= left:
                left -= cost
                errors = ErrorTerms()
                for one, other in itertools.permutations(different, 2):
                    errors = errors.worst(_errors(one, other))
            else:
                errors = _sorted_errors(different)
            total = total.worst(errors)
            by_infoset[table.set_name(number)] = errors
    return ChanceRelaxedVerdict(True, errors=total, errors_by_infoset=by_infoset)


def pair_errors(comparison: Comparison, first: int, second: int) -> ErrorTerms | None:
    """The errors of an ordered pair of parts of one set; None if their sequences do not match."""
    table = comparison.table_of(first, second)
    if not table.signature_ok.all():
        return None
    return _errors(_Leaves.of(table, table.place_of(first)), _Leaves.of(table, table.place_of(second)))


def _uneven_sets(table: Aligned) -> list[int]:
    """The sets whose parts are not identical, leaf by leaf."""
    rows = table.rows
    which = np.repeat(np.arange(len(table.part)), np.diff(table.start))
    top = max(float(np.abs(rows.utility).max(initial=0.0)), 1e-300)
    share = rows.before / np.where(table.refinement.chance[rows.part] > 0.0, table.refinement.chance[rows.part], 1.0)
    columns = [cluster(rows.after), cluster(share), cluster(rows.utility / top)]
    order = np.lexsort((*columns[::-1], table.signature, which))
    partner = np.arange(len(rows)) + (table.start[table.leader] - table.start[:-1])[which]
    same = np.ones(len(rows), bool)
    for column in columns:
        same &= column[order] == column[order][partner]
    fine = np.logical_and.reduceat(same, table.start[:-1])
    uneven: list[int] = np.flatnonzero(~np.logical_and.reduceat(fine, table.set_start)).tolist()
    return uneven


@dataclasses.dataclass(frozen=True, eq=False)
class _Leaves:
    """The leaves below one part, by signature: what they pay, and chance before (as a share) and after the part."""

    starts: Int64  # groups of equal signatures
    utility: Float64
    share: Float64
    after: Float64

    @classmethod
    def of(cls, table: Aligned, part: int) -> _Leaves:
        span = table.rows_of(part)
        signature = table.signature[span]
        total = float(table.refinement.chance[table.part[part]])
        share = table.rows.before[span] / (total if total > 0.0 else 1.0)
        utility, after = table.rows.utility[span], table.rows.after[span]
        order = np.lexsort((utility, share, after, signature))
        starts = np.flatnonzero(np.diff(signature[order], prepend=-1))
        return cls(starts, utility[order], share[order], after[order])

    def key(self) -> bytes:
        """The same for parts that are the same leaf by leaf; others may differ by rounding only, which costs time."""
        return self.utility.tobytes() + self.share.tobytes() + self.after.tobytes()


def _sorted_errors(leaves: list[_Leaves]) -> ErrorTerms:
    """Errors of all pairs at once, with k = 1, when leaves are matched in their sorted order."""
    reward, chance, distribution = (
        np.ptp(np.array([getattr(one, name) for one in leaves]), axis=0) for name in ("utility", "after", "share")
    )
    weight = max(float(np.abs(one.utility).max()) for one in leaves)
    combined = reward + weight * (chance + distribution)
    return ErrorTerms(
        float(reward.max()), float(chance.max()), float(distribution.max()), float(combined.max()), exact=False
    )


def _errors(one: _Leaves, other: _Leaves) -> ErrorTerms:
    """The errors of a pair: k from sorted utilities, then α by sorting, then by assignment where that may be better."""
    group = np.repeat(np.arange(len(one.starts)), np.diff(np.append(one.starts, len(one.utility))))
    by_pay = np.lexsort((one.utility, group)), np.lexsort((other.utility, group))
    k, _ = best_scale(one.utility[by_pay[0]], other.utility[by_pay[1]])
    weight = max(float(np.abs(one.utility).max()), float(np.abs(other.utility).max()))

    def cost(left: Int64, right: Int64) -> Float64:
        total: Float64 = np.abs(one.utility[left] - k * other.utility[right]) + weight * (
            np.abs(one.after[left] - other.after[right]) + np.abs(one.share[left] - other.share[right])
        )
        return total

    here = np.arange(len(group))
    partner = here.copy()  # by chance after the set, then before it, then by utility
    along_pay = np.empty_like(here)
    along_pay[by_pay[0]] = by_pay[1]
    tops = [np.maximum.reduceat(cost(here, way), one.starts) for way in (partner, along_pay)]
    partner = np.where((tops[1] < tops[0])[group], along_pay, partner)
    top = np.minimum(*tops)
    bound = float(np.maximum.reduceat(np.abs(one.utility[by_pay[0]] - k * other.utility[by_pay[1]]), one.starts).max())
    for name in ("after", "share"):
        left, right = (np.lexsort((getattr(side, name), group)) for side in (one, other))
        bound = max(bound, weight * float(np.abs(getattr(one, name)[left] - getattr(other, name)[right]).max()))
    exact = True
    slack = TOLERANCE * max(weight, 1e-300)
    for number in np.argsort(-top, kind="stable").tolist():
        if top[number] <= bound + slack:
            break
        members = np.flatnonzero(group == number)
        if len(members) > LARGEST_GROUP:
            exact = False
            continue
        costs = cost(*np.meshgrid(members, members, indexing="ij"))
        chosen = bottleneck(costs)
        partner[members] = members[chosen]
        bound = max(bound, float(costs[np.arange(len(members)), chosen].max()))
    return ErrorTerms(
        float(np.abs(one.utility - k * other.utility[partner]).max()),
        float(np.abs(one.after - other.after[partner]).max()),
        float(np.abs(one.share - other.share[partner]).max()),
        float(cost(here, partner).max()), k, exact,
    )  # fmt: skip


def bottleneck(cost: Float64) -> Int64:
    """The assignment of columns to rows of a square matrix whose largest cost is smallest."""
    values = np.unique(cost)
    low = int(np.searchsorted(values, max(cost.min(axis=1).max(), cost.min(axis=0).max())))
    high = len(values) - 1
    best = _matching(cost <= values[high])
    while low < high:
        middle = (low + high) // 2
        found = _matching(cost <= values[middle])
        if found is None:
            low = middle + 1
        else:
            best, high = found, middle
    if best is None:
        raise ValueError(f"costs must be numbers; got {cost}")
    return best


def _matching(allowed: NDArray[np.bool_]) -> Int64 | None:
    """A perfect matching of rows with columns, by augmenting paths; None if there is none."""
    size = len(allowed)
    neighbours = [np.flatnonzero(row).tolist() for row in allowed]
    row_of = [-1] * size
    for row in range(size):
        came_from: dict[int, int] = {}  # column -> row it was reached from
        column_of = {owner: column for column, owner in enumerate(row_of)}  # row -> its column now
        queue, end = [row], -1
        while queue and end < 0:
            current = queue.pop()
            for column in neighbours[current]:
                if column not in came_from:
                    came_from[column] = current
                    if row_of[column] < 0:
                        end = column
                        break
                    queue.append(row_of[column])
        if end < 0:
            return None
        while end >= 0:
            current = came_from[end]
            following = column_of.get(current, -1)
            row_of[end] = current
            end = following
    matched = np.empty(size, np.int64)
    matched[row_of] = np.arange(size)
    return matched
