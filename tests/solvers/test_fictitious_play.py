"""Fictitious play against its twin, its lemma, and its promise."""

from __future__ import annotations

import numpy as np
import pytest

import counterplay as cp
from counterplay.errors import SolverError
from counterplay.solvers import FictitiousPlay, FictitiousPlayConfig
from tests.bridge import to_entries
from tests.reference.fictitious_play import fictitious_play, mix
from tests.reference.walks import expected_values, random_profile

GAMES = ["kuhn", "kuhn(players=3)", "one_card_poker(cards=4)", 'matrix(rows="3,-1,-3;1,0,1;-3,-1,3")', "goofspiel(3)"]


@pytest.mark.parametrize("alternating", [True, False])
@pytest.mark.parametrize("name", GAMES)
def test_kernel_equals_twin(name: str, alternating: bool) -> None:
    game = cp.make(name)
    solver = FictitiousPlay(game, FictitiousPlayConfig(alternating=alternating))
    start = random_profile(game, 7)  # where no two actions are equally good; ties would be broken by rounding
    solver.average[:] = to_entries(solver.tree, start)
    solver.step(6)
    table = fictitious_play(game, start, 6, alternating)
    np.testing.assert_allclose(solver.strategy(), to_entries(solver.tree, table), atol=1e-12)


@pytest.mark.parametrize("name", ["kuhn", "goofspiel(3)", "bluff(1,1,sides=2)"])
def test_a_mixture_plays_like_its_parts(name: str) -> None:
    """Lemma 3.4.1 and identity 3.15 of Čermák 2018, with perfect recall."""
    game = cp.make(name)
    old, new, others = (random_profile(game, seed) for seed in (1, 2, 3))
    for player in range(2):

        def against(profile: dict[object, object], player: int = player) -> float:
            own = {key: row for key, row in profile.items() if key[0] == player}  # type: ignore[index]
            return expected_values(game, {**others, **own})[player]  # type: ignore[dict-item]

        whole = mix(game, {**others, **old}, {**others, **new}, player, 0.3)
        assert against(whole) == pytest.approx(0.7 * against(old) + 0.3 * against(new), abs=1e-12)


@pytest.mark.parametrize(("name", "value"), [("kuhn", -1 / 18), ("leduc", -0.0856064240780)])
def test_values(name: str, value: float) -> None:
    result = cp.solve(name, "fictitious-play", iterations=20_000)
    assert result.exploitability < 0.01
    assert abs(result.value[0] - value) <= 2 * result.exploitability


def test_starting_from_the_first_actions() -> None:
    solver = FictitiousPlay("matching_pennies", FictitiousPlayConfig(start="first"))
    assert solver.strategy().tolist() == [1.0, 0.0, 1.0, 0.0]
    solver.step()
    assert solver.strategy().tolist() == [1.0, 0.0, 0.5, 0.5]


def test_settings_are_checked() -> None:
    with pytest.raises(SolverError, match="start must be one of uniform, first; got 'last'"):
        FictitiousPlayConfig(start="last")  # type: ignore[arg-type]
    with pytest.raises(SolverError, match="alternating must be true or false; got 1"):
        FictitiousPlayConfig(alternating=1)  # type: ignore[arg-type]
    with pytest.raises(
        SolverError, match="fictitious-play has no setting 'gamma'; its settings are alternating, start"
    ):
        cp.solve("kuhn", "fictitious-play", iterations=1, gamma=2)
