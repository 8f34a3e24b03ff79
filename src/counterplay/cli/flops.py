"""``counterplay flops``: one spot on many flops, and a report over all of them."""

from __future__ import annotations

import shlex
import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from counterplay.cli import options as o
from counterplay.cli.common import note, print_json, say, say_next
from counterplay.cli.running import live_progress, time_left
from counterplay.cli.solve import read_settings, read_spot
from counterplay.errors import CounterplayError
from counterplay.runtime.signals import interruptible

if TYPE_CHECKING:
    from counterplay.poker.postflop.board_lists import WeightedBoard
    from counterplay.runs.flop_report import FlopReport, SolvedBoard
    from counterplay.runtime.progress import Progress, ProgressCallback

SHOWN = 30
"""Boards up to which the terminal lists each."""

_BOARDS = "Which flops"

Folder = Annotated[
    Path, typer.Argument(metavar="FOLDER", help="For the results; alone, it continues what was started in it.")
]
Flops = Annotated[
    str | None,
    typer.Option(
        help="These: 'QsJh2h AsKd7c:2' (2: its weight), or @FILE.  Turns and rivers too.", rich_help_panel=_BOARDS
    ),
]
Every = Annotated[bool, typer.Option("--all", help="All 1,755, up to renaming suits.", rich_help_panel=_BOARDS)]
Subset = Annotated[
    int | None, typer.Option(help="So many that stand for all, evenly spread over them.", rich_help_panel=_BOARDS)
]
Random = Annotated[int | None, typer.Option(help="So many at random.", rich_help_panel=_BOARDS)]
Seed = Annotated[int, typer.Option(min=0, help="Of --random.", rich_help_panel=_BOARDS)]
Node = Annotated[
    list[str] | None,
    typer.Option(help="A decision of the report, before another card: 'check bet25'.  Default: '' and check."),
]
UntilText = Annotated[
    str | None, typer.Option(help="Each board ends at this exploitability: % of the pot, or chips (default 0.5%).")
]
Keep = Annotated[bool, typer.Option("--keep", help="Save the strategy of each board in the folder.")]


def command(
    folder: Folder,
    pot: o.Pot = None,
    stack: o.Stack = None,
    oop: o.Oop = None,
    ip: o.Ip = None,
    ranges: o.Ranges = None,
    flops: Flops = None,
    every: Every = False,
    subset: Subset = None,
    random: Random = None,
    seed: Seed = 0,
    until: UntilText = None,
    node: Node = None,
    bets: o.Bets = None,
    raises: o.Raises = None,
    donks: o.Donks = None,
    allin_threshold: o.AllinThreshold = None,
    chip: o.Chip = None,
    rake: o.Rake = None,
    rake_cap: o.RakeCap = None,
    add_line: o.AddLine = None,
    remove_line: o.RemoveLine = None,
    isomorphism: o.Isomorphism = True,
    lock: o.Lock = None,
    algorithm: o.AlgorithmName = None,
    settings: o.Settings = None,
    keep: Keep = False,
    threads: o.Threads = None,
    memory_limit: o.MemoryLimit = None,
    quiet: o.Quiet = False,
    as_json: o.AsJson = False,
) -> int:
    """Solve a spot on many flops, and report equity, expected chips and frequencies on each and over all.

    counterplay flops report --subset 25 --pot 50 --stack 200 --oop "66+,A8s+" --ip "22+,AT+" --until 0.5%

    Everything is kept in the folder: finished flops are not repeated, and an unfinished one continues from its last
    checkpoint, so that a run can be stopped and continued at any time: counterplay flops report
    """
    return _run({**locals(), "board": None})


def _run(given: dict[str, Any]) -> int:
    from counterplay.runs import FlopPlan, solve_flops

    silent = given["quiet"] or given["as_json"]
    spot, boards = read_spot(given), _boards(given)
    given_plan = {
        "until": given["until"], "algorithm": given["algorithm"], "settings": read_settings(given["settings"] or []),
        "nodes": None if given["node"] is None else tuple(given["node"]),
    }  # fmt: skip
    chosen = {name: value for name, value in given_plan.items() if value}
    plan = FlopPlan(spot, **chosen) if spot.given or chosen else None
    with interruptible(), _progress(silent) as draw:
        report = solve_flops(
            given["folder"], plan, boards, keep=given["keep"], threads=given["threads"],
            memory_limit=given["memory_limit"], progress=draw,
        )  # fmt: skip
    again = f"counterplay flops {shlex.quote(str(given['folder']))}"
    if given["as_json"]:
        print_json(report.to_dict())
    else:
        _print(report, again)
    return 130 if report.left else 0


