"""Hands of a strategy at a decision as files: a table for spreadsheets, and a page that needs no other file."""

from __future__ import annotations

import html
from pathlib import Path

from counterplay.runtime.html_page import html_page
from counterplay.storage import write_csv, write_text
from counterplay.strategy.hand_page import grid_html, hands_html
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
    grid = grid_html(state, palette, details=True) if state.two_cards else ""
    table = hands_html(state, shown_cells(state, single))
    write_text(path, html_page(title, f"<h1>{html.escape(title)}</h1>\n{grid}\n{table}"))
