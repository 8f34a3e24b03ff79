"""Agents that adapt against a population: what is printed follows from the matches, and a folder continues."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterplay.agents import load_portfolio, make_entry, match, open_match_game
from counterplay.errors import CounterplayError
from counterplay.experiments import adaptive_agents, run_experiment
from counterplay.experiments.adaptive_agents import SEEN, UNSEEN
from counterplay.experiments.shared.observed_opponent import Setting

TINY = Setting("holdem_2_4(ranks=4,suits=3)", "PS2/PS2", None, 40, "30mbb", "10mbb")
"""Twelve cards, strategies that are hardly solved: as quick as can be."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(adaptive_agents, "SMALL", TINY)
        yield tmp_path_factory.mktemp("experiment")


def finished(folder: Path, **options: Any) -> Any:
    return run_experiment("adaptive-agents", "quick", folder=str(folder), deals=12, **options)


def test_a_row_for_each_opponent_and_the_means(folder: Path) -> None:
    found = finished(folder, matches=2)
    rows = {str(row[0]): row for row in found.rows}
    assert list(rows) == [*SEEN, *UNSEEN, "mean, seen", "mean, unseen", "mean of all"]
    for name in (*SEEN, *UNSEEN):
        plain, best, exact = (float(rows[name][place]) for place in (3, 4, 8))  # type: ignore[arg-type]
        assert plain <= best
        assert exact <= best + 1e-9
        assert rows[name][10] == pytest.approx(exact - plain)
    for place in (3, 4, 6, 8):
        every = [float(rows[name][place]) for name in (*SEEN, *UNSEEN)]  # type: ignore[arg-type]
        assert rows["mean of all"][place] == pytest.approx(np.mean(every))
    halves = [float(rows[name][9]) for name in (*SEEN, *UNSEEN)]  # type: ignore[arg-type]
    assert rows["mean of all"][9] == pytest.approx(math.hypot(*halves) / len(halves))
    assert finished(folder, matches=2).rows == found.rows  # from the folder, nothing is played


def test_matches_are_those_of_the_agent(folder: Path) -> None:
    """The numbers of one match, from the match itself."""
    finished(folder, matches=2)
    place, number = folder, 3
    row = adaptive_agents._played(TINY, place, 12, "select=thompson,estimator=ac+ef", number)
    entries = [make_entry(f"{place / 'portfolio'}?select=thompson,estimator=ac+ef"),
               make_entry(str(place / "population" / f"{SEEN[3]}.strategy"))]  # fmt: skip
    result = match(open_match_game(TINY.game), entries, 12, seed=number, estimators="aivat")
    unit = 1000.0 / (result.big_blind or 1.0)
    assert row[0] == pytest.approx(unit * result.estimates["portfolio"][1].mean)
    assert math.fsum(row[2:]) == pytest.approx(1.0)


def test_exact_values_are_those_of_long_matches(folder: Path) -> None:
    finished(folder, matches=2)
    values = np.load(folder / "values.npy", allow_pickle=False)
    assert values.shape == (5, 8, 2)
    path = folder / "portfolio" / "against-maniac.strategy"
    result = match(TINY.game, [str(path), str(folder / "population" / "maniac.strategy")], 20_000)
    won = result.mbb(0)
    assert won.mean == pytest.approx(values[2, 1].mean(), abs=2.0 * won.half)
    assert load_portfolio(folder / "portfolio").names == ("equilibrium", *(f"against-{name}" for name in SEEN))


def test_unknown_rules() -> None:
    with pytest.raises(CounterplayError, match="rules are fixed"):
        run_experiment("adaptive-agents", "quick", select="best")
