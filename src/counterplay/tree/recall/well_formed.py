"""Well-formed and skew well-formed games (Lanctot et al. 2012, definitions 2 and 3; Gibson 2014, 6.1 and 6.2).

Two parts of an information set of player i match when a bijection φ of the leaves below them has, for all leaves z,

    (i) u_i(z) = k u_i(φ(z)),  (ii) π_c(z) = l π_c(φ(z)),  (iii) X_{-i}(z) = X_{-i}(φ(z)),
    (iv) X_i(z[first], z) = X_i(φ(z)[second], φ(z)),

with constants k, l >= 0 of the pair.  Conditions (iii) and (iv) determine which leaves may be matched, so leaves are
sorted by them, by chance and by utility, and compared row by row.  Chance and utility are taken relative to the largest
of their part: then k and l are 1, and a set matches if each of its parts matches the first one.  Both orders of a pair
have to hold, so all utilities of a part may be 0 only if all of the other's are; k is then 1.

In a skew well-formed game (i) is |u_i(z) - k u_i(φ(z))| <= δ.  For any k >= 0 the largest error is smallest when leaves
that may be matched are matched in the order of their utilities, so φ does not depend on k, and δ is the minimum of a
convex piecewise linear function of k, found at one of its corners.

The tolerance is that of ``tree.recall.leaf_matching``.
"""

from __future__ import annotations

import dataclasses
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError
from counterplay.tree.recall.leaf_matching import TOLERANCE, Aligned, Comparison, explain
from counterplay.tree.recall.recall_class import Verdict

WORK = 3e8
"""How many numbers are examined for the smallest δ before bounds are used instead; some seconds."""

Float64: TypeAlias = NDArray[np.float64]
_Number = TypeVar("_Number", np.float64, np.int64)


@dataclasses.dataclass(frozen=True)
class WellFormedVerdict(Verdict):
    """Whether a player's sets are well-formed, or nearly so."""

    # the constant of theorems 1 and 3: the sum over the player's information sets of the largest k·l of two parts
    K: float | None = None
    largest: float | None = None  # the largest k·l of all

    def to_dict(self) -> dict[str, Any]:
        """The verdict for JSON."""
        return {**super().to_dict(), **({"K": self.K, "largest_kl": self.largest} if self.holds else {})}


@dataclasses.dataclass(frozen=True)
class SkewVerdict(Verdict):
    """Whether a player's sets are skew well-formed, and their skew."""

    delta: float | None = None  # the largest of the smallest δ of two parts
    # the sum over information sets of (number of parts) · δ_I, the part of theorem 2 that does not vanish
    error: float | None = None
    # the sum over information sets of the largest k·l, as in theorem 2, with the k that make δ smallest
    K: float | None = None
    # δ_I = max δ·l of the sets where it is not 0
    delta_by_infoset: dict[str, float] = dataclasses.field(default_factory=dict)
    exact: bool = True  # whether these are the smallest; otherwise they are upper bounds

    def to_dict(self) -> dict[str, Any]:
        """The verdict for JSON."""
        constants = {"delta": self.delta, "error": self.error, "K": self.K, "exact": self.exact}
        return {**super().to_dict(), **(constants if self.holds else {})}


