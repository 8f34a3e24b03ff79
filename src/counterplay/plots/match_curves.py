"""What a player has won after each deal of a match, by money and by each estimator, with the last 95 % intervals."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from counterplay.plots.convergence import save_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from counterplay.evaluation.matches.match_analysis import MatchAnalysis

POINTS = 2_000
"""Deals of a line that are drawn."""


def plot_match(analysis: MatchAnalysis, path: str | os.PathLike[str] | None = None) -> Figure:
    """Draw the cumulative winnings of a player in big blinds (Johanson 2016, figures 8.1 to 8.10).

    Parameters
    ----------
    analysis : MatchAnalysis
        ``analysis.plot()`` calls this.
    path : path, optional
        A file for the picture: .png, .svg or .pdf.
    """
    from counterplay.plots.picture import Picture

    figure = Picture(figsize=(8.0, 5.0), layout="constrained")
    axes = figure.add_subplot()
    deals = len(analysis.scores)
    hands = np.arange(1, deals + 1) * len(analysis.hands.hands) / deals
    shown = np.unique(np.linspace(0, deals - 1, min(deals, POINTS)).astype(np.int64))
    unit = len(analysis.hands.hands) / deals / analysis.big_blind
    for number, one in enumerate(analysis.summaries):
        total = unit * np.cumsum(analysis.scores[:, number])
        half = one.half * len(analysis.hands.hands) / analysis.big_blind
        width = 1.8 if number == 0 else 1.1
        (line,) = axes.plot(hands[shown], total[shown], label=one.name, linewidth=width, color=f"C{number}")
        place = hands[-1] * (1.01 + 0.012 * number)  # side by side, right of the lines
        if np.isfinite(half):
            axes.errorbar(place, total[-1], yerr=half, color=line.get_color(), capsize=2, linewidth=1.0)
    axes.axhline(0.0, color="0.7", linewidth=0.8)
    whom = ", ".join(analysis.hands.opponents[:3]) or "nobody"
    axes.set(
        title=f"{analysis.hands.player} against {whom}: {analysis.game}", xlabel="hands", ylabel="won (big blinds)"
    )
    axes.grid(True, color="0.92")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8)
    if path is not None:
        save_figure(figure, path)
    return figure
