"""What every algorithm must do on every small game, found through the registries."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import numpy as np
import pytest

import counterplay as cp
from counterplay.errors import StrategyError
from counterplay.runtime.pacing import Until
from counterplay.solvers import (
    CFR_PRESETS,
    MCCFR_PRESETS,
    SOLVERS,
    checkpoint_header,
    make_solver,
    resume_solver,
    solver_class,
)

GAMES = ["kuhn", "kuhn(players=3)", "one_card_poker(cards=4)", "leduc", "rock_paper_scissors", "matching_pennies",
         "matrix(rows=\"3,-1,-3;1,0,1;-3,-1,3\")", "matrix(rows=\"2,0;0,1\",columns=\"1,0;0,2\")"]  # fmt: skip
ZERO_SUM = [name for name in GAMES if "players=3" not in name and "columns" not in name]

HISTORIES = [name for name, algorithm in cp.ALGORITHMS.items() if "history" in algorithm.forms]
"""Algorithms that work on compiled histories."""

ITERATIVE = [name for name in HISTORIES if not (cp.ALGORITHMS[name].exact or cp.ALGORITHMS[name].one_sided)]
EXACT = [name for name, algorithm in cp.ALGORITHMS.items() if algorithm.exact]

every_algorithm = pytest.mark.parametrize("algorithm", HISTORIES)
every_iterative = pytest.mark.parametrize("algorithm", ITERATIVE)
every_exact = pytest.mark.parametrize("algorithm", EXACT)
every_cfr = pytest.mark.parametrize("algorithm", CFR_PRESETS)
every_mccfr = pytest.mark.parametrize("algorithm", MCCFR_PRESETS)

SLOW = {"fictitious-play": 0.05, "fpira": 0.05, "outcome-sampling": 0.25, "mccfr-scheme": 0.1}
"""Algorithms that fall slowly, and not at every step: what they must reach at the end."""


@functools.cache
def tree_of(name: str) -> cp.GameTree:
    return cp.compile_game(name)


def run_lengths(algorithm: str, name: str) -> tuple[int, int]:
    """A short and a long run; samples need more iterations, which are the cheaper."""
    if cp.ALGORITHMS[algorithm].sampled:
        return (2000, 400_000 if name == "leduc" else 150_000)
    return (100, 4000)


@every_iterative
@pytest.mark.parametrize("name", GAMES)
def test_profiles_are_distributions_and_runs_repeat(name: str, algorithm: str) -> None:
    first, second = (make_solver(tree_of(name), algorithm) for _ in range(2))
    first.step(40)
    for _ in range(40):
        second.step()
    for kind in [("average",), ("last",)] if isinstance(first, cp.CfrSolver | cp.MccfrSolver) else [()]:
        probabilities = first.strategy(*kind)
        assert probabilities.min() >= 0.0
        totals = np.add.reduceat(probabilities, first.tree.infoset_offset[:-1])
        np.testing.assert_allclose(totals, 1.0, rtol=0, atol=1e-12)
        assert probabilities.tobytes() == second.strategy(*kind).tobytes()


@every_iterative
@pytest.mark.parametrize("name", ZERO_SUM)
def test_exploitability_goes_down(name: str, algorithm: str) -> None:
    tree = tree_of(name)
    first = np.zeros(tree.num_entries)
    first[tree.infoset_offset[:-1]] = 1.0
    start = max(
        cp.exploitability(profile, tree)
        for profile in (cp.TabularStrategy.uniform(tree), cp.TabularStrategy.from_tree(tree, first))
    )
    few, many = (cp.solve(tree, algorithm, iterations=n).exploitability for n in run_lengths(algorithm, name))
    least = 1e-6 if algorithm in CFR_PRESETS else 4e-3  # others leave an equilibrium that they start at
    if algorithm in SLOW:
        assert many <= SLOW[algorithm]
    else:
        assert -1e-12 <= many <= max(few / 3, least)
        assert many <= max(start / 50, least)


@every_cfr
def test_memory_is_known_beforehand(algorithm: str) -> None:
    tree = tree_of("leduc")
    for settings in ({}, {"storage": "float32"}, {"profile": "last"}, {"profile": "best"}):
        solver = make_solver(tree, algorithm, **settings)
        arrays = [value for value in vars(solver).values() if isinstance(value, np.ndarray)]
        assert solver.memory_bytes(tree, solver.config) == sum(array.nbytes for array in arrays)


@every_mccfr
def test_memory_of_sampled_solvers_is_known_beforehand(algorithm: str) -> None:
    whole = algorithm == "pure-cfr"
    for name in ("leduc", "kuhn(players=3)"):
        tree = tree_of(name)
        for settings in ({}, {"storage": "int64" if whole else "float32"}, {"profile": "last"}, {"threads": 3}):
            solver = make_solver(tree, algorithm, **settings)
            arrays = [value for value in vars(solver).values() if isinstance(value, np.ndarray)]
            needed = solver.memory_bytes(tree, solver.config)
            assert needed == sum(array.nbytes for array in (*arrays, *solver._scratch))


@every_mccfr
def test_provenance_makes_the_sampled_profile_again(algorithm: str) -> None:
    result = cp.solve("kuhn", algorithm, iterations=123, seed=7)
    origin = result.profile.provenance
    assert (origin.algorithm, origin.iterations, origin.seed) == (algorithm, 123, 7)
    again = cp.MccfrSolver(result.profile.game, cp.MccfrConfig(**origin.settings))
    again.step(origin.iterations)
    assert again.strategy().tobytes() == result.profile.table.tobytes()
    assert again.nodes == result.nodes == result.curve[-1].nodes
    other = cp.solve("kuhn", algorithm, iterations=123, seed=8)
    assert other.profile.table.tobytes() != result.profile.table.tobytes()


@every_cfr
def test_provenance_makes_the_profile_again(algorithm: str) -> None:
    result = cp.solve("kuhn", algorithm, iterations=123, gamma=2)
    origin = result.profile.provenance
    assert (origin.algorithm, origin.iterations, origin.version) == (algorithm, 123, cp.__version__)
    again = cp.CfrSolver(result.profile.game, cp.CfrConfig(**origin.settings))
    again.step(origin.iterations)
    assert again.strategy().tobytes() == result.profile.table.tobytes()


@every_iterative
def test_checkpoints_go_on_to_the_same_bits(algorithm: str, tmp_path: Path) -> None:
    straight = make_solver(tree_of("leduc"), algorithm)
    straight.step(60)
    broken = make_solver(tree_of("leduc"), algorithm)
    broken.step(25)
    path = tmp_path / "run.checkpoint"
    broken.save(path)
    assert checkpoint_header(path)["game"] == "leduc"
    resumed = resume_solver(path)
    assert (resumed.algorithm, resumed.iterations, resumed.config) == (algorithm, 25, broken.config)
    resumed.step(35)
    assert resumed.strategy().tobytes() == straight.strategy().tobytes()
    other = next(kind for kind in map(solver_class, SOLVERS) if kind is not type(broken))
    with pytest.raises(StrategyError, match=f"is a checkpoint of the solver '{broken.kind}', not of '{other.kind}'"):
        other.resume(path)


@every_algorithm
def test_tables_are_counted(algorithm: str) -> None:
    solver = make_solver(tree_of("leduc"), algorithm)
    arrays = [value for value in vars(solver).values() if isinstance(value, np.ndarray)]
    arrays += [one for value in vars(solver).values() if type(value) is tuple for one in value]
    assert solver.table_bytes == sum(array.nbytes for array in arrays)
    with pytest.raises(cp.MemoryLimitError, match=f"{re.escape(algorithm)} on leduc needs .*, but only 1"):
        make_solver(solver.tree, algorithm, memory_limit=1)


@every_exact
@pytest.mark.parametrize("name", ZERO_SUM)
def test_exact_algorithms_finish_at_an_equilibrium(name: str, algorithm: str) -> None:
    result = cp.solve(tree_of(name), algorithm)
    assert result.status == "solved"
    assert result.iterations >= 1
    assert abs(result.exploitability) <= 1e-9
    assert result.curve[-1].iterations == result.iterations
    again = cp.solve(tree_of(name), algorithm)
    assert again.profile.table.tobytes() == result.profile.table.tobytes()


@every_exact
def test_exact_algorithms_refuse_other_games(algorithm: str) -> None:
    for name, why in {
        "kuhn(players=3)": "is for two players; .* has 3",
        'matrix(rows="2,0;0,1",columns="1,0;0,2")': "is for zero-sum games",
        "toy_no_equilibrium": "needs perfect recall, but player 1 .* forgets: '.*' holds .*; use a maxmin algorithm",
    }.items():
        with pytest.raises(cp.GameError, match=why):
            make_solver(name, algorithm)


@every_exact
def test_exact_runs_go_on_from_checkpoints(algorithm: str, tmp_path: Path) -> None:
    straight = make_solver(tree_of("leduc"), algorithm)
    straight.step(100)
    assert straight.finished
    broken = make_solver(tree_of("leduc"), algorithm)
    broken.step(0 if algorithm == "lp" else 11)
    path = tmp_path / "run.checkpoint"
    broken.save(path)
    resumed = resume_solver(path, tree_of("leduc"))
    assert (resumed.iterations, resumed.finished) == (broken.iterations, False)
    resumed.step(100)
    assert resumed.finished
    assert resumed.strategy().tobytes() == straight.strategy().tobytes()
    assert resumed.details() == straight.details()
    resumed.save(path)
    assert resume_solver(path, tree_of("leduc")).run(Until(iterations=500)).status == "solved"
