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
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4.5), layout="constrained")
    drawn = 0
    for name, curve in curves.items():
        points = [(getattr(point, axis), point.exploitability) for point in curve]
        points = [(x, y) for x, y in points if x > 0 and y > 0]
        drawn += len(points)
        axes.plot([x for x, _ in points], [y for _, y in points], label=name, linewidth=1.8)
    if target is not None:
        axes.axhline(target, color="0.6", linewidth=1, linestyle="--", label=f"target {target:g}")
    scale = "log" if drawn else "linear"  # a run that starts at an equilibrium has nothing to draw
    axes.set(xscale=scale, yscale=scale, xlabel=LABELS[axis], ylabel="exploitability (chips per game)", title=title)
    axes.grid(True, which="major", color="0.9")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    try:
        figure.savefig(path, dpi=150)
    except (OSError, ValueError) as error:
        raise CounterplayError(f"cannot write the plot {path}: {error}") from None
    finally:
        pyplot.close(figure)
