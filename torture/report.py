"""The figures of a torture run, as a table and as JSON."""

from __future__ import annotations

import dataclasses
from typing import Any

from torture.cluster_kills import ClusterKills
from torture.compile_kills import CompileKills
from torture.fuzz import OUTCOMES, Fuzz
from torture.hostile_clients import HostileClients
from torture.kills import Kills
from torture.races import Races

MIB = 1 << 20


def kill_rows(found: Kills | CompileKills | ClusterKills) -> list[dict[str, Any]]:
    """For each verb: kills, signals, runs that were continued, those that ended, and those with the same bits."""
    return [dataclasses.asdict(row) for row in found.rows.values()]


def fuzz_rows(found: Fuzz) -> list[dict[str, Any]]:
    """For each format: inputs, what came of them, the slowest in CPU seconds and the most memory in bytes."""
    rows: dict[str, dict[str, Any]] = {}
    for one in found.formats:
        row = rows.setdefault(
            one.row, {"format": one.row, "inputs": 0, **dict.fromkeys(OUTCOMES, 0), "slowest": 0.0, "memory": 0}
        )
        row["inputs"] += one.done
        for outcome, count in one.counts.items():
            row[outcome] += count
        row["slowest"], row["memory"] = max(row["slowest"], one.slowest), max(row["memory"], one.memory)
    return list(rows.values())


def client_rows(found: HostileClients) -> list[dict[str, Any]]:
    """For each hostile client: how the match ended, lines that were said, seconds, bytes of memory."""
    return [{key: value for key, value in dataclasses.asdict(one).items() if key != "failure"} for one in found.found]


def race_rows(found: Races) -> list[dict[str, Any]]:
    """For each verb: races, runs that were refused, right results."""
    return [dataclasses.asdict(row) for row in found.rows.values()]


def as_text(parts: dict[str, list[dict[str, Any]]]) -> str:
    """All tables, with their sums."""
    return "\n\n".join(_table(name, rows) for name, rows in parts.items() if rows)


def _table(title: str, rows: list[dict[str, Any]]) -> str:
    heads = list(rows[0])
    cells = [heads, *([_text(key, row[key]) for key in heads] for row in rows)]
    if title != "clients":
        cells.append(["all", *(_text(key, _sum(key, rows)) for key in heads[1:])])
    widths = [max(len(row[column]) for row in cells) for column in range(len(heads))]
    texts = {key for key in heads if isinstance(rows[0][key], str)}
    lines = [
        "  ".join(
            cell.ljust(width) if key in texts else cell.rjust(width)
            for key, cell, width in zip(heads, row, widths, strict=True)
        ).rstrip()
        for row in cells
    ]
    return "\n".join([title, *lines])


def _sum(key: str, rows: list[dict[str, Any]]) -> Any:
    values = [row[key] for row in rows]
    return max(values) if key in ("slowest", "memory") else sum(values)


def _text(key: str, value: Any) -> str:
    if key == "memory":
        return f"{value / MIB:.0f} MiB"
    if key in ("slowest", "seconds"):
        return f"{value:.2f} s"
    return f"{value:,}" if isinstance(value, int) else str(value)
