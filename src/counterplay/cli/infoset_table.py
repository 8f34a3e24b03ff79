"""The infosets of a strategy in the terminal: one line each, with probabilities, reach and value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from counterplay.cli.common import print_json, say

if TYPE_CHECKING:
    from counterplay.cli.show import Files
    from counterplay.evaluation.infoset_rows import InfosetRow, InfosetTable
    from counterplay.strategy import Strategy

SHOWN = 40
"""Rows on a terminal by default."""

MANY = 4
"""Of more actions than these, only those that are played are shown."""

PLAYED = 0.00005
"""Smaller probabilities print as 0."""

WIDEST = 60
"""Longer names of infosets are not aligned."""


def show_infosets(
    strategy: Strategy, player: int | None, prefix: str, rows: int | None, files: Files, as_json: bool
) -> None:
    """Show the infosets of a player, or of all, whose names start with the prefix, or write them to files."""
    from counterplay.evaluation.infoset_rows import infoset_table

    limit = rows if rows is not None or as_json or files.csv or files.html else SHOWN
    found = infoset_table(strategy, player=player, prefix=prefix, rows=limit)
    if files.csv is not None:
        found.to_csv(files.csv)
    if files.html is not None:
        found.to_html(files.html)
    if as_json:
        print_json({**found.to_dict(), **files.to_dict()})
        return
    if files.written:
        for line in (f"wrote {len(found.rows):,} infosets to {path}" for path in files.written):
            say(line)
        for line in found.notes:
            say(line[:1].upper() + line[1:] + ".")
        return
    say(_title(strategy))
    say()
    for line in infoset_lines(found.rows):
        say(line)
    say()
    for line in _remarks(found):
        say(line)


def _title(strategy: Strategy) -> str:
    from counterplay.poker.postflop import game_title

    return f"{game_title(strategy.game)}: strategy by {strategy.provenance}"


def infoset_lines(rows: Sequence[InfosetRow]) -> list[str]:
    """A table with one line for each infoset."""
    known = any(row.reach is not None for row in rows)
    heads = ["player", "infoset", *(["reach", "value"] if known else []), "probabilities"]
    lines = [[str(row.player + 1), _name(row.infoset), *(_numbers(row) if known else [])] for row in rows]
    mixes = [_mix(row) for row in rows]
    widths = [
        max([len(head), *(len(line[place]) for line in lines if len(line[place]) <= WIDEST)])
        for place, head in enumerate(heads[:-1])
    ]
    columns = [max(len(mix[place]) for mix in mixes if place < len(mix)) for place in range(max(map(len, mixes)))]
    texts = ["  ".join(f"{cell:<{width}}" for cell, width in zip(mix, columns, strict=False)) for mix in mixes]
    found = []
    for cells, text in zip([heads[:-1], *lines], [heads[-1], *texts], strict=True):
        aligned = [f"{cell:>{width}}" if place > 1 else f"{cell:<{width}}"
                   for place, (cell, width) in enumerate(zip(cells, widths, strict=True))]  # fmt: skip
        found.append(f"  {'  '.join([*aligned, text])}".rstrip())
    return found


def _name(infoset: str) -> str:
    return infoset.replace("\n", "\\n") or "''"


def _numbers(row: InfosetRow) -> list[str]:
    reach = "" if row.reach is None else f"{row.reach:.4f}" if row.reach >= PLAYED or not row.reach else "<0.0001"
    return [reach, "-" if row.value is None else f"{round(row.value, 4) + 0.0:+.4f}"]


def _mix(row: InfosetRow) -> list[str]:
    """Each action with its probability."""
    shares = row.probabilities.items()
    few = len(shares) <= MANY
    return [f"{action} {share:.4f}" for action, share in shares if few or share >= PLAYED]


def _remarks(found: InfosetTable) -> list[str]:
    lines = []
    if any(row.reach is not None for row in found.rows):
        lines.append("reach: how often play gets there; value: what the player who acts then wins on average")
    if found.left_out is None:
        lines.append("There are more infosets: --rows N shows more, --node and --player select some.")
    elif found.left_out:
        every = len(found.rows) + found.left_out
        more = f"{found.left_out:,} more infosets" if found.left_out > 1 else "1 more infoset"
        lines.append(f"{more}: --rows {every} shows all, --node and --player select some.")
    return [*lines, *(note[:1].upper() + note[1:] + "." for note in found.notes)]
