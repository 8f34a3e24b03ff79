"""Experiments about domination: the Kuhn tournament cell for cell, and the claims of chapter 4 of Gibson 2014."""

from __future__ import annotations

import pytest

import counterplay as cp
from counterplay.experiments import current_profile, dominated_play, kuhn_tournament, tilted_games
from counterplay.experiments.kuhn_tournament import AGENTS, PUBLISHED

UNROUNDED = {  # computed independently: milli-chips against each agent, overall, exploitability
    "Uni": (None, -250, -187.5, -111.111, -138.889, -166.667, -170.833, 458.333),
    "ND": (250, None, -20.833, -69.444, -55.556, -41.667, 12.5, 187.5),
    "NID": (187.5, 20.833, None, -55.556, -41.667, -27.778, 16.667, 166.667),
    "Nash-0": (111.111, 69.444, 55.556, None, 0, 0, 47.222, 0),
    "Nash-0.5": (138.889, 55.556, 41.667, 0, None, 0, 47.222, 0),
    "Nash-1": (166.667, 41.667, 27.778, 0, 0, None, 47.222, 0),
}


class TestTournament:
    def test_every_cell(self) -> None:
        """Gibson 2014, table 4.1, printed in whole milli-chips."""
        experiment = kuhn_tournament.run()
        assert [row[:2] for row in experiment.rows] == [(name, who) for name in AGENTS for who in ("ours", "published")]
        for (name, _, *cells), (_, _, *published) in zip(experiment.rows[::2], experiment.rows[1::2], strict=True):
            assert tuple(published) == PUBLISHED[str(name)]
            for ours, theirs, exact in zip(cells, published, UNROUNDED[str(name)], strict=True):
                if exact is None:
                    assert ours is None
                    assert theirs is None
                    continue
                assert ours == pytest.approx(exact, abs=5e-4)
                assert abs(float(ours) - float(theirs)) <= 0.5 + 1e-9  # type: ignore[arg-type]

    def test_ranking(self) -> None:
        """Equilibria tie first in both formats, then NID, ND, Uni (section 4.4.1)."""
        note = kuhn_tournament.run(quick=True).notes[1]
        assert "Nash-0 = Nash-0.5 = Nash-1 > NID > ND > Uni" in note
        assert "Nash-0, Nash-0.5, Nash-1 are left" in note
        tree = cp.compile_game("kuhn")
        table = kuhn_tournament.scores(tree, [kuhn_tournament.kuhn_agent(tree, name) for name in AGENTS])
        assert table + table.T == pytest.approx(0 * table, abs=1e-12)
        rounds = kuhn_tournament.run_off(AGENTS, table)
        assert rounds == [AGENTS, AGENTS[1:], AGENTS[2:], AGENTS[3:]]


def test_tilted_games() -> None:
    experiment = tilted_games.run(quick=True)
    assert len(experiment.rows) == 14
    for row in experiment.rows:
        cells = dict(zip(experiment.columns, row, strict=True))
        percent, epsilon, bound = (float(cells[key]) for key in ("percent", "epsilon", "bound"))  # type: ignore[arg-type]
        if percent:
            assert epsilon < bound
            assert 2 * float(cells["|u1+u2|"]) <= bound  # type: ignore[arg-type]
        else:
            assert float(cells["current epsilon"]) > 5 * epsilon  # type: ignore[arg-type]
    x, y = experiment.curves["leduc untilted, average"]
    assert y[-1] < 0.1 * y[0]
    assert x[-1] == 300
    assert "kuhn untilted, current" in experiment.curves
    with pytest.raises(cp.GameError, match="two players"):
        tilted_games.run(quick=True, games=("kuhn(players=3)",))


def test_tilted_games_on_public_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same numbers as on histories."""
    found = []
    for few in (tilted_games.FEW_HISTORIES, 0):
        monkeypatch.setattr(tilted_games, "FEW_HISTORIES", few)
        found.append(tilted_games.run(games=("holdem_2_1(ranks=4,suits=2)",), iterations=16).rows)
    for histories, public in zip(*found, strict=True):
        assert [cell is None for cell in public] == [place == 6 for place in range(len(public))]
        kept = [place for place in range(3, len(public)) if place != 6]
        assert [public[place] for place in kept] == pytest.approx([histories[place] for place in kept], rel=1e-5)


def test_dominated_play() -> None:
    experiment = dominated_play.run(quick=True)
    last = [row for row in experiment.rows if row[2] == 100]
    assert [(row[0], row[1]) for row in last] == [("kuhn", 5), ("kuhn(players=3)", 21)]
    for row in last:
        assert row[3] == row[1]  # all have negative regret
        assert float(row[4]) < 0.2  # type: ignore[arg-type]
        assert row[5] == 0.0
        assert float(row[6]) < 0.05  # type: ignore[arg-type]


def test_current_profile() -> None:
    """Three-player Kuhn: ε of the average is 37.2 milli-antes at T = 100 (computed independently)."""
    experiment = current_profile.run(quick=True)
    rows = {(row[0], row[1]): row for row in experiment.rows}
    three = rows["kuhn(players=3)", 100]
    assert float(three[2]) == pytest.approx(0.0372, abs=5e-5)  # type: ignore[arg-type]
    assert 0.14 <= float(three[3]) <= 0.30  # type: ignore[arg-type]
    two = rows["kuhn", 100]
    assert float(two[4]) == pytest.approx(-float(two[5]), abs=1e-12)  # type: ignore[arg-type]


@pytest.mark.slow
def test_dominated_play_in_leduc() -> None:
    experiment = dominated_play.run(games=("leduc",), iterations=100)
    assert experiment.rows[-1][1:4] == (64, 100, 64)
    assert float(experiment.rows[-1][6]) <= 1 / 300 + 1e-9  # type: ignore[arg-type]
