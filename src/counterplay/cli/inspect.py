"""``counterplay inspect``: what a solved strategy does with each hand, as a 13 x 13 grid."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from counterplay.cli import options as o
from counterplay.cli.common import check_writable, print_json, say
from counterplay.errors import StrategyError

if TYPE_CHECKING:
    from counterplay.poker.postflop.subgame import Subgame
    from counterplay.strategy.hand_table import Cell, HandTable


def command(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="A strategy file of a game with private hands, or of a hold'em subgame."),
    ],
    node: Annotated[
        str, typer.Option(help="The betting that leads to the decision: 'check bet25', or rc/c as the game writes it.")
    ] = "",
    board: Annotated[
        str | None, typer.Option(help="The board at the decision; needed after further cards were dealt.")
    ] = None,
    values: Annotated[
        bool, typer.Option("--ev", help="Compute expected values and equities as well (reads the whole file).")
    ] = False,
    hands: Annotated[bool, typer.Option("--hands", help="List single hands instead of the grid.")] = False,
    png: Annotated[Path | None, typer.Option(help="Draw the grid into this file (.png, .svg, .pdf).")] = None,
    as_json: o.AsJson = False,
) -> int:
    """Show how a solved strategy plays its hands at a decision.

    Suited hands are above the diagonal, offsuit ones below.  Colours mix the actions: red folds, blue checks or calls,
    green bets or raises; the number is the percentage of bets and raises.  Frequencies are weighted by the probability
    of each hand there.
    """
    check_writable(png)
    from counterplay.evaluation.inspection import hand_values
    from counterplay.strategy.files import load_strategy
    from counterplay.strategy.public_strategy import PublicStrategy

    strategy = load_strategy(file)
    name, game = strategy.game, _subgame(strategy.game)
    if not values:
        state = strategy.hands(node, board)
    elif isinstance(strategy, PublicStrategy):
        state = hand_values(strategy, node, board)
    else:
        raise StrategyError("--ev is for strategies of public trees (solve --representation public)")
    if png is not None:
        from counterplay.plots.hand_grids import draw_grid

        draw_grid(png, state, _title(name, game, state))
    hands = hands or not state.two_cards
    if as_json:
        print_json(_as_json(name, game, state, hands, png))
        return 0
    _show(name, game, state, hands)
    if png is not None:
        say(f"wrote {png}")
    return 0


def _subgame(name: str) -> Subgame | None:
    from counterplay.poker.postflop.subgame import parse_subgame

    return parse_subgame(name) if name.startswith("holdem{") else None


def _title(name: str, game: Subgame | None, state: HandTable) -> str:
    name = name if game is None else game.title
    who = ("oop", "ip")[state.player] if game is not None else f"player {state.player + 1}"
    betting = f" after {state.node}" if state.node else ""
    board = f" on {state.board}" if state.board else ""
    return f"{name}: {who}{board}{betting}"


def _chips(game: Subgame | None, state: HandTable, value: float | None) -> float | None:
    """What a hand wins from the pot from here on, minus what it still puts in; the game's utility elsewhere."""
    if value is None or game is None:
        return value
    return value + game.pot / 2 + game.spent(state.node)[state.player]


def _show(name: str, game: Subgame | None, state: HandTable, hands: bool) -> None:
    from rich.console import Console

    from counterplay.cli.hand_table import cell_text, hand_lines

    say(_title(name, game, state))
    mix = ", ".join(f"{name} {100 * share:.2f}%" for name, share in zip(state.actions, state.frequencies, strict=True))
    say(f"  {mix}")
    if state.values is not None:
        value, equity = _chips(game, state, state.mean(state.values)), state.mean(state.equities)
        if value is not None and equity is not None:
            say(f"  expected value {value:.4f} chips, equity {100 * equity:.2f}%")
    say()
    console = Console(highlight=False, soft_wrap=True)
    if hands:
        for line in hand_lines(state, lambda value: _chips(game, state, value)):
            say(line)
        return
    for row in state.grid():
        console.print(*[cell_text(cell, state.actions) for cell in row], sep="")


def _as_json(name: str, game: Subgame | None, state: HandTable, hands: bool, png: Path | None) -> dict[str, Any]:
    cells: list[Cell] = (
        state.hand_cells() if hands else [cell for row in state.grid() for cell in row if cell is not None]
    )
    found: dict[str, Any] = {
        "game": name,
        "player": state.player + 1,
        "node": state.node,
        "board": state.board,
        "actions": list(state.actions),
        "frequencies": state.frequencies.tolist(),
        "hands": {
            cell.name: {"hands": cell.hands, "weight": cell.weight, "frequencies": list(cell.frequencies)}
            | ({} if state.values is None else {"ev": _chips(game, state, cell.value), "equity": cell.equity})
            for cell in cells
        },
        "png": None if png is None else str(png),
    }
    if state.values is not None:
        found["ev"] = _chips(game, state, state.mean(state.values))
        found["equity"] = state.mean(state.equities)
    return found
