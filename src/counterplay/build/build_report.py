"""The report of a build, as rows of text and as Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from counterplay.evaluation.board_bounds import bound_rows
from counterplay.runtime.number_text import figure


def build_rows(report: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What was built and what was measured, as rows of name and text."""
    rows = [("cards", f"{report['rounds']}, {report['abstraction_information_sets']:,} information sets")]
    if report["bets"] is not None:
        rows.append(("bets", report["bets"]))
    rows.append(("solved by", f"{report['algorithm']}, {report['iterations']:,} iterations"))
    abstract = report["abstract"]
    if abstract is None:
        rows.append(("in the bucket game", f"not measured: {report['abstract_reason'] or report['reason']}"))
    else:
        how = "all boards" if abstract["exact"] else f"{abstract['boards']:,} sampled boards"
        rows.append(
            (
                "in the bucket game",
                f"exploitability {figure(abstract['exploitability_mbb'], 3)} mbb/g, counted over {how}",
            )
        )
    if report["exploitability"] is None and report["bounds"] is not None:
        rows += bound_rows(report["bounds"])
    elif report["exploitability"] is None:
        rows.append(("in the real game", f"not measured: {report['reason']}"))
    else:
        rows.append(("in the real game", f"exploitability {figure(report['exploitability_mbb'])} mbb/g, exactly"))
    for name, row in report["matches"].items():
        margin = "" if row["mbb_95"] is None else f" ± {figure(row['mbb_95'], 3)}"
        won = f"{figure(row['mbb'], sign=True)}{margin} mbb/g"
        rows.append((f"against {name}", f"{won} in {row['hands']:,} duplicate hands"))
    if report["losses"]:
        rows.append(("not ready", f"it loses to {' and '.join(report['losses'])}: give it more time with --seconds"))
    return rows


def markdown_build(report: Mapping[str, Any]) -> str:
    """The report as a page."""
    lines = [
        f"# {report['game']}, preset {report['preset']}",
        "",
        f"Strategy: `agent.strategy`; {report['seconds']:.0f} seconds, {report['cpu_seconds']:.0f} of processors.",
        "Winnings with 95 % confidence intervals over deals; every deal is played in all seatings.",
        "",
        "| | |",
        "|---|---|",
    ]
    lines += [f"| {name} | {value} |" for name, value in build_rows(report)]
    lines += ["", "## Stages", "", "| stage | seconds | CPU seconds |", "|---|---|---|"]
    lines += [f"| {name} | {row['seconds']:.1f} | {row['cpu_seconds']:.1f} |" for name, row in report["stages"].items()]
    points = [point for point in report["curve"] if point["exploitability"] is not None]
    if points:
        lines += ["", "## Exploitability in the bucket game", "", "![the curve](curve.png)", ""]
        lines += ["| iterations | seconds | CPU seconds | chips per game | mbb/g |", "|---|---|---|---|---|"]
        factor = report["abstract"]["exploitability_mbb"] / max(report["abstract"]["exploitability"], 1e-300)
        lines += [
            f"| {point['iterations']:,} | {point['seconds']:.1f} | {point['cpu_seconds']:.1f} | "
            f"{figure(point['exploitability'])} | {figure(point['exploitability'] * factor)} |"
            for point in points
        ]
    return "\n".join(lines) + "\n"
