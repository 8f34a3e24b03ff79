"""``counterplay analyse``: who is better, from the logs of a match."""

from __future__ import annotations

import html as escape
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from counterplay.cli import options as o
from counterplay.cli.common import check_plot, check_writable, note, print_json, say
from counterplay.cli.completions import complete_game
from counterplay.cli.running import counted_progress
from counterplay.errors import SolverError
from counterplay.runtime.number_text import figure
from counterplay.runtime.signals import interruptible

if TYPE_CHECKING:
    from counterplay.evaluation.matches import MatchAnalysis, Summary

Logs = Annotated[list[Path], typer.Argument(metavar="LOG...", help="Logged hands: ACPC log, .phh, .phhs.")]
Player = Annotated[str, typer.Option(metavar="NAME", help="Whose winnings: a name in the logs.")]
Own = Annotated[
    Path | None, typer.Option(help="The strategy that the player played; without it money alone is reported.")
]
Other = Annotated[Path | None, typer.Option(help="What would this strategy have won in the same hands?")]
Opponent = Annotated[Path | None, typer.Option(help="The opponent's strategy, if known: aivat uses it.")]
Estimate = Annotated[
    str, typer.Option(help="all, or some of basic, divat, bc-divat, ef, ac, aivat; parts joined: ac+ef+bc-divat,aivat.")
]
Information = Annotated[
    str, typer.Option(metavar="auto|full|partial", help="Use the opponent's cards always, or at showdowns only.")
]
Game = Annotated[
    str | None, typer.Option(help="What is played, if the logs do not say it.", autocompletion=complete_game)
]
Broken = Annotated[str, typer.Option(metavar="refuse|skip", help="What to do with broken lines.")]
Plot = Annotated[Path | None, typer.Option(help="Draw the cumulative winnings: .png, .svg or .pdf.")]
Csv = Annotated[Path | None, typer.Option(help="Write the table to this file, for spreadsheets.")]
Html = Annotated[Path | None, typer.Option(help="Write a report to this file, a page that needs no other.")]

HEADS = ("95 %", "sd", "as money of", "hands to decide", "match", "significant")


def command(
    logs: Logs,
    player: Player,
    strategy: Own = None,
    evaluate: Other = None,
    opponent: Opponent = None,
    estimate: Estimate = "all",
    information: Information = "auto",
    game: Game = None,
    broken: Broken = "refuse",
    plot: Plot = None,
    csv: Csv = None,
    html: Html = None,
    quiet: o.Quiet = False,
    as_json: o.AsJson = False,
) -> int:
    """Estimate what a player of two-player poker wins, from the logs of its hands.

    counterplay analyse match.log --player A --strategy a.strategy --plot a.png

    Money needs many hands.  With the strategy that the player played, the estimators of Johanson (2016, chapter 7) and
    AIVAT imagine what else could have happened in each hand, which needs fewer: of each the mean with its 95 %
    interval, the standard deviation of a hand, how many hands of money are worth as much, and how many more would
    decide who is better.  With --evaluate they say what another strategy would have won.
    """
    from counterplay.evaluation.matches import analyse, read_match
    from counterplay.strategy.files import load_strategy

    check_plot(plot)
    check_writable(plot, csv, html)
    _check_different([*logs, strategy, evaluate, opponent], [plot, csv, html])
    if strategy is None and (evaluate is not None or opponent is not None or estimate != "all"):
        raise SolverError("estimators need the strategy that the player played: --strategy FILE")
    own, other, theirs = (None if path is None else load_strategy(path) for path in (strategy, evaluate, opponent))
    with interruptible(), counted_progress("analysing", quiet or as_json) as draw:
        named = game or (None if own is None else own.game)
        hands = read_match(list(logs), player, named, broken, draw)
        found = analyse(hands, own, other, theirs, estimate, information, draw)
    files = {"plot": plot, "csv": csv, "html": html}
    if plot is not None:
        found.plot(plot)
    if csv is not None:
        found.to_csv(csv)
    if html is not None:
        html.write_text(_page(found), encoding="utf-8")
    for line in found.hands.broken:
        note(f"warning: skipped {line}")
    if as_json:
        print_json({**found.to_dict(), **{name: None if path is None else str(path) for name, path in files.items()}})
        return 0
    _print(found)
    for path in files.values():
        if path is not None:
            say(f"wrote {path}")
    return 0


