"""What every solver must do: every algorithm on every form that it runs on, as the registry has them."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.abstraction.cards import CardAbstraction
from counterplay.errors import MemoryLimitError, SolverError
from counterplay.forms import open_game
from counterplay.runtime.pacing import Until
from counterplay.solvers import ALGORITHMS, SOLVERS, Solver, make_solver, resume_solver, solver_class
from counterplay.strategy import load_strategy

CASES = [(algorithm, form) for algorithm, known in ALGORITHMS.items() for form in known.forms]
"""Every algorithm on every form."""

GAMES = {"history": "kuhn", "public": "kuhn_limit_2p", "states": "kuhn", "buckets": "leduc_limit_2p"}
"""The game of each form; the one in buckets has a bucket for each hand."""

every_solver = pytest.mark.parametrize(
    ("algorithm", "form"), [pytest.param(*case, id=f"{case[0]} on {case[1]}") for case in CASES]
)
every_seeded = pytest.mark.parametrize(
    ("algorithm", "form"),
    [pytest.param(*case, id=f"{case[0]} on {case[1]}") for case in CASES if ALGORITHMS[case[0]].seeded],
)

UNIFORM = {"kuhn": 0.4583, "kuhn_limit_2p": 0.4583, "leduc_limit_2p": 2.3736}
"""Exploitability of uniform play in chips, about."""


@functools.cache
def cards() -> str:
    """The card abstraction of the game in buckets, which loses nothing."""
    path = Path(tempfile.mkdtemp()) / "lossless.cpa"
    CardAbstraction.lossless((3, 2), (1, 1)).save(path)
    return str(path)


@functools.cache
def game_of(form: str) -> Any:
    """The game in a form, opened once."""
    if form == "states":
        return cp.make(GAMES[form])
    return open_game(GAMES[form], form, cards=[cards()] if form == "buckets" else None)


@functools.cache
def larger_game_of(form: str) -> Any:
    """A game in a form in which seeds decide; in Kuhn poker one may decide nothing."""
    if form == "states":
        return cp.make("leduc")
    return open_game("leduc", form) if form == "history" else game_of(form)


def made(algorithm: str, form: str, **settings: Any) -> Solver:
    return make_solver(game_of(form), algorithm, form=form, **settings)


def bits(solver: Solver) -> dict[str, bytes]:
    """Everything that decides how a solver continues."""
    tables = {name: np.ascontiguousarray(table).tobytes() for name, table in solver.tables().items()}
    return {**tables, "iterations": str(solver.iterations).encode(), "state": repr(solver.state()).encode()}


def exploitability(solver: Solver) -> float:
    """In the real game, also where the solver itself cannot measure."""
    found = solver.measure().exploitability
    if np.isfinite(found):
        return found
    return cp.evaluate(solver.profile(), game_of("history") if solver.form_name == "states" else None).exploitability


def interrupted(solver: Solver, calls: int) -> None:
    """Let Ctrl-C come after some calls of ``step``."""
    step: Callable[[int], None] = solver.step
    left = [calls + 1]  # ``run`` compiles by a call without iterations

    def pressed(iterations: int = 1) -> None:
        step(iterations)
        left[0] -= 1
        if left[0] == 0:
            raise KeyboardInterrupt

    solver.step = pressed  # type: ignore[method-assign]


def test_every_solver_has_an_algorithm() -> None:
    others = {kind for known in ALGORITHMS.values() for kind in (*known.against.values(), *known.instead)}
    assert {ALGORITHMS[algorithm].forms[form] for algorithm, form in CASES} | others == set(SOLVERS)
    for kind in SOLVERS:
        solver = solver_class(kind)
        assert solver.kind == kind
        assert dataclasses.is_dataclass(solver.config_class)


@every_solver
def test_it_gets_better(algorithm: str, form: str) -> None:
    solver, known = made(algorithm, form), ALGORITHMS[algorithm]
    cheap = algorithm == "outcome-sampling"  # an iteration visits one terminal: on eight seeds 0.2 to 0.3 after 40,000
    short = form in ("history", "public") or not known.sampled
    result = solver.run(Until(iterations=1000 if short else 40_000 if cheap else 4000))
    if known.one_sided:
        assert result.status == "solved"
        assert solver.value_bounds == pytest.approx((-1 / 18, -1 / 18), abs=1e-3)
    elif known.exact:
        assert result.status == "solved"
        assert abs(exploitability(solver)) <= 1e-9
    else:
        assert result.status == "iterations"
        share = 0.5 if known.sampled else 0.05
        assert -1e-9 <= exploitability(solver) <= share * UNIFORM[GAMES[form]]
    assert (result.algorithm, result.iterations) == (algorithm, solver.iterations)


@every_solver
def test_checkpoints_continue_to_the_same_bits(algorithm: str, form: str, tmp_path: Path) -> None:
    straight, broken = made(algorithm, form), made(algorithm, form)
    straight.step(5)
    straight.step(9)
    broken.step(5)
    path = tmp_path / "run.checkpoint"
    broken.save(path)
    for game in (None, game_of(form)):
        resumed = resume_solver(path, game)
        assert (type(resumed), resumed.algorithm, resumed.config) == (type(broken), algorithm, broken.config)
        assert bits(resumed) == bits(broken)
        resumed.step(9)
        assert bits(resumed) == bits(straight)
        assert resumed.finished == straight.finished


@every_solver
@pytest.mark.parametrize("calls", [1, 3])
def test_an_interrupted_run_can_be_continued(algorithm: str, form: str, calls: int) -> None:
    until = Until(iterations=40)
    straight, broken = made(algorithm, form), made(algorithm, form)
    wanted = straight.run(until)
    interrupted(broken, calls)
    result = broken.run(until)
    assert result.status == "interrupted" or calls > broken.iterations
    assert result.iterations == broken.iterations <= straight.iterations
    del broken.step
    again = broken.run(until)
    assert again.status == wanted.status
    assert bits(broken) == bits(straight)


@every_solver
def test_runs_repeat(algorithm: str, form: str) -> None:
    one, other = made(algorithm, form), made(algorithm, form)
    one.step(12)
    for _ in range(4):
        other.step(3)
    assert bits(one) == bits(other)


@every_seeded
def test_seeds_decide(algorithm: str, form: str) -> None:
    game = larger_game_of(form)
    sampled = {"trunk": 1} if algorithm == "cfr-br" else {}  # without a trunk nothing is sampled
    runs = [make_solver(game, algorithm, form=form, seed=seed, **sampled) for seed in (3, 3, 4)]
    for solver in runs:
        solver.step(30)
    same, again, other = (bits(solver) for solver in runs)
    assert same == again
    assert same != other


@every_solver
def test_memory_is_known_beforehand(algorithm: str, form: str) -> None:
    solver = made(algorithm, form)
    solver.step(3)
    held = sum(table.nbytes for table in solver.tables().values())
    assert solver.table_bytes >= 0
    estimate = getattr(type(solver), "memory_bytes", None)
    if estimate is not None and form != "states":
        given = (game_of(form), solver.config)[: len(inspect.signature(estimate).parameters)]
        assert estimate(*given) >= solver.table_bytes >= held // 2
    if form == "states":  # tables grow with what is met: the run ends when they are too large
        assert make_solver(game_of(form), algorithm, 1, form).run(Until(iterations=10**6)).status == "memory"
        return
    with pytest.raises(MemoryLimitError, match="but only") as refused:
        make_solver(game_of(form), algorithm, 1, form)
    assert "\n" not in str(refused.value)


@every_solver
def test_wrong_settings_are_refused_in_one_line(algorithm: str, form: str) -> None:
    with pytest.raises(SolverError, match=r"has no setting 'nonsense'; its settings are ") as refused:
        made(algorithm, form, nonsense=1)
    assert "\n" not in str(refused.value)
    for field in dataclasses.fields(solver_class(ALGORITHMS[algorithm].forms[form]).config_class):
        if field.name in ("seed", "threads"):
            with pytest.raises(SolverError, match=field.name) as refused:
                made(algorithm, form, **{field.name: -1})
            assert "\n" not in str(refused.value)


@every_solver
def test_profiles_are_saved_and_loaded(algorithm: str, form: str, tmp_path: Path) -> None:
    solver = made(algorithm, form)
    solver.step(20)
    profile = solver.profile()
    assert (profile.provenance.algorithm, profile.provenance.iterations) == (algorithm, solver.iterations)
    path = tmp_path / "some.strategy"
    profile.save(path)
    loaded = load_strategy(path)
    assert type(loaded) is type(profile)
    assert loaded.provenance == profile.provenance
    kept = 1e-2 if form == "buckets" else 1e-6  # files of bucket games keep two bytes of a probability
    for (player, infoset, row), (other, name, found) in zip(profile.infosets(), loaded.infosets(), strict=True):
        assert (player, infoset) == (other, name)
        assert found == pytest.approx(row, abs=kept)
        assert sum(found.values()) == pytest.approx(1.0, abs=1e-6)
