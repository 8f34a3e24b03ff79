"""Expected values and equities in grids of hands: the same numbers in the terminal, pictures, pages and files."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np
import pytest

import counterplay as cp
from counterplay.cli.hand_grid import grid_lines
from counterplay.cli.main import main
from counterplay.evaluation.inspection import hand_values
from counterplay.plots.hand_grids import grid_figure
from counterplay.strategy.hand_page import equity_text, grid_html, value_text
from counterplay.strategy.hand_table import Cell, HandTable
from tests.cli.test_show_verb import Page


@pytest.fixture(scope="module")
def river(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A solved river."""
    path = tmp_path_factory.mktemp("spots") / "river.strategy"
    cp.solve_spot(
        board="KsTd7h4c2s", pot=60, stack=150, oop="AA,KQs,KQo:0.5,98s", ip="KK,QJs,77,A9s", bets="33%,75%", raises="a",
        iterations=200, out=path,
    )  # fmt: skip
    return path


@pytest.fixture
def state(river: Path) -> HandTable:
    strategy = cp.load(river)
    assert isinstance(strategy, cp.PublicStrategy)
    return hand_values(strategy)


def cells(state: HandTable) -> dict[str, Cell]:
    return {cell.name: cell for row in state.grid() for cell in row if cell is not None and cell.weight > 0}


def test_the_mean_is_the_value_of_the_strategy(river: Path, state: HandTable) -> None:
    """At the start the mean over the hands is what ``evaluate`` gives: chips of the pot."""
    assert state.mean(state.values) == pytest.approx(cp.evaluate(river).value[0], abs=1e-9)
    oop = cp.equity("AA,KQs,KQo:0.5,98s", "KK,QJs,77,A9s", board="KsTd7h4c2s").ranges[0]
    assert state.mean(state.equities) == pytest.approx(oop.equity, abs=1e-12)
    known = {hand.name: hand for hand in oop.hands}
    for cell in state.hand_cells():
        assert (cell.equity, cell.weight) == pytest.approx(
            (known[cell.name].equity, known[cell.name].weight), abs=1e-12
        )


def test_single_hands_of_a_cell(state: HandTable) -> None:
    combos = state.combos()
    assert set(combos) == set(cells(state)) == {"AA", "KQs", "KQo", "98s"}
    assert [cell.name for cell in combos["KQs"]] == ["KcQc", "KdQd", "KhQh"]
    for name, cell in cells(state).items():
        assert sum(one.weight for one in combos[name]) == pytest.approx(cell.weight, abs=1e-12)
        values = [one.value for one in combos[name]]
        assert cell.value == pytest.approx(np.average(values, weights=[one.weight for one in combos[name]]), abs=1e-12)


@pytest.mark.parametrize(
    ("value", "text"),
    [(32.3649, "32.36"), (-0.001, "0.00"), (-12345.678, "-12346"), (99999.5, "99999.5"), (1.5e12, "2e+12"), (None, "")],
)
def test_chips_are_short(value: float | None, text: str) -> None:
    assert value_text(value) == text


def test_the_terminal(state: HandTable) -> None:
    lines = [line.plain for line in grid_lines(state, "trade")]
    aces, kings = cells(state)["AA"], cells(state)["KQs"]
    assert lines[0].startswith("AA ")
    assert lines[1].split() == [value_text(aces.value)]
    assert lines[2].split() == [equity_text(aces.equity)]
    assert lines[3][16:].startswith("KQs")
    assert lines[4].split() == [value_text(kings.value)]
    assert len(lines) == 13 + 2 * 4 + 2  # two more lines where hands are held
    assert lines[-1].endswith("below: expected value in chips, then equity")
    assert all(len(line) == 104 for line in lines[:-2])


def test_the_picture(state: HandTable) -> None:
    (axes,) = grid_figure(state).axes
    texts = {(round(text.get_position()[0] - 0.08, 6), text.get_position()[1]): text.get_text() for text in axes.texts}
    for name, corner in (("AA", (0, 0)), ("KQs", (2, 1)), ("KQo", (1, 2)), ("98s", (6, 5))):
        cell = cells(state)[name]
        written = [text for (x, y), text in sorted(texts.items()) if x == corner[0] and corner[1] < y < corner[1] + 0.7]
        assert written == [name, value_text(cell.value), equity_text(cell.equity)]
    assert "then equity" in axes.get_legend().get_title().get_text()


def test_the_page_has_every_cell_and_every_hand(river: Path, state: HandTable, tmp_path: Path) -> None:
    page, grid, single = tmp_path / "x.html", tmp_path / "grid.csv", tmp_path / "hands.csv"
    assert main(["show", str(river), "--ev", "--html", str(page), "--csv", str(grid)]) == 0
    assert main(["show", str(river), "--ev", "--hands", "--csv", str(single)]) == 0
    text = page.read_text("utf-8")
    assert Page(text).links == []
    assert "<script" not in text
    rows = {
        name: re.findall(r'<td class="number">([^<]*)</td>', rest)
        for name, rest in re.findall(r'<tr><td class="key">(\w+)</td>(.*?)</tr>', text)
    }
    for path in (grid, single):
        with open(path, newline="", encoding="utf-8") as file:
            head, *lines = csv.reader(file)
        assert head == ["hand", "hands", "weight", *state.actions, "ev", "equity"]
        for line in lines:
            name, weight = line[0], float(line[2])
            if weight > 0:
                values = [f"{float(line[-2]):.3f}", f"{100 * float(line[-1]):.2f}%"]
                shares = [f"{100 * float(share):.2f}%" for share in line[3:-2]]
                assert rows[name] == [f"{100 * weight:.3f}%", *shares, *values]
    shown = re.findall(r"<b>(\w+)</b><i class='ev'>([^<]*)</i><i class='equity'>([^<]*)</i>", text)
    assert shown == [(n, value_text(cell.value), equity_text(cell.equity)) for n, cell in cells(state).items()]
    assert text.count("class='combos'") == len(cells(state))


def test_without_values_nothing_is_said_of_them(river: Path) -> None:
    plain = cp.load(river).hands()
    assert "equity" not in grid_html(plain, details=True).partition("</style>")[2]
    assert "equity" not in grid_lines(plain, "trade")[-1].plain
