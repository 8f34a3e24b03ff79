"""``counterplay agent``: one of our agents as a player at a dealer's table."""

from __future__ import annotations

from typing import Annotated

import typer

from counterplay.cli import options as o
from counterplay.cli.common import note, print_json
from counterplay.cli.match import AGENT_HELP, read_entries
from counterplay.errors import GameError
from counterplay.runtime.seeds import check_seed


def command(
    agent: Annotated[str, typer.Argument(help=AGENT_HELP)],
    game: Annotated[str, typer.Argument(help="A .game file, a standard one by name, or a poker game of ours.")],
    host: Annotated[str, typer.Argument(help="Where the dealer is.")],
    port: Annotated[int, typer.Argument(help="The port of this seat.")],
    seed: Annotated[int, typer.Option(help="Seed of the agent's random numbers.")] = 0,
    as_json: o.AsJson = False,
) -> None:
    """Play a match over TCP, at any dealer that speaks the protocol of the Annual Computer Poker Competition."""
    from counterplay.agents import MatchGame, open_match_game, play_as_client
    from counterplay.poker.poker_game import PokerFile

    check_seed(seed, GameError)
    definition = open_match_game(game).definition()
    (entry,) = read_entries([agent])
    player = entry.agent(MatchGame(game, PokerFile(definition, game)), seed)
    report = play_as_client(player, definition, host, port)
    if as_json:
        facts = {"agent": entry.name, "game": game, "hands": report.hands, "actions": report.actions}
        print_json(facts | {"remarks": player.remarks()})
    else:
        note("; ".join([f"{entry.name}: {report.hands:,} hands, {report.actions:,} actions", *player.remarks()]))
