"""The grid of hands as HTML, for notebooks and pages: cells split by action, with what each is worth, and single hands.

A page is one file without scripts: the single hands of a cell are in a panel that appears while the pointer is on the
cell, or after a click until the next one.
"""

from __future__ import annotations

import html
from collections.abc import Sequence

from counterplay.runtime.html_page import html_bar, html_cell, html_table
from counterplay.strategy.hand_colours import (
    Colour,
    action_colours,
    action_mix,
    blend,
    cell_parts,
    check_palette,
    ink_on,
    legend,
    strengths,
)
from counterplay.strategy.hand_table import Cell, HandTable

WHITE: Colour = (255, 255, 255)
WIDE_ENOUGH = 0.24
"""The share of a cell's width from which the percentage of a part is written into it."""

GRID_STYLE = """
.hands-grid { border-collapse: separate; border-spacing: 2px; font: 12px/1.25 system-ui, sans-serif }
.hands-grid > tbody > tr > td { width: 58px; height: 58px; padding: 0; border: 0; vertical-align: top; background: #eee;
  color: #aaa; text-align: left }
.hands-grid .in { display: flex; flex-direction: column; justify-content: space-between; height: 58px }
.hands-grid b, .hands-grid i { padding-left: 4px; font-style: normal }
.hands-grid .share { display: flex; font-size: 10px; text-align: center; text-shadow: none }
.hands-grid .combos { display: none; position: fixed; right: 1rem; top: 1rem; max-height: 94vh; overflow: auto;
  padding: 8px; background: #fff; color: #222; border: 1px solid #999; box-shadow: 0 2px 12px #0004; z-index: 2;
  pointer-events: none; text-shadow: none }
.hands-grid td.cell:focus { outline: 3px solid #222 }
.hands-grid td.cell:focus .combos { display: block } .hands-grid td.cell:hover .combos { display: block; z-index: 3 }
.hands-legend span { padding: 1px 6px; margin-right: 4px; border-radius: 3px }
"""
"""Of the grid, wherever it is shown."""


def grid_html(state: HandTable, palette: str = "trade", details: bool = False) -> str:
    """The grid of a state, in a palette of ``strategy.hand_colours``, with its legend.

    With ``details``, each cell has a panel with its single hands, and the title of the page says where this is.  Values
    and equities are shown where they are known.
    """
    check_palette(palette)
    grid = state.grid()
    strong = strengths([cell for row in grid for cell in row], palette)
    combos = state.combos() if details else {}
    rows = []
    for row in grid:
        cells = [
            _cell_html(cell, state, palette, strong[cell.name], combos.get(cell.name, []))
            if cell is not None and cell.weight > 0
            else f"<td>{'' if cell is None else cell.name}</td>"
            for cell in row
        ]
        rows.append(f"<tr>{''.join(cells)}</tr>")
    where = " ".join(filter(None, (state.board, state.node)))
    head = "" if details else f"player {state.player + 1}{' after ' + where if where else ''}: "
    return (
        f"<style>{GRID_STYLE}</style><p class='hands-legend'>{html.escape(head)}{_legend_html(state, palette)}</p>"
        f"{_notes_html(state, details)}<table class='hands-grid'><tbody>{''.join(rows)}</tbody></table>"
    )


def value_text(value: float | None, width: int = 7) -> str:
    """Chips with at most two digits after the point, in a number of letters."""
    if value is None:
        return ""
    found = (f"{round(value, digits) + 0.0:.{digits}f}" for digits in (2, 1, 0))
    return next((text for text in found if len(text) <= width), f"{value:.0e}")


def equity_text(equity: float | None) -> str:
    """Equity as a percentage."""
    return "" if equity is None else f"{100 * equity:.1f}%"


