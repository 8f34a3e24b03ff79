"""``counterplay draw``: a picture of a small game, with its information sets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from counterplay.cli import options as o
from counterplay.cli.common import check_writable, print_json, say
from counterplay.plots import TREE_FORMATS


def command(
    game: o.GameName,
    out: Annotated[Path, typer.Option(help=f"The picture to write: {', '.join(TREE_FORMATS)}.")] = Path("tree.svg"),
    strategy: Annotated[
        Path | None,
        typer.Option(help="Draw what the strategy in this file plays: probabilities, and thick edges for likely play."),
    ] = None,
    player: Annotated[
        int | None, typer.Option(min=1, help="Show the information sets of this player (1, 2, ...) only.")
    ] = None,
    max_histories: Annotated[int, typer.Option(min=1, help="Refuse a game with more histories.")] = 300,
    as_json: o.AsJson = False,
) -> None:
    """Draw the tree of a small game: players, actions, chance probabilities, payoffs and information sets.

    With --strategy also what is played: the probability of each action, and edges as thick as play often gets there.
    """
    from counterplay.abstraction import split_name
    from counterplay.forms import open_game
    from counterplay.plots.tree_drawing import draw

    check_writable(out)
    number = None if player is None else player - 1
    forgetful = split_name(game)[1] is not None
    drawn = open_game(game, "history" if forgetful else "states")
    picture = draw(drawn, out, strategy=strategy, player=number, max_histories=max_histories)
    if as_json:
        print_json({
            "game": picture.game, "path": str(picture.path), "histories": picture.histories,
            "information_sets": picture.information_sets, "width_inches": picture.width,
            "height_inches": picture.height, "strategy": None if strategy is None else str(strategy),
            "value": picture.value,
        })  # fmt: skip
        return
    say(
        f"{picture.path}: {picture.game}, {picture.histories:,} histories and {picture.information_sets:,} information "
        f"sets on {picture.width:.1f} x {picture.height:.1f} inches"
    )