@dataclasses.dataclass(frozen=True)
class PairConstants:
    """The constants of an ordered pair of parts; the parts are shown by their first histories."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    k: float
    l: float  # noqa: E741 - the name in the papers
    delta: float


def well_formed(comparison: Comparison) -> WellFormedVerdict:
    """Check definition 2 for one player, with a witness or the constants of theorem 1."""
    largest, total = 1.0, float(comparison.num_infosets)
    for table in comparison.tables():
        bad = np.flatnonzero(~table.utility_ok)
        if len(bad):
            return WellFormedVerdict(False, explain(table, int(table.leader[bad[0]]), int(bad[0])))
        ratio = table.largest_factors()
        largest = max(largest, float(ratio.max()))
        total += float((ratio - 1.0).sum())
    return WellFormedVerdict(True, K=total, largest=largest)


def skew_well_formed(comparison: Comparison, k: float | None = None, work: float = WORK) -> SkewVerdict:
    """Check definition 3 for one player and find the smallest δ.

    ``k`` is used for every pair (1 in the examples of the papers); by default the best one of each.  ``work`` is
    roughly how many numbers to examine for the best k of all pairs: the remaining sets get upper bounds with k = 1, and
    the verdict is not ``exact``.
    """
    if k is not None and not k >= 0.0:
        raise GameError(f"the factor k of utilities must be at least 0; got {k}")
    worst, error, total = 0.0, 0.0, float(comparison.num_infosets)
    by_infoset = {}
    left, exact = work, True
    for table in comparison.tables():
        bad = np.flatnonzero(~table.chance_ok)
        if len(bad):
            return SkewVerdict(False, explain(table, int(table.leader[bad[0]]), int(bad[0]), 3))
        straight = np.logical_and.reduceat(table.utility_ok, table.set_start) & (k is None)
        total += float((table.largest_factors()[straight] - 1.0).sum())
        for number in np.flatnonzero(~straight).tolist():
            cost = _work(table, number)
            if cost <= left:
                left -= cost
                parts, delta, weighted, factor = _skew_of_set(table, number, k).largest()
            else:
                exact = False
                parts, delta, weighted, factor = _bound_of_set(table, number, 1.0 if k is None else k)
            worst = max(worst, delta)
            total += factor - 1.0
            error += parts * weighted
            if weighted > 0.0:
                by_infoset[table.set_name(number)] = weighted
    return SkewVerdict(True, delta=worst, error=error, K=total, delta_by_infoset=by_infoset, exact=exact)


def pair_constants(comparison: Comparison, infoset: int, k: float | None = None) -> list[PairConstants] | None:
    """k, l and the smallest δ of every ordered pair of parts of a set; None if conditions (ii) to (iv) do not hold."""
    parts = comparison.parts_of(infoset)
    if len(parts) < 2:
        return []
    table = comparison.table_of(*parts)
    if not table.chance_ok.all():
        return None
    skew = _skew_of_set(table, 0, k)
    shown = [comparison.refinement.history(part) for part in skew.parts]
    return [
        PairConstants(shown[a], shown[b], float(skew.k[a, b]), float(skew.l[a, b]), float(skew.delta[a, b]))
        for a in range(len(shown))
        for b in range(len(shown))
        if a != b
    ]


@dataclasses.dataclass(frozen=True, eq=False)
class _Skew:
    """The constants of all ordered pairs of parts of one set, as (m, m) tables; the diagonal is k = l = 1, δ = 0."""

    parts: list[int]
    k: Float64
    l: Float64  # noqa: E741 - the name in the papers
    delta: Float64

    def largest(self) -> tuple[int, float, float, float]:
        """The number of parts and the largest δ, δ·l and k·l."""
        delta, weighted, factor = self.delta, self.delta * self.l, self.k * self.l
        return len(self.parts), float(delta.max()), float(weighted.max()), float(factor.max())


def _skew_of_set(table: Aligned, number: int, k: float | None) -> _Skew:
    """Constants of the pairs of one set whose chances match.

    Parts with the same relative utilities form a class; only one pair of each two classes is optimised, because
    scaling a part scales δ and k.
    """
    parts = table.parts_of(number)
    chance = np.where(table.top_chance[parts] > 0.0, table.top_chance[parts], 1.0)
    ell = chance[:, None] / chance[None, :]
    scale = np.where(table.top_utility[parts] > 0.0, table.top_utility[parts], 1.0)
    utilities = _by_part(table, parts, table.rows.utility)
    if k is not None:
        delta = np.array([np.abs(utilities - k * other).max(axis=1) for other in utilities]).T
        np.fill_diagonal(delta, 0.0)
        delta[delta <= TOLERANCE * scale[:, None]] = 0.0
        factor = np.full_like(ell, k)
        np.fill_diagonal(factor, 1.0)
        return _Skew(table.part[parts].tolist(), factor, ell, delta)
    _, example, kind = np.unique(_by_part(table, parts, table.utility), axis=0, return_index=True, return_inverse=True)
    kind = kind.reshape(-1)
    best = np.ones((len(example), len(example)))
    least = np.zeros((len(example), len(example)))
    for a, first in enumerate(example.tolist()):
        for b, second in enumerate(example.tolist()):
            if a != b:
                best[a, b], least[a, b] = best_scale(utilities[first], utilities[second])
    size = scale / scale[example[kind]]  # of a part relative to the example of its class
    factor = best[kind[:, None], kind[None, :]] * (size[:, None] / size[None, :])
    delta = least[kind[:, None], kind[None, :]] * size[:, None]
    return _Skew(table.part[parts].tolist(), factor, ell, delta)


def _work(table: Aligned, number: int) -> float:
    """Roughly how many numbers the best scales of a set examine."""
    parts = table.parts_of(number)
    classes = len(np.unique(_by_part(table, parts, table.utility), axis=0))
    leaves = int(table.start[parts.start + 1] - table.start[parts.start])
    return 8.0 * classes * (classes - 1) * (200 + leaves)


def _bound_of_set(table: Aligned, number: int, k: float) -> tuple[int, float, float, float]:
    """The number of parts and upper bounds on δ, δ·l and k·l of a set, with the same k for all its pairs."""
    parts = table.parts_of(number)
    utilities = _by_part(table, parts, table.rows.utility)
    most, least = utilities.max(axis=0), utilities.min(axis=0)
    delta = float(np.maximum(most - k * least, k * most - least).max())
    chance = np.where(table.top_chance[parts] > 0.0, table.top_chance[parts], 1.0)
    ell = float(chance.max() / chance.min())
    return len(parts), delta, delta * ell, max(k * ell, 1.0)


def _by_part(table: Aligned, parts: range, column: NDArray[_Number]) -> NDArray[_Number]:
    """A column of the rows of parts that all have the same number of leaves, part by part."""
    return column[int(table.start[parts.start]) : int(table.start[parts.stop])].reshape(len(parts), -1)


def best_scale(first: Float64, second: Float64) -> tuple[float, float]:
    """The k >= 0 with the least max |first - k second|, and that least value; k = 1 where it is as good as any.

    The function of k is the upper envelope of 2n lines.  From a falling and a rising line the next k is where they
    cross; each step finds a new line of the envelope, so the search ends at the corner itself.
    """
    top_first, top_second = float(np.abs(first).max()), float(np.abs(second).max())
    if top_first == 0.0 or top_second == 0.0:
        return (1.0, top_first) if top_second == 0.0 else (0.0, 0.0)

    def line_at(k: float) -> tuple[float, float, float]:
        """The value at k, and intercept and slope of a line of the envelope there."""
        gap = first - k * second
        worst = int(np.abs(gap).argmax())
        sign = 1.0 if gap[worst] > 0.0 else -1.0
        return float(abs(gap[worst])), sign * float(first[worst]), -sign * float(second[worst])

    value, falling, falling_slope = line_at(0.0)
    k = 0.0
    if falling_slope < 0.0:
        _, rising, rising_slope = line_at(2.0 * top_first / top_second)
        for _ in range(4 * len(first) + 4):
            if rising_slope <= falling_slope:
                break
            k = (falling - rising) / (rising_slope - falling_slope)
            value, intercept, slope = line_at(k)
            if value <= falling + k * falling_slope + 1e-13 * top_first:
                break
            if slope < 0.0:
                falling, falling_slope = intercept, slope
            else:
                rising, rising_slope = intercept, slope
    at_one = line_at(1.0)[0]
    return (1.0, at_one) if at_one <= value + 1e-12 * top_first else (k, value)
