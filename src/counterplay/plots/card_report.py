"""The report of a card abstraction: one page with a picture of each round, masses, strengths and hands of buckets."""

from __future__ import annotations

import html
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from counterplay.abstraction.cards import CardAbstraction
from counterplay.abstraction.cards.bucket_report import RoundReport
from counterplay.poker.acpc.definition import round_name
from counterplay.runtime.html_page import html_page
from counterplay.storage import write_text

SHOWN = 200
"""Buckets of a round in the table; the picture has all."""

STYLE = """body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse } td, th { padding: .15rem .7rem; text-align: right; border-bottom: 1px solid #ddd }
td.hands { text-align: left; font-family: ui-monospace, monospace; font-size: 13px } img { max-width: 100% }
svg { background: #f4f4f4 }"""


def write_card_report(folder: Path, abstraction: CardAbstraction, rounds: Sequence[RoundReport]) -> None:
    """Write ``index.html`` and ``round1.png`` and so on."""
    parts = []
    for turn, report in enumerate(rounds):
        name = round_name(abstraction.shape, turn)
        _draw(folder / f"round{turn + 1}.png", report, name)
        parts.append(_section(report, turn, name))
    shape = ", ".join(map(str, abstraction.shape))
    ranks, suits = abstraction.deck
    facts = f"{abstraction.recall} recall; {ranks} ranks, {suits} suits, rounds of {shape} cards"
    recipe = html.escape(str(abstraction.provenance.get("recipe", "")))
    body = "\n".join([f"<h1>Card abstraction {recipe}</h1>\n<p>{facts}.</p>", *parts])
    write_text(folder / "index.html", html_page("Card abstraction", body, STYLE))


def _section(report: RoundReport, turn: int, name: str) -> str:
    met = len(report.bucket)
    chosen = np.unique(np.linspace(0, met - 1, min(met, SHOWN)).astype(int))
    rows = [_row(report, place) for place in chosen.tolist()]
    few = f", {len(chosen)} of them shown" if len(chosen) < met else ""
    return (
        f"<h2>{name.capitalize()}: {html.escape(report.name)}</h2>\n"
        f"<p>{report.count:,} buckets, {met:,} seen in random deals{few}; weakest first.</p>\n"
        f'<img src="round{turn + 1}.png" alt="Hand strength at the showdown by bucket, {name}">\n'
        "<table><tr><th>bucket</th><th>share of deals</th><th>E[HS]</th><th>deviation</th>"
        f"<th>hand strength 0 to 1</th><th>hands</th></tr>\n{chr(10).join(rows)}\n</table>"
    )


def _row(report: RoundReport, place: int) -> str:
    histogram = report.histogram[place]
    bins = len(histogram)
    highest = max(float(histogram.max()), 1e-12)
    bars = "".join(
        f'<rect x="{120 * at / bins:.1f}" y="{20 - 20 * share / highest:.1f}" width="{120 / bins:.1f}" '
        f'height="{20 * share / highest:.1f}"/>'
        for at, share in enumerate(histogram.tolist())
        if share > 0
    )
    return (
        f"<tr><td>{report.bucket[place]}</td><td>{100 * report.mass[place]:.3f} %</td>"
        f"<td>{report.strength[place]:.3f}</td><td>{report.spread[place]:.3f}</td>"
        f'<td><svg width="120" height="20">{bars}</svg></td>'
        f'<td class="hands">{html.escape(", ".join(report.hands[place]))}</td></tr>'
    )


def _draw(path: Path, report: RoundReport, name: str) -> None:
    """Buckets from weak to strong against hand strength, and their masses."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4.5), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(3, 1), sharey=True)
    shown = np.sqrt(report.histogram)
    image = left.imshow(shown, aspect="auto", origin="lower", extent=(0, 1, 0, len(shown)), cmap="viridis")
    left.plot(report.strength, np.arange(len(shown)) + 0.5, color="white", linewidth=1)
    left.set(xlabel="hand strength at the showdown", ylabel="buckets, weakest first")
    left.set_title(f"{name}: {report.name}, {report.count:,} buckets")
    figure.colorbar(image, ax=left, label="√ share of deals")
    right.barh(np.arange(len(shown)) + 0.5, 100 * report.mass, height=1.0, color="#4477aa")
    right.set(xlabel="share of deals (%)")
    figure.savefig(path, dpi=110)
