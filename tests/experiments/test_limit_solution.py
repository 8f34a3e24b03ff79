"""CFR+ on the way to a solved game, and the sizes of the games that had been solved."""

from __future__ import annotations

import pytest

from counterplay.errors import GameError
from counterplay.experiments import run_experiment
from counterplay.experiments.limit_solution import verdicts


def test_the_bounds_of_a_solution_are_as_wide_as_it_is_exploitable() -> None:
    """And all of them hold the value of the game: those of later strategies lie inside what earlier ones guarantee."""
    found = run_experiment("limit-solution", game="holdem_2_1(ranks=4,suits=2)", iterations=40)
    assert [row[0] for row in found.rows] == [8, 16, 32, 40]
    for _, _, average, current, low, high in found.rows:
        assert high - low == pytest.approx(2 * current)
        assert min(average, current) > 0.0
    assert max(row[4] for row in found.rows) <= min(row[5] for row in found.rows)
    assert found.rows[-1][2] < found.rows[0][2] / 3


def test_a_run_stops_when_both_strategies_are_below_the_threshold() -> None:
    found = run_experiment("limit-solution", game="leduc_limit_2p", iterations=100_000)
    assert max(found.rows[-1][2:4]) < 1.0472 <= max(found.rows[-2][2:4])
    with pytest.raises(GameError, match=r"the threshold is in big blinds, and bluff has none"):
        run_experiment("limit-solution", game="bluff")


def test_what_is_said_of_the_threshold() -> None:
    rows = [(8, 0.0, 3.0, 2.0, -1.0, 3.0), (16, 0.0, 0.5, 1.5, 0.0, 3.0)]
    assert verdicts(rows, 1.0) == (
        "Below 1 mbb/g, average strategy: after 16 iterations.",
        "Below 1 mbb/g, current strategy: not reached.",
        "The average is more exploitable than the current strategy at 1 of 2 times.",
    )


def test_sizes_are_the_published_ones() -> None:
    """All but the counts of [2-1] and [2-4] hold'em, which are 5 % too large, up to their printed digits."""
    rows = {(row[0], row[1]): (str(row[2]), row[3]) for row in run_experiment("solved-games").rows}
    limit = {what: pair for (game, what), pair in rows.items() if game == "holdem_limit_2p"}
    for printed, ours in limit.values():
        if "e" in printed:
            assert f"{ours:.2e}".replace("+", "") == printed
    exact = ("flops up to suits", "jobs of a best response, each seat", "jobs of its solution")
    assert [f"{limit[what][1]:,}" for what in exact] == [limit[what][0] for what in exact]
    assert limit["solved below, big blinds a game"][1] == pytest.approx(0.00105, abs=5e-6)
    assert rows["leduc", "information sets"] == ("288", 288)
    assert rows["rhode_island", "information sets without symmetries"][1] == 3_937_128  # 3.94e6
    for game, millions in {"holdem_2_1": 16, "holdem_2_4": 94}.items():
        assert 0.95 < rows[game, "information sets without symmetries"][1] / (1e6 * millions) < 1.0
