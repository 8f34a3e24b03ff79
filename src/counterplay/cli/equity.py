"""``counterplay equity``: how often ranges win against each other if nothing more is bet."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from counterplay.cli import options as o
from counterplay.cli.common import check_writable, note, print_json, say
from counterplay.cli.running import live_progress

if TYPE_CHECKING:
    from counterplay.poker.range_equity import EquityResult
    from counterplay.runtime.progress import Progress, ProgressCallback

Ranges = Annotated[
    list[str], typer.Argument(metavar="RANGE RANGE [RANGE...]", help="Two to ten ranges: AsKh, QQ+,AKs, random, @FILE.")
]
Board = Annotated[str, typer.Option(help="Up to five cards: Qs Jh 2h.")]
Dead = Annotated[str, typer.Option(help="Cards that nobody holds and that will not come.")]
Samples = Annotated[int | None, typer.Option(min=2, help="Sample this many deals instead of enumerating all.")]
Exact = Annotated[bool, typer.Option("--exact", help="Enumerate all deals, however long it takes.")]
Seed = Annotated[int, typer.Option(min=0, help="Of the samples.")]
Hands = Annotated[bool, typer.Option("--hands", help="Each hand of each range as well.")]
Csv = Annotated[Path | None, typer.Option(help="Write the table to this file, for spreadsheets.")]
Html = Annotated[Path | None, typer.Option(help="Write the tables to this file, a page that needs no other.")]


def command(
    ranges: Ranges,
    board: Board = "",
    dead: Dead = "",
    samples: Samples = None,
    exact: Exact = False,
    seed: Seed = 0,
    hands: Hands = False,
    csv: Csv = None,
    html: Html = None,
    quiet: o.Quiet = False,
    as_json: o.AsJson = False,
) -> int:
    """Compute the equities of ranges that are all in: how often each wins, ties, and its mean share of the pot.

    counterplay equity AA KK            counterplay equity "QQ+,AKs" "22+,AT+" random --board "Qs Jh 2h"

    All deals of hands and boards are enumerated where that takes seconds; elsewhere they are sampled, and the standard
    error is given.
    """
    check_writable(csv, html)
    from counterplay.poker.range_equity import equity

    with _progress(quiet or as_json) as draw:
        found = equity(*ranges, board=board, dead=dead, samples=samples, exact=exact, seed=seed, progress=draw)
    if csv is not None:
        found.to_csv(csv, hands)
    if html is not None:
        found.to_html(html, hands)
    files = {"csv": csv, "html": html}
    if as_json:
        print_json(
            {**found.to_dict(hands), **{name: None if path is None else str(path) for name, path in files.items()}}
        )
        return 0
    _print(found, hands)
    for path in files.values():
        if path is not None:
            say(f"wrote {path}")
    return 0


def _print(found: EquityResult, hands: bool) -> None:
    say(found.title)
    say(f"  {found.method}")
    say()
    for each in (False, True) if hands else (False,):
        for line in _lines(found, each):
            say(line)
        if each != hands:
            say()


def _lines(found: EquityResult, hands: bool) -> list[str]:
    """A table of the ranges, or of their hands."""
    rows = found.rows(hands)
    heads = ["player", "hand" if hands else "range", "weight" if hands else "hands", "equity"]
    heads += [*([] if found.exact else ["+-"]), "win", "tie"]
    table = [heads]
    for number, row in rows:
        shares = (row.equity, *(() if row.error is None else (row.error,)), row.win, row.tie)
        size = f"{100 * row.weight:.3f}%" if hands else f"{found.ranges[number - 1].size:,}"
        name = row.name if len(row.name) <= 40 else f"{row.name[:37]}..."
        table.append([str(number), name, size, *(f"{100 * share:.2f}%" for share in shares)])
    widths = [max(len(line[column]) for line in table) for column in range(len(heads))]
    return [
        "  " + "  ".join(
            f"{word:<{width}}" if column == 1 else f"{word:>{width}}"
            for column, (word, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in table
    ]  # fmt: skip


def _progress(quiet: bool) -> AbstractContextManager[ProgressCallback | None]:
    """A bar on a terminal; elsewhere a line now and then, if it takes long."""
    started, wait = time.monotonic(), 5.0

    def line(now: Progress) -> None:
        nonlocal wait
        if time.monotonic() - started > wait and now.share < 1:
            wait *= 2
            note(f"{now.iterations:,} of {now.total or 0:,} {now.stage}")

    columns = ("{task.description}", "bar", "percent", "remaining")
    return live_progress(quiet, line, columns, lambda now: (now.stage, {"completed": now.share}), transient=True)
