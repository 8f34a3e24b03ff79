"""``counterplay play``: a table in the terminal, against any strategy."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from counterplay.cli import options as o
from counterplay.cli.common import check_writable, note, print_json, say
from counterplay.cli.completions import complete_game, complete_opponent
from counterplay.runtime.signals import interruptible

if TYPE_CHECKING:
    from counterplay.agents.human_match import HumanMatch

WHAT_HELP = (
    "A strategy file of any kind, the folder of a build, or a game: its name (leduc), with parameters "
    "(leduc(ranks=4)), or a file (my_game.py:MyGame, x.efg, x.game)."
)


def command(
    what: Annotated[str, typer.Argument(metavar="FILE|GAME", help=WHAT_HELP, autocompletion=complete_game)],
    against: Annotated[
        list[str] | None,
        typer.Option(
            help=f"The opponent: {o.OPPONENTS}, or a strategy file.  Can be repeated, once for a seat.",
            autocompletion=complete_opponent,
        ),
    ] = None,
    hands: Annotated[int | None, typer.Option(help="Stop after this many hands (default: when you stop).")] = None,
    seat: Annotated[
        str | None, typer.Option(help="Always sit here: 1, 2, ..., or oop or ip in a postflop spot (default: in turn).")
    ] = None,
    hint: Annotated[
        bool, typer.Option("--hint", help="Show at every decision what the strategy would do with your cards.")
    ] = False,
    seed: Annotated[int | None, typer.Option(help="Seed of cards and opponents, to repeat a match.")] = None,
    log: Annotated[Path | None, typer.Option(help="Write the hands to this file (poker: as dealers do).")] = None,
    terminal: Annotated[bool, typer.Option("--terminal", help="Play in the terminal (the default).")] = True,
    as_json: o.AsJson = False,
) -> int:
    """Play against a strategy, hand after hand: you see your cards, and type what you do.

    f folds, c checks or calls, r bets or raises, ? explains, h gives a hint, q stops and shows the score, as do Ctrl-C
    and Ctrl-D.  Seats change with every hand.  A strategy of solve holdem is played from its spot on, with the hands of
    its ranges.
    """
    from counterplay.agents.human_match import HumanMatch, check_numbers, open_table, read_seat

    check_writable(log)
    check_numbers(hands, seed)
    table = open_table(what, against or [])
    fixed = None if seat is None else read_seat(seat, table.played)
    play_here(HumanMatch(table, hands=hands, seed=seed, hints=hint, seat=fixed, log=log), as_json)
    return 0


def play_here(match: HumanMatch, as_json: bool) -> None:
    """Play at this terminal and report; with ``as_json`` everything but the result is on standard error."""
    tell = note if as_json else say
    with interruptible():
        result = match.play(asking(tell), tell)
    if as_json:
        print_json(result.to_dict())
        return
    say(result.text)
    if result.log is not None:
        say(f"Hands: {result.log}")


def asking(tell: Callable[[str], None] = note) -> Callable[[str], str]:
    """What asks the person at this terminal; answers that are piped in are shown, as a terminal would."""
    stream = sys.stderr if tell is note else sys.stdout

    def ask(prompt: str) -> str:
        stream.write(prompt)
        stream.flush()
        line = sys.stdin.readline()
        if not sys.stdin.isatty():
            tell(line.rstrip("\n"))
        if not line:
            raise EOFError
        return line

    return ask
