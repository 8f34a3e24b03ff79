"""Convergence plots: exploitability against iterations, histories touched or seconds, as PNG, SVG or PDF."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from counterplay.errors import CounterplayError, SolverError
from counterplay.runtime.progress import Progress
from counterplay.solvers.registry import ALGORITHMS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from counterplay.experiments.shared.comparison import Band
    from counterplay.solvers import SolveResult

Lines: TypeAlias = Mapping[str, tuple[Sequence[float], Sequence[float]]]
"""The x and y of each line by its name."""

Panel: TypeAlias = tuple[str, Lines]
"""The label of the x axis, and the lines."""

EXPLOITABILITY = "exploitability (chips per game)"
INSIDE = 5
"""Lines whose names have room among them; the names of more are below."""

Axis = Literal["iterations", "seconds", "cpu_seconds", "nodes"]
LABELS = {
    "iterations": "iterations", "seconds": "seconds", "cpu_seconds": "CPU seconds", "nodes": "histories touched",
}  # fmt: skip


def plot_curves(
    path: Path, curves: Mapping[str, Sequence[Progress]], title: str, axes: Sequence[Axis] = ("iterations",),
    target: float | None = None,
) -> None:  # fmt: skip
    """Draw exploitability for each named curve, one panel for each of ``axes``, on logarithmic scales, and save it."""
    save_figure(_drawn(_panels(curves, axes), title, EXPLOITABILITY, target), path)


def plot_run(result: SolveResult, path: str | os.PathLike[str] | None = None, target: float | None = None) -> Figure:
    """Draw the convergence of a run; that of a sampling algorithm against nodes and seconds as well.

    Parameters
    ----------
    result : SolveResult
        The run; ``result.plot()`` calls this.
    path : path, optional
        A file for the picture: .png, .svg or .pdf.
    target : float, optional
        An exploitability to mark by a dashed line.

    Returns
    -------
    Figure
        A matplotlib figure, which notebooks show.

    Raises
    ------
    SolverError
        If exploitability was not measured during the run.
    """
    if not result.is_measured and all(math.isnan(point.exploitability) for point in result.curve):
        raise SolverError(f"there is no curve to plot: this run of {result.algorithm} measured no exploitability")
    known = ALGORITHMS.get(result.algorithm)
    axes: tuple[Axis, ...] = ("iterations", "nodes", "seconds") if known and known.sampled else ("iterations",)
    title = f"{result.facts.title or result.game}: {result.algorithm}"
    figure = _drawn(_panels({result.algorithm: result.curve}, axes), title, EXPLOITABILITY, target)
    if path is not None:
        save_figure(figure, path)
    return figure


def plot_lines(
    path: Path, lines: Mapping[str, tuple[Sequence[float], Sequence[float]]], title: str, xlabel: str, ylabel: str,
    target: float | None = None,
) -> None:  # fmt: skip
    """Draw lines, each an (x, y), and save them; scales are logarithmic unless some y is negative."""
    save_figure(_drawn([(xlabel, lines)], title, ylabel, target), path)


def plot_bands(
    path: Path, panels: Sequence[tuple[Axis, Mapping[str, Band]]], title: str,
    reference: tuple[str, float] | None = None,
) -> None:  # fmt: skip
    """Draw mean exploitability with its 95 % interval, one panel for each axis, and a dashed line for reference."""
    lines = [(LABELS[axis], {name: (band.x, band.mean) for name, band in bands.items()}) for axis, bands in panels]
    shades = [{name: (band.low, band.high) for name, band in bands.items()} for _, bands in panels]
    value = None if reference is None else reference[1]
    save_figure(_drawn(lines, title, EXPLOITABILITY, value, shades, reference and reference[0]), path)


def _panels(curves: Mapping[str, Sequence[Progress]], axes: Sequence[Axis]) -> list[Panel]:
    return [(LABELS[axis], {name: _points(curve, axis) for name, curve in curves.items()}) for axis in axes]


def _points(curve: Sequence[Progress], axis: Axis) -> tuple[list[float], list[float]]:
    return [getattr(point, axis) for point in curve], [point.exploitability for point in curve]


def _drawn(
    panels: Sequence[Panel], title: str, ylabel: str, target: float | None, shades: Sequence[Lines] = (),
    dashed: str | None = None,
) -> Figure:  # fmt: skip
    """A figure of panels side by side, each with the label of its x axis and its lines."""
    from counterplay.plots.picture import Picture

    size = (7, 4.5) if len(panels) == 1 else (4.2 * len(panels), 4.2)
    figure = Picture(figsize=size, layout="constrained")
    grid = figure.subplots(1, len(panels), sharey=True, squeeze=False)
    for place, (axes, (xlabel, lines)) in enumerate(zip(grid[0], panels, strict=True)):
        signed = any(y < 0 for _, ys in lines.values() for y in ys)
        drawn = 0
        for name, (xs, ys) in lines.items():
            points = [(x, y) for x, y in zip(xs, ys, strict=True) if x > 0 and (y > 0 or signed)]
            drawn += len(points)
            (line,) = axes.plot([x for x, _ in points], [y for _, y in points], label=name, linewidth=1.8)
            if shades:
                low, high = shades[place][name]
                floor = [max(bound, y / 10) for bound, y in zip(low, ys, strict=True)]  # logarithms have no 0
                axes.fill_between(xs, floor, high, color=line.get_color(), alpha=0.2, linewidth=0)
        if target is not None:
            axes.axhline(target, color="0.6", linewidth=1, linestyle="--", label=dashed or f"target {target:g}")
        scale = "log" if drawn else "linear"  # a run that starts at an equilibrium has nothing to draw
        axes.set(xscale=scale, yscale="linear" if signed else scale, xlabel=xlabel)
        axes.grid(True, which="major", color="0.9")
        axes.spines[["top", "right"]].set_visible(False)
    grid[0][0].set(ylabel=ylabel)
    handles, names = grid[0][-1].get_legend_handles_labels()
    if shades or len(names) > INSIDE:
        figure.legend(handles, names, frameon=False, loc="outside lower center", ncols=2 if len(names) > 4 else 4)
    elif len(names) > 1 or not title.endswith(names[0]):  # else the title names the line
        grid[0][-1].legend(frameon=False)
    if len(panels) == 1:
        grid[0][0].set(title=title)
    else:
        figure.suptitle(title)
    return figure


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a picture to a file."""
    try:
        figure.savefig(path, dpi=150)
    except (OSError, ValueError) as error:
        raise CounterplayError(f"cannot write the plot {path}: {error}") from None
