"""The tournament of the agents of five years, with small agents in their places."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.errors import CounterplayError
from counterplay.experiments import run_experiment, yearly_agents
from counterplay.solvers import make_solver
from counterplay.strategy.tabular import TabularStrategy, normalise


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Strategies of three-player Kuhn poker, one for each year, which play better and better; who was built."""
    tree = cp.compile_game("kuhn_limit_3p")
    solver = make_solver(tree, "cfr")
    built: list[str] = []
    solver.step(3000)
    good = solver.strategy()
    bad = normalise(np.random.default_rng(1).random(tree.num_entries), tree.infoset_offset)

    def build(game: str, preset: str, folder: Path, recipe: str, **_: Any) -> dict[str, Any]:
        built.append(recipe)
        share = yearly_agents.YEARS.index(recipe) / 4
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "agent.strategy"
        TabularStrategy.from_tree(tree, share * good + (1 - share) * bad).save(path)
        return {"agent": str(path), "departures": [f"smaller in {recipe}"]}

    monkeypatch.setattr(yearly_agents, "build", build)
    monkeypatch.setattr(yearly_agents, "GAME", "kuhn_limit_3p")
    return built


def test_every_three_of_five(tmp_path: Path, made: list[str]) -> None:
    folder = str(tmp_path / "years")
    found = run_experiment("yearly-agents", folder=folder, deals=4000)
    assert made == list(yearly_agents.YEARS)
    assert len(found.rows) == 5 * 6 + 5
    tables: dict[tuple[str, ...], list[float]] = {}
    for year, against, _, won, half in found.rows[:30]:
        tables.setdefault(tuple(sorted((str(year), *str(against).split(", ")))), []).append(float(won or 0))
        assert float(half or 0) > 0.0
    assert len(tables) == 10
    assert all(sum(row) == pytest.approx(0.0, abs=0.2) for row in tables.values())
    overall = {str(year): float(won or 0) for year, against, _, won, _ in found.rows if against == "all"}
    assert overall["2013"] > overall["2009"]
    assert found.notes[0].startswith("The winnings at each table sum to 0 within")
    assert found.notes[1].startswith("2010 beats 2009: ")
    assert "(published: +13)" in found.notes[1]
    assert "2011: smaller in 2011." in found.notes
    again = run_experiment("yearly-agents", folder=folder, deals=4000)  # from the folder
    assert again.rows == found.rows
    with pytest.raises(CounterplayError, match="holds another tournament"):
        run_experiment("yearly-agents", folder=folder, deals=5)


def test_published_tables_sum_to_zero() -> None:
    """Up to rounding; and the last column is the mean over pairs of others."""
    assert all(abs(sum(row)) <= 2 for row in yearly_agents.PUBLISHED.values())
    for year, overall in yearly_agents.OVERALL.items():
        won = [row[three.index(year)] for three, row in yearly_agents.PUBLISHED.items() if year in three]
        assert sum(won) / len(won) == pytest.approx(overall, abs=0.9)


def test_seconds_or_iterations(tmp_path: Path) -> None:
    with pytest.raises(CounterplayError, match="seconds or iterations; leave out one"):
        run_experiment("yearly-agents", folder=str(tmp_path), seconds=1.0, iterations=5)
