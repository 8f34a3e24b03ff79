"""Grids of hands, drawn into files (Johanson 2016, section 9.4: figure 9.4)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from counterplay.errors import CounterplayError

if TYPE_CHECKING:
    from counterplay.strategy.hand_table import HandTable

EMPTY = (0.85, 0.85, 0.85)
FORMATS = (".png", ".svg", ".pdf")


def draw_grid(path: Path, state: HandTable, title: str) -> None:
    """Draw the grid of a state into a file.

    Raises
    ------
    CounterplayError
        If the file has another extension, or hands are not two cards.
    """
    if path.suffix.lower() not in FORMATS:
        raise CounterplayError(f"a picture is a {', '.join(FORMATS)} file; got {str(path)!r}")
    if not state.two_cards:
        raise CounterplayError("a grid is for hands of two cards; leave out --png")
    from matplotlib.figure import Figure

    from counterplay.poker.ranges import class_grid
    from counterplay.strategy.hand_table import action_mix

    grid = state.grid()
    colours = [
        [EMPTY if cell is None or cell.weight == 0 else action_mix(cell.frequencies, state.actions) for cell in row]
        for row in grid
    ]
    figure = Figure(figsize=(8, 8.6), layout="constrained")
    axes = figure.subplots()
    axes.imshow(colours)
    for y, (row, names) in enumerate(zip(grid, class_grid(), strict=True)):
        for x, (cell, (name, _)) in enumerate(zip(row, names, strict=True)):
            held = cell is not None and cell.weight > 0
            axes.text(x, y, name, ha="center", va="center", fontsize=9, color="white" if held else "0.65")
    lines = [place - 0.5 for place in range(1, len(grid))]
    axes.set_xticks(lines, labels=[])
    axes.set_yticks(lines, labels=[])
    axes.grid(color="white", linewidth=1)
    axes.tick_params(length=0)
    mix = ", ".join(f"{name} {100 * share:.1f}%" for name, share in zip(state.actions, state.frequencies, strict=True))
    axes.set_title(f"{title}\n{mix}", fontsize=10, wrap=True)
    axes.set_xlabel("red folds, blue checks or calls, green bets or raises")
    try:
        figure.savefig(path)
    except OSError as error:
        raise CounterplayError(f"cannot write {path}: {error.strerror or error}") from None
