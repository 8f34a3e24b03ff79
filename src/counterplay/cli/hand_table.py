"""The hands of a strategy at a decision: coloured cells of a grid, a table with one line for each hand, JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Console

from counterplay.cli.common import print_json, say
from counterplay.cli.hand_grid import grid_lines
from counterplay.poker.postflop import SUBGAME
from counterplay.poker.postflop.subgame import parse_subgame
from counterplay.strategy.hand_export import hands_to_csv, hands_to_html, shown_cells
from counterplay.strategy.public_strategy import PublicStrategy

if TYPE_CHECKING:
    from counterplay.cli.show import Files
    from counterplay.poker.postflop.subgame import Subgame
    from counterplay.strategy.hand_table import HandTable
    from counterplay.strategy.strategy import Strategy


def show_hands(strategy: Strategy, state: HandTable, single: bool, files: Files, palette: str, as_json: bool) -> None:
    """Show the hands of a strategy at a decision, in a grid or as ``single`` hands, and write them to files."""
    name = strategy.game
    game = parse_subgame(name) if name.startswith(SUBGAME) else None
    locked = strategy.locked_nodes if isinstance(strategy, PublicStrategy) else ()
    title = _title(name, game, state) + (" (locked)" if state.node in locked else "")
    if files.png is not None:
        from counterplay.plots.hand_grids import draw_grid

        draw_grid(files.png, state, title, palette)
    if files.csv is not None:
        hands_to_csv(files.csv, state, single)
    if files.html is not None:
        hands_to_html(files.html, title, state, single, palette)
    if as_json:
        print_json({**_as_json(name, state, single, files), "locked": list(locked)})
        return
    say(title)
    if locked:
        places = ", ".join(repr(node) if node else "the first decision" for node in locked)
        say(f"  locked: {places}; the strategy there was given, and the rest solved around it")
    _print(game, state, None if single else palette)
    for path in files.written:
        say(f"wrote {path}")


def _title(name: str, game: Subgame | None, state: HandTable) -> str:
    name = name if game is None else game.title
    who = ("oop", "ip")[state.player] if game is not None else f"player {state.player + 1}"
    betting = f" after {state.node}" if state.node else ""
    board = f" on {state.board}" if state.board else ""
    return f"{name}: {who}{board}{betting}"


def _print(game: Subgame | None, state: HandTable, palette: str | None) -> None:
    """Print the grid in a palette, or single hands if there is none."""
    mix = ", ".join(f"{name} {100 * share:.2f}%" for name, share in zip(state.actions, state.frequencies, strict=True))
    say(f"  {mix}")
    if state.values is not None:
        value, equity = state.mean(state.values), state.mean(state.equities)
        if value is not None and equity is not None:
            say(f"  expected value {value:.4f} chips, equity {100 * equity:.2f}%")
    say()
    console = Console(highlight=False, soft_wrap=True)
    if palette is None:
        for line in hand_lines(state):
            say(line)
    else:
        for row in grid_lines(state, palette):
            console.print(row)
    if game is None:
        say()
        say("--node ACTIONS shows the decision after them, --infosets all infosets with reach and value.")


def hand_lines(state: HandTable) -> list[str]:
    """A table with one line for each hand that is held."""
    heads = ["hand", "weight", *state.actions] + (["ev", "equity"] if state.values is not None else [])
    lines = ["  ".join(f"{head:>9}" for head in heads)]
    for cell in state.hand_cells():
        if cell.weight == 0:
            continue
        words = [cell.name, f"{100 * cell.weight:.3f}%", *(f"{100 * share:.2f}%" for share in cell.frequencies)]
        if state.values is not None:
            value, equity = cell.value, cell.equity
            words += [
                "" if value is None else f"{round(value, 3) + 0.0:.3f}",
                "" if equity is None else f"{100 * equity:.2f}%",
            ]
        lines.append("  ".join(f"{word:>9}" for word in words))
    return lines


def _as_json(name: str, state: HandTable, single: bool, files: Files) -> dict[str, Any]:
    found: dict[str, Any] = {
        "game": name,
        "player": state.player + 1,
        "node": state.node,
        "board": state.board,
        "actions": list(state.actions),
        "frequencies": state.frequencies.tolist(),
        "hands": {
            cell.name: {"hands": cell.hands, "weight": cell.weight, "frequencies": list(cell.frequencies)}
            | ({} if state.values is None else {"ev": cell.value, "equity": cell.equity})
            for cell in shown_cells(state, single)
        },
        **files.to_dict(),
    }
    if state.values is not None:
        found["ev"] = state.mean(state.values)
        found["equity"] = state.mean(state.equities)
    return found
