"""``counterplay show``: what a strategy plays, as a table of infosets, or hand by hand at a decision."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from counterplay.cli import options as o
from counterplay.cli.common import check_writable
from counterplay.errors import CounterplayError, GameError, StrategyError

if TYPE_CHECKING:
    from counterplay.strategy import Strategy
    from counterplay.strategy.hand_table import HandTable

File = Annotated[Path, typer.Argument(metavar="FILE", help="A strategy file of any kind.")]
Node = Annotated[
    str,
    typer.Option(
        help="Hands: the betting that leads to the decision: 'check bet25', or rc/c as the game writes it.  Infosets: "
        "how their names start, such as K: in leduc."
    ),
]
Board = Annotated[str | None, typer.Option(help="The board at the decision; needed after further cards were dealt.")]
Player = Annotated[int | None, typer.Option(min=1, help="The infosets of this player (1, 2, ...) only.")]
Infosets = Annotated[
    bool, typer.Option("--infosets", help="The table of infosets, also where hands could be shown at a decision.")
]
Rows = Annotated[int | None, typer.Option(min=1, help="At most this many infosets (on a terminal 40 by default).")]
Values = Annotated[
    bool, typer.Option("--ev", help="Compute expected values and equities of hands as well (reads the whole file).")
]
Hands = Annotated[bool, typer.Option("--hands", help="List single hands instead of the grid.")]
Csv = Annotated[Path | None, typer.Option(help="Write the whole table to this file, for spreadsheets.")]
Html = Annotated[Path | None, typer.Option(help="Write the whole table to this file, a page that needs no other.")]
Png = Annotated[Path | None, typer.Option(help="Draw the grid into this file (.png, .svg, .pdf).")]

Palette = Annotated[
    str,
    typer.Option(
        help="Colours of the grid: trade (red bets, green calls, blue folds) or thesis (Johanson's figure 9.4: red "
        "folds, blue calls, green bets)."
    ),
]


class Files(NamedTuple):
    """Files to write."""

    png: Path | None = None
    csv: Path | None = None
    html: Path | None = None

    @property
    def written(self) -> list[Path]:
        """Those that are wanted."""
        return [path for path in self if path is not None]

    def to_dict(self) -> dict[str, str | None]:
        """For JSON."""
        return {kind: None if path is None else str(path) for kind, path in self._asdict().items()}


def command(
    file: File,
    node: Node = "",
    board: Board = None,
    player: Player = None,
    infosets: Infosets = False,
    rows: Rows = None,
    values: Values = False,
    hands: Hands = False,
    png: Png = None,
    palette: Palette = "trade",
    csv: Csv = None,
    html: Html = None,
    as_json: o.AsJson = False,
) -> int:
    """Show what a strategy plays.

    In games with hands of cards: what each hand does at a decision.  Hands of two cards are a grid with suited hands
    above the diagonal, offsuit ones below.  A cell is split by its actions: red bets or raises, darker for larger
    sizes, green checks or calls, blue folds; it is dimmed if few of its hands get there.  The number is the percentage
    of bets and raises.  Frequencies are weighted by the probability of each hand there.

    In other games, and with --infosets: each infoset with the probabilities of its actions, its reach (how often play
    gets there if everybody plays the strategy) and its value (what the player who acts expects to win then).
    """
    files = Files(png, csv, html)
    check_writable(*files)
    from counterplay.cli.hand_table import show_hands
    from counterplay.cli.infoset_table import show_infosets
    from counterplay.strategy.files import load_strategy
    from counterplay.strategy.hand_colours import check_palette

    check_palette(palette)
    by_hand, by_infoset = hands or values or png or board is not None, infosets or player or rows
    if by_hand and by_infoset:
        raise CounterplayError(
            "--hands, --ev, --board and --png show the hands at a decision, --infosets, --player and --rows a table of "
            "infosets; use one or the other"
        )
    strategy = load_strategy(file)
    state = None if by_infoset else _hand_table(strategy, node, board, values, bool(by_hand))
    if state is not None:
        show_hands(strategy, state, hands or not state.two_cards, files, palette, as_json)
    else:
        show_infosets(strategy, None if player is None else player - 1, node, rows, files, as_json)
    return 0


def _hand_table(strategy: Strategy, node: str, board: str | None, values: bool, required: bool) -> HandTable | None:
    """The hands at a decision; None where hands are not cards with names, unless they are required."""
    from counterplay.evaluation.inspection import hand_values
    from counterplay.strategy.public_strategy import PublicStrategy

    try:
        if not values:
            found = strategy.hands(node, board)
            return found if required or not found.labels else None
        if isinstance(strategy, PublicStrategy):
            return hand_values(strategy, node, board)
    except GameError:
        if required or _has_hands(strategy):
            raise
        return None
    raise StrategyError("--ev is for strategies of public trees (solve --representation public)")


def _has_hands(strategy: Strategy) -> bool:
    try:
        return not strategy.hands().labels
    except CounterplayError:
        return False
