"""``counterplay dealer``: a match of the poker competition over TCP, with the arguments of its reference dealer."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from counterplay.cli import options as o
from counterplay.cli.common import note, print_json
from counterplay.errors import GameError

ABORTED = 1
LOOPBACK = "127.0.0.1"


def command(
    name: Annotated[str, typer.Argument(help="Name of the match; its files are NAME.log and NAME.tlog.")],
    game: Annotated[str, typer.Argument(help="A .game file, a standard one by name, or a poker game of ours.")],
    hands: Annotated[int, typer.Argument(help="Number of hands.")],
    seed: Annotated[int, typer.Argument(help="Seed of the cards.")],
    players: Annotated[list[str], typer.Argument(metavar="P1 P2...", help="The players' names, by seat.")],
    fixed: Annotated[bool, typer.Option("-f", help="Fixed seats: positions do not rotate.")] = False,
    log: Annotated[bool, typer.Option("-L/-l", help="Write NAME.log, or not.")] = True,
    transactions: Annotated[bool, typer.Option("-T/-t", help="Write the transaction log NAME.tlog, or not.")] = False,
    append: Annotated[bool, typer.Option("-a", help="Append to those files; with -T, resume the match.")] = False,
    ports: Annotated[str, typer.Option("-p", help="Ports to listen on, such as 18791,18792.")] = "",
    quiet: Annotated[bool, typer.Option("-q", help="Print only errors, warnings and the score.")] = False,
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 is all interfaces.")] = LOOPBACK,
    t_response: Annotated[int, typer.Option("--t_response", help="Longest answer, in milliseconds.")] = 600_000,
    t_hand: Annotated[int, typer.Option("--t_hand", help="Longest total of a player in a hand.")] = 600_000,
    t_per_hand: Annotated[int, typer.Option("--t_per_hand", help="Budget of a match, for each hand.")] = 7_000,
    start_timeout: Annotated[
        int, typer.Option("--start_timeout", help="How long to wait for the players; negative: forever.")
    ] = -1,
    as_json: o.AsJson = False,
) -> int:
    """Deal a match to programs that speak the protocol of the Annual Computer Poker Competition.

    The ports of the seats are the first line on standard output (with --json, on standard error); the score is the
    last.  The exit code is 1 when the match ended early.
    """
    from counterplay.agents import Dealer, DealerConfig, open_match_game
    from counterplay.poker.acpc.match_log import format_chips, format_score

    config = DealerConfig(
        name=name, game=open_match_game(game).definition(), hands=hands, seed=seed, players=tuple(players),
        game_file=game, rotate=not fixed, log=Path(f"{name}.log") if log else None,
        transactions=Path(f"{name}.tlog") if transactions else None, append=append, host=host, ports=_ports(ports),
        response_ms=t_response, hand_ms=t_hand, per_hand_ms=t_per_hand, start_ms=start_timeout,
    )  # fmt: skip
    dealer = Dealer(config, note, verbose=not quiet)
    print(" ".join(map(str, dealer.ports)), file=sys.stderr if as_json else sys.stdout, flush=True)
    outcome = dealer.play()
    if as_json:
        score = None if outcome.score is None else [format_chips(won) for won in outcome.score]
        print_json({
            "match": name, "game": game, "hands": outcome.hands, "seed": seed, "players": players, "score": score,
            "reason": outcome.reason, "warnings": list(outcome.warnings), "seconds": list(outcome.seconds),
        })  # fmt: skip
    elif outcome.score is not None:
        print(format_score(outcome.score, config.players))
    return 0 if outcome.score is not None else ABORTED


def _ports(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(port) for port in text.split(",")) if text else ()
    except ValueError:
        raise GameError(f"ports are written like 18791,18792; got {text!r}") from None
