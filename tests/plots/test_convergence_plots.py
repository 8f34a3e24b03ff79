"""Convergence plots: where the names of the lines are."""

from __future__ import annotations

import pytest

import counterplay as cp
from counterplay.plots.convergence import INSIDE, _drawn


@pytest.mark.parametrize("lines", [1, INSIDE, INSIDE + 1])
def test_names_do_not_cover_the_lines(lines: int) -> None:
    """A few names are among the lines, more are below; a single one that ends the title is not written again."""
    named = {f"line {number}": ([1.0, 2.0], [1.0, 0.5]) for number in range(lines)}
    figure = _drawn([("iterations", named)], "game: line 0", "", None)
    (axes,) = figure.axes
    inside = axes.get_legend()
    assert (inside is not None) == (1 < lines <= INSIDE)
    assert [len(legend.get_texts()) for legend in figure.legends] == ([lines] if lines > INSIDE else [])


def test_a_run_has_no_legend_and_its_target_one() -> None:
    result = cp.solve("kuhn", iterations=20)
    assert cp.plot_run(result).axes[0].get_legend() is None
    shown = cp.plot_run(result, target=0.01).axes[0].get_legend()
    assert shown is not None
    assert [text.get_text() for text in shown.get_texts()] == ["cfr+", "target 0.01"]
