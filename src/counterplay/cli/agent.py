"""``counterplay agent``: one of our agents as a player at a dealer's table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from counterplay.cli import options as o
from counterplay.cli.common import check_writable, note, print_json
from counterplay.cli.match import AGENT_HELP, read_entries
from counterplay.errors import GameError
from counterplay.runtime.seeds import check_seed


def command(
    agent: Annotated[str, typer.Argument(help=AGENT_HELP)],
    game: Annotated[str, typer.Argument(help="A .game file, a standard one by name, or a poker game of ours.")],
    host: Annotated[str, typer.Argument(help="Where the dealer is.")],
    port: Annotated[int, typer.Argument(help="The port of this seat.")],
    seed: Annotated[int, typer.Option(help="Seed of the agent's random numbers.")] = 0,
    select: Annotated[
        str | None, typer.Option(help="Of a portfolio, the rule: fixed, greedy, ucb1, thompson or exponential.")
    ] = None,
    state: Annotated[
        Path | None,
        typer.Option(help="Of a portfolio: keep what it learned in this file, after every hand, and resume from it."),
    ] = None,
    as_json: o.AsJson = False,
) -> None:
    """Play a match over TCP, at any dealer that speaks the protocol of the Annual Computer Poker Competition.

    A portfolio adapts: it estimates after every hand what each of its strategies would have won, and the rule chooses
    who plays the next one.  With --state an agent that was stopped or killed resumes with what it had learned.
    """
    from counterplay.agents import Entry, MatchGame, open_match_game, play_as_client
    from counterplay.agents.adaptive_agent import AdaptiveAgent
    from counterplay.poker.poker_game import PokerFile

    check_seed(seed, GameError)
    definition = open_match_game(game).definition()
    (entry,) = read_entries([agent])
    if entry.folder is None and (select is not None or state is not None):
        raise GameError(f"--select and --state are for portfolios; {entry.name} is none")
    if select is not None:
        if "select" in entry.settings:
            raise GameError(f"the rule is given twice: {agent} and --select {select}")
        assert isinstance(entry.source, str)
        entry = Entry(entry.name, f"{entry.source}{',' if '?' in entry.source else '?'}select={select}")
    check_writable(state, replaced=True)
    player = entry.agent(MatchGame(game, PokerFile(definition, game)), seed)
    if state is not None and isinstance(player, AdaptiveAgent):
        player.keep(state)
    report = play_as_client(player, definition, host, port)
    if as_json:
        facts = {"agent": entry.name, "game": game, "hands": report.hands, "actions": report.actions}
        print_json(facts | {"remarks": player.remarks()})
    else:
        note("; ".join([f"{entry.name}: {report.hands:,} hands, {report.actions:,} actions", *player.remarks()]))
