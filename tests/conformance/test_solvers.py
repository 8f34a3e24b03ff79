"""What every algorithm must do on every small game, found through the registries."""

from __future__ import annotations

import numpy as np
import pytest

import counterplay as cp
from counterplay.solvers import make_solver

GAMES = ["kuhn", "kuhn(players=3)", "one_card_poker(cards=4)", "leduc", "rock_paper_scissors", "matching_pennies",
         "matrix(rows=\"3,-1,-3;1,0,1;-3,-1,3\")", "matrix(rows=\"2,0;0,1\",columns=\"1,0;0,2\")"]  # fmt: skip
ZERO_SUM = [name for name in GAMES if "players=3" not in name and "columns" not in name]

every_algorithm = pytest.mark.parametrize("algorithm", cp.ALGORITHMS)


@every_algorithm
@pytest.mark.parametrize("name", GAMES)
def test_profiles_are_distributions_and_runs_repeat(name: str, algorithm: str) -> None:
    first, second = (make_solver(name, algorithm) for _ in range(2))
    first.step(40)
    for _ in range(40):
        second.step()
    for kind in ("average", "last"):
        probabilities = first.strategy(kind)  # type: ignore[arg-type]
        assert probabilities.min() >= 0.0
        totals = np.add.reduceat(probabilities, first.tree.infoset_offset[:-1])
        np.testing.assert_allclose(totals, 1.0, rtol=0, atol=1e-12)
        assert probabilities.tobytes() == second.strategy(kind).tobytes()  # type: ignore[arg-type]


@every_algorithm
@pytest.mark.parametrize("name", ZERO_SUM)
def test_exploitability_goes_down(name: str, algorithm: str) -> None:
    tree = cp.compile_game(name)
    start = cp.exploitability(tree, cp.Profile.uniform(tree))
    few, many = (cp.solve(tree, algorithm, iterations=n).exploitability for n in (100, 4000))
    assert -1e-12 <= many <= max(few / 3, 1e-6)
    assert many <= max(start / 50, 1e-6)


@every_algorithm
def test_memory_is_known_beforehand(algorithm: str) -> None:
    tree = cp.compile_game("leduc")
    for settings in ({}, {"storage": "float32"}, {"profile": "last"}, {"profile": "best"}):
        solver = make_solver(tree, algorithm, **settings)
        arrays = [value for value in vars(solver).values() if isinstance(value, np.ndarray)]
        assert solver.memory_bytes(tree, solver.config) == sum(array.nbytes for array in arrays)


@every_algorithm
def test_provenance_makes_the_profile_again(algorithm: str) -> None:
    result = cp.solve("kuhn", algorithm, iterations=123, gamma=2)
    origin = result.profile.provenance
    assert (origin.algorithm, origin.iterations, origin.version) == (algorithm, 123, cp.__version__)
    again = cp.CfrSolver(result.profile.game, cp.CfrConfig(**origin.settings))
    again.step(origin.iterations)
    assert again.strategy().tobytes() == result.profile.probabilities.tobytes()
