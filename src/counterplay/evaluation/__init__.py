"""Exact measures of profiles and of sequences of profiles, and the bounds of theory."""

from counterplay.evaluation.diagnostics import RegretDiagnostics
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
    "BestResponse", "RegretDiagnostics", "RegretTracker",
    "best_response", "evaluate", "expected_values", "exploitability", "nash_conv",
]  # fmt: skip
