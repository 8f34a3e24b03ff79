"""The grid of hands in the terminal: a class in each cell, on the colours of its actions, and a legend."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from counterplay.strategy.hand_colours import (
    action_colours,
    action_mix,
    blend,
    cell_parts,
    ink_on,
    legend,
    strengths,
)
from counterplay.strategy.hand_page import equity_text, value_text

if TYPE_CHECKING:
    from counterplay.strategy.hand_colours import Colour
    from counterplay.strategy.hand_table import Cell, HandTable

CELL = 8
"""Characters of a cell."""

BLACK = (0, 0, 0)


def grid_lines(state: HandTable, palette: str) -> list[Text]:
    """The grid for a terminal, and its legend: names of classes, and their percentages of bets and raises.

    Where values are known a cell has two more lines: the expected value in chips, and the equity.
    """
    grid = state.grid()
    strong = strengths([cell for row in grid for cell in row], palette)
    actions = state.actions
    lines = [
        Text.assemble(*[_painted(cell, _letters(cell, actions, line), actions, palette, strong) for cell in row])
        for row in grid
        for line in range(3 if state.values is not None and any(cell and cell.weight for cell in row) else 1)
    ]
    return [*lines, Text(), _legend(state, palette)]


def _letters(cell: Cell | None, actions: Sequence[str], line: int) -> str:
    """A line of a cell: the class and the percentage of bets and raises, the expected value, or the equity."""
    if cell is None or cell.weight == 0:
        return ("." if cell is None else cell.name) if line == 0 else ""
    if line == 0:
        return f"{cell.name:<3} {100 * action_mix(cell.frequencies, actions)[1]:3.0f}"
    return f"{value_text(cell.value) if line == 1 else equity_text(cell.equity):>7}"


def _painted(
    cell: Cell | None, letters: str, actions: Sequence[str], palette: str, strong: Mapping[str, float]
) -> Text:
    """A line of a cell, on the colours of its actions."""
    letters = f"{letters:<{CELL}}"
    if cell is None or cell.weight == 0:
        return Text(letters, style="grey50")
    parts = cell_parts(cell, actions, palette)
    ends = list(itertools.accumulate(share for share, _ in parts))
    places = [min(bisect.bisect_right(ends, (place + 0.5) / CELL), len(parts) - 1) for place in range(CELL)]
    found = Text()
    for part, letters_of in itertools.groupby(zip(places, letters, strict=True), key=lambda pair: pair[0]):
        ground = blend(parts[part][1], BLACK, strong[cell.name])
        found.append("".join(letter for _, letter in letters_of), style=f"{_style(ink_on(ground))} on {_style(ground)}")
    return found


def _legend(state: HandTable, palette: str) -> Text:
    more = "" if state.values is None else "; below: expected value in chips, then equity"
    if palette == "thesis":
        return Text(f"red folds, blue checks or calls, green bets or raises; the number is % of bets and raises{more}")
    colours, found = action_colours(state.actions), Text()
    for number in legend(state.actions):
        name, colour = state.actions[number], colours[number]
        found.append(f" {name} ", style=f"{_style(ink_on(colour))} on {_style(colour)}")
        found.append(" ")
    return found.append(f"number: % of bets and raises; dim: fewer of these hands get here{more}")


def _style(colour: Colour) -> str:
    red, green, blue = colour
    return f"rgb({red},{green},{blue})"
