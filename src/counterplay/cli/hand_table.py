"""Hands of a strategy in the terminal: coloured cells of a grid, and a table with one line for each hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from counterplay.strategy.hand_table import action_mix

if TYPE_CHECKING:
    from counterplay.strategy.hand_table import Cell, HandTable

CELL = 8
"""Characters of a cell."""


def cell_text(cell: Cell | None, actions: Sequence[str]) -> Text:
    """A cell for a terminal: the class and the percentage of bets and raises, on the mixture of colours."""
    if cell is None or cell.weight == 0:
        return Text(f"{'.' if cell is None else cell.name:<{CELL}}", style="grey50")
    fold, rest, call = action_mix(cell.frequencies, actions)
    red, green, blue = (int(40 + 190 * share) for share in (fold, rest, call))
    ink = "black" if green > 130 else "white"
    return Text(f"{cell.name:<3} {100 * rest:3.0f} ", style=f"{ink} on rgb({red},{green},{blue})")


def hand_lines(state: HandTable, chips: Callable[[float | None], float | None]) -> list[str]:
    """A table with one line for each hand that is held."""
    heads = ["hand", "weight", *state.actions] + (["ev", "equity"] if state.values is not None else [])
    lines = ["  ".join(f"{head:>9}" for head in heads)]
    for cell in state.hand_cells():
        if cell.weight == 0:
            continue
        words = [cell.name, f"{100 * cell.weight:.3f}%", *(f"{100 * share:.2f}%" for share in cell.frequencies)]
        if state.values is not None:
            value, equity = chips(cell.value), cell.equity
            words += [
                "" if value is None else f"{round(value, 3) + 0.0:.3f}",
                "" if equity is None else f"{100 * equity:.2f}%",
            ]
        lines.append("  ".join(f"{word:>9}" for word in words))
    return lines
