"""Grids of hands, drawn into files (Johanson 2016, section 9.4: figure 9.4)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from counterplay.errors import CounterplayError
from counterplay.strategy.hand_page import WHITE, WIDE_ENOUGH, equity_text, value_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from counterplay.strategy.hand_colours import Colour
    from counterplay.strategy.hand_table import Cell, HandTable

EMPTY = (236, 236, 236)
FORMATS = (".png", ".svg", ".pdf")


def draw_grid(path: Path, state: HandTable, title: str, palette: str = "trade") -> None:
    """Draw the grid of a state into a file; see ``grid_figure``.

    Raises
    ------
    CounterplayError
        If the file has another extension, hands are not two cards, or there is no such palette.
    """
    if path.suffix.lower() not in FORMATS:
        raise CounterplayError(f"a picture is a {', '.join(FORMATS)} file; got {str(path)!r}")
    figure = grid_figure(state, title, palette)
    try:
        figure.savefig(path, dpi=130)
    except OSError as error:
        raise CounterplayError(f"cannot write {path}: {error.strerror or error}") from None


def grid_figure(state: HandTable, title: str = "", palette: str = "trade") -> Figure:
    """The grid of a state, in a palette of ``strategy.hand_colours``, with percentages and a legend.

    Where values are known, each cell has its expected value and its equity.

    Raises CounterplayError if hands are not two cards, or there is no such palette.
    """
    from counterplay.strategy.hand_colours import check_palette, strengths

    check_palette(palette)
    if not state.two_cards:
        raise CounterplayError("a grid is for hands of two cards; leave out --png")
    from matplotlib.figure import Figure

    from counterplay.poker.ranges import class_grid

    grid = state.grid()
    strong = strengths([cell for row in grid for cell in row], palette)
    figure = Figure(figsize=(9, 10), layout="constrained")
    axes = figure.subplots()
    for y, (row, names) in enumerate(zip(grid, class_grid(), strict=True)):
        for x, (cell, (name, _)) in enumerate(zip(row, names, strict=True)):
            if cell is None or cell.weight == 0:
                _part(axes, (x, y), 1.0, EMPTY)
                axes.text(x + 0.5, y + 0.5, name, ha="center", va="center", fontsize=8, color="0.7")
            else:
                _draw_cell(axes, (x, y), cell, state, (palette, strong[name]))
    axes.set(xlim=(0, len(grid)), ylim=(len(grid), 0), aspect="equal", xticks=[], yticks=[])
    for line in range(len(grid) + 1):
        axes.axhline(line, color="white", linewidth=1.5)
        axes.axvline(line, color="white", linewidth=1.5)
    axes.set_frame_on(False)
    axes.set_title(title, fontsize=11, wrap=True)
    _draw_legend(axes, state, palette)
    return figure


def _draw_cell(axes: Any, corner: tuple[float, float], cell: Cell, state: HandTable, paint: tuple[str, float]) -> None:
    """The parts of a cell, its name, what it is worth, and the percentages of the parts that have room for them."""
    from counterplay.strategy.hand_colours import blend, cell_parts, ink_on

    palette, strength = paint
    x, y = corner
    valued = state.values is not None
    found = cell_parts(cell, state.actions, palette)
    left, parts = x, [(share, blend(colour, WHITE, strength)) for share, colour in found]
    under = parts[0][1]
    for share, colour in parts:
        _part(axes, (left, y), share, colour)
        if left <= x + 0.3 < left + share:
            under = colour
        if share >= WIDE_ENOUGH and palette == "trade":
            axes.text(
                left + share / 2, y + (0.86 if valued else 0.74), f"{100 * share:.0f}", ha="center", va="center",
                fontsize=6.5, color=_shade(ink_on(colour)),
            )  # fmt: skip
        left += share
    lines = [(cell.name, 9.0)]
    lines += [(value_text(cell.value), 6.5), (equity_text(cell.equity), 6.5)] if valued else []
    for place, (text, size) in enumerate(lines):
        height = 0.18 + 0.23 * place if valued else 0.33
        axes.text(x + 0.08, y + height, text, ha="left", va="center", fontsize=size, color=_shade(ink_on(under)))


def _part(axes: Any, corner: tuple[float, float], width: float, colour: Colour) -> None:
    from matplotlib.patches import Rectangle

    axes.add_patch(Rectangle(corner, width, 1.0, color=_shade(colour), linewidth=0))


def _shade(colour: Colour) -> tuple[float, float, float]:
    red, green, blue = colour
    return red / 255, green / 255, blue / 255


def _draw_legend(axes: Any, state: HandTable, palette: str) -> None:
    from matplotlib.patches import Patch

    from counterplay.strategy.hand_colours import action_colours, legend

    shares = [f"{name} {100 * share:.1f}%" for name, share in zip(state.actions, state.frequencies, strict=True)]
    if palette == "thesis":
        axes.set_xlabel(f"{', '.join(shares)}\nred folds, blue checks or calls, green bets or raises")
        return
    more = "" if state.values is None else "; below the name: expected value in chips, then equity"
    colours = action_colours(state.actions)
    marks = [Patch(color=_shade(colours[number]), label=shares[number]) for number in legend(state.actions)]
    axes.legend(
        handles=marks, loc="upper center", bbox_to_anchor=(0.5, -0.01), ncols=min(5, len(marks)), frameon=False,
        title=f"width: how often; paler: fewer of these hands get here{more}", title_fontsize=8,
    )  # fmt: skip
