"""Solvers: configuration, tables and kernels.  ``ALGORITHMS`` lists the algorithms by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterplay.runtime.lazy import lazy_names
from counterplay.solvers.registry import (
    ALGORITHMS,
    DEFAULT_ALGORITHM,
    SOLVERS,
    Algorithm,
    checkpoint_header,
    find_algorithm,
    form_of,
    make_solver,
    resume_solver,
    solver_class,
)
from counterplay.solvers.result import AbstractResult, RunFacts, SolveResult
from counterplay.solvers.solver import Solver

if TYPE_CHECKING:
    from counterplay.solvers.cfr import CFR_PRESETS, CfrConfig, CfrSolver
    from counterplay.solvers.double_oracle import DoubleOracle, DoubleOracleConfig
    from counterplay.solvers.fictitious_play import FictitiousPlay, FictitiousPlayConfig
    from counterplay.solvers.ira import CfrIra, CfrIraConfig, Fpira, FpiraConfig
    from counterplay.solvers.linear_program import LinearProgram, LinearProgramConfig
    from counterplay.solvers.matrix_games import solve_matrix
    from counterplay.solvers.maxmin import MaxminConfig, MaxminSolver
    from counterplay.solvers.mccfr import MCCFR_PRESETS, MccfrConfig, MccfrSolver
    from counterplay.solvers.public_cfr import PublicSolver
    from counterplay.solvers.resolving import after_deals, resolve, resolve_below
    from counterplay.solvers.restriction import Restriction
    from counterplay.solvers.sampling_schemes import SCHEMES, scheme_array
    from counterplay.solvers.state_mccfr import StateSampler
    from counterplay.solvers.word_counts import memory_words

__all__ = [
    "ALGORITHMS", "CFR_PRESETS", "DEFAULT_ALGORITHM", "MCCFR_PRESETS", "SCHEMES", "SOLVERS", "AbstractResult",
    "Algorithm", "CfrConfig", "CfrIra", "CfrIraConfig", "CfrSolver", "DoubleOracle", "DoubleOracleConfig",
    "FictitiousPlay", "FictitiousPlayConfig", "Fpira", "FpiraConfig", "LinearProgram", "LinearProgramConfig",
    "MaxminConfig", "MaxminSolver", "MccfrConfig", "MccfrSolver", "PublicSolver", "Restriction", "RunFacts",
    "SolveResult", "Solver", "StateSampler", "after_deals", "checkpoint_header", "find_algorithm", "form_of",
    "make_solver", "memory_words", "resolve", "resolve_below", "resume_solver", "scheme_array",
    "solve_matrix", "solver_class",
]  # fmt: skip

# Solvers are imported when they are first named: some bring large libraries.
__getattr__ = lazy_names(__name__, {
    "cfr": ("CFR_PRESETS", "CfrConfig", "CfrSolver"),
    "double_oracle": ("DoubleOracle", "DoubleOracleConfig"),
    "fictitious_play": ("FictitiousPlay", "FictitiousPlayConfig"),
    "ira": ("CfrIra", "CfrIraConfig", "Fpira", "FpiraConfig"),
    "linear_program": ("LinearProgram", "LinearProgramConfig"),
    "matrix_games": ("solve_matrix",),
    "maxmin": ("MaxminConfig", "MaxminSolver"),
    "mccfr": ("MCCFR_PRESETS", "MccfrConfig", "MccfrSolver"),
    "public_cfr": ("PublicSolver",),
    "resolving": ("after_deals", "resolve", "resolve_below"),
    "restriction": ("Restriction",),
    "sampling_schemes": ("SCHEMES", "scheme_array"),
    "state_mccfr": ("StateSampler",),
    "word_counts": ("memory_words",),
})  # fmt: skip
