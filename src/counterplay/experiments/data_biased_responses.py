"""Data biased responses to an opponent who was observed.

Johanson 2016, figure 6.2, in five-bucket limit hold'em, exactly inside the bucket game:

a. by confidence function, from a million hands against Probe: ``1-step`` fits the model too closely, ``10-step``,
   ``linear`` (0-10 Linear) and ``curve`` (1-Curve) do not, even with Pmax = 1;
b. ``linear`` by number of hands: useful with any, and with few hands only a little more exploitable for Pmax < 1;
c. ``linear`` from self-play: useful too.

The source prints curves without numbers; its statements are printed as lines, true or not.
``experiments/shared/observed_opponent.py`` has the setting.

Departure: fewer values of Pmax than in the source, unless ``grid`` names them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from counterplay.experiments.restricted_responses import FEWER, HANDS, SOME
from counterplay.experiments.shared.experiment import Experiment
from counterplay.experiments.shared.observed_opponent import (
    COLUMNS,
    EQUILIBRIUM,
    FIGURES,
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
from counterplay.modelling.confidence import CONFIDENCES

CAREFUL = ("10-step", "linear", "curve")
"""Confidence functions that the source finds never to be worse than the equilibrium."""

LITTLE = 1_000
"""Hands with which the source finds responses only a little more exploitable."""


def run(
    quick: bool = False, figures: tuple[str, ...] = FIGURES, grid: tuple[str, ...] | None = None,
    folder: str | None = None, workers: int = 1, threads: int = 1,
) -> Experiment:  # fmt: skip
    """Solve data biased responses to models of Orange.

    Parameters
    ----------
    quick : bool
        Two rounds, 18 cards, three buckets, and at most 10,000 hands.
    figures : tuple of str
        Some of a, b and c.
    grid : tuple of str, optional
        The values of Pmax.
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
    asked = wanted(figures, hands, read_values(grid, SOME), read_values(grid, FEWER))
    _, points = solve_points("data-biased", setting, asked, folder, workers, threads)
    return Experiment(
        title="Data biased responses to Orange, mbb/g inside the bucket game",
        source="Johanson 2016, figure 6.2",
        columns=COLUMNS,
        rows=tuple(point_rows(points)),
        notes=(f"The game is {setting.game} in the buckets {setting.cards}.", *verdicts(points, hands)),
        curves=point_curves(points),
        xlabel="exploitability, mbb/g",
    )


def wanted(figures: Sequence[str], hands: Sequence[int], grid: Sequence[float], fewer: Sequence[float]) -> list[Asked]:
    """The responses of some of the figures: the equilibrium, then curve by curve; none twice."""
    curves = [(kind, "probe", hands[0], grid) for kind in CONFIDENCES] if "a" in figures else []
    curves += [("linear", "probe", one, fewer) for one in hands] if "b" in figures else []
    curves += [("linear", "self", hands[0], fewer)] if "c" in figures else []
    found = [Asked("dbr", kind, source, seen, p) for kind, source, seen, some in curves for p in some if p > 0.0]
    return [EQUILIBRIUM, *dict.fromkeys(found)]


def verdicts(points: dict[Asked, Point], hands: Sequence[int]) -> Iterator[str]:
    """What the source says of the curves, and whether it is so here."""
    if EQUILIBRIUM not in points:
        return
    base = points[EQUILIBRIUM]
    yield f"An equilibrium wins {base.true:.2f} from Orange, and is exploitable for {base.exploitability:.2f}."
    for kind in CONFIDENCES:
        curve = along(points, f"dbr {kind}", "probe", hands[0])
        if not curve:
            continue
        best, at = max((point.true, p) for p, point in curve)
        last, point = curve[-1]
        won = f"a. {kind}: most is won with Pmax = {at:g}: {best:.2f}; with {last:g} it is {point.true:.2f}."
        yield f"{won} Fits the model too closely: {yes(at < last)}, published: {yes(kind == '1-step')}."
    yield from _never_worse(points, base)
    for seen in hands:
        few = [point for p, point in along(points, "dbr linear", "probe", seen) if p < 1.0] if seen <= LITTLE else []
        if few:
            more = max(point.exploitability for point in few) - base.exploitability
            yield f"b. linear, {seen:,} hands, Pmax < 1: at most {more:.2f} more exploitable than the equilibrium."
    played = along(points, "dbr linear", "self", hands[0])
    if played:
        gain = max(point.true for _, point in played) - base.true
        yield f"c. linear from self-play gains {gain:.2f} over the equilibrium. Useful: {yes(gain > 0.0)}."


def _never_worse(points: dict[Asked, Point], base: Point) -> Iterator[str]:
    for kind in CAREFUL:
        gains = [(at.true - base.true, at.gap, one) for one, at in points.items() if one.label == f"dbr {kind}"]
        if gains:
            least, _, one = min(gains)
            where = f"{one.hands:,} hands against {one.source}, Pmax = {one.p:g}"
            yield (
                f"{kind} is never worse than the equilibrium against Orange, up to the gaps of both: "
                f"{yes(all(gain >= -(gap + base.gap) for gain, gap, _ in gains))}; "
                f"the least gain is {least:.2f} ({where})."
            )