def _check_different(inputs: Sequence[Path | None], outputs: Sequence[Path | None]) -> None:
    """Refuse an output that would replace an input, or another output."""
    taken = {path.resolve() for path in inputs if path is not None}
    for path in outputs:
        if path is None:
            continue
        if path.resolve() in taken:
            raise SolverError(f"{path} is named twice; a report must not replace a log, a strategy or another report")
        taken.add(path.resolve())


def _amount(value: float, digits: int = 4, sign: bool = False) -> str:
    """A number, or nothing where there is none: after a single deal, or without any variance."""
    return figure(value, digits, sign) if math.isfinite(value) else ""


def facts(found: MatchAnalysis) -> list[str]:
    """What was read, in lines."""
    hands = found.hands
    deals = "" if hands.deals == len(hands.hands) else f", {hands.deals:,} deals"
    against = ", ".join(hands.opponents[:5]) or "nobody"
    cards = "the opponent's cards at showdowns only" if found.partial else "all cards"
    lines = [f"{found.game}: {len(hands.hands):,} hands{deals} of {hands.player} against {against}, {cards}"]
    if found.evaluated is not None:
        lines.append(f"estimates are of another strategy ({found.evaluated}); money is what {hands.player} won")
    left = {"without this player": hands.elsewhere, "without its cards": hands.hidden, "broken": hands.skipped}
    lines += [f"not used: {count:,} hands {why}" for why, count in left.items() if count]
    if found.partial and len(found.summaries) > 1:
        lines.append("divat, bc-divat and off-policy estimates are biased where the opponent's cards are not seen")
    return lines


def summary_rows(rows: Sequence[Summary], big_blind: float | None, other: bool = False) -> list[list[str]]:
    """Estimates as rows of text, their heads first; ``other`` if they are of another strategy than the one that won."""
    from counterplay.evaluation.matches.summary import RESULTS

    unit = 1.0 if big_blind is None else 1000.0 / big_blind
    found = [["estimator", "chips" if big_blind is None else "mbb/g", *HEADS]]
    for one in rows:
        money = one.name == "money"
        found.append([
            one.name, figure(unit * one.mean, 4, sign=True), f"± {_amount(unit * one.half, 3)}",
            _amount(unit * one.deviation), "" if money or other else _amount(one.money_hands, 3),
            "" if (money and other) or math.isinf(one.more_hands)
            else "decided" if one.more_hands == 0 else f"{figure(one.more_hands, 3)} more",
            "" if big_blind is None else RESULTS[one.result(big_blind)], RESULTS[one.significant],
        ])  # fmt: skip
    return found


def summary_lines(rows: Sequence[Summary], big_blind: float | None, other: bool = False) -> list[str]:
    """Estimates as lines of a table."""
    cells = summary_rows(rows, big_blind, other)
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join(
            f"{word:<{width}}" if place == 0 else f"{word:>{width}}"
            for place, (word, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]


def _print(found: MatchAnalysis) -> None:
    for line in facts(found):
        say(line)
    say()
    for line in summary_lines(found.summaries, found.big_blind, found.evaluated is not None):
        say(f"  {line}")
    say()
    say("match: won or lost by more than 25 big blinds; significant: one-sided test at 95 %")


def _page(found: MatchAnalysis) -> str:
    import base64

    from counterplay.runtime.html_page import html_cell, html_page, html_table

    picture: Any = found.plot()
    image = base64.b64encode(picture._repr_png_()).decode()
    heads, *cells = summary_rows(found.summaries, found.big_blind, found.evaluated is not None)
    rows = ("".join(html_cell(cell, "number" if place else "key") for place, cell in enumerate(row)) for row in cells)
    lines = "".join(f"<p>{escape.escape(line)}</p>" for line in facts(found))
    legend = (
        "<p>sd: standard deviation of a deal, mbb. as money of: hands of plain money that would give as narrow an "
        "interval. hands to decide: until the interval excludes 0, if mean and deviation stay. match: won or lost by "
        "more than 25 big blinds. significant: one-sided test at 95 %.</p>"
    )
    body = f"<h1>{escape.escape(found.hands.player)}</h1>{lines}{html_table(heads, rows)}{legend}"
    return html_page(
        f"Match of {found.hands.player}", f'{body}<img alt="winnings" src="data:image/png;base64,{image}">'
    )
