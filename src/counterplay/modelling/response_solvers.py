"""The solvers behind responses: by the name of an algorithm, on a form of a game, for both seats."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import SolverError, StrategyError
from counterplay.evaluation.bucket_pairs import BucketPairs
from counterplay.modelling.observations import Form
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.runtime.header_checks import check_header
from counterplay.runtime.progress import Progress
from counterplay.solvers.bucket_pairs_cfr import BucketPairsSolver
from counterplay.solvers.checkpoint_header import CheckpointHeader
from counterplay.solvers.registry import ALGORITHMS, find_algorithm, solver_class
from counterplay.solvers.restricted_solver import RestrictedSolver, SeatSolvers
from counterplay.solvers.restriction import Restriction
from counterplay.solvers.settings import Settings, preset
from counterplay.solvers.solver import Solver
from counterplay.storage import read_container

Float64 = NDArray[np.float64]

DEFAULT = {"history": "lp", "buckets": "dcfr"}
"""The algorithm that solves restricted games on a form when none is named."""

SETTINGS: Mapping[str, Mapping[str, Any]] = {"dcfr": {"gamma": 4.0}}
"""Settings in which an algorithm differs from its defaults in restricted games.

In five-bucket limit hold'em discounted CFR with this average comes to a gap of 5 mbb/g in 40 iterations, with the
default one in 46, and CFR+ in 80, with the exponents 2 and 4 of the average in 60 and 55 (restricted Nash, p = 0.9).
"""


def find_response_algorithm(written: str | None, form: str) -> str:
    """The name of an algorithm that solves restricted games on a form: history or buckets.

    Raises
    ------
    SolverError
        If there is none, with those that do.
    """
    name = find_algorithm(written or DEFAULT[form])
    takes = response_algorithms(form)
    if name not in takes:
        place = "in card abstractions" if form == "buckets" else "on the histories of a game"
        raise SolverError(f"{name} takes no restricted opponent {place}; use {', '.join(takes)}")
    return name


def response_algorithms(form: str) -> list[str]:
    """The algorithms that solve restricted games on a form, history or buckets."""
    found = []
    for name, known in ALGORITHMS.items():
        solver = _class(name, form) if form in known.forms else Solver
        restricted = issubclass(solver, RestrictedSolver) and name in solver.restricted_presets
        if restricted or (name == "lp" and form == "history"):
            found.append(name)
    return found


def _class(algorithm: str, form: str) -> type[Solver]:
    """Full-width algorithms in a bucket game solve it by its pairs, which are counted anyway."""
    known = ALGORITHMS[algorithm]
    return BucketPairsSolver if form == "buckets" and known.full_width else solver_class(known.forms[form])


def _place(form: Form) -> str:
    return "buckets" if isinstance(form, BucketGame) else "history"


def response_config(form: Form, algorithm: str, settings: Mapping[str, Any]) -> Settings:
    """The settings of an algorithm in restricted games, some of them replaced.

    Raises
    ------
    UnknownSettingError, SolverError
        If the algorithm has no such setting, or it cannot have such a value.
    """
    solver: Any = _class(algorithm, _place(form))
    config: Settings = preset(solver.presets, algorithm, {**SETTINGS.get(algorithm, {}), **settings})
    return config


def equilibrium_solver(
    form: Form, algorithm: str, settings: Mapping[str, Any], pairs: BucketPairs | None, memory_limit: int | None,
    **more: Any,
) -> Solver:  # fmt: skip
    """A solver of the game itself; ``pairs`` are those of a bucket game."""
    solver: Any = _class(algorithm, _place(form))
    config = response_config(form, algorithm, settings)
    inside = {} if pairs is None else {"pairs": pairs}
    made: Solver = solver(form, config, algorithm, memory_limit, **inside, **more)
    return made


def response_solver(
    form: Form, algorithm: str, model: tuple[Float64, float | Float64], settings: Mapping[str, Any],
    pairs: BucketPairs | None, memory_limit: int | None,
) -> SeatSolvers:  # fmt: skip
    """A solver of both seats of a response to a model: its predictions, and how far they are trusted."""
    strategy, confidence = model
    first, second = (
        equilibrium_solver(
            form, algorithm, settings, pairs, memory_limit, restriction=Restriction(1 - seat, strategy, confidence)
        )
        for seat in range(2)
    )
    return SeatSolvers(first, second)  # type: ignore[arg-type]


def continue_from(solver: Solver, path: str | os.PathLike[str]) -> None:
    """Take a run over from its checkpoint, into a solver that was made for the same request.

    Raises
    ------
    StrategyError
        If the checkpoint is damaged, or of another request.
    """
    header, tables = read_container(path, "checkpoint")
    check_header(path, header, CheckpointHeader)
    for name, own in (("solver", solver.kind), ("algorithm", solver.algorithm)):
        if header[name] != own:
            raise StrategyError(
                f"{path} is a checkpoint of another response: its {name} is {header[name]!r}, not {own!r}"
            )
    if not solver.fits(header):
        raise StrategyError(f"{path} is a checkpoint of a response to another model, p, game or abstraction")
    if header["config"] != dataclasses.asdict(solver.config):
        raise StrategyError(f"{path} is a checkpoint with other settings of {solver.algorithm}")
    try:
        solver.fill(tables, header["state"])
        solver.seconds, solver.cpu_seconds = header["seconds"], header["cpu_seconds"]
        solver.curve = [Progress(*point) for point in header["curve"]]
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        raise StrategyError(f"{path} is damaged: {type(error).__name__}: {error}") from None
