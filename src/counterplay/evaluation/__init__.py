"""Exact measures of profiles and of sequences of profiles, and the bounds of theory."""

from counterplay.evaluation.diagnostics import RegretDiagnostics
from counterplay.evaluation.existence import LiftedEquilibrium, equilibrium_from_refinement
from counterplay.evaluation.regret import RegretTracker
from counterplay.evaluation.responses import (
    BestResponse,
    best_response,
    evaluate,
    expected_values,
    exploitability,
    nash_conv,
)

__all__ = [
    "BestResponse", "LiftedEquilibrium", "RegretDiagnostics", "RegretTracker",
    "best_response", "equilibrium_from_refinement", "evaluate", "expected_values", "exploitability", "nash_conv",
]  # fmt: skip
