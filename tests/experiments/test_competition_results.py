"""Published results of the competition, and tournaments beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterplay.agents.tournaments import Tournament, TournamentConfig
from counterplay.errors import CounterplayError
from counterplay.experiments import run_experiment
from counterplay.experiments.competition_results import published_results


def test_what_was_published() -> None:
    found = {(one.year, one.event, one.round, one.agent): (one.mbb, one.mbb_95) for one in published_results()}
    assert len(found) == 101
    assert found[2010, "bankroll", 1, "Hyperborean3p.TBR.2010"] == (248.0, 45.0)
    assert found[2011, "run-off", 7, "LittleRock"] == (-29.0, 9.0)
    assert found[2013, "run-off", 1, "Hyperborean3p.IRO.2013"] == (221.0, None)
    assert found[2013, "run-off", 4, "neo_poker_lab"] == (-40.8, 18.5)
    assert {(year, event) for year, event, _, _ in found} == {
        (year, event) for year in (2010, 2011, 2012, 2013) for event in ("bankroll", "run-off")
    } - {(2013, "bankroll")}  # no table of it, nor a description of the agent that was entered


@pytest.mark.parametrize(("year", "players"), [(2010, 5), (2012, 4)])
def test_winnings_by_bankroll_sum_to_zero(year: int, players: int) -> None:
    """Everybody sits at as many tables, so the mean over players is 0 up to rounding."""
    won = [one.mbb for one in published_results() if (one.year, one.event) == (year, "bankroll")]
    assert len(won) == players
    assert abs(sum(won)) <= 0.5 * players


def test_the_last_of_a_round_leaves() -> None:
    for year in (2010, 2011, 2012, 2013):
        rounds: dict[int, dict[str, float]] = {}
        for one in published_results():
            if (one.year, one.event) == (year, "run-off"):
                rounds.setdefault(one.round, {})[one.agent] = one.mbb
        for number in range(1, len(rounds)):
            assert set(rounds[number]) - set(rounds[number + 1]) == {
                min(rounds[number], key=rounds[number].__getitem__)
            }
        assert len(rounds[len(rounds)]) == 3


def test_a_tournament_beside_them(tmp_path: Path) -> None:
    entries = ("always-call", "always-raise", "uniform", "50/50")
    tournament = Tournament(tmp_path / "ours", TournamentConfig("kuhn_limit_3p", entries, deals=30))
    with pytest.raises(CounterplayError, match="lacks 4 pieces of its matches"):
        run_experiment("competition-results", folder=str(tmp_path / "ours"))
    result = tournament.run()
    rows = run_experiment("competition-results", year=2012, folder=str(tmp_path / "ours")).rows
    assert [row[:4] for row in rows[:2]] == [
        ("2012", "bankroll", "Hyperborean3p.2012", "28 ± 5"), ("2012", "bankroll", "little.rock", "-4 ± 7"),
    ]  # fmt: skip
    ours = [row for row in rows if row[0] == "ours"]
    assert [row[2] for row in ours[:4]] == [result.names[agent] for agent, _ in result.bankroll()]
    assert [sum(cell is not None for cell in row[3:]) for row in ours[4:]] == [2, 2, 2, 1]
    with pytest.raises(CounterplayError, match="published for 2010, 2011, 2012, 2013; got 2009"):
        run_experiment("competition-results", year=2009)
