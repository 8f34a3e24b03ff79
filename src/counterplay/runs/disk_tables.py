"""Runs whose tables are on disk: made in an empty folder, or continued from one."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from counterplay.errors import SolverError
from counterplay.forms import GameForms
from counterplay.runs.options import RunOptions
from counterplay.solvers.cfr import CFR_PRESETS, config_with
from counterplay.solvers.public_tree_tables import SMALL
from counterplay.solvers.solver import Solver

if TYPE_CHECKING:
    from counterplay.solvers.streamed.streamed_cfr import StreamedSolver


def streamed_solver(forms: GameForms, algorithm: str, settings: Mapping[str, Any], options: RunOptions) -> Solver:
    """A solver on the public tree of a game, its tables in the folder of the options.

    Tables of more than ``SMALL`` entries are 16-bit integers unless the settings say otherwise: they are half as large,
    and compress better.
    """
    from counterplay.solvers.streamed.streamed_cfr import StreamedSolver

    folder = options.tables_folder
    assert folder is not None
    if algorithm not in CFR_PRESETS:
        raise SolverError(f"tables on disk are for {', '.join(CFR_PRESETS)}; got {algorithm}")
    tree = forms.public()
    small = {"storage": "int16"} if sum(tree.num_entries) > SMALL else {}
    solver = StreamedSolver(tree, config_with(algorithm, {**small, **settings}), algorithm, options.memory_limit)
    _check_out(solver, options)
    solver.attach(folder)
    return solver


def with_folder(solver: Solver, options: RunOptions) -> RunOptions:
    """The options of a run: where tables are on disk, its checkpoint is in their folder, and what is to be said of a
    resumed one is said.
    """
    from counterplay.solvers.streamed.streamed_cfr import StreamedSolver

    if not isinstance(solver, StreamedSolver):
        return options
    if options.checkpoint is not None:
        raise SolverError("tables on disk have their checkpoint in their folder; leave out checkpoint")
    _check_out(solver, options)
    if solver.note:
        options.say(solver.note)
    assert solver.folder is not None
    return dataclasses.replace(options, checkpoint=solver.folder.newest)


def _check_out(solver: StreamedSolver, options: RunOptions) -> None:
    """Refuse a file for a strategy that will not fit into memory, before the run."""
    if options.out is not None:
        solver.check_profile()