def _boards(given: dict[str, Any]) -> list[WeightedBoard] | None:
    """The boards of the options; None if there are none."""
    from counterplay.poker.postflop.board_lists import all_flops, random_flops, read_boards, subset_flops

    named = [f"--{name}" for name in ("flops", "subset", "random") if given[name] is not None]
    named += ["--all"] if given["every"] else []
    if len(named) > 1:
        raise CounterplayError(f"{' and '.join(named)} both say which flops; give one of them")
    if given["flops"] is not None:
        return read_boards(given["flops"])
    if given["subset"] is not None:
        return subset_flops(given["subset"])
    if given["random"] is not None:
        return random_flops(given["random"], given["seed"])
    return all_flops() if given["every"] else None


def _print(report: FlopReport, again: str) -> None:
    say(report.title)
    say(f"  {report.summary}")
    total = report.total()
    if total is not None:
        rows = [*zip(report.boards, report.shares, strict=True)] if len(report.boards) <= SHOWN else []
        say()
        for line in _lines(report, [*rows, (total, 1.0)]):
            say(line)
        say()
        for name in ("flops.csv", "flops.html"):
            say(f"wrote {Path(report.folder) / name}")
    if report.left:
        say()
        say("Stopped; what is finished is kept.")
        say_next((again, "continue"))


def _lines(report: FlopReport, rows: list[tuple[SolvedBoard, float]]) -> list[str]:
    """A table of boards: share, equity, expected chips, exploitability, and the frequencies of each decision."""
    total = rows[-1][0]
    first = ["", "", "", "", "", ""]
    second = ["board", "share", "equity oop", "ev oop", "ev ip", "expl."]
    for decision in total.decisions:
        first += [decision.name, *[""] * (len(decision.frequencies) - 1)]
        second += [*decision.frequencies]
    table = [second]
    for one, share in rows:
        words = [
            one.board, f"{100 * share:.2f}%", f"{100 * one.equity[0]:.2f}%", f"{one.value[0]:.3f}",
            f"{one.value[1]:.3f}", f"{100 * one.exploitability / report.pot:.2f}%",
        ]  # fmt: skip
        for known, decision in zip(total.decisions, one.decisions, strict=True):
            words += [f"{100 * decision.frequencies.get(action, 0.0):.2f}%" for action in known.frequencies]
        table.append(words)
    widths = [max(len(line[column]) for line in table) for column in range(len(second))]
    heads, column = "", 0
    for word, width in zip(first, widths, strict=True):
        heads = f"{heads:<{column}}{word}" if word else heads
        column += width + 2
    body = ["  ".join(f"{word:>{width}}" for word, width in zip(line, widths, strict=True)) for line in table]
    return [f"  {line}".rstrip() for line in (heads, *body)]


def _progress(quiet: bool) -> AbstractContextManager[ProgressCallback | None]:
    """A bar of the boards on a terminal; elsewhere a line for each finished board, at most one every ten seconds.

    While one board takes long, there is a line every minute.
    """
    last, said = -1, time.monotonic()

    def line(now: Progress) -> None:
        nonlocal last, said
        finished, silent = now.iterations > last >= 0, time.monotonic() - said
        if silent >= 60 or (finished and (last == 0 or silent >= 10)):
            said = time.monotonic()
            note(f"{now.iterations:,} of {now.total or 0:,} boards, {now.stage}{time_left(now)}")
        last = now.iterations

    def show(now: Progress) -> tuple[str, dict[str, Any]]:
        state = f"{now.stage}: {now.detail}, exploitability {now.exploitability:.3g}{time_left(now)}"
        return "boards", {"completed": now.iterations, "total": now.total, "state": state}

    columns = ("{task.description}", "{task.completed} of {task.total}", "bar", "elapsed", "{task.fields[state]}")
    return live_progress(quiet, line, columns, show, ("boards", {"total": None, "state": ""}), transient=True)
