"""The report of a build, as rows of text and as Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from counterplay.evaluation.board_bounds import bound_rows
from counterplay.runtime.number_text import figure


def build_rows(report: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What was built and what was measured, as rows of name and text."""
    if "members" in report:
        return _portfolio_rows(report)
    rows = [("cards", f"{report['rounds']}, {report['abstraction_information_sets']:,} information sets")]
    rows += _part_rows(report)
    if report["bets"] is not None:
        rows.append(("bets", report["bets"]))
    both = report.get("equilibrium")
    trunk = f", trunk of {report['trunk']} rounds" if both and report["trunk"] else ""
    rows.append(("solved by", f"{report['algorithm']}, {report['iterations']:,} iterations{trunk}"))
    abstract = report["abstract"] if both is None else None
    if both is not None:
        pass  # the curve is that of the equilibrium
    elif abstract is None:
        rows.append(("in the bucket game", f"not measured: {report['abstract_reason'] or report['reason']}"))
    else:
        how = "all boards" if abstract["exact"] else f"{abstract['boards']:,} sampled boards"
        whose = "base in the bucket game" if report.get("experts") else "in the bucket game"
        rows.append(
            (
                whose,
                f"exploitability {figure(abstract['exploitability_mbb'], 3)} mbb/g, counted over {how}",
            )
        )
    rows += _real_rows(report)
    if both is not None:
        rows += _equilibrium_rows(both)
    rows += _match_rows(report)
    if report["losses"]:
        rows.append(("not ready", f"it loses to {', to '.join(report['losses'])}: give it more time with --seconds"))
    return rows


def _match_rows(report: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What was won, and what differs from a published agent."""
    rows = []
    for name, row in report["matches"].items():
        margin = "" if row["mbb_95"] is None else f" ± {figure(row['mbb_95'], 3)}"
        won = f"{figure(row['mbb'], sign=True)}{margin} mbb/g"
        rows.append((f"against {name}", f"{won} in {row['hands']:,} duplicate hands"))
    departures = report.get("departures", ())
    return rows + [("unlike the published agent" if place == 0 else "", text) for place, text in enumerate(departures)]


def _portfolio_rows(report: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The members of a portfolio: what each is, and what it loses in the real game."""
    rows = []
    for name, one in report["members"].items():
        tilt = "" if one.get("tilt") in (None, "none") else f", in a game tilted {one['tilt']}"
        size = f"{one['information_sets']:,} information sets, {one['iterations']:,} iterations{tilt}"
        rows.append((name, f"{one['rounds']}, {size}"))
        if one.get("opponents"):
            rows.append(("", f"a response to {', '.join(one['opponents'])} in {one['hands']:,} hands"))
        if one.get("inside_mbb") is not None:
            won = "" if one["wins_mbb"] is None else f"; wins {figure(one['wins_mbb'], 3)} from the model"
            rows.append(("", f"exploitability {figure(one['inside_mbb'], 3)} mbb/g in the bucket game{won}"))
        rows += [(name if title == "in the real game" else f"{name} {title}", text)
                 for title, text in _real_rows(one)]  # fmt: skip
        if one.get("published_mbb") is not None:
            rows.append(("", f"published, in limit hold'em: {one['published_mbb']:g} mbb/g"))
        rows += [("warning", text) for text in one.get("notes", ())]
    rows.append(("solved by", report["algorithm"]))
    rows += _match_rows(report)
    if report["losses"]:
        rows.append(("note", f"it loses to {', to '.join(report['losses'])}: give it more time with --seconds"))
    return rows


def _part_rows(report: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The parts with cards of their own, and their experts."""
    rows = [(f"cards, {part}", rounds) for part, rounds in report.get("zones", {}).items()]
    found = report.get("important")
    if found is not None:
        share = f"{found['sequences']:,} betting sequences, {100 * found['share']:.2g} %"
        where = f" to {found['player']} in {found['hands']:,} logged hands" if found.get("logs") else ""
        rows.append(("cards, important", f"{found['rounds']}; {share}, worth more than {found['threshold']:g}{where}"))
    tilt = f", in a game tilted {report['tilt']}" if report.get("tilt") else ""
    for part, one in report.get("experts", {}).items():
        if not one["information_sets"]:
            rows.append((f"expert after {part}", "none: the base never plays that"))
            continue
        size = f"{one['information_sets']:,} information sets"
        rows.append((f"expert after {part}", f"{one['rounds']}, {size}, {one['iterations']:,} iterations{tilt}"))
    return rows


def _real_rows(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What a strategy loses in the real game."""
    if found.get("exploitability") is not None:
        return [("in the real game", f"exploitability {figure(found['exploitability_mbb'])} mbb/g, exactly")]
    if found["bounds"] is not None:
        return bound_rows(found["bounds"])
    return [("in the real game", f"not measured: {found['reason']}")]


def _equilibrium_rows(both: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The equilibrium of the bucket game, beside which the agent was made."""
    rows = [("equilibrium", f"{both['algorithm']}, {both['iterations']:,} iterations")]
    rows += [(f"equilibrium {name}", text) for name, text in _real_rows(both)]
    margin = "exactly" if both["mbb_95"] is None else f"± {figure(both['mbb_95'], 3)}, {both['hands']:,} hands"
    return [*rows, ("against the equilibrium", f"{figure(both['mbb'], sign=True)} mbb/g, {margin}")]


def markdown_build(report: Mapping[str, Any]) -> str:
    """The report as a page."""
    whole = "Portfolio: this folder" if "members" in report else "Strategy: `agent.strategy`"
    lines = [
        f"# {report['game']}, preset {report['preset']}, objective {report['objective']}",
        "",
        f"{whole}; {report['seconds']:.0f} seconds, {report['cpu_seconds']:.0f} of processors.",
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
        whose = ", of the equilibrium" if "equilibrium" in report else ""
        lines += ["", f"## Exploitability in the bucket game{whose}", "", "![the curve](curve.png)", ""]
        lines += ["| iterations | seconds | CPU seconds | chips per game | mbb/g |", "|---|---|---|---|---|"]
        factor = report["abstract"]["exploitability_mbb"] / max(report["abstract"]["exploitability"], 1e-300)
        lines += [
            f"| {point['iterations']:,} | {point['seconds']:.1f} | {point['cpu_seconds']:.1f} | "
            f"{figure(point['exploitability'])} | {figure(point['exploitability'] * factor)} |"
            for point in points
        ]
    return "\n".join(lines) + "\n"