def _cell_html(cell: Cell, state: HandTable, palette: str, strength: float, combos: Sequence[Cell]) -> str:
    parts = cell_parts(cell, state.actions, palette)
    ink = ink_on(blend(parts[0][1], WHITE, strength))
    style = f"color:{_css(ink)};background:{_gradient(parts, strength)};text-shadow:0 0 2px {_css(_other(ink))}"
    mix = ", ".join(f"{name} {100 * p:.1f}%" for name, p in zip(state.actions, cell.frequencies, strict=True))
    if palette == "trade":
        shares = "".join(_share_html(share, colour, strength) for share, colour in parts)
    else:
        shares = f"<i>{100 * action_mix(cell.frequencies, state.actions)[1]:.0f}</i>"
    lines = f"<b>{cell.name}</b>"
    if state.values is not None:
        lines += f"<i class='ev'>{value_text(cell.value)}</i><i class='equity'>{equity_text(cell.equity)}</i>"
    inside = f"<div class='in'>{lines}<div class='share'>{shares}</div></div>"
    if not combos:
        return f'<td style="{style}" title="{html.escape(mix)}">{inside}</td>'
    panel = f"<div class='combos'><p><b>{cell.name}</b>: {html.escape(mix)}</p>{hands_html(state, combos)}</div>"
    return f'<td class="cell" tabindex="0" style="{style}">{inside}{panel}</td>'


def hands_html(state: HandTable, cells: Sequence[Cell]) -> str:
    """A table of hands: how likely they are, what they do, and where known what they are worth."""
    values = state.values is not None
    heads = ["hand", "weight", "strategy", *state.actions, *(["ev", "equity"] if values else [])]
    rows, colours = [], [_css(colour) for colour in action_colours(state.actions)]
    for cell in cells:
        if cell.weight > 0:
            known = [
                "" if cell.value is None else f"{cell.value:.3f}",
                "" if cell.equity is None else f"{100 * cell.equity:.2f}%",
            ]
            texts = [*(f"{100 * share:.2f}%" for share in cell.frequencies), *(known if values else [])]
            first = html_cell(cell.name, "key") + html_cell(f"{100 * cell.weight:.3f}%")
            rows.append(first + html_bar(state.actions, cell.frequencies, colours) + "".join(map(html_cell, texts)))
    return html_table(heads, rows)


def _share_html(share: float, colour: Colour, strength: float) -> str:
    text = f"{100 * share:.0f}" if share >= WIDE_ENOUGH else ""
    return f"<span style='width:{100 * share:.1f}%;color:{_css(ink_on(blend(colour, WHITE, strength)))}'>{text}</span>"


def _legend_html(state: HandTable, palette: str) -> str:
    """The frequencies of the actions, on their colours."""
    shares = [f"{name} {100 * p:.1f}%" for name, p in zip(state.actions, state.frequencies, strict=True)]
    if palette == "thesis":
        return html.escape(f"{', '.join(shares)} (red folds, blue checks or calls, green bets or raises)")
    colours = action_colours(state.actions)
    return " ".join(
        f'<span style="color:{_css(ink_on(colours[number]))};background:{_css(colours[number])}">'
        f"{html.escape(shares[number])}</span>"
        for number in legend(state.actions)
    )


def _notes_html(state: HandTable, details: bool) -> str:
    """What the numbers of a cell are."""
    notes = ["width and percentages: how often", "paler: fewer of these hands get here"]
    if state.values is not None:
        value, equity = state.mean(state.values), state.mean(state.equities)
        notes.insert(0, "below the name: expected value in chips, then equity")
        if value is not None and equity is not None:
            notes.insert(0, f"in all: expected value {value:.4f} chips, equity {100 * equity:.2f}%")
    notes += ["point at a cell for its single hands"] if details else []
    return f"<p>{'; '.join(notes)}</p>"


def _gradient(parts: Sequence[tuple[float, Colour]], strength: float) -> str:
    """The parts of a cell side by side, as CSS."""
    stops, left = [], 0.0
    for share, colour in parts:
        paint = f"rgba({', '.join(map(str, colour))}, {strength:.2f})"
        ends = [f"{paint} {100 * place:.1f}%" for place in (left, left + share)]
        stops += ends if ends[0] != ends[1] else []  # too narrow to be seen
        left += share
    return f"linear-gradient(to right, {', '.join(stops)})"


def _css(colour: Colour) -> str:
    return f"rgb{colour}"


def _other(ink: Colour) -> Colour:
    red, green, blue = ink
    return 255 - red, 255 - green, 255 - blue
