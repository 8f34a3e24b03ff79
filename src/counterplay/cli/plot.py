"""Convergence plots: exploitability against iterations or seconds, as PNG, SVG or PDF."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from counterplay.errors import CounterplayError
from counterplay.solvers.base import Progress

Axis = Literal["iterations", "seconds", "cpu_seconds"]
LABELS = {"iterations": "iterations", "seconds": "seconds", "cpu_seconds": "CPU seconds"}


def plot_curves(
    path: Path,
    curves: Mapping[str, Sequence[Progress]],
    title: str,
    axis: Axis = "iterations",
    target: float | None = None,
) -> None:
    """Draw exploitability against ``axis`` for each named curve, on logarithmic scales, and save it."""
    lines = {name: _points(curve, axis) for name, curve in curves.items()}
    plot_lines(path, lines, title, LABELS[axis], "exploitability (chips per game)", target)


def _points(curve: Sequence[Progress], axis: Axis) -> tuple[list[float], list[float]]:
    return [getattr(point, axis) for point in curve], [point.exploitability for point in curve]


def plot_lines(
    path: Path,
    lines: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    title: str,
    xlabel: str,
    ylabel: str,
    target: float | None = None,
) -> None:
    """Draw lines, each an (x, y), and save them; scales are logarithmic where no y is below 0."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4.5), layout="constrained")
    signed = any(y < 0 for _, ys in lines.values() for y in ys)
    drawn = 0
    for name, (xs, ys) in lines.items():
        points = [(x, y) for x, y in zip(xs, ys, strict=True) if x > 0 and (y > 0 or signed)]
        drawn += len(points)
        axes.plot([x for x, _ in points], [y for _, y in points], label=name, linewidth=1.8)
    if target is not None:
        axes.axhline(target, color="0.6", linewidth=1, linestyle="--", label=f"target {target:g}")
    scale = "log" if drawn else "linear"  # a run that starts at an equilibrium has nothing to draw
    axes.set(xscale=scale, yscale="linear" if signed else scale, xlabel=xlabel, ylabel=ylabel, title=title)
    axes.grid(True, which="major", color="0.9")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    try:
        figure.savefig(path, dpi=150)
    except (OSError, ValueError) as error:
        raise CounterplayError(f"cannot write the plot {path}: {error}") from None
    finally:
        pyplot.close(figure)
