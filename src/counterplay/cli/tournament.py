"""``counterplay tournament``: a round robin, with rankings and a report; resumable after a crash."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from counterplay.cli import options as o
from counterplay.cli.common import note, print_json, say
from counterplay.cli.completions import complete_opponent
from counterplay.errors import GameError
from counterplay.runtime.executors import on_cluster
from counterplay.runtime.progress import Progress
from counterplay.runtime.signals import interruptible
from counterplay.storage import write_text

ENTRY_HELP = (
    f"NAME=AGENT or AGENT: {o.OPPONENTS}, a strategy file, or program:PATH, which is started with host and port."
)


def command(
    folder: Annotated[Path, typer.Argument(help="Folder of the tournament; an existing one is resumed.")],
    entries: Annotated[
        list[str] | None, typer.Argument(metavar="[ENTRY]...", help=ENTRY_HELP, autocompletion=complete_opponent)
    ] = None,
    game: Annotated[
        str | None, typer.Option(help=f"What is played. {o.GAME_HELP} Or a standard .game by its name.")
    ] = None,
    deals: Annotated[int, typer.Option(help="Deals of each match; each is played in all seatings.")] = 10_000,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 0,
    piece: Annotated[int, typer.Option(help="Deals that are recorded at a time.")] = 10_000,
    shared_deals: Annotated[bool, typer.Option("--shared-deals", help="The same deals in all matches.")] = False,
    workers: Annotated[
        int | None, typer.Option(help="Processes that play (default 1; with --cluster one for each of its cores).")
    ] = None,
    cluster: o.Cluster = None,
    t_response: Annotated[int, typer.Option("--t_response", help="Longest answer of a program, in ms.")] = 600_000,
    t_per_hand: Annotated[int, typer.Option("--t_per_hand", help="Budget of a program for each hand, in ms.")] = 7_000,
    as_json: o.AsJson = False,
) -> int:
    """Play or resume a tournament; writes report.md and report.html into its folder.

    The exit code is 1 when a match ended early through the fault of a program.
    """
    from counterplay.agents.entries import solved_notes
    from counterplay.agents.external_programs import Times
    from counterplay.agents.tournament_report import html_report, markdown_report
    from counterplay.agents.tournaments import SETTINGS, Tournament, TournamentConfig

    config = None
    if entries or game is not None:
        if not entries or game is None:
            raise GameError("a new tournament needs --game and entries; resuming one needs only its folder")
        config = TournamentConfig(
            game, tuple(entries), deals, seed, piece, shared_deals, Times(t_response, per_hand_ms=t_per_hand)
        )
    elif not os.path.exists(folder / SETTINGS):
        raise GameError(f"{folder} holds no tournament; give --game and entries for a new one")
    tournament = Tournament(folder, config)
    for line in [] if as_json else solved_notes(tournament.entries, tournament.played):
        note(line)
    try:
        with interruptible(), on_cluster(cluster, workers):
            result = tournament.run(
                1 if workers is None else workers, None if as_json or not sys.stderr.isatty() else _progress
            )
    except KeyboardInterrupt:
        note("stopped; what was played is kept, and this plays the rest:")
        note(f"  {shlex.join(['counterplay', 'tournament', str(folder)])}")
        return 130
    write_text(folder / "report.md", markdown_report(result))
    write_text(folder / "report.html", html_report(result))
    if as_json:
        print_json({**result.to_dict(), "report": str(folder / "report.html")})
    else:
        say(markdown_report(result).rstrip())
        note(f"reports: {folder / 'report.md'}, {folder / 'report.html'}")
    return 1 if result.aborted else 0


def _progress(now: Progress) -> None:
    sys.stderr.write(f"\r{now.iterations:,} of {now.total:,} pieces" + ("\n" if now.share == 1.0 else ""))
    sys.stderr.flush()
