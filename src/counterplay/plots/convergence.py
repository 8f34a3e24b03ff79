"""Convergence plots: exploitability against iterations, histories touched or seconds, as PNG, SVG or PDF."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from counterplay.errors import CounterplayError
from counterplay.runtime.progress import Progress

if TYPE_CHECKING:
    from counterplay.experiments.shared.comparison import Band

Axis = Literal["iterations", "seconds", "cpu_seconds", "nodes"]
LABELS = {
    "iterations": "iterations", "seconds": "seconds", "cpu_seconds": "CPU seconds", "nodes": "histories touched",
}  # fmt: skip


def plot_curves(
    path: Path, curves: Mapping[str, Sequence[Progress]], title: str, axes: Sequence[Axis] = ("iterations",),
    target: float | None = None,
) -> None:  # fmt: skip
    """Draw exploitability for each named curve, one panel for each of ``axes``, on logarithmic scales, and save it."""
    panels = [(LABELS[axis], {name: _points(curve, axis) for name, curve in curves.items()}) for axis in axes]
    _draw(path, panels, title, "exploitability (chips per game)", target)


def plot_lines(
    path: Path, lines: Mapping[str, tuple[Sequence[float], Sequence[float]]], title: str, xlabel: str, ylabel: str,
    target: float | None = None,
) -> None:  # fmt: skip
    """Draw lines, each an (x, y), and save them; scales are logarithmic unless some y is negative."""
    _draw(path, [(xlabel, lines)], title, ylabel, target)


def plot_bands(
    path: Path, panels: Sequence[tuple[Axis, Mapping[str, Band]]], title: str,
    reference: tuple[str, float] | None = None,
) -> None:  # fmt: skip
    """Draw mean exploitability with its 95 % interval, one panel for each axis, and a dashed line for reference."""
    lines = [(LABELS[axis], {name: (band.x, band.mean) for name, band in bands.items()}) for axis, bands in panels]
    shades = [{name: (band.low, band.high) for name, band in bands.items()} for _, bands in panels]
    value = None if reference is None else reference[1]
    _draw(path, lines, title, "exploitability (chips per game)", value, shades, reference and reference[0])


def _points(curve: Sequence[Progress], axis: Axis) -> tuple[list[float], list[float]]:
    return [getattr(point, axis) for point in curve], [point.exploitability for point in curve]


def _draw(
    path: Path, panels: Sequence[tuple[str, Mapping[str, tuple[Sequence[float], Sequence[float]]]]], title: str,
    ylabel: str, target: float | None, shades: Sequence[Mapping[str, tuple[Sequence[float], Sequence[float]]]] = (),
    dashed: str | None = None,
) -> None:  # fmt: skip
    """Draw panels side by side, each with the label of its x axis and its lines."""
    from matplotlib.figure import Figure

    size = (7, 4.5) if len(panels) == 1 else (4.2 * len(panels), 4.2)
    figure = Figure(figsize=size, layout="constrained")
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
    if shades:
        handles, names = grid[0][-1].get_legend_handles_labels()
        figure.legend(handles, names, frameon=False, loc="outside lower center", ncols=2 if len(names) > 4 else 4)
    else:
        grid[0][-1].legend(frameon=False)
    if len(panels) == 1:
        grid[0][0].set(title=title)
    else:
        figure.suptitle(title)
    try:
        figure.savefig(path, dpi=150)
    except (OSError, ValueError) as error:
        raise CounterplayError(f"cannot write the plot {path}: {error}") from None
