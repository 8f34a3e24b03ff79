"""Hands of a strategy at a decision as files: a table for spreadsheets, and a page that needs no other file."""

from __future__ import annotations

import html
from pathlib import Path

from counterplay.runtime.html_page import html_bar, html_cell, html_page, html_table
from counterplay.storage import write_csv, write_text
from counterplay.strategy.hand_colours import action_colours
from counterplay.strategy.hand_table import Cell, HandTable


def shown_cells(state: HandTable, single: bool) -> list[Cell]:
    """The cells of all ``single`` hands, or of the grid."""
    return state.hand_cells() if single else [cell for row in state.grid() for cell in row if cell is not None]


def hands_to_csv(path: Path, state: HandTable, single: bool) -> None:
    """Write a line for each hand: its weight, the frequency of each action, and where known its value and equity."""
    values = state.values is not None
    heads = ["hand", "hands", "weight", *state.actions, *(["ev", "equity"] if values else [])]
    rows = [
        (cell.name, cell.hands, cell.weight, *cell.frequencies, *((cell.value, cell.equity) if values else ()))
        for cell in shown_cells(state, single)
    ]
    write_csv(path, heads, rows)


def hands_to_html(path: Path, title: str, state: HandTable, single: bool, palette: str) -> None:
    """Write a page with the grid of hands of two cards, and a table of all hands that are held."""
    values = state.values is not None
    heads = ["hand", "weight", "strategy", *state.actions, *(["ev", "equity"] if values else [])]
    rows, colours = [], [f"rgb{colour}" for colour in action_colours(state.actions)]
    for cell in shown_cells(state, single):
        if cell.weight > 0:
            percent = [f"{100 * share:.2f}%" for share in cell.frequencies]
            won = "" if cell.value is None else f"{cell.value:.3f}"
            known = [won, "" if cell.equity is None else f"{100 * cell.equity:.2f}%"]
            cells = [html_cell(text) for text in [*percent, *(known if values else [])]]
            first = html_cell(cell.name, "key") + html_cell(f"{100 * cell.weight:.3f}%")
            rows.append(first + html_bar(state.actions, cell.frequencies, colours) + "".join(cells))
    grid = state.grid_html(palette) if state.two_cards else ""
    write_text(path, html_page(title, f"<h1>{html.escape(title)}</h1>\n{grid}\n{html_table(heads, rows)}"))
