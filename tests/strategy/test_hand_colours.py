"""Grids of hands in colour: which colours, how wide, how strong, in pictures, terminals and notebooks."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from counterplay.cli.hand_grid import grid_lines
from counterplay.errors import CounterplayError
from counterplay.plots.hand_grids import draw_grid, grid_figure
from counterplay.poker.ranges import holdem_hands, parse_range
from counterplay.strategy.hand_colours import CALL, FAINTEST, FOLD, LARGEST, ONE_SIZE, SMALLEST, action_colours, legend
from counterplay.strategy.hand_page import grid_html
from counterplay.strategy.hand_table import HandTable

ACTIONS = ("check", "bet20", "bet45", "allin")


@pytest.fixture
def state() -> HandTable:
    """Aces check a quarter, bet 20 a half and move all in otherwise; AKs always checks, and holds half its weight."""
    weights = parse_range("AA,AKs:0.5")
    held = weights > 0
    hands = holdem_hands()[held]
    aces = (hands >= 48).all(axis=1)
    rows = np.where(aces[:, None], [0.25, 0.5, 0.0, 0.25], [1.0, 0.0, 0.0, 0.0])
    return HandTable(0, "", "2c3c4c", ACTIONS, hands, weights[held] / weights.sum(), rows)


def test_colours_of_the_trade() -> None:
    small, middle, large = action_colours(ACTIONS)[1:]
    assert (small, large) == (SMALLEST, LARGEST)
    assert all(a > b > c for a, b, c in zip(small, middle, large, strict=True))
    assert action_colours(("fold", "call", "raise90")) == [FOLD, CALL, ONE_SIZE]
    assert action_colours(("f", "c", "r")) == [FOLD, CALL, ONE_SIZE]
    assert action_colours(("allin", "bet100", "bet20")) == [LARGEST, action_colours(ACTIONS)[2], SMALLEST]
    for colour, channel in ((FOLD, 2), (CALL, 1), (SMALLEST, 0), (LARGEST, 0), (ONE_SIZE, 0)):
        assert colour[channel] == max(colour)
        assert sorted(colour)[1] < max(colour)


def test_the_largest_bet_is_left_and_folds_are_right() -> None:
    assert [ACTIONS[number] for number in legend(ACTIONS)] == ["allin", "bet45", "bet20", "check"]
    assert legend(("f", "c", "r300", "r900")) == [3, 2, 1, 0]


def bars(state: HandTable, palette: str, corner: tuple[int, int]) -> list[tuple[float, float, tuple[int, ...]]]:
    """The parts of a cell of the picture: where it starts, how wide it is, its colour."""
    (axes,) = grid_figure(state, palette=palette).axes
    x, y = corner
    return [
        (part.get_x() - x, part.get_width(), tuple(round(255 * level) for level in part.get_facecolor()[:3]))
        for part in axes.patches
        if x <= part.get_x() < x + 1 and part.get_y() == y
    ]


def test_a_cell_of_the_picture_is_split_by_action(state: HandTable) -> None:
    assert bars(state, "trade", (0, 0)) == [(0.0, 0.25, LARGEST), (0.25, 0.5, SMALLEST), (0.75, 0.25, CALL)]
    ((left, width, colour),) = bars(state, "trade", (1, 0))
    strength = FAINTEST + (1 - FAINTEST) / 2  # half of its hands are there
    assert (left, width) == (0.0, 1.0)
    assert colour == tuple(round(strength * level + (1 - strength) * 255) for level in CALL)


def test_words_of_the_picture(state: HandTable) -> None:
    (axes,) = grid_figure(state, "title").axes
    texts = [text.get_text() for text in axes.texts]
    assert texts[:6] == ["25", "50", "25", "AA", "100", "AKs"]
    assert len(texts) == 6 + 167
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [
        "allin 18.8%", "bet45 0.0%", "bet20 37.5%", "check 43.8%",
    ]  # fmt: skip


def test_the_thesis_mixes_one_colour(state: HandTable) -> None:
    """Figure 9.4: red folds, green bets, blue calls; nothing is dimmed."""
    assert bars(state, "thesis", (1, 0)) == [(0.0, 1.0, (40, 40, 230))]
    ((_, _, colour),) = bars(state, "thesis", (0, 0))
    assert colour == (40, round(40 + 190 * 0.75), round(40 + 190 * 0.25))


def test_the_same_in_the_terminal(state: HandTable) -> None:
    lines = grid_lines(state, "trade")
    assert len(lines) == 13 + 2
    assert lines[0].plain.startswith("AA   75 AKs   0 ")
    aces = [(span.start, span.end, re.findall(r"on rgb\((.*)\)", str(span.style))) for span in lines[0].spans[:3]]
    assert [(start, end) for start, end, _ in aces] == [(0, 2), (2, 6), (6, 8)]
    assert [ground for _, _, (ground,) in aces] == [",".join(map(str, colour)) for colour in (LARGEST, SMALLEST, CALL)]
    assert lines[-1].plain.startswith(" allin   bet45   bet20   check  number: % of bets and raises")
    assert "red folds" in grid_lines(state, "thesis")[-1].plain


def test_the_same_in_a_notebook(state: HandTable) -> None:
    page = grid_html(state)
    paint = [f"rgba({', '.join(map(str, colour))}, 1.00)" for colour in (LARGEST, SMALLEST, CALL)]
    ends = ((0.0, 25.0), (25.0, 75.0), (75.0, 100.0))  # each colour twice: not all browsers know two places for one
    stops = [f"{colour} {place}%" for colour, both in zip(paint, ends, strict=True) for place in both]
    assert f"linear-gradient(to right, {', '.join(stops)})" in page
    assert "bet20 37.5%</span>" in page
    assert "blue checks or calls" in grid_html(state, "thesis")


def test_a_palette_that_does_not_exist(state: HandTable, tmp_path: Path) -> None:
    for call in (lambda: draw_grid(tmp_path / "x.png", state, "", "neon"), lambda: grid_html(state, "neon")):
        with pytest.raises(CounterplayError, match="a palette is trade or thesis; got 'neon'"):
            call()
    assert not list(tmp_path.iterdir())
