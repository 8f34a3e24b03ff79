"""The examples of the sources in numbers: every one is the printed one, and the table says so when one is not."""

from __future__ import annotations

import pytest

import counterplay as cp
from counterplay.experiments import run_experiment
from counterplay.experiments.record.published import published_rows
from counterplay.experiments.shared.example_lines import Line, maxmin_value, secures
from counterplay.experiments.worked_examples import CHAPTERS


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_example_is_as_printed(chapter: str) -> None:
    found = run_experiment("worked-examples", chapter=chapter)
    assert found.rows
    assert [row for row in found.rows if row[4] != "yes"] == []
    assert {str(row[0]) for row in found.rows} == set(CHAPTERS[chapter][1])


def test_every_figure_of_the_record_with_these_examples_has_some() -> None:
    for row in published_rows():
        if "worked-examples" in row.experiments:
            figures = CHAPTERS[row.settings.removeprefix("chapter=")][1]
            assert [figure for figure in figures if figure.rstrip("abcd") == row.label]


def test_a_line_says_whether_both_numbers_agree() -> None:
    assert Line("share", 1.1, 1.0743, 0.05).same
    assert not Line("share", 1.1, 1.0743).same
    assert Line("exists", "no", "no").same
    assert not Line("exists", "no", "yes").same
    assert not Line("exists", "1", 1.0).same


def test_what_a_player_secures() -> None:
    """Koller and Megiddo's game: 0.6, and no more."""
    assert maxmin_value("toy_irrational", 2) == pytest.approx(0.6, abs=1e-4)
    assert secures("toy_irrational", 2, 0.6)
    assert not secures("toy_irrational", 2, 0.61)


def test_unknown_chapters_are_refused() -> None:
    with pytest.raises(cp.CounterplayError, match=r"chapters with examples are gibson-2, .*; got 'gibson-1'"):
        run_experiment("worked-examples", chapter="gibson-1")
