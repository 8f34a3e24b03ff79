"""Algorithms by CPU time: scores are those of the real game, and what is said follows from them."""

from __future__ import annotations

import pytest

from counterplay.errors import CounterplayError
from counterplay.experiments import run_experiment
from counterplay.experiments.strategies_over_time import FIGURES, POINTS, Point, verdicts
from counterplay.forms import open_game
from counterplay.solvers import make_solver

SMALL = "holdem_2_4(ranks=4,suits=2)"


def test_without_abstraction_all_approach_an_equilibrium() -> None:
    found = run_experiment("strategies-over-time", "quick", figures="figure4.3", seconds=0.2)
    assert [row[1] for row in found.rows] == list(FIGURES["figure4.3"].solvers)
    assert [row[7] is None for row in found.rows] == [True, False, False]
    for row in found.rows:
        times, values = found.curves[f"figure4.3, {row[1]}, average"]
        assert len(times) == POINTS
        assert (row[4], row[6]) == (times[-1], values[-1])
        assert values[-1] < 0.5 * values[0]
    with pytest.raises(CounterplayError, match=r"figures are figure3.4, figure4.3"):
        run_experiment("strategies-over-time", "quick", figures="figure2.1")


def test_nobody_wins_more_from_the_agent_than_it_can_be_exploited_for() -> None:
    found = run_experiment(
        "strategies-over-time", "quick", figures="figure4.9,figure3.4", game=SMALL, seconds=0.1, iterations=100
    )
    agent = make_solver(open_game(SMALL, "public"), "cfr+")
    agent.step(100)
    most = 100.0 * agent.measure().exploitability
    assert [row[1] for row in found.rows] == ["CFR", "CFR-BR", "CS", "PCS"]
    for _, values in found.curves.values():
        assert max(values) <= most < 20.0
        assert -2000.0 < values[0] < values[-1]  # less is lost after more time


def test_what_is_said() -> None:
    rising = [Point(1.0, 1, float(score), 10.0 - score) for score in range(POINTS)]
    flat = [Point(1.0, 1, 2.5, None)] * POINTS
    wins = list(verdicts(FIGURES["figure3.4"], {"CS": flat, "PCS": rising}))
    assert wins[0] == "PCS is better than CS at 3 of 6 times."
    assert wins[1].startswith("PCS: the current strategy is better than the average at 5 of 6 times, and worse")
    assert wins[1].endswith("than before 5 times.")
    losses = list(verdicts(FIGURES["figure4.3"], {"PCS": flat, "CFR-BR": rising}))
    assert losses[0] == "CFR-BR is better than PCS at 3 of 6 times."
    assert "better than the average at 0 of 6 times, and worse than before 0 times" in losses[1]
    assert losses[-1].startswith("Published: CFR is smooth and fastest")
