"""The options that verbs share, as annotated types with their help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from counterplay.cli.completions import complete_algorithm, complete_game, complete_solved_game

GAME_HELP = (
    "A name (leduc), with parameters (leduc(ranks=4)), a file (my_game.py:MyGame, x.efg, x.game) or openspiel:NAME."
)
OPPONENTS = (
    "always-fold, always-call, always-raise, 50/50, uniform, tight, loose, aggressive, tilted, equilibrium, "
    "small-equilibrium"
)
"""The names of ready-made opponents, for help; the table is ``strategy.ready_made``."""
_FORGET = (
    "What players forget, such as last-bids=2 (counterplay games lists what a game offers), initial, match=PATTERN, "
    "map=FILE.  Can be repeated."
)
_SPOT = "A hold'em subgame (solve holdem)"

GameName = Annotated[str, typer.Argument(metavar="GAME", help=GAME_HELP, autocompletion=complete_game)]
OptionalGame = Annotated[
    str | None, typer.Argument(metavar="GAME", help=GAME_HELP, autocompletion=complete_solved_game)
]
AlgorithmName = Annotated[
    str | None,
    typer.Option(
        "--algorithm", "-a", help="cfr+ by default, dcfr for spots; `counterplay algorithms` lists them.",
        autocompletion=complete_algorithm,
    ),
]  # fmt: skip
Iterations = Annotated[int | None, typer.Option(help="Stop at this iteration (default 1000, or the solution).")]
Seconds = Annotated[float | None, typer.Option(help="Stop after this many seconds, including those before --resume.")]
UntilText = Annotated[
    str | None,
    typer.Option(
        help="Stop at this exploitability: chips per game (1e-4), mbb/g (0.5mbb), or of a spot % of the pot (0.3%)."
    ),
]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="Write the strategy to this file.")]
Plot = Annotated[Path | None, typer.Option(help="Draw the convergence curve into this file (.png, .svg).")]
Checkpoint = Annotated[Path | None, typer.Option(help="Save the run into this file every minute and at the end.")]
CheckpointTimes = Annotated[
    str | None,
    typer.Option(
        metavar="START[,FACTOR[,STEP]]",
        help="With --checkpoint: keep one after START seconds of solving, and each next after FACTOR times as many "
        "plus STEP, as RUN.ITERATIONS.checkpoint: 60 is every minute, 60,2 after 60, 120, 240 s.",
    ),
]
Resume = Annotated[Path | None, typer.Option(help="Continue this checkpoint.")]
ProfileKind = Annotated[
    str | None,
    typer.Option(help="Which profile: average (default), last (keeps no average) or best (least exploitable seen)."),
]
Settings = Annotated[
    list[str] | None, typer.Option("--set", help="Change a setting of the algorithm: --set delay=100.")
]
Player = Annotated[int | None, typer.Option(help="With maxmin: who maximises, 1 (default) or 2.")]
Epsilon = Annotated[
    float | None,
    typer.Option(help="With maxmin and double-oracle: the gap to stop at, relative to the largest utility."),
]
Exact = Annotated[bool, typer.Option("--exact", help="With lp: the value as a fraction; small games.")]
Forget = Annotated[list[str] | None, typer.Option(help=_FORGET)]
MapOut = Annotated[Path | None, typer.Option(help="Write the abstraction to this file, for map=FILE.")]
Part = Annotated[
    str | None,
    typer.Option(
        metavar="BETTING[@PLAYER+...]",
        help="With --fix: solve only what follows this betting, as rf, f,rf or kk/b@1 (only player 1 has an expert "
        "there; the others are free everywhere).",
    ),
]
Fix = Annotated[
    str | None,
    typer.Option(help="With --part: the strategy that is played outside the part, a file or as uniform."),
]
Cards = Annotated[
    list[str] | None,
    typer.Option(
        help="Solve a poker game in this card abstraction (.cpa); one for each player if they differ; PART=FILE is "
        "that of a part of the betting (rf=fine.cpa)."
    ),
]
OpponentCards = Annotated[
    str | None,
    typer.Option(
        metavar="FILE|none",
        help="With --cards: solve each seat against an opponent with these cards, or with none for one who knows all "
        "hands apart; the strategy is that of --cards.",
    ),
]
Boards = Annotated[
    str | None,
    typer.Option(
        help="With --cards: measure in the bucket game, over all boards or a number of sampled ones (all, 2000)."
    ),
]
Seed = Annotated[int | None, typer.Option(help="Of the random choices (default 0); full-width algorithms make none.")]
Threads = Annotated[int | None, typer.Option(help="Threads of sampling algorithms and on public trees (default 1).")]
Representation = Annotated[
    str,
    typer.Option(
        help="history: compile the game; public: its public states and hands; states: sample it without; auto: "
        "history, or if that does not fit public with full-width algorithms and states with sampling ones."
    ),
]
Tables = Annotated[
    str | None,
    typer.Option(
        metavar="memory|disk:FOLDER",
        help="Where the tables of a public tree are: in memory (default), or compressed in a folder, for those that do "
        "not fit; --resume FOLDER continues.",
    ),
]
MemoryLimit = Annotated[
    str | None, typer.Option(help="Memory that may be used, such as 500MiB or 2GiB; by default the free memory.")
]
Board = Annotated[str | None, typer.Option(help="3, 4 or 5 cards, QsJh2h.", rich_help_panel=_SPOT)]
Pot = Annotated[float | None, typer.Option(help="Chips in the pot.", rich_help_panel=_SPOT)]
Stack = Annotated[
    str | None,
    typer.Option(help="Remaining stack of each player, or those of oop and ip: 100,80.", rich_help_panel=_SPOT),
]
Oop = Annotated[
    str | None,
    typer.Option(help="Range of the player who acts first: 66+,A8s+,AKo:0.5, or @FILE.", rich_help_panel=_SPOT),
]
Ip = Annotated[str | None, typer.Option(help="Range of the player who acts last.", rich_help_panel=_SPOT)]
Ranges = Annotated[
    Path | None,
    typer.Option(help="Both ranges from this file: lines OOP: ... and IP: ..., or two lines.", rich_help_panel=_SPOT),
]
Bets = Annotated[
    str | None,
    typer.Option(
        help="Sizes: 50%, 100c, 20c3r, e, 2e, allin; by street and player: flop=50%;ip.turn=33%,a. "
        "Default 50%,allin.  With --cards: betting abstraction of a no-limit game, as fcpa or 0.5,1,allin.",
        rich_help_panel=_SPOT,
    ),
]
Raises = Annotated[
    str | None, typer.Option(help="Sizes of raises, 2.5x too (default 60%,allin).", rich_help_panel=_SPOT)
]
Donks = Annotated[
    str | None,
    typer.Option(help="Sizes of oop's first bet after calling a street (default: bets).", rich_help_panel=_SPOT),
]
AllinThreshold = Annotated[
    str | None, typer.Option(help="Bets of this fraction of the stack are all in (default 67%).", rich_help_panel=_SPOT)
]
Chip = Annotated[float | None, typer.Option(help="Bets are multiples of this (default 1).", rich_help_panel=_SPOT)]
Rake = Annotated[
    str | None,
    typer.Option(help="Part of the pot that the house takes: 5% or 0.05 (default none).", rich_help_panel=_SPOT),
]
RakeCap = Annotated[float | None, typer.Option(help="Most chips that the house takes.", rich_help_panel=_SPOT)]
AddLine = Annotated[
    list[str] | None,
    typer.Option(help="Add a line of bets to the tree: 'x b50 r200'.  Can be repeated.", rich_help_panel=_SPOT),
]
RemoveLine = Annotated[
    list[str] | None,
    typer.Option(help="Remove the last action of a line: 'x b33'.  Can be repeated.", rich_help_panel=_SPOT),
]
Isomorphism = Annotated[bool, typer.Option(help="Merge isomorphic suits.", rich_help_panel=_SPOT)]
Lock = Annotated[
    list[str] | None,
    typer.Option(
        help="Fix a strategy: 'check bet25=call 66+,AQ; fold rest', or NODE=FILE.  Can be repeated.",
        rich_help_panel=_SPOT,
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="local|HOST:PORT",
        help="Run on Ray: local starts it on this machine; HOST:PORT is the head of a cluster (docs/large-games.md).",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(min=1, help="With --cluster: jobs at a time (default: one for each core of the cluster)."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress line.")]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print one JSON object on standard output and nothing else there.")
]


def option_name(name: str) -> str:
    """A name as an option: ``map_out`` is --map-out."""
    return f"--{name.replace('_', '-')}"
