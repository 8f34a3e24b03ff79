"""The report of a tournament as Markdown and as one HTML page: cross table, both rankings, and drawings.

Drawings are inline SVG: winnings with their intervals, and the rounds of the run-off.
"""

from __future__ import annotations

import html
from collections.abc import Sequence

from counterplay.agents.tournaments import TournamentResult
from counterplay.evaluation.matches.tally import Estimate
from counterplay.runtime.html_page import html_page
from counterplay.runtime.number_text import figure

Rows = list[list[str]]

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; margin: 1rem 0; display: block; overflow-x: auto; }
th, td { padding: .3rem .7rem; border-bottom: 1px solid #ddd; text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
svg { max-width: 100%; height: auto; } .wrong { color: #a00; }
"""


def _text(estimate: Estimate) -> str:
    return f"{estimate.mean:+.1f} ± {estimate.half:.1f}" if abs(estimate.mean) >= 10 else (
        f"{figure(estimate.mean, 3, sign=True)} ± {figure(estimate.half, 2)}"
    )  # fmt: skip


def _facts(result: TournamentResult) -> list[str]:
    config = result.config
    seating = {2: "2 seatings", 3: "6 seatings"}.get(result.seats, f"{result.seats} seatings")
    facts = [
        f"{config.game}, {result.seats} players; {len(result.names)} entries, {len(result.tallies)} matches.",
        f"{config.deals:,} deals a match, each in {seating}; {result.hands:,} hands in all; seed {config.seed}.",
        f"Winnings in {result.unit}, mean ± 95 % confidence interval over deals.",
    ]
    if result.missing:
        facts.append(f"Unfinished: {result.missing} pieces remain to be played.")
    return facts + [f"A match ended early: {reason}." for reason in result.aborted]


def _cross(result: TournamentResult) -> Rows:
    table = result.cross_table()
    order = [agent for agent, _ in result.bankroll()]
    columns = sorted({others for _, others in table}, key=lambda others: [order.index(other) for other in others])
    rows = [["", *(", ".join(result.names[other] for other in others) for others in columns)]]
    for agent in order:
        cells = [table.get((agent, others)) for others in columns]
        rows.append([result.names[agent], *("" if cell is None else _text(cell) for cell in cells)])
    return rows


def _ranking(result: TournamentResult) -> Rows:
    rows = [["", "entry", result.unit]]
    for place, (agent, estimate) in enumerate(result.bankroll(), 1):
        rows.append([str(place), result.names[agent], _text(estimate)])
    return rows


def _rounds(result: TournamentResult) -> Rows:
    rounds = result.run_off()
    rows = [["entry", *(f"round {number}" for number in range(1, len(rounds) + 1))]]
    for agent, _ in [*rounds[-1].table, *(row for step in rounds[-2::-1] for row in step.table)]:
        if any(row[0] == result.names[agent] for row in rows):
            continue
        cells = []
        for step in rounds:
            found = dict(step.table).get(agent)
            mark = " (out)" if agent in step.leaving else ""
            cells.append("" if found is None else _text(found) + mark)
        rows.append([result.names[agent], *cells])
    return rows


def markdown_report(result: TournamentResult) -> str:
    """The report as Markdown."""
    parts = [f"# Tournament: {result.config.game}", "\n".join(f"- {fact}" for fact in _facts(result))]
    if result.tallies:
        parts += ["## Cross table", "A row's winnings against the column.", _markdown(_cross(result))]
        parts += ["## Total bankroll", _markdown(_ranking(result))]
        parts += ["## Instant run-off", "The lowest leaves after each round.", _markdown(_rounds(result))]
    return "\n\n".join(parts) + "\n"


def _markdown(rows: Rows) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    lines.insert(1, "|" + "---|" + "---:|" * (len(rows[0]) - 1))
    return "\n".join(lines)


def html_report(result: TournamentResult) -> str:
    """The report as one HTML page."""
    title = f"Tournament: {result.config.game}"
    facts = "".join(f"<li>{html.escape(fact)}</li>" for fact in _facts(result))
    parts = [f"<h1>{html.escape(title)}</h1><ul>{facts}</ul>"]
    if result.tallies:
        names = [result.names[agent] for agent, _ in result.bankroll()]
        bars = [estimate for _, estimate in result.bankroll()]
        parts += ["<h2>Cross table</h2><p>A row's winnings against the column.</p>", _html(_cross(result))]
        parts += ["<h2>Total bankroll</h2>", _bars(names, bars, result.unit), _html(_ranking(result))]
        parts += ["<h2>Instant run-off</h2><p>The lowest leaves after each round.</p>", _lines(result)]
        parts += [_html(_rounds(result))]
    body = "\n".join(parts)
    return html_page(title, body, _STYLE)


def _html(rows: Rows) -> str:
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in rows[0])
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows[1:])
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


# ---------------------------------------------------------------------------------------------- drawings

_LEFT, _WIDTH, _RIGHT, _STEP = 140, 460, 120, 28
_COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#bbbbbb")


def _scale(values: Sequence[float]) -> tuple[float, float]:
    """The least value that is drawn, and pixels for one unit."""
    low, high = min(0.0, *values), max(0.0, *values)
    return low, _WIDTH / (high - low) if high > low else 1.0


def _bars(names: Sequence[str], estimates: Sequence[Estimate], unit: str) -> str:
    """Horizontal bars with their intervals."""
    finite = [estimate if estimate.half < 1e300 else Estimate(estimate.mean, 0.0) for estimate in estimates]
    low, per = _scale([end for one in finite for end in (one.mean - one.half, one.mean + one.half)])
    zero = _LEFT - low * per
    marks = [f'<line x1="{zero:.1f}" x2="{zero:.1f}" y1="0" y2="{_STEP * len(names)}" stroke="#888"/>']
    for row, (name, one) in enumerate(zip(names, finite, strict=True)):
        middle = _STEP * row + _STEP / 2
        end = zero + one.mean * per
        left, right = end - one.half * per, end + one.half * per
        marks.append(
            f'<text x="{_LEFT - 8}" y="{middle + 5:.1f}" text-anchor="end" font-size="13">{html.escape(name)}</text>'
            f'<rect x="{min(zero, end):.1f}" y="{middle - 8:.1f}" width="{abs(end - zero):.1f}" height="16" '
            f'fill="{_COLOURS[0]}"/>'
            f'<line x1="{left:.1f}" x2="{right:.1f}" y1="{middle:.1f}" y2="{middle:.1f}" stroke="#222" '
            'stroke-width="2"/>'
            f'<text x="{_LEFT + _WIDTH + 8}" y="{middle + 5:.1f}" font-size="12">{html.escape(_text(one))}</text>'
        )
    return _svg(_STEP * len(names), f"Winnings in {unit}", marks)


def _lines(result: TournamentResult) -> str:
    """The mean of each agent in each round of the run-off."""
    rounds = result.run_off()
    low, per = _scale([estimate.mean for step in rounds for _, estimate in step.table])
    height = 220
    across = _WIDTH / max(1, len(rounds) - 1)
    up = height / _WIDTH

    def point(number: int, mean: float) -> tuple[float, float]:
        return _LEFT + across * number, height - (mean - low) * per * up + 10

    zero = point(0, 0.0)[1]
    marks = [f'<line x1="{_LEFT}" x2="{_LEFT + _WIDTH}" y1="{zero:.1f}" y2="{zero:.1f}" stroke="#888"/>']
    for agent, name in enumerate(result.names):
        colour = _COLOURS[agent % len(_COLOURS)]
        points = [
            point(number, dict(step.table)[agent].mean)
            for number, step in enumerate(rounds)
            if agent in dict(step.table)
        ]
        if not points:
            continue
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        x, y = points[-1]
        dots = "".join(f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{colour}"/>' for a, b in points)
        marks.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>{dots}'
            f'<text x="{x + 8:.1f}" y="{y + 4:.1f}" font-size="12" fill="{colour}">{html.escape(name)}</text>'
        )
    return _svg(height + 20, f"Winnings in {result.unit} by round", marks)


def _svg(height: float, title: str, marks: Sequence[str]) -> str:
    width = _LEFT + _WIDTH + _RIGHT
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height:.0f}" width="{width}" role="img">'
        f"<title>{html.escape(title)}</title>{''.join(marks)}</svg>"
    )
