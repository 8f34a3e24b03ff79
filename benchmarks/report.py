"""The table for people, and the raw numbers with everything needed to read them later."""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
import importlib.metadata
import json
import os
import platform
from collections.abc import Sequence
from pathlib import Path

import counterplay
from benchmarks.measures import AGREE_AFTER, Line, Outcome, Plan
from benchmarks.ours import SIGNED

PACKAGES = ("numpy", "numba", "llvmlite", "open_spiel", "LiteEFG")
HEAD = ("measure", "ours", "theirs", "result", "over the turns", "target", "")
VERDICT = {True: "met", False: "NOT MET", None: ""}


def as_text(outcome: Outcome) -> str:
    """The table in columns, then how far the solvers agree and the signatures."""
    lines = table_lines(outcome)
    lines += ["", *_agreement(outcome), *outcome.remarks, ""]
    lines += [_signed_title()] if outcome.signatures else []
    lines += [f"  {name:<40} {value}" for name, value in outcome.signatures.items()]
    return "\n".join(lines)


def table_lines(outcome: Outcome) -> list[str]:
    """The table in columns alone."""
    rows = [HEAD, *(_cells(line) for line in outcome.lines)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
    lines = [_aligned(row, widths) for row in rows]
    lines.insert(1, "-" * len(lines[0]))
    return lines


def as_markdown(outcome: Outcome, date: str) -> str:
    """The table in Markdown."""
    facts = machine()
    lines = [
        "# Speed beside OpenSpiel and LiteEFG",
        "",
        f"{date}, {facts['cpu']}, one core, Python {facts['python']}, "
        + ", ".join(f"{name} {version}" for name, version in versions().items())
        + ".  CPU seconds; results are medians over turns in which the rivals were measured one after the other.",
        "",
        "| " + " | ".join(HEAD) + " |",
        "|---|---:|---:|---:|---:|---:|---|",
        *("| " + " | ".join(_cells(line)) + " |" for line in outcome.lines),
        "",
        *(f"* {text}" for text in (*_agreement(outcome), *outcome.remarks)),
        "",
        _signed_title(),
        "",
        *(f"* {name}: `{value}`" for name, value in outcome.signatures.items()),
        "",
    ]
    return "\n".join(lines)


def write(folder: Path, outcome: Outcome, plan: Plan, seconds: float, label: str) -> tuple[Path, Path]:
    """Write the raw numbers as JSON and the table as Markdown; only all parts of the full plan are ``latest.md``.

    Others have a label, which is part of their names.
    """
    folder.mkdir(parents=True, exist_ok=True)
    date = datetime.datetime.now(datetime.UTC).date().isoformat()
    facts = machine()
    short = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:8]
    record = {
        "date": date,
        "machine": {"id": short, **facts},
        "versions": versions(),
        "plan": dataclasses.asdict(plan),
        "seconds": round(seconds, 1),
        "seconds_of_parts": {name: round(taken, 1) for name, taken in outcome.seconds.items()},
        "results": [{**dataclasses.asdict(line), "median": line.value, "met": line.met} for line in outcome.lines],
        "exploitability": outcome.agreement,
        "agreed": outcome.agreed,
        "signatures": outcome.signatures,
        "remarks": outcome.remarks,
        "raw": outcome.raw,
    }
    raw, table = folder / f"{date}-{short}.json", folder / "latest.md"
    if label:
        raw, table = folder / f"{date}-{short}-{label}.json", folder / f"{label}.md"
    raw.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    table.write_text(as_markdown(outcome, date), encoding="utf-8")
    return raw, table


def machine() -> dict[str, str]:
    """What the numbers depend on, and nothing that names the machine."""
    return {
        "cpu": _cpu_model(),
        "cores": str(os.cpu_count()),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def versions() -> dict[str, str]:
    """Versions of the packages that are there."""
    found = {"counterplay": counterplay.__version__}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def _cpu_model() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"


def _cells(line: Line) -> tuple[str, ...]:
    spread = ""
    if len(line.values) > 1:
        spread = f"{_number(min(line.values), '')} .. {_number(max(line.values), '')}"
    target = ""
    if line.target is not None:
        target = f"{'>=' if line.at_least else '<='} {_number(line.target, line.unit)}"
    return line.what, line.ours, line.theirs, _number(line.value, line.unit), spread, target, VERDICT[line.met]


def _number(value: float, unit: str) -> str:
    digits = 0 if value >= 1000 else 1 if value >= 10 else 2
    return f"{value:,.{digits}f}{'' if unit in ('x', '/s', '') else ' '}{unit}"


def _aligned(row: Sequence[str], widths: Sequence[int]) -> str:
    first, *rest = (
        f"{cell:<{width}}" if i == 0 else f"{cell:>{width}}"
        for i, (cell, width) in enumerate(zip(row, widths, strict=True))
    )
    return "  ".join([first, *rest]).rstrip()


def _agreement(outcome: Outcome) -> list[str]:
    lines = []
    for game, found in outcome.agreement.items():
        values = ", ".join(f"{name} {value:.6g}" for name, value in found.items())
        lines.append(f"exploitability after {AGREE_AFTER[game]} iterations on {game}: {values}")
    if not outcome.agreement:
        return ["it was not checked that the solvers agree"]
    lines.append("the solvers agree" if outcome.agreed else "THE SOLVERS DO NOT AGREE: the ratios mean nothing")
    return lines


def _signed_title() -> str:
    game, iterations = SIGNED
    return f"signatures, {game}, {iterations} iterations:"
