"""Restricted Nash responses to an opponent who was observed, and the three ways in which they fail.

Johanson 2016, figure 6.1, in five-bucket limit hold'em, exactly inside the bucket game:

a. from a million hands against Probe: what is won from the model rises with p, what is won from Orange itself falls
   again: the response fits the model too closely;
b. from fewer hands: below 100,000, a larger p is more exploitable *and* wins less than the equilibrium;
c. from a million hands of self-play: of no use, because the default policy stands wherever Orange never came.

The source prints curves without numbers, but for the exploitability of Orange; its statements are printed as lines,
true or not.  ``experiments/shared/observed_opponent.py`` has the setting.

Departure: figures b and c have fewer values of p than figure a.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from counterplay.experiments.shared.experiment import Experiment
from counterplay.experiments.shared.observed_opponent import (
    COLUMNS,
    EQUILIBRIUM,
    FIGURES,
    PUBLISHED_EXPLOITABILITY,
    SMALL,
    Asked,
    Point,
    Setting,
    along,
    check_figures,
    point_curves,
    point_rows,
    read_values,
    solve_points,
    yes,
)

HANDS = (1_000_000, 100_000, 10_000, 1_000, 100)
"""Of figures a and b."""

FEWER = (0.9, 0.99, 1.0)
"""The values of p of figures b and c, which are about large ones."""

SOME = (0.5, *FEWER)
"""Those with as many hands as are found to be enough."""

ENOUGH_HANDS = 100_000
"""From which on the source finds the responses useful."""


def run(
    quick: bool = False, figures: tuple[str, ...] = FIGURES, grid: tuple[str, ...] | None = None,
    folder: str | None = None, workers: int = 1, threads: int = 1,
) -> Experiment:  # fmt: skip
    """Solve restricted Nash responses to models of Orange.

    Parameters
    ----------
    quick : bool
        Two rounds, 18 cards, three buckets, and at most 10,000 hands.
    figures : tuple of str
        Some of a, b and c.
    grid : tuple of str, optional
        The values of p, in all figures.
    folder : str, optional
        Where everything is kept as it is finished; the same command continues.
    workers : int
        Responses that are solved at a time.
    threads : int
        For the features of hands and the bucket pairs.
    """
    check_figures(figures)
    setting = SMALL if quick else Setting()
    hands = HANDS[2:] if quick else HANDS
    asked = wanted(figures, hands, read_values(grid), read_values(grid, SOME), read_values(grid, FEWER))
    opponent, points = solve_points("restricted", setting, asked, folder, workers, threads)
    lost = opponent.exploitability
    return Experiment(
        title="Restricted Nash responses to Orange, mbb/g inside the bucket game",
        source="Johanson 2016, figure 6.1",
        columns=COLUMNS,
        rows=tuple(point_rows(points)),
        notes=(
            f"The game is {setting.game} in the buckets {setting.cards}.",
            f"Orange is exploitable for {lost:.1f} mbb/g inside the bucket game, published: "
            f"{PUBLISHED_EXPLOITABILITY:g}, in other buckets; nobody wins more from it.",
            *verdicts(points, hands),
        ),
        curves=point_curves(points),
        xlabel="exploitability, mbb/g",
    )


def wanted(
    figures: Sequence[str], hands: Sequence[int], grid: Sequence[float], some: Sequence[float], fewer: Sequence[float]
) -> list[Asked]:
    """The responses of some of the figures: the equilibrium, then curve by curve."""
    curves = [("probe", hands[0], grid)] if "a" in figures else []
    curves += [("probe", one, some if one >= ENOUGH_HANDS else fewer) for one in hands[1:]] if "b" in figures else []
    curves += [("self", hands[0], fewer)] if "c" in figures else []
    return [
        EQUILIBRIUM, *(Asked("rnr", "", source, seen, p) for source, seen, values in curves for p in values if p > 0.0)
    ]  # fmt: skip


def verdicts(points: dict[Asked, Point], hands: Sequence[int]) -> Iterator[str]:
    """What the source says of the curves, and whether it is so here."""
    if EQUILIBRIUM not in points:
        return
    base = points[EQUILIBRIUM].true
    yield f"An equilibrium wins {base:.2f} from Orange."
    for source, seen in (*(("probe", one) for one in hands), ("self", hands[0])):
        curve = along(points, "rnr", source, seen)
        if not curve:
            continue
        best, at = max((point.true, p) for p, point in curve)
        last, point = curve[-1]
        data = f"{seen:,} hands against {source}"
        won = f"most is won from Orange with p = {at:g}: {best:.2f}; with p = {last:g} it is {point.true:.2f}"
        if (source, seen) == ("probe", hands[0]):
            yield f"a. {data}: {won}. Larger p fit the model too closely: {yes(at < last)}."
        elif source == "probe":
            worse = point.true < base
            claim = "is not useless" if seen >= ENOUGH_HANDS else "is worse than the equilibrium"
            truth = best > base if seen >= ENOUGH_HANDS else worse
            yield f"b. {data}: {won}. {'Some p' if seen >= ENOUGH_HANDS else 'Large p'} {claim}: {yes(truth)}."
        else:
            reached = [other.true for _, other in along(points, "rnr", "probe", hands[0])]
            gain = (max(reached) - base) if reached else float("nan")
            yield (
                f"c. {data}: {won}. It gains {best - base:.2f} where hands against Probe gain {gain:.2f}. "
                f"Nearly useless (less than a fifth): {yes(best - base < gain / 5)}."
            )
