"""``counterplay match``: agents against each other in one process, every deal in all seatings."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from counterplay.cli import options as o
from counterplay.cli.analyse import summary_lines
from counterplay.cli.common import note, print_json, say
from counterplay.cli.completions import complete_game, complete_opponent
from counterplay.cli.play import asking, play_here
from counterplay.cli.running import counted_progress
from counterplay.errors import GameError
from counterplay.runtime.number_text import figure
from counterplay.runtime.signals import interruptible

if TYPE_CHECKING:
    from counterplay.agents import Agent, Entry, Estimate, MatchGame, MatchResult

DEALS = 10_000
PLAYED_HELP = f"What is played, if not the game of the strategies. {o.GAME_HELP} Or a standard .game name."
AGENT_HELP = (
    f"An agent: {o.OPPONENTS}, human (you), a strategy file or the folder of a build; NAME=AGENT gives it a name. "
    "A strategy takes settings: FILE?threshold=0.05,purify=true, of a bucket game also translation=nearest; "
    "FILE?resolve=turn,seconds=3 solves the rest of a hand at the table, with safe=true safely. The folder of a "
    "portfolio adapts: FOLDER?select=ucb1,bound=500 (rules: fixed, greedy, ucb1, thompson, exponential)."
)


def command(
    agents: Annotated[
        list[str], typer.Argument(metavar="AGENT AGENT...", help=AGENT_HELP, autocompletion=complete_opponent)
    ],
    game: Annotated[str | None, typer.Option(help=PLAYED_HELP, autocompletion=complete_game)] = None,
    deals: Annotated[
        int | None,
        typer.Option(help=f"Different deals, each in all seatings (default {DEALS:,}; with human until you stop)."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Seed of everything random (default 0; with human a random one).")
    ] = None,
    duplicate: Annotated[
        bool, typer.Option(help="Play every deal in all seatings (two players: 2, three: 6), or once.")
    ] = True,
    exact: Annotated[
        bool, typer.Option("--exact", help="Compute the values between strategies, of all pairs, and play nothing.")
    ] = False,
    estimate: Annotated[
        str | None, typer.Option(help="Low-variance estimates beside money: all, or names as ac+ef+bc-divat,aivat.")
    ] = None,
    show: Annotated[
        bool, typer.Option("--show", help="Of portfolios: who was chosen, and what members were estimated to win.")
    ] = False,
    as_json: o.AsJson = False,
) -> int:
    """Play a match in this process and report the winnings, with 95 % confidence intervals over deals.

    With --exact no deals are played: the values of all pairs of two or more strategies are computed on the public tree
    of a two-player game, also of strategies with different card abstractions.

    Ctrl-C stops it and reports the deals that were played.  With human you play yourself, as with `counterplay play`:
    every deal once, seats changing from hand to hand.
    """
    from counterplay.agents import match
    from counterplay.agents.entries import solved_notes

    entries = read_entries(agents)
    played = find_match_game(game, entries)
    if exact:
        _compute(played, entries, as_json, (deals, seed, estimate) == (None, None, None) and duplicate and not show)
        return 0
    others = [entry for entry in entries if entry.source is not terminal_agent]
    if len(others) < len(entries):
        _play_against(played, others, len(entries) - len(others), deals, seed, as_json)
        return 0
    _check_shown(entries, show)
    deals, seed = DEALS if deals is None else deals, seed or 0
    for line in [] if as_json else solved_notes(entries, played):
        note(line)
    started = time.process_time()
    with interruptible(), counted_progress("playing", as_json) as draw:
        result = match(played, entries, deals, seed, duplicate, draw, estimate)
    if result.interrupted:
        note(f"stopped after {result.deals:,} of {deals:,} deals")
    if as_json:
        print_json({**result.to_dict(), "seed": seed, "cpu_seconds": time.process_time() - started})
    else:
        _say(result, show)
    return 130 if result.interrupted else 0


def _check_shown(entries: tuple[Entry, ...], show: bool) -> None:
    if show and all(entry.folder is None for entry in entries):
        raise GameError("--show shows whom portfolios choose; none of these agents is a portfolio")


def _compute(played: MatchGame, entries: tuple[Entry, ...], as_json: bool, alone: bool) -> None:
    """The exact values of all pairs; ``alone`` without options of playing."""
    from counterplay.agents import exact_match

    if not alone:
        raise GameError("--exact plays no deals; leave out --deals, --seed, --no-duplicate, --estimate and --show")
    with counted_progress("computing", as_json) as draw:
        result = exact_match(played, entries, progress=draw)
    if as_json:
        print_json(result.to_dict())
        return
    say(f"{result.game}: exact winnings of the row from the column, both seats equally often, {result.unit}")
    rows = [["", *result.names, "mean"]]
    for name, *cells in result.rows():
        rows.append([str(name), *("" if cell is None else figure(cell, 5, sign=True) for cell in cells)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        say("  ".join(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True)))


def read_entries(agents: list[str]) -> tuple[Entry, ...]:
    """Entries from the words of a command; ``human`` is the person at this terminal."""
    from counterplay.agents.entries import Entry, make_entries

    return tuple(
        Entry(entry.name, terminal_agent) if entry.source == "human" else entry for entry in make_entries(agents)
    )


def terminal_agent(_seed: int) -> Agent:
    """The person at this terminal; uses standard error, so that results can be piped."""
    from counterplay.agents.terminal_player import HumanAgent

    return HumanAgent(asking(note), note)


def _play_against(
    played: MatchGame, others: list[Entry], people: int, hands: int | None, seed: int | None, as_json: bool
) -> None:
    """The person at this terminal against agents."""
    from counterplay.agents.human_match import HumanMatch, Table

    if people > 1:
        raise GameError("one person plays at this terminal; name human once")
    play_here(HumanMatch(Table(played, others), hands=hands, seed=seed), as_json)


def find_match_game(game: str | None, entries: tuple[Entry, ...]) -> MatchGame:
    """The game that was named, or that of the first strategy file."""
    from counterplay.agents import open_match_game

    if game is not None:
        return open_match_game(game)
    for entry in entries:
        if entry.game is not None:
            return open_match_game(entry.game)
    raise GameError("say what is played, as --game leduc; none of these agents is a strategy of a game")


def _say(result: MatchResult, show: bool) -> None:
    say(f"{result.game}: {result.deals:,} deals in {result.seatings} seatings, {result.hands:,} hands")
    width = max(map(len, result.names))
    for number, name in enumerate(result.names):
        say(f"  {name:<{width}}  {_text(result.estimate(number), 'chips a hand')}{_mbb(result, number)}")
    for name, rows in result.estimates.items():
        say(f"{name}, by estimators with less variance:")
        for line in summary_lines(rows, result.big_blind):
            say(f"  {line}")
    if len(result.names) > 2:
        say("differences, paired by deals:")
        for one in range(len(result.names)):
            for other in range(one):
                text = _text(result.difference(other, one), "chips a hand")
                say(f"  {result.names[other]} - {result.names[one]}: {text}")
    if show:
        _show(result)


def _show(result: MatchResult) -> None:
    """Who was chosen and what members were estimated to win, along the match."""
    unit, factor = ("chips a hand", 1.0) if result.big_blind is None else ("mbb/g", 1000.0 / result.big_blind)
    for name, seatings in result.choices.items():
        for turn, found in enumerate(seatings):
            say(f"{name}, seating {turn + 1}: share of the hands that each member played, and its estimate in {unit}")
            rows = [["hands", *found.names]]
            for hands, shares, means in found.curve():
                cells = zip(shares, means, strict=True)
                rows.append([f"{hands:,}", *(f"{100 * one:.0f} %  {figure(factor * mean, 4, sign=True)}"
                                             for one, mean in cells)])  # fmt: skip
            widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
            for row in rows:
                say("  " + "  ".join(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True)))


def _text(estimate: Estimate, unit: str) -> str:
    return f"{figure(estimate.mean, 5, sign=True)} ± {figure(estimate.half, 3)} {unit}"


def _mbb(result: MatchResult, number: int) -> str:
    return "" if result.big_blind is None else f"  ({_text(result.mbb(number), 'mbb/g')})"
