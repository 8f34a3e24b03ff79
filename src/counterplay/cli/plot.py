"""Convergence plots: exploitability against iterations, histories touched or seconds, as PNG, SVG or PDF."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from counterplay.errors import CounterplayError
from counterplay.solvers.base import Progress

Axis = Literal["iterations", "seconds", "cpu_seconds", "nodes"]
LABELS = {
    "iterations": "iterations", "seconds": "seconds", "cpu_seconds": "CPU seconds", "nodes": "histories touched",
}  # fmt: skip


def plot_curves(
    path: Path,
    curves: Mapping[str, Sequence[Progress]],
    title: str,
    axes: Sequence[Axis] = ("iterations",),
    target: float | None = None,
) -> None:
    """Draw exploitability for each named curve, one panel for each of ``axes``, on logarithmic scales, and save it."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    size = (7, 4.5) if len(axes) == 1 else (4.2 * len(axes), 4.2)
    figure, panels = pyplot.subplots(1, len(axes), figsize=size, sharey=True, squeeze=False, layout="constrained")
    for panel, axis in zip(panels[0], axes, strict=True):
        drawn = 0
        for name, curve in curves.items():
            points = [(getattr(point, axis), point.exploitability) for point in curve]
            points = [(x, y) for x, y in points if x > 0 and y > 0]
            drawn += len(points)
            panel.plot([x for x, _ in points], [y for _, y in points], label=name, linewidth=1.8)
        if target is not None:
            panel.axhline(target, color="0.6", linewidth=1, linestyle="--", label=f"target {target:g}")
        scale = "log" if drawn else "linear"  # a run that starts at an equilibrium has nothing to draw
        panel.set(xscale=scale, yscale=scale, xlabel=LABELS[axis])
        panel.grid(True, which="major", color="0.9")
        panel.spines[["top", "right"]].set_visible(False)
    panels[0][0].set(ylabel="exploitability (chips per game)")
    panels[0][-1].legend(frameon=False)
    if len(axes) == 1:
        panels[0][0].set(title=title)
    else:
        figure.suptitle(title)
    try:
        figure.savefig(path, dpi=150)
    except (OSError, ValueError) as error:
        raise CounterplayError(f"cannot write the plot {path}: {error}") from None
    finally:
        pyplot.close(figure)
