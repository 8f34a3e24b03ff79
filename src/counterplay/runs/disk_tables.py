"""Runs whose tables are on disk: made in an empty folder, or continued from one."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from counterplay.errors import SolverError
from counterplay.forms import GameForms
from counterplay.runs.options import RunOptions
from counterplay.solvers.cfr import CFR_PRESETS, CfrConfig, config_with
from counterplay.solvers.public_tree_tables import SMALL
from counterplay.solvers.solver import Solver

if TYPE_CHECKING:
    from counterplay.solvers.streamed.streamed_cfr import StreamedSolver


def streamed_solver(forms: GameForms, algorithm: str, settings: Mapping[str, Any], options: RunOptions) -> Solver:
    """A solver on the public tree of a game, its tables in the folder of the options."""
    from counterplay.solvers.streamed.streamed_cfr import StreamedSolver

    folder = options.tables_folder
    assert folder is not None
    tree = forms.public()
    config = disk_config(sum(tree.num_entries), algorithm, settings)
    solver = StreamedSolver(tree, config, algorithm, options.memory_limit)
    _check_out(solver, options)
    solver.attach(folder)
    return solver


def disk_config(entries: int, algorithm: str, settings: Mapping[str, Any]) -> CfrConfig:
    """The settings of an algorithm whose tables, of so many entries, are on disk.

    Tables of more than ``SMALL`` entries are 16-bit integers unless the settings say otherwise: they are half as large,
    and compress better.
    """
    if algorithm not in CFR_PRESETS:
        raise SolverError(f"tables on disk are for {', '.join(CFR_PRESETS)}; got {algorithm}")
    small = {"storage": "int16"} if entries > SMALL else {}
    config = config_with(algorithm, {**small, **settings})
    config.check_form("public")
    return config


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
